//! Processing of feed responses: parses the feed, lists its entries, updates its state.

use std::collections::HashSet;
use std::sync::Arc;

use http::header;
use tidings_feeds::NotAFeed;
use tidings_feeds::schedule::server_hints::{fresh_s, retry_after_s};
use tidings_feeds::schedule::{EntrySighting, PollFailure, PollPolicy, ServerHints};
use tidings_fetch::decode::{Ceiling, Decoder};
use tidings_fetch::{FetchResult, HttpResponse, rights};
use tidings_model::{FailureKind, Feed, FeedEntry, Repair, Status, address};
use tidings_store::feeds::{FeedState, Polled, SourceKind};
use tidings_store::journal::Record;
use tidings_store::rfc3339;
use xxhash_rust::xxh3::xxh3_64;

use super::feed_text::TextBudget;
use super::page_sources::{PageRules, PolledPage};
use super::publishing_rate::{
    format_server_hints, hints_of, publishing_rate_of, seed_of, store_next_poll, store_publishing_rate,
};
use super::sitemaps::{PollSource, SitemapRules};
use super::{Batch, Processor};

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
    /// How often feeds are polled at present.
    policy: PollPolicy,
    texts: TextBudget,
    /// The kind of each source, by job; empty if all are feeds.
    sources: Arc<Vec<PollSource>>,
    sitemaps: SitemapRules,
    pages: Arc<PageRules>,
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
    pub fn new(known: Arc<Vec<FeedState>>, ceiling: Ceiling, policy: PollPolicy) -> FeedProcessor {
        FeedProcessor {
            known,
            decoder: Decoder::new(ceiling),
            policy,
            texts: TextBudget::default(),
            sources: Arc::default(),
            sitemaps: SitemapRules::default(),
            pages: Arc::default(),
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
        let poll = match state.polled {
            Polled::Listed | Polled::Unchanged => self.policy.next_poll(&publishing, now, seed, &hints),
            Polled::Failed | Polled::Gone => {
                let failure = PollFailure { times: state.failures, hard: is_hard(result) };
                self.policy.after_failure(&publishing, now, seed, &said(result), failure)
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
mod tests {
    use super::*;
    use crate::testing::{FEED, answer, answered, apply, failed, home_with_feeds, planned, redirected};

    const RSS: &str = "<rss version=\"2.0\"><channel><title> The\n Gazette </title>\
        <item><title>One</title><link>/1</link><pubDate>Sun, 01 Mar 2026 10:00:00 GMT</pubDate></item>\
        <item><title>Two</title><link>/2</link></item><item><title>Again</title><link>/2</link></item>\
        <item><title>No link</title></item></channel></rss>";

    fn known() -> FeedState {
        FeedState { feed: FEED.to_owned(), ..FeedState::default() }
    }

    /// The batch and the state of the feed after an answer.
    fn polled(known: FeedState, result: FetchResult) -> (Batch, FeedState) {
        let ceiling = Ceiling { max_bytes: 4 << 20, max_ratio: 100 };
        let policy = PollPolicy::fit(Default::default(), &[]);
        let mut processor = FeedProcessor::new(Arc::new(vec![known]), ceiling, policy);
        let mut batch = Batch::default();
        let state = processor.follow(&result, &mut batch);
        (batch, state)
    }

    fn ok(headers: &[(&'static str, &str)], body: &str) -> FetchResult {
        answered(0, FEED, answer(200, headers, body.as_bytes()))
    }

    fn status(status: u16, headers: &[(&'static str, &str)]) -> FetchResult {
        answered(0, FEED, answer(status, headers, b""))
    }

    #[test]
    fn a_feed_lists_each_url_once_and_counts_entries_without_link() {
        let (batch, state) = polled(known(), ok(&[], RSS));
        assert_eq!((state.polled, state.entries, state.title.as_str()), (Polled::Listed, 4, "The Gazette"));
        assert_eq!((batch.counters.get("entries listed"), batch.counters.get("entries without link")), (2, 1));
        assert_eq!(state.without_link, 1);
    }

    #[test]
    fn a_feed_with_too_many_entries_is_counted() {
        let items: String = (0..50_001).map(|number| format!("<item><link>/{number}</link></item>")).collect();
        let (batch, state) = polled(known(), ok(&[], &format!("<rss><channel>{items}</channel></rss>")));
        assert_eq!((state.entries, batch.counters.get("feeds with too many entries")), (50_000, 1));
        assert_eq!(polled(known(), ok(&[], RSS)).0.counters.get("feeds with too many entries"), 0);
    }

    #[test]
    fn a_guid_that_is_a_permalink_is_a_link() {
        let item =
            |guid: &str| format!("<rss version=\"2.0\"><channel><item><title>A</title>{guid}</item></channel></rss>");
        let (_, permalink) = polled(known(), ok(&[], &item("<guid>https://gazette.example/1</guid>")));
        let (_, opaque) = polled(known(), ok(&[], &item("<guid isPermaLink=\"false\">urn:7</guid>")));
        assert_eq!((permalink.without_link, opaque.without_link), (0, 1));
    }

    #[test]
    fn a_feed_that_is_a_gzip_file_is_read() {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packer, RSS.as_bytes()).unwrap();
        let packed = packer.finish().unwrap();
        let response = answer(200, &[("content-type", "application/gzip")], &packed);
        let (batch, state) = polled(known(), answered(0, FEED, response));
        assert_eq!((state.polled, batch.counters.get("entries listed")), (Polled::Listed, 2));
    }

    #[test]
    fn listed_entries_are_planned_with_resolved_urls() {
        let (_folder, pipeline) = home_with_feeds(FEED);
        let (mut batch, state) = polled(known(), ok(&[], RSS));
        batch.step.push(&Record::Poll(Box::new(state)));
        apply(pipeline.home(), "20260301T120000000Z-update", batch.step);
        let urls: Vec<String> = planned(pipeline.home()).into_iter().map(|row| row.0).collect();
        assert_eq!(urls, ["https://gazette.example/1", "https://gazette.example/2"]);
    }

    #[test]
    fn the_full_text_of_a_new_entry_is_held_for_its_page() {
        let (_folder, pipeline) = home_with_feeds(FEED);
        let text =
            "The river rose again during the night, and the fire brigade had to close two of the roads. ".repeat(12);
        let content = format!("<content:encoded><![CDATA[<p>{text}</p>]]></content:encoded>");
        let full = RSS.replace("<link>/1</link>", &format!("<link>/1</link>{content}"));
        let hold = |before: FeedState, run: &str| {
            let (mut batch, state) = polled(before, ok(&[], &full));
            batch.step.push(&Record::Poll(Box::new(state.clone())));
            let bytes = batch.step.bytes();
            apply(pipeline.home(), run, batch.step);
            (state, bytes)
        };
        let (state, bytes) = hold(known(), "20260301T120000000Z-update");
        let held = |path: &str| {
            let texts = tidings_store::feed_texts::FeedTexts::open(pipeline.home()).unwrap();
            texts.of(&format!("https://gazette.example{path}")).unwrap()
        };
        assert_eq!((held("/1"), held("/2")), (Some(format!("<p>{}</p>", text)), None));
        let (_, again) = hold(FeedState { body: String::new(), ..state }, "20260301T130000000Z-update");
        assert!(again + text.len() / 2 < bytes, "entries of the last poll are listed without their text");
        assert!(held("/1").is_some());
    }

    #[test]
    fn a_304_is_unchanged_and_counts_as_conditional() {
        let before = FeedState { failures: 4, error: "x".into(), conditional: 2, ..known() };
        let (batch, state) = polled(before, status(304, &[]));
        assert_eq!((state.polled, state.failures, state.conditional), (Polled::Unchanged, 0, 3));
        assert_eq!((state.error.as_str(), state.succeeded.as_str()), ("", "2026-03-01T12:00:00.000Z"));
        assert_eq!(batch.counters.get("entries listed"), 0);
    }

    #[test]
    fn an_unchanged_body_keeps_its_new_validators() {
        let (_, first) = polled(known(), ok(&[("etag", "\"a\"")], RSS));
        let (batch, second) =
            polled(first, ok(&[("etag", "\"b\""), ("last-modified", "Sun, 01 Mar 2026 11:00:00 GMT")], RSS));
        assert_eq!((second.polled, second.etag.as_str(), second.conditional), (Polled::Unchanged, "\"b\"", 0));
        assert_eq!(second.last_modified, "Sun, 01 Mar 2026 11:00:00 GMT");
        assert_eq!(batch.counters.get("entries listed"), 0);
    }

    #[test]
    fn a_410_is_permanent() {
        let (_, state) = polled(known(), status(410, &[]));
        assert_eq!((state.polled, state.error.as_str()), (Polled::Gone, "410: gone"));
    }

    #[test]
    fn a_page_that_is_not_a_feed_is_a_failure() {
        let (_, state) = polled(known(), ok(&[("content-type", "text/html")], "<html><p>Hello</p></html>"));
        assert_eq!((state.polled, state.failures), (Polled::Failed, 1));
        assert!(state.error.starts_with("not-a-feed: ") && state.error.contains("kind=page"), "{}", state.error);
    }

    /// The state after an answer to a line with `kind=page`.
    fn polled_page(known: FeedState, result: FetchResult) -> FeedState {
        let ceiling = Ceiling { max_bytes: 4 << 20, max_ratio: 100 };
        let sources = vec![PollSource { kind: SourceKind::Page, index: None }];
        let policy = PollPolicy::fit(Default::default(), &[]);
        let mut processor = FeedProcessor::new(Arc::new(vec![known]), ceiling, policy)
            .with_sources(Arc::new(sources), SitemapRules::default());
        processor.follow(&result, &mut Batch::default())
    }

    #[test]
    fn a_page_lists_its_articles_and_is_unchanged_while_they_stay() {
        let item = |n: u32| format!("<li><a href=/story/{}>The long title of story {n}</a></li>", 1000 + n);
        let page = |numbers: &[u32], rest: &str| {
            let items: String = numbers.iter().map(|n| item(*n)).collect();
            ok(&[("content-type", "text/html")], &format!("<html><title>News</title><ul>{items}</ul>{rest}</html>"))
        };
        let first = polled_page(known(), page(&[1, 2, 3], "<p>12 degrees</p>"));
        assert_eq!((first.polled, first.entries, first.title.as_str()), (Polled::Listed, 3, "News"));
        let second = polled_page(first.clone(), page(&[3, 1, 2], "<p>13 degrees</p>"));
        assert_eq!(second.polled, Polled::Unchanged);
        let later = |result: FetchResult| FetchResult { at: "2026-03-01T18:00:00Z".parse().unwrap(), ..result };
        let third = polled_page(second, later(page(&[4, 1, 2], "")));
        assert_eq!(
            (third.polled, publishing_rate_of(&third).window.len()),
            (Polled::Listed, 4),
            "story 3 is remembered"
        );
        let rate = third.rate.clone();
        let fourth =
            polled_page(third, FetchResult { at: "2026-03-01T19:00:00Z".parse().unwrap(), ..page(&[3, 4, 1], "") });
        assert_eq!(fourth.polled, Polled::Listed);
        assert!(fourth.rate.parse::<f64>().unwrap() < rate.parse::<f64>().unwrap(), "a story that returns is not new");
    }

    #[test]
    fn a_page_with_nofollow_fails_with_the_reason() {
        let state = polled_page(known(), ok(&[("x-robots-tag", "nofollow")], "<html><a href=/a>x</a></html>"));
        assert_eq!(state.polled, Polled::Failed);
        assert!(state.error.starts_with("nofollow: the X-Robots-Tag"), "{}", state.error);
    }

    #[test]
    fn a_line_for_a_page_that_leads_to_a_feed_is_read_as_a_feed() {
        let state = polled_page(known(), ok(&[], RSS));
        assert_eq!((state.polled, state.entries, state.title.as_str()), (Polled::Listed, 4, "The Gazette"));
    }

    #[test]
    fn a_damaged_encoding_is_a_failure() {
        let (_, state) = polled(known(), ok(&[("content-encoding", "gzip")], "\u{0}damaged"));
        assert_eq!((state.polled, state.error.as_str()), (Polled::Failed, "encoding: cannot decompress the body"));
    }

    #[test]
    fn failures_are_counted_and_keep_the_known_state() {
        let before = FeedState { etag: "e".into(), failures: 2, succeeded: "2026-02-01T00:00:00Z".into(), ..known() };
        let (_, state) = polled(before, status(503, &[]));
        assert_eq!((state.polled, state.failures, state.etag.as_str()), (Polled::Failed, 3, "e"));
        assert_eq!(state.succeeded, "2026-02-01T00:00:00Z");
        assert!(state.error.starts_with("503: "), "{}", state.error);
    }

    #[test]
    fn a_move_is_accepted_after_three_permanent_redirects_in_a_row() {
        let mut state = known();
        for times in 1..=MOVES_TO_BELIEVE {
            let result = FetchResult { url: "https://new.example/feed".into(), ..ok(&[], RSS) };
            state = polled(state, redirected(result, &[301, 308])).1;
            assert_eq!((state.moved_to.as_str(), state.moved_times), ("https://new.example/feed", times));
        }
    }

    #[test]
    fn a_temporary_redirect_resets_the_count_of_permanent_ones() {
        let before = FeedState { moved_to: "https://new.example/feed".into(), moved_times: 2, ..known() };
        let result = FetchResult { url: "https://new.example/feed".into(), ..ok(&[], RSS) };
        let (_, state) = polled(before, redirected(result, &[301, 302]));
        assert_eq!((state.moved_to.as_str(), state.moved_times), ("", 0));
    }

    #[test]
    fn a_failing_new_url_sends_the_next_poll_to_the_old_one() {
        let before = FeedState { moved_to: "https://new.example/feed".into(), moved_times: 3, ..known() };
        let (_, state) = polled(before, status(404, &[]));
        assert_eq!(state.moved_times, 0);
    }

    #[test]
    fn new_entries_with_old_validators_are_recorded_as_false() {
        let (_, first) = polled(known(), ok(&[("etag", "\"a\"")], RSS));
        let more = RSS.replace("/1<", "/3<");
        let later = FetchResult { at: "2026-03-01T18:00:00Z".parse().unwrap(), ..ok(&[("etag", "\"a\"")], &more) };
        assert_eq!(polled(first.clone(), later).1.false_304s, 1);
        let honest = FetchResult { at: "2026-03-01T18:00:00Z".parse().unwrap(), ..ok(&[("etag", "\"b\"")], &more) };
        assert_eq!(polled(first, honest).1.false_304s, 0);
    }

    #[test]
    fn retry_after_delays_the_next_poll() {
        let (_, state) = polled(known(), status(503, &[("retry-after", "86400")]));
        assert!(state.not_before.as_str() >= "2026-03-02T12:00:00", "{}", state.not_before);
    }

    #[test]
    fn client_errors_are_permanent_and_network_errors_are_not() {
        for (code, hard) in [(404, true), (403, true), (408, false), (429, false), (500, false), (503, false)] {
            assert_eq!(is_hard(&status(code, &[])), hard, "{code}");
        }
        for (kind, hard) in [(FailureKind::Timeout, false), (FailureKind::Dns, true), (FailureKind::Robots, true)] {
            assert_eq!(is_hard(&failed(0, FEED, kind)), hard, "{kind}");
        }
    }

    #[test]
    fn only_network_failures_are_provisional() {
        let ceiling = Ceiling { max_bytes: 1 << 20, max_ratio: 100 };
        let policy = PollPolicy::fit(Default::default(), &[]);
        let mut processor = FeedProcessor::new(Arc::new(vec![known()]), ceiling, policy);
        let batch = processor.process(vec![failed(0, FEED, FailureKind::Connect)]);
        assert!(batch.step.is_empty() && !batch.provisional.is_empty());
        assert_eq!(batch.counters.get("connect"), 1);
        let batch = processor.process(vec![status(500, &[])]);
        assert!(!batch.step.is_empty() && batch.provisional.is_empty());
        assert_eq!(batch.counters.get("failed"), 1);
    }

    #[test]
    fn a_title_is_one_line_of_bounded_length() {
        assert_eq!(clip(" a\n\tb\u{0}c "), "a b c");
        assert_eq!(clip(&"é".repeat(600)).chars().count(), MAX_TITLE_CHARS);
    }
}
