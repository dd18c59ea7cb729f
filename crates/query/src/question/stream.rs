//! Answers row by row, for those that are too long for memory.

use serde::Serialize;
use serde_json::Value;
use std::ops::ControlFlow;

use super::{Answered, Question, QuestionError};

/// A row of an answer.
pub trait RowData {
    /// The row as a value.
    fn to_value(&self) -> Value;
    /// Appends the row as JSON.
    fn write_json(&self, buffer: &mut Vec<u8>);
}

impl<T: Serialize> RowData for T {
    fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("rows serialise")
    }

    fn write_json(&self, buffer: &mut Vec<u8>) {
        serde_json::to_writer(buffer, self).expect("a buffer takes everything");
    }
}

/// The receiver of an answer: all that is not a row, and the rows one by one. In a stream the rows come last; the lines of a
/// page come before the rest.
pub trait RowSink {
    /// Takes the answer without rows.
    fn head(&mut self, head: Answered<Value>);
    /// Takes a row; breaks if no more rows are wanted.
    fn row(&mut self, row: &dyn RowData) -> ControlFlow<()>;
}

/// An answer as JSON values.
pub(super) fn as_values<Q: Question>(answered: Answered<Q::Answer>) -> Answered<Value> {
    let Answered { about, rewrites, body } = answered;
    Answered { about, rewrites, body: serde_json::to_value(body).expect("answers serialise") }
}

/// Gives a whole answer to a sink.
pub(super) fn give_all<Q: Question>(
    answered: Answered<Q::Answer>,
    sink: &mut dyn RowSink,
) -> Result<(), QuestionError> {
    let mut answered = as_values::<Q>(answered);
    let rows = answered.body.as_object_mut().and_then(|body| body.remove(Q::ROWS));
    sink.head(answered);
    let Some(Value::Array(rows)) = rows else { return Ok(()) };
    let _ = rows.iter().try_for_each(|row| sink.row(row));
    Ok(())
}
