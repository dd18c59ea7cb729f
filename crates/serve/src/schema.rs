//! The shapes of answers: as JSON Schema for the OpenAPI document, and as columns for CSV.

use serde_json::{Map, Value, json};

/// The shape of a value.
#[derive(Debug, Clone)]
pub(crate) enum Schema {
    Text,
    Integer,
    Number,
    Flag,
    /// One of some words.
    Words(&'static [&'static str]),
    List(Box<Schema>),
    /// Exactly these properties, in this order; a name that begins with `?` may be missing.
    Object(Vec<(&'static str, Schema)>),
    /// Any names, all with values of one shape.
    Map(Box<Schema>),
    /// One of some shapes.
    Either(Vec<Schema>),
    Null,
}

pub(crate) fn list(items: Schema) -> Schema {
    Schema::List(Box::new(items))
}

pub(crate) fn object<const N: usize>(properties: [(&'static str, Schema); N]) -> Schema {
    Schema::Object(properties.into())
}

pub(crate) fn map(values: Schema) -> Schema {
    Schema::Map(Box::new(values))
}

/// The shape, or null: JSON has no word for what is no number.
pub(crate) fn maybe(schema: Schema) -> Schema {
    Schema::Either(vec![schema, Schema::Null])
}

impl Schema {
    /// As JSON Schema. Objects are closed: what is not described is not sent.
    pub fn json(&self) -> Value {
        match self {
            Schema::Text => json!({ "type": "string" }),
            Schema::Integer => json!({ "type": "integer" }),
            Schema::Number => json!({ "type": "number" }),
            Schema::Flag => json!({ "type": "boolean" }),
            Schema::Null => json!({ "type": "null" }),
            Schema::Words(words) => json!({ "type": "string", "enum": words }),
            Schema::List(items) => json!({ "type": "array", "items": items.json() }),
            Schema::Map(values) => json!({ "type": "object", "additionalProperties": values.json() }),
            Schema::Either(shapes) => json!({ "anyOf": shapes.iter().map(Schema::json).collect::<Vec<_>>() }),
            Schema::Object(properties) => {
                let described: Map<String, Value> = properties
                    .iter()
                    .map(|(name, schema)| (name.trim_start_matches('?').to_owned(), schema.json()))
                    .collect();
                let required: Vec<&str> =
                    properties.iter().map(|(name, _)| *name).filter(|name| !name.starts_with('?')).collect();
                json!({
                    "type": "object",
                    "properties": described,
                    "required": required,
                    "additionalProperties": false,
                })
            }
        }
    }

    /// The shape of a property's items, if it is a list.
    pub fn items_of(&self, property: &str) -> Option<&Schema> {
        let Schema::Object(properties) = self else { return None };
        let found = properties.iter().find(|(name, _)| name.trim_start_matches('?') == property);
        match found {
            Some((_, Schema::List(items))) => Some(items),
            _ => None,
        }
    }

    /// The columns of a table whose rows have this shape: objects inside are spread, and maps have the columns that
    /// were asked for.
    pub fn columns(&self, asked: &[&str]) -> Vec<Vec<String>> {
        match self {
            Schema::Object(properties) => {
                let spread = |(name, schema): &(&'static str, Schema)| {
                    let name = name.trim_start_matches('?');
                    schema.columns(asked).into_iter().map(move |rest| {
                        let mut path = vec![name.to_owned()];
                        path.extend(rest);
                        path
                    })
                };
                properties.iter().flat_map(spread).collect()
            }
            Schema::Map(_) => asked.iter().map(|name| vec![(*name).to_owned()]).collect(),
            Schema::Either(shapes) => shapes[0].columns(asked),
            _ => vec![Vec::new()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_in_order_and_spread_what_is_inside() {
        let row = object([
            ("value", Schema::Text),
            ("?band", maybe(object([("low", Schema::Number), ("high", Schema::Number)]))),
            ("fields", map(Schema::Text)),
            ("rates", list(Schema::Number)),
        ]);
        let columns: Vec<String> = row.columns(&["date", "site"]).iter().map(|path| path.join(".")).collect();
        assert_eq!(columns, ["value", "band.low", "band.high", "fields.date", "fields.site", "rates"]);
    }
}
