//! Reading JSON schemas.

use serde_json::Value;

/// The schema that a reference names, or the schema itself.
pub fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    match schema["$ref"].as_str().and_then(|reference| document.pointer(reference.strip_prefix('#')?)) {
        Some(target) => target,
        None => schema,
    }
}

/// The name at the end of a reference.
pub fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The properties of an object, in the order in which they are declared.
pub fn order(schema: &Value) -> impl Iterator<Item = &str> {
    schema["x-order"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The first sentence of a description.
pub fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
