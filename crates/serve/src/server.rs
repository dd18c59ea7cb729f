//! Connections and requests: limits of both, lanes for quick and for heavy questions, and the end.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tidings_query::question::Cost;
use tidings_store::Home;
use tidings_store::tokens::Scope;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::task::JoinSet;

use crate::api_error::ApiError;
use crate::cache::{Cache, Key, MIN_CACHED_TIME};
use crate::client::{Client, ConnectionLimiter, RateLimiter, is_expected_host, rate_limit_address};
use crate::compression::{CompressionCache, compressible, has, tag_of, understands_gzip};
use crate::corpus_registry::CorpusRegistry;
use crate::endpoint::Endpoint;
use crate::handler::{ApiRequest, RequestDeadline, RequestError};
use crate::low_priority::spawn_low_priority;
use crate::metrics::Metrics;
use crate::query_params::{QueryParams, decoded};
use crate::response::{Body, CancelOnDrop, Exact, Format, ResponseOptions, ResponseWriter, json_bytes, json_response};
use crate::settings::Settings;
use crate::{assets, crawler_page, openapi};

/// A head, with its address, is no longer than this.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// An address is no longer than this: a query and a filter of the longest kind, with every byte escaped, fit.
const MAX_URI_BYTES: usize = 60 << 10;
const MAX_HEADERS: usize = 64;
/// No connection lives longer, whatever it does.
const MAX_CONNECTION_AGE: Duration = Duration::from_secs(600);
/// What is under way when the server is asked to end gets so long.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);
/// Answers up to this size are compressed where they are; longer ones would keep others waiting.
const COMPRESS_INLINE_BYTES: usize = 64 << 10;
/// An answer may come so much later than its limit, because not all work looks at the clock.
const DEADLINE_GRACE: Duration = Duration::from_secs(1);

/// Why a server could not begin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is taken, or not ours.
    #[error("cannot listen at {address}; choose another with --bind and --port")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    state: Arc<AppState>,
}

/// What all requests share.
#[derive(Debug)]
struct AppState {
    registry: CorpusRegistry,
    settings: Settings,
    metrics: Metrics,
    rate_limiter: RateLimiter,
    cache: Cache,
    compressed: CompressionCache,
    connection_limiter: Arc<ConnectionLimiter>,
    /// Tells the tags of this process from those of others.
    seed: u64,
    quick: AdmissionQueue,
    heavy: AdmissionQueue,
}

/// A lane: so many are answered at once, a few wait for a moment, and the others are sent away.
#[derive(Debug)]
struct AdmissionQueue {
    permits: Arc<Semaphore>,
    waiting: Semaphore,
    max_wait: Duration,
}

impl AdmissionQueue {
    fn new(permits: usize, waiting: usize, max_wait: Duration) -> AdmissionQueue {
        AdmissionQueue { permits: Arc::new(Semaphore::new(permits)), waiting: Semaphore::new(waiting), max_wait }
    }

    async fn enter(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let busy = || ApiError::busy("too many questions are asked at once; ask again in a moment", 2);
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let _place = self.waiting.try_acquire().map_err(|_| busy())?;
        match tokio::time::timeout(self.max_wait, self.permits.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(busy()),
        }
    }
}

impl Server {
    /// Opens the indexes of a home and begins to listen.
    pub async fn bind(home: Home, settings: Settings) -> Result<Server, Error> {
        let address = SocketAddr::new(settings.bind, settings.port);
        let listener = TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })?;
        let address = listener.local_addr().map_err(|source| Error::Listen { address, source })?;
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let heavy = settings.heavy_requests.max(1);
        let state = AppState {
            registry: CorpusRegistry::open(home),
            metrics: Metrics::default(),
            rate_limiter: RateLimiter::new(settings.requests_per_minute),
            cache: Cache::default(),
            compressed: CompressionCache::default(),
            connection_limiter: Arc::default(),
            seed: jiff::Timestamp::now().as_nanosecond() as u64,
            quick: AdmissionQueue::new(cores * 2, 256, Duration::from_secs(5)),
            heavy: AdmissionQueue::new(heavy, heavy * 2, Duration::from_secs(1)),
            settings,
        };
        Ok(Server { listener, address, state: Arc::new(state) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The languages that can be asked.
    pub fn corpora(&self) -> Vec<String> {
        self.state.registry.corpora().into_iter().map(|(code, _)| code).collect()
    }

    /// Serves until `stop` comes; what is under way is finished.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let open = Arc::new(Semaphore::new(self.state.settings.most_connections.max(1)));
        let (end, ending) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            let slot = open.clone().acquire_owned();
            let accepted = async { (slot.await, self.listener.accept().await) };
            let (slot, accepted) = tokio::select! {
                () = &mut stop => break,
                accepted = accepted => accepted,
            };
            while connections.try_join_next().is_some() {}
            match accepted {
                Ok((stream, peer)) => {
                    let (state, ending) = (self.state.clone(), ending.clone());
                    // Who holds more than their share is hung up on; whoever comes through a proxy is told apart there.
                    let Some(permit) = state.connection_limiter.enter(peer.ip(), state.settings.connections_per_client)
                    else {
                        continue;
                    };
                    connections.spawn(async move {
                        let _held = (slot, permit);
                        state.metrics.connections.fetch_add(1, Relaxed);
                        serve_connection(&state, stream, peer.ip(), ending).await;
                        state.metrics.connections.fetch_sub(1, Relaxed);
                    });
                }
                // No socket is left, most likely: those that are open will end.
                Err(error) => {
                    log::warn!("a connection could not be accepted: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
        drop(self.listener);
        let _ = end.send(true);
        let _ = tokio::time::timeout(SHUTDOWN_GRACE, async { while connections.join_next().await.is_some() {} }).await;
    }
}

/// Answers the requests of one connection.
async fn serve_connection(state: &Arc<AppState>, stream: TcpStream, peer: IpAddr, mut ending: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let state = state.clone();
        async move { Ok::<_, Infallible>(respond(&state, request, peer).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(state.settings.head_patience)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let asked_to_end = async { drop(ending.wait_for(|ends| *ends).await) };
    let conversation = async {
        tokio::select! {
            _ = connection.as_mut() => {}
            () = asked_to_end => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.as_mut().await;
            }
        }
    };
    // Clients that break off, send nonsense or take their time end here; none of that is news.
    let _ = tokio::time::timeout(MAX_CONNECTION_AGE, conversation).await;
}

/// A request from its beginning to the beginning of its answer.
struct InFlight<'r>(&'r Metrics, bool);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Relaxed);
        if !self.1 {
            self.0.abandoned.fetch_add(1, Relaxed);
        }
    }
}

/// Answers one request, whatever it is, and writes it into the log.
async fn respond(state: &Arc<AppState>, request: Request<Incoming>, peer: IpAddr) -> Response<Body> {
    let began = Instant::now();
    state.metrics.under_way.fetch_add(1, Relaxed);
    let mut under_way = InFlight(&state.metrics, false);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut endpoint = "other";
    let mut client = None;
    let answer = match client_of(state, &request, peer) {
        Ok(known) => {
            let answer = answer(state, &request, &known, &mut endpoint).await;
            client = Some(known);
            answer
        }
        Err(error) => Err(error),
    };
    let mut response = match answer {
        Ok(response) => finish_response(state, request.headers(), response).await,
        Err(error) => refused(&error),
    };
    security_headers(&mut response, &state.settings);
    under_way.1 = true;
    let (status, took) = (response.status().as_u16(), began.elapsed());
    state.metrics.answered(endpoint, status, took);
    // What people look for is their own business: parameters, addresses and tokens are not written down.
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

/// Who asks, if they may ask at all.
fn client_of(state: &AppState, request: &Request<Incoming>, peer: IpAddr) -> Result<Client, ApiError> {
    let (headers, settings) = (request.headers(), &state.settings);
    if !is_expected_host(headers, settings) {
        let error = "this server answers to localhost only; `tidings serve --public` opens it to other names";
        return Err(ApiError::new(StatusCode::MISDIRECTED_REQUEST, error));
    }
    if !settings.is_private() {
        let counted = rate_limit_address(headers, peer, settings);
        state.rate_limiter.take(counted, Instant::now()).map_err(|seconds| ApiError {
            retry_after_s: Some(seconds),
            ..ApiError::new(StatusCode::TOO_MANY_REQUESTS, format!("too many requests; ask again in {seconds} s"))
        })?;
    }
    Client::of(headers, peer, &state.registry, settings)
}

/// Finds out what is asked, and answers it.
async fn answer(
    state: &Arc<AppState>,
    request: &Request<Incoming>,
    client: &Client,
    name: &mut &'static str,
) -> Result<Response<Body>, ApiError> {
    let (uri, path) = (request.uri(), request.uri().path());
    if uri.path_and_query().map_or(0, |whole| whole.as_str().len()) > MAX_URI_BYTES {
        return Err(ApiError::new(StatusCode::URI_TOO_LONG, format!("an address has at most {MAX_URI_BYTES} bytes")));
    }
    match *request.method() {
        Method::GET | Method::HEAD => {}
        Method::OPTIONS if state.settings.cors.is_some() => return Ok(permission()),
        _ => return Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this server only reads: use GET")),
    }
    if let Some(file) = assets::find(path) {
        *name = "page";
        return Ok(file);
    }
    match path {
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
            return made.unwrap_or_else(|error| Err(ApiError::broken("the page cannot be made", &error)));
        }
        "/metrics" => {
            *name = "metrics";
            return metrics(state, client);
        }
        _ => {}
    }
    let Some((endpoint, path_values)) = Endpoint::find(path) else {
        return Err(ApiError::unknown("there is nothing here; /api/openapi.json tells what can be asked"));
    };
    *name = endpoint.name;
    let path_values = path_values.into_iter().map(decoded).collect::<Result<Vec<String>, ApiError>>()?;
    let params = QueryParams::read(endpoint, &path_values, uri.query().unwrap_or_default())?;
    let options = ResponseOptions {
        format: params.format,
        link: path.to_owned(),
        base: base_of(request, state),
        gzip: understands_gzip(request.headers()),
    };
    let asked = uri.path_and_query().map_or(path, |whole| whole.as_str());
    let Some(key) = key(state, asked, &params, &options, &path_values, client) else {
        return ask(state, endpoint, params, path_values, options, client).await;
    };
    // Only exact answers get a tag, so that whoever has it has what would be counted again.
    let tag = key.tag(state.seed);
    if has(request.headers(), &tag) {
        return Ok(unchanged(&tag));
    }
    if let Some(answer) = state.cache.get(&key) {
        return Ok(tagged(json_bytes(StatusCode::OK, answer), &tag));
    }
    let began = Instant::now();
    let response = ask(state, endpoint, params, path_values, options, client).await?;
    if response.extensions().get::<Exact>().is_none() {
        return Ok(response);
    }
    if let Body::Whole(Some(answer)) = response.body()
        && began.elapsed() >= MIN_CACHED_TIME
        && response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json")
    {
        state.cache.put(key, answer.clone());
    }
    Ok(tagged(response, &tag))
}

/// Gives an answer its tag.
fn tagged(mut response: Response<Body>, tag: &str) -> Response<Body> {
    response.headers_mut().extend(HeaderValue::from_str(tag).ok().map(|tag| (header::ETAG, tag)));
    response
}

/// What is said to those who have the answer.
fn unchanged(tag: &str) -> Response<Body> {
    let mut response = Response::new(Body::Whole(None));
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    tagged(response, tag)
}

/// The address of this server as a client knows it, for links that leave it.
fn base_of(request: &Request<Incoming>, state: &AppState) -> String {
    let is_name = |host: &&str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let host = header("host").filter(is_name);
    // A proxy in front of us speaks https for us, and says so.
    let is_safe = state.settings.public && header("x-forwarded-proto") == Some("https");
    format!("{}://{}", if is_safe { "https" } else { "http" }, host.unwrap_or("localhost"))
}

/// What all answers have in common: a tag by which those who have them need not get them again, and fewer bytes for those who
/// can unpack them.
async fn finish_response(state: &Arc<AppState>, headers: &HeaderMap, mut response: Response<Body>) -> Response<Body> {
    if response.status() != StatusCode::OK {
        return response;
    }
    if let (Body::Whole(Some(bytes)), false) = (response.body(), response.headers().contains_key(header::ETAG)) {
        let tag = tag_of(bytes);
        if has(headers, &tag) {
            return unchanged(&tag);
        }
        response = tagged(response, &tag);
    }
    let Some(bytes) = compressible(&response).filter(|_| understands_gzip(headers)) else { return response };
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

/// The key under which an answer may be kept; none if it may change although the corpus does not.
fn key(
    state: &AppState,
    request: &str,
    params: &QueryParams,
    options: &ResponseOptions,
    path_values: &[String],
    client: &Client,
) -> Option<Key> {
    let can_change = path_values.is_empty() || params.is_given("in") || params.is_given("cursor");
    // Feeds name the server, which may have several names.
    let base = if options.format == Format::Rss { options.base.as_str() } else { "" };
    let key =
        || Key { request: format!("{base}{request}"), opened: state.registry.opened(), scope: client.right.scope };
    (!options.format.is_stream() && !can_change).then(key)
}

/// Answers a request on a thread of its own, within its lane and its time.
async fn ask(
    state: &Arc<AppState>,
    endpoint: &'static Endpoint,
    params: QueryParams,
    path_values: Vec<String>,
    options: ResponseOptions,
    client: &Client,
) -> Result<Response<Body>, ApiError> {
    let is_heavy = params.cost == Cost::Heavy || options.format.is_stream();
    let permit = if is_heavy { state.heavy.enter().await? } else { state.quick.enter().await? };
    let cancelled = Arc::new(AtomicBool::new(false));
    let cancel_on_drop = CancelOnDrop(cancelled.clone());
    let (first, beginning) = oneshot::channel();
    let (shared, right) = (state.clone(), client.right);
    let time_limit = state.settings.time_limit;
    let until = Instant::now() + time_limit;
    let work = move || {
        let _permit = permit;
        let options = ResponseOptions { link: params.link(&options.link), ..options };
        let mut response = ResponseWriter::new(endpoint, options, &params.fields(), first);
        let deadline = RequestDeadline { until, cancelled };
        let lang = path_values.into_iter().next().unwrap_or_default();
        let request = ApiRequest { registry: &shared.registry, right, params, lang, deadline };
        match request.answer(endpoint, &mut response) {
            Ok(()) => response.finish(),
            Err(RequestError::Timeout) => response.refuse(timed_out(time_limit)),
            Err(RequestError::ClientGone) => {}
            Err(RequestError::Rejected(error)) => response.refuse(error),
        }
    };
    match is_heavy {
        true => spawn_low_priority(work).map_err(|error| ApiError::broken("no thread can be started", &error))?,
        false => drop(tokio::task::spawn_blocking(work)),
    }
    let beginning =
        tokio::time::timeout_at((until + DEADLINE_GRACE).into(), beginning).await.map_err(|_| timed_out(time_limit))?;
    let mut response = beginning.unwrap_or_else(|_| {
        Err(ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the answer could not be made; the log of the server says more",
        ))
    })?;
    // A stream is wanted as long as somebody reads it.
    response.body_mut().cancel_on_drop(cancel_on_drop);
    Ok(response)
}

/// Time is over.
fn timed_out(limit: Duration) -> ApiError {
    let seconds = limit.as_secs_f64();
    let error = format!("this took longer than {seconds} s; ask for a shorter period or a smaller part of the corpus");
    ApiError::busy(error, 30)
}

fn metrics(state: &AppState, client: &Client) -> Result<Response<Body>, ApiError> {
    if !state.settings.is_private() && client.right.scope != Some(Scope::Admin) {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "how the server does is for tokens of the scope admin"));
    }
    let mut response = Response::new(Body::of(state.metrics.text(&state.registry)));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

fn refused(error: &ApiError) -> Response<Body> {
    let mut response = json_response(error.status, &error.json());
    let headers = response.headers_mut();
    if let Some(seconds) = error.retry_after_s {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if error.status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer error=\"invalid_token\""));
    }
    if error.status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

/// What a browser wants to know before it sends a token from another origin.
fn permission() -> Response<Body> {
    let mut response = Response::new(Body::Whole(None));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("authorization"));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// Tells browsers to be careful.
fn security_headers(response: &mut Response<Body>, settings: &Settings) {
    const CAUTION: [(HeaderName, &str); 5] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
             base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "Accept-Encoding, Authorization, Origin"),
    ];
    let headers = response.headers_mut();
    for (name, value) in CAUTION {
        // The files of the page know better how long they may be kept.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    let origin = settings.cors.as_deref().and_then(|origin| HeaderValue::from_str(origin).ok());
    match origin {
        Some(origin) => _ = headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin),
        None => {
            let name = HeaderName::from_static("cross-origin-resource-policy");
            headers.insert(name, HeaderValue::from_static("same-origin"));
        }
    }
}
