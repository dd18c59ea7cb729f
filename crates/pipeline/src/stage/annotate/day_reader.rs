//! The documents of a day with their verdicts, and which of them have text already.

use std::sync::Arc;

use anyhow::{Result, bail};
use serde::Deserialize;
use tidings_model::Document;
use tidings_store::dedup_state::{VerdictLine, VerdictReader};
use tidings_store::docs::DocumentReader;
use tidings_store::revisions::Superseded;
use tidings_store::text::{KnownTexts, TextRecipe};
use tidings_store::{Exclusion, FileDigest, Home};
use xxhash_rust::xxh3::Xxh3;

use super::{FeedLabels, Sources, plain};

/// A document to be annotated, its verdict, and whether a later revision supersedes it.
pub(super) struct Judged {
    pub(super) document: Document,
    pub(super) verdict: Option<VerdictLine>,
    pub(super) is_superseded: bool,
}

/// A document of a day: its language, the digest of what its text is made of, and itself unless its text is kept.
pub(super) struct DayDocument {
    pub(super) language: Arc<str>,
    pub(super) key: u128,
    pub(super) judged: Option<Judged>,
}

/// Reads the documents of a day with their verdicts, in the order of the files.
pub(super) struct DayReader<'a> {
    home: &'a Home,
    labels: &'a FeedLabels,
    superseded: &'a Superseded,
    day: String,
    verdicts: Option<VerdictReader>,
    files: std::vec::IntoIter<String>,
    open: Option<(Arc<str>, DocumentReader)>,
}

impl<'a> DayReader<'a> {
    /// Opens the documents that a recipe names, and their verdicts if they are judged.
    pub(super) fn open(home: &'a Home, sources: &'a Sources, wanted: &TextRecipe) -> Result<DayReader<'a>> {
        let Sources { labels, superseded, .. } = sources;
        let day = wanted.day.clone();
        let is_documents = |input: &&FileDigest| input.file.starts_with("docs/");
        let files: Vec<String> = wanted.inputs.iter().filter(is_documents).map(|input| input.file.clone()).collect();
        let verdicts = sources.judged.as_ref().map(|_| VerdictReader::open(home, &day)).transpose()?;
        Ok(DayReader { home, labels, superseded, day, verdicts, files: files.into_iter(), open: None })
    }

    /// The next document and its size, which is 0 if its former text is kept.
    pub(super) fn next(&mut self, known: &KnownTexts) -> Result<Option<(DayDocument, usize)>> {
        loop {
            if let Some((language, reader)) = &mut self.open
                && let Some(line) = reader.next_line()?
            {
                let language = language.clone();
                let verdict = match &mut self.verdicts {
                    Some(verdicts) => Some(verdicts.next().transpose()?.unwrap_or_default()),
                    None => None,
                };
                let is_superseded = self.superseded.has_line(&self.day, &line);
                let key = key(&line, verdict.as_ref(), is_superseded, self.labels)?;
                if known.has(&language, key) {
                    return Ok(Some((DayDocument { language, key, judged: None }, 0)));
                }
                let document: Document = reader.parse(&line)?;
                if let Some(verdict) = &verdict {
                    is_about(&document, verdict)?;
                }
                let size = document.paragraphs.iter().map(|paragraph| paragraph.text.len()).sum();
                let judged = Some(Judged { document, verdict, is_superseded });
                return Ok(Some((DayDocument { language, key, judged }, size)));
            }
            let Some(file) = self.files.next() else { return Ok(None) };
            let language = file.split('/').nth(1).unwrap_or_default().into();
            self.open = Some((language, DocumentReader::open_in(self.home, &file)?));
        }
    }
}

/// The digest of everything that the text of a document is made of, besides version and annotators: the document,
/// its duplicates, its revisions and the labels of its feed.
fn key(line: &[u8], verdict: Option<&VerdictLine>, is_superseded: bool, labels: &FeedLabels) -> Result<u128> {
    /// The field of a document that is needed here.
    #[derive(Deserialize)]
    struct Fed {
        #[serde(default)]
        feed: String,
    }
    let mut key = Xxh3::new();
    key.update(line);
    for unit in verdict.map(|verdict| verdict.duplicates.as_slice()).unwrap_or_default() {
        let (start, end) = unit.bytes.unwrap_or((0, u64::MAX));
        [unit.paragraph, start, end].iter().for_each(|number| key.update(&number.to_le_bytes()));
    }
    if is_superseded {
        key.update(Exclusion::Superseded.word().as_bytes());
    }
    if !labels.is_empty() {
        let fed: Fed = serde_json::from_slice(line)?;
        let labels = labels.get(&plain(&fed.feed));
        key.update(serde_json::to_string(&labels).expect("labels serialise").as_bytes());
    }
    Ok(key.digest128())
}

/// Checks that a verdict is about a document, which has the same position among the documents.
fn is_about(document: &Document, verdict: &VerdictLine) -> Result<()> {
    match verdict.id == document.id {
        true => Ok(()),
        false => bail!("the verdicts do not match the documents ({}); run `tidings rebuild --from dedup`", document.id),
    }
}
