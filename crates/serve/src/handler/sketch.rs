//! What a word does: its collocates by grammatical relation.

use serde_json::json;
use tidings_query::MatchRule;
use tidings_query::answer::Exactness;
use tidings_query::engine::SketchOf;
use tidings_query::sketch::Grammar;

use super::{ApiRequest, answer_schema};
use crate::endpoint::RequestError;
use crate::response::ResponseWriter;
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

pub(crate) fn run(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let params = &request.params;
    let (at_least, _) = request.least(params.number("min").unwrap_or(3), response);
    let asked = SketchOf {
        lemma: params.text("lemma").unwrap_or_default(),
        tag: params.text("pos"),
        grammar: Grammar::of(&request.lang),
        filter: request.filter.as_ref(),
        at_least,
        rows: params.number("size").unwrap_or(12) as usize,
    };
    let (found, complete) = request.engine().sketch(&asked, &request.limits)?;
    response.about(request.about(MatchRule::default(), Exactness::of(complete, found.hits)));
    response.set("lemma", &found.lemma);
    response.set("tag", &found.tag);
    response.set("tags", &found.tags);
    response.set("hits", found.hits);
    response.set("tokens", found.tokens);
    response.set("grammar", &found.grammar);
    let head = found.relations.iter().map(|relation| {
        json!({ "name": relation.name, "hits": relation.hits, "values": relation.values, "query": relation.query })
    });
    response.set("relations", head.collect::<Vec<_>>());
    for relation in &found.relations {
        for row in &relation.rows {
            response.row(json!({
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
