//! Documents → annotated sentences, and counts of words, lemmas and n-grams by day and site.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use tidings_annotate::Annotators;
use tidings_model::Token;
use tidings_pipeline::config::AnnotateConfig;
use tidings_pipeline::filter::tag::TaggedWord;
use tidings_pipeline::stage::annotate::annotators;
use tidings_pipeline::stage::annotate::lines::{AnnotatedLine, annotate_line};

use super::dedup::bytes_of;
use crate::arrow_io::{ArrowInput, Batch, arrow_error};
use crate::columns::{SentenceColumn, TokenColumns};
use crate::errors::{TidingsError, detached, internal_error};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<DayCounter>()?;
    module.add_function(wrap_pyfunction!(annotate_lines, module)?)
}

/// The annotators of words, lemmas, tags and features, without further layers.
fn plain_annotators() -> PyResult<&'static Annotators> {
    static ANNOTATORS: OnceLock<Result<Annotators, String>> = OnceLock::new();
    let config = || AnnotateConfig { layers: Vec::new(), ..AnnotateConfig::default() };
    let made = ANNOTATORS.get_or_init(|| annotators(&config()).map_err(|error| format!("{error:#}")));
    made.as_ref().map_err(|error| TidingsError::new_err(error.clone()))
}

/// Annotates documents: the column `line`.
#[pyfunction]
fn annotate_lines(py: Python<'_>, documents: ArrowInput) -> PyResult<PyTable> {
    let annotators = detached(py, plain_annotators)??;
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let mut fields: Vec<Field> = ["doc", "url", "site", "day", "language"].map(text).into();
    fields.extend([SentenceColumn::field(TokenColumns::data_type()), text("error")]);
    Batch::read(py, documents, "line", &[])?.map(py, Some(1), fields, |chunk, rows| {
        let mut texts = [(); 5].map(|()| StringBuilder::new());
        let (mut tokens, mut sentences) = (TokenColumns::default(), SentenceColumn::default());
        let mut error = StringBuilder::new();
        for row in rows {
            let line = annotate_line(bytes_of(chunk, row), annotators);
            let found = line.as_ref().ok();
            let values = found.map(|line| [&line.id, &line.url, &line.site, &line.day, &line.language]);
            texts.iter_mut().enumerate().for_each(|(at, column)| column.append_option(values.map(|values| values[at])));
            let paragraphs = found.map(|line| &line.annotated.paragraphs);
            let lengths = |paragraphs: &Vec<tidings_model::AnnotatedParagraph>| {
                paragraphs.iter().flat_map(|paragraph| paragraph.sentences.iter().map(Vec::len)).collect::<Vec<_>>()
            };
            sentences.push(paragraphs.map(lengths).map(Vec::into_iter));
            for token in found.iter().flat_map(|line| line.annotated.tokens()) {
                tokens.push(&TaggedWord::from(token.clone()));
            }
            error.append_option(line.as_ref().err());
        }
        let texts = texts.into_iter().map(|mut column| Arc::new(column.finish()) as ArrayRef);
        let rest = [sentences.finish(tokens.finish()?)?, Arc::new(error.finish()) as ArrayRef];
        Ok(texts.chain(rest).collect())
    })
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Kind {
    Word,
    Lemma,
    /// N-grams of word forms within sentences.
    Ngram(usize),
}

impl Kind {
    fn parse(name: &str) -> PyResult<Kind> {
        let ngram = name.strip_suffix("-gram").and_then(|length| length.parse().ok());
        match (name, ngram) {
            ("word", _) => Ok(Kind::Word),
            ("lemma", _) => Ok(Kind::Lemma),
            (_, Some(length @ 2..=9)) => Ok(Kind::Ngram(length)),
            _ => Err(PyValueError::new_err(format!("cannot count `{name}`; use word, lemma, or 2-gram to 9-gram"))),
        }
    }

    fn name(self) -> String {
        match self {
            Kind::Word => "word".to_owned(),
            Kind::Lemma => "lemma".to_owned(),
            Kind::Ngram(length) => format!("{length}-gram"),
        }
    }

    /// Calls `see` with each value of a sentence.
    fn each(self, sentence: &[Token], mut see: impl FnMut(&str)) {
        match self {
            Kind::Word => sentence.iter().for_each(|token| see(&token.word)),
            Kind::Lemma => sentence.iter().for_each(|token| see(&token.lemma)),
            Kind::Ngram(length) => {
                let mut text = String::new();
                for words in sentence.windows(length) {
                    text.clear();
                    for (at, token) in words.iter().enumerate() {
                        text.push_str(if at == 0 { "" } else { " " });
                        text.push_str(&token.word);
                    }
                    see(&text);
                }
            }
        }
    }
}

/// Documents of one language, day and site.
type Cell = (String, String, String);

#[derive(Default)]
struct Counts {
    /// Values of each kind in each cell.
    cells: HashMap<(usize, Cell), HashMap<String, i64>>,
    values: usize,
    failed: u64,
}

/// Counts words, lemmas and n-grams by language, day and site.
#[pyclass(frozen, module = "tidings._tidings")]
struct DayCounter {
    kinds: Vec<Kind>,
    counts: Mutex<Counts>,
}

#[pymethods]
impl DayCounter {
    #[new]
    fn new(kinds: Vec<String>) -> PyResult<DayCounter> {
        let kinds = kinds.iter().map(|kind| Kind::parse(kind)).collect::<PyResult<_>>()?;
        Ok(DayCounter { kinds, counts: Mutex::default() })
    }

    /// Counts the documents of a batch, the column `line`; returns the number of values so far.
    fn add(&self, py: Python<'_>, documents: ArrowInput) -> PyResult<usize> {
        let batch = Batch::read(py, documents, "line", &[])?;
        detached(py, || {
            let annotators = plain_annotators()?;
            let mut counts = self.counts.lock().map_err(|_| internal_error())?;
            batch.each_row(|chunk, row| {
                match annotate_line(bytes_of(chunk, row), annotators) {
                    Ok(line) => self.count(line, &mut counts),
                    Err(_) => counts.failed += 1,
                }
                Ok(())
            })?;
            Ok(counts.values)
        })?
    }

    /// The counts so far, which are forgotten.
    fn take(&self) -> PyResult<PyTable> {
        let counts = std::mem::take(&mut *self.counts.lock().map_err(|_| internal_error())?);
        if counts.failed > 0 {
            let message = format!("{} documents could not be read; give the column `line` of clean()", counts.failed);
            return Err(PyValueError::new_err(message));
        }
        self.table(counts)
    }
}

impl DayCounter {
    fn count(&self, line: AnnotatedLine, counts: &mut Counts) {
        let cell: Cell = (line.language, line.day, line.site);
        for (number, kind) in self.kinds.iter().enumerate() {
            let values = counts.cells.entry((number, cell.clone())).or_default();
            let before = values.len();
            for sentence in line.annotated.paragraphs.iter().flat_map(|paragraph| &paragraph.sentences) {
                kind.each(sentence, |value| match values.get_mut(value) {
                    Some(count) => *count += 1,
                    None => drop(values.insert(value.to_owned(), 1)),
                });
            }
            counts.values += values.len() - before;
        }
    }

    fn table(&self, counts: Counts) -> PyResult<PyTable> {
        let mut texts = [(); 5].map(|()| StringBuilder::new());
        let mut numbers = Int64Builder::new();
        let names: Vec<String> = self.kinds.iter().map(|kind| kind.name()).collect();
        for ((kind, (language, day, site)), values) in &counts.cells {
            for (value, count) in values {
                let row = [&names[*kind], language, day, site, value];
                texts.iter_mut().zip(row).for_each(|(column, value)| column.append_value(value));
                numbers.append_value(*count);
            }
        }
        let text = |name: &str| Field::new(name, DataType::Utf8, false);
        let count = Field::new("count", DataType::Int64, false);
        let fields: Vec<Field> =
            ["kind", "language", "day", "site", "value"].map(text).into_iter().chain([count]).collect();
        let schema = Arc::new(Schema::new(fields));
        let texts = texts.into_iter().map(|mut column| Arc::new(column.finish()) as ArrayRef);
        let columns = texts.chain([Arc::new(numbers.finish()) as ArrayRef]).collect();
        let batch = RecordBatch::try_new(schema.clone(), columns).map_err(arrow_error)?;
        PyTable::try_new(vec![batch], schema)
    }
}
