//! What a word does: its collocates by grammatical relation.

use serde_json::json;
use tidings_query::MatchRule;
use tidings_query::answer::Exactness;
use tidings_query::engine::SketchOf;
use tidings_query::sketch::Grammar;

use super::{Question, answer_schema};
use crate::endpoint::Stop;
use crate::reply::Reply;
use crate::schema::{Schema, list, maybe, object};

pub(crate) fn schema() -> Schema {
    let relation = object([
        ("name", Schema::Text),
        ("hits", Schema::Integer),
        ("values", Schema::Integer),
        ("query", Schema::Text),
    ]);
    let row = object([
        ("relation", Schema::Text),
        ("value", Schema::Text),
        ("together", Schema::Integer),
        ("anywhere", Schema::Integer),
        ("score", maybe(Schema::Number)),
        ("query", Schema::Text),
    ]);
    answer_schema([
        ("lemma", Schema::Text),
        ("tag", Schema::Text),
        ("tags", list(object([("tag", Schema::Text), ("hits", Schema::Integer)]))),
        ("hits", Schema::Integer),
        ("tokens", Schema::Integer),
        ("grammar", Schema::Text),
        ("relations", list(relation)),
        ("rows", list(row)),
    ])
}

pub(crate) fn run(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let given = &question.given;
    let (at_least, _) = question.least(given.number("min").unwrap_or(3), reply);
    let asked = SketchOf {
        lemma: given.text("lemma").unwrap_or_default(),
        tag: given.text("pos"),
        grammar: Grammar::of(&question.lang),
        filter: question.filter.as_ref(),
        at_least,
        rows: given.number("size").unwrap_or(12) as usize,
    };
    let (found, complete) = question.engine().sketch(&asked, &question.limits)?;
    reply.about(question.about(MatchRule::default(), Exactness::of(complete, found.hits)));
    reply.say("lemma", &found.lemma);
    reply.say("tag", &found.tag);
    reply.say("tags", &found.tags);
    reply.say("hits", found.hits);
    reply.say("tokens", found.tokens);
    reply.say("grammar", &found.grammar);
    let head = found.relations.iter().map(|relation| {
        json!({ "name": relation.name, "hits": relation.hits, "values": relation.values, "query": relation.query })
    });
    reply.say("relations", head.collect::<Vec<_>>());
    for relation in &found.relations {
        for row in &relation.rows {
            reply.row(json!({
                "relation": relation.name,
                "value": row.value,
                "together": row.together,
                "anywhere": row.anywhere,
                "score": row.score,
                "query": row.query,
            }))?;
        }
    }
    Ok(())
}
