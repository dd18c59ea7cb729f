//! Tables of the rows of an answer, with the columns of its type: for CSV, and for questions without a view of their own.

use serde::Serialize;
use serde_json::Value;
use tidings_query::question::{Column, QUESTIONS, Question, QuestionInfo};

use crate::table::Table;

/// The table that `--csv` prints: every column of the rows, with unrounded numbers, as the API sends it.
pub fn csv_table<Q: Question>(body: &impl Serialize, fields: &[&str]) -> Table {
    let question = QUESTIONS.iter().find(|question| question.name == Q::NAME).expect("QUESTIONS lists every question");
    let body = serde_json::to_value(body).expect("answers serialise");
    row_table(question, &body, fields, Headings::Names, |_, _, text| text)
}

/// The headings of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headings {
    /// The names of the API, for programs.
    Names,
    /// The same as words.
    Words,
}

/// The rows of an answer; without rows, its fields. `cell` formats a value, which it gets with the
/// name of its field and its plain text.
pub fn row_table(
    question: &QuestionInfo,
    body: &Value,
    fields: &[&str],
    headings: Headings,
    cell: impl Fn(&str, &Value, String) -> String,
) -> Table {
    if question.rows.is_empty() {
        let mut table = Table::new(&["field", "#value"]);
        for (name, value) in body.as_object().into_iter().flatten() {
            let text = if value.is_null() { String::new() } else { value.to_string() };
            table.push(vec![name.clone(), cell(name, value, text)]);
        }
        return table;
    }
    let columns = question.columns(fields);
    let heading = |column: &Column| {
        let name = match headings {
            Headings::Names => column.name(),
            Headings::Words => column.name().replace(['_', '.'], " "),
        };
        format!("{}{name}", if column.is_number { "#" } else { "" })
    };
    let mut table = Table::with_columns(columns.iter().map(heading).collect());
    for row in body[question.rows].as_array().into_iter().flatten() {
        let cells = columns
            .iter()
            .map(|column| cell(&column.name(), column.value(row).unwrap_or(&Value::Null), column.text(row)));
        table.push(cells.collect());
    }
    table
}
