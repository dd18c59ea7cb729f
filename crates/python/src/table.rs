//! Rows of answers as typed columns, for Arrow and for Python.
//!
//! The columns of a question come from the JSON schema of its answer, so that a table has the same types whether it is
//! empty or not, and whether the answer came from files or from a server.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3_arrow::PyTable;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use tidings_query::filter::Period;
use tidings_query::question::{Column, QUESTIONS, QuestionInfo, columns};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(table_columns, module)?)?;
    module.add_function(wrap_pyfunction!(table_values, module)?)?;
    module.add_function(wrap_pyfunction!(table_arrow, module)?)?;
    module.add_function(wrap_pyfunction!(first_day, module)?)
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnType {
    Text,
    Integer,
    Number,
    Boolean,
    Date,
    /// A time step; in tables its first day.
    Step,
    /// A list of texts.
    Texts,
    /// A list of numbers.
    Numbers,
}

impl ColumnType {
    fn name(self) -> &'static str {
        match self {
            ColumnType::Text => "text",
            ColumnType::Integer => "integer",
            ColumnType::Number => "number",
            ColumnType::Boolean => "boolean",
            ColumnType::Date | ColumnType::Step => "date",
            ColumnType::Texts => "texts",
            ColumnType::Numbers => "numbers",
        }
    }

    /// The type of the values that a schema describes. Tokens and other objects become text.
    fn of(schema: &Value, name: &str) -> ColumnType {
        let shape = schema["anyOf"].as_array().and_then(|shapes| shapes.iter().find(|shape| shape["type"] != "null"));
        if let Some(shape) = shape {
            return ColumnType::of(shape, name);
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
            kind => kind.as_str(),
        };
        match kind {
            Some("integer") => ColumnType::Integer,
            Some("number") => ColumnType::Number,
            Some("boolean") => ColumnType::Boolean,
            Some("string") if schema["format"] == "date" => ColumnType::Date,
            Some("string") if name == "bin" => ColumnType::Step,
            Some("array") => match ColumnType::of(&schema["items"], "") {
                ColumnType::Number | ColumnType::Integer => ColumnType::Numbers,
                ColumnType::Text if schema["items"]["type"] == "string" => ColumnType::Texts,
                _ => ColumnType::Text,
            },
            _ => ColumnType::Text,
        }
    }

    fn arrow(self) -> DataType {
        let list = |items| DataType::List(Arc::new(Field::new("item", items, true)));
        match self {
            ColumnType::Text => DataType::Utf8,
            ColumnType::Integer => DataType::Int64,
            ColumnType::Number => DataType::Float64,
            ColumnType::Boolean => DataType::Boolean,
            ColumnType::Date | ColumnType::Step => DataType::Date32,
            ColumnType::Texts => list(DataType::Utf8),
            ColumnType::Numbers => list(DataType::Float64),
        }
    }
}

/// A column with its type.
struct TypedColumn {
    name: String,
    column: Column,
    column_type: ColumnType,
}

/// The columns of a question. `fields` are the columns of the fields of documents. A question without rows has one row,
/// the answer itself.
fn typed_columns(question: &QuestionInfo, fields: &[&str]) -> Vec<TypedColumn> {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.inline_subschemas = true);
    let answer = (question.answer_schema)(&mut SchemaGenerator::from(settings));
    let (known, row) = if question.rows.is_empty() {
        let whole = answer.clone();
        let wrapped = move |_: &mut SchemaGenerator| schemars::json_schema!({ "properties": { "rows": { "items": whole.clone().to_value() } } });
        (columns(wrapped, "rows", fields), answer.to_value())
    } else {
        let known = question.columns(fields);
        (known, answer.to_value()["properties"][question.rows]["items"].take())
    };
    let mut names = HashSet::new();
    let typed = |column: Column| {
        let short = column.name();
        // A field of documents may have the name of another column.
        let name = if names.insert(short.clone()) { short } else { column.path.join(".") };
        let schema = column.path.iter().fold(&row, |schema, name| {
            let shapes = schema["anyOf"].as_array().into_iter().flatten();
            let shape = shapes.into_iter().find(|shape| shape["type"] != "null").unwrap_or(schema);
            &shape["properties"][name]
        });
        let column_type = ColumnType::of(schema, column.path.last().map(String::as_str).unwrap_or_default());
        TypedColumn { name, column, column_type }
    };
    known.into_iter().map(typed).collect()
}

impl TypedColumn {
    fn text(&self, row: &Value) -> Option<String> {
        match self.column.value(row)? {
            Value::Null => None,
            Value::Array(items) if items.first().is_some_and(|item| item.is_object() && item.get("word").is_none()) => {
                Some(Value::Array(items.clone()).to_string())
            }
            _ => Some(self.column.text(row)),
        }
    }

    fn day(&self, row: &Value) -> Option<i32> {
        let day = Period::parse(self.column.value(row)?.as_str()?)?.first;
        i32::try_from(tidings_pipeline::day_number(day)).ok()
    }

    fn array(&self, rows: &[Value]) -> ArrayRef {
        let values = || rows.iter().map(|row| self.column.value(row));
        match self.column_type {
            ColumnType::Text => Arc::new(StringArray::from_iter(rows.iter().map(|row| self.text(row)))),
            ColumnType::Integer => Arc::new(Int64Array::from_iter(values().map(|value| value?.as_i64()))),
            ColumnType::Number => Arc::new(Float64Array::from_iter(values().map(|value| value?.as_f64()))),
            ColumnType::Boolean => Arc::new(BooleanArray::from_iter(values().map(|value| value?.as_bool()))),
            ColumnType::Date | ColumnType::Step => {
                Arc::new(Date32Array::from_iter(rows.iter().map(|row| self.day(row))))
            }
            ColumnType::Texts => {
                let mut lists = ListBuilder::new(StringBuilder::new());
                values().for_each(|value| {
                    let items = value.and_then(Value::as_array);
                    items.into_iter().flatten().for_each(|item| lists.values().append_option(item.as_str()));
                    lists.append(items.is_some());
                });
                Arc::new(lists.finish())
            }
            ColumnType::Numbers => {
                let mut lists = ListBuilder::new(Float64Builder::new());
                values().for_each(|value| {
                    let items = value.and_then(Value::as_array);
                    items.into_iter().flatten().for_each(|item| lists.values().append_option(item.as_f64()));
                    lists.append(items.is_some());
                });
                Arc::new(lists.finish())
            }
        }
    }

    /// The values as a Python list; days are texts.
    fn list<'py>(&self, py: Python<'py>, rows: &[Value]) -> PyResult<Bound<'py, PyList>> {
        let values = || rows.iter().map(|row| self.column.value(row));
        match self.column_type {
            ColumnType::Text => PyList::new(py, rows.iter().map(|row| self.text(row)).collect::<Vec<_>>()),
            ColumnType::Integer => PyList::new(py, values().map(|value| value?.as_i64()).collect::<Vec<_>>()),
            ColumnType::Number => PyList::new(py, values().map(|value| value?.as_f64()).collect::<Vec<_>>()),
            ColumnType::Boolean => PyList::new(py, values().map(|value| value?.as_bool()).collect::<Vec<_>>()),
            ColumnType::Date | ColumnType::Step => {
                let day = |value: Option<&Value>| Some(Period::parse(value?.as_str()?)?.first.to_string());
                PyList::new(py, values().map(day).collect::<Vec<_>>())
            }
            ColumnType::Texts => {
                let texts = |value: Option<&Value>| -> Option<Vec<Option<String>>> {
                    Some(value?.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect())
                };
                PyList::new(py, values().map(texts).collect::<Vec<_>>())
            }
            ColumnType::Numbers => {
                let numbers = |value: Option<&Value>| -> Option<Vec<Option<f64>>> {
                    Some(value?.as_array()?.iter().map(Value::as_f64).collect())
                };
                PyList::new(py, values().map(numbers).collect::<Vec<_>>())
            }
        }
    }
}

/// The question with a name.
pub fn question(name: &str) -> PyResult<&'static QuestionInfo> {
    let known = || QUESTIONS.iter().map(|question| question.name).collect::<Vec<_>>().join(", ");
    let found = QUESTIONS.iter().find(|question| question.name == name);
    found.ok_or_else(|| PyValueError::new_err(format!("no question {name}; available: {}", known())))
}

/// Rows as lines of JSON.
fn rows_of(lines: &[u8]) -> PyResult<Vec<Value>> {
    let rows = serde_json::Deserializer::from_slice(lines).into_iter::<Value>();
    rows.collect::<Result<_, _>>().map_err(|error| PyValueError::new_err(format!("rows are not JSON: {error}")))
}

fn typed(question_name: &str, fields: &[String]) -> PyResult<Vec<TypedColumn>> {
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    Ok(typed_columns(question(question_name)?, &fields))
}

/// The names and types of the columns of a question.
#[pyfunction]
fn table_columns(question: &str, fields: Vec<String>) -> PyResult<Vec<(String, &'static str)>> {
    let columns = typed(question, &fields)?;
    Ok(columns.iter().map(|typed| (typed.name.clone(), typed.column_type.name())).collect())
}

/// The columns of rows, given as lines of JSON: names, types, and values as lists.
#[pyfunction]
fn table_values<'py>(
    py: Python<'py>,
    question: &str,
    fields: Vec<String>,
    lines: &[u8],
) -> PyResult<Vec<(String, &'static str, Bound<'py, PyList>)>> {
    let columns = typed(question, &fields)?;
    let rows = py.detach(|| rows_of(lines))?;
    let column = |typed: &TypedColumn| Ok((typed.name.clone(), typed.column_type.name(), typed.list(py, &rows)?));
    columns.iter().map(column).collect()
}

/// The rows, given as lines of JSON, as an Arrow table. The schema's metadata has `about`.
#[pyfunction]
fn table_arrow(py: Python<'_>, question: &str, fields: Vec<String>, lines: &[u8], about: String) -> PyResult<PyTable> {
    let columns = typed(question, &fields)?;
    let made = py.detach(|| {
        let rows = rows_of(lines)?;
        let field = |typed: &TypedColumn| Field::new(typed.name.clone(), typed.column_type.arrow(), true);
        let fields: Vec<Field> = columns.iter().map(field).collect();
        let metadata = [("tidings.about".to_owned(), about)].into();
        let schema = Arc::new(Schema::new(fields).with_metadata(metadata));
        let arrays = columns.iter().map(|typed| typed.array(&rows)).collect();
        let batch = RecordBatch::try_new(schema.clone(), arrays);
        let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyResult::Ok((batch, schema))
    })?;
    PyTable::try_new(vec![made.0], made.1)
}

/// The first day of a time step such as `2026-W05`, `2026-Q1` or `2026-03`; nothing if it is none.
#[pyfunction]
fn first_day(step: &str) -> Option<String> {
    Period::parse(step).map(|period| period.first.to_string())
}
