//! Processing of feed responses: parses the feed, lists its entries, updates its state.

use std::collections::HashSet;
use std::sync::Arc;

use http::header;
use tidings_feeds::NotAFeed;
use tidings_feeds::schedule::server_hints::{fresh_s, retry_after_s};
use tidings_feeds::schedule::{EntrySighting, PollFailure, ServerHints};
use tidings_fetch::decode::{Ceiling, Decoder};
use tidings_fetch::{FetchResult, HttpResponse, rights};
use tidings_model::{FailureKind, Feed, FeedEntry, Repair, Status, address};
use tidings_store::feeds::{FeedState, Polled, SourceKind};
use tidings_store::journal::Record;
use tidings_store::rfc3339;
use xxhash_rust::xxh3::xxh3_64;

use super::feed_text::TextBudget;
use super::page_sources::{PageRules, PolledPage};
use super::poll_policies::PollPolicies;
use super::publishing_rate::{
    format_server_hints, hints_of, publishing_rate_of, seed_of, store_next_poll, store_publishing_rate,
};
use super::sitemaps::{PollSource, SitemapRules};
use super::{Batch, Processor};
use crate::harvest::MovedFeeds;

/// The number of consecutive permanent redirects after which a move is accepted: servers under maintenance redirect all
/// requests to their front page for an hour.
pub const MOVES_TO_BELIEVE: u32 = 3;

/// The name of the count of entries of sitemaps that are too old to be polled.
pub const HISTORY: &str = "entries of history";

/// What the user can do about a web page in the list.
const PAGE_HINT: &str = "; with kind=page in its line of feeds.txt, its links to articles are polled";

/// The maximum length of a stored title.
const MAX_TITLE_CHARS: usize = 500;

/// Reads feeds and lists their entries.
pub struct FeedProcessor {
    /// The stored state of each feed, by job.
    known: Arc<Vec<FeedState>>,
    decoder: Decoder,
    /// How often sources are polled at present.
    policies: PollPolicies,
    texts: TextBudget,
    /// The kind of each source, by job; empty if all are feeds.
    sources: Arc<Vec<PollSource>>,
    sitemaps: SitemapRules,
    pages: Arc<PageRules>,
    moved: MovedFeeds,
}

/// The document of a poll.
struct PolledDocument {
    feed: Feed,
    /// Its kind: a line for a page may lead to a feed.
    kind: SourceKind,
    /// The fingerprint of its body, or of the articles that a page links to.
    body: String,
    /// Entries of a sitemap that are too old to be polled.
    history: u32,
    /// The entries as the schedule sees them.
    sightings: Vec<EntrySighting>,
}

impl FeedProcessor {
    /// A processor for these feeds.
    pub fn new(known: Arc<Vec<FeedState>>, ceiling: Ceiling, policies: PollPolicies) -> FeedProcessor {
        FeedProcessor {
            known,
            decoder: Decoder::new(ceiling),
            policies,
            texts: TextBudget::default(),
            sources: Arc::default(),
            sitemaps: SitemapRules::default(),
            pages: Arc::default(),
            moved: MovedFeeds::default(),
        }
    }

    /// The same processor for sources of several kinds, by job.
    pub fn with_sources(self, sources: Arc<Vec<PollSource>>, sitemaps: SitemapRules) -> FeedProcessor {
        FeedProcessor { sources, sitemaps, ..self }
    }

    /// The same processor with what is known of the sites of pages.
    pub fn with_pages(self, pages: Arc<PageRules>) -> FeedProcessor {
        FeedProcessor { pages, ..self }
    }

    /// The same processor with a list of the feeds that have moved to hosts of other machines.
    pub(crate) fn with_moved(self, moved: MovedFeeds) -> FeedProcessor {
        FeedProcessor { moved, ..self }
    }

    /// The poll's outcome with the feed's next poll.
    fn follow(&mut self, result: &FetchResult, batch: &mut Batch) -> FeedState {
        let since = self.known[result.job as usize].succeeded.parse().ok();
        let (mut state, document) = self.poll(result, batch);
        let now = result.at;
        let mut publishing = publishing_rate_of(&state);
        match (state.polled, &document) {
            (Polled::Listed, Some(PolledDocument { feed, kind, sightings, .. })) => {
                let new = match kind {
                    SourceKind::Page => {
                        let keys: Vec<u32> = sightings.iter().map(|entry| entry.key).collect();
                        publishing.observe_links(now, since, &keys)
                    }
                    SourceKind::Feed | SourceKind::Sitemap => {
                        publishing.observe_entries(now, since, sightings, &feed.pace)
                    }
                };
                state.server_hints = format_server_hints(&feed.pace);
                let before = &self.known[result.job as usize];
                if new > 0 && since.is_some() && kept_its_validators(before, &state) {
                    state.false_304s += 1;
                }
            }
            (Polled::Unchanged, _) => publishing.observe_unchanged(now, since),
            _ => {}
        }
        store_publishing_rate(&mut state, &publishing);
        let seed = seed_of(&state);
        let hints = hints_of(&state, said(result));
        let kind = self.sources.get(result.job as usize).map(|source| source.kind).unwrap_or_default();
        let policy = self.policies.of(kind);
        let poll = match state.polled {
            Polled::Listed | Polled::Unchanged => policy.next_poll(&publishing, now, seed, &hints),
            Polled::Failed | Polled::Gone => {
                let failure = PollFailure { times: state.failures, hard: is_hard(result) };
                policy.after_failure(&publishing, now, seed, &said(result), failure)
            }
        };
        store_next_poll(&mut state, poll, now);
        state
    }

    fn poll(&mut self, result: &FetchResult, batch: &mut Batch) -> (FeedState, Option<PolledDocument>) {
        let mut state = self.known[result.job as usize].clone();
        let now = rfc3339(result.at);
        state.checked = now.clone();
        note_move(&mut state, result);
        let answer = match &result.result {
            Ok(answer) => answer,
            Err((Status::Failed(FailureKind::MovedShard), _)) => return (self.moved_away(state, result), None),
            Err((status, detail)) => return (failed(state, format!("{status}: {detail}")), None),
        };
        let state = match answer.status.as_u16() {
            304 => unchanged(FeedState { conditional: state.conditional + 1, ..state }, now),
            410 => FeedState { polled: Polled::Gone, error: "410: gone".to_owned(), ..state },
            200..300 => match self.read(&state, result, answer) {
                Ok(None) => unchanged(remember_validators(state, answer), now),
                Ok(Some(document)) => {
                    let source = self.sources.get(result.job as usize).and_then(|source| source.index.as_deref());
                    let listing = source.unwrap_or(&state.feed).to_owned();
                    let feed = &document.feed;
                    let without_link = list(&listing, &state, result, feed, &now, &mut self.texts, batch);
                    let state = remember_validators(state, answer);
                    let state = FeedState {
                        polled: Polled::Listed,
                        succeeded: now,
                        failures: 0,
                        error: String::new(),
                        body: document.body.clone(),
                        entries: feed.entries.len() as u32,
                        without_link,
                        history: document.history,
                        title: clip(&feed.title),
                        ..state
                    };
                    if document.history > 0 {
                        batch.counters.add(HISTORY, document.history.into());
                    }
                    return (state, Some(document));
                }
                Err(fault) => failed(state, fault),
            },
            code => failed(state, format!("{code}: HTTP status {}", answer.status)),
        };
        (state, None)
    }

    /// The state of a feed whose host belongs to another machine, or that redirects to one. The feed in the list is
    /// polled again: a redirect may end.
    fn moved_away(&self, state: FeedState, result: &FetchResult) -> FeedState {
        if result.redirects.is_empty() {
            return FeedState { checked: self.known[result.job as usize].checked.clone(), ..state };
        }
        self.moved.lock().expect("no panic while held").push((state.feed.clone(), result.url.clone()));
        failed(state, format!("{}: it redirects to a host of another machine", FailureKind::MovedShard))
    }

    /// The document in a response; `None` if the body is unchanged.
    fn read(
        &mut self,
        state: &FeedState,
        result: &FetchResult,
        answer: &HttpResponse,
    ) -> Result<Option<PolledDocument>, String> {
        let text = |name| answer.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let encodings = text(header::CONTENT_ENCODING).unwrap_or_default();
        let body = self
            .decoder
            .decode_file(&encodings, &answer.body)
            .map_err(|status| format!("{status}: cannot decompress the body"))?;
        let fingerprint = format!("{:016x}", xxh3_64(&body));
        if fingerprint == state.body {
            return Ok(None);
        }
        let content_type = text(header::CONTENT_TYPE);
        let source = self.sources.get(result.job as usize);
        let kind = source.map(|source| source.kind).unwrap_or_default();
        if kind == SourceKind::Sitemap {
            let feed = source.and_then(|source| source.index.as_deref()).unwrap_or(&state.feed);
            let read = self.sitemaps.read(&body, content_type.as_deref(), &result.url, feed, result.at);
            let map = read.map_err(|fault| format!("not-a-sitemap: {fault}"))?;
            let (feed, history, sightings) = (map.feed, map.history, map.sightings);
            return Ok(Some(PolledDocument { feed, kind, body: fingerprint, history, sightings }));
        }
        match tidings_feeds::read(&body, content_type.as_deref(), &result.url) {
            Ok(feed) => {
                let sightings = sightings(&feed);
                Ok(Some(PolledDocument { feed, kind: SourceKind::Feed, body: fingerprint, history: 0, sightings }))
            }
            Err(_) if kind == SourceKind::Page => {
                let directives = rights::robots_directives(&answer.headers);
                let read = self.pages.read(&body, content_type.as_deref(), &result.url, directives, result.at);
                let PolledPage { feed, fingerprint } = read.map_err(|fault| fault.to_string())?;
                if fingerprint == state.body {
                    return Ok(None);
                }
                let sightings = sightings(&feed);
                Ok(Some(PolledDocument { feed, kind, body: fingerprint, history: 0, sightings }))
            }
            Err(fault @ NotAFeed::Html) => Err(format!("not-a-feed: {fault}{PAGE_HINT}")),
            Err(fault) => Err(format!("not-a-feed: {fault}")),
        }
    }
}

impl Processor for FeedProcessor {
    fn process(&mut self, results: Vec<FetchResult>) -> Batch {
        let mut batch = Batch::default();
        for result in results {
            let state = self.follow(&result, &mut batch);
            if state.polled == Polled::Failed {
                log::debug!("{}: {}", state.feed, state.error);
            }
            let provisional = matches!(&result.result, Err((status, _)) if status.is_network_trouble());
            let word = match &result.result {
                Err((status, _)) => status.to_string(),
                Ok(_) => state.polled.word().to_owned(),
            };
            batch.counters.add(word, 1);
            let step = if provisional { &mut batch.provisional } else { &mut batch.step };
            step.push(&Record::Poll(Box::new(state)));
        }
        batch
    }
}

fn failed(state: FeedState, error: String) -> FeedState {
    FeedState { polled: Polled::Failed, failures: state.failures + 1, error, ..state }
}

fn unchanged(state: FeedState, now: String) -> FeedState {
    FeedState { polled: Polled::Unchanged, succeeded: now, failures: 0, error: String::new(), ..state }
}

/// Validators are sent back exactly as received.
fn remember_validators(state: FeedState, answer: &HttpResponse) -> FeedState {
    let text = |name| answer.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    FeedState { etag: text(header::ETAG), last_modified: text(header::LAST_MODIFIED), conditional: 0, ..state }
}

/// Whether the server sent the same validators with a different document.
fn kept_its_validators(before: &FeedState, after: &FeedState) -> bool {
    let given = !after.etag.is_empty() || !after.last_modified.is_empty();
    given && before.etag == after.etag && before.last_modified == after.last_modified
}

/// The key of an entry in the window of the schedule.
fn key(entry: &FeedEntry) -> u32 {
    let name = entry.link.as_deref().or(entry.id.as_deref()).unwrap_or(&entry.title);
    xxh3_64(name.as_bytes()) as u32
}

/// The entries of a feed as the schedule sees them.
fn sightings(feed: &Feed) -> Vec<EntrySighting> {
    feed.entries.iter().map(|entry| EntrySighting { key: key(entry), date: entry.date() }).collect()
}

/// Caching and retry hints in the response headers.
fn said(result: &FetchResult) -> ServerHints {
    let Ok(answer) = &result.result else { return ServerHints::default() };
    let text = |name| answer.headers.get(name).and_then(|value| value.to_str().ok());
    let fresh = fresh_s(text(header::CACHE_CONTROL), text(header::AGE), text(header::EXPIRES), result.at);
    let failed = answer.status.is_client_error() || answer.status.is_server_error();
    ServerHints {
        // The cache lifetime of an error response is not meaningful.
        fresh_s: fresh.filter(|_| !failed),
        retry_after_s: retry_after_s(text(header::RETRY_AFTER), result.at).filter(|_| failed),
        ..ServerHints::default()
    }
}

/// Whether a failure is probably permanent: the server responds with a client error.
fn is_hard(result: &FetchResult) -> bool {
    match &result.result {
        Err((status, _)) => !status.is_network_trouble() || *status == Status::Failed(FailureKind::Dns),
        Ok(answer) => !answer.status.is_server_error() && !matches!(answer.status.as_u16(), 408 | 425 | 429),
    }
}

fn note_move(state: &mut FeedState, result: &FetchResult) {
    let permanent = |status: u16| matches!(status, 301 | 308);
    let moved = !result.redirects.is_empty() && result.redirects.iter().all(|redirect| permanent(redirect.status));
    let answered = matches!(&result.result, Ok(answer) if answer.status.as_u16() < 400);
    if moved && answered {
        state.moved_times = if state.moved_to == result.url { state.moved_times + 1 } else { 1 };
        state.moved_to = result.url.clone();
    } else if answered && state.moved_times < MOVES_TO_BELIEVE {
        // It responds at the original URL, so it has not moved.
        (state.moved_to, state.moved_times) = (String::new(), 0);
    } else if !answered && state.moved_times >= MOVES_TO_BELIEVE {
        // The new URL fails: the next poll uses the old one again.
        state.moved_times = 0;
    }
}

/// Adds the entries of a feed to the journal, as those of `listing`. Returns the number of entries without a link to a
/// page.
fn list(
    listing: &str,
    state: &FeedState,
    result: &FetchResult,
    feed: &Feed,
    now: &str,
    texts: &mut TextBudget,
    batch: &mut Batch,
) -> u32 {
    let known: HashSet<u32> = publishing_rate_of(state).window.into_iter().collect();
    let mut listed = HashSet::new();
    let mut without_link = 0;
    for entry in &feed.entries {
        let link = entry.link.as_deref().and_then(|link| address::normalise(link, Some(&result.url)));
        let Some(url) = link else {
            without_link += 1;
            log::debug!("{}: the entry “{}” has no link to a page", state.feed, clip(&entry.title));
            continue;
        };
        if !listed.insert(url.clone()) {
            continue;
        }
        let published = entry.published.or(entry.updated).map(rfc3339).unwrap_or_default();
        batch.step.push(&Record::Listed {
            feed: listing.into(),
            seen: now.into(),
            published: published.into(),
            url: url.into(),
            title: clip(&entry.title).into(),
            updated: entry.updated.map(rfc3339).unwrap_or_default().into(),
            text: texts.text_of(entry, key(entry), &known).map(Into::into),
        });
    }
    batch.counters.add("entries listed", listed.len() as u64);
    if feed.repairs.contains(&Repair::TooManyEntries) {
        log::warn!("{}: {}", state.feed, Repair::TooManyEntries);
        batch.counters.add("feeds with too many entries", 1);
    }
    if without_link > 0 {
        batch.counters.add("entries without link", without_link.into());
    }
    without_link
}

/// Collapses white space and limits the length.
fn clip(title: &str) -> String {
    let mut clipped = String::new();
    for word in title.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !clipped.is_empty() {
            clipped.push(' ');
        }
        clipped.push_str(word);
    }
    clipped.chars().take(MAX_TITLE_CHARS).collect()
}

#[cfg(test)]
mod tests;
