//! One request: admission, routing, the answer cache, a worker thread, compression, the access log.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::json;
use tidings_query::question::{Cost, NeologismsRequest, Question as _};
use tidings_store::tokens::Scope;
use tokio::sync::oneshot;

use crate::api_error::ApiError;
use crate::cache::{Key, MIN_CACHED_TIME};
use crate::client::{Client, is_expected_host};
use crate::compression::{accepts_gzip, compressible, etag, matches_etag};
use crate::endpoint::Endpoint;
use crate::first_run;
use crate::handler::{ApiRequest, RequestDeadline, RequestError};
use crate::headers::{error_response, not_modified, preflight, security_headers, with_etag};
use crate::metrics::Metrics;
use crate::proxy;
use crate::query_params::{QueryParams, decoded};
use crate::response::{Body, CancelOnDrop, Exact, Format, ResponseOptions, ResponseWriter, json_bytes, json_response};
use crate::server::AppState;
use crate::tools::{self, Tool};
use crate::{assets, changes, crawler_page, openapi, search_feed, shard_endpoint};

/// Digits of a checksum in the names of files.
const FILE_DIGITS: usize = 12;
/// The longest request URI: the longest query and filter fit with every byte escaped.
const MAX_URI_BYTES: usize = 60 << 10;
/// Responses up to this size are compressed on the connection's task; longer ones on a blocking thread.
const COMPRESS_INLINE_BYTES: usize = 64 << 10;
/// Time past the deadline that a response may take, because not all work checks the clock.
pub(crate) const DEADLINE_GRACE: Duration = Duration::from_secs(1);

/// Counts a request as in flight until its response starts; dropped earlier, it counts as abandoned.
struct InFlight<'r>(&'r Metrics, bool);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Relaxed);
        if !self.1 {
            self.0.abandoned.fetch_add(1, Relaxed);
        }
    }
}

/// Answers one request and writes the access log.
pub(crate) async fn respond(state: &Arc<AppState>, request: Request<Incoming>, peer: IpAddr) -> Response<Body> {
    let began = Instant::now();
    state.metrics.in_flight.fetch_add(1, Relaxed);
    let mut in_flight = InFlight(&state.metrics, false);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let headers = request.headers().clone();
    let mut endpoint = "other";
    let mut client = None;
    let answer = match client_of(state, &request, peer) {
        _ if shard_endpoint::is_path(&path) => {
            endpoint = "shard";
            shard_endpoint::answer(state, request).await
        }
        Ok(known) => {
            let answer = answer(state, request, &known, &mut endpoint).await;
            client = Some(known);
            answer
        }
        Err(error) => Err(error),
    };
    let mut response = match answer {
        Ok(response) => finish_response(state, &headers, response).await,
        Err(error) => error_response(&error),
    };
    security_headers(&mut response, &state.settings);
    in_flight.1 = true;
    let (status, took) = (response.status().as_u16(), began.elapsed());
    state.metrics.answered(endpoint, status, took);
    // Queries are private: parameters, client addresses and token secrets are not logged.
    log::info!(
        target: "tidings_serve::access",
        "{}",
        json!({
            "time": jiff::Timestamp::now().to_string(),
            "method": method.as_str(),
            "path": path.chars().take(200).collect::<String>(),
            "status": status,
            "ms": (took.as_secs_f64() * 1e4).round() / 10.0,
            "token": client.and_then(|client| client.token),
        })
    );
    response
}

/// Authenticates the client and applies the rate limit.
fn client_of(state: &AppState, request: &Request<Incoming>, peer: IpAddr) -> Result<Client, ApiError> {
    let (headers, settings) = (request.headers(), &state.settings);
    proxy::check(headers, request.version(), peer, settings)?;
    if !is_expected_host(headers, peer, settings) {
        let error = "this server accepts requests for localhost only; start it with `tidings serve --public` to accept other host names";
        return Err(ApiError::new(StatusCode::MISDIRECTED_REQUEST, error));
    }
    let address = proxy::client_address(headers, peer, settings);
    if !settings.is_private() || settings.is_proxy(peer) {
        state.rate_limiter.take(address, Instant::now()).map_err(|seconds| ApiError {
            retry_after_s: Some(seconds),
            ..ApiError::new(StatusCode::TOO_MANY_REQUESTS, format!("rate limit exceeded; retry in {seconds} s"))
        })?;
    }
    Client::of(headers, (peer, address), &state.registry, settings)
}

/// Routes a request and answers it.
async fn answer(
    state: &Arc<AppState>,
    request: Request<Incoming>,
    client: &Client,
    name: &mut &'static str,
) -> Result<Response<Body>, ApiError> {
    let (uri, path) = (&request.uri().clone(), &*request.uri().path().to_owned());
    if uri.path_and_query().map_or(0, |whole| whole.as_str().len()) > MAX_URI_BYTES {
        return Err(ApiError::new(StatusCode::URI_TOO_LONG, format!("request URI longer than {MAX_URI_BYTES} bytes")));
    }
    match *request.method() {
        Method::GET | Method::HEAD => {}
        Method::OPTIONS if state.settings.cors.is_some() => return Ok(preflight()),
        Method::POST if Tool::of_path(path).is_some() => {
            *name = "tool";
            let base = base_of(request.headers(), client, state);
            let form = changes::read(request.into_body(), changes::MAX_BODY_BYTES).await?;
            let form = std::str::from_utf8(&form).map_err(|_| ApiError::wrong("body", "the form is not UTF-8"))?;
            // As in a request with GET, parameters may also be in the address.
            let form = [uri.query().unwrap_or_default(), form].join("&");
            return answer_tool(state, client, path, &form, base).await;
        }
        Method::POST | Method::DELETE if changes::is_path(path) => {
            *name = "change";
            let (parts, body) = request.into_parts();
            return changes::make(state, &parts, body, client).await;
        }
        _ => return Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this server is read-only: use GET")),
    }
    if let Some(file) = assets::find(path) {
        *name = "page";
        return Ok(file);
    }
    match path {
        first_run::PATH => {
            *name = "first-run";
            return first_run::show(state, client);
        }
        "/healthz" => {
            *name = "healthz";
            return Ok(json_response(StatusCode::OK, &json!({ "ok": true })));
        }
        "/api/openapi.json" => {
            *name = "openapi";
            return Ok(json_response(StatusCode::OK, &openapi()));
        }
        "/bot" => {
            *name = "bot";
            let (state, query) = (state.clone(), uri.query().unwrap_or_default().to_owned());
            let made =
                tokio::task::spawn_blocking(move || crawler_page::page(&state.registry.home, &state.settings, &query))
                    .await;
            return made.unwrap_or_else(|error| Err(ApiError::broken("cannot render the page", &error)));
        }
        "/metrics" => {
            *name = "metrics";
            return metrics(state, client).await;
        }
        _ => {}
    }
    if Tool::of_path(path).is_some() {
        *name = "tool";
        let base = base_of(request.headers(), client, state);
        return answer_tool(state, client, path, uri.query().unwrap_or_default(), base).await;
    }
    if let Some(search) = search_feed::name_of(path) {
        *name = "search-feed";
        let base = base_of(request.headers(), client, state);
        return search_feed::answer(state, &decoded(search)?, uri.query().unwrap_or_default(), &base, client).await;
    }
    let Some((endpoint, path_values)) = Endpoint::find(path) else {
        return Err(ApiError::unknown("no such path; see /api/openapi.json for the endpoints"));
    };
    *name = endpoint.name;
    let path_values = path_values.into_iter().map(decoded).collect::<Result<Vec<String>, ApiError>>()?;
    let query = uri.query().unwrap_or_default();
    let params = match &state.gateway {
        Some(_) => QueryParams::read_for_gateway(endpoint, &path_values, query)?,
        None => QueryParams::read(endpoint, &path_values, query)?,
    };
    let options = ResponseOptions {
        format: params.format,
        link: path.to_owned(),
        base: base_of(request.headers(), client, state),
        gzip: accepts_gzip(request.headers()),
        state: state_of(state, endpoint, &path_values),
    };
    let is_decided = endpoint.name == NeologismsRequest::NAME;
    let asked = uri.path_and_query().map_or(path, |whole| whole.as_str());
    let Some(key) = key(state, asked, &params, &options, &path_values, (client, is_decided)) else {
        return run(state, endpoint, params, path_values, options, client).await;
    };
    // Only exact answers get this ETag: a client that has it would be sent the same counts again.
    let tag = key.tag(state.seed);
    if matches_etag(request.headers(), &tag) {
        return Ok(not_modified(&tag));
    }
    if let Some(answer) = state.cache.get(&key) {
        return Ok(with_etag(json_bytes(StatusCode::OK, answer), &tag));
    }
    let began = Instant::now();
    let response = run(state, endpoint, params, path_values, options, client).await?;
    if response.extensions().get::<Exact>().is_none() {
        return Ok(response);
    }
    if let Body::Whole(Some(answer)) = response.body()
        && began.elapsed() >= MIN_CACHED_TIME
        && response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json")
    {
        state.cache.put(key, answer.clone());
    }
    Ok(with_etag(response, &tag))
}

/// Answers a request in the protocol of another tool.
async fn answer_tool(
    state: &Arc<AppState>,
    client: &Client,
    path: &str,
    form: &str,
    base: String,
) -> Result<Response<Body>, ApiError> {
    let tool = Tool::of_path(path).ok_or_else(|| ApiError::unknown("no such path"))?;
    let parameters = tools::parameters(form)?;
    tools::answer(tool, &tools::ToolRequest { state, client, path, parameters, base }).await
}

/// The corpus of a question and the beginning of its checksum, as a part of file names.
fn state_of(state: &AppState, endpoint: &Endpoint, path_values: &[String]) -> String {
    let corpus = endpoint.path_names().zip(path_values).find(|(name, _)| *name == "lang").map(|(_, value)| value);
    // Unknown languages are refused later.
    let Some(corpus) = corpus.filter(|code| code.bytes().all(|byte| byte.is_ascii_alphanumeric())) else {
        return String::new();
    };
    let digests = state.registry.digests();
    let digest = digests.get(corpus).and_then(|digest| digest.get(..FILE_DIGITS));
    format!("-{corpus}{}", digest.map(|digits| format!("-{digits}")).unwrap_or_default())
}

/// The base URL of this server as the client sees it, for absolute links in feeds.
fn base_of(headers: &HeaderMap, client: &Client, state: &AppState) -> String {
    if let Some(address) = &state.settings.address {
        return address.trim_end_matches('/').to_owned();
    }
    let is_name = |host: &&str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let host = header("host").filter(is_name);
    let is_safe = state.settings.tls.is_some() || client.is_https;
    format!("{}://{}", if is_safe { "https" } else { "http" }, host.unwrap_or("localhost"))
}

/// Adds an ETag and compresses the body if the client accepts gzip.
async fn finish_response(state: &Arc<AppState>, headers: &HeaderMap, mut response: Response<Body>) -> Response<Body> {
    if response.status() != StatusCode::OK {
        return response;
    }
    if let (Body::Whole(Some(bytes)), false) = (response.body(), response.headers().contains_key(header::ETAG)) {
        let tag = etag(bytes);
        if matches_etag(headers, &tag) {
            return not_modified(&tag);
        }
        response = with_etag(response, &tag);
    }
    let Some(bytes) = compressible(&response).filter(|_| accepts_gzip(headers)) else { return response };
    let compressed = match bytes.len() <= COMPRESS_INLINE_BYTES {
        true => state.compressed.of(&bytes),
        false => {
            let state = state.clone();
            match tokio::task::spawn_blocking(move || state.compressed.of(&bytes)).await {
                Ok(compressed) => compressed,
                Err(_) => return response,
            }
        }
    };
    *response.body_mut() = Body::of(compressed);
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response
}

/// The cache key of an answer, or `None` if the answer can change while the corpus does not.
fn key(
    state: &AppState,
    request: &str,
    params: &QueryParams,
    options: &ResponseOptions,
    path_values: &[String],
    (client, is_decided): (&Client, bool),
) -> Option<Key> {
    // Decisions about words are files of the home.
    let is_named = params.is_given("in") || params.as_of.is_some();
    let can_change = is_decided || path_values.is_empty() || is_named || params.is_given("cursor");
    // Feeds name the server, which may have several names.
    let base = if options.format == Format::Rss { options.base.as_str() } else { "" };
    let key = || Key {
        request: format!("{base}{request}"),
        opened: state.registry.opened(),
        scope: client.right.scope,
        client: client.right.has_window_limit().then(|| client.id.clone()),
    };
    // The states of shards are not those of the registry.
    (!options.format.is_stream() && !can_change && state.gateway.is_none()).then(key)
}

/// Runs a request on a worker thread, within its lane and deadline.
pub(crate) async fn run(
    state: &Arc<AppState>,
    endpoint: &'static Endpoint,
    params: QueryParams,
    path_values: Vec<String>,
    options: ResponseOptions,
    client: &Client,
) -> Result<Response<Body>, ApiError> {
    let is_heavy = params.cost == Cost::Heavy || options.format.is_stream();
    let place = state.lanes.enter(client.id.clone(), is_heavy).await?;
    let cancelled = Arc::new(AtomicBool::new(false));
    let cancel_on_drop = CancelOnDrop(cancelled.clone());
    let (first, beginning) = oneshot::channel();
    let (shared, right, worker) = (state.clone(), client.right, place.clone());
    let client = client.id.clone();
    let time_limit = state.settings.time_limit;
    let until = Instant::now() + time_limit;
    let work = move || {
        let options = ResponseOptions { link: params.link(&options.link), ..options };
        let mut response = ResponseWriter::new(endpoint, options, &params.fields(), first);
        let deadline =
            RequestDeadline { until, time_limit, cancelled, place: worker.clone(), memory: shared.memory.clone() };
        let lang = path_values.into_iter().next().unwrap_or_default();
        let request = ApiRequest { state: &shared, right, client, params, lang, deadline };
        match request.answer(endpoint, &mut response) {
            _ if worker.is_refused() => response.fail(no_long_place()),
            Ok(()) => response.finish(),
            Err(RequestError::Timeout) => response.fail(timed_out(time_limit)),
            Err(RequestError::ClientGone) => {}
            Err(RequestError::Rejected(error)) => response.fail(error),
        }
    };
    place.spawn(work).map_err(|error| ApiError::broken("cannot start a worker thread", &error))?;
    let beginning =
        tokio::time::timeout_at((until + DEADLINE_GRACE).into(), beginning).await.map_err(|_| timed_out(time_limit))?;
    let mut response = beginning.unwrap_or_else(|_| {
        Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error; see the server log"))
    })?;
    // A streamed answer is cancelled when the client drops its body.
    response.body_mut().cancel_on_drop(cancel_on_drop);
    Ok(response)
}

/// 503 for a quick request that took long while all places for long ones were taken.
fn no_long_place() -> ApiError {
    let error = "the query takes long, and the places for long queries are taken; try again in a moment, or use a shorter \
                 period or a narrower filter";
    ApiError::busy(error, 5)
}

/// 503 for a request past its deadline.
fn timed_out(limit: Duration) -> ApiError {
    let seconds = limit.as_secs_f64();
    let error = format!("the query exceeded the time limit of {seconds} s; use a shorter period or a narrower filter");
    ApiError::busy(error, 30)
}

async fn metrics(state: &AppState, client: &Client) -> Result<Response<Body>, ApiError> {
    if !client.right.is_private && client.right.scope != Some(Scope::Admin) {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "metrics require a token with scope `admin`"));
    }
    let mut text = state.metrics.text(&state.registry, &state.lanes, &state.memory);
    if let Some(home_metrics) = state.settings.home_metrics.clone() {
        let read = tokio::task::spawn_blocking(move || (home_metrics.0)()).await;
        text.push_str(&read.map_err(|error| ApiError::broken("cannot read the status of the home", &error))?);
    }
    let mut response = Response::new(Body::of(text));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}
