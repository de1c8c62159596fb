//! Knob values made to fit the kind of their knob, as far as nothing is lost.

use crate::knob::{KnobKind, KnobValue};

/// Whole numbers up to here are exact as floats.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The value as this kind of knob takes it: whole numbers and numbers into each other, text into choices and files.
/// Checked against range and choices.
pub(super) fn adapt(kind: &KnobKind, value: KnobValue) -> Result<KnobValue, String> {
    let value = match (kind, value) {
        (KnobKind::Number { .. }, KnobValue::Integer(v)) => KnobValue::Number(v as f64),
        (KnobKind::Integer { .. }, KnobValue::Number(v)) => {
            if v.fract() != 0.0 || v.abs() > EXACT {
                return Err(format!("{v} is not a whole number"));
            }
            KnobValue::Integer(v as i64)
        }
        (KnobKind::Choice { .. }, KnobValue::Text(v)) => KnobValue::Choice(v),
        (KnobKind::File { .. }, KnobValue::Text(v)) => KnobValue::File(v),
        (KnobKind::Text, KnobValue::File(v) | KnobValue::Choice(v)) => KnobValue::Text(v),
        (_, value) => value,
    };
    kind.check(&value)?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loses_nothing_fits() {
        let number = KnobKind::Number { range: Some((0.0, 10.0)), unit: None };
        let integer = KnobKind::Integer { range: Some((0, 10)) };
        assert_eq!(adapt(&number, KnobValue::Integer(3)), Ok(KnobValue::Number(3.0)));
        assert_eq!(adapt(&integer, KnobValue::Number(3.0)), Ok(KnobValue::Integer(3)));
        assert_eq!(adapt(&integer, KnobValue::Number(3.5)), Err("3.5 is not a whole number".into()));
        assert_eq!(adapt(&integer, KnobValue::Number(11.0)), Err("11 is outside 0 to 10".into()));
        assert!(adapt(&integer, KnobValue::Number(f64::NAN)).is_err());
        let file = KnobKind::File { extensions: Vec::new() };
        assert_eq!(adapt(&file, KnobValue::Text("a.glb".into())), Ok(KnobValue::File("a.glb".into())));
        assert!(adapt(&KnobKind::Toggle, KnobValue::Integer(1)).is_err());
    }
}
