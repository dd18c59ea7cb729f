//! Checks values against the part of JSON Schema that the OpenAPI document uses.

use serde_json::Value;

/// The fault of a value, and its place; nothing if it is as described.
pub fn fault(document: &Value, schema: &Value, value: &Value, place: &str) -> Option<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.strip_prefix('#')?;
        return fault(document, document.pointer(pointer)?, value, place);
    }
    if let Some(shapes) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        let faults: Vec<Option<String>> = shapes.iter().map(|shape| fault(document, shape, value, place)).collect();
        return faults.iter().all(Option::is_some).then(|| format!("{place}: {faults:?}"));
    }
    if !schema["const"].is_null() && schema["const"] != *value {
        return Some(format!("{place}: {value} is not {}", schema["const"]));
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    if !kinds.iter().any(|kind| is_of(kind, value)) {
        return Some(format!("{place}: {value} is no {kinds:?}"));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        return Some(format!("{place}: {value} is none of {}", schema["enum"]));
    }
    if let Some(items) = value.as_array() {
        let check = |(at, item)| fault(document, &schema["items"], item, &format!("{place}[{at}]"));
        return (0..).zip(items).find_map(check);
    }
    let object = value.as_object()?;
    let mut required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(name) = required.find(|name| !object.contains_key(*name)) {
        return Some(format!("{place}.{name} is missing"));
    }
    object.iter().find_map(|(name, value)| {
        let place = format!("{place}.{name}");
        match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => Some(format!("{place} is not described")),
            (Value::Null, values) => fault(document, values, value, &place),
            (described, _) => fault(document, described, value, &place),
        }
    })
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
