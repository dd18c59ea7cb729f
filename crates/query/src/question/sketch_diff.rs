//! Sketch differences: the collocates of two lemmas side by side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::params::ScopeParams;
use super::sketch::{Sketch, SketchRow, SketchSettings};
use super::{Answered, Cost, Exactness, Question, QuestionContext, QuestionError, Request};
use crate::cql::MatchRule;

/// Compares the word sketches of two lemmas.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SketchDiffRequest {
    /// The first lemma, as a dictionary lists it.
    #[schemars(extend("x-value-name" = "LEMMA"))]
    pub lemma: String,
    /// The second lemma.
    #[schemars(extend("x-value-name" = "OTHER"))]
    pub other: String,
    /// The part of speech of both, such as NOUN [default: the most frequent one of the first].
    #[serde(default)]
    #[schemars(extend("x-value-name" = "TAG"))]
    pub pos: Option<String>,
    /// Minimum co-occurrences with one of the two.
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
    20
}

answer! {
    /// The collocates of two lemmas by relation, from the most typical of the first to the most typical of the second.
    pub struct SketchDiff {
        /// The first lemma.
        pub lemma: String,
        /// The second lemma.
        pub other: String,
        /// The part of speech of both; empty if the corpus has no such lemma with a tag.
        pub tag: String,
        /// Hits of the first lemma with the tag.
        pub hits: u64,
        /// Hits of the second lemma with the tag.
        pub other_hits: u64,
        /// Tokens of the documents counted.
        pub tokens: u64,
        /// The name of the sketch grammar.
        pub grammar: String,
        /// The collocates of each relation; none if the answer is cut off.
        pub rows: Vec<SketchDiffRow>,
    }

    /// A collocate in a relation of two lemmas.
    pub struct SketchDiffRow {
        /// The relation, with … for the lemma.
        pub relation: String,
        /// The lemma of the collocate.
        pub value: String,
        /// Co-occurrences with the first lemma.
        pub together: u64,
        /// Co-occurrences with the second lemma.
        pub other_together: u64,
        /// logDice with the first lemma; null if they do not occur together often enough.
        pub score: Option<f64>,
        /// logDice with the second lemma; null likewise.
        pub other_score: Option<f64>,
        /// The first score minus the second, where a missing one counts as 0: positive if the collocate is more typical of the
        /// first lemma.
        pub difference: f64,
    }
}

/// The rows of each sketch that are joined: enough to find a typical collocate of one lemma among those of the other.
const JOINED_ROWS: usize = 1000;

/// Joins two sketches: of each relation the most typical collocates of either lemma, ordered by the difference.
fn join(one: Sketch, other: Sketch, size: usize) -> Vec<SketchDiffRow> {
    let mut order: Vec<String> = Vec::new();
    let mut relations: BTreeMap<String, BTreeMap<String, [Option<SketchRow>; 2]>> = BTreeMap::new();
    for (side, sketch) in [one, other].into_iter().enumerate() {
        for relation in sketch.relations {
            if !order.contains(&relation.pattern) {
                order.push(relation.pattern.clone());
            }
            let rows = relations.entry(relation.pattern).or_default();
            for row in relation.rows {
                let value = row.value.clone();
                rows.entry(value).or_default()[side] = Some(row);
            }
        }
    }
    let mut joined = Vec::new();
    for relation in order {
        let mut rows: Vec<SketchDiffRow> = Vec::new();
        for (value, [one, other]) in relations.remove(&relation).unwrap_or_default() {
            let score = |row: &Option<SketchRow>| row.as_ref().and_then(|row| row.score);
            let together = |row: &Option<SketchRow>| row.as_ref().map_or(0, |row| row.together);
            let (first, second) = (score(&one), score(&other));
            rows.push(SketchDiffRow {
                relation: relation.clone(),
                value,
                together: together(&one),
                other_together: together(&other),
                score: first,
                other_score: second,
                difference: first.unwrap_or(0.0) - second.unwrap_or(0.0),
            });
        }
        let best = |row: &SketchDiffRow| row.score.unwrap_or(0.0).max(row.other_score.unwrap_or(0.0));
        rows.sort_by(|a, b| best(b).total_cmp(&best(a)).then_with(|| a.value.cmp(&b.value)));
        rows.truncate(size);
        rows.sort_by(|a, b| b.difference.total_cmp(&a.difference).then_with(|| a.value.cmp(&b.value)));
        joined.append(&mut rows);
    }
    joined
}

impl Request for SketchDiffRequest {
    fn example() -> SketchDiffRequest {
        SketchDiffRequest {
            lemma: "storm".to_owned(),
            other: "flood".to_owned(),
            pos: None,
            min: usual_min(),
            size: usual_size(),
            scope: ScopeParams::default(),
        }
    }
}

impl Question for SketchDiffRequest {
    const NAME: &'static str = "sketch-diff";
    const SUMMARY: &'static str = "Compare the word sketches of two lemmas";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = SketchDiff;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<SketchDiff>, QuestionError> {
        let filter = context.filter(&self.scope)?;
        let mut rewrites = Vec::new();
        let (at_least, _) = context.min_counts(self.min, &mut rewrites);
        let of = SketchSettings { filter: filter.as_ref(), at_least, rows: JOINED_ROWS };
        let one = of.sketch(context, &self.lemma, self.pos.as_deref())?;
        let tag = Some(&one.tag).filter(|tag| !tag.is_empty()).map(|tag| tag.as_str());
        let other = of.sketch(context, &self.other, tag)?;
        let is_complete = !context.is_cut_off();
        let mut body = SketchDiff {
            lemma: self.lemma.clone(),
            other: self.other.clone(),
            tag: one.tag.clone(),
            hits: one.hits,
            other_hits: other.hits,
            tokens: one.tokens,
            grammar: one.grammar.clone(),
            rows: Vec::new(),
        };
        if is_complete {
            body.rows = join(one, other, self.size as usize);
        }
        let asked = (None, filter.as_ref());
        Ok(context.answered(asked, MatchRule::default(), Exactness::Exact, rewrites, body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::SketchRelation;

    fn sketch(lemma: &str, rows: &[(&str, f64)]) -> Sketch {
        let row = |(value, score): &(&str, f64)| SketchRow {
            value: (*value).to_owned(),
            together: 5,
            anywhere: 9,
            score: Some(*score),
            query: String::new(),
        };
        let relation = SketchRelation {
            name: format!("subjects of {lemma}"),
            pattern: "subjects of …".to_owned(),
            hits: 9,
            query: String::new(),
            values: rows.len() as u64,
            rows: rows.iter().map(row).collect(),
        };
        Sketch {
            lemma: lemma.to_owned(),
            tag: "VERB".to_owned(),
            tags: Vec::new(),
            hits: 9,
            tokens: 100,
            grammar: String::new(),
            relations: vec![relation],
        }
    }

    #[test]
    fn collocates_of_either_lemma_are_ordered_from_the_first_to_the_second() {
        let one = sketch("rise", &[("price", 9.0), ("sun", 8.0), ("rare", 1.0)]);
        let other = sketch("fall", &[("price", 9.5), ("rain", 7.0)]);
        let rows = join(one, other, 3);
        let found: Vec<(&str, f64)> = rows.iter().map(|row| (row.value.as_str(), row.difference)).collect();
        assert_eq!(found, [("sun", 8.0), ("price", -0.5), ("rain", -7.0)]);
        assert!(rows.iter().all(|row| row.relation == "subjects of …"));
        assert_eq!((rows[1].together, rows[1].other_together, rows[0].other_score), (5, 5, None));
    }
}
