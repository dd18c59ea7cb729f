//! Duplicate detection over documents that are divided among tasks: keys, and the judgement of whole components.

use std::sync::{Arc, Mutex};

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use tidings_dedup::{Rule, Scope};
use tidings_pipeline::config::DedupConfig;
use tidings_pipeline::filter::dedup::{DocumentLine, LineJudge};
use tidings_pipeline::filter::extract::Markup;

use crate::arrow_io::{ArrowInput, Batch, Chunk, arrow_error};
use crate::errors::{detached, failed, internal_error};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ComponentJudge>()?;
    module.add_function(wrap_pyfunction!(dedup_keys, module)?)
}

fn rule_and_scope(rule: &str, scope: &str) -> PyResult<(Rule, Scope)> {
    let config = DedupConfig { preset: rule.to_owned(), ..DedupConfig::default() };
    let rule = config.rule().map_err(|error| PyValueError::new_err(format!("{error:#}")))?;
    Ok((rule, scope.parse().map_err(|error: String| PyValueError::new_err(error))?))
}

/// The bytes of a row; none if it is null.
pub(super) fn bytes_of(chunk: &Chunk, row: usize) -> &[u8] {
    match chunk.main.markup(row) {
        Some(Markup::Text(text)) => text.as_bytes(),
        Some(Markup::Bytes(bytes)) => bytes,
        None => &[],
    }
}

/// The keys of documents: the column `line`, a list of keys for each row. A line that cannot be read has none.
#[pyfunction]
#[pyo3(signature = (documents, rule, scope))]
fn dedup_keys(py: Python<'_>, documents: ArrowInput, rule: &str, scope: &str) -> PyResult<PyTable> {
    let (rule, scope) = rule_and_scope(rule, scope)?;
    let item = Arc::new(Field::new("item", DataType::Int64, true));
    let field = Field::new("keys", DataType::List(item), true);
    Batch::read(py, documents, "line", &[])?.map(py, Some(1), vec![field], |chunk, rows| {
        let mut keys = ListBuilder::new(Int64Builder::new());
        for row in rows {
            if let Ok(document) = DocumentLine::parse(bytes_of(chunk, row).to_vec(), &rule, scope) {
                // Fingerprints have fewer than 63 bits.
                document.keys(&rule, scope).iter().for_each(|key| keys.values().append_value(*key as i64));
            }
            keys.append(true);
        }
        Ok(vec![Arc::new(keys.finish()) as ArrayRef])
    })
}

/// Judges the documents of whole components, in the order in which they are given.
#[pyclass(frozen, module = "tidings._tidings")]
struct ComponentJudge {
    judge: Mutex<LineJudge>,
    marks: bool,
    /// The last day, if the scope is a window of days: it needs them in order.
    window: bool,
}

#[pymethods]
impl ComponentJudge {
    #[new]
    #[pyo3(signature = (rule, scope, marks, memory_mib))]
    fn new(py: Python<'_>, rule: &str, scope: &str, marks: bool, memory_mib: u32) -> PyResult<ComponentJudge> {
        let (rule, scope) = rule_and_scope(rule, scope)?;
        let judge = detached(py, || LineJudge::new(rule, scope, (memory_mib as usize) << 20))?.map_err(failed)?;
        Ok(ComponentJudge { judge: Mutex::new(judge), marks, window: matches!(scope, Scope::Days(_)) })
    }

    /// The lines with marks, or without duplicates. Rows whose column `alone` is `1` share no key with others.
    fn write(&self, py: Python<'_>, documents: ArrowInput) -> PyResult<PyTable> {
        let batch = Batch::read(py, documents, "line", &["alone"])?;
        let lines = detached(py, || {
            let mut judge = self.judge.lock().map_err(|_| internal_error())?;
            batch.each_row(|chunk, row| {
                let alone = chunk.others[0].as_ref().and_then(|column| column.text(row).ok()).flatten();
                let mut out = Vec::new();
                let line = bytes_of(chunk, row).to_vec();
                // Blocks of a window are told apart by days, also those of documents without a key in common.
                let is_alone = alone == Some("1") && !self.window;
                judge.write(line, is_alone, self.marks, &mut out).map_err(failed)?;
                Ok(String::from_utf8_lossy(&out).trim_end_matches('\n').to_owned())
            })
        })??;
        let schema = Arc::new(Schema::new(vec![Field::new("line", DataType::Utf8, true)]));
        let mut column = StringBuilder::new();
        lines.iter().for_each(|line| column.append_value(line));
        let column: ArrayRef = Arc::new(column.finish());
        let made = RecordBatch::try_new(schema.clone(), vec![column]).map_err(arrow_error)?;
        PyTable::try_new(vec![made], schema)
    }
}
