//! The columns of an answer's rows, read from its JSON schema.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The fields on the way to the value.
    pub path: Vec<String>,
    /// Whether values are numbers.
    pub is_number: bool,
}

/// The columns of the rows of an answer: objects inside are spread, and maps have the columns `fields`. `schema` makes the
/// schema of the answer.
pub fn columns(schema: impl FnOnce(&mut SchemaGenerator) -> Schema, rows: &str, fields: &[&str]) -> Vec<Column> {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.inline_subschemas = true);
    let schema = schema(&mut SchemaGenerator::from(settings)).to_value();
    let mut columns = Vec::new();
    spread(&schema["properties"][rows]["items"], Vec::new(), fields, &mut columns);
    columns
}

fn spread(schema: &Value, path: Vec<String>, fields: &[&str], columns: &mut Vec<Column>) {
    let below = |name: &str| path.iter().cloned().chain([name.to_owned()]).collect::<Vec<String>>();
    let shape = schema["anyOf"].as_array().and_then(|shapes| shapes.iter().find(|shape| shape["type"] != "null"));
    if let Some(shape) = shape {
        return spread(shape, path, fields, columns);
    }
    if let Some(order) = schema["x-order"].as_array() {
        for name in order.iter().filter_map(Value::as_str) {
            spread(&schema["properties"][name], below(name), fields, columns);
        }
        return;
    }
    if has_type(schema, "object") {
        return fields.iter().for_each(|name| columns.push(Column { path: below(name), is_number: false }));
    }
    if !path.is_empty() {
        let is_number = has_type(schema, "integer") || has_type(schema, "number");
        columns.push(Column { path, is_number });
    }
}

fn has_type(schema: &Value, name: &str) -> bool {
    match &schema["type"] {
        Value::Array(names) => names.iter().any(|known| known == name),
        known => known == name,
    }
}

impl Column {
    /// The heading: the fields with points between, and those of a document by their own names.
    pub fn name(&self) -> String {
        self.path.join(".").replace("fields.", "")
    }

    /// The value in a row.
    pub fn value<'r>(&self, row: &'r Value) -> Option<&'r Value> {
        self.path.iter().try_fold(row, |value, name| value.get(name))
    }

    /// The text of the value in a row: tokens become text, words with counts of two parts `word 3→40`, and lists have blanks
    /// between their items.
    pub fn text(&self, row: &Value) -> String {
        self.value(row).map(text).unwrap_or_default()
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.first().is_some_and(|item| item.get("word").is_some()) => {
            let mut text = String::new();
            for token in items {
                text.push_str(token["word"].as_str().unwrap_or_default());
                text.push_str(if token["space_after"] == true { " " } else { "" });
            }
            text.trim().to_owned()
        }
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(" "),
        Value::Object(item) if ["value", "before", "after"].iter().all(|name| item.contains_key(*name)) => {
            format!("{} {}→{}", text(&item["value"]), item["before"], item["after"])
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Collocates, Concordance, Timeline};
    use super::*;
    use schemars::JsonSchema;
    use serde_json::json;

    fn names<T: JsonSchema>(rows: &str, fields: &[&str]) -> Vec<String> {
        columns(T::json_schema, rows, fields).iter().map(Column::name).collect()
    }

    #[test]
    fn columns_come_in_order_and_objects_are_spread() {
        let lines = names::<Concordance>("lines", &["date", "site"]);
        assert_eq!(lines, ["document", "date", "site", "restricted", "position", "left", "node", "right"]);
        let points = names::<Timeline>("points", &[]);
        assert_eq!(points[..3], ["bin", "query", "hits"]);
        assert_eq!(points[points.len() - 4..], ["per_million", "query_share", "band.low", "band.high"]);
        let rows = names::<Collocates>("rows", &[]);
        assert_eq!(rows[..5], ["value", "together", "hits", "positions", "scores.log_dice"]);
    }

    #[test]
    fn tokens_become_text_and_lists_become_words() {
        let row = json!({ "left": [{ "word": "it", "space_after": true }, { "word": "rained", "space_after": false },
            { "word": ",", "space_after": true }], "rates": [1.5, 2], "band": null,
            "gained": [{ "value": "vaccine", "before": 0, "after": 7 }, { "value": "face", "before": 1, "after": 5 }] });
        let at = |name: &str| Column { path: vec![name.to_owned()], is_number: false }.text(&row);
        assert_eq!(
            [at("left"), at("rates"), at("band"), at("none"), at("gained")],
            ["it rained,", "1.5 2", "", "", "vaccine 0→7 face 1→5"]
        );
    }
}
