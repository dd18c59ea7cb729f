//! The vocabulary: lists of words and n-grams, and what is typical of a part.

use tidings_query::answer::Exactness;
use tidings_query::engine::is_wordlike;
use tidings_query::measure::keyness::Keyness;
use tidings_query::{Filter, Logic, MatchRule, ValueMatcher};

use super::{ApiRequest, answer_schema, attribute_schema, filter_of, in_time};
use crate::api_error::of_engine;
use crate::endpoint::RequestError;
use crate::response::ResponseWriter;
use crate::schema::{Schema, list, maybe, object};

/// The names of measures of keyness.
pub(crate) const KEYNESS: &[&str] = &["simple", "ll", "log-ratio", "din", "chi2"];

pub(crate) fn words_schema() -> Schema {
    let row = object([
        ("value", Schema::Text),
        ("hits", Schema::Integer),
        ("documents", Schema::Integer),
        ("per_million", maybe(Schema::Number)),
    ]);
    answer_schema([
        ("attribute", attribute_schema()),
        ("n", Schema::Integer),
        ("tokens", Schema::Integer),
        ("values", Schema::Integer),
        ("rows", list(row)),
    ])
}

pub(crate) fn words(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let params = &request.params;
    let part = request.part()?;
    let matching = params.text("regex").map(ValueMatcher::regex);
    let min = params.number("min").unwrap_or(1);
    let engine = request.engine();
    let found = match params.number("ngram").unwrap_or(1) {
        1 => engine.words(&part, request.attribute(), matching.as_ref(), min),
        n => {
            let (min, documents) = request.least(min, response);
            let found = engine.ngrams(&part, request.attribute(), n as usize, matching.as_ref(), min);
            found.map(|mut found| {
                found.rows.retain(|row| row.documents >= documents);
                found
            })
        }
    };
    let mut found = found.map_err(of_engine("regex", params.text("regex").unwrap_or_default()))?;
    found = in_time(&part, found)?;
    found.rows.retain(|row| params.flag("punctuation") || is_wordlike(&row.value));
    response.about(request.about(MatchRule::default(), Exactness::Exact));
    response.set("values", found.rows.len());
    found.rows.truncate(request.limit());
    Ok(response.body(found)?)
}

pub(crate) fn keywords_schema() -> Schema {
    let score = || maybe(Schema::Number);
    let row = object([
        ("value", Schema::Text),
        ("score", score()),
        ("focus", Schema::Integer),
        ("reference", Schema::Integer),
        ("focus_per_million", score()),
        ("reference_per_million", score()),
        ("log_likelihood", score()),
        ("log_ratio", score()),
        ("din", score()),
        ("p", score()),
    ]);
    let named = Schema::Words(&["log-likelihood", "log-ratio", "din", "chi-square"]);
    answer_schema([
        ("attribute", attribute_schema()),
        ("focus", Schema::Text),
        ("against", Schema::Text),
        ("focus_tokens", Schema::Integer),
        ("reference_tokens", Schema::Integer),
        ("order", Schema::Either(vec![named, object([("simple-maths", Schema::Number)])])),
        ("values", Schema::Integer),
        ("rows", list(row)),
    ])
}

pub(crate) fn keywords(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let params = &request.params;
    let focus = filter_of("focus", params.text("focus").unwrap_or_default())?;
    let against = match params.text("against") {
        Some(text) => filter_of("against", text)?,
        None => Filter { condition: Logic::Not(Box::new(focus.condition.clone())) },
    };
    let engine = request.engine();
    let part = |filter: &Filter| request.part_of(Filter::both(request.filter.clone(), Some(filter.clone())).as_ref());
    let order = match params.text("measure") {
        Some("ll") => Keyness::LogLikelihood,
        Some("log-ratio") => Keyness::LogRatio,
        Some("din") => Keyness::Din,
        Some("chi2") => Keyness::ChiSquare,
        _ => Keyness::SimpleMaths(params.share("add")),
    };
    let (n, mut min) = (params.number("ngram").unwrap_or(1), params.number("min").unwrap_or(5));
    if n > 1 {
        (min, _) = request.least(min, response);
    }
    let (here, there) = (part(&focus)?, part(&against)?);
    let found = engine.keywords(&here, &there, request.attribute(), n as usize, order, min)?;
    let mut found = in_time(&here, found)?;
    found.rows.retain(|row| params.flag("punctuation") || is_wordlike(&row.value));
    response.about(request.about(MatchRule::default(), Exactness::Exact));
    response.set("focus", focus.to_string());
    response.set("against", against.to_string());
    response.set("values", found.rows.len());
    found.rows.truncate(request.limit());
    Ok(response.body(found)?)
}
