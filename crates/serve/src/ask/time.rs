//! Hits and words in time.

use jiff::civil::Date;
use serde::Serialize;
use tidings_index::Day;
use tidings_query::answer::{CompareConfig, Exactness, TimelinePoint};
use tidings_query::cql::Attribute;
use tidings_query::engine::Subcorpus;
use tidings_query::trend::{Bin, BurstConfig, NewWordConfig, RiseConfig};
use tidings_query::{Filter, MatchRule};

use super::{Question, answer_schema, attribute_schema, filter_of, in_time, step_schema};
use crate::endpoint::Stop;
use crate::refusal::Refusal;
use crate::reply::Reply;
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

pub(crate) fn timeline(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let search = question.search(MatchRule::default())?;
    let (mut found, complete) = search.timeline(question.step(), question.given.share("confidence"), &question.limits);
    let hits: u64 = found.points.iter().map(|point| point.hits).sum();
    reply.about(question.about(MatchRule::default(), Exactness::of(complete, hits)));
    reply.say("hits", hits);
    // A home that was filled from elsewhere has no runs, which says nothing about its days.
    let runs: Option<Vec<u64>> = question.house.census(|census| {
        census.days().values().any(|day| day.runs > 0).then(|| {
            let days_of = |bin: &Bin| census.days().range(bin.first.to_string()..=bin.last.to_string());
            let with_runs = |bin: &Bin| days_of(bin).filter(|(_, day)| day.runs > 0).count() as u64;
            found.points.iter().map(|point| with_runs(&point.bin)).collect()
        })
    })?;
    let points = std::mem::take(&mut found.points);
    reply.body(found)?;
    for (at, point) in points.into_iter().enumerate() {
        reply.row(Point { point, days_with_runs: runs.as_ref().map(|runs| runs[at]) })?;
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
fn part(question: &Question<'_>, reply: &mut Reply) -> Result<Subcorpus, Stop> {
    let (engine, mut filter) = (question.engine(), question.filter.clone());
    if question.given.flag("panel") {
        let panel = engine.panel(&engine.subcorpus(filter.as_ref())?, question.step(), 1);
        filter = Filter::both(filter, Some(panel));
    }
    let mut about = question.about(MatchRule::default(), Exactness::Exact);
    about.filter = filter.as_ref().map(ToString::to_string);
    reply.about(about);
    Ok(question.part_of(filter.as_ref())?)
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

pub(crate) fn trends(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let given = &question.given;
    let part = part(question, reply)?;
    let config = RiseConfig {
        min_count: given.number("min").unwrap_or(30),
        false_discovery_rate: given.share("fdr"),
        ..RiseConfig::default()
    };
    let found = question.engine().trends(&part, question.attribute(), question.step(), &config);
    let mut found = in_time(&part, found)?;
    keep(&mut found.rows, given.text("direction"), |row| row.growth);
    reply.say("values", found.rows.len());
    found.rows.truncate(question.limit());
    Ok(reply.body(found)?)
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

pub(crate) fn bursts(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let part = part(question, reply)?;
    let found = question.engine().bursts(&part, question.attribute(), question.step(), &BurstConfig::default());
    let mut found = in_time(&part, found)?;
    reply.say("values", found.rows.len());
    found.rows.truncate(question.limit());
    Ok(reply.body(found)?)
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

pub(crate) fn new_words(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let given = &question.given;
    let engine = question.engine();
    let part = question.part()?;
    let volume = engine.volume(&part);
    let (Some(first), Some(last)) = (volume.keys().next(), volume.keys().next_back()) else {
        return Err(Refusal::wrong("filter", "there are no such documents").into());
    };
    let since = match given.text("since") {
        Some(text) => {
            let date = text.parse::<Date>().map_err(|_| Refusal::wrong("since", "give a day such as 2026-03-01"))?;
            Day::of(date)
        }
        None => Day(last.0 - (last.0 - first.0) / 4),
    };
    if since.0 <= first.0 {
        let error =
            format!("nothing was collected before {}, so that everything would be new; give a later day", since.date());
        return Err(Refusal::wrong("since", error).into());
    }
    let number = |name| given.number(name).unwrap_or(1);
    let config = NewWordConfig {
        window_start: since.0,
        today: last.0,
        min_sites: number("min_sites") as u32,
        min_days: number("min_days") as usize,
        min_documents: number("min_documents") as u32,
        names: given.flag("names"),
        ..NewWordConfig::default()
    };
    let attribute = given.text("attribute").and_then(Attribute::named).unwrap_or(Attribute::Word);
    let mut found = in_time(&part, engine.new_words(&part, attribute, &config)?)?;
    reply.about(question.about(MatchRule::default(), Exactness::Exact));
    reply.say("since", since.to_string());
    reply.say("values", found.rows.len());
    found.rows.truncate(question.limit());
    Ok(reply.body(found)?)
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

pub(crate) fn compare(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let (given, engine) = (&question.given, question.engine());
    let [before, after] = ["before", "after"].map(|name| filter_of(name, given.text(name).unwrap_or_default()));
    let (before, after) = (before?, after?);
    let mut filter = question.filter.clone();
    let both = |filter: &Option<Filter>, own: &Filter| Filter::both(filter.clone(), Some(own.clone()));
    if given.flag("panel") {
        let parts =
            (question.part_of(both(&filter, &before).as_ref())?, question.part_of(both(&filter, &after).as_ref())?);
        filter = Filter::both(filter, Some(engine.panel_of_two(&parts.0, &parts.1)));
    }
    let parts = (question.part_of(both(&filter, &before).as_ref())?, question.part_of(both(&filter, &after).as_ref())?);
    let config = CompareConfig {
        min_documents: given.number("min").unwrap_or(10),
        false_discovery_rate: given.share("fdr"),
        confidence: given.share("confidence"),
        punctuation: given.flag("punctuation"),
    };
    let found = engine.compare(&parts.0, &parts.1, question.attribute(), &config);
    let mut found = in_time(&parts.0, found)?;
    keep(&mut found.rows, given.text("direction"), |row| row.log_ratio);
    let mut about = question.about(MatchRule::default(), Exactness::Exact);
    about.filter = filter.as_ref().map(ToString::to_string);
    reply.about(about);
    reply.say("before", before.to_string());
    reply.say("after", after.to_string());
    reply.say("values", found.rows.len());
    found.rows.truncate(question.limit());
    Ok(reply.body(found)?)
}

/// Keeps the rows that go the way that was asked for.
fn keep<T>(rows: &mut Vec<T>, direction: Option<&str>, way: impl Fn(&T) -> f64) {
    match direction {
        Some("rising") => rows.retain(|row| way(row) >= 0.0),
        Some("falling") => rows.retain(|row| way(row) <= 0.0),
        _ => {}
    }
}
