//! Small steps on a JSON document.

use serde_json::{Map, Number, Value};
use sinew_graph::{NodeError, Result};

/// A number in its shortest decimal form.
pub fn number(x: f32) -> Value {
    x.to_string().parse::<Number>().map_or(Value::Null, Value::Number)
}

/// Numbers in their shortest decimal form.
pub fn numbers(values: &[f32]) -> Value {
    values.iter().map(|&x| number(x)).collect()
}

/// The array under a key; made if there is none.
pub fn array<'a>(value: &'a mut Value, key: &str) -> Result<&'a mut Vec<Value>> {
    let object = object(value)?;
    object
        .entry(key)
        .or_insert_with(|| Value::Array(Vec::new()))
        .as_array_mut()
        .ok_or_else(|| NodeError::new(format!("{key} of the source document is no list")).help("import the file again"))
}

/// Entry `k` of the array under a key.
pub fn entry<'a>(value: &'a mut Value, key: &str, k: usize) -> Result<&'a mut Value> {
    array(value, key)?
        .get_mut(k)
        .ok_or_else(|| NodeError::new(format!("the source document has no {key}[{k}]")).help("import the file again"))
}

/// The value as an object.
pub fn object(value: &mut Value) -> Result<&mut Map<String, Value>> {
    value.as_object_mut().ok_or_else(|| {
        NodeError::new("the source document holds something else where an object should be")
            .help("import the file again")
    })
}
