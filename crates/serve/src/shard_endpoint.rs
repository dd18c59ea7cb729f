//! What a shard answers to a gateway: parts of answers, which are not cut and not rounded.
//!
//! Parts show more than a client may see, such as every word of the corpus. They are for gateways only, which know the token
//! of the settings and say what the client of the question may do.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_query::question::{PartNotes, QuestionContext, QuestionError, WindowLimit, answer_part};
use tidings_query::trend::Bin;
use tidings_store::tokens::Scope;
use tokio::sync::oneshot;

use crate::api_error::ApiError;
use crate::handler::RequestDeadline;
use crate::handler::sites::documents_of_sites;
use crate::headers::error_response;
use crate::homes_of_shards;
use crate::query_params::decoded;
use crate::response::{Body, CancelOnDrop, json_bytes};
use crate::rights::Right;
use crate::server::AppState;
use crate::settings::Secret;
use crate::shard_client::{VERSION, VERSION_HEADER, read_body};
use crate::window_limiter::ClientId;

/// The root of the paths for gateways.
pub(crate) const ROOT: &str = "/api/v1/shard";
/// The name in the place of a language, of what a shard tells of its home.
pub(crate) const HOME: &str = "-";
/// The longest request for a part: all words of a test.
const MAX_REQUEST_BYTES: usize = 128 << 20;
/// The parts that are answered in milliseconds, nearly always.
const QUICK: &[&str] = &[
    "schema",
    "count",
    "page",
    "rows",
    "timeline",
    "volume",
    "run-days",
    "documents",
    "document",
    "context",
    "by-field",
];

/// A request for a part of an answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PartRequest {
    /// The state of the corpus; the newest if it is missing.
    pub generation: Option<u64>,
    /// The scope of the client.
    pub scope: Option<String>,
    /// Whether the client is the owner of the gateway, on the same machine.
    pub is_private: bool,
    /// The client as limits see it.
    pub client: String,
    /// The time that is left, in milliseconds.
    pub time_limit_ms: u64,
    /// The part that is asked for.
    pub request: Value,
}

impl PartRequest {
    /// The right of the client.
    pub fn right(&self, state: &AppState) -> Right {
        Right {
            scope: self.scope.as_deref().and_then(Scope::named),
            default: state.settings.default_availability,
            is_private: self.is_private,
        }
    }
}

/// What a shard has.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ShardState {
    /// The newest state of each language.
    pub generations: Vec<(String, u64)>,
    /// Documents by site.
    pub sites: Vec<(String, u64)>,
}

/// Whether a path is for gateways.
pub(crate) fn is_path(path: &str) -> bool {
    path.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Answers a gateway. The answers of a shard have its version.
pub(crate) async fn answer(state: &Arc<AppState>, request: Request<Incoming>) -> Result<Response<Body>, ApiError> {
    let Some(token) = &state.settings.shard_token else {
        return Err(ApiError::unknown("this server is no shard; set serve.shard_token_file to let a gateway ask it"));
    };
    let is_known = is_token(token, request.headers().get(AUTHORIZATION));
    let mut response = match is_known {
        true => answer_gateway(state, request).await.unwrap_or_else(|error| error_response(&error)),
        false => error_response(&ApiError::new(
            StatusCode::UNAUTHORIZED,
            "the token of the gateway is not that of this shard; both read it from serve.shard_token_file",
        )),
    };
    response.headers_mut().insert(VERSION_HEADER, HeaderValue::from_static(VERSION));
    Ok(response)
}

async fn answer_gateway(state: &Arc<AppState>, request: Request<Incoming>) -> Result<Response<Body>, ApiError> {
    if *request.method() != Method::POST {
        return Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "gateways use POST"));
    }
    if request.headers().get(VERSION_HEADER).is_some_and(|version| version != VERSION) {
        let error = format!("this shard has the version {VERSION}; gateway and shards must have the same");
        return Err(ApiError::new(StatusCode::UPGRADE_REQUIRED, error));
    }
    let path = request.uri().path().to_owned();
    let body = read_body(request.into_body(), MAX_REQUEST_BYTES).await;
    let body = body.map_err(|_| ApiError::new(StatusCode::BAD_REQUEST, "the body is incomplete"))?;
    let body = body.ok_or_else(|| ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long"))?;
    let state = state.clone();
    let Some((lang, part)) = path[ROOT.len()..].trim_start_matches('/').split_once('/') else {
        let told = tokio::task::spawn_blocking(move || tell(&state)).await;
        return told.unwrap_or_else(|error| Err(ApiError::broken("cannot tell the state", &error)));
    };
    let asked: PartRequest = serde_json::from_slice(&body)
        .map_err(|error| ApiError::new(StatusCode::BAD_REQUEST, format!("wrong body: {error}")))?;
    if lang == HOME {
        let part = part.to_owned();
        let told = tokio::task::spawn_blocking(move || homes_of_shards::tell(&state, &part, asked)).await;
        return told.unwrap_or_else(|error| Err(ApiError::broken("cannot read the home", &error)));
    }
    run(&state, decoded(lang)?, part.to_owned(), asked).await
}

/// Whether a header has the token of the settings; takes the same time for every token of its length.
fn is_token(token: &Secret, header: Option<&HeaderValue>) -> bool {
    let token = token.text();
    let given = header.map(HeaderValue::as_bytes).and_then(|text| text.strip_prefix(b"Bearer ")).unwrap_or_default();
    given.len() == token.len() && given.iter().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// The states and sites of the shard.
fn tell(state: &AppState) -> Result<Response<Body>, ApiError> {
    let corpora = state.registry.corpora();
    let generations = corpora.iter().map(|(code, engine)| (code.clone(), engine.snapshot().generation())).collect();
    let sites = documents_of_sites(&state.registry)?.into_iter().collect();
    let told = serde_json::to_vec(&ShardState { generations, sites }).expect("states serialise");
    Ok(json_bytes(StatusCode::OK, told.into()))
}

/// Answers a part on a worker thread, within its lane and deadline.
async fn run(
    state: &Arc<AppState>,
    lang: String,
    part: String,
    asked: PartRequest,
) -> Result<Response<Body>, ApiError> {
    let client = ClientId::Named(format!("gateway:{}", asked.client));
    let place = state.lanes.enter(client.clone(), !QUICK.contains(&part.as_str())).await?;
    let cancelled = Arc::new(AtomicBool::new(false));
    let _cancel_on_drop = CancelOnDrop(cancelled.clone());
    let (sender, answered) = oneshot::channel();
    let (shared, worker) = (state.clone(), place.clone());
    let time_limit = Duration::from_millis(asked.time_limit_ms).min(state.settings.time_limit);
    let until = Instant::now() + time_limit;
    let work = move || {
        let deadline =
            RequestDeadline { until, time_limit, cancelled, place: worker.clone(), memory: shared.memory.clone() };
        let answer = match compute(&shared, &lang, &part, asked, &client, deadline) {
            _ if worker.is_refused() => Err(ApiError::busy("the places for long queries are taken", 5)),
            answer => answer,
        };
        let _ = sender.send(answer);
    };
    place.spawn(work).map_err(|error| ApiError::broken("cannot start a worker thread", &error))?;
    let bytes = answered.await.map_err(|error| ApiError::broken("a part has no answer", &error))??;
    Ok(match bytes {
        Some(bytes) => json_bytes(StatusCode::OK, bytes.into()),
        None => json_bytes(StatusCode::NO_CONTENT, Bytes::new()),
    })
}

fn compute(
    state: &AppState,
    lang: &str,
    part: &str,
    asked: PartRequest,
    client: &ClientId,
    deadline: RequestDeadline,
) -> Result<Option<Vec<u8>>, ApiError> {
    let registry = &state.registry;
    let epoch = registry.removal_epoch();
    let engine = match (registry.corpus(lang, asked.generation), asked.generation) {
        (Ok(engine), _) => engine,
        // A state that is no longer open, or a corpus that was there.
        (Err(error), Some(_)) if error.parameter.is_some() || error.status == StatusCode::NOT_FOUND => {
            return Err(ApiError::new(StatusCode::CONFLICT, error.error));
        }
        // The shard has no documents of the language.
        (Err(error), None) if error.status == StatusCode::NOT_FOUND => return Ok(None),
        (Err(error), _) => return Err(error),
    };
    let right = asked.right(state);
    let run_days = |bins: &[Bin]| {
        let days = bins.iter().map(|bin| (bin.first.to_string(), bin.last.to_string()));
        registry.day_stats(|stats| stats.days_with_runs(days)).ok().flatten()
    };
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let privacy = right.privacy(today);
    let readable = engine.readable(privacy);
    let per_day = state.settings.kwic_windows_per_day;
    let take =
        |document: &str, position: u64| state.window_limiter.take(client, document, position, per_day as usize, today);
    let limits = deadline.limits();
    let context = QuestionContext {
        engine: readable.as_deref().unwrap_or(&engine),
        vocabulary_limits: limits.clone(),
        limits,
        privacy,
        window_limit: Some(WindowLimit { per_day: per_day.into(), take: &take }).filter(|_| right.has_window_limit()),
        notes: Some(PartNotes::default()),
        run_days: &run_days,
        ..QuestionContext::new(&engine, lang)
    };
    let answer = answer_part(part, asked.request, &context);
    if registry.removal_epoch() != epoch {
        return Err(ApiError::new(StatusCode::CONFLICT, "pages were removed from the corpus meanwhile"));
    }
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error @ QuestionError::NotFound { parameter: "part", .. }) => Err(error.into()),
        Err(error) => {
            registry.intact(lang, engine.clone())?;
            Err(error.into())
        }
    }
}
