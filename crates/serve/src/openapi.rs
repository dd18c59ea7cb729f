//! The OpenAPI 3.1 document, made of the table that the router reads.

use serde_json::{Map, Value, json};

use crate::endpoint::{ENDPOINTS, Endpoint};
use crate::handler::ATTRIBUTES;
use crate::query_params::{Kind, Param};
use crate::schema::{Schema, object};

/// The document.
pub fn document() -> Value {
    let paths: Map<String, Value> =
        ENDPOINTS.iter().map(|endpoint| (endpoint.path.to_owned(), json!({ "get": operation(endpoint) }))).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tidings",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Questions to monitor corpora. Everything is read-only. Without a right to see text, answers hold counts and \
                            public metadata only, and say what was withheld.",
        },
        "paths": paths,
        "components": {
            "schemas": { "Error": error_schema().json() },
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "made by `tidings token add`" },
            },
        },
        "security": [{}, { "token": [] }],
    })
}

/// The shape of what is said in place of an answer.
fn error_schema() -> Schema {
    object([
        ("error", Schema::Text),
        ("?parameter", Schema::Text),
        ("?place", object([("from", Schema::Integer), ("to", Schema::Integer)])),
        ("?shown", Schema::Text),
    ])
}

fn operation(endpoint: &Endpoint) -> Value {
    let places = endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let places = places.map(|name| {
        let about = if name == "lang" { "the language of the corpus, such as en" } else { "the id of the document" };
        json!({ "name": name, "in": "path", "required": true, "description": about, "schema": { "type": "string" } })
    });
    let parameters: Vec<Value> = places.chain(endpoint.params().map(parameter)).collect();
    let schema = (endpoint.answer)();
    let mut content = json!({ "application/json": { "schema": schema.json() } });
    if let Some(row) = schema.items_of(endpoint.rows) {
        content["application/x-ndjson"] = json!({ "schema": row.json() });
        content["text/csv"] = json!({ "schema": { "type": "string" } });
    }
    if endpoint.params().any(|param| matches!(param.kind, Kind::Choice(words) if words.contains(&"rss"))) {
        content["application/rss+xml"] = json!({ "schema": { "type": "string" } });
    }
    let failure = |about: &str| {
        let schema = json!({ "$ref": "#/components/schemas/Error" });
        json!({ "description": about, "content": { "application/json": { "schema": schema } } })
    };
    json!({
        "operationId": endpoint.name,
        "summary": endpoint.about,
        "parameters": parameters,
        "responses": {
            "200": { "description": "The answer", "content": content },
            "400": failure("The request is wrong; `place` and `shown` say where"),
            "401": failure("The token is unknown or its time is over"),
            "403": failure("This needs a token"),
            "404": failure("There is no such thing"),
            "422": failure("There is more to count than memory should hold"),
            "429": failure("Too many requests of one client; Retry-After says when to ask again"),
            "503": failure("Too many ask at once, or it took too long; Retry-After says when to ask again"),
        },
    })
}

fn parameter(param: &Param) -> Value {
    let mut schema = match param.kind {
        Kind::Text | Kind::Names => json!({ "type": "string" }),
        Kind::Number(from, u64::MAX) => json!({ "type": "integer", "minimum": from }),
        Kind::Number(from, to) => json!({ "type": "integer", "minimum": from, "maximum": to }),
        Kind::Share(from, to) => json!({ "type": "number", "minimum": from, "maximum": to }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Attribute => {
            let feature = json!({ "type": "string", "pattern": "^[A-Z][A-Za-z0-9]*(\\[[a-z0-9]+\\])?$" });
            json!({ "anyOf": [{ "type": "string", "enum": ATTRIBUTES }, feature] })
        }
        Kind::Choice(words) => json!({ "type": "string", "enum": words }),
    };
    if let Some(default) = param.default {
        schema["default"] = match param.kind {
            Kind::Number(..) | Kind::Share(..) | Kind::Flag => serde_json::from_str(default).unwrap_or(json!(default)),
            _ => json!(default),
        };
    }
    json!({ "name": param.name, "in": "query", "required": param.required, "description": param.about, "schema": schema })
}
