//! Parameters: what kinds there are, their values, and how a node's Rust parameters become them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::basic::Curve;
use crate::error::NodeError;
use crate::ids::KnobId;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum KnobValue {
    /// On or off.
    Toggle(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Text.
    Text(Arc<str>),
    /// One of a fixed set, by id.
    Choice(Arc<str>),
    /// A path; empty for none.
    File(Arc<str>),
    /// Three numbers.
    Vector([f64; 3]),
    /// Red, green, blue and opacity, sRGB, 0 to 1.
    Colour([f64; 4]),
    /// A curve.
    Curve(Curve),
}

impl KnobValue {
    /// Whether every number in it is finite. Others are no value of a knob, and cannot be compared.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Number(v) => v.is_finite(),
            Self::Vector(v) => v.iter().all(|x| x.is_finite()),
            Self::Colour(v) => v.iter().all(|x| x.is_finite()),
            Self::Curve(v) => v.keys.iter().all(|k| [k.at, k.value, k.slope].iter().all(|x| x.is_finite())),
            Self::Toggle(_) | Self::Integer(_) | Self::Text(_) | Self::Choice(_) | Self::File(_) => true,
        }
    }
}

/// One entry of a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceItem {
    /// The stable id, in files.
    pub id: Arc<str>,
    /// The name on screen.
    pub label: Arc<str>,
    /// What it does.
    pub help: Arc<str>,
}

/// What a parameter may hold.
#[derive(Clone, Debug, PartialEq)]
pub enum KnobKind {
    /// On or off.
    Toggle,
    /// A whole number within bounds.
    Integer {
        /// Least and greatest.
        range: Option<(i64, i64)>,
    },
    /// A number within bounds.
    Number {
        /// Least and greatest.
        range: Option<(f64, f64)>,
        /// `degrees`, `heights`, `seconds`, `metres` …
        unit: Option<Arc<str>>,
    },
    /// Text.
    Text,
    /// One of a fixed set.
    Choice {
        /// The entries, in the order of their declaration.
        items: Vec<ChoiceItem>,
    },
    /// A path.
    File {
        /// File name extensions it takes, without the dot; empty for any.
        extensions: Vec<Arc<str>>,
    },
    /// Three numbers.
    Vector {
        /// The unit of each.
        unit: Option<Arc<str>>,
    },
    /// A colour.
    Colour,
    /// A curve.
    Curve,
}

impl KnobKind {
    /// The kind's name for people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Toggle => "toggle",
            Self::Integer { .. } => "integer",
            Self::Number { .. } => "number",
            Self::Text => "text",
            Self::Choice { .. } => "choice",
            Self::File { .. } => "file",
            Self::Vector { .. } => "vector",
            Self::Colour => "colour",
            Self::Curve => "curve",
        }
    }

    /// Checks a value against kind, range and choices; says what would be right if it does not fit.
    pub fn check(&self, value: &KnobValue) -> Result<(), String> {
        let outside = |lo: &dyn std::fmt::Display, hi: &dyn std::fmt::Display, v: &dyn std::fmt::Display| {
            Err(format!("{v} is outside {lo} to {hi}"))
        };
        match (self, value) {
            (Self::Integer { range: Some((lo, hi)) }, KnobValue::Integer(v)) if v < lo || v > hi => outside(lo, hi, v),
            (Self::Number { .. }, KnobValue::Number(v)) if !v.is_finite() => Err(format!("{v} is not a finite number")),
            (Self::Number { range: Some((lo, hi)), .. }, KnobValue::Number(v)) if v < lo || v > hi => {
                outside(lo, hi, v)
            }
            (Self::Vector { .. }, KnobValue::Vector(v)) if v.iter().any(|x| !x.is_finite()) => {
                Err("every component must be a finite number".into())
            }
            (Self::Colour, KnobValue::Colour(v)) if v.iter().any(|x| !(0.0..=1.0).contains(x)) => {
                Err("every component must lie between 0 and 1".into())
            }
            (Self::Choice { items }, KnobValue::Choice(id)) => {
                if items.iter().any(|item| item.id == *id) {
                    Ok(())
                } else {
                    let ids: Vec<&str> = items.iter().map(|item| &*item.id).collect();
                    Err(format!("{id:?} is none of {}", ids.join(", ")))
                }
            }
            (Self::Toggle, KnobValue::Toggle(_))
            | (Self::Integer { .. }, KnobValue::Integer(_))
            | (Self::Number { .. }, KnobValue::Number(_))
            | (Self::Text, KnobValue::Text(_))
            | (Self::File { .. }, KnobValue::File(_))
            | (Self::Vector { .. }, KnobValue::Vector(_))
            | (Self::Colour, KnobValue::Colour(_))
            | (Self::Curve, KnobValue::Curve(_)) => Ok(()),
            _ => Err(format!("{value:?} is not a {}", self.name())),
        }
    }

    /// Reads a value as a person types it: `0.07`, `sweep`, `on`, `1 2 3`, `#ff8800`. Checked against the range.
    pub fn parse(&self, text: &str) -> Result<KnobValue, String> {
        let text = text.trim();
        let number = |s: &str| s.parse::<f64>().map_err(|_| format!("{s:?} is not a number"));
        let value = match self {
            Self::Toggle => KnobValue::Toggle(match text.to_ascii_lowercase().as_str() {
                "on" | "true" | "yes" | "1" => true,
                "off" | "false" | "no" | "0" => false,
                _ => return Err(format!("{text:?} is neither on nor off")),
            }),
            Self::Integer { .. } => {
                KnobValue::Integer(text.parse().map_err(|_| format!("{text:?} is not a whole number"))?)
            }
            Self::Number { .. } => KnobValue::Number(number(text)?),
            Self::Text => KnobValue::Text(text.into()),
            Self::Choice { .. } => KnobValue::Choice(text.into()),
            Self::File { .. } => KnobValue::File(text.into()),
            Self::Vector { .. } => {
                let parts: Vec<f64> =
                    text.split([',', ' ']).filter(|part| !part.is_empty()).map(number).collect::<Result<_, _>>()?;
                KnobValue::Vector(parts.try_into().map_err(|_| format!("{text:?} is not three numbers"))?)
            }
            Self::Colour => KnobValue::Colour(parse_colour(text)?),
            Self::Curve => {
                KnobValue::Curve(ron::from_str(text).map_err(|error| format!("{text:?} is not a curve: {error}"))?)
            }
        };
        self.check(&value)?;
        Ok(value)
    }
}

fn parse_colour(text: &str) -> Result<[f64; 4], String> {
    let bad = || format!("{text:?} is not a colour such as #ff8800");
    let hex = text.strip_prefix('#').ok_or_else(bad)?;
    if !hex.is_ascii() || !matches!(hex.len(), 6 | 8) {
        return Err(bad());
    }
    let mut colour = [1.0; 4];
    for (k, channel) in colour.iter_mut().enumerate().take(hex.len() / 2) {
        *channel = f64::from(u8::from_str_radix(&hex[2 * k..2 * k + 2], 16).map_err(|_| bad())?) / 255.0;
    }
    Ok(colour)
}

/// A parameter of a node type.
#[derive(Clone, Debug, PartialEq)]
pub struct KnobSpec {
    /// The stable id.
    pub id: KnobId,
    /// The name on screen.
    pub label: Arc<str>,
    /// The help text: its doc comment.
    pub help: Arc<str>,
    /// What it may hold.
    pub kind: KnobKind,
    /// What it holds until someone sets it.
    pub default: KnobValue,
}

/// What `#[param(…)]` said, apart from the default.
#[derive(Clone, Debug, Default)]
pub struct KnobAttributes {
    /// Least and greatest, for numbers.
    pub range: Option<(f64, f64)>,
    /// The unit, for numbers and vectors.
    pub unit: Option<&'static str>,
    /// File name extensions, for files.
    pub extensions: &'static [&'static str],
}

/// A Rust type that can be a node's parameter.
pub trait Knob: Sized {
    /// The kind with these attributes.
    fn kind(attributes: &KnobAttributes) -> KnobKind;

    /// The value to store.
    fn write(self) -> KnobValue;

    /// The parameter from a stored value; `None` if it is of another kind.
    fn read(value: &KnobValue) -> Option<Self>;
}

impl Knob for bool {
    fn kind(_: &KnobAttributes) -> KnobKind {
        KnobKind::Toggle
    }

    fn write(self) -> KnobValue {
        KnobValue::Toggle(self)
    }

    fn read(value: &KnobValue) -> Option<Self> {
        match value {
            KnobValue::Toggle(v) => Some(*v),
            _ => None,
        }
    }
}

macro_rules! integer_knob {
    ($($t:ty),*) => {$(
        impl Knob for $t {
            fn kind(attributes: &KnobAttributes) -> KnobKind {
                let all = (<$t>::MIN as f64, <$t>::MAX as f64);
                let (lo, hi) = attributes.range.unwrap_or(all);
                KnobKind::Integer { range: Some((lo.max(all.0) as i64, hi.min(all.1) as i64)) }
            }

            fn write(self) -> KnobValue {
                KnobValue::Integer(self as i64)
            }

            fn read(value: &KnobValue) -> Option<Self> {
                match value {
                    KnobValue::Integer(v) => (*v).try_into().ok(),
                    _ => None,
                }
            }
        }
    )*};
}
integer_knob!(i32, u32, i64);

impl Knob for f64 {
    fn kind(attributes: &KnobAttributes) -> KnobKind {
        KnobKind::Number { range: attributes.range, unit: attributes.unit.map(Into::into) }
    }

    fn write(self) -> KnobValue {
        KnobValue::Number(self)
    }

    fn read(value: &KnobValue) -> Option<Self> {
        match value {
            KnobValue::Number(v) => Some(*v),
            _ => None,
        }
    }
}

impl Knob for f32 {
    fn kind(attributes: &KnobAttributes) -> KnobKind {
        f64::kind(attributes)
    }

    fn write(self) -> KnobValue {
        // By way of its shortest decimal, so that 0.07 stays 0.07 on screen and in files.
        KnobValue::Number(self.to_string().parse().unwrap_or(f64::from(self)))
    }

    fn read(value: &KnobValue) -> Option<Self> {
        f64::read(value).map(|v| v as f32)
    }
}

impl Knob for String {
    fn kind(_: &KnobAttributes) -> KnobKind {
        KnobKind::Text
    }

    fn write(self) -> KnobValue {
        KnobValue::Text(self.into())
    }

    fn read(value: &KnobValue) -> Option<Self> {
        match value {
            KnobValue::Text(v) => Some(v.to_string()),
            _ => None,
        }
    }
}

impl Knob for Vec3 {
    fn kind(attributes: &KnobAttributes) -> KnobKind {
        KnobKind::Vector { unit: attributes.unit.map(Into::into) }
    }

    fn write(self) -> KnobValue {
        KnobValue::Vector(self.to_array().map(|x| x.to_string().parse().unwrap_or(f64::from(x))))
    }

    fn read(value: &KnobValue) -> Option<Self> {
        match value {
            KnobValue::Vector(v) => Some(Self::from_array(v.map(|x| x as f32))),
            _ => None,
        }
    }
}

impl Knob for Curve {
    fn kind(_: &KnobAttributes) -> KnobKind {
        KnobKind::Curve
    }

    fn write(self) -> KnobValue {
        KnobValue::Curve(self)
    }

    fn read(value: &KnobValue) -> Option<Self> {
        match value {
            KnobValue::Curve(v) => Some(v.clone()),
            _ => None,
        }
    }
}

/// A colour: red, green, blue and opacity, sRGB, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour(pub [f32; 4]);

impl Knob for Colour {
    fn kind(_: &KnobAttributes) -> KnobKind {
        KnobKind::Colour
    }

    fn write(self) -> KnobValue {
        KnobValue::Colour(self.0.map(|x| x.to_string().parse().unwrap_or(f64::from(x))))
    }

    fn read(value: &KnobValue) -> Option<Self> {
        match value {
            KnobValue::Colour(v) => Some(Self(v.map(|x| x as f32))),
            _ => None,
        }
    }
}

/// A path to a file that a node reads through [`crate::Cx::read`]. Empty means none was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePath(PathBuf);

impl FilePath {
    /// A path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The path, or an error that asks for one.
    pub fn require(&self, knob: &str) -> Result<&Path, NodeError> {
        if self.0.as_os_str().is_empty() {
            return Err(NodeError::new("no file is chosen").at(knob).help("choose a file"));
        }
        Ok(&self.0)
    }
}

impl Knob for FilePath {
    fn kind(attributes: &KnobAttributes) -> KnobKind {
        KnobKind::File { extensions: attributes.extensions.iter().map(|&e| e.into()).collect() }
    }

    fn write(self) -> KnobValue {
        KnobValue::File(self.0.to_string_lossy().into())
    }

    fn read(value: &KnobValue) -> Option<Self> {
        match value {
            KnobValue::File(v) => Some(Self(PathBuf::from(&**v))),
            _ => None,
        }
    }
}
