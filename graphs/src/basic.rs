//! The small values that also drive knobs by wire.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use crate::column::{Column, ColumnError, Columns, Elements};
use crate::knob::KnobValue;
use crate::value::{Data, DataType, DataTypeId, Value};

macro_rules! basic {
    ($(#[$doc:meta])* $name:ident($inner:ty), $id:literal, $label:literal, $help:literal, $colour:expr, $out:expr, $in:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(pub $inner);

        impl Data for $name {
            const TYPE: DataType =
                DataType { id: DataTypeId($id), label: $label, help: $help, colour: $colour };

            fn columns(&self) -> Vec<Column> {
                let out: fn(&$inner) -> Column = $out;
                vec![out(&self.0)]
            }

            fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
                let read: fn(&Column) -> Result<$inner, ColumnError> = $in;
                read(columns.get("value")?).map(Self)
            }

            fn own_bytes(&self) -> Option<usize> {
                // What has nothing to drop has no buffer.
                (!std::mem::needs_drop::<$inner>()).then_some(size_of::<$inner>())
            }
        }
    };
}

fn single<T: Copy>(column: &Column, rows: &[T]) -> Result<T, ColumnError> {
    rows.first()
        .copied()
        .ok_or_else(|| ColumnError::Content { name: column.name.to_string(), reason: "one row is expected".into() })
}

fn one_text(text: &Arc<str>) -> Column {
    Column::text("value", &Arc::from([Arc::clone(text)]))
}

fn read_text(column: &Column) -> Result<Arc<str>, ColumnError> {
    let rows = column.as_text()?;
    rows.first()
        .cloned()
        .ok_or_else(|| ColumnError::Content { name: column.name.to_string(), reason: "one row is expected".into() })
}

basic!(
    /// A number.
    Number(f64), "number", "Number", "A number.", [161, 161, 161],
    |v| Column::f64("value", &Arc::from([*v])), |c| single(c, &c.as_f64::<f64>()?)
);
basic!(
    /// A whole number.
    Integer(i64), "integer", "Integer", "A whole number.", [92, 140, 92],
    |v| Column { name: "value".into(), arity: 2, elements: Elements::U32(Arc::from([*v as u32, (*v >> 32) as u32])) },
    |c| single(c, &c.as_u32::<[u32; 2]>()?).map(|[low, high]| i64::from(low) | (i64::from(high) << 32))
);
basic!(
    /// On or off.
    Toggle(bool), "toggle", "Toggle", "On or off.", [204, 166, 214],
    |v| Column::u8("value", &Arc::from([u8::from(*v)])), |c| single(c, &c.as_u8::<u8>()?).map(|v| v != 0)
);
basic!(
    /// Text.
    Text(Arc<str>), "text", "Text", "Text.", [112, 178, 255], one_text, read_text
);
basic!(
    /// A path to a file.
    File(Arc<str>), "file", "File", "A path to a file.", [88, 134, 196], one_text, read_text
);
basic!(
    /// Three numbers.
    Vector(DVec3), "vector", "Vector", "Three numbers.", [99, 99, 199],
    |v| Column::f64("value", &Arc::from([v.to_array()])),
    |c| single(c, &c.as_f64::<[f64; 3]>()?).map(DVec3::from_array)
);

/// A curve through keys with handles; constant beyond the first and the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The keys, sorted by position.
    pub keys: Vec<CurveKey>,
}

/// A key of a [`Curve`]: cubic Hermite between keys.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveKey {
    /// Where.
    pub at: f64,
    /// How much.
    pub value: f64,
    /// The slope on both sides.
    pub slope: f64,
}

impl Curve {
    /// The straight line from (0, `from`) to (1, `to`).
    pub fn line(from: f64, to: f64) -> Self {
        let slope = to - from;
        Self { keys: vec![CurveKey { at: 0.0, value: from, slope }, CurveKey { at: 1.0, value: to, slope }] }
    }

    /// The value at a position; 0 for a curve without keys.
    pub fn sample(&self, at: f64) -> f64 {
        let next = self.keys.partition_point(|key| key.at <= at);
        match (next.checked_sub(1).and_then(|k| self.keys.get(k)), self.keys.get(next)) {
            (None, None) => 0.0,
            (Some(only), None) | (None, Some(only)) => only.value,
            (Some(a), Some(b)) => {
                let width = b.at - a.at;
                let t = (at - a.at) / width;
                let (t2, t3) = (t * t, t * t * t);
                (2.0 * t3 - 3.0 * t2 + 1.0) * a.value
                    + (t3 - 2.0 * t2 + t) * width * a.slope
                    + (3.0 * t2 - 2.0 * t3) * b.value
                    + (t3 - t2) * width * b.slope
            }
        }
    }
}

impl Data for Curve {
    const TYPE: DataType =
        DataType { id: DataTypeId("curve"), label: "Curve", help: "A curve through keys.", colour: [200, 160, 90] };

    fn columns(&self) -> Vec<Column> {
        let keys: Arc<[[f64; 3]]> = self.keys.iter().map(|k| [k.at, k.value, k.slope]).collect();
        vec![Column::f64("key", &keys)]
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let keys = columns.get("key")?.as_f64::<[f64; 3]>()?;
        Ok(Self { keys: keys.iter().map(|&[at, value, slope]| CurveKey { at, value, slope }).collect() })
    }
}

impl KnobValue {
    /// The value that a knob driven by this wire holds; `None` if such a value cannot drive a knob.
    pub fn from_value(value: &Value) -> Option<Self> {
        None.or_else(|| value.get::<Number>().map(|v| Self::Number(v.0)))
            .or_else(|| value.get::<Integer>().map(|v| Self::Integer(v.0)))
            .or_else(|| value.get::<Toggle>().map(|v| Self::Toggle(v.0)))
            .or_else(|| value.get::<Text>().map(|v| Self::Text(Arc::clone(&v.0))))
            .or_else(|| value.get::<File>().map(|v| Self::File(Arc::clone(&v.0))))
            .or_else(|| value.get::<Vector>().map(|v| Self::Vector(v.0.to_array())))
            .or_else(|| value.get::<Curve>().map(|v| Self::Curve(v.clone())))
    }
}

impl From<Vec3> for Vector {
    fn from(v: Vec3) -> Self {
        Self(v.as_dvec3())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_line_and_constant_beyond_its_ends() {
        let line = Curve::line(1.0, 3.0);
        for (at, value) in [(-1.0, 1.0), (0.0, 1.0), (0.25, 1.5), (0.5, 2.0), (1.0, 3.0), (9.0, 3.0)] {
            assert!((line.sample(at) - value).abs() < 1e-12, "{at}");
        }
    }

    #[test]
    fn basic_values_come_back_from_their_columns_and_know_their_bytes() {
        fn round<T: Data + Clone + PartialEq>(v: T) {
            let bytes = Value::memory([&Value::new(v.clone())]);
            assert_eq!(v.own_bytes().unwrap_or(bytes), bytes);
            assert_eq!(T::from_columns(&v.columns().into_iter().collect()).unwrap(), v);
        }
        round(Number(0.1));
        round(Integer(i64::MIN + 7));
        round(Toggle(true));
        round(Text("grüße".into()));
        round(File("a/b.glb".into()));
        round(Vector(DVec3::new(1.0, -2.0, 0.5)));
        round(Curve::line(0.0, 2.0));
    }
}
