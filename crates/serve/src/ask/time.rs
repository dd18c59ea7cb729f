//! Hits and words in time.

use jiff::civil::Date;
use tidings_index::Day;
use tidings_query::answer::Exactness;
use tidings_query::cql::Attribute;
use tidings_query::engine::Part;
use tidings_query::trend::{BurstConfig, NewWordConfig, RiseConfig};
use tidings_query::{Filter, Rule};

use super::{Question, answer_schema, attribute_schema, in_time, step_schema};
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
    let search = question.search(Rule::default())?;
    let (found, complete) = search.timeline(question.step(), question.given.share("confidence"), &question.limits);
    let hits: u64 = found.points.iter().map(|point| point.hits).sum();
    reply.about(question.about(Rule::default(), Exactness::of(complete, hits)));
    reply.say("hits", hits);
    Ok(reply.body(found)?)
}

/// The part that is asked, or its panel of sites that were there all the time; the answer says which.
fn part(question: &Question<'_>, reply: &mut Reply) -> Result<Part, Stop> {
    let (engine, mut filter) = (question.engine(), question.filter.clone());
    if question.given.flag("panel") {
        let panel = engine.panel(&engine.part(filter.as_ref())?, question.step(), 1);
        filter = Filter::both(filter, Some(panel));
    }
    let mut about = question.about(Rule::default(), Exactness::Exact);
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
    match given.text("direction") {
        Some("rising") => found.rows.retain(|row| row.growth >= 0.0),
        Some("falling") => found.rows.retain(|row| row.growth <= 0.0),
        _ => {}
    }
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
    reply.about(question.about(Rule::default(), Exactness::Exact));
    reply.say("since", since.to_string());
    reply.say("values", found.rows.len());
    found.rows.truncate(question.limit());
    Ok(reply.body(found)?)
}
