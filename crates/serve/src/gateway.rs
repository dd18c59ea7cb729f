//! A gateway: answers questions from shards, each an ordinary server over other sites of the same corpus.
//!
//! A question is answered from one state of each shard. A shard that has a newer state meanwhile and gives the old one no
//! more makes the gateway begin anew. A shard that does not answer is an error that names it, unless the client takes partial
//! answers, which say what they cover.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::StatusCode;
use serde_json::{Value, json};
use tidings_index::Snapshot;
use tidings_query::engine::Engine;
use tidings_query::question::{
    AskShards, CorpusRow, CorpusSchema, Coverage, QuestionContext, QuestionError, QuestionInfo, Shards, WindowLimit,
    merged_schema,
};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::api_error::ApiError;
use crate::endpoint::{Endpoint, Handler};
use crate::handler::decisions;
use crate::handler::{ApiRequest, HomeContext, RequestDeadline, RequestError, ResponseSink, find_filter};
use crate::homes_of_shards::HomesOfShards;
use crate::respond::DEADLINE_GRACE;
use crate::response::ResponseWriter;
use crate::rights::Right;
use crate::server::AppState;
use crate::settings::Secret;
use crate::shard_client::{MAX_PART_BYTES, ShardAddress, ShardAnswer, ShardClient, ShardFailure};
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
const OWN: &[&str] = &["server", "corpora-named", "searches", "decisions"];

/// The most bytes of the reason that a shard gives for a refusal.
const MAX_REASON_BYTES: usize = 2000;
/// The time between two looks at whether the client still waits.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);
/// The share of the time that is left for which a client that takes partial answers waits for a shard.
const PARTIAL_PATIENCE: u32 = 3;
/// The time after the deadline for which a shard is waited for: less than the grace of a request, so that there is time to
/// name the shard.
const SHARD_GRACE: Duration = Duration::from_millis(DEADLINE_GRACE.as_millis() as u64 / 2);

/// The shards of a gateway.
#[derive(Debug)]
pub(crate) struct Gateway {
    shards: Vec<Arc<ShardClient>>,
    /// What is known of a language, for clients with the same right.
    known: Mutex<BTreeMap<KnownKey, Known>>,
    /// Earlier states of languages, for cursors.
    states: Mutex<VecDeque<(KnownKey, Known)>>,
    /// An engine without documents.
    nothing: Arc<Engine>,
}

/// The state of each shard; nothing for one that has no documents of the language, or does not answer.
type Generations = Vec<Option<u64>>;

/// A language, with the right of the client and whether it takes partial answers.
type KnownKey = (String, String);

#[derive(Debug, Clone)]
struct Known {
    at: Instant,
    generations: Generations,
    schema: Arc<CorpusSchema>,
    /// Shards that do not answer.
    missing: usize,
}

impl Known {
    /// The state of the corpus.
    fn generation(&self) -> u64 {
        generation_of(&self.generations)
    }
}

impl Gateway {
    pub fn new(shards: &[ShardAddress], token: &Secret) -> Gateway {
        Gateway {
            shards: shards.iter().map(|address| ShardClient::new(address.clone(), token)).collect(),
            known: Mutex::default(),
            states: Mutex::default(),
            nothing: Arc::new(Engine::new(Snapshot::empty())),
        }
    }

    /// Asks some shards the same at the same time. Stops waiting for all of them when the client has gone or, unless failures
    /// are `tolerated`, when one of them fails.
    fn ask_all(&self, path: &str, bodies: Vec<Option<Bytes>>, patience: &Patience<'_>) -> Vec<Option<ShardResult>> {
        let mut answers: Vec<Option<ShardResult>> = bodies.iter().map(|_| None).collect();
        let bytes_left = Arc::new(AtomicUsize::new(MAX_PART_BYTES));
        Handle::current().block_on(async {
            // Requests that are dropped close their connections, which cancels the work of the shards.
            let mut asked = JoinSet::new();
            for (number, body) in bodies.into_iter().enumerate() {
                let Some(body) = body else { continue };
                answers[number] = Some(Err(ShardFailure::Cancelled));
                let (shard, path, bytes_left) = (self.shards[number].clone(), path.to_owned(), bytes_left.clone());
                let time_limit = patience.time_limit;
                asked.spawn(async move { (number, shard.post(&path, body, time_limit, &bytes_left).await) });
            }
            let mut watch = tokio::time::interval(WATCH_INTERVAL);
            loop {
                let joined = tokio::select! {
                    joined = asked.join_next() => joined,
                    _ = watch.tick() => match (patience.is_cancelled)() {
                        true => break,
                        false => continue,
                    },
                };
                match joined {
                    None => break,
                    Some(Err(_)) => {}
                    Some(Ok((number, answer))) => {
                        let is_failure = answer.is_err();
                        answers[number] = Some(answer);
                        if is_failure && !patience.tolerates_failures {
                            break;
                        }
                    }
                }
            }
        });
        answers
    }

    /// The answers of all shards to the same request about their homes. An error names a shard that does not answer.
    pub(crate) fn homes(&self, path: &str, body: &Bytes, deadline: &RequestDeadline) -> Result<Vec<Bytes>, ApiError> {
        let bodies = self.shards.iter().map(|_| Some(body.clone())).collect();
        let patience = Patience {
            time_limit: deadline.until.saturating_duration_since(Instant::now()),
            tolerates_failures: false,
            is_cancelled: &|| deadline.cancelled.load(Relaxed),
        };
        let answers = self.ask_all(path, bodies, &patience);
        self.failed(&answers)?;
        let mut found = Vec::with_capacity(answers.len());
        for (shard, answer) in self.shards.iter().zip(answers) {
            match answer {
                Some(Ok(ShardAnswer { status: StatusCode::OK, body })) => found.push(body),
                Some(Ok(ShardAnswer { status, body })) => return Err(refusal(shard, status, &body).into()),
                Some(Err(failure)) => return Err(silent(shard, &failure).into()),
                None => return Err(silent(shard, &ShardFailure::Timeout).into()),
            }
        }
        Ok(found)
    }

    /// The error of the first shard that failed by itself; others were only not waited for.
    fn failed(&self, answers: &[Option<ShardResult>]) -> Result<(), QuestionError> {
        let failures = self.shards.iter().zip(answers).filter_map(|(shard, answer)| match answer {
            Some(Err(failure)) if !matches!(failure, ShardFailure::Cancelled) => Some(silent(shard, failure)),
            _ => None,
        });
        failures.into_iter().next().map_or(Ok(()), Err)
    }

    /// The addresses of the shards.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = String> {
        self.shards.iter().map(|shard| shard.address.to_string())
    }

    /// The states and sites of all shards.
    fn states(&self, deadline: &RequestDeadline) -> Result<Vec<ShardState>, ApiError> {
        let told = self.homes(ROOT, &Bytes::from_static(b"{}"), deadline)?;
        let states = self.shards.iter().zip(told).map(|(shard, body)| {
            serde_json::from_slice(&body).map_err(|_| {
                ApiError::new(StatusCode::BAD_GATEWAY, format!("the shard {} has no state", shard.address))
            })
        });
        states.collect()
    }

    /// The corpora of all shards.
    fn corpora(&self, right: Right, deadline: &RequestDeadline) -> Result<Vec<CorpusRow>, ApiError> {
        let states = self.states(deadline)?;
        let mut codes: Vec<String> =
            states.into_iter().flat_map(|state| state.generations).map(|(code, _)| code).collect();
        codes.sort_unstable();
        codes.dedup();
        let row = |code: String| {
            let session = Session {
                gateway: self,
                lang: &code,
                right,
                client: String::new(),
                deadline,
                is_partial: false,
                excluded: &Mutex::default(),
                generations: vec![None; self.shards.len()],
                is_opening: true,
            };
            let known = session.known()?;
            Ok(known.schema.row(&code, known.generation()))
        };
        codes.into_iter().map(row).collect()
    }

    /// The documents of each site.
    fn sites(&self, deadline: &RequestDeadline) -> Result<BTreeMap<String, u64>, ApiError> {
        let mut sites = BTreeMap::<String, u64>::new();
        for (site, documents) in self.states(deadline)?.into_iter().flat_map(|state| state.sites) {
            let sum = sites.entry(site).or_default();
            *sum = sum.saturating_add(documents);
        }
        Ok(sites)
    }

    fn remember(&self, key: &KnownKey, known: &Known) {
        let mut states = self.states.lock().expect("no panic while held");
        states.retain(|(of, state)| of != key || state.generations != known.generations);
        states.push_back((key.clone(), known.clone()));
        if states.len() > MAX_STATES {
            states.pop_front();
        }
    }

    /// The newest state of a number. One of some shards is none for clients that do not take partial answers.
    fn remembered(&self, key: &KnownKey, generation: u64) -> Option<Known> {
        let states = self.states.lock().expect("no panic while held");
        let mut found = states.iter().rev().filter(|(of, state)| of == key && state.generation() == generation);
        found.next().map(|(_, state)| state.clone())
    }
}

/// The answer of a shard, or the reason why there is none.
type ShardResult = Result<ShardAnswer, ShardFailure>;

/// How long shards are waited for.
struct Patience<'p> {
    time_limit: Duration,
    /// Whether the answers of the others are of use if one does not answer.
    tolerates_failures: bool,
    is_cancelled: &'p dyn Fn() -> bool,
}

/// The state of the corpus: the sum of those of its shards, which grows with each of them.
fn generation_of(generations: &Generations) -> u64 {
    generations.iter().flatten().fold(0u64, |sum, generation| sum.saturating_add(*generation))
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
    let mut message = body["error"].as_str().unwrap_or("it gives no reason").to_owned();
    message.truncate(message.floor_char_boundary(MAX_REASON_BYTES));
    let parameter = body["parameter"].as_str().map(str::to_owned);
    // What the client did wrong is its business; what the shard has wrong is not.
    let is_of_client = match status.as_u16() {
        400 | 404 => parameter.as_ref().is_some_and(|parameter| parameter != "part"),
        403 | 413 | 422 => true,
        _ => false,
    };
    if !is_of_client {
        message = format!("the shard {} refuses: {message}", shard.address);
    }
    let parameter = parameter.filter(|_| is_of_client);
    QuestionError::Shard { status: if is_of_client { status.as_u16() } else { 503 }, parameter, message }
}

/// The shards as one question asks them, in one state of each.
struct Session<'g> {
    gateway: &'g Gateway,
    lang: &'g str,
    right: Right,
    client: String,
    deadline: &'g RequestDeadline,
    /// Whether the client takes partial answers.
    is_partial: bool,
    /// The shards that did not answer a part, and are left out of a partial answer.
    excluded: &'g Mutex<BTreeSet<usize>>,
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
        let left = self.deadline.until.saturating_duration_since(Instant::now());
        // A shard that is slow must leave time for an answer without it.
        let left = if self.is_partial { left / PARTIAL_PATIENCE } else { left };
        let excluded = self.excluded.lock().expect("no panic while held").clone();
        let body = |shard: usize| {
            let generation = self.generations[shard];
            if generation.is_none() && !self.is_opening || excluded.contains(&shard) {
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
        let patience = Patience {
            // Shards end by themselves at the deadline, with a partial answer or none.
            time_limit: if self.is_partial { left } else { left + SHARD_GRACE },
            tolerates_failures: self.is_partial,
            is_cancelled: &|| self.deadline.cancelled.load(Relaxed),
        };
        let answers = gateway.ask_all(&format!("{ROOT}/{}/{part}", self.lang), bodies, &patience);
        if (patience.is_cancelled)() {
            return Err(QuestionError::Timeout);
        }
        if !self.is_partial {
            gateway.failed(&answers)?;
        }
        let (mut bytes, mut missing) = (Vec::with_capacity(answers.len()), 0);
        for (number, (shard, answer)) in gateway.shards.iter().zip(answers).enumerate() {
            bytes.push(match answer {
                None => {
                    missing += usize::from(excluded.contains(&number));
                    None
                }
                Some(Ok(ShardAnswer { status: StatusCode::OK, body })) => Some(body.to_vec()),
                Some(Ok(ShardAnswer { status: StatusCode::CONFLICT, .. })) => return Err(QuestionError::ShardsChanged),
                // The shard has no documents of the language.
                Some(Ok(ShardAnswer { status: StatusCode::NO_CONTENT, .. })) if self.is_opening => None,
                Some(Ok(ShardAnswer { status, body })) => return Err(refusal(shard, status, &body)),
                Some(Err(failure)) => {
                    let error = silent(shard, &failure);
                    if !self.is_partial {
                        return Err(error);
                    }
                    // Begin anew without it, so that all parts of the answer are of the same shards.
                    self.excluded.lock().expect("no panic while held").insert(number);
                    if !self.is_opening {
                        return Err(QuestionError::ShardsChanged);
                    }
                    missing += 1;
                    None
                }
            });
        }
        Ok((bytes, missing))
    }

    fn key(&self) -> KnownKey {
        (self.lang.to_owned(), format!("{:?} {}", self.right, self.is_partial))
    }

    /// What all shards have, in the newest state of each.
    fn known(&self) -> Result<Known, ApiError> {
        let key = self.key();
        let is_excluding = !self.excluded.lock().expect("no panic while held").is_empty();
        let mut all = self.gateway.known.lock().expect("no panic while held");
        if let Some(known) = all.get(&key).filter(|known| !is_excluding && known.at.elapsed() < STATE_AGE) {
            return Ok(known.clone());
        }
        drop(all);
        let known = self.ask_for_state()?;
        self.gateway.remember(&key, &known);
        all = self.gateway.known.lock().expect("no panic while held");
        if all.len() >= MAX_STATES {
            all.retain(|_, known| known.at.elapsed() < STATE_AGE);
        }
        all.insert(key, known.clone());
        Ok(known)
    }

    fn ask_for_state(&self) -> Result<Known, ApiError> {
        let (answers, missing) = self.post("schema", &|_| Some(json!({ "part": {} })))?;
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
        match endpoint.handler {
            Handler::Question(question) => self.question_from_shards(gateway, question, response),
            Handler::Home(answer) if OWN.contains(&endpoint.name) => {
                let AppState { registry, settings, .. } = self.state;
                let context = HomeContext { registry, settings, right: self.right };
                Ok(response.body(answer(self.params.values, &context)?)?)
            }
            Handler::Home(_) if endpoint.name == "corpora" => {
                let corpora = gateway.corpora(self.right, &self.deadline)?;
                Ok(response.body(json!({ "corpora": corpora }))?)
            }
            Handler::Home(_) if endpoint.name == "sites" => {
                let limit = self.params.canonical["limit"].as_u64().unwrap_or(0);
                let sites = crate::handler::sites::ranked(gateway.sites(&self.deadline)?, limit);
                Ok(response.body(serde_json::to_value(sites).expect("answers serialise"))?)
            }
            Handler::Home(_) => {
                let homes = HomesOfShards { gateway, right: self.right, deadline: &self.deadline };
                Ok(response.body(homes.answer(endpoint.name, self.params.values)?)?)
            }
        }
    }

    fn question_from_shards(
        self,
        gateway: &Gateway,
        question: &QuestionInfo,
        response: &mut ResponseWriter,
    ) -> Result<(), RequestError> {
        if self.params.as_of.is_some() {
            let message = "a gateway has no frozen states, because its shards freeze theirs one by one; ask a server with the \
                           whole corpus in one home, or the shards themselves";
            return Err(ApiError::wrong("as_of", message).into());
        }
        let cursor = self.params.cursor().map(|cursor| cursor.generation);
        let mut restarts = 0;
        let limits = self.deadline.clone().limits();
        let excluded = Mutex::default();
        let mut sink = ResponseSink::new(response);
        loop {
            let session = Session {
                gateway,
                lang: &self.lang,
                right: self.right,
                client: client_name(&self.client),
                deadline: &self.deadline,
                is_partial: self.params.is_partial,
                excluded: &excluded,
                generations: vec![None; gateway.shards.len()],
                is_opening: true,
            };
            let mut known = session.known()?;
            if let Some(generation) = cursor.filter(|generation| *generation != known.generation()) {
                known = gateway.remembered(&session.key(), generation).ok_or_else(outdated_cursor)?;
            }
            let session = Session { generations: known.generations.clone(), is_opening: false, ..session };
            let of_shards = gateway.shards.len() as u64;
            let coverage =
                Coverage { shards: of_shards - known.missing as u64, of_shards, tokens: known.schema.tokens };
            let shards = Shards {
                ask: &session,
                schema: &known.schema,
                generation: known.generation(),
                number: gateway.shards.len(),
                coverage: Some(coverage).filter(|_| known.missing > 0),
            };
            let registry = &self.state.registry;
            let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
            let per_day = self.state.settings.kwic_windows_per_day;
            // The shards count lines.
            let window_limit = WindowLimit { per_day: per_day.into(), take: &|_, _| true };
            let find_filter = |name: &str| find_filter(registry, name);
            let find_decisions = || decisions::find_for(registry, &self.lang, self.right);
            let context = QuestionContext {
                vocabulary_limits: limits.clone(),
                limits: limits.clone(),
                privacy: self.right.privacy(today),
                window_limit: Some(window_limit).filter(|_| self.right.has_window_limit()),
                find_filter: &find_filter,
                find_decisions: &find_decisions,
                streams: sink.is_stream(),
                shards: Some(shards),
                ..QuestionContext::new(&gateway.nothing, &self.lang)
            };
            let missing = excluded.lock().expect("no panic while held").len();
            match (question.stream)(self.params.values.clone(), &context, &mut sink) {
                _ if sink.is_gone() => return Err(RequestError::ClientGone),
                Err(QuestionError::ShardsChanged) if cursor.is_some() => return Err(outdated_cursor().into()),
                Err(QuestionError::ShardsChanged) if !sink.has_begun() => {
                    // Each shard that does not answer is left out once.
                    let is_shorter = excluded.lock().expect("no panic while held").len() > missing;
                    if !is_shorter {
                        restarts += 1;
                    }
                    if restarts > MAX_RESTARTS {
                        return Err(QuestionError::ShardsChanged.into());
                    }
                    gateway.known.lock().expect("no panic while held").clear();
                }
                Err(QuestionError::Timeout) => return Err(RequestError::Timeout),
                answered => return Ok(answered?),
            }
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

fn outdated_cursor() -> ApiError {
    ApiError::wrong("cursor", "the corpus has changed since this cursor was issued; request the first page again")
}
