//! Questions about the collection, over the homes of all shards: sums where days add up, and lists that name the shard.

use std::collections::BTreeMap;

use bytes::Bytes;
use hyper::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tidings_query::question::{Values, request};
use tidings_store::day_stats::{Annotated, DayStats, Judged};
use tidings_store::yields::Yield;

use crate::api_error::ApiError;
use crate::endpoint::{ENDPOINTS, Endpoint, Handler};
use crate::gateway::Gateway;
use crate::handler::collection::{CollectionRequest, DaysRequest, LanguagesRequest, feeds_by_health};
use crate::handler::feeds::YieldSum;
use crate::handler::{HomeContext, RequestDeadline};
use crate::response::{Body, json_bytes};
use crate::rights::Right;
use crate::server::AppState;
use crate::shard_endpoint::{HOME, PartRequest, ROOT};

/// The name of the statistics of days in requests to shards.
const STATS: &str = "day-stats";

/// The feeds and the days of a home.
#[derive(Debug, Default, Serialize, Deserialize)]
struct HomeStats {
    /// Feeds by health.
    feeds: BTreeMap<String, u64>,
    days: BTreeMap<String, DayStats>,
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn add_all(sums: &mut BTreeMap<String, u64>, more: BTreeMap<String, u64>) {
    more.into_iter().for_each(|(name, count)| add(sums.entry(name).or_default(), count));
}

fn add_yield(sum: &mut Yield, more: &Yield) {
    add(&mut sum.pages, more.pages);
    add(&mut sum.documents, more.documents);
    add(&mut sum.downloaded, more.downloaded);
    add(&mut sum.clean, more.clean);
}

fn add_judged(sum: &mut Judged, more: &Judged) {
    add(&mut sum.documents, more.documents);
    add(&mut sum.duplicates, more.duplicates);
    add(&mut sum.words, more.words);
    add(&mut sum.duplicate_words, more.duplicate_words);
}

fn add_text(sum: &mut Annotated, more: Annotated) {
    add_all(&mut sum.documents, more.documents);
    add_all(&mut sum.dropped, more.dropped);
    add_all(&mut sum.tokens, more.tokens);
}

/// Adds the same day of another home, which has other feeds and hosts.
fn add_day(sum: &mut DayStats, more: DayStats) {
    add(&mut sum.runs, more.runs);
    add(&mut sum.feeds, more.feeds);
    add(&mut sum.hosts, more.hosts);
    add_yield(&mut sum.sum, &more.sum);
    add_all(&mut sum.documents, more.documents);
    add_all(&mut sum.dropped, more.dropped);
    if let Some(judged) = &more.judged {
        add_judged(sum.judged.get_or_insert_default(), judged);
    }
    if let Some(text) = more.text {
        add_text(sum.text.get_or_insert_default(), text);
    }
}

impl HomeStats {
    fn add(&mut self, other: HomeStats) {
        add_all(&mut self.feeds, other.feeds);
        other.days.into_iter().for_each(|(day, stats)| add_day(self.days.entry(day).or_default(), stats));
    }
}

/// Answers a gateway that asks about the home of this shard.
pub(crate) fn tell(state: &AppState, name: &str, asked: PartRequest) -> Result<Response<Body>, ApiError> {
    let (registry, settings) = (&state.registry, &state.settings);
    let told = if name == STATS {
        let feeds = feeds_by_health(&registry.home)?.into_iter().map(|(health, feeds)| (health.to_owned(), feeds));
        let stats = HomeStats { feeds: feeds.collect(), days: registry.day_stats(|stats| stats.days().clone())? };
        serde_json::to_vec(&stats)
    } else {
        let known = ENDPOINTS.iter().find(|endpoint| endpoint.name == name);
        let Some(Endpoint { handler: Handler::Home(answer), .. }) = known else {
            return Err(ApiError::unknown(format!("no such question about a home: {name}")));
        };
        let context = HomeContext { registry, settings, right: asked.right(state) };
        let Value::Object(values) = asked.request else {
            return Err(ApiError::new(StatusCode::BAD_REQUEST, "the request is no object"));
        };
        serde_json::to_vec(&answer(values, &context)?)
    };
    Ok(json_bytes(StatusCode::OK, told.expect("answers serialise").into()))
}

/// The homes of all shards.
pub(crate) struct HomesOfShards<'g> {
    pub gateway: &'g Gateway,
    pub right: Right,
    pub deadline: &'g RequestDeadline,
}

impl HomesOfShards<'_> {
    /// Answers a question about the collection.
    pub fn answer(&self, name: &str, values: Values) -> Result<Value, ApiError> {
        let answer = match name {
            "collection" => {
                let HomeStats { feeds, days } = self.stats()?;
                serde_json::to_value(request::<CollectionRequest>(values)?.of(feeds, &days))
            }
            "collection-days" => serde_json::to_value(request::<DaysRequest>(values)?.of(&self.stats()?.days)),
            "collection-languages" => {
                serde_json::to_value(request::<LanguagesRequest>(values)?.of(&self.stats()?.days))
            }
            "sources" => Ok(sum_of_sources(self.ask(name, values)?)),
            "revisions" => Ok(lists(self.ask(name, values)?, &["rows"], false)),
            "feeds" | "hosts" | "backfills" => Ok(lists(self.ask(name, values)?, &["rows"], true)),
            "crawls" => {
                let mut answer = lists(self.ask(name, values)?, &["rows", "reasons"], true);
                let reasons = answer["reasons"].as_array_mut().map(std::mem::take).unwrap_or_default();
                answer["reasons"] = json!(by_urls(reasons));
                Ok(answer)
            }
            _ => {
                let error = format!("{name} cannot be put together from shards; ask a shard for its own part");
                return Err(ApiError::new(StatusCode::NOT_IMPLEMENTED, error));
            }
        };
        Ok(answer.expect("answers serialise"))
    }

    fn post(&self, name: &str, values: Values) -> Result<Vec<Bytes>, ApiError> {
        let asked = PartRequest {
            generation: None,
            scope: self.right.scope.map(|scope| scope.name().to_owned()),
            is_private: self.right.is_private,
            client: String::new(),
            time_limit_ms: 0,
            request: Value::Object(values),
        };
        let body = serde_json::to_vec(&asked).expect("requests serialise").into();
        self.gateway.homes(&format!("{ROOT}/{HOME}/{name}"), &body, self.deadline)
    }

    /// The sums of the days of all shards.
    fn stats(&self) -> Result<HomeStats, ApiError> {
        let mut sum = HomeStats::default();
        for body in self.post(STATS, Values::new())? {
            sum.add(serde_json::from_slice(&body).map_err(|_| not_told(STATS))?);
        }
        Ok(sum)
    }

    /// The answers of the shards, with their addresses.
    fn ask(&self, name: &str, values: Values) -> Result<Vec<(String, Value)>, ApiError> {
        let answers = self.post(name, values)?;
        let read =
            |(shard, body): (String, Bytes)| Ok((shard, serde_json::from_slice(&body).map_err(|_| not_told(name))?));
        self.gateway.addresses().zip(answers).map(read).collect()
    }
}

fn not_told(name: &str) -> ApiError {
    ApiError::new(StatusCode::BAD_GATEWAY, format!("a shard sent no {name}"))
}

/// The lists of all shards one after the other. If `named`, each row has the address of its shard.
fn lists(answers: Vec<(String, Value)>, fields: &[&str], named: bool) -> Value {
    let mut joined = json!({});
    for field in fields {
        let mut rows = Vec::new();
        for (shard, answer) in &answers {
            for mut row in answer[field].as_array().cloned().unwrap_or_default() {
                if let (true, Some(row)) = (named, row.as_object_mut()) {
                    row.insert("shard".to_owned(), json!(shard));
                }
                rows.push(row);
            }
        }
        joined[field] = json!(rows);
    }
    joined
}

/// Reasons of crawls, the most common first.
fn by_urls(mut reasons: Vec<Value>) -> Vec<Value> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    reasons.sort_by_cached_key(|row| {
        (std::cmp::Reverse(row["urls"].as_u64().unwrap_or(0)), text(row, "crawl"), text(row, "reason"))
    });
    reasons
}

/// The sums of sources of one kind.
fn sum_of_sources(answers: Vec<(String, Value)>) -> Value {
    let mut kinds: Vec<(String, u64, Yield)> = Vec::new();
    for row in answers.iter().flat_map(|(_, answer)| answer["rows"].as_array().into_iter().flatten()) {
        let kind = row["kind"].as_str().unwrap_or_default();
        if !kinds.iter().any(|(known, ..)| known == kind) {
            kinds.push((kind.to_owned(), 0, Yield::default()));
        }
        let Some((_, sources, sum)) = kinds.iter_mut().find(|(known, ..)| known == kind) else { continue };
        let number = |name: &str| row["yield"][name].as_u64().unwrap_or(0);
        add(sources, row["sources"].as_u64().unwrap_or(0));
        let more = Yield {
            pages: number("pages"),
            documents: number("documents"),
            downloaded: number("downloaded_bytes"),
            clean: number("clean_bytes"),
        };
        add_yield(sum, &more);
    }
    let row = |(kind, sources, sum): &(String, u64, Yield)| json!({ "kind": kind, "sources": sources, "yield": YieldSum::from(sum) });
    json!({ "rows": kinds.iter().map(row).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_homes_add_up_and_lists_name_the_shard() {
        let day = |runs: u64, judged: Option<u64>| DayStats {
            runs,
            judged: judged.map(|documents| Judged { documents, ..Judged::default() }),
            ..DayStats::default()
        };
        let home = |days: [(&str, DayStats); 2]| HomeStats {
            feeds: BTreeMap::from([("alive".to_owned(), 2)]),
            days: days.into_iter().map(|(name, day)| (name.to_owned(), day)).collect(),
        };
        let mut sum = home([("2026-01-01", day(1, Some(3))), ("2026-01-02", day(2, None))]);
        sum.add(home([("2026-01-02", day(1, Some(4))), ("2026-01-03", day(u64::MAX, None))]));
        let runs: Vec<u64> = sum.days.values().map(|day| day.runs).collect();
        assert_eq!((runs, sum.feeds["alive"]), (vec![1, 3, u64::MAX], 4));
        assert_eq!(sum.days["2026-01-02"].judged.map(|judged| judged.documents), Some(4));
        let answers =
            vec![("http://a".to_owned(), json!({ "rows": [{ "feed": "x" }] })), ("http://b".to_owned(), json!(7))];
        assert_eq!(lists(answers, &["rows"], true), json!({ "rows": [{ "feed": "x", "shard": "http://a" }] }));
    }

    #[test]
    fn sources_of_a_kind_add_up_with_the_rate_of_the_sums() {
        let answer = |sources: u64, clean: u64| {
            let of = json!({ "pages": 1, "documents": 1, "downloaded_bytes": 100, "clean_bytes": clean, "rate": 0.0 });
            (String::new(), json!({ "rows": [{ "kind": "feed", "sources": sources, "yield": of }] }))
        };
        let sum = sum_of_sources(vec![answer(2, 10), answer(3, 30)]);
        assert_eq!((&sum["rows"][0]["sources"], &sum["rows"][0]["yield"]["rate"]), (&json!(5), &json!(0.2)));
    }
}
