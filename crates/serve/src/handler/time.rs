//! Hits and words in time.

use jiff::civil::Date;
use serde::Serialize;
use tidings_index::Day;
use tidings_query::answer::{CompareConfig, Exactness, TimelinePoint};
use tidings_query::cql::Attribute;
use tidings_query::engine::Subcorpus;
use tidings_query::trend::{Bin, BurstConfig, NewWordConfig, RiseConfig};
use tidings_query::{Filter, MatchRule};

use super::{ApiRequest, answer_schema, attribute_schema, filter_of, in_time, step_schema};
use crate::api_error::ApiError;
use crate::endpoint::RequestError;
use crate::response::ResponseWriter;
use crate::schema::{Schema, list, map, maybe, object};

pub(crate) fn timeline_schema() -> Schema {
    let point = object([
        ("bin", Schema::Text),
        ("hits", Schema::Integer),
        ("tokens", Schema::Integer),
        ("documents", Schema::Integer),
        ("sites", Schema::Integer),
        ("days", Schema::Integer),
        ("days_with_documents", Schema::Integer),
        ("days_with_runs", maybe(Schema::Integer)),
        ("health", Schema::Number),
        ("per_million", maybe(Schema::Number)),
        ("band", maybe(object([("low", Schema::Number), ("high", Schema::Number)]))),
    ]);
    answer_schema([
        ("step", step_schema()),
        ("confidence", Schema::Number),
        ("hits", Schema::Integer),
        ("points", list(point)),
    ])
}

pub(crate) fn timeline(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let search = request.search(MatchRule::default())?;
    let (mut found, complete) = search.timeline(request.step(), request.params.share("confidence"), &request.limits);
    let hits: u64 = found.points.iter().map(|point| point.hits).sum();
    response.about(request.about(MatchRule::default(), Exactness::of(complete, hits)));
    response.set("hits", hits);
    // A home that was filled from elsewhere has no runs, which says nothing about its days.
    let runs: Option<Vec<u64>> = request.registry.day_stats(|day_stats| {
        day_stats.days().values().any(|day| day.runs > 0).then(|| {
            let days_of = |bin: &Bin| day_stats.days().range(bin.first.to_string()..=bin.last.to_string());
            let with_runs = |bin: &Bin| days_of(bin).filter(|(_, day)| day.runs > 0).count() as u64;
            found.points.iter().map(|point| with_runs(&point.bin)).collect()
        })
    })?;
    let points = std::mem::take(&mut found.points);
    response.body(found)?;
    for (at, point) in points.into_iter().enumerate() {
        response.row(Point { point, days_with_runs: runs.as_ref().map(|runs| runs[at]) })?;
    }
    Ok(())
}

/// A point, and what the home knows of its days.
#[derive(Serialize)]
struct Point {
    #[serde(flatten)]
    point: TimelinePoint,
    days_with_runs: Option<u64>,
}

/// The part that is asked, or its panel of sites that were there all the time; the answer says which.
fn part(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<Subcorpus, RequestError> {
    let (engine, mut filter) = (request.engine(), request.filter.clone());
    if request.params.flag("panel") {
        let panel = engine.panel(&engine.subcorpus(filter.as_ref())?, request.step(), 1);
        filter = Filter::both(filter, Some(panel));
    }
    let mut about = request.about(MatchRule::default(), Exactness::Exact);
    about.filter = filter.as_ref().map(ToString::to_string);
    response.about(about);
    Ok(request.part_of(filter.as_ref())?)
}

pub(crate) fn trends_schema() -> Schema {
    let score = || maybe(Schema::Number);
    let row = object([
        ("value", Schema::Text),
        ("hits", Schema::Integer),
        ("documents", Schema::Integer),
        ("?shape", Schema::Words(&["steady", "late", "early"])),
        ("growth", score()),
        ("score", score()),
        ("p", score()),
        ("q", score()),
        ("kendall_z", score()),
        ("per_million", list(Schema::Number)),
    ]);
    answer_schema([
        ("attribute", attribute_schema()),
        ("bins", list(Schema::Text)),
        ("tested", Schema::Integer),
        ("false_discovery_rate", Schema::Number),
        ("values", Schema::Integer),
        ("rows", list(row)),
    ])
}

pub(crate) fn trends(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let params = &request.params;
    let part = part(request, response)?;
    let config = RiseConfig {
        min_count: params.number("min").unwrap_or(30),
        false_discovery_rate: params.share("fdr"),
        ..RiseConfig::default()
    };
    let found = request.engine().trends(&part, request.attribute(), request.step(), &config);
    let mut found = in_time(&part, found)?;
    keep(&mut found.rows, params.text("direction"), |row| row.growth);
    response.set("values", found.rows.len());
    found.rows.truncate(request.limit());
    Ok(response.body(found)?)
}

pub(crate) fn bursts_schema() -> Schema {
    let row = object([
        ("value", Schema::Text),
        ("bin", Schema::Text),
        ("score", maybe(Schema::Number)),
        ("log_ratio", maybe(Schema::Number)),
        ("hits", Schema::Integer),
        ("documents", Schema::Integer),
        ("sequel", Schema::Words(&["fell", "stayed", "open"])),
    ]);
    answer_schema([
        ("attribute", attribute_schema()),
        ("step", step_schema()),
        ("values", Schema::Integer),
        ("rows", list(row)),
    ])
}

pub(crate) fn bursts(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let part = part(request, response)?;
    let found = request.engine().bursts(&part, request.attribute(), request.step(), &BurstConfig::default());
    let mut found = in_time(&part, found)?;
    response.set("values", found.rows.len());
    found.rows.truncate(request.limit());
    Ok(response.body(found)?)
}

pub(crate) fn new_words_schema() -> Schema {
    let row = object([
        ("value", Schema::Text),
        ("first_seen", Schema::Text),
        ("hits", Schema::Integer),
        ("documents", Schema::Integer),
        ("sites", Schema::Integer),
        ("days", Schema::Integer),
        ("fate", Schema::Words(&["burst", "lasting", "open"])),
    ]);
    answer_schema([
        ("attribute", attribute_schema()),
        ("since", Schema::Text),
        ("dropped", map(Schema::Integer)),
        ("values", Schema::Integer),
        ("rows", list(row)),
    ])
}

pub(crate) fn new_words(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let params = &request.params;
    let engine = request.engine();
    let part = request.part()?;
    let volume = engine.volume(&part);
    let (Some(first), Some(last)) = (volume.keys().next(), volume.keys().next_back()) else {
        return Err(ApiError::wrong("filter", "there are no such documents").into());
    };
    let since = match params.text("since") {
        Some(text) => {
            let date = text.parse::<Date>().map_err(|_| ApiError::wrong("since", "give a day such as 2026-03-01"))?;
            Day::of(date)
        }
        None => Day(last.0 - (last.0 - first.0) / 4),
    };
    if since.0 <= first.0 {
        let error =
            format!("nothing was collected before {}, so that everything would be new; give a later day", since.date());
        return Err(ApiError::wrong("since", error).into());
    }
    let number = |name| params.number(name).unwrap_or(1);
    let config = NewWordConfig {
        window_start: since.0,
        today: last.0,
        min_sites: number("min_sites") as u32,
        min_days: number("min_days") as usize,
        min_documents: number("min_documents") as u32,
        names: params.flag("names"),
        ..NewWordConfig::default()
    };
    let attribute = params.text("attribute").and_then(Attribute::named).unwrap_or(Attribute::Word);
    let mut found = in_time(&part, engine.new_words(&part, attribute, &config)?)?;
    response.about(request.about(MatchRule::default(), Exactness::Exact));
    response.set("since", since.to_string());
    response.set("values", found.rows.len());
    found.rows.truncate(request.limit());
    Ok(response.body(found)?)
}

pub(crate) fn compare_schema() -> Schema {
    let score = || maybe(Schema::Number);
    let row = object([
        ("value", Schema::Text),
        ("before", Schema::Integer),
        ("after", Schema::Integer),
        ("before_documents", Schema::Integer),
        ("after_documents", Schema::Integer),
        ("before_per_million", Schema::Number),
        ("after_per_million", Schema::Number),
        ("log_ratio", score()),
        ("band", object([("low", score()), ("high", score())])),
        ("p", score()),
        ("q", score()),
    ]);
    answer_schema([
        ("attribute", attribute_schema()),
        ("before", Schema::Text),
        ("after", Schema::Text),
        ("before_tokens", Schema::Integer),
        ("after_tokens", Schema::Integer),
        ("tested", Schema::Integer),
        ("false_discovery_rate", Schema::Number),
        ("confidence", Schema::Number),
        ("values", Schema::Integer),
        ("rows", list(row)),
    ])
}

pub(crate) fn compare(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let (params, engine) = (&request.params, request.engine());
    let [before, after] = ["before", "after"].map(|name| filter_of(name, params.text(name).unwrap_or_default()));
    let (before, after) = (before?, after?);
    let mut filter = request.filter.clone();
    let both = |filter: &Option<Filter>, own: &Filter| Filter::both(filter.clone(), Some(own.clone()));
    if params.flag("panel") {
        let parts =
            (request.part_of(both(&filter, &before).as_ref())?, request.part_of(both(&filter, &after).as_ref())?);
        filter = Filter::both(filter, Some(engine.panel_of_two(&parts.0, &parts.1)));
    }
    let parts = (request.part_of(both(&filter, &before).as_ref())?, request.part_of(both(&filter, &after).as_ref())?);
    let config = CompareConfig {
        min_documents: params.number("min").unwrap_or(10),
        false_discovery_rate: params.share("fdr"),
        confidence: params.share("confidence"),
        punctuation: params.flag("punctuation"),
    };
    let found = engine.compare(&parts.0, &parts.1, request.attribute(), &config);
    let mut found = in_time(&parts.0, found)?;
    keep(&mut found.rows, params.text("direction"), |row| row.log_ratio);
    let mut about = request.about(MatchRule::default(), Exactness::Exact);
    about.filter = filter.as_ref().map(ToString::to_string);
    response.about(about);
    response.set("before", before.to_string());
    response.set("after", after.to_string());
    response.set("values", found.rows.len());
    found.rows.truncate(request.limit());
    Ok(response.body(found)?)
}

/// Keeps the rows that go the way that was asked for.
fn keep<T>(rows: &mut Vec<T>, direction: Option<&str>, way: impl Fn(&T) -> f64) {
    match direction {
        Some("rising") => rows.retain(|row| way(row) >= 0.0),
        Some("falling") => rows.retain(|row| way(row) <= 0.0),
        _ => {}
    }
}
