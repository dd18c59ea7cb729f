//! Pairs of documents that are translations of each other: found by the links of their pages, or given by the user.
//!
//! A page names its other languages (`hreflang`). Two documents are a pair if each names the other, because many pages
//! only point to a start page in the other language.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use serde::Serialize;
use tidings_model::{Document, Fingerprint};
use tidings_query::question::{DocumentPairs, OtherCorpus};
use tidings_store::Home;
use tidings_store::document_pairs::{self as table, DocumentPair, MAX_PAIRS, PairOrigin};

use crate::Pipeline;
use crate::context::RunContext;
use crate::corpus::Corpus;
use crate::display::{count, grouped};
use crate::export::source::{DocumentSource, Reading};
use crate::outcome::Outcome;
use crate::usage_error::UsageError;

/// The largest file of pairs, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// A document with hreflang links.
struct Linked {
    id: u128,
    language: String,
    own: [Fingerprint; 2],
    others: Vec<Fingerprint>,
}

/// Finds pairs in a stream of documents.
#[derive(Default)]
pub struct Finder {
    documents: Vec<Linked>,
    /// Pairs that need not be found, and the languages of their documents.
    given: Vec<DocumentPair>,
    languages: BTreeMap<u128, Option<String>>,
}

impl Finder {
    /// A finder that adds pairs which are known already, if both documents are seen.
    pub fn with_given(given: impl IntoIterator<Item = DocumentPair>) -> Finder {
        let given: Vec<DocumentPair> = given.into_iter().collect();
        let ids = given.iter().flat_map(|pair| <[u128; 2]>::from(pair.ids()));
        Finder { languages: ids.map(|id| (id, None)).collect(), given, documents: Vec::new() }
    }

    /// Records a document.
    pub fn see(&mut self, document: &Document, id: u128, language: &str) {
        if let Some(place) = self.languages.get_mut(&id) {
            *place = Some(language.to_owned());
        }
        if document.about.alternates.is_empty() {
            return;
        }
        let canonical = Some(&document.about.canonical).filter(|address| !address.is_empty()).unwrap_or(&document.url);
        self.documents.push(Linked {
            id,
            language: language.to_owned(),
            own: [Fingerprint::of(&document.url), Fingerprint::of(canonical)],
            others: document.about.alternates.values().map(|address| Fingerprint::of(address)).collect(),
        });
    }

    /// The pairs, each once, ordered by language and document.
    pub fn pairs(&self) -> Vec<(u128, u128)> {
        let mut by_address: HashMap<Fingerprint, usize> = HashMap::new();
        for (at, document) in self.documents.iter().enumerate() {
            // Of several states of a page the first counts.
            for address in document.own {
                by_address.entry(address).or_insert(at);
            }
        }
        let mut pairs = Vec::new();
        for (at, one) in self.documents.iter().enumerate() {
            for other_at in one.others.iter().filter_map(|address| by_address.get(address).copied()) {
                let other = &self.documents[other_at];
                let is_mutual = one.own.iter().any(|address| other.others.contains(address));
                if at != other_at && is_mutual && one.language < other.language {
                    pairs.push((one.language.as_str(), other.language.as_str(), at, one.id, other.id));
                }
            }
        }
        pairs.sort_unstable();
        let mut pairs: Vec<(u128, u128)> = pairs.into_iter().map(|(.., one, other)| (one, other)).collect();
        let known: BTreeSet<(u128, u128)> = pairs.iter().copied().collect();
        let language = |id: u128| self.languages.get(&id).and_then(Option::as_deref);
        for (one, other) in self.given.iter().map(|pair| pair.ids()) {
            let Some((of_one, of_other)) = language(one).zip(language(other)) else { continue };
            let pair = if of_one <= of_other { (one, other) } else { (other, one) };
            if of_one != of_other && !known.contains(&pair) {
                pairs.push(pair);
            }
        }
        let mut seen = BTreeSet::new();
        pairs.retain(|pair| seen.insert(*pair));
        pairs
    }
}

/// The pairs of a home after a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PairsOutcome {
    /// All pairs.
    pub pairs: u64,
    /// Those of them that are new.
    pub added: u64,
    /// Lines of a file whose documents are not in the corpus.
    pub unknown: u64,
}

impl Outcome for PairsOutcome {}

impl fmt::Display for PairsOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PairsOutcome { pairs, added, unknown } = self;
        let pairs = count(*pairs, "pair");
        writeln!(f, "{pairs} of documents, {} new; search them with `tidings parallel`", grouped(*added))?;
        match unknown {
            0 => Ok(()),
            unknown => writeln!(f, "not in the corpus: a document of {}", count(*unknown, "line")),
        }
    }
}

/// Finds pairs by the links of pages. Pairs that were found before and are no longer linked are dropped; given ones stay.
pub fn find(pipeline: &Pipeline) -> Result<PairsOutcome> {
    let context = RunContext::open(pipeline, "pairs")?;
    let mut finder = Finder::default();
    each_document(pipeline, |document, id, language| finder.see(document, id, language))?;
    let before = table::read(&context.home)?;
    let mut known: BTreeMap<DocumentPair, PairOrigin> = BTreeMap::new();
    known.extend(given(&context.home)?.into_iter().map(|pair| (pair, PairOrigin::Given)));
    let found = finder.pairs().into_iter().filter_map(|(one, other)| DocumentPair::new(one, other));
    found.for_each(|pair| _ = known.entry(pair).or_insert(PairOrigin::Links));
    save(&context.home, &before, &known, 0)
}

/// Adds the pairs of a file: two columns separated by a tab, each the id or the address of a document.
pub fn add(pipeline: &Pipeline, file: &Path) -> Result<PairsOutcome> {
    let bytes = fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?.len();
    if bytes > MAX_FILE_BYTES {
        return Err(
            UsageError::new(format!("{} has more than {MAX_FILE_BYTES} bytes; divide it", file.display())).into()
        );
    }
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
    {
        let mut cells = line.split('\t').map(str::trim);
        let (Some(one), Some(other), None) = (cells.next(), cells.next(), cells.next()) else {
            let place = format!("{}, line {}", file.display(), number + 1);
            let message = format!("{place}: not two documents; give two ids or addresses, separated by a tab");
            return Err(UsageError::new(message).into());
        };
        rows.push([Name::of(one), Name::of(other)]);
    }
    let context = RunContext::open(pipeline, "pairs")?;
    let ids = ids_of(pipeline, rows.iter().flatten())?;
    let before = table::read(&context.home)?;
    let (mut known, mut unknown) = (before.clone(), 0);
    for [one, other] in &rows {
        let pair = ids.get(one).zip(ids.get(other)).and_then(|(one, other)| DocumentPair::new(*one, *other));
        match pair {
            Some(pair) => _ = known.insert(pair, PairOrigin::Given),
            None => unknown += 1,
        }
    }
    save(&context.home, &before, &known, unknown)
}

/// The corpus of a language beside the one that a question is about, with the rights of the owner of the home.
pub fn other_corpus(home: &Home, language: &str, as_of: Option<&str>) -> Result<OtherCorpus> {
    let corpus = Corpus::open_as_of(home, Some(language), as_of)?;
    let pairs = DocumentPairs::of(table::read(home)?.into_keys().map(DocumentPair::ids));
    Ok(OtherCorpus { all: Arc::new(corpus.engine), readable: None, pairs: Arc::new(pairs) })
}

/// The pairs that the user has given.
pub fn given(home: &Home) -> Result<Vec<DocumentPair>> {
    let given = table::read(home)?.into_iter().filter(|(_, origin)| *origin == PairOrigin::Given);
    Ok(given.map(|(pair, _)| pair).collect())
}

fn save(
    home: &Home,
    before: &BTreeMap<DocumentPair, PairOrigin>,
    known: &BTreeMap<DocumentPair, PairOrigin>,
    unknown: u64,
) -> Result<PairsOutcome> {
    if known.len() > MAX_PAIRS {
        return Err(UsageError::new(format!("a home has at most {MAX_PAIRS} pairs")).into());
    }
    table::write(home, known)?;
    let added = known.keys().filter(|pair| !before.contains_key(pair)).count() as u64;
    Ok(PairsOutcome { pairs: known.len() as u64, added, unknown })
}

/// A document as a user names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    Id(u128),
    Address(Fingerprint),
}

impl Name {
    fn of(text: &str) -> Name {
        let is_id = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = u128::from_str_radix(text, 16).ok().filter(|_| is_id);
        id.map_or_else(|| Name::Address(Fingerprint::of(text)), Name::Id)
    }
}

/// The documents of the corpus that have these names; of several states of a page the newest.
fn ids_of<'n>(pipeline: &Pipeline, names: impl Iterator<Item = &'n Name>) -> Result<HashMap<Name, u128>> {
    let mut found: HashMap<Name, Option<u128>> = names.map(|name| (*name, None)).collect();
    each_document(pipeline, |document, id, _| {
        for name in [Name::Id(id), Name::Address(Fingerprint::of(&document.url))] {
            if let Some(place) = found.get_mut(&name) {
                *place = Some(id);
            }
        }
    })?;
    Ok(found.into_iter().filter_map(|(name, id)| Some((name, id?))).collect())
}

/// Passes the newest revision of each document to `see`, with its id and language.
fn each_document(pipeline: &Pipeline, mut see: impl FnMut(&Document, u128, &str)) -> Result<()> {
    let mut source = DocumentSource::open(pipeline.home(), true, Reading::default(), None)?;
    let cancel = pipeline.cancel_token();
    while let Some(stored) = source.next()? {
        cancel.check()?;
        if stored.is_superseded {
            continue;
        }
        let document: Document =
            serde_json::from_slice(&stored.line).with_context(|| format!("a document of {} is damaged", stored.day))?;
        let id = u128::from_str_radix(&document.id, 16).unwrap_or_default();
        see(&document, id, &stored.language);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(url: &str, alternates: &[(&str, &str)]) -> Document {
        let mut document = Document { url: url.into(), ..Document::default() };
        document.about.alternates = alternates.iter().map(|(l, u)| ((*l).to_owned(), (*u).to_owned())).collect();
        document
    }

    #[test]
    fn two_documents_are_a_pair_if_each_names_the_other() {
        let mut finder = Finder::default();
        finder.see(
            &document("http://e.org/en/1", &[("de", "http://e.org/de/1"), ("en", "http://e.org/en/1")]),
            1,
            "en",
        );
        finder.see(&document("http://e.org/de/1", &[("en", "http://e.org/en/1?utm_source=x")]), 2, "de");
        // This one names the start page of the other language, which does not name it.
        finder.see(&document("http://e.org/en/2", &[("de", "http://e.org/de/1")]), 3, "en");
        finder.see(&document("http://e.org/en/3", &[]), 4, "en");
        assert_eq!(finder.pairs(), [(2, 1)]);
    }

    #[test]
    fn a_name_is_an_id_or_an_address() {
        assert_eq!(Name::of("0000000000000000000000000000000a"), Name::Id(10));
        assert_eq!(Name::of("https://e.org/a?utm_source=x"), Name::of("https://e.org/a"));
    }
}
