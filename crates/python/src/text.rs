//! Functions of single texts: extraction, language, tokens, tags, masks.

use std::borrow::Cow;
use std::sync::OnceLock;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use tidings_annotate::Annotators;
use tidings_clean::{DropReason, Options};
use tidings_lang::MaskRule;
use tidings_model::{Document, Mark, ParagraphKind};
use tidings_pipeline::config::{AnnotateConfig, Preset};
use tidings_pipeline::extract::MAX_PAGE_BYTES;
use tidings_pipeline::filter::extract::Markup;
use tidings_pipeline::filter::lang::{self, Identify};
use tidings_pipeline::filter::tag::{Tag, TaggedWord};
use tidings_pipeline::filter::tokenize::Tokenize;
use tidings_pipeline::filter::{Filter, MAX_LINE_BYTES, TextQuestion};
use tidings_pipeline::stage::annotate::annotators;

use crate::document::{self, PyDocument, TextStyle};
use crate::errors::{detached, internal_error};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDocument>()?;
    module.add_function(wrap_pyfunction!(document::from_json, module)?)?;
    module.add_function(wrap_pyfunction!(read_page, module)?)?;
    module.add_function(wrap_pyfunction!(identify, module)?)?;
    module.add_function(wrap_pyfunction!(tokenize, module)?)?;
    module.add_function(wrap_pyfunction!(tag, module)?)?;
    module.add_function(wrap_pyfunction!(mask, module)?)
}

/// A text or bytes.
pub enum TextOrBytes<'a> {
    Text(&'a str),
    Bytes(Cow<'a, [u8]>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for TextOrBytes<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<TextOrBytes<'a>> {
        if object.is_instance_of::<pyo3::types::PyString>() {
            return object.extract().map(TextOrBytes::Text);
        }
        let bytes = object.extract::<Cow<'a, [u8]>>();
        bytes.map(TextOrBytes::Bytes).map_err(|_| {
            let kind = object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!("expected str or bytes, not {kind}"))
        })
    }
}

impl TextOrBytes<'_> {
    /// The content as the extractor reads it.
    pub fn markup(&self) -> Markup<'_> {
        match self {
            TextOrBytes::Text(text) => Markup::Text(text),
            TextOrBytes::Bytes(bytes) => Markup::Bytes(bytes),
        }
    }

    /// The bytes; a text as UTF-8.
    pub fn bytes(&self) -> &[u8] {
        match self {
            TextOrBytes::Text(text) => text.as_bytes(),
            TextOrBytes::Bytes(bytes) => bytes,
        }
    }
}

/// Rejects input above a limit.
pub fn check_size(name: &str, bytes: usize, limit: u64) -> PyResult<()> {
    match bytes as u64 > limit {
        true => Err(PyValueError::new_err(format!("{name} has {bytes} bytes; the limit is {} MiB", limit >> 20))),
        false => Ok(()),
    }
}

/// The preset with a name.
pub fn preset(name: &str) -> PyResult<tidings_clean::Preset> {
    Preset::named(name).map(Into::into).ok_or_else(|| {
        let known = Preset::ALL.map(Preset::name).join(", ");
        PyValueError::new_err(format!("unknown preset {name:?}; known presets: {known}"))
    })
}

/// What a document is reduced to after extraction.
struct Reduction {
    tables: bool,
    formatting: bool,
    authors_left_out: Vec<String>,
    id: Option<String>,
}

impl Reduction {
    fn apply(self, document: &mut Document) {
        for paragraphs in [&mut document.paragraphs, &mut document.comments] {
            if !self.tables {
                paragraphs.retain(|paragraph| !matches!(paragraph.kind, ParagraphKind::Row { .. }));
            }
            if !self.formatting {
                let links = |paragraph: &mut tidings_model::Paragraph| {
                    paragraph.spans.retain(|span| matches!(span.mark, Mark::Link { .. }));
                };
                paragraphs.iter_mut().for_each(links);
            }
        }
        document.about.authors.retain(|author| !self.authors_left_out.contains(author));
        if let Some(id) = self.id {
            document.id = id;
        }
    }
}

/// Extracts the document of a page; None if it has no text.
#[pyfunction]
#[pyo3(signature = (html, url, *, preset, links, comments, tables, formatting, style, id, authors_left_out))]
#[allow(clippy::too_many_arguments)] // One argument for each of the Python function.
fn read_page(
    py: Python<'_>,
    html: TextOrBytes<'_>,
    url: Option<&str>,
    preset: &str,
    links: bool,
    comments: bool,
    tables: bool,
    formatting: bool,
    style: &str,
    id: Option<String>,
    authors_left_out: Vec<String>,
) -> PyResult<Option<PyDocument>> {
    let markup = html.markup();
    check_size("the page", markup.len(), MAX_PAGE_BYTES)?;
    let options = Options { preset: self::preset(preset)?, links, comments, ..Options::default() };
    let style = TextStyle::named(style)?;
    let reduction = Reduction { tables, formatting, authors_left_out, id };
    let read = detached(py, || {
        let mut document = markup.read(url.unwrap_or_default(), None, &options)?;
        reduction.apply(&mut document);
        Ok(document)
    })?;
    match read {
        Ok(document) if document.paragraphs.is_empty() => Ok(None),
        Ok(document) => Ok(Some(PyDocument::new(document, style))),
        Err(DropReason::Error) => Err(internal_error()),
        Err(_) => Ok(None),
    }
}

/// Identifies the language of a text: its code and score.
#[pyfunction]
#[pyo3(signature = (text, declared, tld))]
fn identify(
    py: Python<'_>,
    text: &str,
    declared: Option<String>,
    tld: Option<String>,
) -> PyResult<(&'static str, f64)> {
    check_size("the text", text.len(), MAX_LINE_BYTES)?;
    let filter = Identify { declared, tld };
    let answer =
        detached(py, || filter.answer(&lang::Question { text: Some(text.into()), ..lang::Question::default() }))?;
    answer.map(|answer| (answer.lang, answer.rounded_score())).map_err(PyValueError::new_err)
}

/// The request of an annotating filter.
fn question<'a>(text: &'a str, lang: Option<&'a str>) -> TextQuestion<'a> {
    TextQuestion { text: Some(text.into()), lang: lang.map(Cow::from), ..TextQuestion::default() }
}

/// The language of texts without one, as the command line has it.
pub const NO_LANGUAGE: &str = "und";

/// Splits a text into sentences of words.
#[pyfunction]
#[pyo3(signature = (text, lang))]
fn tokenize<'a>(py: Python<'_>, text: &'a str, lang: Option<&str>) -> PyResult<Vec<Vec<&'a str>>> {
    check_size("the text", text.len(), MAX_LINE_BYTES)?;
    let sentences = detached(py, || {
        let filter = Tokenize { lang: lang.unwrap_or(NO_LANGUAGE).to_owned() };
        let question = question(text, None);
        // The words borrow from the question, so their places in the text are taken.
        filter.answer(&question).map(|answer| places(&question, answer.sentences))
    })?;
    let sentences = sentences.map_err(PyValueError::new_err)?;
    Ok(sentences.into_iter().map(|words| words.into_iter().map(|(start, end)| &text[start..end]).collect()).collect())
}

/// The places of words in the text of a question.
fn places(question: &TextQuestion<'_>, sentences: Vec<Vec<&str>>) -> Vec<Vec<(usize, usize)>> {
    let start = question.text.as_deref().unwrap_or_default().as_ptr() as usize;
    let place = |word: &str| (word.as_ptr() as usize - start, word.as_ptr() as usize - start + word.len());
    sentences.into_iter().map(|words| words.into_iter().map(place).collect()).collect()
}

/// A token as a tuple: word, lemma, part of speech, features, whether white space follows.
type TokenRow = (String, String, String, String, bool);

/// The annotators of the default settings. Their models are loaded when a language is first used.
pub fn default_annotators() -> PyResult<&'static Annotators> {
    static ANNOTATORS: OnceLock<Result<Annotators, String>> = OnceLock::new();
    let made = ANNOTATORS.get_or_init(|| annotators(&AnnotateConfig::default()).map_err(|error| format!("{error:#}")));
    made.as_ref().map_err(|error| crate::errors::TidingsError::new_err(error.clone()))
}

/// Annotates a text: sentences of tokens.
#[pyfunction]
#[pyo3(signature = (text, lang))]
fn tag(py: Python<'_>, text: &str, lang: Option<&str>) -> PyResult<Vec<Vec<TokenRow>>> {
    check_size("the text", text.len(), MAX_LINE_BYTES)?;
    detached(py, || {
        let filter = Tag { lang: None, annotators: default_annotators()? };
        let question = question(text, lang);
        let answer = filter.answer(&question).map_err(PyValueError::new_err)?;
        let row = |word: TaggedWord| (word.form, word.lemma, word.upos, word.feats, word.space);
        Ok(answer.sentences.into_iter().map(|words| words.into_iter().map(row).collect()).collect())
    })?
}

/// The rule of a match and its place, in characters.
type MaskedPlace = (&'static str, usize, usize);

/// Replaces personal data: the text, and the rule and the place of each match in the original, in characters.
#[pyfunction]
#[pyo3(signature = (text, rules))]
fn mask(py: Python<'_>, text: &str, rules: Option<Vec<String>>) -> PyResult<(String, Vec<MaskedPlace>)> {
    check_size("the text", text.len(), MAX_LINE_BYTES)?;
    let rules: Vec<MaskRule> = match rules {
        None => MaskRule::ALL.to_vec(),
        Some(names) => names.iter().map(|name| mask_rule(name)).collect::<PyResult<_>>()?,
    };
    detached(py, || {
        let masked = tidings_lang::mask(text, &rules);
        let (mut byte, mut char) = (0, 0);
        let mut chars = |to: usize| {
            char += text[byte..to].chars().count();
            byte = to;
            char
        };
        let found =
            masked.found.iter().map(|(rule, place)| (rule.name(), chars(place.start), chars(place.end))).collect();
        (masked.text.into_owned(), found)
    })
}

fn mask_rule(name: &str) -> PyResult<MaskRule> {
    MaskRule::named(name).ok_or_else(|| {
        let known = MaskRule::ALL.map(MaskRule::name).join(", ");
        PyValueError::new_err(format!("unknown rule {name:?}; known rules: {known}"))
    })
}
