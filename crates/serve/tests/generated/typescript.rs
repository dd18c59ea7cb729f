//! TypeScript types of requests and answers, and the lists of choices.

use std::fmt::Write as _;

use serde_json::Value;

use crate::schema::{description, order, reference};

/// All types of the document.
pub fn types(document: &Value) -> String {
    let mut text = format!("// Generated from the OpenAPI document; do not edit. {} writes it again.\n", crate::BLESS);
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        text.push('\n');
        comment(schema, "", &mut text);
        match schema["enum"].as_array() {
            Some(names) => choices(name, schema, names, &mut text),
            None if schema["properties"].is_object() || schema["x-order"].is_array() => {
                let _ = writeln!(text, "export interface {name} {{");
                properties(schema, &mut text);
                text.push_str("}\n");
            }
            None => {
                let _ = writeln!(text, "export type {name} = {};", type_of(schema));
            }
        }
    }
    endpoints(document, &mut text);
    text
}

fn choices(name: &str, schema: &Value, names: &[Value], text: &mut String) {
    let union: Vec<String> = names.iter().map(Value::to_string).collect();
    let _ = writeln!(text, "export type {name} = {};", union.join(" | "));
    let constant = screaming(name);
    let _ = writeln!(text, "/** The choices of {name} with their meanings. */");
    let _ = writeln!(text, "export const {constant}: readonly (readonly [{name}, string])[] = [");
    for (at, choice) in names.iter().enumerate() {
        let meaning = schema["x-descriptions"][at].as_str().unwrap_or_default();
        let _ = writeln!(text, "  [{choice}, {}],", Value::from(meaning));
    }
    text.push_str("];\n");
}

fn properties(schema: &Value, text: &mut String) {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for name in order(schema) {
        let property = &schema["properties"][name];
        comment(property, "  ", text);
        let mark = if required.contains(&name) { "" } else { "?" };
        let _ = writeln!(text, "  {name}{mark}: {};", type_of(property));
    }
}

/// The endpoints by name: their paths, and the types of their requests, answers and rows.
fn endpoints(document: &Value, text: &mut String) {
    let operations: Vec<(&String, &Value)> =
        document["paths"].as_object().unwrap().iter().map(|(path, item)| (path, &item["get"])).collect();
    text.push_str("\n/** The paths of the endpoints, by name. */\nexport const PATHS = {\n");
    for (path, operation) in &operations {
        let _ = writeln!(text, "  {}: {},", operation["operationId"], Value::from(path.as_str()));
    }
    text.push_str("} as const;\n\n/** The requests, answers and rows of the endpoints, by name. */\nexport interface Endpoints {\n");
    for (_, operation) in &operations {
        let content = &operation["responses"]["200"]["content"];
        let answer = type_of(&content["application/json"]["schema"]);
        let request = answer.replace("Answer", "Request");
        let row = match &content["application/x-ndjson"]["schema"] {
            Value::Null => "never".to_owned(),
            row => type_of(row),
        };
        let _ =
            writeln!(text, "  {}: {{ request: {request}; answer: {answer}; row: {row} }};", operation["operationId"]);
    }
    text.push_str("}\n");
}

/// A schema as a type.
fn type_of(schema: &Value) -> String {
    if let Some(name) = reference(schema) {
        return name.to_owned();
    }
    if let Some(shapes) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return shapes.iter().map(type_of).collect::<Vec<_>>().join(" | ");
    }
    if !schema["const"].is_null() {
        return schema["const"].to_string();
    }
    if let Some(names) = schema["enum"].as_array() {
        return names.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().map(|kind| basic(kind.as_str().unwrap())).collect::<Vec<_>>().join(" | "),
        Value::String(kind) if kind == "array" => {
            let items = type_of(&schema["items"]);
            if items.contains(' ') { format!("({items})[]") } else { format!("{items}[]") }
        }
        Value::String(kind) if kind == "object" && schema["properties"].is_object() => inline(schema),
        Value::String(kind) if kind == "object" => {
            format!("Record<string, {}>", type_of(&schema["additionalProperties"]))
        }
        Value::String(kind) => basic(kind).to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// An object without a name.
fn inline(schema: &Value) -> String {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let field = |(name, property): (&String, &Value)| {
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("{name}{mark}: {}", type_of(property))
    };
    let fields: Vec<String> = schema["properties"].as_object().unwrap().iter().map(field).collect();
    format!("{{ {} }}", fields.join("; "))
}

fn basic(kind: &str) -> &str {
    match kind {
        "integer" | "number" => "number",
        "boolean" => "boolean",
        "null" => "null",
        "string" => "string",
        _ => "unknown",
    }
}

fn comment(schema: &Value, indent: &str, text: &mut String) {
    let meaning = description(schema);
    if !meaning.is_empty() {
        let _ = writeln!(text, "{indent}/** {meaning} */");
    }
}

/// `KeynessMeasure` as `KEYNESS_MEASURE_CHOICES`.
fn screaming(name: &str) -> String {
    let mut constant = String::new();
    for (at, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && at > 0 {
            constant.push('_');
        }
        constant.push(letter.to_ascii_uppercase());
    }
    constant + "_CHOICES"
}
