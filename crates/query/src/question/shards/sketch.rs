//! Word sketches in two phases: the collocates of a word, and then how often they stand in the relations with any word.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::rc::Rc;

use super::Part;
use crate::engine::{MarginalsOf, PairCounts, SketchCounts, SketchOf, TagCounts, headword, sketch_of};
use crate::filter::Filter;
use crate::merge::Merge;
use crate::question::{Parsed, QuestionContext, QuestionError, Sketch};
use crate::sketch::{Grammar, Slot};

/// The hits of a lemma by part of speech, and the tokens of the documents.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SketchTagsPart {
    lemma: String,
    filter: Option<Parsed<Filter>>,
}

impl Part for SketchTagsPart {
    const NAME: &'static str = "sketch-tags";
    type Sum = (HashMap<String, u64>, u64);

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let filter = self.filter.as_deref();
        context.note_filter(filter)?;
        let filter = context.resolved(filter)?;
        let (tags, tokens) = context.engine.tags_of_lemma(&self.lemma, filter.as_deref(), &context.limits)?;
        Ok((tags.into_iter().collect(), tokens))
    }
}

/// The collocates of a lemma.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SketchPairsPart {
    lemma: String,
    tag: String,
    filter: Option<Parsed<Filter>>,
}

/// Collocates without and with a splitting lemma.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct PairSums {
    plain: HashMap<String, u64>,
    divided: HashMap<String, HashMap<String, u64>>,
}

impl Merge for PairSums {
    fn merge_from(&mut self, other: PairSums) {
        self.plain.merge_from(other.plain);
        self.divided.merge_from(other.divided);
    }
}

impl Part for SketchPairsPart {
    const NAME: &'static str = "sketch-pairs";
    type Sum = Vec<PairSums>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Vec<PairSums>, QuestionError> {
        let (grammar, word) = (Grammar::of(context.corpus), headword(&self.lemma, &self.tag));
        let filter = context.resolved(self.filter.as_deref())?;
        let found = context.engine.sketch_pairs(grammar, &word, filter.as_deref(), &context.limits)?;
        let text = |(lemma, count): (u32, u64)| (context.engine.lemma(lemma).to_owned(), count);
        let sums = |pairs: PairCounts<u32>| {
            let mut sums = PairSums::default();
            for (divider, counts) in pairs {
                let counts: HashMap<String, u64> = counts.into_iter().map(text).collect();
                match divider {
                    None => sums.plain = counts,
                    Some(divider) => drop(sums.divided.insert(divider, counts)),
                }
            }
            sums
        };
        Ok(found.into_iter().map(sums).collect())
    }
}

/// The marginal counts of lemmas.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SketchMarginalsPart {
    filter: Option<Parsed<Filter>>,
    /// The relation, whether the lemmas are in its slot b, the splitting lemma, and the lemmas.
    asked: Vec<(usize, bool, Option<String>, Vec<String>)>,
}

impl Part for SketchMarginalsPart {
    const NAME: &'static str = "sketch-marginals";
    type Sum = Vec<Vec<u64>>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Vec<Vec<u64>>, QuestionError> {
        let grammar = Grammar::of(context.corpus);
        if self.asked.iter().any(|(relation, ..)| *relation >= grammar.relations.len()) {
            return Err(QuestionError::Request("there is no such relation".to_owned()));
        }
        let asked = self.asked.iter().map(|(relation, is_b, divider, lemmas)| MarginalsOf {
            relation: *relation,
            slot: if *is_b { Slot::B } else { Slot::A },
            divider: divider.as_deref(),
            lemmas: lemmas.iter().map(String::as_str).collect(),
        });
        let asked: Vec<MarginalsOf<'_, &str>> = asked.collect();
        let filter = context.resolved(self.filter.as_deref())?;
        Ok(context.engine.marginals_of_texts(grammar, filter.as_deref(), &asked, &context.limits)?)
    }
}

/// The counts of all shards.
struct ShardSketch<'s> {
    context: &'s QuestionContext<'s>,
    lemma: &'s str,
    filter: Option<Parsed<Filter>>,
}

impl SketchCounts for ShardSketch<'_> {
    type Lemma = Rc<str>;
    type Error = QuestionError;

    fn text<'t>(&'t self, lemma: &'t Rc<str>) -> &'t str {
        lemma
    }

    fn tags(&self) -> Result<TagCounts, QuestionError> {
        let part = SketchTagsPart { lemma: self.lemma.to_owned(), filter: self.filter.clone() };
        let (tags, tokens) = self.context.gather(&part)?;
        Ok((tags.into_iter().collect(), tokens))
    }

    fn pairs(&self, tag: &str) -> Result<Vec<PairCounts<Rc<str>>>, QuestionError> {
        let (lemma, tag) = (self.lemma.to_owned(), tag.to_owned());
        let found = self.context.gather(&SketchPairsPart { lemma, tag, filter: self.filter.clone() })?;
        let counts = |counts: HashMap<String, u64>| counts.into_iter().map(|(lemma, count)| (lemma.into(), count));
        let pairs = |sums: PairSums| {
            let mut pairs: PairCounts<Rc<str>> = PairCounts::new();
            if !sums.plain.is_empty() {
                pairs.insert(None, counts(sums.plain).collect());
            }
            for (divider, of_divider) in sums.divided {
                pairs.insert(Some(divider), counts(of_divider).collect());
            }
            pairs
        };
        Ok(found.into_iter().map(pairs).collect())
    }

    fn marginals(&self, asked: &[MarginalsOf<'_, Rc<str>>]) -> Result<Vec<Vec<Option<u64>>>, QuestionError> {
        let group = |asked: &MarginalsOf<'_, Rc<str>>| {
            let lemmas = asked.lemmas.iter().map(|lemma| lemma.to_string()).collect();
            (asked.relation, asked.slot == Slot::B, asked.divider.map(str::to_owned), lemmas)
        };
        let part = SketchMarginalsPart { filter: self.filter.clone(), asked: asked.iter().map(group).collect() };
        let found = self.context.gather(&part)?;
        Ok(found.into_iter().map(|counts| counts.into_iter().map(Some).collect()).collect())
    }

    fn count_rare(&self, asked: &MarginalsOf<'_, Rc<str>>) -> Result<Vec<u64>, QuestionError> {
        // All lemmas were counted at once.
        Ok(vec![0; asked.lemmas.len()])
    }

    fn is_cut_off(&self) -> bool {
        self.context.is_cut_off()
    }
}

/// The sketch of a word over all shards.
pub(in crate::question) fn sketch(
    context: &QuestionContext<'_>,
    asked: &SketchOf<'_>,
) -> Result<Sketch, QuestionError> {
    let counts = ShardSketch { context, lemma: asked.lemma, filter: Parsed::of_filter(asked.filter) };
    Ok(sketch_of(&counts, asked)?.0)
}
