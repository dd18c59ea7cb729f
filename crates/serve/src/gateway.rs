//! A gateway: answers questions from shards, each an ordinary server over other sites of the same corpus.
//!
//! A question is answered from one state of each shard. A shard that has a newer state meanwhile and gives the old one no
//! more makes the gateway begin anew. A shard that does not answer is an error that names it, unless the client takes partial
//! answers, which say what they cover.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::StatusCode;
use serde_json::{Value, json};
use tidings_index::Snapshot;
use tidings_query::engine::Engine;
use tidings_query::question::{
    AskShards, CorpusRow, CorpusSchema, Coverage, QuestionContext, QuestionError, QuestionInfo, RowSink, Shards,
    WindowLimit, merged_schema,
};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::api_error::ApiError;
use crate::endpoint::{Endpoint, Handler};
use crate::handler::{ApiRequest, HomeContext, RequestError, ResponseSink, find_filter};
use crate::response::ResponseWriter;
use crate::rights::Right;
use crate::server::AppState;
use crate::shard_client::{ShardAddress, ShardClient, ShardFailure};
use crate::shard_endpoint::{PartRequest, ROOT, ShardState};
use crate::window_limiter::ClientId;

/// Time for which the states of shards are believed, as servers look at their homes once a second.
const STATE_AGE: Duration = Duration::from_secs(1);
/// States that are remembered for cursors.
const MAX_STATES: usize = 64;
/// How often a question begins anew because a shard changed.
const MAX_RESTARTS: usize = 2;
/// The highest number of shards.
pub(crate) const MAX_SHARDS: usize = 64;
/// Endpoints about the home of the gateway itself.
const OWN: &[&str] = &["server", "corpora-named", "searches"];

/// The shards of a gateway.
#[derive(Debug)]
pub(crate) struct Gateway {
    shards: Vec<Arc<ShardClient>>,
    /// What is known of a language, for clients with the same right.
    known: Mutex<BTreeMap<(String, String), Known>>,
    /// Earlier states of languages.
    states: Mutex<VecDeque<(String, u64, Generations)>>,
    /// An engine without documents.
    nothing: Arc<Engine>,
}

/// The state of each shard; nothing for one that has no documents of the language, or does not answer.
type Generations = Vec<Option<u64>>;

#[derive(Debug, Clone)]
struct Known {
    at: Instant,
    generations: Generations,
    schema: Arc<CorpusSchema>,
    /// Shards that do not answer.
    missing: usize,
}

impl Gateway {
    pub fn new(shards: &[ShardAddress], token: &str) -> Gateway {
        Gateway {
            shards: shards.iter().map(|address| ShardClient::new(address.clone(), token)).collect(),
            known: Mutex::default(),
            states: Mutex::default(),
            nothing: Arc::new(Engine::new(Snapshot::empty())),
        }
    }

    /// Asks some shards the same at the same time.
    fn ask_all(
        &self,
        path: &str,
        bodies: Vec<Option<Bytes>>,
        time_limit: Duration,
    ) -> Vec<Option<Result<(StatusCode, Bytes), ShardFailure>>> {
        let mut answers: Vec<_> = bodies.iter().map(|_| None).collect();
        Handle::current().block_on(async {
            let mut asked = JoinSet::new();
            for (number, body) in bodies.into_iter().enumerate() {
                let Some(body) = body else { continue };
                let (shard, path) = (self.shards[number].clone(), path.to_owned());
                asked.spawn(async move { (number, shard.post(&path, body, time_limit).await) });
            }
            while let Some(joined) = asked.join_next().await {
                if let Ok((number, answer)) = joined {
                    answers[number] = Some(answer);
                }
            }
        });
        answers
    }

    /// The states and sites of all shards. An error names the first that does not answer.
    fn states(&self, time_limit: Duration) -> Result<Vec<ShardState>, ApiError> {
        let bodies = self.shards.iter().map(|_| Some(Bytes::from_static(b"{}"))).collect();
        let mut states = Vec::with_capacity(self.shards.len());
        for (shard, answer) in self.shards.iter().zip(self.ask_all(ROOT, bodies, time_limit)) {
            let body = match answer {
                Some(Ok((StatusCode::OK, body))) => body,
                Some(Ok((status, body))) => return Err(refusal(shard, status, &body).into()),
                Some(Err(failure)) => return Err(silent(shard, &failure).into()),
                None => return Err(silent(shard, &ShardFailure::Timeout).into()),
            };
            states.push(serde_json::from_slice(&body).map_err(|_| {
                ApiError::new(StatusCode::BAD_GATEWAY, format!("the shard {} has no state", shard.address))
            })?);
        }
        Ok(states)
    }

    /// The corpora of all shards.
    fn corpora(&self, right: Right, time_limit: Duration) -> Result<Vec<CorpusRow>, ApiError> {
        let mut codes: Vec<String> =
            self.states(time_limit)?.into_iter().flat_map(|state| state.generations).map(|(code, _)| code).collect();
        codes.sort_unstable();
        codes.dedup();
        let row = |code: String| {
            let session = Session {
                gateway: self,
                lang: &code,
                right,
                client: String::new(),
                until: Instant::now() + time_limit,
                is_partial: false,
                generations: vec![None; self.shards.len()],
                is_opening: true,
            };
            let known = session.known()?;
            Ok(known.schema.row(&code, generation_of(&known.generations)))
        };
        codes.into_iter().map(row).collect()
    }

    /// The documents of each site.
    fn sites(&self, time_limit: Duration) -> Result<BTreeMap<String, u64>, ApiError> {
        let mut sites = BTreeMap::new();
        for (site, documents) in self.states(time_limit)?.into_iter().flat_map(|state| state.sites) {
            *sites.entry(site).or_default() += documents;
        }
        Ok(sites)
    }

    fn remember(&self, lang: &str, generations: &Generations) {
        let state = (lang.to_owned(), generation_of(generations), generations.clone());
        let mut states = self.states.lock().expect("no panic while held");
        if !states.contains(&state) {
            states.push_back(state);
        }
        if states.len() > MAX_STATES {
            states.pop_front();
        }
    }

    fn remembered(&self, lang: &str, generation: u64) -> Option<Generations> {
        let states = self.states.lock().expect("no panic while held");
        let mut of_lang = states.iter().rev().filter(|(known, ..)| known == lang);
        of_lang.find(|(_, known, _)| *known == generation).map(|(.., generations)| generations.clone())
    }
}

/// The state of the corpus: the sum of those of its shards, which grows with each of them.
fn generation_of(generations: &Generations) -> u64 {
    generations.iter().flatten().sum()
}

/// The error of a shard that does not answer.
fn silent(shard: &ShardClient, failure: &ShardFailure) -> QuestionError {
    log::warn!("the shard {} does not answer: {failure}", shard.address);
    let message = format!(
        "the shard {} does not answer ({failure}); try again in a moment, or add partial=1 for an answer without it",
        shard.address
    );
    QuestionError::Shard { status: 503, parameter: None, message }
}

/// The error of a shard that refuses.
fn refusal(shard: &ShardClient, status: StatusCode, body: &[u8]) -> QuestionError {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = body["error"].as_str().unwrap_or("it gives no reason");
    // What the client did wrong is its business; what the shard has wrong is not.
    let is_of_client = matches!(status.as_u16(), 400 | 403 | 404 | 413 | 422 | 501);
    let message = match is_of_client {
        true => message.to_owned(),
        false => format!("the shard {} refuses: {message}", shard.address),
    };
    let parameter = body["parameter"].as_str().map(str::to_owned).filter(|_| is_of_client);
    QuestionError::Shard { status: if is_of_client { status.as_u16() } else { 503 }, parameter, message }
}

/// The shards as one question asks them, in one state of each.
struct Session<'g> {
    gateway: &'g Gateway,
    lang: &'g str,
    right: Right,
    client: String,
    until: Instant,
    /// Whether the client takes partial answers.
    is_partial: bool,
    generations: Generations,
    /// Whether states are not known yet, so that every shard is asked for its newest.
    is_opening: bool,
}

/// The answers to a part, as the shards sent them.
type PartAnswers = Vec<Option<Vec<u8>>>;

impl Session<'_> {
    /// Asks for a part; the number of shards that do not answer is left out of a partial answer.
    fn post(
        &self,
        part: &str,
        request: &(dyn Fn(usize) -> Option<Value> + Sync),
    ) -> Result<(PartAnswers, usize), QuestionError> {
        let left = self.until.saturating_duration_since(Instant::now());
        let body = |shard: usize| {
            let generation = self.generations[shard];
            if generation.is_none() && !self.is_opening {
                return None;
            }
            let asked = PartRequest {
                generation,
                scope: self.right.scope.map(|scope| scope.name().to_owned()),
                is_private: self.right.is_private,
                client: self.client.clone(),
                time_limit_ms: left.as_millis() as u64,
                request: request(shard)?,
            };
            Some(Bytes::from(serde_json::to_vec(&asked).expect("requests serialise")))
        };
        let gateway = self.gateway;
        let bodies = (0..gateway.shards.len()).map(body).collect();
        // Shards end by themselves at the deadline, with a partial answer or none.
        let time_limit = left + Duration::from_secs(1);
        let answers = gateway.ask_all(&format!("{ROOT}/{}/{part}", self.lang), bodies, time_limit);
        let (mut bytes, mut missing) = (Vec::with_capacity(answers.len()), 0);
        for (shard, answer) in gateway.shards.iter().zip(answers) {
            bytes.push(match answer {
                None => None,
                Some(Ok((StatusCode::OK, body))) => Some(body.to_vec()),
                Some(Ok((StatusCode::CONFLICT, _))) => return Err(QuestionError::ShardsChanged),
                Some(Ok((StatusCode::NOT_FOUND, _))) if self.is_opening => None,
                Some(Ok((status, body))) => return Err(refusal(shard, status, &body)),
                Some(Err(failure)) => {
                    let error = silent(shard, &failure);
                    if !self.is_partial {
                        return Err(error);
                    }
                    if !self.is_opening {
                        // It was there a moment ago: begin anew without it.
                        return Err(QuestionError::ShardsChanged);
                    }
                    missing += 1;
                    None
                }
            });
        }
        Ok((bytes, missing))
    }

    /// What all shards have, in the newest state of each.
    fn known(&self) -> Result<Known, ApiError> {
        let key = (self.lang.to_owned(), format!("{:?} {}", self.right, self.is_partial));
        let mut all = self.gateway.known.lock().expect("no panic while held");
        if let Some(known) = all.get(&key).filter(|known| known.at.elapsed() < STATE_AGE) {
            return Ok(known.clone());
        }
        drop(all);
        let known = self.ask_for_state()?;
        all = self.gateway.known.lock().expect("no panic while held");
        all.insert(key, known.clone());
        Ok(known)
    }

    fn ask_for_state(&self) -> Result<Known, ApiError> {
        let (answers, missing) = self.post("schema", &|_| Some(json!({})))?;
        if answers.iter().all(Option::is_none) && missing == 0 {
            return Err(ApiError::unknown(format!("no shard has a corpus for language `{}`", self.lang)));
        }
        if answers.iter().all(Option::is_none) {
            return Err(ApiError::busy("no shard answers", 5));
        }
        let generation = |answer: &Option<Vec<u8>>| {
            let answer: Value = serde_json::from_slice(answer.as_ref()?).ok()?;
            answer["sum"]["generation"].as_u64()
        };
        let generations: Generations = answers.iter().map(generation).collect();
        let schema = Arc::new(merged_schema(&answers)?);
        self.gateway.remember(self.lang, &generations);
        Ok(Known { at: Instant::now(), generations, schema, missing })
    }
}

impl AskShards for Session<'_> {
    fn ask(
        &self,
        part: &'static str,
        request: &(dyn Fn(usize) -> Option<Value> + Sync),
    ) -> Result<PartAnswers, QuestionError> {
        Ok(self.post(part, request)?.0)
    }
}

impl ApiRequest<'_> {
    /// Answers the request from shards.
    pub(crate) fn answer_from_shards(
        self,
        gateway: &Gateway,
        endpoint: &Endpoint,
        response: &mut ResponseWriter,
    ) -> Result<(), RequestError> {
        let time_limit = self.deadline.until.saturating_duration_since(Instant::now());
        match endpoint.handler {
            Handler::Question(question) => self.question_from_shards(gateway, question, response),
            Handler::Home(answer) if OWN.contains(&endpoint.name) => {
                let AppState { registry, settings, .. } = self.state;
                let context = HomeContext { registry, settings, right: self.right };
                Ok(response.body(answer(self.params.values, &context)?)?)
            }
            Handler::Home(_) if endpoint.name == "corpora" => {
                let corpora = gateway.corpora(self.right, time_limit)?;
                Ok(response.body(json!({ "corpora": corpora }))?)
            }
            Handler::Home(_) if endpoint.name == "sites" => {
                let limit = self.params.canonical["limit"].as_u64().unwrap_or(0);
                let sites = crate::handler::sites::ranked(gateway.sites(time_limit)?, limit);
                Ok(response.body(serde_json::to_value(sites).expect("answers serialise"))?)
            }
            Handler::Home(_) => Err(not_merged(endpoint.name).into()),
        }
    }

    fn question_from_shards(
        self,
        gateway: &Gateway,
        question: &QuestionInfo,
        response: &mut ResponseWriter,
    ) -> Result<(), RequestError> {
        if !question.is_sharded {
            return Err(not_merged(question.name).into());
        }
        let cursor = self.params.cursor().map(|cursor| cursor.generation);
        let mut restarts = 0;
        let limits = self.deadline.clone().limits();
        loop {
            let session = Session {
                gateway,
                lang: &self.lang,
                right: self.right,
                client: client_name(&self.client),
                until: self.deadline.until,
                is_partial: self.params.is_partial,
                generations: vec![None; gateway.shards.len()],
                is_opening: true,
            };
            let mut known = session.known()?;
            if let Some(generation) = cursor.filter(|generation| *generation != generation_of(&known.generations)) {
                known.generations = gateway.remembered(&self.lang, generation).ok_or_else(outdated_cursor)?;
            }
            let session = Session { generations: known.generations.clone(), is_opening: false, ..session };
            let of_shards = gateway.shards.len() as u64;
            let coverage =
                Coverage { shards: of_shards - known.missing as u64, of_shards, tokens: known.schema.tokens };
            let shards = Shards {
                ask: &session,
                schema: &known.schema,
                generation: generation_of(&known.generations),
                coverage: Some(coverage).filter(|_| known.missing > 0),
            };
            let registry = &self.state.registry;
            let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
            let per_day = self.state.settings.kwic_windows_per_day;
            // The shards count lines.
            let window_limit = WindowLimit { per_day: per_day.into(), take: &|_, _| true };
            let find_filter = |name: &str| find_filter(registry, name);
            let context = QuestionContext {
                vocabulary_limits: limits.clone(),
                limits: limits.clone(),
                privacy: self.right.privacy(today),
                window_limit: Some(window_limit).filter(|_| self.right.has_window_limit()),
                find_filter: &find_filter,
                streams: response.is_stream(),
                shards: Some(shards),
                ..QuestionContext::new(&gateway.nothing, &self.lang)
            };
            let answered = match (question.answer)(self.params.values.clone(), &context) {
                Err(QuestionError::ShardsChanged) if cursor.is_some() => return Err(outdated_cursor().into()),
                Err(QuestionError::ShardsChanged) if restarts < MAX_RESTARTS => {
                    restarts += 1;
                    gateway.known.lock().expect("no panic while held").clear();
                    continue;
                }
                Err(QuestionError::Timeout) => return Err(RequestError::Timeout),
                answered => answered?,
            };
            let mut sink = ResponseSink::new(response);
            let mut answered = answered;
            let rows = answered.body.as_object_mut().and_then(|body| body.remove(question.rows));
            sink.head(answered);
            if let Some(Value::Array(rows)) = rows {
                let given = rows.iter().try_for_each(|row| sink.row(row));
                if given == ControlFlow::Break(()) {
                    return Err(RequestError::ClientGone);
                }
            }
            return Ok(());
        }
    }
}

/// The client as the shards' limits see it.
fn client_name(client: &ClientId) -> String {
    match client {
        ClientId::Named(name) => format!("name {name}"),
        ClientId::Network(address) => format!("address {address}"),
    }
}

fn not_merged(name: &str) -> ApiError {
    let error = format!(
        "{name} cannot be put together from shards; ask a server that has the whole corpus in one index, or a shard for \
         its own part"
    );
    ApiError::new(StatusCode::NOT_IMPLEMENTED, error)
}

fn outdated_cursor() -> ApiError {
    ApiError::wrong("cursor", "the corpus has changed since this cursor was issued; request the first page again")
}
