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

use super::{ApiRequest, answer_schema, token_schema};
use crate::api_error::ApiError;
use crate::endpoint::RequestError;
use crate::response::ResponseWriter;
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

pub(crate) fn run(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let params = &request.params;
    let rule = if params.flag("longest") { MatchRule::Longest } else { MatchRule::Shortest };
    let search = request.search(rule)?;
    let view = view(request, response.is_stream())?;
    let fields = params.names("fields");
    let mut wanted = fields.clone();
    wanted.push(FIELD);
    let is_whole = response.is_stream() && view.sample.is_none() && view.sort.is_empty();

    let mut exactness = Exactness::Exact;
    if params.flag("count") {
        let counted = search.count(&request.limits);
        exactness = Exactness::of(counted.complete, counted.hits);
        response.set("hits", counted.hits);
        response.set("per_million", per_million(counted.hits as f64, search.tokens() as f64));
    }
    response.set("tokens", search.tokens());
    response.set("first", request.first);
    if is_whole {
        response.about(request.about(rule, exactness));
        return stream(request, &search, &view, &wanted, response);
    }
    let context = params.number("context").unwrap_or(12) as u32;
    let (lines, shown) = search.view(&view, context, &wanted, &request.limits)?;
    let exactness = if exactness == Exactness::Exact { shown } else { exactness };
    response.about(request.about(rule, exactness));
    let next = match view.sample {
        Some(_) => Value::Null,
        None => request.next(lines.len() as u64, view.size as u64),
    };
    response.set("next", next);
    let rows: Vec<Row> = lines.into_iter().map(|line| row(request, line, &fields)).collect();
    response.set("withheld", rows.iter().filter(|row| matches!(row, Row::Withheld { .. })).count());
    for row in rows {
        response.row(row)?;
    }
    Ok(())
}

fn view(request: &ApiRequest<'_>, streams: bool) -> Result<View, ApiError> {
    let params = &request.params;
    let sort: Vec<SortKey> = params.names("sort").into_iter().map(SortKey::named).collect();
    if sort.iter().any(SortKey::is_of_text) && request.right.is_limited(request.engine()) {
        let error = "some of these texts may not be shown without a token, and their order would give them away; \
                     sort by fields such as date or site, or send a token";
        return Err(ApiError { parameter: Some("sort"), ..ApiError::new(StatusCode::FORBIDDEN, error) });
    }
    let size = params.number("size").unwrap_or(if streams { u64::MAX } else { USUAL_SIZE });
    if size > LONGEST_PAGE && !streams {
        let error =
            format!("a page has at most {LONGEST_PAGE} lines; ask for more as a stream, with format=jsonl or csv");
        return Err(ApiError::wrong("size", error));
    }
    let sample = params.number("sample").map(|size| size as usize);
    if sample.is_some_and(|size| size as u64 > LONGEST_PAGE) && !streams {
        return Err(ApiError::wrong("sample", format!("more than {LONGEST_PAGE} lines need format=jsonl or csv")));
    }
    Ok(View {
        order: if params.text("order") == Some("oldest") { Order::Oldest } else { Order::Newest },
        sort,
        sample,
        seed: params.number("seed").unwrap_or(1),
        first: request.first as usize,
        size: usize::try_from(size).unwrap_or(usize::MAX),
    })
}

/// Gives lines as their hits are found.
fn stream(
    request: &ApiRequest<'_>,
    search: &Search<'_>,
    view: &View,
    wanted: &[&str],
    response: &mut ResponseWriter,
) -> Result<(), RequestError> {
    let context = request.params.number("context").unwrap_or(12) as u32;
    let fields = request.params.names("fields");
    let (mut batch, mut seen, mut taken) = (Vec::new(), 0, 0);
    let mut stopped = None;
    let mut give = |batch: &mut Vec<Hit>| -> Result<(), RequestError> {
        for line in request.engine().lines(batch, context, wanted)? {
            response.row(row(request, line, &fields))?;
        }
        batch.clear();
        Ok(())
    };
    let complete = search.in_order(view.order, &request.limits, &mut |hit| {
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
    if complete || taken == view.size { Ok(()) } else { Err(RequestError::Timeout) }
}

/// A line as it is sent.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Row {
    Seen(Line),
    Withheld { document: String, fields: BTreeMap<String, String>, restricted: bool },
}

/// A line as somebody may see it.
fn row(request: &ApiRequest<'_>, mut line: Line, fields: &[&str]) -> Row {
    let told = line.fields.get(FIELD).map(String::as_str);
    let availability = Availability::of_field(told, request.right.default);
    line.fields.retain(|name, _| fields.contains(&name.as_str()));
    match request.right.shows_lines(availability) {
        true => Row::Seen(line),
        false => Row::Withheld { document: line.document, fields: line.fields, restricted: true },
    }
}
