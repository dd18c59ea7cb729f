//! An extracted document, for `extract` and `bare_extraction`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tidings_formats::Format;
use tidings_model::{Document, Mark, Paragraph};

/// The form of `Document.text`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextStyle {
    /// A paragraph a line.
    Plain,
    /// The same with `[text](target)` for links.
    Links,
    /// Markdown.
    Markdown,
}

impl TextStyle {
    const ALL: [(TextStyle, &str); 3] =
        [(TextStyle::Plain, "plain"), (TextStyle::Links, "links"), (TextStyle::Markdown, "markdown")];

    /// The style with a name.
    pub fn named(name: &str) -> PyResult<TextStyle> {
        let known = TextStyle::ALL.iter().find(|row| row.1 == name).map(|row| row.0);
        known.ok_or_else(|| {
            PyValueError::new_err(format!("unknown style {name:?}; known styles: plain, links, markdown"))
        })
    }

    fn name(self) -> &'static str {
        TextStyle::ALL.iter().find(|row| row.0 == self).map_or("plain", |row| row.1)
    }

    fn write(self, document: &Document) -> String {
        match self {
            TextStyle::Plain => document.text(),
            TextStyle::Links => lines(&document.paragraphs, with_links),
            TextStyle::Markdown => trimmed(Format::Md.write(&Document { comments: Vec::new(), ..document.clone() })),
        }
    }

    fn write_comments(self, document: &Document) -> String {
        match self {
            TextStyle::Plain => lines(&document.comments, |paragraph| paragraph.text.clone()),
            TextStyle::Links => lines(&document.comments, with_links),
            TextStyle::Markdown => {
                trimmed(Format::Md.write(&Document { paragraphs: document.comments.clone(), ..Document::default() }))
            }
        }
    }
}

fn lines(paragraphs: &[Paragraph], write: impl Fn(&Paragraph) -> String) -> String {
    paragraphs.iter().map(write).collect::<Vec<_>>().join("\n")
}

/// The text of a paragraph with the targets of its links.
fn with_links(paragraph: &Paragraph) -> String {
    let mut text = String::with_capacity(paragraph.text.len());
    let mut copied = 0;
    for span in &paragraph.spans {
        if let Mark::Link { href } = &span.mark
            && span.start >= copied
            && let (Some(before), Some(inside)) =
                (paragraph.text.get(copied..span.start), paragraph.text.get(span.start..span.end))
        {
            text.push_str(&format!("{before}[{inside}]({href})"));
            copied = span.end;
        }
    }
    text.push_str(paragraph.text.get(copied..).unwrap_or_default());
    text
}

fn trimmed(mut text: String) -> String {
    text.truncate(text.trim_end_matches(['\r', '\n']).len());
    text
}

/// The text and metadata of a page.
#[pyclass(frozen, module = "tidings", name = "Document")]
pub struct PyDocument {
    document: Document,
    style: TextStyle,
}

impl PyDocument {
    /// A document whose text is written in a style.
    pub fn new(document: Document, style: TextStyle) -> PyDocument {
        PyDocument { document, style }
    }
}

/// A value that may be missing, as Python says it.
fn known(value: &str) -> Option<&str> {
    Some(value).filter(|value| !value.is_empty())
}

#[pymethods]
impl PyDocument {
    /// The text, one paragraph per line.
    #[getter]
    fn text(&self) -> String {
        self.style.write(&self.document)
    }

    /// The text without links and formatting.
    #[getter]
    fn raw_text(&self) -> String {
        self.document.text()
    }

    /// The paragraphs of the text.
    #[getter]
    fn paragraphs(&self) -> Vec<&str> {
        self.document.paragraphs.iter().map(|paragraph| paragraph.text.as_str()).collect()
    }

    /// Reader comments, one per line; None if they were not extracted or there are none.
    #[getter]
    fn comments(&self) -> Option<String> {
        (!self.document.comments.is_empty()).then(|| self.style.write_comments(&self.document))
    }

    /// The headline, without the name of the site.
    #[getter]
    fn title(&self) -> Option<&str> {
        known(&self.document.about.title)
    }

    /// The authors in one string.
    #[getter]
    fn author(&self) -> Option<String> {
        let authors = &self.document.about.authors;
        (!authors.is_empty()).then(|| authors.join("; "))
    }

    /// The authors.
    #[getter]
    fn authors(&self) -> &[String] {
        &self.document.about.authors
    }

    /// The URL: the one given, else the one that the page declares.
    #[getter]
    fn url(&self) -> Option<&str> {
        known(&self.document.url).or(known(&self.document.about.canonical))
    }

    /// The canonical URL that the page declares.
    #[getter]
    fn canonical(&self) -> Option<&str> {
        known(&self.document.about.canonical)
    }

    /// The host of the URL.
    #[getter]
    fn hostname(&self) -> Option<&str> {
        known(&self.document.site)
    }

    /// The name of the site.
    #[getter]
    fn sitename(&self) -> Option<&str> {
        known(&self.document.about.site_name)
    }

    /// The day of publication, YYYY-MM-DD.
    #[getter]
    fn date(&self) -> Option<&str> {
        self.document.dated.as_ref().map(|dated| dated.day.as_str())
    }

    /// The source of the date.
    #[getter]
    fn date_source(&self) -> Option<&str> {
        self.document.dated.as_ref().map(|dated| dated.source.as_str())
    }

    /// The day of the last modification, YYYY-MM-DD.
    #[getter]
    fn modified(&self) -> Option<&str> {
        known(&self.document.about.modified)
    }

    /// The language (BCP 47), identified from the text; `und` if it is uncertain.
    #[getter]
    fn language(&self) -> Option<&str> {
        known(&self.document.about.language)
    }

    /// The language that the page declares, if the text is in another one.
    #[getter]
    fn declared_language(&self) -> Option<&str> {
        known(&self.document.about.declared_language)
    }

    /// The type of the page: article, forum, documentation, product or listing; None if it has no text.
    #[getter]
    fn page_type(&self) -> Option<&str> {
        known(&self.document.about.page_type)
    }

    /// The description for link previews.
    #[getter]
    fn description(&self) -> Option<&str> {
        known(&self.document.about.description)
    }

    /// Sections of the site.
    #[getter]
    fn categories(&self) -> &[String] {
        &self.document.about.categories
    }

    /// Keywords.
    #[getter]
    fn tags(&self) -> &[String] {
        &self.document.about.tags
    }

    /// The licence that the page states.
    #[getter]
    fn license(&self) -> Option<&str> {
        self.document.about.licence.as_ref().map(|licence| licence.name.as_str())
    }

    /// The URL of the main image.
    #[getter]
    fn image(&self) -> Option<&str> {
        known(&self.document.about.image)
    }

    /// A stable hash of the URL and the content, or the id given by the caller.
    #[getter]
    fn id(&self) -> Option<&str> {
        known(&self.document.id)
    }

    /// The extractor and its version.
    #[getter]
    fn extractor(&self) -> &str {
        &self.document.extractor
    }

    /// All attributes by name.
    fn as_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(slf.py());
        for name in ATTRIBUTES {
            dict.set_item(name, slf.getattr(name)?)?;
        }
        Ok(dict)
    }

    /// The document in a format: txt, md, json, xml, tei, csv or html; without a line end.
    fn write(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let format: Format = format.parse().map_err(PyValueError::new_err)?;
        crate::errors::detached(py, || trimmed(format.write(&self.document)))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let title = slf.getattr("title")?.repr()?;
        Ok(format!(
            "Document(title={title}, url={}, date={})",
            slf.getattr("url")?.repr()?,
            slf.getattr("date")?.repr()?
        ))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyDocument>().is_ok_and(|other| {
            let other = other.get();
            (&self.document, self.style) == (&other.document, other.style)
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let own = slf.get();
        let json = serde_json::to_string(&own.document).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let function = slf.py().import("tidings._tidings")?.getattr("_document")?;
        Ok((function, PyTuple::new(slf.py(), [json.as_str(), own.style.name()])?))
    }
}

/// The attributes of a document.
const ATTRIBUTES: [&str; 22] = [
    "title",
    "author",
    "authors",
    "url",
    "canonical",
    "hostname",
    "sitename",
    "date",
    "date_source",
    "modified",
    "language",
    "declared_language",
    "page_type",
    "description",
    "categories",
    "tags",
    "license",
    "image",
    "id",
    "text",
    "comments",
    "extractor",
];

/// A document that was pickled.
#[pyfunction]
#[pyo3(name = "_document")]
pub fn from_json(json: &str, style: &str) -> PyResult<PyDocument> {
    let document = serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyDocument::new(document, TextStyle::named(style)?))
}
