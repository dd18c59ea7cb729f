//! The vocabulary: lists of words and n-grams, and what is typical of a part.

use tidings_query::answer::Exactness;
use tidings_query::engine::is_wordlike;
use tidings_query::measure::keyness::Keyness;
use tidings_query::{Filter, Logic, MatchRule, ValueMatcher};

use super::{Question, answer_schema, attribute_schema, filter_of, in_time};
use crate::endpoint::Stop;
use crate::refusal::of_engine;
use crate::reply::Reply;
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

pub(crate) fn words(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let given = &question.given;
    let part = question.part()?;
    let matching = given.text("regex").map(ValueMatcher::regex);
    let min = given.number("min").unwrap_or(1);
    let engine = question.engine();
    let found = match given.number("ngram").unwrap_or(1) {
        1 => engine.words(&part, question.attribute(), matching.as_ref(), min),
        n => {
            let (min, documents) = question.least(min, reply);
            let found = engine.ngrams(&part, question.attribute(), n as usize, matching.as_ref(), min);
            found.map(|mut found| {
                found.rows.retain(|row| row.documents >= documents);
                found
            })
        }
    };
    let mut found = found.map_err(of_engine("regex", given.text("regex").unwrap_or_default()))?;
    found = in_time(&part, found)?;
    found.rows.retain(|row| given.flag("punctuation") || is_wordlike(&row.value));
    reply.about(question.about(MatchRule::default(), Exactness::Exact));
    reply.say("values", found.rows.len());
    found.rows.truncate(question.limit());
    Ok(reply.body(found)?)
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

pub(crate) fn keywords(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let given = &question.given;
    let focus = filter_of("focus", given.text("focus").unwrap_or_default())?;
    let against = match given.text("against") {
        Some(text) => filter_of("against", text)?,
        None => Filter { condition: Logic::Not(Box::new(focus.condition.clone())) },
    };
    let engine = question.engine();
    let part = |filter: &Filter| question.part_of(Filter::both(question.filter.clone(), Some(filter.clone())).as_ref());
    let order = match given.text("measure") {
        Some("ll") => Keyness::LogLikelihood,
        Some("log-ratio") => Keyness::LogRatio,
        Some("din") => Keyness::Din,
        Some("chi2") => Keyness::ChiSquare,
        _ => Keyness::SimpleMaths(given.share("add")),
    };
    let (n, mut min) = (given.number("ngram").unwrap_or(1), given.number("min").unwrap_or(5));
    if n > 1 {
        (min, _) = question.least(min, reply);
    }
    let (here, there) = (part(&focus)?, part(&against)?);
    let found = engine.keywords(&here, &there, question.attribute(), n as usize, order, min)?;
    let mut found = in_time(&here, found)?;
    found.rows.retain(|row| given.flag("punctuation") || is_wordlike(&row.value));
    reply.about(question.about(MatchRule::default(), Exactness::Exact));
    reply.say("focus", focus.to_string());
    reply.say("against", against.to_string());
    reply.say("values", found.rows.len());
    found.rows.truncate(question.limit());
    Ok(reply.body(found)?)
}
