//! How many hits, with which values, and what stands beside them.

use tidings_query::MatchRule;
use tidings_query::answer::{Exactness, Window};
use tidings_query::cql::Attribute;
use tidings_query::engine::is_wordlike;
use tidings_query::measure::association::Association;
use tidings_query::measure::per_million;

use super::{Question, answer_schema, attribute_schema};
use crate::endpoint::Stop;
use crate::reply::Reply;
use crate::schema::{Schema, list, maybe, object};

pub(crate) fn count_schema() -> Schema {
    answer_schema([("hits", Schema::Integer), ("tokens", Schema::Integer), ("per_million", maybe(Schema::Number))])
}

pub(crate) fn count(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let search = question.search(MatchRule::default())?;
    let counted = search.count(&question.limits);
    reply.about(question.about(MatchRule::default(), Exactness::of(counted.complete, counted.hits)));
    reply.say("hits", counted.hits);
    reply.say("tokens", search.tokens());
    reply.say("per_million", per_million(counted.hits as f64, search.tokens() as f64));
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

pub(crate) fn freq(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let by = question.given.text("by").unwrap_or_default();
    let search = question.search(MatchRule::default())?;
    let (mut found, complete) = match Attribute::named(by) {
        Some(attribute) => {
            let (mut found, complete) = search.frequencies_by_attribute(attribute, &question.limits);
            let (least, _) = question.least(0, reply);
            found.rows.retain(|row| row.hits >= least);
            (found, complete)
        }
        None => search.frequencies_by_field(by, &question.limits),
    };
    reply.about(question.about(MatchRule::default(), Exactness::of(complete, found.hits)));
    reply.say("values", found.rows.len());
    found.rows.truncate(question.limit());
    Ok(reply.body(found)?)
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

pub(crate) fn colloc(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let given = &question.given;
    let search = question.search(MatchRule::default())?;
    let tokens = |name| given.number(name).unwrap_or(5) as u32;
    let window = match given.flag("sentence") {
        true => Window::Sentence,
        false => Window::Tokens { left: tokens("left"), right: tokens("right") },
    };
    let order = given.text("measure").and_then(Association::named).unwrap_or(Association::LogDice);
    let (least, _) = question.least(given.number("min").unwrap_or(3), reply);
    let (mut found, complete) = search.collocates(question.attribute(), window, order, least, &question.limits);
    found.rows.retain(|row| given.flag("punctuation") || is_wordlike(&row.value));
    reply.about(question.about(MatchRule::default(), Exactness::of(complete, found.hits)));
    reply.say("collocates", found.rows.len());
    found.rows.truncate(question.limit());
    Ok(reply.body(found)?)
}
