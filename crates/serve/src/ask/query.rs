//! Hits in their context, page by page or all in a stream.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hyper::StatusCode;
use serde::Serialize;
use serde_json::Value;
use tidings_query::MatchRule;
use tidings_query::answer::{Exactness, Line, SortKey};
use tidings_query::engine::{Hit, Order, Search, View};
use tidings_query::measure::per_million;

use super::{Question, answer_schema, token_schema};
use crate::endpoint::Stop;
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::rights::{Availability, FIELD};
use crate::schema::{Schema, list, map, maybe, object};

const USUAL_SIZE: u64 = 20;
/// A page of JSON is one piece in memory; what is longer is asked for as a stream.
const LONGEST_PAGE: u64 = 10_000;
/// So many hits of a stream become lines at once.
const BATCH: usize = 256;

pub(crate) fn schema() -> Schema {
    let line = object([
        ("document", Schema::Text),
        ("fields", map(Schema::Text)),
        ("?restricted", Schema::Flag),
        ("?position", Schema::Integer),
        ("?left", list(token_schema())),
        ("?node", list(token_schema())),
        ("?right", list(token_schema())),
    ]);
    answer_schema([
        ("?hits", Schema::Integer),
        ("tokens", Schema::Integer),
        ("?per_million", maybe(Schema::Number)),
        ("first", Schema::Integer),
        ("withheld", Schema::Integer),
        ("next", maybe(Schema::Text)),
        ("lines", list(line)),
    ])
}

pub(crate) fn run(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let given = &question.given;
    let rule = if given.flag("longest") { MatchRule::Longest } else { MatchRule::Shortest };
    let search = question.search(rule)?;
    let view = view(question, reply.is_stream())?;
    let fields = given.names("fields");
    let mut wanted = fields.clone();
    wanted.push(FIELD);
    let is_whole = reply.is_stream() && view.sample.is_none() && view.sort.is_empty();

    let mut exactness = Exactness::Exact;
    if given.flag("count") {
        let counted = search.count(&question.limits);
        exactness = Exactness::of(counted.complete, counted.hits);
        reply.say("hits", counted.hits);
        reply.say("per_million", per_million(counted.hits as f64, search.tokens() as f64));
    }
    reply.say("tokens", search.tokens());
    reply.say("first", question.first);
    if is_whole {
        reply.about(question.about(rule, exactness));
        return stream(question, &search, &view, &wanted, reply);
    }
    let context = given.number("context").unwrap_or(12) as u32;
    let (lines, shown) = search.view(&view, context, &wanted, &question.limits)?;
    let exactness = if exactness == Exactness::Exact { shown } else { exactness };
    reply.about(question.about(rule, exactness));
    let next = match view.sample {
        Some(_) => Value::Null,
        None => question.next(lines.len() as u64, view.size as u64),
    };
    reply.say("next", next);
    let rows: Vec<Row> = lines.into_iter().map(|line| row(question, line, &fields)).collect();
    reply.say("withheld", rows.iter().filter(|row| matches!(row, Row::Withheld { .. })).count());
    for row in rows {
        reply.row(row)?;
    }
    Ok(())
}

fn view(question: &Question<'_>, streams: bool) -> Result<View, Refusal> {
    let given = &question.given;
    let sort: Vec<SortKey> = given.names("sort").into_iter().map(SortKey::named).collect();
    if sort.iter().any(SortKey::is_of_text) && question.right.is_limited(question.engine()) {
        let error = "some of these texts may not be shown without a token, and their order would give them away; \
                     sort by fields such as date or site, or send a token";
        return Err(Refusal { parameter: Some("sort"), ..Refusal::new(StatusCode::FORBIDDEN, error) });
    }
    let size = given.number("size").unwrap_or(if streams { u64::MAX } else { USUAL_SIZE });
    if size > LONGEST_PAGE && !streams {
        let error =
            format!("a page has at most {LONGEST_PAGE} lines; ask for more as a stream, with format=jsonl or csv");
        return Err(Refusal::wrong("size", error));
    }
    let sample = given.number("sample").map(|size| size as usize);
    if sample.is_some_and(|size| size as u64 > LONGEST_PAGE) && !streams {
        return Err(Refusal::wrong("sample", format!("more than {LONGEST_PAGE} lines need format=jsonl or csv")));
    }
    Ok(View {
        order: if given.text("order") == Some("oldest") { Order::Oldest } else { Order::Newest },
        sort,
        sample,
        seed: given.number("seed").unwrap_or(1),
        first: question.first as usize,
        size: usize::try_from(size).unwrap_or(usize::MAX),
    })
}

/// Gives lines as their hits are found.
fn stream(
    question: &Question<'_>,
    search: &Search<'_>,
    view: &View,
    wanted: &[&str],
    reply: &mut Reply,
) -> Result<(), Stop> {
    let context = question.given.number("context").unwrap_or(12) as u32;
    let fields = question.given.names("fields");
    let (mut batch, mut seen, mut taken) = (Vec::new(), 0, 0);
    let mut stopped = None;
    let mut give = |batch: &mut Vec<Hit>| -> Result<(), Stop> {
        for line in question.engine().lines(batch, context, wanted)? {
            reply.row(row(question, line, &fields))?;
        }
        batch.clear();
        Ok(())
    };
    let complete = search.in_order(view.order, &question.limits, &mut |hit| {
        seen += 1;
        if seen <= view.first {
            return ControlFlow::Continue(());
        }
        batch.push(hit);
        taken += 1;
        if batch.len() == BATCH
            && let Err(stop) = give(&mut batch)
        {
            stopped = Some(stop);
            return ControlFlow::Break(());
        }
        if taken == view.size { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if let Some(stop) = stopped {
        return Err(stop);
    }
    give(&mut batch)?;
    if complete || taken == view.size { Ok(()) } else { Err(Stop::Late) }
}

/// A line as it is sent.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Row {
    Seen(Line),
    Withheld { document: String, fields: BTreeMap<String, String>, restricted: bool },
}

/// A line as somebody may see it.
fn row(question: &Question<'_>, mut line: Line, fields: &[&str]) -> Row {
    let told = line.fields.get(FIELD).map(String::as_str);
    let availability = Availability::of_field(told, question.right.default);
    line.fields.retain(|name, _| fields.contains(&name.as_str()));
    match question.right.shows_lines(availability) {
        true => Row::Seen(line),
        false => Row::Withheld { document: line.document, fields: line.fields, restricted: true },
    }
}
