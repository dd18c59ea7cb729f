//! What there is: corpora, virtual corpora, feeds and hosts.

use std::collections::{BTreeSet, HashMap};

use serde_json::json;
use tidings_index::Day;
use tidings_store::{corpora as virtual_corpora, feeds as feed_store, yields};

use super::Question;
use crate::endpoint::Stop;
use crate::reply::Reply;
use crate::schema::{Schema, list, maybe, object};

pub(crate) fn corpora_schema() -> Schema {
    let corpus = object([
        ("corpus", Schema::Text),
        ("generation", Schema::Integer),
        ("tokens", Schema::Integer),
        ("documents", Schema::Integer),
        ("first_day", maybe(Schema::Text)),
        ("last_day", maybe(Schema::Text)),
        ("fields", list(Schema::Text)),
        ("layers", list(object([("by", Schema::Text), ("tokens", Schema::Integer)]))),
    ]);
    object([("link", Schema::Text), ("corpora", list(corpus))])
}

pub(crate) fn corpora(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let layers = question.house.layers()?;
    for (code, engine) in question.house.corpora() {
        let snapshot = engine.snapshot();
        let with_text = snapshot.segments().iter().filter(|living| living.documents() > 0);
        let metas: Vec<_> = with_text.clone().map(|living| living.segment().meta()).collect();
        let fields: BTreeSet<&str> = with_text.flat_map(|living| living.segment().field_names()).collect();
        let fields: Vec<&str> = ["date", "seen", "url", "title"].into_iter().chain(fields).collect();
        let layers = layers.get(&code).into_iter().flatten();
        let layers: Vec<_> = layers.map(|(by, tokens)| json!({ "by": by, "tokens": tokens })).collect();
        reply.row(json!({
            "corpus": code,
            "generation": snapshot.generation(),
            "tokens": snapshot.tokens(),
            "documents": snapshot.documents(),
            "first_day": metas.iter().map(|meta| meta.first_day).min().map(|day| Day(day).to_string()),
            "last_day": metas.iter().map(|meta| meta.last_day).max().map(|day| Day(day).to_string()),
            "fields": fields,
            "layers": layers,
        }))?;
    }
    Ok(())
}

pub(crate) fn named_schema() -> Schema {
    object([("link", Schema::Text), ("rows", list(object([("name", Schema::Text), ("filter", Schema::Text)])))])
}

pub(crate) fn named(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    for named in virtual_corpora::read(&question.house.home)? {
        reply.row(json!({ "name": named.name, "filter": named.filter }))?;
    }
    Ok(())
}

fn yield_schema() -> Schema {
    object([
        ("pages", Schema::Integer),
        ("documents", Schema::Integer),
        ("downloaded_bytes", Schema::Integer),
        ("clean_bytes", Schema::Integer),
        ("rate", Schema::Number),
    ])
}

fn yield_json(sum: &yields::Yield) -> serde_json::Value {
    json!({
        "pages": sum.pages,
        "documents": sum.documents,
        "downloaded_bytes": sum.downloaded,
        "clean_bytes": sum.clean,
        "rate": sum.rate(),
    })
}

pub(crate) fn feeds_schema() -> Schema {
    let feed = object([
        ("feed", Schema::Text),
        ("title", Schema::Text),
        ("polled", Schema::Words(&["listed", "unchanged", "failed", "gone", "never"])),
        ("checked", Schema::Text),
        ("succeeded", Schema::Text),
        ("failures", Schema::Integer),
        ("error", Schema::Text),
        ("entries", Schema::Integer),
        ("brought", Schema::Integer),
        ("entries_per_day", maybe(Schema::Number)),
        ("due", Schema::Text),
        ("interval_min", Schema::Integer),
        ("yield", maybe(yield_schema())),
    ]);
    object([("link", Schema::Text), ("rows", list(feed))])
}

/// The feeds of the list, in its order; what was never polled says so.
pub(crate) fn feeds(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let home = &question.house.home;
    let mut sums = HashMap::new();
    yields::read(home, |row| {
        if row.kind == "feed" {
            sums.insert(row.name, row.sum);
        }
    })?;
    let states = feed_store::states(home)?;
    for listed in feed_store::list(home)?.feeds {
        let state = states.get(&listed.url).cloned().unwrap_or_default();
        let polled = if state.checked.is_empty() { "never" } else { state.polled.word() };
        reply.row(json!({
            "feed": listed.url,
            "title": state.title,
            "polled": polled,
            "checked": state.checked,
            "succeeded": state.succeeded,
            "failures": state.failures,
            "error": state.error,
            "entries": state.entries,
            "brought": state.brought,
            "entries_per_day": state.rate.parse::<f64>().ok(),
            "due": state.due,
            "interval_min": state.interval_min,
            "yield": sums.get(&listed.url).map(yield_json),
        }))?;
    }
    Ok(())
}

pub(crate) fn hosts_schema() -> Schema {
    object([("link", Schema::Text), ("rows", list(object([("host", Schema::Text), ("yield", yield_schema())])))])
}

pub(crate) fn hosts(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let mut rows = Vec::new();
    yields::read(&question.house.home, |row| {
        if row.kind == "host" {
            rows.push(json!({ "host": row.name, "yield": yield_json(&row.sum) }));
        }
    })?;
    for row in rows {
        reply.row(row)?;
    }
    Ok(())
}
