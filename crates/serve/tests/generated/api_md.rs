//! The reference of the API in Markdown: for each endpoint its parameters, its answer and an example.

use std::fmt::Write as _;

use serde_json::Value;

use crate::schema::{description, order, reference as name_of, resolved};

/// The reference of all endpoints.
pub fn reference(document: &Value) -> String {
    let mut text = String::new();
    let mut paths: Vec<(&String, &Value)> = document["paths"].as_object().unwrap().iter().collect();
    // Questions to a corpus come after those about the home, as in the introduction.
    paths.sort_by_key(|(path, _)| (path.contains('{'), path.as_str()));
    for (path, item) in paths {
        endpoint(document, path, &item["get"], &mut text);
    }
    text
}

fn endpoint(document: &Value, path: &str, operation: &Value, text: &mut String) {
    let _ = write!(text, "\n### `{path}`\n\n{}.\n", operation["summary"].as_str().unwrap());
    let parameters = operation["parameters"].as_array().unwrap();
    let shown: Vec<&Value> = parameters.iter().filter(|parameter| parameter["name"] != "lang").collect();
    if !shown.is_empty() {
        text.push_str("\n| parameter | values | default | meaning |\n| --- | --- | --- | --- |\n");
    }
    for parameter in shown {
        let schema = &parameter["schema"];
        let default = match (&schema["default"], parameter["required"] == true) {
            (_, true) => "required".to_owned(),
            (Value::Null, _) => String::new(),
            (default, _) => format!("`{}`", plain(default)),
        };
        let values = values(document, schema);
        let name = parameter["name"].as_str().unwrap();
        let _ = writeln!(text, "| `{name}` | {values} | {default} | {} |", cell(&description(parameter)));
    }
    let answer = &operation["responses"]["200"]["content"]["application/json"]["schema"];
    text.push_str("\n| answer | type | meaning |\n| --- | --- | --- |\n");
    let answer = resolved(document, answer);
    let mut rows = None;
    for name in order(answer).filter(|name| !["about", "link", "rewrites"].contains(name)) {
        let property = &answer["properties"][name];
        field(document, name, property, text);
        if name == rows_of(operation, answer) {
            rows = Some((name, resolved(document, &property["items"])));
        }
    }
    if let Some((list, row)) = rows {
        for name in order(row) {
            field(document, &format!("{list}[].{name}"), &row["properties"][name], text);
        }
    }
    let _ = write!(text, "\nExample: `{}`\n", example(document, path, operation));
}

/// The property of the answer whose items are the rows of streams.
fn rows_of<'a>(operation: &Value, answer: &'a Value) -> &'a str {
    let row = &operation["responses"]["200"]["content"]["application/x-ndjson"]["schema"];
    let is_rows = |name: &&str| !row.is_null() && answer["properties"][*name]["items"] == *row;
    order(answer).find(is_rows).unwrap_or("")
}

fn field(document: &Value, name: &str, schema: &Value, text: &mut String) {
    let meaning = match description(schema) {
        own if own.is_empty() => description(resolved(document, schema)),
        own => own,
    };
    let _ = writeln!(text, "| `{name}` | {} | {} |", kind(schema), cell(&meaning));
}

/// The values of a parameter.
fn values(document: &Value, schema: &Value) -> String {
    let schema = resolved(document, schema);
    if let Some(names) = schema["enum"].as_array() {
        return names.iter().map(|name| format!("`{}`", plain(name))).collect::<Vec<_>>().join(" ");
    }
    let limits = match (&schema["minimum"], &schema["maximum"]) {
        (Value::Null, Value::Null) => String::new(),
        (min, Value::Null) => format!(" ≥ {}", plain(min)),
        (min, max) => format!(" {} to {}", plain(min), plain(max)),
    };
    match (schema["type"].as_str().unwrap_or_default(), schema["format"].as_str()) {
        ("string", Some(format)) => format.to_owned(),
        ("string", None) => "text".to_owned(),
        ("array", _) => "names separated by commas".to_owned(),
        ("boolean", _) => "`true` `false`".to_owned(),
        (kind, _) => format!("{kind}{limits}"),
    }
}

/// The type of a field.
fn kind(schema: &Value) -> String {
    if let Some(name) = name_of(schema) {
        return name.to_owned();
    }
    let all = |shapes: &Vec<Value>| shapes.iter().map(kind).collect::<Vec<_>>().join(" or ");
    if let Some(shapes) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return all(shapes);
    }
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().map(plain).collect::<Vec<_>>().join(" or "),
        Value::String(name) if name == "array" => format!("list of {}", kind(&schema["items"])),
        Value::String(name) if name == "object" => format!("map to {}", kind(&schema["additionalProperties"])),
        Value::String(name) => name.clone(),
        _ => String::new(),
    }
}

/// The command that sends the request's example, without defaults.
fn example(document: &Value, path: &str, operation: &Value) -> String {
    let name = operation["operationId"].as_str().unwrap();
    let pascal: String = name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    let example = &document["components"]["schemas"][format!("{pascal}Request")]["examples"][0];
    let mut path = path.replace("/api/v1", "$api").replace("{lang}", "en");
    let mut query = String::new();
    for parameter in operation["parameters"].as_array().unwrap() {
        let name = parameter["name"].as_str().unwrap();
        let value = &example[name];
        let is_default = value.is_null() || *value == parameter["schema"]["default"] || plain(value).is_empty();
        match parameter["in"] == "path" {
            true => path = path.replace(&format!("{{{name}}}"), &plain(value)),
            false if is_default => {}
            false => match plain(value) {
                text if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.,".contains(&byte)) => {
                    let _ = write!(query, " -d {name}={text}");
                }
                text => {
                    let _ = write!(query, " --data-urlencode '{name}={text}'");
                }
            },
        }
    }
    let get = if query.is_empty() { "" } else { "-G " };
    format!("curl {get}\"{path}\"{query}")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => float.to_string(),
            None => number.to_string(),
        },
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Text inside a cell of a table.
fn cell(text: &str) -> String {
    text.trim_end_matches('.').replace('|', "\\|").replace('<', "&lt;")
}
