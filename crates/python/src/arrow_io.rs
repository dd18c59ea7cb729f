//! Arrow at the border: tables, arrays and streams of any library → columns of texts; record batches → a table.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, LargeBinaryArray, LargeStringArray, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use pyo3_arrow::input::AnyArray;
use tidings_pipeline::filter::extract::Markup;
use tidings_pipeline::parallel::{self, Bounds};

use crate::errors::{detached, failed};

/// The maximum number of rows that one thread takes at a time.
const MAX_TASK_ROWS: usize = 256;
/// Rows are taken until they have this size, so that no column of a record batch reaches the limit of 2 GiB.
const MAX_TASK_BYTES: usize = 32 << 20;

/// The column that results are aligned with, beside their order.
const ID: &str = "id";

/// An object with `__arrow_c_array__` or `__arrow_c_stream__`.
pub struct ArrowInput(AnyArray);

impl<'a, 'py> FromPyObject<'a, 'py> for ArrowInput {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<ArrowInput> {
        let has = |name: &str| object.hasattr(name);
        if !has("__arrow_c_array__")? && !has("__arrow_c_stream__")? {
            let kind = object.get_type().name()?;
            let wanted = "an Arrow table, array or stream (an object with __arrow_c_array__ or __arrow_c_stream__)";
            let remedy = "make one with pyarrow.array(texts), polars.Series(texts) or pyarrow.table({…})";
            return Err(PyTypeError::new_err(format!("expected {wanted}, not {kind}; {remedy}")));
        }
        object.extract().map(ArrowInput)
    }
}

/// A column of texts or bytes.
#[derive(Debug, Clone)]
pub enum TextColumn {
    Text(LargeStringArray),
    Bytes(LargeBinaryArray),
}

impl TextColumn {
    fn new(name: &str, array: &dyn Array) -> PyResult<TextColumn> {
        let inner = match array.data_type() {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        let wanted = match inner {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => DataType::LargeUtf8,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => DataType::LargeBinary,
            other => {
                let message = format!("column `{name}` has type {other}; expected texts or bytes");
                return Err(PyTypeError::new_err(message));
            }
        };
        let cast = cast(array, &wanted).map_err(arrow_error)?;
        Ok(match wanted {
            DataType::LargeUtf8 => TextColumn::Text(cast.as_string::<i64>().clone()),
            _ => TextColumn::Bytes(cast.as_binary::<i64>().clone()),
        })
    }

    /// The value of a row; `None` if it is null.
    pub fn markup(&self, row: usize) -> Option<Markup<'_>> {
        match self {
            TextColumn::Text(array) => array.is_valid(row).then(|| Markup::Text(array.value(row))),
            TextColumn::Bytes(array) => array.is_valid(row).then(|| Markup::Bytes(array.value(row))),
        }
    }

    /// The text of a row; `None` if it is null.
    pub fn text(&self, row: usize) -> Result<Option<&str>, String> {
        match self.markup(row) {
            None => Ok(None),
            Some(Markup::Text(text)) => Ok(Some(text)),
            Some(Markup::Bytes(bytes)) => match str::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err("the text is not valid UTF-8".to_owned()),
            },
        }
    }

    fn bytes(&self, row: usize) -> usize {
        match self {
            TextColumn::Text(array) => array.value_length(row) as usize,
            TextColumn::Bytes(array) => array.value_length(row) as usize,
        }
    }
}

/// Rows of the input that arrived together.
pub struct Chunk {
    /// The column `id`, which the output repeats.
    id: Option<ArrayRef>,
    /// The main column.
    pub main: TextColumn,
    /// The further columns, in the order they were asked for.
    pub others: Vec<Option<TextColumn>>,
    rows: usize,
}

/// The input of a batch function.
pub struct Batch {
    id: Option<FieldRef>,
    chunks: Vec<Chunk>,
}

impl Batch {
    /// Reads a table with the column `main` and optionally `others`, or an array, which is the main column.
    pub fn read(py: Python<'_>, input: ArrowInput, main: &str, others: &[&str]) -> PyResult<Batch> {
        let reader = input.0.into_reader()?;
        let field = reader.field();
        let chunks = detached(py, || {
            let chunk = |array: Result<ArrayRef, ArrowError>| Chunk::new(&array.map_err(arrow_error)?, main, others);
            reader.map(chunk).collect::<PyResult<Vec<Chunk>>>()
        })??;
        let id = match field.data_type() {
            DataType::Struct(fields) => {
                // Also of a table without rows.
                if fields.find(main).is_none() {
                    return Err(missing(main, fields.iter().map(|field| field.name().as_str())));
                }
                fields.find(ID).map(|(_, field)| field.clone())
            }
            _ => None,
        };
        Ok(Batch { id, chunks })
    }

    /// Maps ranges of rows to record batches on several threads. The columns of the output begin with `id`, if the
    /// input has it.
    pub fn map(
        self,
        py: Python<'_>,
        threads: Option<usize>,
        columns: Vec<Field>,
        work: impl Fn(&Chunk, Range<usize>) -> Result<Vec<ArrayRef>, ArrowError> + Sync + Send,
    ) -> PyResult<PyTable> {
        let threads = check_threads(threads)?;
        let fields: Vec<FieldRef> = self.id.clone().into_iter().chain(columns.into_iter().map(Arc::new)).collect();
        let schema = Arc::new(Schema::new(fields));
        let work = |(chunk, rows): (usize, Range<usize>)| -> Result<RecordBatch, ArrowError> {
            let chunk = &self.chunks[chunk];
            let id = chunk.id.iter().map(|id| id.slice(rows.start, rows.len()));
            let columns = id.chain(work(chunk, rows.clone())?).collect();
            RecordBatch::try_new(schema.clone(), columns)
        };
        let batches = detached(py, || in_order(self.tasks(threads), threads, work))??;
        let batches = batches.into_iter().collect::<Result<Vec<_>, _>>().map_err(arrow_error)?;
        PyTable::try_new(batches, schema)
    }

    /// Maps rows on several threads, in order.
    pub fn map_rows<R: Send>(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        work: impl Fn(&Chunk, usize) -> R + Sync + Send,
    ) -> PyResult<Vec<R>> {
        let threads = check_threads(threads)?;
        let work =
            |(chunk, rows): (usize, Range<usize>)| rows.map(|row| work(&self.chunks[chunk], row)).collect::<Vec<R>>();
        Ok(detached(py, || in_order(self.tasks(threads), threads, work))??.into_iter().flatten().collect())
    }

    /// Maps rows on the calling thread, in order.
    pub fn each_row<R>(&self, mut work: impl FnMut(&Chunk, usize) -> PyResult<R>) -> PyResult<Vec<R>> {
        let rows = self.chunks.iter().flat_map(|chunk| (0..chunk.rows).map(move |row| (chunk, row)));
        rows.map(|(chunk, row)| work(chunk, row)).collect()
    }

    /// Ranges of rows, small enough that all threads have work.
    fn tasks(&self, threads: usize) -> Vec<(usize, Range<usize>)> {
        let rows: usize = self.chunks.iter().map(|chunk| chunk.rows).sum();
        let max_rows = (rows / (threads * 4)).clamp(1, MAX_TASK_ROWS);
        let mut tasks = Vec::new();
        for (number, chunk) in self.chunks.iter().enumerate() {
            let (mut start, mut bytes) = (0, 0);
            for row in 0..chunk.rows {
                bytes += chunk.main.bytes(row);
                if row + 1 - start >= max_rows || bytes >= MAX_TASK_BYTES || row + 1 == chunk.rows {
                    tasks.push((number, start..row + 1));
                    (start, bytes) = (row + 1, 0);
                }
            }
        }
        tasks
    }
}

/// The number of threads, all cores by default.
fn check_threads(threads: Option<usize>) -> PyResult<usize> {
    match threads {
        None => Ok(parallel::cores()),
        Some(threads @ 1..=1024) => Ok(threads),
        Some(_) => Err(PyValueError::new_err("threads must be from 1 to 1024")),
    }
}

/// Maps tasks in order; one thread needs no other.
fn in_order<T: Send, R: Send>(tasks: Vec<T>, threads: usize, work: impl Fn(T) -> R + Sync) -> PyResult<Vec<R>> {
    if threads == 1 || tasks.len() <= 1 {
        return Ok(tasks.into_iter().map(work).collect());
    }
    let mut results = Vec::with_capacity(tasks.len());
    let bounds = Bounds { threads: threads.min(tasks.len()), weight: usize::MAX };
    let mut tasks = tasks.into_iter();
    let source = || Ok(tasks.next().map(|task| (task, 1)));
    let done = parallel::ordered(bounds, source, work, |result| {
        results.push(result);
        Ok(())
    });
    done.map_err(failed)?;
    Ok(results)
}

impl Chunk {
    fn new(array: &ArrayRef, main: &str, others: &[&str]) -> PyResult<Chunk> {
        let rows = array.len();
        let Some(table) = array.as_struct_opt() else {
            let others = others.iter().map(|_| None).collect();
            return Ok(Chunk { id: None, main: TextColumn::new(main, array)?, others, rows });
        };
        let column = |name: &str| table.column_by_name(name).map(|array| TextColumn::new(name, array)).transpose();
        Ok(Chunk {
            id: table.column_by_name(ID).cloned(),
            main: column(main)?.ok_or_else(|| missing(main, table.column_names().into_iter()))?,
            others: others.iter().map(|name| column(name)).collect::<PyResult<_>>()?,
            rows,
        })
    }
}

fn missing<'a>(main: &str, columns: impl Iterator<Item = &'a str>) -> PyErr {
    let columns: Vec<&str> = columns.collect();
    PyValueError::new_err(format!("column `{main}` is missing; the columns are: {}", columns.join(", ")))
}

/// The exception for an error of Arrow.
pub fn arrow_error(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
