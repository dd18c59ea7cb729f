//! Virtual corpora: named filters.
//!
//! The documents of a virtual corpus are selected by each query, so that it grows with the corpus. The names are stored
//! in `corpora.tsv`, which may be edited.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Result, bail};
use serde::Serialize;
use tidings_index::Snapshot;
use tidings_query::engine::Engine;
use tidings_query::{Filter, SyntaxError};
use tidings_store::virtual_corpora as table;
use tidings_store::{Home, text};

use crate::Pipeline;
use crate::context::RunContext;
use crate::outcome::Outcome;
use crate::usage_error::UsageError;

/// The longest name, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// A named filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VirtualCorpus {
    /// The name.
    pub name: String,
    /// The filter.
    pub filter: String,
}

impl Outcome for VirtualCorpus {}

impl fmt::Display for VirtualCorpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VirtualCorpus { name, filter } = self;
        writeln!(f, "saved {name}: {filter}; query it with --in {name}")
    }
}

/// A virtual corpus that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemoveOutcome {
    /// The name.
    pub removed: String,
}

impl Outcome for RemoveOutcome {}

impl fmt::Display for RemoveOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "removed {}", self.removed)
    }
}

/// A language with an index.
#[derive(Debug, Clone, Serialize)]
pub struct LanguageRow {
    /// Its code.
    pub corpus: String,
    /// Documents.
    pub documents: u64,
    /// Tokens.
    pub tokens: u64,
    /// Attributes of tokens that queries may use.
    pub attributes: Vec<String>,
    /// Morphological features that queries may use, with their values.
    pub features: BTreeMap<String, BTreeSet<String>>,
    /// Spans that queries may use, with their attributes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub spans: BTreeMap<String, BTreeSet<String>>,
    /// The annotators of its text.
    pub layers: Vec<LayerRow>,
}

/// An annotator of a language's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerRow {
    /// Its name.
    pub by: String,
    /// Tokens that it annotated.
    pub tokens: u64,
}

/// Parses a filter. Errors show their position.
pub fn parse_filter(text: &str) -> Result<Filter> {
    let parsed: Result<Filter, SyntaxError> = text.parse();
    Ok(parsed.map_err(|error| UsageError::new(format!("invalid filter: {}", error.render(text))))?)
}

/// All virtual corpora.
pub fn list(home: &Home) -> Result<Vec<VirtualCorpus>> {
    let row = |table::VirtualCorpus { name, filter }| VirtualCorpus { name, filter };
    Ok(table::read(home)?.into_iter().map(row).collect())
}

/// Saves a filter under a name; replaces an existing one.
pub fn save(pipeline: &Pipeline, name: &str, filter: &str) -> Result<VirtualCorpus> {
    let is_plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(is_plain) {
        return Err(UsageError::new(format!("invalid corpus name `{name}`; use letters, digits and hyphens")).into());
    }
    let (name, filter) = (name.to_owned(), parse_filter(filter)?.to_string());
    let context = RunContext::open(pipeline, "corpus")?;
    let mut known = table::read(&context.home)?;
    known.retain(|named| named.name != name);
    known.push(table::VirtualCorpus { name: name.clone(), filter: filter.clone() });
    known.sort_by(|a, b| a.name.cmp(&b.name));
    table::write(&context.home, known)?;
    Ok(VirtualCorpus { name, filter })
}

/// Removes a virtual corpus.
pub fn remove(pipeline: &Pipeline, name: &str) -> Result<RemoveOutcome> {
    find(pipeline.home(), name)?;
    let context = RunContext::open(pipeline, "corpus")?;
    let mut known = table::read(&context.home)?;
    known.retain(|named| named.name != name);
    table::write(&context.home, known)?;
    Ok(RemoveOutcome { removed: name.to_owned() })
}

/// The filter with a name.
pub fn find(home: &Home, name: &str) -> Result<Filter> {
    let known = table::read(home)?;
    match known.iter().find(|named| named.name == name) {
        Some(named) => parse_filter(&named.filter),
        None if known.is_empty() => bail!("no virtual corpora yet; create one with `tidings corpus save`"),
        None => {
            let names: Vec<&str> = known.iter().map(|named| named.name.as_str()).collect();
            bail!("no virtual corpus named {name}; available: {}", names.join(", "))
        }
    }
}

/// The languages with an index.
pub fn languages(home: &Home) -> Result<Vec<LanguageRow>> {
    let mut layers = text::layers(home)?;
    let mut rows = Vec::new();
    for corpus in home.indexed()? {
        let engine = Engine::new(Snapshot::open(&home.index_of(&corpus))?);
        let layers = layers.remove(&corpus).unwrap_or_default().into_iter();
        let spans = engine.snapshot().span_names().into_iter();
        let spans = spans.map(|(name, attributes)| (name, attributes.into_iter().map(str::to_owned).collect()));
        rows.push(LanguageRow {
            documents: engine.snapshot().documents(),
            tokens: engine.snapshot().tokens(),
            attributes: engine.attributes().into_iter().map(str::to_owned).collect(),
            features: engine.features().clone(),
            spans: spans.map(|(name, attributes)| (name.to_owned(), attributes)).collect(),
            layers: layers.map(|(by, tokens)| LayerRow { by, tokens }).collect(),
            corpus,
        });
        engine.intact()?;
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_saved_found_replaced_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let pipeline = Pipeline::create(folder.path()).unwrap();
        let home = pipeline.home();
        assert!(find(home, "spring").unwrap_err().to_string().contains("no virtual corpora yet"));
        save(&pipeline, "spring", "date>=2026-03 date<=2026-05").unwrap();
        save(&pipeline, "one-site", "site=e.org").unwrap();
        let saved = save(&pipeline, "spring", "date>=2026-03").unwrap();
        assert!(saved.to_string().ends_with("query it with --in spring\n"));
        let names: Vec<String> = list(home).unwrap().into_iter().map(|named| named.name).collect();
        assert_eq!(names, ["one-site", "spring"]);
        assert!(find(home, "autumn").unwrap_err().to_string().contains("available: one-site, spring"));
        assert_eq!(remove(&pipeline, "spring").unwrap().to_string(), "removed spring\n");
        assert_eq!(list(home).unwrap().len(), 1);
    }

    #[test]
    fn names_with_spaces_and_invalid_filters_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let pipeline = Pipeline::create(folder.path()).unwrap();
        assert!(save(&pipeline, "two words", "site=e.org").is_err());
        assert!(save(&pipeline, "", "site=e.org").is_err());
        assert!(save(&pipeline, "a", "site=").unwrap_err().to_string().contains("invalid filter"));
    }

    #[test]
    fn the_languages_of_a_built_home_have_size_and_attributes() {
        let (_folder, pipeline) = crate::test_home::built();
        let rows = languages(pipeline.home()).unwrap();
        let sizes: Vec<(&str, u64)> = rows.iter().map(|row| (row.corpus.as_str(), row.documents)).collect();
        assert_eq!(sizes, [("de", 1), ("en", 3)]);
        assert!(rows.iter().all(|row| row.attributes.iter().any(|name| name == "lemma") && row.tokens > 30));
        let (_other, empty) = crate::test_home::empty();
        assert!(languages(empty.home()).unwrap().is_empty());
    }
}
