//! The OpenAPI 3.1 document, made of the table that the router reads.
//!
//! Schemas are derived from the request and answer types. `x-order` keeps the order of their fields, which JSON objects do
//! not have.

use schemars::SchemaGenerator;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value, json};
use tidings_query::question::About;

use crate::endpoint::{ENDPOINTS, Endpoint};

/// Keys that only other interfaces read.
const PRIVATE_KEYS: &[&str] = &["x-aliases", "x-value-name", "x-positional", "x-api-only", "$schema", "title"];

/// The document.
pub fn document() -> Value {
    let [mut answers, mut requests] = [Contract::Serialize, Contract::Deserialize].map(generator);
    let mut schemas = Map::new();
    let mut paths = Map::new();
    for endpoint in ENDPOINTS.iter() {
        let name = pascal_case(endpoint.name);
        let request = request_schema(endpoint, &mut requests);
        let operation = operation(endpoint, &name, &request, &answer_schema(endpoint, &mut answers));
        schemas.insert(format!("{name}Answer"), answer_schema(endpoint, &mut answers));
        schemas.insert(format!("{name}Request"), request);
        paths.insert(endpoint.path.clone(), json!({ "get": operation }));
    }
    schemas.insert("Error".to_owned(), error_schema());
    schemas.extend(requests.take_definitions(true));
    schemas.extend(answers.take_definitions(true));
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tidings",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Questions to monitor corpora. The API is read-only. Without the right to see text, answers contain \
                            counts and public metadata only, and state what was withheld.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "made by `tidings token add`" },
            },
        },
        "security": [{}, { "token": [] }],
    });
    tidy(&mut document["components"]["schemas"]);
    tidy(&mut document["paths"]);
    document
}

fn generator(contract: Contract) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.contract = contract;
        settings.meta_schema = None;
    });
    settings.into_generator()
}

/// The schema of a request, with its parameters in order.
fn request_schema(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let mut schema = (endpoint.request_schema)(generator).to_value();
    let names = endpoint.parameters.iter().map(|parameter| parameter.name.as_str());
    schema["x-order"] = names.filter(|name| !schema["properties"][name].is_null()).collect();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(without_null);
    }
    schema["examples"] = json!([(endpoint.example)()]);
    schema
}

/// The schema of an answer, with what all answers have.
fn answer_schema(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let mut schema = (endpoint.answer_schema)(generator).to_value();
    let mut common =
        vec![("link", json!({ "type": "string", "description": "The address that asks the same again." }))];
    if endpoint.path_names().next().is_some() {
        let rewrites = json!({
            "type": "array",
            "items": { "type": "string" },
            "description": "Changes to the question, such as rows that were left out to protect text.",
        });
        common.insert(0, ("about", generator.subschema_for::<About>().to_value()));
        common.push(("rewrites", rewrites));
    }
    let own = schema["x-order"].as_array().cloned().unwrap_or_default();
    schema["x-order"] = common.iter().map(|(name, _)| json!(name)).chain(own).collect();
    for (name, property) in common {
        schema["properties"][name] = property;
        if name != "rewrites"
            && let Some(required) = schema["required"].as_array_mut()
        {
            required.push(json!(name));
        }
    }
    schema
}

/// The schema of errors.
fn error_schema() -> Value {
    json!({
        "type": "object",
        "description": "The reason why there is no answer.",
        "properties": {
            "error": { "type": "string", "description": "The cause and the remedy." },
            "parameter": { "type": "string", "description": "The parameter that is wrong." },
            "place": {
                "type": "object",
                "description": "The position of the error in the query or filter, in bytes.",
                "properties": { "from": { "type": "integer" }, "to": { "type": "integer" } },
                "required": ["from", "to"],
                "x-order": ["from", "to"],
            },
            "shown": { "type": "string", "description": "The query or filter with carets under the error." },
        },
        "required": ["error"],
        "x-order": ["error", "parameter", "place", "shown"],
    })
}

fn operation(endpoint: &Endpoint, name: &str, request: &Value, answer: &Value) -> Value {
    let lang = endpoint.path_names().find(|name| *name == "lang").map(|name| {
        let description = "The language of the corpus, such as en";
        json!({ "name": name, "in": "path", "required": true, "description": description, "schema": { "type": "string" } })
    });
    let parameters = endpoint.parameters.iter().map(|parameter| {
        let is_in_path = endpoint.path_names().any(|name| name == parameter.name);
        let mut schema = match &request["properties"][&parameter.name] {
            Value::Null => json!({ "type": "string", "enum": choices(parameter), "default": parameter.default }),
            schema => schema.clone(),
        };
        without_null(&mut schema);
        schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut described = json!({
            "name": parameter.name,
            "in": if is_in_path { "path" } else { "query" },
            "required": parameter.required,
            "description": parameter.help,
            "schema": schema,
        });
        if described["schema"]["type"] == "array" {
            described["style"] = json!("form");
            described["explode"] = json!(false);
        }
        described
    });
    let parameters: Vec<Value> = lang.into_iter().chain(parameters).collect();
    let mut content = json!({ "application/json": { "schema": reference(&format!("{name}Answer")) } });
    if !endpoint.rows.is_empty() {
        content["application/x-ndjson"] = json!({ "schema": answer["properties"][endpoint.rows]["items"] });
        content["text/csv"] = json!({ "schema": { "type": "string" } });
    }
    let formats = endpoint.parameters.iter().find(|parameter| parameter.name == "format").map(choices);
    if formats.is_some_and(|formats| formats.iter().any(|format| format == "rss")) {
        content["application/rss+xml"] = json!({ "schema": { "type": "string" } });
    }
    json!({
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": parameters,
        "responses": responses(content),
    })
}

fn responses(content: Value) -> Value {
    let failure = |description: &str| json!({ "description": description, "content": { "application/json": { "schema": reference("Error") } } });
    json!({
        "200": { "description": "The answer", "content": content },
        "400": failure("A parameter is wrong; `place` and `shown` say where"),
        "401": failure("The token is unknown or expired"),
        "403": failure("A token is needed"),
        "404": failure("Not found"),
        "422": failure("There is more to count than fits in memory"),
        "429": failure("Too many requests of one client; Retry-After says when to try again"),
        "503": failure("Too many requests at once, or the time limit was reached; Retry-After says when to try again"),
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn choices(parameter: &tidings_query::question::Parameter) -> &[String] {
    match &parameter.kind {
        tidings_query::question::ParameterKind::Choice { names, .. } => names,
        _ => &[],
    }
}

/// Removes null from the values of a parameter: a parameter that is not given is missing.
fn without_null(schema: &mut Value) {
    let shapes = schema["anyOf"].as_array().cloned();
    if let (Some(shapes), Some(object)) = (shapes, schema.as_object_mut()) {
        let shape = shapes.into_iter().find(|shape| shape["type"] != "null").unwrap_or_default();
        object.remove("anyOf");
        object.extend(shape.as_object().cloned().into_iter().flatten());
    }
    if let Some(kinds) = schema["type"].as_array() {
        schema["type"] = kinds.iter().find(|kind| *kind != "null").cloned().unwrap_or_default();
    }
    if let Some(object) = schema.as_object_mut() {
        object.retain(|key, value| !value.is_null() || key == "const");
    }
}

/// Drops the keys of other interfaces, and closes objects: fields that are not described are not sent.
fn tidy(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(object) => {
            object.retain(|key, _| !PRIVATE_KEYS.contains(&key.as_str()));
            if object.get("type") == Some(&json!("object")) && !object.contains_key("additionalProperties") {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
            // The names of properties are no keywords.
            object.iter_mut().for_each(|(key, value)| match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => properties.values_mut().for_each(tidy),
                (_, value) => tidy(value),
            });
        }
        _ => {}
    }
}

/// `new-words` as `NewWords`.
fn pascal_case(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('-').map(word).collect()
}
