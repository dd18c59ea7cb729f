//! Which documents leave the house: those that were asked for, and may.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use tidings_fetch::robots::Robots;
use tidings_index::{Day, Snapshot};
use tidings_model::purpose::{self, Extent, Purpose, Signal};
use tidings_model::{Annotated, Attributes, Document};
use tidings_query::engine::{Engine, Limits};
use tidings_query::filter::CompiledFilter;
use tidings_query::{Filter, Rule, cql};
use tidings_store::removed::Removed;
use tidings_store::sorted::{DayIds, DayIdsBuilder};
use tidings_store::{Home, hidden, rules};

use super::source::{self, Raw};
use crate::cmd::query::{corpus, parse_filter};
use tidings_pipeline::stage::annotate::{FeedLabels, labels, plain};

/// A document that leaves the house.
pub struct Item {
    /// The document, without what was published before.
    pub document: Document,
    /// What one may filter by.
    pub attributes: Attributes,
    /// Its tokens, where they were asked for.
    pub text: Option<Annotated>,
    /// The language of its shelf.
    pub language: String,
}

/// Why a document stays in the house.
pub struct Stays {
    /// In a word.
    pub reason: &'static str,
    /// Its address, where somebody asked for it.
    pub url: Option<String>,
}

/// What somebody asked for on the command line.
#[derive(Debug, Default, clap::Args)]
pub struct Asked {
    /// Only documents dated on or after this day, month or year
    #[arg(long, value_name = "DATE")]
    from: Option<String>,
    /// Only documents dated on or before this day, month or year
    #[arg(long, value_name = "DATE")]
    to: Option<String>,
    /// Only this language, such as de; may be repeated
    #[arg(long, value_name = "CODE")]
    pub lang: Vec<String>,
    /// Only this site, such as gazette.example; may be repeated
    #[arg(long, value_name = "HOST")]
    site: Vec<String>,
    /// Only documents such as "site=gazette.example date>=2026-01 topic=sport"
    #[arg(long, value_name = "FILTER")]
    filter: Option<String>,
    /// Only documents of a virtual corpus that `tidings corpus save` has named
    #[arg(long = "in", value_name = "NAME")]
    corpus: Option<String>,
    /// Only documents with a hit of this query, which the index is asked for
    #[arg(long, value_name = "QUERY")]
    cql: Option<String>,
}

/// Crawlers that gather text for the training of models and say so.
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

/// Decides about documents.
pub struct Selection {
    filter: Option<CompiledFilter>,
    /// The filter as text, for the manifest.
    pub described: Option<String>,
    /// The documents with a hit, where a query was given.
    hits: Option<DayIds>,
    /// The generation of each index that was asked.
    pub generations: BTreeMap<String, u64>,
    hidden: BTreeSet<String>,
    removed: Removed,
    labels: FeedLabels,
    purpose: Purpose,
    extent: Extent,
    /// What robots.txt files say to trainers, by digest.
    shut: HashMap<String, Vec<Robots>>,
}

impl Selection {
    /// Reads what was asked for.
    pub fn open(home: &Home, asked: &Asked, purpose: Purpose, extent: Extent, scratch: &Path) -> Result<Selection> {
        let filter = asked.filter(home)?;
        let mut generations = BTreeMap::new();
        let hits = match &asked.cql {
            Some(query) => Some(hits(home, asked, query, filter.as_ref(), scratch, &mut generations)?),
            None => None,
        };
        Ok(Selection {
            described: filter.as_ref().map(ToString::to_string),
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

    /// The documents with a hit on a day, in the order of their ids, where a query was given.
    pub fn hits_of(&self, day: &str) -> Result<Option<Arc<[u128]>>> {
        let Some(hits) = &self.hits else { return Ok(None) };
        let day = Day::parse(day).with_context(|| format!("{day} is no day"))?;
        Ok(Some(hits.of(day.0)?.into()))
    }

    /// Makes a document of what lies on the shelf, if it was asked for, is in the corpus, and may leave.
    pub fn item(
        &self,
        raw: Raw,
        hits: Option<&[u128]>,
        wants_tokens: bool,
    ) -> Result<std::result::Result<Item, Stays>> {
        let stays = |reason| Ok(Err(Stays { reason, url: None }));
        let mut document: Document = serde_json::from_slice(&raw.line)
            .with_context(|| format!("docs/{}/{}.jsonl.zst holds a line that is no document", raw.language, raw.day))?;
        let mut attributes = match &raw.text {
            Some(text) => text.about.clone(),
            None => {
                let labels = self.labels.get(&plain(&document.feed)).map(Vec::as_slice).unwrap_or_default();
                tidings_annotate::attributes(&document, labels)
            }
        };
        raw.day.clone_into(&mut attributes.seen);
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
            return stays("not-asked-for");
        }
        if hits.is_some_and(|hits| hits.binary_search(&attributes.id).is_err()) {
            return stays("no-hit");
        }
        if self.hidden.contains(&document.id) || self.hidden.contains(&document.url) {
            return stays("hidden");
        }
        // A tombstone counts from the moment it is set, whatever still lies on the shelves.
        if self.removed.covers(&document.url).is_some() || self.removed.document(&document.id).is_some() {
            return stays("removed");
        }
        let is_new = match &raw.verdict {
            Some(verdict) => source::keep_new(&mut document, verdict)?,
            None => !wants_tokens || raw.text.is_some(),
        };
        if !is_new {
            return stays("duplicate");
        }
        let mut signals = purpose::signals(&document, attributes.field("availability"));
        if self.is_shut_to_trainers(&document) {
            signals.push(Signal::ShutToTrainers);
        }
        if let Err(reason) = purpose::decide(&signals, self.purpose, self.extent) {
            return Ok(Err(Stays { reason, url: Some(document.url) }));
        }
        Ok(Ok(Item { document, attributes, text: raw.text, language: raw.language }))
    }

    fn is_shut_to_trainers(&self, document: &Document) -> bool {
        let robots = document.rights.robots.as_ref().and_then(|robots| self.shut.get(&robots.digest));
        robots.is_some_and(|rules| is_shut(rules, &document.url))
    }
}

impl Asked {
    /// Everything that was asked for, as one filter.
    fn filter(&self, home: &Home) -> Result<Option<Filter>> {
        let quoted = |text: &str| format!("\"{}\"", text.replace(['"', '\\'], ""));
        let from = self.from.as_ref().map(|date| format!("date>={}", quoted(date)));
        let to = self.to.as_ref().map(|date| format!("date<={}", quoted(date)));
        let sites: Vec<String> = self.site.iter().map(|site| format!("site=={}", quoted(site))).collect();
        let sites = (!sites.is_empty()).then(|| format!("({})", sites.join(" | ")));
        let mut all = match &self.corpus {
            Some(name) => Some(corpus::find(home, name)?),
            None => None,
        };
        for text in [from, to, sites, self.filter.clone()].into_iter().flatten() {
            all = Filter::both(all, Some(parse_filter(&text)?));
        }
        Ok(all)
    }

    /// What was asked for besides the filter, for the manifest.
    pub fn query(&self) -> Option<&str> {
        self.cql.as_deref()
    }
}

/// The documents with a hit, by the indexes of the languages that were asked for.
fn hits(
    home: &Home,
    asked: &Asked,
    text: &str,
    filter: Option<&Filter>,
    scratch: &Path,
    generations: &mut BTreeMap<String, u64>,
) -> Result<DayIds> {
    let query = cql::parse(text).map_err(|error| anyhow!("the query is wrong: {}", error.render(text)))?;
    let languages: Vec<String> =
        home.indexed()?.into_iter().filter(|code| asked.lang.is_empty() || asked.lang.contains(code)).collect();
    if languages.is_empty() {
        bail!("there is no index to ask for the query; run `tidings compile` first");
    }
    let mut found = DayIdsBuilder::new(scratch);
    for code in languages {
        let engine = Engine::new(Snapshot::open(&home.index().join(&code))?);
        let search = engine.search(&query, Rule::Shortest, filter)?;
        // Hits of a segment come from left to right, so that a document's follow each other.
        let mut last = (u32::MAX, 0);
        let mut kept = Ok(());
        search.each(&Limits::default(), |hit| {
            if kept.is_err() || (hit.segment, hit.start) < last && hit.segment == last.0 {
                return;
            }
            let segment = engine.snapshot().segments()[hit.segment as usize].segment();
            let document = segment.document_at(hit.start);
            last = (hit.segment, segment.tokens_of(document).end);
            // A document lies on the shelf of the day on which it was first seen.
            kept = found.push(segment.seen(document).0, segment.ids()[document as usize]);
        });
        kept?;
        generations.insert(code, engine.snapshot().generation());
    }
    Ok(found.finish()?)
}

/// The robots.txt files that were obeyed, as trainers read them; those that treat trainers like us are left out.
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

/// Whether one of them may not read a page.
fn is_shut(rules: &[Robots], url: &str) -> bool {
    let url = url::Url::parse(url).ok();
    let path = url.as_ref().map_or("/", |url| &url[url::Position::BeforePath..url::Position::AfterQuery]);
    rules.iter().any(|rules| !rules.allows(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_robots_file_that_names_trainers_is_read_as_they_read_it() {
        let rules =
            as_trainers_read("User-agent: *\nAllow: /\n\nUser-agent: gptbot\nUser-agent: CCBot\nDisallow: /news/\n");
        assert_eq!(rules.len(), 2);
        assert!(is_shut(&rules, "http://e.org/news/1?a=b") && !is_shut(&rules, "http://e.org/about"));
        assert!(as_trainers_read("User-agent: *\nDisallow: /private\n").is_empty(), "who names nobody speaks to us");
    }
}
