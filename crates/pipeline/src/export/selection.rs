//! Selection: the documents that match the filter and the query, are in the corpus, and may be exported.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use tidings_fetch::robots::Robots;
use tidings_index::{Day, Snapshot};
use tidings_model::purpose::{self, Extent, Purpose, Signal};
use tidings_model::{Annotated, Attributes, Document};
use tidings_query::engine::{Engine, Limits};
use tidings_query::filter::{CompiledFilter, HitDocuments};
use tidings_query::{Filter, MatchRule, Query};
use tidings_store::removed::Removed;
use tidings_store::sorted::{DayIds, DayIdsBuilder};
use tidings_store::{Home, hidden, rules};

use super::source::{self, StoredDocument};
use crate::corpus::{explain, parse_query};
use crate::stage::annotate::{FeedLabels, labels, plain};
use crate::virtual_corpora;

/// A document that is exported.
#[derive(Default)]
pub struct ExportItem {
    /// The document without duplicate text.
    pub document: Document,
    /// The attributes for filters.
    pub attributes: Attributes,
    /// Its annotated text, for formats of tokens.
    pub text: Option<Annotated>,
    /// The language of its file.
    pub language: String,
}

/// The reason why a document is not exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The filter does not match.
    NotSelected,
    /// The query has no hit in it.
    NoHit,
    /// It is hidden.
    Hidden,
    /// A tombstone covers it.
    Removed,
    /// Everything in it was published before.
    Duplicate,
    /// A later revision takes its place.
    Superseded,
    /// Its rights forbid the purpose; the name of the signal.
    Rights(&'static str),
}

impl Reason {
    /// The name in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Reason::NotSelected => "not-asked-for",
            Reason::NoHit => "no-hit",
            Reason::Hidden => "hidden",
            Reason::Removed => "removed",
            Reason::Duplicate => "duplicate",
            Reason::Superseded => "superseded",
            Reason::Rights(signal) => signal,
        }
    }

    /// Whether the document was selected.
    pub fn is_loss(self) -> bool {
        !matches!(self, Reason::NotSelected | Reason::NoHit)
    }
}

/// A document that is not exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion {
    /// The reason.
    pub reason: Reason,
    /// Its address, if its rights are the reason.
    pub url: Option<String>,
}

impl From<Reason> for Exclusion {
    fn from(reason: Reason) -> Exclusion {
        Exclusion { reason, url: None }
    }
}

/// The documents to export.
#[derive(Debug, Clone, Default)]
pub struct SelectionOptions {
    /// Dated on or after this day, month or year.
    pub from: Option<String>,
    /// Dated on or before this day, month or year.
    pub to: Option<String>,
    /// Languages; empty: all.
    pub languages: Vec<String>,
    /// Sites; empty: all.
    pub sites: Vec<String>,
    /// A filter.
    pub filter: Option<String>,
    /// The name of a virtual corpus.
    pub corpus: Option<String>,
    /// A query evaluated on the index.
    pub cql: Option<String>,
}

/// User agents of crawlers that collect training data for models.
const TRAINERS: [&str; 9] = [
    "GPTBot",
    "CCBot",
    "ClaudeBot",
    "anthropic-ai",
    "Google-Extended",
    "Applebot-Extended",
    "Meta-ExternalAgent",
    "Bytespider",
    "cohere-ai",
];

/// Decides which documents are exported.
pub struct Selection {
    filter: Option<CompiledFilter>,
    /// The filter as text, for the manifest.
    pub described: Option<String>,
    /// The documents with a hit, if a query was given.
    hits: Option<DayIds>,
    /// The generation of each queried index.
    pub generations: BTreeMap<String, u64>,
    hidden: BTreeSet<String>,
    removed: Removed,
    labels: FeedLabels,
    purpose: Purpose,
    extent: Extent,
    /// The robots.txt rules for such crawlers, by digest of the file.
    shut: HashMap<String, Vec<Robots>>,
}

impl Selection {
    /// Parses the filters and runs the query.
    pub fn open(
        home: &Home,
        options: &SelectionOptions,
        purpose: Purpose,
        extent: Extent,
        scratch: &Path,
    ) -> Result<Selection> {
        let corpus = options.corpus.as_ref().map(|name| virtual_corpora::find(home, name)).transpose()?;
        let filter = options.combined_filter(corpus)?;
        let described = filter.as_ref().map(ToString::to_string);
        let mut generations = BTreeMap::new();
        let filter = filter.map(|filter| with_hits(home, options, &filter, &mut generations)).transpose()?;
        let hits = match &options.cql {
            Some(query) => Some(hits(home, options, query, filter.as_ref(), scratch, &mut generations)?),
            None => None,
        };
        Ok(Selection {
            described,
            filter: filter.as_ref().map(Filter::compile).transpose()?,
            hits,
            generations,
            hidden: hidden::read(home)?,
            removed: Removed::read(home)?,
            labels: labels(home)?,
            purpose,
            extent,
            shut: if purpose == Purpose::Train { shut_to_trainers(home)? } else { HashMap::new() },
        })
    }

    /// The documents with a hit on a day, ordered by id, if a query was given.
    pub fn hits_of(&self, day: &str) -> Result<Option<Arc<[u128]>>> {
        let Some(hits) = &self.hits else { return Ok(None) };
        let day = Day::parse(day).with_context(|| format!("invalid date {day}"))?;
        Ok(Some(hits.of(day.0)?.into()))
    }

    /// Parses a stored document and decides whether it is exported.
    pub fn item(
        &self,
        stored: StoredDocument,
        hits: Option<&[u128]>,
        needs_tokens: bool,
    ) -> Result<std::result::Result<ExportItem, Exclusion>> {
        let mut document: Document = serde_json::from_slice(&stored.line).with_context(|| {
            format!(
                "docs/{}/{}.jsonl.zst contains an invalid line; run `tidings rebuild --from clean`",
                stored.language, stored.day
            )
        })?;
        let mut attributes = match &stored.text {
            Some(text) => text.about.clone(),
            None => {
                let labels = self.labels.get(&plain(&document.feed)).map(Vec::as_slice).unwrap_or_default();
                tidings_annotate::attributes(&document, labels)
            }
        };
        stored.day.clone_into(&mut attributes.seen);
        if let Err(reason) = self.matches(&document, &attributes, hits) {
            return Ok(Err(reason.into()));
        }
        if stored.is_superseded {
            return Ok(Err(Reason::Superseded.into()));
        }
        let is_new = match &stored.verdict {
            Some(verdict) => source::keep_new(&mut document, verdict)?,
            None => !needs_tokens || stored.text.is_some(),
        };
        if !is_new {
            return Ok(Err(Reason::Duplicate.into()));
        }
        if let Err(signal) = self.permits(&document, &attributes) {
            return Ok(Err(Exclusion { reason: Reason::Rights(signal), url: Some(document.url) }));
        }
        Ok(Ok(ExportItem { document, attributes, text: stored.text, language: stored.language }))
    }

    /// Whether a document matches the filter and the query, and is neither hidden nor removed.
    fn matches(
        &self,
        document: &Document,
        attributes: &Attributes,
        hits: Option<&[u128]>,
    ) -> std::result::Result<(), Reason> {
        let id = format!("{:032x}", attributes.id);
        let field = |name: &str| match name {
            "id" => Some(id.as_str()),
            "url" => Some(attributes.url.as_str()),
            "title" => Some(attributes.title.as_str()),
            "date" => Some(attributes.date.as_str()),
            "seen" => Some(attributes.seen.as_str()),
            other => attributes.field(other),
        };
        if self.filter.as_ref().is_some_and(|filter| !filter.admits(&field)) {
            return Err(Reason::NotSelected);
        }
        if hits.is_some_and(|hits| hits.binary_search(&attributes.id).is_err()) {
            return Err(Reason::NoHit);
        }
        if self.hidden.contains(&document.id) || self.hidden.contains(&document.url) {
            return Err(Reason::Hidden);
        }
        // A tombstone applies as soon as it is set, even while files still contain the page.
        if self.removed.covers(&document.url).is_some() || self.removed.document(&document.id).is_some() {
            return Err(Reason::Removed);
        }
        Ok(())
    }

    /// Checks whether the rights of a document permit the purpose; the error is the name of the signal that forbids it.
    fn permits(&self, document: &Document, attributes: &Attributes) -> std::result::Result<(), &'static str> {
        let mut signals = purpose::signals(document, attributes.field("availability"));
        if self.is_shut_to_trainers(document) {
            signals.push(Signal::ShutToTrainers);
        }
        purpose::decide(&signals, self.purpose, self.extent)
    }

    fn is_shut_to_trainers(&self, document: &Document) -> bool {
        let robots = document.rights.robots.as_ref().and_then(|robots| self.shut.get(&robots.digest));
        robots.is_some_and(|rules| is_shut(rules, &document.url))
    }
}

impl SelectionOptions {
    /// Combines all conditions except the query with the filter of a virtual corpus.
    fn combined_filter(&self, corpus: Option<Filter>) -> Result<Option<Filter>> {
        let quoted = |text: &str| format!("\"{}\"", text.replace(['"', '\\'], ""));
        let from = self.from.as_ref().map(|date| format!("date>={}", quoted(date)));
        let to = self.to.as_ref().map(|date| format!("date<={}", quoted(date)));
        let sites: Vec<String> = self.sites.iter().map(|site| format!("site=={}", quoted(site))).collect();
        let sites = (!sites.is_empty()).then(|| format!("({})", sites.join(" | ")));
        let mut all = corpus;
        for text in [from, to, sites, self.filter.clone()].into_iter().flatten() {
            all = Filter::both(all, Some(virtual_corpora::parse_filter(&text)?));
        }
        Ok(all)
    }
}

/// Runs the query on the indexes of the selected languages; returns the documents with a hit.
fn hits(
    home: &Home,
    options: &SelectionOptions,
    text: &str,
    filter: Option<&Filter>,
    scratch: &Path,
    generations: &mut BTreeMap<String, u64>,
) -> Result<DayIds> {
    let query = parse_query(text)?;
    let mut found = DayIdsBuilder::new(scratch);
    each_document_with_hit(home, options, (&query, text), filter, generations, |day, id| Ok(found.push(day.0, id)?))?;
    Ok(found.finish()?)
}

/// A filter with the ids of the documents that have a hit of each query of `has("…")`: documents are exported from their
/// files, which know nothing of the index.
fn with_hits(
    home: &Home,
    options: &SelectionOptions,
    filter: &Filter,
    generations: &mut BTreeMap<String, u64>,
) -> Result<Filter> {
    filter.resolved(&mut |query| {
        let mut ids = HashSet::new();
        let text = query.to_string();
        each_document_with_hit(home, options, (query, &text), None, generations, |_, id| {
            ids.insert(id);
            Ok(())
        })?;
        Ok(Arc::new(HitDocuments::Ids(ids)))
    })
}

/// Passes the day on which it was first seen and the id of each document with a hit, in the indexes of the selected languages.
fn each_document_with_hit(
    home: &Home,
    options: &SelectionOptions,
    (query, text): (&Query, &str),
    filter: Option<&Filter>,
    generations: &mut BTreeMap<String, u64>,
    mut each: impl FnMut(Day, u128) -> Result<()>,
) -> Result<()> {
    let languages: Vec<String> = home
        .indexed()?
        .into_iter()
        .filter(|code| options.languages.is_empty() || options.languages.contains(code))
        .collect();
    if languages.is_empty() {
        bail!("no index to run the query on; run `tidings compile` first");
    }
    for code in languages {
        let engine = Engine::new(Snapshot::open(&home.index_of(&code))?);
        let search = engine.search(query, MatchRule::Shortest, filter).map_err(|error| explain(error, text))?;
        // Hits of a segment are sorted by position, so that those of a document are adjacent.
        let mut last = (u32::MAX, 0);
        let mut kept = Ok(());
        search.each(&Limits::default(), |hit| {
            if kept.is_err() || (hit.segment, hit.start) < last && hit.segment == last.0 {
                return;
            }
            let segment = engine.snapshot().segments()[hit.segment as usize].segment();
            let document = segment.document_at(hit.start);
            last = (hit.segment, segment.tokens_of(document).end);
            // A document is stored under the day on which it was first seen.
            kept = each(segment.seen(document), segment.ids().get(document as usize).unwrap_or(0));
        });
        kept?;
        engine.intact()?;
        generations.insert(code, engine.snapshot().generation());
    }
    Ok(())
}

/// The robots.txt rules for training crawlers, for files that name any of them.
fn shut_to_trainers(home: &Home) -> Result<HashMap<String, Vec<Robots>>> {
    let mut shut = HashMap::new();
    rules::kept(home, "robots", |digest, body| {
        let read = as_trainers_read(body);
        if !read.is_empty() {
            shut.insert(digest.to_owned(), read);
        }
    })?;
    Ok(shut)
}

fn as_trainers_read(robots: &str) -> Vec<Robots> {
    let lower = robots.to_ascii_lowercase();
    let named = TRAINERS.iter().filter(|name| lower.contains(&name.to_ascii_lowercase()));
    named.map(|name| Robots::parse(robots.as_bytes(), name)).collect()
}

/// Whether any of these rules forbids a page.
fn is_shut(rules: &[Robots], url: &str) -> bool {
    let url = url::Url::parse(url).ok();
    let path = url.as_ref().map_or("/", |url| &url[url::Position::BeforePath..url::Position::AfterQuery]);
    rules.iter().any(|rules| !rules.allows(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_for_training_crawlers_are_read_from_robots_txt() {
        let rules =
            as_trainers_read("User-agent: *\nAllow: /\n\nUser-agent: gptbot\nUser-agent: CCBot\nDisallow: /news/\n");
        assert_eq!(rules.len(), 2);
        assert!(is_shut(&rules, "http://e.org/news/1?a=b") && !is_shut(&rules, "http://e.org/about"));
        assert!(
            as_trainers_read("User-agent: *\nDisallow: /private\n").is_empty(),
            "a file that names none of them has no rules"
        );
    }

    fn selection(purpose: Purpose) -> Selection {
        Selection {
            filter: None,
            described: None,
            hits: None,
            generations: BTreeMap::new(),
            hidden: BTreeSet::new(),
            removed: Removed::default(),
            labels: FeedLabels::default(),
            purpose,
            extent: Extent::Whole,
            shut: HashMap::new(),
        }
    }

    fn document(url: &str) -> Document {
        Document { id: format!("{:032x}", 7), url: url.to_owned(), ..Document::default() }
    }

    fn stored(document: &Document) -> StoredDocument {
        StoredDocument { line: serde_json::to_vec(document).unwrap(), ..StoredDocument::default() }
    }

    fn reason(selection: &Selection, document: &Document) -> Option<Reason> {
        selection.item(stored(document), None, false).unwrap().err().map(|exclusion| exclusion.reason)
    }

    #[test]
    fn conditions_are_combined_into_one_filter() {
        let options = SelectionOptions {
            from: Some("2026-01".to_owned()),
            sites: vec!["a.example".to_owned(), "b.example\"".to_owned()],
            filter: Some("topic=sport".to_owned()),
            ..SelectionOptions::default()
        };
        let corpus = virtual_corpora::parse_filter("lang=de").unwrap();
        let filter = options.combined_filter(Some(corpus)).unwrap().unwrap().compile().unwrap();
        let admits = |site: &str, date: &str, topic: &str| {
            let fields = BTreeMap::from([("site", site), ("date", date), ("topic", topic), ("lang", "de")]);
            filter.admits(&|name: &str| fields.get(name).copied())
        };
        assert!(admits("a.example", "2026-01-03", "sport") && admits("b.example", "2027-05-01", "sport"));
        assert!(!admits("c.example", "2026-01-03", "sport") && !admits("a.example", "2025-12-31", "sport"));
        assert!(!admits("a.example", "2026-01-03", "weather"));
        assert!(SelectionOptions::default().combined_filter(None).unwrap().is_none());
        let wrong = SelectionOptions { filter: Some("topic=".to_owned()), ..SelectionOptions::default() };
        assert!(wrong.combined_filter(None).unwrap_err().to_string().contains("invalid filter"));
    }

    #[test]
    fn documents_without_a_match_are_not_losses() {
        let mut selection = selection(Purpose::Research);
        let page = document("https://a.example/1");
        assert_eq!(reason(&selection, &page), None);
        selection.filter =
            Some(virtual_corpora::parse_filter("url=\"https://b.example/\"").unwrap().compile().unwrap());
        assert_eq!(reason(&selection, &page), Some(Reason::NotSelected));
        selection.filter = None;
        let hit = |ids: &[u128]| selection.item(stored(&page), Some(ids), false).unwrap().is_ok();
        assert!(hit(&[3, 7, 9]) && !hit(&[3, 9]));
    }

    #[test]
    fn hidden_documents_are_excluded_by_id_and_url() {
        let mut selection = selection(Purpose::Research);
        let page = document("https://a.example/1");
        selection.hidden.insert(page.url.clone());
        assert_eq!(reason(&selection, &page), Some(Reason::Hidden));
        selection.hidden = [page.id.clone()].into();
        assert_eq!(reason(&selection, &page), Some(Reason::Hidden));
    }

    #[test]
    fn a_document_without_new_text_is_a_duplicate_in_token_formats() {
        let selection = selection(Purpose::Research);
        let page = document("https://a.example/1");
        let exclusion = selection.item(stored(&page), None, true).unwrap().err().unwrap();
        assert_eq!(exclusion, Reason::Duplicate.into());
        assert!(!reason(&selection, &page).is_some_and(Reason::is_loss));
    }

    #[test]
    fn rights_exclude_by_purpose_and_the_url_is_reported() {
        let page = document("https://a.example/news/1");
        assert_eq!(reason(&selection(Purpose::Research), &page), None);
        let public = selection(Purpose::Public).item(stored(&page), None, false).unwrap().err().unwrap();
        assert_eq!((public.reason.name(), public.url.as_deref()), ("no-licence", Some(page.url.as_str())));
        assert!(public.reason.is_loss());
    }

    #[test]
    fn pages_that_forbid_training_crawlers_are_not_exported_for_training() {
        let mut selection = selection(Purpose::Train);
        selection.shut.insert("d1".to_owned(), as_trainers_read("User-agent: GPTBot\nDisallow: /news/\n"));
        let mut page = document("https://a.example/news/1");
        assert_eq!(reason(&selection, &page), None);
        page.rights.robots = Some(tidings_model::RobotsEvidence { digest: "d1".to_owned(), ..Default::default() });
        assert_eq!(reason(&selection, &page), Some(Reason::Rights("shut-to-trainers")));
        page.url = "https://a.example/about".to_owned();
        assert_eq!(reason(&selection, &page), None);
    }

    #[test]
    fn an_invalid_line_is_an_error_with_its_file() {
        let stored = StoredDocument {
            line: b"{".to_vec(),
            day: "2026-03-01".to_owned(),
            language: "de".to_owned(),
            ..StoredDocument::default()
        };
        let error = selection(Purpose::Research).item(stored, None, false).err().unwrap();
        assert!(error.to_string().contains("docs/de/2026-03-01.jsonl.zst"));
    }
}
