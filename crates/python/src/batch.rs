//! Functions of batches: columns of pages or texts in, columns with the fields of the command line's filters out.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, LargeStringBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use tidings_clean::Options;
use tidings_pipeline::filter::extract::{Extract, Markup};
use tidings_pipeline::filter::lang::{self, Identify};
use tidings_pipeline::filter::tag::Tag;
use tidings_pipeline::filter::tokenize::Tokenize;
use tidings_pipeline::filter::{self, MAX_LINE_BYTES, TextQuestion};
use tidings_pipeline::guard::guarded;
use tidings_pipeline::lines::PANICKED;
use tidings_pipeline::stage::clean::{CleanedLine, LineCleaner, withdraw_same_texts};

use crate::arrow_io::{ArrowInput, Batch, Chunk, arrow_error};
use crate::columns::{ExtractColumns, SentenceColumn, TokenColumns};
use crate::errors::{detached, failed};
use crate::text::{NO_LANGUAGE, default_annotators, preset};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(extract_batch, module)?)?;
    module.add_function(wrap_pyfunction!(identify_batch, module)?)?;
    module.add_function(wrap_pyfunction!(tokenize_batch, module)?)?;
    module.add_function(wrap_pyfunction!(tag_batch, module)?)?;
    module.add_function(wrap_pyfunction!(clean_batch, module)?)
}

/// A column of texts that may be null.
fn text_field(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

/// The text of a row, or why there is none.
fn text_of<'a>(chunk: &'a Chunk, row: usize, name: &str) -> Result<&'a str, String> {
    let text = chunk.main.text(row)?.ok_or_else(|| format!("{name} is missing"))?;
    check_length(text.len())?;
    Ok(text)
}

fn check_length(bytes: usize) -> Result<(), String> {
    match bytes as u64 > MAX_LINE_BYTES {
        true => Err(format!("longer than {} MiB", MAX_LINE_BYTES >> 20)),
        false => Ok(()),
    }
}

/// The value of a further column.
fn other<'a>(chunk: &'a Chunk, number: usize, row: usize) -> Result<Option<Cow<'a, str>>, String> {
    match &chunk.others[number] {
        Some(column) => Ok(column.text(row)?.map(Cow::from)),
        None => Ok(None),
    }
}

/// Extracts the texts of pages: the columns `html`, `url` and `lang`.
#[pyfunction]
#[pyo3(signature = (pages, *, preset, comments, threads))]
fn extract_batch(
    py: Python<'_>,
    pages: ArrowInput,
    preset: &str,
    comments: bool,
    threads: Option<usize>,
) -> PyResult<PyTable> {
    let filter = Extract { options: Options { preset: self::preset(preset)?, comments, ..Options::default() } };
    let batch = Batch::read(py, pages, "html", &["url", "lang"])?;
    batch.map(py, threads, ExtractColumns::fields(comments), |chunk, rows| {
        let mut columns = ExtractColumns::default();
        for row in rows {
            match extract_row(&filter, chunk, row, &mut columns) {
                Ok(()) => columns.error.append_null(),
                Err(error) => {
                    columns.push_null();
                    columns.error.append_value(error);
                }
            }
        }
        columns.finish(comments)
    })
}

fn extract_row(filter: &Extract, chunk: &Chunk, row: usize, columns: &mut ExtractColumns) -> Result<(), String> {
    let url = other(chunk, 0, row)?.unwrap_or_default();
    let lang = other(chunk, 1, row)?;
    let markup = chunk.main.markup(row).ok_or("html is missing")?;
    check_length(markup.len())?;
    let answer = match markup {
        Markup::Text(html) => {
            let (url, html, lang) = (Some(url), Some(Cow::from(html)), lang);
            let question = filter::extract::Question { url, html, lang, ..filter::extract::Question::default() };
            return filter::answer(filter, &question).map(|answer| columns.push(answer));
        }
        Markup::Bytes(_) => guarded(|| {
            let document = markup.read(&url, lang.as_deref(), &filter.options);
            filter.describe(&url, document, || markup.metadata(&url))
        }),
    };
    answer.map(|answer| columns.push(answer)).map_err(|_| PANICKED.to_owned())
}

/// Identifies the languages of texts: the columns `text`, `declared` and `tld`.
#[pyfunction]
#[pyo3(signature = (texts, *, declared, tld, threads))]
fn identify_batch(
    py: Python<'_>,
    texts: ArrowInput,
    declared: Option<String>,
    tld: Option<String>,
    threads: Option<usize>,
) -> PyResult<PyTable> {
    let filter = Identify { declared, tld };
    let fields = vec![text_field("lang"), Field::new("score", DataType::Float64, true), text_field("error")];
    let batch = Batch::read(py, texts, "text", &["declared", "tld"])?;
    let guess = |chunk: &Chunk, row: usize| {
        let (text, declared, tld) = (text_of(chunk, row, "text")?, other(chunk, 0, row)?, other(chunk, 1, row)?);
        let question = lang::Question { text: Some(text.into()), declared, tld, ..lang::Question::default() };
        filter::answer(&filter, &question)
    };
    batch.map(py, threads, fields, |chunk, rows| {
        let (mut lang, mut score) = (StringBuilder::new(), Float64Builder::new());
        let mut error = StringBuilder::new();
        for row in rows {
            let guess = guess(chunk, row);
            lang.append_option(guess.as_ref().ok().map(|answer| answer.lang));
            score.append_option(guess.as_ref().ok().map(|answer| answer.rounded_score()));
            error.append_option(guess.err());
        }
        Ok(vec![Arc::new(lang.finish()), Arc::new(score.finish()), Arc::new(error.finish())])
    })
}

/// The request of a row for the annotating filters.
fn question<'a>(chunk: &'a Chunk, row: usize) -> Result<TextQuestion<'a>, String> {
    let text = text_of(chunk, row, "text")?;
    Ok(TextQuestion { text: Some(text.into()), lang: other(chunk, 0, row)?, ..TextQuestion::default() })
}

/// Splits texts into sentences of words: the columns `text` and `lang`.
#[pyfunction]
#[pyo3(signature = (texts, *, lang, threads))]
fn tokenize_batch(
    py: Python<'_>,
    texts: ArrowInput,
    lang: Option<String>,
    threads: Option<usize>,
) -> PyResult<PyTable> {
    let filter = Tokenize { lang: lang.unwrap_or_else(|| NO_LANGUAGE.to_owned()) };
    let fields = vec![SentenceColumn::field(DataType::Utf8), text_field("error")];
    Batch::read(py, texts, "text", &["lang"])?.map(py, threads, fields, |chunk, rows| {
        let (mut words, mut sentences) = (StringBuilder::new(), SentenceColumn::default());
        let mut error = StringBuilder::new();
        for row in rows {
            let question = question(chunk, row);
            let answer = question.as_ref().map_err(Clone::clone).and_then(|question| filter::answer(&filter, question));
            sentences.push(answer.as_ref().ok().map(|answer| answer.sentences.iter().map(Vec::len)));
            answer
                .iter()
                .flat_map(|answer| answer.sentences.iter().flatten())
                .for_each(|word| words.append_value(word));
            error.append_option(answer.err());
        }
        let words: ArrayRef = Arc::new(words.finish());
        Ok(vec![sentences.finish(words)?, Arc::new(error.finish())])
    })
}

/// Annotates texts: the columns `text` and `lang`.
#[pyfunction]
#[pyo3(signature = (texts, *, lang, threads))]
fn tag_batch(py: Python<'_>, texts: ArrowInput, lang: Option<String>, threads: Option<usize>) -> PyResult<PyTable> {
    let annotators = detached(py, default_annotators)??;
    let filter = Tag { lang, annotators };
    let fields = vec![text_field("lang"), SentenceColumn::field(TokenColumns::data_type()), text_field("error")];
    Batch::read(py, texts, "text", &["lang"])?.map(py, threads, fields, |chunk, rows| {
        let (mut tokens, mut sentences) = (TokenColumns::default(), SentenceColumn::default());
        let (mut lang, mut error) = (StringBuilder::new(), StringBuilder::new());
        for row in rows {
            let question = question(chunk, row);
            let answer = question.as_ref().map_err(Clone::clone).and_then(|question| filter::answer(&filter, question));
            lang.append_option(answer.as_ref().ok().map(|answer| answer.lang));
            sentences.push(answer.as_ref().ok().map(|answer| answer.sentences.iter().map(Vec::len)));
            answer.iter().flat_map(|answer| answer.sentences.iter().flatten()).for_each(|token| tokens.push(token));
            error.append_option(answer.err());
        }
        Ok(vec![Arc::new(lang.finish()), sentences.finish(tokens.finish()?)?, Arc::new(error.finish())])
    })
}

/// Rows of a record batch of cleaned lines, which are written as one column of up to some hundred MiB.
const CLEANED_ROWS: usize = 1024;

/// Turns lines of pages into lines of documents: the column `line`.
#[pyfunction]
#[pyo3(signature = (pages, *, home, threads))]
fn clean_batch(py: Python<'_>, pages: ArrowInput, home: Option<PathBuf>, threads: Option<usize>) -> PyResult<PyTable> {
    let cleaner = match home {
        Some(folder) => detached(py, || LineCleaner::of_home(&folder))?.map_err(failed)?,
        None => LineCleaner::default(),
    };
    let batch = Batch::read(py, pages, "line", &[])?;
    let mut lines = batch.map_rows(py, threads, |chunk, row| {
        let markup = chunk.main.markup(row).ok_or("line is missing")?;
        let line = match markup {
            Markup::Text(text) => text.as_bytes(),
            Markup::Bytes(bytes) => bytes,
        };
        cleaner.clean(line)
    })?;
    detached(py, || {
        withdraw_same_texts(lines.iter_mut().filter_map(|line| line.as_mut().ok()));
        cleaned_table(&lines)
    })?
}

fn cleaned_table(lines: &[Result<CleanedLine, String>]) -> PyResult<PyTable> {
    let line = Field::new("line", DataType::LargeUtf8, true);
    let names = ["url", "language", "reason"].map(text_field);
    let fields: Vec<Field> = names.into_iter().chain([line, text_field("error")]).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = |lines: &[Result<CleanedLine, String>]| -> PyResult<RecordBatch> {
        let [mut url, mut language, mut reason, mut error] = [(); 4].map(|()| StringBuilder::new());
        let mut text = LargeStringBuilder::new();
        for line in lines {
            let cleaned = line.as_ref().ok();
            url.append_option(cleaned.map(|line| line.url.as_str()));
            language.append_option(cleaned.and_then(|line| line.language.as_deref()));
            reason.append_option(cleaned.and_then(|line| line.reason).map(|reason| reason.word()));
            text.append_option(cleaned.map(|line| String::from_utf8_lossy(&line.line)));
            error.append_option(line.as_ref().err());
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(url.finish()),
            Arc::new(language.finish()),
            Arc::new(reason.finish()),
            Arc::new(text.finish()),
            Arc::new(error.finish()),
        ];
        RecordBatch::try_new(schema.clone(), columns).map_err(arrow_error)
    };
    let batches = lines.chunks(CLEANED_ROWS).map(batch).collect::<PyResult<Vec<_>>>()?;
    PyTable::try_new(batches, schema)
}
