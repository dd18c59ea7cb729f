//! What there is: corpora, virtual corpora, feeds and hosts, and what became of everything that was downloaded.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::civil::Date;
use serde_json::{Value, json};
use tidings_index::Day;
use tidings_query::trend::Bin;
use tidings_store::day_stats::DayStats;
use tidings_store::{feeds as feed_store, virtual_corpora, yields};

use super::ApiRequest;
use crate::api_error::ApiError;
use crate::endpoint::RequestError;
use crate::response::ResponseWriter;
use crate::schema::{Schema, list, map, maybe, object};

/// How feeds do, by name.
pub(crate) const HEALTH: &[&str] = &["alive", "slow", "failing", "dead", "new"];

pub(crate) fn corpora_schema() -> Schema {
    let corpus = object([
        ("corpus", Schema::Text),
        ("generation", Schema::Integer),
        ("tokens", Schema::Integer),
        ("documents", Schema::Integer),
        ("first_day", maybe(Schema::Text)),
        ("last_day", maybe(Schema::Text)),
        ("fields", list(Schema::Text)),
        ("attributes", list(Schema::Words(super::ATTRIBUTES))),
        ("features", map(list(Schema::Text))),
        ("layers", list(object([("by", Schema::Text), ("tokens", Schema::Integer)]))),
    ]);
    object([("link", Schema::Text), ("corpora", list(corpus))])
}

pub(crate) fn corpora(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let layers = request.registry.layers()?;
    for (code, engine) in request.registry.corpora() {
        let snapshot = engine.snapshot();
        let with_text = snapshot.segments().iter().filter(|living| living.documents() > 0);
        let metas: Vec<_> = with_text.clone().map(|living| living.segment().meta()).collect();
        let fields: BTreeSet<&str> = with_text.flat_map(|living| living.segment().field_names()).collect();
        let fields: Vec<&str> = ["date", "seen", "url", "title"].into_iter().chain(fields).collect();
        let layers = layers.get(&code).into_iter().flatten();
        let layers: Vec<_> = layers.map(|(by, tokens)| json!({ "by": by, "tokens": tokens })).collect();
        response.row(json!({
            "corpus": code,
            "generation": snapshot.generation(),
            "tokens": snapshot.tokens(),
            "documents": snapshot.documents(),
            "first_day": metas.iter().map(|meta| meta.first_day).min().map(|day| Day(day).to_string()),
            "last_day": metas.iter().map(|meta| meta.last_day).max().map(|day| Day(day).to_string()),
            "fields": fields,
            "attributes": engine.attributes(),
            "features": engine.features(),
            "layers": layers,
        }))?;
    }
    Ok(())
}

pub(crate) fn named_schema() -> Schema {
    object([("link", Schema::Text), ("rows", list(object([("name", Schema::Text), ("filter", Schema::Text)])))])
}

pub(crate) fn named(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    for named in virtual_corpora::read(&request.registry.home)? {
        response.row(json!({ "name": named.name, "filter": named.filter }))?;
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

fn health_schema() -> Schema {
    Schema::Words(HEALTH)
}

pub(crate) fn feeds_schema() -> Schema {
    let feed = object([
        ("feed", Schema::Text),
        ("title", Schema::Text),
        ("health", health_schema()),
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
pub(crate) fn feeds(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let home = &request.registry.home;
    let mut sums = HashMap::new();
    yields::read(home, |row| {
        if row.kind == "feed" {
            sums.insert(row.name, row.sum);
        }
    })?;
    let states = feed_store::states(home)?;
    let wanted = request.params.text("health");
    for listed in feed_store::list(home)?.feeds {
        let state = states.get(&listed.url).cloned().unwrap_or_default();
        if wanted.is_some_and(|wanted| wanted != state.health().name()) {
            continue;
        }
        let polled = if state.checked.is_empty() { "never" } else { state.polled.word() };
        response.row(json!({
            "feed": listed.url,
            "title": state.title,
            "health": state.health().name(),
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

pub(crate) fn hosts(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let mut rows = Vec::new();
    yields::read(&request.registry.home, |row| {
        if row.kind == "host" {
            rows.push(json!({ "host": row.name, "yield": yield_json(&row.sum) }));
        }
    })?;
    for row in rows {
        response.row(row)?;
    }
    Ok(())
}

pub(crate) fn collection_schema() -> Schema {
    let step = object([
        ("step", Schema::Words(&["clean", "dedup", "annotate"])),
        ("unit", Schema::Words(&["pages", "documents"])),
        ("fate", Schema::Words(&["kept", "left out"])),
        ("reason", Schema::Text),
        ("items", Schema::Integer),
        ("share", maybe(Schema::Number)),
    ]);
    object([
        ("link", Schema::Text),
        ("feeds", map(Schema::Integer)),
        ("days", Schema::Integer),
        ("days_with_runs", Schema::Integer),
        ("first_day", maybe(Schema::Text)),
        ("last_day", maybe(Schema::Text)),
        ("last_run", maybe(Schema::Text)),
        ("pages", Schema::Integer),
        ("downloaded_bytes", Schema::Integer),
        ("clean_bytes", Schema::Integer),
        ("words", Schema::Integer),
        ("duplicate_words", Schema::Integer),
        ("tokens", Schema::Integer),
        ("rows", list(step)),
    ])
}

/// What became of the pages of many days: figures that add up.
#[derive(Default)]
struct Fates {
    days: u64,
    days_with_runs: u64,
    runs: u64,
    /// The most that there were on one day.
    feeds: u64,
    hosts: u64,
    sum: yields::Yield,
    words: u64,
    duplicate_words: u64,
    tokens: u64,
    /// Pages by the reason why they gave no document.
    dropped: BTreeMap<String, u64>,
    judged: u64,
    duplicates: u64,
    annotated: u64,
    left_out: BTreeMap<String, u64>,
}

fn add(sums: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    more.iter().for_each(|(name, count)| *sums.entry(name.clone()).or_default() += count);
}

impl Fates {
    fn add(&mut self, day: &DayStats) {
        self.days += 1;
        self.days_with_runs += u64::from(day.runs > 0);
        self.runs += day.runs;
        self.feeds = self.feeds.max(day.feeds);
        self.hosts = self.hosts.max(day.hosts);
        self.sum += day.sum;
        add(&mut self.dropped, &day.dropped);
        if let Some(judged) = &day.judged {
            self.words += judged.words;
            self.duplicate_words += judged.duplicate_words;
            self.judged += judged.documents;
            self.duplicates += judged.duplicates;
        }
        if let Some(text) = &day.text {
            self.tokens += text.tokens.values().sum::<u64>();
            self.annotated += text.documents.values().sum::<u64>();
            add(&mut self.left_out, &text.dropped);
        }
    }

    /// The funnel: of each step what was kept and what was left out, by reason. The items of a step add up to what came in.
    fn funnel(&self) -> Vec<Value> {
        let duplicates = BTreeMap::from([("nothing new".to_owned(), self.duplicates)]);
        let steps = [
            ("clean", "pages", self.sum.documents, &self.dropped),
            ("dedup", "documents", self.judged - self.duplicates.min(self.judged), &duplicates),
            ("annotate", "documents", self.annotated, &self.left_out),
        ];
        let rows = steps.into_iter().flat_map(|(step, unit, kept, left_out)| {
            let all = kept + left_out.values().sum::<u64>();
            let row = move |fate: &str, reason: &str, items: u64| {
                let share = (all > 0).then(|| items as f64 / all as f64);
                json!({ "step": step, "unit": unit, "fate": fate, "reason": reason, "items": items, "share": share })
            };
            let mut reasons: Vec<(&String, &u64)> = left_out.iter().filter(|(_, items)| **items > 0).collect();
            reasons.sort_by(|a, b| b.1.cmp(a.1));
            let reasons: Vec<Value> =
                reasons.into_iter().map(|(reason, items)| row("left out", reason, *items)).collect();
            [row("kept", "", kept)].into_iter().chain(reasons)
        });
        rows.collect()
    }
}

/// How the collection does as a whole, and where what was downloaded went.
pub(crate) fn collection(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let home = &request.registry.home;
    let states = feed_store::states(home)?;
    let mut feeds: BTreeMap<&str, u64> = HEALTH.iter().map(|name| (*name, 0)).collect();
    for listed in feed_store::list(home)?.feeds {
        let health = states.get(&listed.url).cloned().unwrap_or_default().health();
        *feeds.entry(health.name()).or_default() += 1;
    }
    response.set("feeds", feeds);
    let fates = request.registry.day_stats(|day_stats| {
        let mut fates = Fates::default();
        day_stats.days().values().for_each(|day| fates.add(day));
        response.set("first_day", day_stats.days().keys().next());
        response.set("last_day", day_stats.days().keys().next_back());
        response.set("last_run", day_stats.days().iter().rev().find(|(_, day)| day.runs > 0).map(|(name, _)| name));
        fates
    })?;
    response.set("days", fates.days);
    response.set("days_with_runs", fates.days_with_runs);
    response.set("pages", fates.sum.pages);
    response.set("downloaded_bytes", fates.sum.downloaded);
    response.set("clean_bytes", fates.sum.clean);
    response.set("words", fates.words);
    response.set("duplicate_words", fates.duplicate_words);
    response.set("tokens", fates.tokens);
    for row in fates.funnel() {
        response.row(row)?;
    }
    Ok(())
}

/// The steps of time that were asked for, each with its days; those that are no days of the calendar are left out.
fn steps<T: Default>(
    request: &ApiRequest<'_>,
    mut see: impl FnMut(&mut T, &DayStats),
) -> Result<Vec<(Bin, T)>, RequestError> {
    let day_of = |name| match request.params.text(name).map(str::parse::<Date>) {
        None => Ok(None),
        Some(Ok(day)) => Ok(Some(day)),
        Some(Err(_)) => Err(ApiError::wrong(name, "give a day such as 2026-03-01")),
    };
    let (since, until) = (day_of("since")?, day_of("until")?);
    Ok(request.registry.day_stats(|day_stats| {
        let mut steps: Vec<(Bin, T)> = Vec::new();
        for (name, day) in day_stats.days() {
            let Ok(date) = name.parse::<Date>() else { continue };
            if since.is_some_and(|since| date < since) || until.is_some_and(|until| date > until) {
                continue;
            }
            let bin = request.step().bin_of(date);
            if steps.last().is_none_or(|(last, _)| *last != bin) {
                steps.push((bin, T::default()));
            }
            let (_, sums) = steps.last_mut().expect("just pushed");
            see(sums, day);
        }
        steps
    })?)
}

pub(crate) fn days_schema() -> Schema {
    let row = object([
        ("bin", Schema::Text),
        ("days", Schema::Integer),
        ("days_with_runs", Schema::Integer),
        ("runs", Schema::Integer),
        ("feeds", Schema::Integer),
        ("hosts", Schema::Integer),
        ("pages", Schema::Integer),
        ("downloaded_bytes", Schema::Integer),
        ("clean_bytes", Schema::Integer),
        ("documents", Schema::Integer),
        ("duplicates", Schema::Integer),
        ("kept", Schema::Integer),
        ("tokens", Schema::Integer),
    ]);
    object([("link", Schema::Text), ("rows", list(row))])
}

/// What was collected in time. `days` are those of the step; on days without a run nobody collected anything.
pub(crate) fn days(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    for (bin, fates) in steps(request, Fates::add)? {
        response.row(json!({
            "bin": bin.to_string(),
            "days": bin.days(),
            "days_with_runs": fates.days_with_runs,
            "runs": fates.runs,
            "feeds": fates.feeds,
            "hosts": fates.hosts,
            "pages": fates.sum.pages,
            "downloaded_bytes": fates.sum.downloaded,
            "clean_bytes": fates.sum.clean,
            "documents": fates.sum.documents,
            "duplicates": fates.duplicates,
            "kept": fates.annotated,
            "tokens": fates.tokens,
        }))?;
    }
    Ok(())
}

pub(crate) fn languages_schema() -> Schema {
    let row = object([
        ("bin", Schema::Text),
        ("language", Schema::Text),
        ("documents", Schema::Integer),
        ("kept", Schema::Integer),
        ("tokens", Schema::Integer),
    ]);
    object([("link", Schema::Text), ("rows", list(row))])
}

/// What was collected in time, by language.
pub(crate) fn languages(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    type Sums = BTreeMap<String, [u64; 3]>;
    let steps = steps(request, |sums: &mut Sums, day| {
        let nothing = BTreeMap::new();
        let text = day.text.as_ref();
        let counts =
            [&day.documents, text.map_or(&nothing, |text| &text.documents), text.map_or(&nothing, |text| &text.tokens)];
        for (place, counts) in counts.into_iter().enumerate() {
            counts.iter().for_each(|(code, count)| sums.entry(code.clone()).or_default()[place] += count);
        }
    })?;
    for (bin, sums) in steps {
        for (language, [documents, kept, tokens]) in sums {
            let bin = bin.to_string();
            response.row(
                json!({ "bin": bin, "language": language, "documents": documents, "kept": kept, "tokens": tokens }),
            )?;
        }
    }
    Ok(())
}
