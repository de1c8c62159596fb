//! What converts into what along a wire.
//!
//! Only what nobody has to think about: a whole number is a number, a character has a mesh. Numbers become whole by
//! rounding, because a 3 that arithmetic made 2.9999999 is still a 3; text is never guessed to be a number.

use std::sync::Arc;

use glam::DVec3;
use sinew_graph::basic::{File, Integer, Number, Text, Toggle, Vector};
use sinew_graph::registry::Conversion;
use sinew_graph::{Data, NodeError, Result, Value};

use crate::data::{Character, Clips, Mesh, Skeleton, Skin};

/// All conversions that ship with Sinew.
pub fn conversions() -> Vec<Conversion> {
    /// A conversion between two types, from a function that captures nothing.
    macro_rules! conversion {
        ($from:ty => $to:ty, $convert:expr) => {
            Conversion {
                from: <$from as Data>::TYPE.id,
                to: <$to as Data>::TYPE.id,
                convert: |value| {
                    let convert: fn(&$from) -> Result<$to> = $convert;
                    convert(expect::<$from>(value)?).map(Value::new)
                },
            }
        };
    }
    vec![
        conversion!(Integer => Number, |v| Ok(Number(v.0 as f64))),
        conversion!(Toggle => Number, |v| Ok(Number(f64::from(u8::from(v.0))))),
        conversion!(Toggle => Integer, |v| Ok(Integer(i64::from(v.0)))),
        conversion!(Number => Integer, whole),
        conversion!(Number => Text, |v| Ok(Text(v.0.to_string().into()))),
        conversion!(Integer => Text, |v| Ok(Text(v.0.to_string().into()))),
        conversion!(Toggle => Text, |v| Ok(Text(if v.0 { "on" } else { "off" }.into()))),
        conversion!(Text => File, |v| Ok(File(Arc::clone(&v.0)))),
        conversion!(File => Text, |v| Ok(Text(Arc::clone(&v.0)))),
        conversion!(Number => Vector, |v| Ok(Vector(DVec3::splat(v.0)))),
        conversion!(Integer => Vector, |v| Ok(Vector(DVec3::splat(v.0 as f64)))),
        conversion!(Character => Mesh, |v| Ok(v.mesh.clone())),
        conversion!(Character => Skeleton, |v| Ok(v.skeleton.clone())),
        conversion!(Character => Skin, |v| Ok(v.skin.clone())),
        conversion!(Character => Clips, |v| Ok(v.clips.clone())),
    ]
}

fn expect<T: Data>(value: &Value) -> Result<&T> {
    value.get::<T>().ok_or_else(|| {
        NodeError::new(format!("takes {} but was given {}", T::TYPE.label, value.data_type().label))
            .help("connect an output of a fitting type")
    })
}

fn whole(number: &Number) -> Result<Integer> {
    let rounded = number.0.round();
    // Every f64 in this range, and none beyond, is an i64.
    if rounded >= i64::MIN as f64 && rounded < i64::MAX as f64 {
        return Ok(Integer(rounded as i64));
    }
    Err(NodeError::new(format!("{} is not a whole number that can be held", number.0)).help("give a smaller number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_graph::Registry;
    use sinew_graph::registry::SocketType;

    fn registry() -> Registry {
        let mut registry = Registry::default();
        crate::register(&mut registry).unwrap();
        registry
    }

    fn convert<A: Data, B: Data + Clone>(from: A) -> Result<B> {
        registry().convert(&Value::new(from), SocketType::Of(&B::TYPE)).map(|value| value.get::<B>().unwrap().clone())
    }

    #[test]
    fn basic_values_convert_as_people_expect() {
        assert_eq!(convert(Integer(-7)), Ok(Number(-7.0)));
        assert_eq!(convert(Toggle(true)), Ok(Number(1.0)));
        assert_eq!(convert(Toggle(true)), Ok(Integer(1)));
        assert_eq!(convert(Number(2.9999999)), Ok(Integer(3)));
        assert_eq!(convert(Number(-2.5)), Ok(Integer(-3)));
        assert_eq!(convert(Number(0.1)), Ok(Text("0.1".into())));
        assert_eq!(convert(Toggle(false)), Ok(Text("off".into())));
        assert_eq!(convert(Text("a.glb".into())), Ok(File("a.glb".into())));
        assert_eq!(convert(File("a.glb".into())), Ok(Text("a.glb".into())));
        assert_eq!(convert(Number(0.5)), Ok(Vector(DVec3::splat(0.5))));
    }

    #[test]
    fn what_does_not_fit_is_an_error_and_never_a_guess() {
        assert!(convert::<_, Integer>(Number(1e300)).is_err());
        assert!(convert::<_, Integer>(Number(f64::NAN)).is_err());
        assert!(convert::<_, Number>(Text("1".into())).is_err());
    }

    #[test]
    fn parts_of_a_character_are_shared_and_not_copied() {
        let character = crate::measure::edge_stretch::tests::arm();
        let mesh: Mesh = convert(character.clone()).unwrap();
        assert!(Arc::ptr_eq(&mesh.positions, &character.mesh.positions));
        let skin: Skin = convert(character.clone()).unwrap();
        assert!(Arc::ptr_eq(&skin.weights, &character.skin.weights));
        assert_eq!(convert::<_, Clips>(character.clone()), Ok(character.clips.clone()));
        assert_eq!(convert::<_, Skeleton>(character.clone()), Ok(character.skeleton));
    }
}
