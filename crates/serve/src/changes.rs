//! Changes that the owner of the home makes through the page: saved searches, virtual corpora, decisions about new words,
//! and the first run.
//!
//! Only a client on the same machine may make them, and only pages of this server: a request names its content type, which
//! other pages cannot send without a preflight request (answered for GET only), and its origin, if it has one, is this server.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, ORIGIN};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tidings_query::Filter;
use tidings_query::cql;
use tidings_store::neologisms::{self, Decision};
use tidings_store::saved_searches::{self, MAX_SEARCHES, SavedSearch, is_name};
use tidings_store::virtual_corpora::{self, VirtualCorpus};

use crate::api_error::ApiError;
use crate::client::Client;
use crate::first_run;
use crate::query_params::decoded;
use crate::response::{Body, json_response};
use crate::server::AppState;

/// The longest body of a change.
pub(crate) const MAX_BODY_BYTES: usize = 64 << 10;
const SEARCHES: &str = "/api/v1/searches";
const CORPORA: &str = "/api/v1/corpora-named";
const DECISIONS: &str = "/api/v1/decisions";
const WORD_LISTS: &str = "/api/v1/word-lists";

/// Only one change is made at a time.
static CHANGING: Mutex<()> = Mutex::new(());

/// Whether changes are made at a path.
pub(crate) fn is_path(path: &str) -> bool {
    [SEARCHES, CORPORA, DECISIONS, WORD_LISTS, first_run::PATH]
        .iter()
        .any(|root| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// A search to save.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewSearch {
    name: String,
    lang: String,
    q: String,
    #[serde(default)]
    filter: String,
}

/// A virtual corpus to save.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewCorpus {
    name: String,
    filter: String,
}

/// A decision about a new word.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewDecision {
    lang: String,
    word: String,
    status: String,
    #[serde(default)]
    variant_of: String,
    #[serde(default)]
    note: String,
}

/// Words to leave out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewListed {
    lang: String,
    list: String,
    words: Vec<String>,
}

/// Makes a change.
pub(crate) async fn make(
    state: &Arc<AppState>,
    request: &Parts,
    body: Incoming,
    client: &Client,
) -> Result<Response<Body>, ApiError> {
    if !client.right.is_owner() {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "only the owner on the same machine can change the home"));
    }
    if !is_own_page(&request.headers) {
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "changes come from pages of this server only, as application/json",
        ));
    }
    let most = if request.uri.path() == first_run::PATH { first_run::MAX_BODY_BYTES } else { MAX_BODY_BYTES };
    let body = read(body, most).await?;
    let (state, method, path) = (state.clone(), request.method.clone(), request.uri.path().to_owned());
    let made = tokio::task::spawn_blocking(move || change(&state, &method, &path, &body)).await;
    made.unwrap_or_else(|error| Err(ApiError::broken("cannot change the home", &error)))?;
    Ok(json_response(StatusCode::OK, &json!({ "done": true })))
}

/// Whether a request comes from a page of this server, or from a program.
fn is_own_page(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &hyper::header::HeaderValue| value.to_str().ok());
    let is_json = text(CONTENT_TYPE).is_some_and(|kind| kind.split(';').next() == Some("application/json"));
    let is_same = match (headers.contains_key(ORIGIN), text(ORIGIN), text(HOST)) {
        (false, ..) => true,
        (true, Some(origin), Some(host)) => origin.split_once("://").is_some_and(|(_, name)| name == host),
        _ => false,
    };
    let site = headers.get("sec-fetch-site").map(|value| value.as_bytes());
    is_json && is_same && site.is_none_or(|site| site == b"same-origin" || site == b"none")
}

/// The body of a request of at most so many bytes.
pub(crate) async fn read(mut body: Incoming, most: usize) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| ApiError::new(StatusCode::BAD_REQUEST, "the body is incomplete"))?;
        if let Some(data) = frame.data_ref() {
            bytes.extend_from_slice(data);
        }
        if bytes.len() > most {
            let error = format!("the body is longer than {most} bytes");
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, error));
        }
    }
    Ok(bytes)
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body).map_err(|error| ApiError::new(StatusCode::BAD_REQUEST, format!("wrong body: {error}")))
}

fn change(state: &AppState, method: &Method, path: &str, body: &[u8]) -> Result<(), ApiError> {
    let _changing = CHANGING.lock().expect("no panic while held");
    let name_in = |root: &str| path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')).map(decoded).transpose();
    match (method, name_in(SEARCHES)?, name_in(CORPORA)?) {
        (&Method::POST, None, None) if path == SEARCHES => save_search(state, parsed(body)?),
        (&Method::POST, None, None) if path == CORPORA => save_corpus(state, parsed(body)?),
        (&Method::POST, None, None) if path == DECISIONS => decide(state, parsed(body)?),
        (&Method::POST, None, None) if path == WORD_LISTS => list_words(state, parsed(body)?),
        (&Method::POST, None, None) if path == first_run::PATH => {
            let begun = first_run::of(state)?.begin(parsed(body)?);
            begun.map_err(|error| ApiError::new(StatusCode::CONFLICT, error))
        }
        (&Method::DELETE, None, None) if path == first_run::PATH => {
            first_run::of(state)?.cancel();
            Ok(())
        }
        (&Method::DELETE, None, None) if path.starts_with(WORD_LISTS) => {
            let name = name_in(WORD_LISTS)?.unwrap_or_default();
            let mut known = neologisms::read_lists(&state.registry.home)?;
            let before = known.len();
            known.retain(|listed| listed.list != name);
            gone(before, known.len(), &name)?;
            Ok(neologisms::write_lists(&state.registry.home, known)?)
        }
        (&Method::DELETE, Some(name), _) => {
            let home = &state.registry.home;
            let mut known = saved_searches::read(home)?;
            let before = known.len();
            known.retain(|search| search.name != name);
            gone(before, known.len(), &name)?;
            Ok(saved_searches::write(home, known)?)
        }
        (&Method::DELETE, _, Some(name)) => {
            let home = &state.registry.home;
            let mut known = virtual_corpora::read(home)?;
            let before = known.len();
            known.retain(|corpus| corpus.name != name);
            gone(before, known.len(), &name)?;
            Ok(virtual_corpora::write(home, known)?)
        }
        _ => Err(ApiError::unknown("nothing can be changed here")),
    }
}

fn gone(before: usize, after: usize, name: &str) -> Result<(), ApiError> {
    if before == after { Err(ApiError::unknown(format!("there is no `{name}`"))) } else { Ok(()) }
}

fn check_name(name: &str) -> Result<(), ApiError> {
    if is_name(name) {
        return Ok(());
    }
    Err(ApiError::wrong("name", "a name has up to 60 letters, digits, hyphens, dots and underscores"))
}

fn check_filter(filter: &str) -> Result<(), ApiError> {
    match filter.parse::<Filter>() {
        Err(error) if !filter.is_empty() => Err(ApiError::wrong("filter", format!("wrong filter: {error}"))),
        _ => Ok(()),
    }
}

fn save_search(state: &AppState, new: NewSearch) -> Result<(), ApiError> {
    check_name(&new.name)?;
    check_filter(&new.filter)?;
    cql::parse(&new.q).map_err(|error| ApiError::wrong("q", format!("wrong query: {error}")))?;
    state.registry.corpus(&new.lang, None)?;
    let home = &state.registry.home;
    let mut known = saved_searches::read(home)?;
    let former = known.iter().position(|search| search.name == new.name).map(|at| known.remove(at));
    if known.len() >= MAX_SEARCHES {
        return Err(ApiError::wrong("name", format!("there are {MAX_SEARCHES} saved searches already; delete some")));
    }
    known.push(SavedSearch {
        name: new.name,
        lang: new.lang,
        query: new.q,
        filter: new.filter,
        created: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        webhook: former.map(|former| former.webhook).unwrap_or_default(),
    });
    Ok(saved_searches::write(home, known)?)
}

fn decide(state: &AppState, new: NewDecision) -> Result<(), ApiError> {
    state.registry.corpus(&new.lang, None)?;
    let home = &state.registry.home;
    let mut known = neologisms::read(home)?;
    let NewDecision { lang, word, status, variant_of, note } = new;
    let decided = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let decision = Decision { decided, lang, word, status, variant_of, note };
    neologisms::decide(&mut known, decision).map_err(|error| ApiError::wrong("word", error))?;
    Ok(neologisms::write(home, known)?)
}

fn list_words(state: &AppState, new: NewListed) -> Result<(), ApiError> {
    check_name(&new.list)?;
    state.registry.corpus(&new.lang, None)?;
    let home = &state.registry.home;
    let mut known = neologisms::read_lists(home)?;
    let words = new.words.into_iter().filter(|word| !word.trim().is_empty());
    neologisms::list_words(&mut known, (&new.lang, &new.list), words)
        .map_err(|error| ApiError::wrong("words", error))?;
    Ok(neologisms::write_lists(home, known)?)
}

fn save_corpus(state: &AppState, new: NewCorpus) -> Result<(), ApiError> {
    check_name(&new.name)?;
    if new.filter.is_empty() {
        return Err(ApiError::wrong("filter", "a virtual corpus needs a filter"));
    }
    check_filter(&new.filter)?;
    let home = &state.registry.home;
    let mut known = virtual_corpora::read(home)?;
    known.retain(|corpus| corpus.name != new.name);
    known.push(VirtualCorpus { name: new.name, filter: new.filter });
    known.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(virtual_corpora::write(home, known)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn changes_come_from_pages_of_this_server() {
        let json = ("content-type", "application/json");
        let host = ("host", "127.0.0.1:7878");
        assert!(is_own_page(&headers(&[json, host])));
        assert!(is_own_page(&headers(&[
            json,
            host,
            ("origin", "http://127.0.0.1:7878"),
            ("sec-fetch-site", "same-origin")
        ])));
        assert!(!is_own_page(&headers(&[host, ("content-type", "text/plain")])), "a form of another page");
        assert!(!is_own_page(&headers(&[json, host, ("origin", "https://evil.example")])));
        assert!(!is_own_page(&headers(&[json, host, ("origin", "null")])));
        assert!(!is_own_page(&headers(&[json, host, ("sec-fetch-site", "cross-site")])));
    }

    #[test]
    fn only_lists_of_the_owner_are_changed() {
        assert!(is_path("/api/v1/searches") && is_path("/api/v1/searches/a") && is_path("/api/v1/corpora-named/x"));
        assert!(is_path("/api/v1/decisions") && is_path("/api/v1/word-lists/firms"));
        assert!(!is_path("/api/v1/searchesx") && !is_path("/api/v1/en/query") && !is_path("/"));
    }
}
