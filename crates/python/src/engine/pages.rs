//! Files of pages → rows of documents, or frames of documents for a home.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyTable;
use tidings_pipeline::import::ImportFormat;
use tidings_pipeline::import::page_source::{PageRecord, PageSource};
use tidings_pipeline::stage::clean::{CleanSettings, CleanedLine, FileCleaner, LineCleaner};

use crate::arrow_io::arrow_error;
use crate::errors::{detached, failed, internal_error};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("SAME_TEXT_LIMIT", tidings_clean::SAME_TEXT_LIMIT)?;
    module.add_class::<PageFile>()?;
    module.add_class::<PageFileCleaner>()?;
    module.add_function(wrap_pyfunction!(clean_settings, module)?)
}

/// The settings and takedowns of a home, or the default settings, as text for tasks on other machines.
#[pyfunction]
#[pyo3(signature = (home))]
fn clean_settings(py: Python<'_>, home: Option<PathBuf>) -> PyResult<String> {
    let settings = detached(py, || CleanSettings::of(home.as_deref()))?;
    Ok(settings.map_err(failed)?.to_text())
}

/// A batch ends after so much text: engines copy batches several times.
const BATCH_BYTES: usize = 4 << 20;

/// The pages of a file after cleaning, as rows.
#[pyclass(frozen, module = "tidings._tidings")]
struct PageFile(Mutex<Rows>);

struct Rows {
    source: PageSource,
    cleaner: LineCleaner,
    number: i64,
}

#[pymethods]
impl PageFile {
    #[new]
    #[pyo3(signature = (path, settings, format=None, downloaded=""))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        settings: &str,
        format: Option<&str>,
        downloaded: &str,
    ) -> PyResult<PageFile> {
        let format: Option<ImportFormat> = format.map(str::parse).transpose().map_err(PyValueError::new_err)?;
        let open = || {
            let settings = CleanSettings::parse(settings)?;
            let source = PageSource::open(&path, format, &settings.config()?, downloaded)?;
            Ok(Rows { source, cleaner: LineCleaner::with(&settings)?, number: 0 })
        };
        let rows: anyhow::Result<Rows> = detached(py, open)?;
        Ok(PageFile(Mutex::new(rows.map_err(failed)?)))
    }

    /// The next rows, at most this many; None at the end.
    fn next(&self, py: Python<'_>, max_rows: usize) -> PyResult<Option<PyTable>> {
        let rows = || -> PyResult<Vec<Row>> {
            let mut rows = self.0.lock().map_err(|_| internal_error())?;
            rows.next(max_rows).map_err(failed)
        };
        let rows = detached(py, rows)??;
        if rows.is_empty() { Ok(None) } else { table(&rows).map(Some) }
    }
}

struct Row {
    number: i64,
    day: String,
    cleaned: Result<CleanedLine, String>,
}

impl Rows {
    fn next(&mut self, max_rows: usize) -> anyhow::Result<Vec<Row>> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while rows.len() < max_rows && bytes < BATCH_BYTES {
            let page = match self.source.next_record()? {
                None => break,
                Some(PageRecord::LeftOut(_)) => continue,
                Some(PageRecord::Page(page)) => page,
            };
            let day = page.downloaded.get(..10).unwrap_or_default().to_owned();
            let cleaned = self.cleaner.clean_page(*page);
            bytes += cleaned.as_ref().map_or(0, |cleaned| cleaned.line.len());
            rows.push(Row { number: self.number, day, cleaned });
            self.number += 1;
        }
        if rows.is_empty() && self.source.damaged() > 0 {
            anyhow::bail!("the file is damaged; restore it from a backup");
        }
        Ok(rows)
    }
}

const TEXTS: [&str; 8] = ["day", "url", "language", "reason", "line", "same_text", "entry", "dropped"];

fn table(rows: &[Row]) -> PyResult<PyTable> {
    let mut numbers = Int64Builder::new();
    let mut texts = [(); TEXTS.len()].map(|()| StringBuilder::new());
    let mut error = StringBuilder::new();
    for row in rows {
        numbers.append_value(row.number);
        let cleaned = row.cleaned.as_ref().ok();
        let suspect = cleaned.and_then(CleanedLine::suspect);
        let line = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\n').to_owned();
        let values = [
            Some(row.day.clone()),
            cleaned.map(|line| line.url.clone()),
            cleaned.and_then(|line| line.language.clone()),
            cleaned.and_then(|line| line.reason).map(|reason| reason.word().to_owned()),
            cleaned.map(|cleaned| line(&cleaned.line)),
            suspect.map(|(suspicion, _)| format!("{:016x}", suspicion.text)),
            suspect.map(|(suspicion, _)| format!("{:016x}", suspicion.entry)),
            suspect.map(|(_, dropped)| line(dropped)),
        ];
        texts.iter_mut().zip(values).for_each(|(column, value)| column.append_option(value));
        error.append_option(row.cleaned.as_ref().err());
    }
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let number = Field::new("number", DataType::Int64, false);
    let fields: Vec<Field> =
        [number].into_iter().chain(TEXTS.map(text)).chain([Field::new("error", DataType::Utf8, true)]).collect();
    let numbers: ArrayRef = Arc::new(numbers.finish());
    let texts = texts.into_iter().map(|mut column| Arc::new(column.finish()) as ArrayRef);
    let columns = [numbers].into_iter().chain(texts).chain([Arc::new(error.finish()) as ArrayRef]).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), columns).map_err(arrow_error)?;
    PyTable::try_new(vec![batch], schema)
}

/// Cleans whole files of pages of a home.
#[pyclass(frozen, module = "tidings._tidings", name = "FileCleaner")]
struct PageFileCleaner(FileCleaner);

/// The partition, the lines and the compressed frames.
type FramesRow<'py> = (String, u64, Bound<'py, PyBytes>);

#[pymethods]
impl PageFileCleaner {
    #[new]
    fn new(py: Python<'_>, settings: &str) -> PyResult<PageFileCleaner> {
        let cleaner = detached(py, || FileCleaner::new(&CleanSettings::parse(settings)?))?;
        Ok(PageFileCleaner(cleaner.map_err(failed)?))
    }

    /// Cleans the file at a path, whose key in the home is `file`: a summary as JSON, and the frames of each partition.
    fn clean<'py>(&self, py: Python<'py>, path: PathBuf, file: &str) -> PyResult<(String, Vec<FramesRow<'py>>)> {
        let (cleaned, frames) = detached(py, || self.0.clean(&path, file))?.map_err(failed)?;
        let summary = serde_json::to_string(&cleaned).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let row = |part: tidings_store::file_frames::PartitionFrames| {
            (part.partition, part.lines, PyBytes::new(py, &part.frames))
        };
        Ok((summary, frames.into_iter().map(row).collect()))
    }
}
