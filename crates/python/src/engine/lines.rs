//! Lines of WET files by language.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyTable;
use tidings_pipeline::import::{FileLines, IdentifiedLine, LinesWriter};

use super::dedup::bytes_of;
use crate::arrow_io::{ArrowInput, Batch, arrow_error};
use crate::errors::{detached, failed, internal_error};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<LinesFile>()?;
    module.add_function(wrap_pyfunction!(pack_lines, module)?)
}

/// The distinct lines of a file of texts with their languages.
#[pyclass(frozen, module = "tidings._tidings")]
struct LinesFile(Mutex<FileLines>);

#[pymethods]
impl LinesFile {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, min_chars: usize) -> PyResult<LinesFile> {
        let lines = detached(py, || FileLines::open(&path, min_chars))?.map_err(failed)?;
        Ok(LinesFile(Mutex::new(lines)))
    }

    /// The lines of the next megabyte of text: number, language, hash and line; None at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<PyTable>> {
        let next = || self.0.lock().map_err(|_| internal_error())?.next_chunk().map_err(failed);
        match detached(py, next)?? {
            Some(lines) => table(&lines).map(Some),
            None => Ok(None),
        }
    }

    /// Records that could not be read.
    #[getter]
    fn damaged(&self) -> PyResult<u64> {
        Ok(self.0.lock().map_err(|_| internal_error())?.damaged())
    }
}

fn table(lines: &[IdentifiedLine]) -> PyResult<PyTable> {
    let [mut number, mut hash] = [(); 2].map(|()| Int64Builder::new());
    let [mut language, mut line] = [(); 2].map(|()| StringBuilder::new());
    for found in lines {
        number.append_value(found.number as i64);
        language.append_value(found.language);
        // Two's complement: only equality matters.
        hash.append_value(found.hash as i64);
        line.append_value(&found.line);
    }
    let column = |name: &str, kind: DataType| Field::new(name, kind, false);
    let schema = Arc::new(Schema::new(vec![
        column("number", DataType::Int64),
        column("language", DataType::Utf8),
        column("hash", DataType::Int64),
        column("line", DataType::Utf8),
    ]));
    let columns: Vec<ArrayRef> =
        vec![Arc::new(number.finish()), Arc::new(language.finish()), Arc::new(hash.finish()), Arc::new(line.finish())];
    let batch = RecordBatch::try_new(schema.clone(), columns).map_err(arrow_error)?;
    PyTable::try_new(vec![batch], schema)
}

/// Compresses lines as the files by language of `tidings import --lines` have them: the column `line`.
#[pyfunction]
fn pack_lines<'py>(py: Python<'py>, lines: ArrowInput) -> PyResult<Bound<'py, PyBytes>> {
    let batch = Batch::read(py, lines, "line", &[])?;
    let frames = detached(py, || {
        let mut writer = LinesWriter::default();
        batch.each_row(|chunk, row| {
            writer.push(bytes_of(chunk, row));
            Ok(())
        })?;
        Ok::<_, PyErr>(writer.finish())
    })??;
    Ok(PyBytes::new(py, &frames))
}
