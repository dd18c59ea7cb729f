//! How many hits, with which values, and what stands beside them.

use tidings_query::MatchRule;
use tidings_query::answer::{Exactness, Window};
use tidings_query::cql::Attribute;
use tidings_query::engine::is_wordlike;
use tidings_query::measure::association::Association;
use tidings_query::measure::per_million;

use super::{ApiRequest, answer_schema, attribute_schema};
use crate::endpoint::RequestError;
use crate::response::ResponseWriter;
use crate::schema::{Schema, list, maybe, object};

pub(crate) fn count_schema() -> Schema {
    answer_schema([("hits", Schema::Integer), ("tokens", Schema::Integer), ("per_million", maybe(Schema::Number))])
}

pub(crate) fn count(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let search = request.search(MatchRule::default())?;
    let counted = search.count(&request.limits);
    response.about(request.about(MatchRule::default(), Exactness::of(counted.complete, counted.hits)));
    response.set("hits", counted.hits);
    response.set("tokens", search.tokens());
    response.set("per_million", per_million(counted.hits as f64, search.tokens() as f64));
    Ok(())
}

pub(crate) fn freq_schema() -> Schema {
    let row = object([
        ("value", Schema::Text),
        ("hits", Schema::Integer),
        ("?tokens", Schema::Integer),
        ("?per_million", maybe(Schema::Number)),
    ]);
    answer_schema([
        ("by", Schema::Text),
        ("hits", Schema::Integer),
        ("tokens", Schema::Integer),
        ("values", Schema::Integer),
        ("rows", list(row)),
    ])
}

pub(crate) fn freq(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let by = request.params.text("by").unwrap_or_default();
    let search = request.search(MatchRule::default())?;
    let (mut found, complete) = match Attribute::named(by) {
        Some(attribute) => {
            let (mut found, complete) = search.frequencies_by_attribute(attribute, &request.limits);
            let (least, _) = request.least(0, response);
            found.rows.retain(|row| row.hits >= least);
            (found, complete)
        }
        None => search.frequencies_by_field(by, &request.limits),
    };
    response.about(request.about(MatchRule::default(), Exactness::of(complete, found.hits)));
    response.set("values", found.rows.len());
    found.rows.truncate(request.limit());
    Ok(response.body(found)?)
}

pub(crate) fn colloc_schema() -> Schema {
    let score = || maybe(Schema::Number);
    let scores = object([
        ("log_dice", score()),
        ("mi", score()),
        ("mi3", score()),
        ("t_score", score()),
        ("log_likelihood", score()),
        ("dice", score()),
        ("min_sensitivity", score()),
        ("mi_log_f", score()),
    ]);
    let row =
        object([("value", Schema::Text), ("together", Schema::Integer), ("hits", Schema::Integer), ("scores", scores)]);
    let tokens = object([("left", Schema::Integer), ("right", Schema::Integer)]);
    let orders =
        Schema::Words(&["log-dice", "mi", "mi3", "t-score", "log-likelihood", "dice", "min-sensitivity", "mi-log-f"]);
    answer_schema([
        ("attribute", attribute_schema()),
        ("window", Schema::Either(vec![object([("tokens", tokens)]), Schema::Words(&["sentence"])])),
        ("hits", Schema::Integer),
        ("tokens", Schema::Integer),
        ("order", orders),
        ("collocates", Schema::Integer),
        ("rows", list(row)),
    ])
}

pub(crate) fn colloc(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let params = &request.params;
    let search = request.search(MatchRule::default())?;
    let tokens = |name| params.number(name).unwrap_or(5) as u32;
    let window = match params.flag("sentence") {
        true => Window::Sentence,
        false => Window::Tokens { left: tokens("left"), right: tokens("right") },
    };
    let order = params.text("measure").and_then(Association::named).unwrap_or(Association::LogDice);
    let (least, _) = request.least(params.number("min").unwrap_or(3), response);
    let (mut found, complete) = search.collocates(request.attribute(), window, order, least, &request.limits);
    found.rows.retain(|row| params.flag("punctuation") || is_wordlike(&row.value));
    response.about(request.about(MatchRule::default(), Exactness::of(complete, found.hits)));
    response.set("collocates", found.rows.len());
    found.rows.truncate(request.limit());
    Ok(response.body(found)?)
}
