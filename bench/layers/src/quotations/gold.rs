//! Gold annotation: texts of our own with inline annotation, and stand-off annotation of the sample archive.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use tidings_annotate::layers::quotations::QuoteKind;
use tidings_model::{Document, Paragraph};
use xxhash_rust::xxh3::xxh3_64;

use crate::{archive, marked};

/// The half of the gold data that a document belongs to. Errors of the held-out half are not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// For development.
    Development,
    /// Held out.
    HeldOut,
}

impl Half {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Half::Development => "development",
            Half::HeldOut => "held-out",
        }
    }
}

/// A document with its quotations.
#[derive(Debug, Clone)]
pub struct GoldDocument {
    /// The name of the text, or site and path.
    pub name: String,
    /// The language code.
    pub language: String,
    /// The half it belongs to.
    pub half: Half,
    /// The text.
    pub document: Document,
    /// Its quotations.
    pub quotes: Vec<GoldQuote>,
}

/// A quotation. Offsets count the characters of the document that are not white space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldQuote {
    /// The kind.
    pub kind: QuoteKind,
    /// The first character after the opening mark.
    pub start: usize,
    /// The closing mark.
    pub end: usize,
    /// Mentions of the speaker; one of them is to be found.
    pub speakers: Vec<(usize, usize)>,
}

pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("quotations")
}

fn kind_of(label: &str) -> Option<QuoteKind> {
    match label.chars().next()? {
        'd' => Some(QuoteKind::Direct),
        's' => Some(QuoteKind::Scare),
        'h' => Some(QuoteKind::Headline),
        _ => None,
    }
}

/// Reads the texts of a language that are part of the repository.
pub fn read_own(language: &str) -> Result<Vec<GoldDocument>> {
    let mut documents = Vec::new();
    for (half, suffix) in [(Half::Development, "dev"), (Half::HeldOut, "test")] {
        let path = folder().join(format!("texts/{language}.{suffix}.txt"));
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        for marked in marked::parse(&text).with_context(|| format!("{}", path.display()))? {
            let speakers = |label: &str| -> Vec<(usize, usize)> {
                let wanted = format!("@{}", &label[1..]);
                let same = marked.stretches.iter().filter(|one| one.label == wanted && wanted.len() > 1);
                same.map(|one| (one.start, one.end)).collect()
            };
            let mut quotes = Vec::new();
            for stretch in marked.stretches.iter().filter(|one| !one.label.starts_with('@')) {
                let Some(kind) = kind_of(&stretch.label) else {
                    bail!("{}: unknown label {:?}", path.display(), stretch.label)
                };
                // Quotations in headings are annotated with their marks.
                let inset = usize::from(kind == QuoteKind::Headline);
                let speakers = speakers(&stretch.label);
                quotes.push(GoldQuote { kind, start: stretch.start + inset, end: stretch.end - inset, speakers });
            }
            let document = marked.document(language);
            documents.push(GoldDocument { name: marked.name, language: language.to_owned(), half, document, quotes });
        }
    }
    Ok(documents)
}

/// The digest of a text: of its characters that are not white space.
pub(super) fn digest(paragraphs: &[Paragraph]) -> String {
    let text: String = paragraphs.iter().map(|one| one.text.as_str()).collect();
    let bare: String = text.chars().filter(|one| !one.is_whitespace()).collect();
    format!("{:016x}", xxh3_64(bare.as_bytes()))
}

/// Reads the stand-off annotation of the sample archive: site, path, digest, kind, start, end, and start and end of the
/// speaker. Documents belong to the halves in turn.
pub fn read_archive(shared: &Path, language: &str) -> Result<Vec<GoldDocument>> {
    let path = folder().join(format!("archive/{language}.tsv"));
    if !path.exists() {
        return Ok(Vec::new());
    }
    let rows = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let articles = archive::read(shared, &[language])?;
    let articles: HashMap<(&str, &str), &archive::Article> =
        articles.iter().map(|article| ((article.site.as_str(), article.path.as_str()), article)).collect();
    let mut documents: Vec<GoldDocument> = Vec::new();
    for row in rows.lines().filter(|row| !row.starts_with('#')) {
        let [site, address, expected, kind, start, end, speaker @ ..] = &row.split('\t').collect::<Vec<_>>()[..] else {
            bail!("{}: a row has too few fields: {row}", path.display())
        };
        let name = format!("{site}{address}");
        if documents.last().is_none_or(|last| last.name != name) {
            let article = articles.get(&(*site, *address)).with_context(|| format!("the archive has no {name}"))?;
            let document = article.document();
            let found = digest(&document.paragraphs);
            ensure!(found == *expected, "the text of {name} has changed: digest {found} instead of {expected}");
            let half = if documents.len().is_multiple_of(2) { Half::Development } else { Half::HeldOut };
            documents.push(GoldDocument { name, language: language.to_owned(), half, document, quotes: Vec::new() });
        }
        let speakers = match speaker {
            [start, end] if !start.is_empty() => vec![(start.parse()?, end.parse()?)],
            _ => Vec::new(),
        };
        let kind = kind_of(kind).with_context(|| format!("{}: unknown kind {kind:?}", path.display()))?;
        let quote = GoldQuote { kind, start: start.parse()?, end: end.parse()?, speakers };
        documents.last_mut().expect("a document was just added").quotes.push(quote);
    }
    Ok(documents)
}
