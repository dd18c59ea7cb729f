//! Checks values against the part of JSON Schema that the OpenAPI document uses.

use serde_json::Value;

/// Describes how a value violates its schema, or returns nothing.
pub fn fault(schema: &Value, value: &Value, place: &str) -> Option<String> {
    if let Some(shapes) = schema["anyOf"].as_array() {
        let faults: Vec<Option<String>> = shapes.iter().map(|shape| fault(shape, value, place)).collect();
        return faults.iter().all(Option::is_some).then(|| format!("{place}: {faults:?}"));
    }
    let is_right = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        other => return Some(format!("{place}: the schema has the type {other:?}")),
    };
    if !is_right {
        return Some(format!("{place}: {value} is no {}", schema["type"]));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        return Some(format!("{place}: {value} is none of {}", schema["enum"]));
    }
    if let Some(items) = value.as_array() {
        let mut faults = (0..).zip(items).map(|(at, item)| fault(&schema["items"], item, &format!("{place}[{at}]")));
        return faults.find_map(|fault| fault);
    }
    let object = value.as_object()?;
    let missing = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(name) = missing.into_iter().find(|name| !object.contains_key(*name)) {
        return Some(format!("{place}.{name} is missing"));
    }
    object.iter().find_map(|(name, value)| {
        let place = format!("{place}.{name}");
        match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => Some(format!("{place} is not described")),
            (Value::Null, values) => fault(values, value, &place),
            (described, _) => fault(described, value, &place),
        }
    })
}
