//! Word sketches: the collocates of a lemma by grammatical relation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::ScopeParams;
use super::shards;
use super::{Answered, Cost, Exactness, Question, QuestionContext, QuestionError, Request};
use crate::cql::MatchRule;
use crate::engine;
use crate::filter::Filter;
use crate::sketch::Grammar;

/// Ranks the collocates of a lemma by grammatical relation.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SketchRequest {
    /// The lemma, as a dictionary lists it.
    #[schemars(extend("x-value-name" = "LEMMA"))]
    pub lemma: String,
    /// The part of speech, such as NOUN [default: the most frequent one].
    #[serde(default)]
    #[schemars(extend("x-value-name" = "TAG"))]
    pub pos: Option<String>,
    /// Minimum co-occurrences.
    #[serde(default = "usual_min")]
    #[schemars(range(min = 1))]
    pub min: u64,
    /// Maximum collocates per relation.
    #[serde(default = "usual_size")]
    #[schemars(range(min = 1, max = 1000))]
    pub size: u32,
    /// The documents to count.
    #[serde(flatten)]
    pub scope: ScopeParams,
}

fn usual_min() -> u64 {
    3
}

fn usual_size() -> u32 {
    12
}

answer! {
    /// A word sketch. The rows of all relations are one list.
    pub struct SketchAnswer {
        /// The lemma.
        pub lemma: String,
        /// The part of speech of the sketch; empty if the corpus has no such lemma with a tag.
        pub tag: String,
        /// The parts of speech of the lemma in the corpus, the most frequent first.
        pub tags: Vec<TagCount>,
        /// Hits of the lemma with the tag.
        pub hits: u64,
        /// Tokens of the documents counted.
        pub tokens: u64,
        /// The name of the sketch grammar.
        pub grammar: String,
        /// The relations, in the order of the grammar.
        pub relations: Vec<RelationSummary>,
        /// The collocates of each relation, best first, equals by value.
        pub rows: Vec<RelationRow>,
    }

    /// A part of speech of a lemma.
    pub struct TagCount {
        /// The tag.
        pub tag: String,
        /// Hits of the lemma with the tag.
        pub hits: u64,
    }

    /// A relation of the lemma.
    pub struct RelationSummary {
        /// The name, such as subjects of come.
        pub name: String,
        /// Hits of the relation.
        pub hits: u64,
        /// The number of different collocates.
        pub values: u64,
        /// The query of these hits.
        pub query: String,
    }

    /// A collocate in a relation.
    pub struct RelationRow {
        /// The name of the relation.
        pub relation: String,
        /// The lemma of the collocate.
        pub value: String,
        /// Co-occurrences in the relation.
        pub together: u64,
        /// Occurrences of the collocate in the relation with any word.
        pub anywhere: u64,
        /// logDice within the relation: 14 if neither occurs in it without the other; null if the answer is cut off.
        pub score: Option<f64>,
        /// The query of the hits of both.
        pub query: String,
    }
}

/// A word sketch with the collocates of each relation, as the engine makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sketch {
    /// The lemma.
    pub lemma: String,
    /// The part of speech that the sketch is of; empty if the corpus has no such lemma with a tag.
    pub tag: String,
    /// The parts of speech that the lemma has in the corpus, the most frequent first.
    pub tags: Vec<TagCount>,
    /// How often it occurs with the tag.
    pub hits: u64,
    /// Tokens of the corpus asked.
    pub tokens: u64,
    /// The grammar that says what is looked for.
    pub grammar: String,
    /// What it stands in, in the order of the grammar.
    pub relations: Vec<SketchRelation>,
}

/// The collocates of a word in one relation.
#[derive(Debug, Clone, PartialEq)]
pub struct SketchRelation {
    /// What the collocates are to the word.
    pub name: String,
    /// The same for any word, with … for it.
    pub pattern: String,
    /// How often the word stands in the relation.
    pub hits: u64,
    /// The query that gives these hits.
    pub query: String,
    /// How many different collocates there are that stand in it often enough.
    pub values: u64,
    /// The most typical ones, best first, equals by value.
    pub rows: Vec<SketchRow>,
}

/// A collocate in a relation.
#[derive(Debug, Clone, PartialEq)]
pub struct SketchRow {
    /// Its lemma.
    pub value: String,
    /// How often the two stand in the relation.
    pub together: u64,
    /// How often the collocate stands in it with any word.
    pub anywhere: u64,
    /// logDice within the relation: 14 if neither ever stands in it without the other; unknown without a count of all.
    pub score: Option<f64>,
    /// The query that gives the hits of both.
    pub query: String,
}

impl From<Sketch> for SketchAnswer {
    fn from(sketch: Sketch) -> SketchAnswer {
        let mut answer = SketchAnswer {
            lemma: sketch.lemma,
            tag: sketch.tag,
            tags: sketch.tags,
            hits: sketch.hits,
            tokens: sketch.tokens,
            grammar: sketch.grammar,
            relations: Vec::new(),
            rows: Vec::new(),
        };
        for SketchRelation { name, hits, query, values, rows, .. } in sketch.relations {
            answer.rows.extend(rows.into_iter().map(|row| RelationRow {
                relation: name.clone(),
                value: row.value,
                together: row.together,
                anywhere: row.anywhere,
                score: row.score,
                query: row.query,
            }));
            answer.relations.push(RelationSummary { name, hits, values, query });
        }
        answer
    }
}

/// What the sketches of a question have in common.
pub(super) struct SketchSettings<'s> {
    pub(super) filter: Option<&'s Filter>,
    /// Minimum co-occurrences.
    pub(super) at_least: u64,
    /// Maximum collocates per relation.
    pub(super) rows: usize,
}

impl SketchSettings<'_> {
    /// The sketch of a lemma, of an index or over shards.
    pub(super) fn sketch(
        &self,
        context: &QuestionContext<'_>,
        lemma: &str,
        tag: Option<&str>,
    ) -> Result<Sketch, QuestionError> {
        let SketchSettings { filter, at_least, rows } = *self;
        let asked = engine::SketchOf { lemma, tag, grammar: Grammar::of(context.corpus), filter, at_least, rows };
        if context.is_sharded() {
            return shards::sketch(context, &asked);
        }
        context.note_filter(filter)?;
        let filter = context.resolved(filter)?;
        let asked = engine::SketchOf { filter: filter.as_deref(), ..asked };
        Ok(context.engine.sketch(&asked, &context.limits)?.0)
    }
}

impl Request for SketchRequest {
    fn example() -> SketchRequest {
        SketchRequest {
            lemma: "storm".to_owned(),
            pos: None,
            min: usual_min(),
            size: usual_size(),
            scope: ScopeParams::default(),
        }
    }
}

impl Question for SketchRequest {
    const NAME: &'static str = "sketch";
    const SUMMARY: &'static str = "Show a word sketch: collocates by grammatical relation";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = SketchAnswer;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<SketchAnswer>, QuestionError> {
        let filter = context.filter(&self.scope)?;
        let mut rewrites = Vec::new();
        let (at_least, _) = context.min_counts(self.min, &mut rewrites);
        let of = SketchSettings { filter: filter.as_ref(), at_least, rows: self.size as usize };
        let found = of.sketch(context, &self.lemma, self.pos.as_deref())?;
        let asked = (None, filter.as_ref());
        Ok(context.answered(asked, MatchRule::default(), Exactness::Exact, rewrites, found.into()))
    }
}
