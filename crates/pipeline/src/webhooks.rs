//! Webhooks of saved searches: at its end a round notifies an address of new hits.
//!
//! A notification is a POST request with JSON: the number of new hits, the first documents with lines, and a link. It is
//! delivered at least once: the position up to which an address was notified is stored after the request succeeded. New
//! are the documents that were first seen on a later day than those of the last notification, or on the same day and
//! not among them; documents that are imported with an earlier day of download are not reported.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::{Value, json};
use tidings_fetch::{PostError, post_json};
use tidings_model::clock;
use tidings_query::Filter;
use tidings_query::engine::{Limits, Order};
use tidings_query::question::{
    ConcordanceLine, ConcordanceRequest, PageParams, Parsed, Privacy, Question as _, QuestionContext, Request as _,
    ScopeParams, SearchParams, text_of,
};
use tidings_store::rfc3339;
use tidings_store::saved_searches::{self, SavedSearch, WebhookState};
use url::form_urlencoded::Serializer;

use crate::cancel::CancelToken;
use crate::config::Config;
use crate::corpus::Corpus;
use crate::pipeline::Pipeline;
use crate::virtual_corpora::parse_filter;

/// The most hits that one notification counts; the rest is in the next one.
const MAX_HITS: u64 = 1000;
/// The documents with lines in a notification.
const SHOWN_DOCUMENTS: usize = 10;
/// The lines of a document in a notification.
const SHOWN_LINES: usize = 3;
/// The tokens on each side of a hit.
const CONTEXT: u32 = 12;
/// The attempts of one round.
const ATTEMPTS: u32 = 3;
/// The pause after the first attempt that failed; it doubles with each.
const PAUSE: Duration = Duration::from_secs(2);
/// The time of one request.
const REQUEST_TIME: Duration = Duration::from_secs(20);
/// The time of one search.
const SEARCH_TIME: Duration = Duration::from_secs(60);

/// The result of one webhook in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WebhookOutcome {
    /// The name of the search.
    pub search: String,
    /// New hits.
    pub hits: u64,
    /// Whether the address was notified of them.
    pub done: bool,
    /// The reason if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Sends a body to an address.
type Post<'s> = &'s dyn Fn(&str, Vec<u8>) -> Result<(), PostError>;

/// Notifies the webhooks of all saved searches with new hits. A webhook that fails does not stop the others.
pub fn notify(pipeline: &Pipeline) -> Result<Vec<WebhookOutcome>> {
    let settings = pipeline.config().fetch.for_pages(0)?;
    let send = |url: &str, body: Vec<u8>| post_json(&settings, url, body, REQUEST_TIME);
    notify_with(pipeline, &send, PAUSE)
}

fn notify_with(pipeline: &Pipeline, send: Post<'_>, pause: Duration) -> Result<Vec<WebhookOutcome>> {
    let (home, config) = (pipeline.home(), pipeline.config());
    let searches = saved_searches::read(home)?;
    let mut outcomes = Vec::new();
    for search in searches.iter().filter(|search| !search.webhook.is_empty()) {
        if pipeline.cancel_token().is_cancelled() {
            break;
        }
        let mut states = saved_searches::read_webhooks(home)?;
        let at = states.iter().position(|state| state.name == search.name);
        let state = at.map_or_else(|| beginning(search), |at| states.remove(at));
        let found = new_hits(pipeline, search, &state).with_context(|| format!("saved search {}", search.name));
        let sent = match &found {
            Ok(found) if found.lines.is_empty() => continue,
            Ok(found) => deliver(send, pipeline.cancel_token(), pause, &search.webhook, &body(search, found, config)?),
            Err(error) => Err(format!("{error:#}")),
        };
        let hits = found.as_ref().map_or(0, |found| found.lines.len() as u64);
        let now = rfc3339(clock::now());
        let next = match (&sent, &found) {
            (Ok(()), Ok(found)) => WebhookState { notified: now, ..found.state.clone() },
            (failure, _) => WebhookState {
                failing_since: if state.failing_since.is_empty() { now } else { state.failing_since.clone() },
                failure: failure.as_ref().err().cloned().unwrap_or_default(),
                ..state
            },
        };
        states.push(next);
        saved_searches::write_webhooks(home, states)?;
        if let Err(error) = &sent {
            log::error!("the webhook of the saved search {} was not notified: {error}", search.name);
        }
        outcomes.push(WebhookOutcome { search: search.name.clone(), hits, done: sent.is_ok(), error: sent.err() });
    }
    Ok(outcomes)
}

/// The position of a webhook that was never notified: the day on which its search was saved.
fn beginning(search: &SavedSearch) -> WebhookState {
    let day = search.created.get(..10).unwrap_or_default().to_owned();
    WebhookState { name: search.name.clone(), day, ..WebhookState::default() }
}

/// Hits that a webhook was not notified of.
struct NewHits {
    /// The lines, oldest first.
    lines: Vec<ConcordanceLine>,
    /// Whether there are more.
    has_more: bool,
    /// The position after them.
    state: WebhookState,
}

fn new_hits(pipeline: &Pipeline, search: &SavedSearch, state: &WebhookState) -> Result<NewHits> {
    let corpus = Corpus::open(pipeline.home(), Some(&search.lang))?;
    let saved = (!search.filter.is_empty()).then(|| parse_filter(&search.filter)).transpose()?;
    let since = (!state.day.is_empty()).then(|| parse_filter(&format!("seen>={}", state.day))).transpose()?;
    let filter = Filter::both(saved, since).map(|filter| filter.to_string());
    let syntax = |error: tidings_query::SyntaxError| anyhow::anyhow!("invalid query or filter: {error}");
    let mut request = ConcordanceRequest {
        search: SearchParams {
            q: Parsed::new(&search.query).map_err(syntax)?,
            scope: ScopeParams {
                filter: filter.as_deref().map(Parsed::new).transpose().map_err(syntax)?,
                virtual_corpus: None,
            },
        },
        context: CONTEXT,
        fields: ["seen", "date", "site", "title", "url"].map(str::to_owned).to_vec(),
        count: false,
        page: PageParams { order: Order::Oldest, size: Some(MAX_HITS), cursor: None },
        ..ConcordanceRequest::example()
    };
    let availability = pipeline.config().serve.settings()?.default_availability;
    let context = QuestionContext {
        limits: Limits::within(SEARCH_TIME),
        privacy: Privacy::owner(availability),
        ..QuestionContext::new(&corpus.engine, &corpus.language)
    };
    loop {
        let found = request.answer(&context)?.body;
        let new = after(state, found.lines, found.next.is_some());
        // The hits of a busy day may all be known, and new ones on the next page.
        if !new.lines.is_empty() || found.next.is_none() {
            return Ok(new);
        }
        request.page.cursor = found.next;
    }
}

/// The lines after a position, and the position after them.
fn after(state: &WebhookState, lines: Vec<ConcordanceLine>, has_more: bool) -> NewHits {
    let known: BTreeSet<&str> = state.documents.split_whitespace().collect();
    let seen = |line: &ConcordanceLine| line.fields.get("seen").cloned().unwrap_or_default();
    let is_new = |line: &ConcordanceLine| seen(line) > state.day || !known.contains(line.document.as_str());
    let lines: Vec<ConcordanceLine> = lines.into_iter().filter(is_new).collect();
    let day = lines.iter().map(seen).max().unwrap_or_default().max(state.day.clone());
    let mut documents: BTreeSet<&str> =
        lines.iter().filter(|line| seen(line) == day).map(|line| line.document.as_str()).collect();
    if day == state.day {
        documents.extend(known);
    }
    let documents = documents.into_iter().collect::<Vec<_>>().join(" ");
    let next = WebhookState { name: state.name.clone(), day, documents, ..WebhookState::default() };
    NewHits { lines, has_more, state: next }
}

/// The body of a notification.
fn body(search: &SavedSearch, found: &NewHits, config: &Config) -> Result<Vec<u8>> {
    let mut documents: Vec<(&str, Vec<&ConcordanceLine>)> = Vec::new();
    for line in &found.lines {
        match documents.iter_mut().find(|(id, _)| *id == line.document) {
            Some((_, lines)) => lines.push(line),
            None => documents.push((&line.document, vec![line])),
        }
    }
    let shown = documents.iter().rev().take(SHOWN_DOCUMENTS).map(|(id, lines)| {
        let field = |name: &str| lines[0].fields.get(name).cloned().unwrap_or_default();
        let text = |line: &&ConcordanceLine| {
            let part = |tokens: &Option<Vec<_>>| tokens.as_deref().map(text_of).unwrap_or_default();
            [part(&line.left), part(&line.node), part(&line.right)].map(|part| part.trim().to_owned()).join(" ")
        };
        json!({
            "id": id,
            "date": field("date"),
            "site": field("site"),
            "title": field("title"),
            "url": field("url"),
            "lines": lines.iter().take(SHOWN_LINES).map(text).collect::<Vec<String>>(),
        })
    });
    let items: Vec<Value> = shown.collect();
    Ok(serde_json::to_vec(&json!({
        "search": search.name,
        "lang": search.lang,
        "query": search.query,
        "filter": search.filter,
        "hits": found.lines.len(),
        "documents": documents.len(),
        "has_more": found.has_more,
        "items": items,
        "link": link(search, config)?,
        "generator": concat!("Tidings ", env!("CARGO_PKG_VERSION")),
    }))?)
}

/// The page with the hits of a search, if the address of the server is known.
fn link(search: &SavedSearch, config: &Config) -> Result<Option<String>> {
    let mut query = Serializer::new(String::new());
    query.append_pair("lang", &search.lang).append_pair("q", &search.query);
    if !search.filter.is_empty() {
        query.append_pair("filter", &search.filter);
    }
    let query = query.finish();
    Ok(config.serve.settings()?.address.map(|base| format!("{}/?{query}", base.trim_end_matches('/'))))
}

/// Sends a notification, again after transient failures.
fn deliver(send: Post<'_>, cancel: &CancelToken, pause: Duration, url: &str, body: &[u8]) -> Result<(), String> {
    let mut pause = pause;
    for attempt in 1.. {
        match send(url, body.to_vec()) {
            Ok(()) => return Ok(()),
            Err(error) if !error.is_transient || attempt == ATTEMPTS => return Err(error.to_string()),
            Err(error) if cancel.wait(pause) => return Err(error.to_string()),
            Err(_) => pause *= 2,
        }
    }
    unreachable!("the last attempt returns")
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::searches::{NewSearch, save};

    fn refused(is_transient: bool) -> PostError {
        PostError { message: "HTTP status 500".to_owned(), is_transient }
    }

    fn line(document: &str, seen: &str) -> ConcordanceLine {
        ConcordanceLine {
            document: document.into(),
            fields: [("seen".to_owned(), seen.to_owned())].into(),
            restricted: false,
            position: Some(0),
            left: None,
            node: None,
            right: None,
        }
    }

    #[test]
    fn documents_are_new_once() {
        let state = WebhookState {
            name: "a".into(),
            day: "2026-06-01".into(),
            documents: "1 2".into(),
            ..WebhookState::default()
        };
        let ids = |found: &NewHits| found.lines.iter().map(|line| line.document.clone()).collect::<Vec<_>>();
        let same_day = after(&state, vec![line("2", "2026-06-01"), line("3", "2026-06-01")], false);
        assert_eq!((ids(&same_day), same_day.state.documents.as_str()), (vec!["3".to_owned()], "1 2 3"));
        let later = after(&same_day.state, vec![line("3", "2026-06-01"), line("4", "2026-06-02")], false);
        assert_eq!((ids(&later), later.state.day.as_str()), (vec!["4".to_owned()], "2026-06-02"));
        assert_eq!(later.state.documents, "4");
        assert!(after(&later.state, vec![line("4", "2026-06-02")], false).lines.is_empty());
    }

    #[test]
    fn a_transient_failure_is_tried_again_and_a_refusal_is_not() {
        let tries = RefCell::new(0);
        let fails = |is_transient: bool| {
            *tries.borrow_mut() = 0;
            let send = |_: &str, _: Vec<u8>| {
                *tries.borrow_mut() += 1;
                Err(refused(is_transient))
            };
            let sent = deliver(&send, &CancelToken::new(), Duration::ZERO, "http://hook.example/", b"{}");
            assert_eq!(sent, Err("HTTP status 500".to_owned()));
            *tries.borrow()
        };
        assert_eq!((fails(true), fails(false)), (ATTEMPTS, 1));
    }

    #[test]
    fn a_webhook_is_notified_of_new_hits_until_it_succeeded() {
        let (_folder, pipeline) = crate::test_home::built();
        let new = NewSearch {
            name: "the".into(),
            lang: Some("en".into()),
            query: "the".into(),
            webhook: Some("https://hook.example/".into()),
            ..NewSearch::default()
        };
        save(&pipeline, &new).unwrap();
        // The documents of the fixture were downloaded before the search was saved.
        let mut searches = saved_searches::read(pipeline.home()).unwrap();
        searches[0].created = "2020-01-01T00:00:00Z".to_owned();
        saved_searches::write(pipeline.home(), searches).unwrap();

        let fail = |_: &str, _: Vec<u8>| Err(refused(false));
        let outcomes = notify_with(&pipeline, &fail, Duration::ZERO).unwrap();
        assert!(!outcomes[0].done && outcomes[0].hits > 0, "{outcomes:?}");
        let states = saved_searches::read_webhooks(pipeline.home()).unwrap();
        assert!(!states[0].failing_since.is_empty() && states[0].documents.is_empty(), "{states:?}");

        let bodies = RefCell::new(Vec::new());
        let take = |url: &str, body: Vec<u8>| {
            bodies.borrow_mut().push((url.to_owned(), serde_json::from_slice::<Value>(&body).unwrap()));
            Ok(())
        };
        let outcomes = notify_with(&pipeline, &take, Duration::ZERO).unwrap();
        assert!(outcomes[0].done && outcomes[0].error.is_none(), "{outcomes:?}");
        let (url, body) = bodies.borrow()[0].clone();
        assert_eq!((url.as_str(), &body["search"]), ("https://hook.example/", &json!("the")));
        assert_eq!(body["hits"].as_u64(), Some(outcomes[0].hits));
        assert!(body["items"][0]["lines"][0].as_str().unwrap().to_lowercase().contains("the"), "{body}");
        assert_eq!(body["link"], Value::Null, "no address of the server is known");
        let states = saved_searches::read_webhooks(pipeline.home()).unwrap();
        assert!(states[0].failing_since.is_empty() && !states[0].notified.is_empty(), "{states:?}");

        assert!(notify_with(&pipeline, &take, Duration::ZERO).unwrap().is_empty(), "nothing is new");
        assert_eq!(bodies.borrow().len(), 1);
    }
}
