//! Word sketches: the collocates of a word in each relation of a grammar, by logDice.
//!
//! Sketches are computed on demand, so that they are as new as the snapshot. The costly part is the marginal count of a
//! collocate, with any headword. For frequent lemmas it is counted once per snapshot; rare ones are searched in batches by
//! descending frequency, until no rarer one can score higher than the rows shown (threshold algorithm). The counts are those
//! of an index or sums over shards ([`SketchCounts`]); ranking them knows no difference.

use super::relations::Marginals;
use super::set::LexemeSet;
use super::words::is_wordlike;
use super::{Engine, EngineError, Limit, Limits, Result};
use crate::cql::ast::{Query, TokenTest};
use crate::cql::{Attribute, MatchRule};
use crate::filter::Filter;
use crate::measure::association::{Association, Pair};
use crate::question::{Sketch, SketchRelation, SketchRow, TagCount};
use crate::sketch::{Grammar, Relation, Slot, is};
use crate::syntax::{Logic, ValueMatcher};
use hashbrown::HashMap;
use std::hash::Hash;
use std::sync::OnceLock;
use tidings_index::lexicon::Layer;

/// The number of rare collocates that are counted in one search.
const BATCH: usize = 240;
/// The number of rare collocates of a relation that are counted by searches; more are counted in one pass.
const MAX_SEARCHED: usize = 960;
/// The maximum number of splitting lemmas, such as prepositions, with rows of their own.
const MAX_DIVIDERS: usize = 6;
/// The maximum number of pairs of one relation in memory.
const MAX_PAIRS: usize = 2_000_000;

/// The parameters of a sketch.
#[derive(Debug, Clone, Copy)]
pub struct SketchOf<'a> {
    /// The lemma, case-sensitive.
    pub lemma: &'a str,
    /// Its part of speech; by default the most frequent one.
    pub tag: Option<&'a str>,
    /// The grammar.
    pub grammar: &'a Grammar,
    /// The filter of documents.
    pub filter: Option<&'a Filter>,
    /// The minimum co-occurrence.
    pub at_least: u64,
    /// The maximum number of rows of each relation.
    pub rows: usize,
}

/// The lemmas in a slot of a relation, by splitting lemma.
pub(crate) type PairCounts<L> = HashMap<Option<String>, HashMap<L, u64>>;

/// Lemmas in a slot of a relation, of which marginal counts are asked.
pub(crate) struct MarginalsOf<'a, L> {
    pub(crate) relation: usize,
    pub(crate) slot: Slot,
    /// The splitting lemma.
    pub(crate) divider: Option<&'a str>,
    pub(crate) lemmas: Vec<L>,
}

/// The hits of a lemma by part of speech, and the tokens of the documents.
pub(crate) type TagCounts = (Vec<(String, u64)>, u64);

/// The counts that a sketch is made of.
pub(crate) trait SketchCounts {
    /// A lemma.
    type Lemma: Clone + Eq + Hash;
    /// The reason why something cannot be counted.
    type Error;

    /// The text of a lemma.
    fn text<'t>(&'t self, lemma: &'t Self::Lemma) -> &'t str;

    /// The parts of speech of the headword, and the tokens of the documents.
    fn tags(&self) -> std::result::Result<TagCounts, Self::Error>;

    /// The collocates of the headword with a part of speech: for each relation those of the headword in slot a, then b.
    fn pairs(&self, tag: &str) -> std::result::Result<Vec<PairCounts<Self::Lemma>>, Self::Error>;

    /// The marginal counts of lemmas, as far as they are known without further searches.
    fn marginals(
        &self,
        asked: &[MarginalsOf<'_, Self::Lemma>],
    ) -> std::result::Result<Vec<Vec<Option<u64>>>, Self::Error>;

    /// The marginal counts of other lemmas.
    fn count_rare(&self, asked: &MarginalsOf<'_, Self::Lemma>) -> std::result::Result<Vec<u64>, Self::Error>;

    /// Returns true if a limit stopped a count.
    fn is_cut_off(&self) -> bool;
}

impl Engine {
    /// The sketch of a word; returns true if the search was exhaustive. Otherwise there are no scores.
    pub fn sketch(&self, asked: &SketchOf<'_>, limits: &Limits) -> Result<(Sketch, bool)> {
        let counts = IndexSketch { engine: self, asked, limits, marginals: OnceLock::new() };
        sketch_of(&counts, asked)
    }
}

/// The condition on a headword.
pub(crate) fn headword(lemma: &str, tag: &str) -> Logic<TokenTest> {
    let lemma = is(Attribute::Lemma, ValueMatcher::exact(lemma));
    Logic::All(vec![lemma, is(Attribute::Tag, ValueMatcher::exact(tag))])
}

/// The sketch that follows from counts; returns true if they are whole. Otherwise there are no scores.
pub(crate) fn sketch_of<S: SketchCounts>(
    counts: &S,
    asked: &SketchOf<'_>,
) -> std::result::Result<(Sketch, bool), S::Error> {
    let (by_tag, tokens) = counts.tags()?;
    let tags = by_tag.into_iter().filter(|(tag, _)| !tag.is_empty());
    let mut tags: Vec<TagCount> = tags.map(|(tag, hits)| TagCount { tag, hits }).collect();
    tags.sort_by(|a, b| b.hits.cmp(&a.hits).then_with(|| a.tag.cmp(&b.tag)));
    let tag = asked.tag.or(tags.first().map(|first| first.tag.as_str())).unwrap_or_default().to_owned();
    let hits = tags.iter().find(|known| known.tag == tag).map_or(0, |known| known.hits);
    let mut sketch = Sketch {
        lemma: asked.lemma.to_owned(),
        tag,
        tags,
        hits,
        tokens,
        grammar: asked.grammar.name.clone(),
        relations: Vec::new(),
    };
    if hits == 0 {
        return Ok((sketch, !counts.is_cut_off()));
    }
    let builder = SketchBuilder { counts, asked, word: headword(asked.lemma, &sketch.tag) };
    let groups = builder.groups(counts.pairs(&sketch.tag)?);
    let often: Vec<MarginalsOf<'_, S::Lemma>> = groups.iter().map(|group| builder.often(group)).collect();
    let marginals = counts.marginals(&often)?;
    for ((group, often), marginals) in groups.iter().zip(&often).zip(marginals) {
        let rows = builder.rows(group, often, marginals)?;
        if !rows.is_empty() {
            sketch.relations.push(SketchRelation {
                name: group.relation.name(group.slot, asked.lemma, group.divider.as_deref()),
                pattern: group.relation.name(group.slot, "…", group.divider.as_deref()),
                hits: group.hits,
                query: group.query(vec![(group.slot, builder.word.clone())]).to_string(),
                values: often.lemmas.len() as u64,
                rows,
            });
        }
    }
    let complete = !counts.is_cut_off();
    if !complete {
        let rows = sketch.relations.iter_mut().flat_map(|relation| &mut relation.rows);
        rows.for_each(|row| row.score = None);
    }
    Ok((sketch, complete))
}

/// The state of one sketch.
struct SketchBuilder<'a, S> {
    counts: &'a S,
    asked: &'a SketchOf<'a>,
    /// The condition on the headword.
    word: Logic<TokenTest>,
}

/// A relation with the headword in one slot, and its splitting lemma if it has one.
struct Group<'a, L> {
    number: usize,
    relation: &'a Relation,
    /// The slot of the headword.
    slot: Slot,
    divider: Option<String>,
    /// Co-occurrences with each lemma.
    counts: HashMap<L, u64>,
    /// Their sum.
    hits: u64,
}

impl<L> Group<'_, L> {
    /// The query that finds the relation with these conditions and its splitting lemma.
    fn query(&self, conditions: Vec<(Slot, Logic<TokenTest>)>) -> Query {
        query_of(self.relation, self.divider.as_deref(), conditions)
    }

    /// The logDice of a lemma, from its co-occurrences and its marginal count.
    fn score(&self, together: u64, anywhere: u64) -> f64 {
        let [together, node, collocate] = [together, self.hits, anywhere].map(|count| count as f64);
        Association::LogDice.score(&Pair { together, node, collocate, tokens: node })
    }
}

/// The query that finds a relation with some conditions and a splitting lemma.
fn query_of(relation: &Relation, divider: Option<&str>, mut conditions: Vec<(Slot, Logic<TokenTest>)>) -> Query {
    conditions.extend(divider.map(|divider| (Slot::P, begins_with(divider))));
    relation.query(&conditions)
}

/// A collocate with its score, co-occurrences and marginal count.
struct Scored<L> {
    score: f64,
    lemma: L,
    together: u64,
    anywhere: u64,
}

impl<'a, S: SketchCounts> SketchBuilder<'a, S> {
    /// The relations with enough hits: the splitting lemmas of each with most hits first.
    fn groups(&self, pairs: Vec<PairCounts<S::Lemma>>) -> Vec<Group<'a, S::Lemma>> {
        let relations = self.asked.grammar.relations.iter().enumerate();
        let slots = relations.flat_map(|(number, relation)| [(number, relation, Slot::A), (number, relation, Slot::B)]);
        let mut groups = Vec::new();
        for ((number, relation, slot), pairs) in slots.zip(pairs) {
            let group = |(divider, counts): (Option<String>, HashMap<S::Lemma, u64>)| {
                let hits = counts.values().sum();
                Group { number, relation, slot, divider, counts, hits }
            };
            let mut of_slot: Vec<Group<'a, S::Lemma>> =
                pairs.into_iter().map(group).filter(|group| group.hits >= self.asked.at_least.max(1)).collect();
            of_slot.sort_by(|a, b| b.hits.cmp(&a.hits).then_with(|| a.divider.cmp(&b.divider)));
            groups.extend(of_slot.into_iter().take(MAX_DIVIDERS));
        }
        groups
    }

    /// The lemmas that stand in a relation often enough.
    fn often<'g>(&self, group: &'g Group<'_, S::Lemma>) -> MarginalsOf<'g, S::Lemma> {
        let is_often = |(lemma, count): &(&S::Lemma, &u64)| {
            **count >= self.asked.at_least.max(1) && is_wordlike(self.counts.text(lemma))
        };
        MarginalsOf {
            relation: group.number,
            slot: group.slot.other(),
            divider: group.divider.as_deref(),
            lemmas: group.counts.iter().filter(is_often).map(|(lemma, _)| lemma.clone()).collect(),
        }
    }

    /// The most typical collocates of a relation. `marginals` are those of the lemmas that are known.
    fn rows(
        &self,
        group: &Group<'_, S::Lemma>,
        often: &MarginalsOf<'_, S::Lemma>,
        marginals: Vec<Option<u64>>,
    ) -> std::result::Result<Vec<SketchRow>, S::Error> {
        let text = |lemma: &'_ S::Lemma| self.counts.text(lemma).to_owned();
        let compare = |a: &S::Lemma, b: &S::Lemma| self.counts.text(a).cmp(self.counts.text(b));
        let scored_of = |lemma: &S::Lemma, anywhere: u64| {
            let together = group.counts.get(lemma).copied().unwrap_or(0);
            // A marginal count that a limit cut short may be too small.
            let anywhere = anywhere.max(together);
            Scored { score: group.score(together, anywhere), lemma: lemma.clone(), together, anywhere }
        };
        let (mut scored, mut rare) = (Vec::new(), Vec::new());
        for (lemma, anywhere) in often.lemmas.iter().zip(marginals) {
            match anywhere {
                Some(anywhere) => scored.push(scored_of(lemma, anywhere)),
                None => rare.push((group.counts.get(lemma).copied().unwrap_or(0), lemma)),
            }
        }
        let by_score = |a: &Scored<S::Lemma>, b: &Scored<S::Lemma>| {
            b.score.total_cmp(&a.score).then_with(|| compare(&a.lemma, &b.lemma))
        };
        scored.sort_by(by_score);
        rare.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| compare(a.1, b.1)));
        let (searched, rest) = rare.split_at(rare.len().min(MAX_SEARCHED));
        for batch in searched.chunks(BATCH).chain([rest]).filter(|batch| !batch.is_empty()) {
            // A marginal count is at least the co-occurrence, so that this is the highest score of the rest.
            let most = group.score(batch[0].0, batch[0].0);
            if self.asked.rows.checked_sub(1).is_none_or(|last| scored.get(last).is_some_and(|row| row.score > most)) {
                break;
            }
            let lemmas: Vec<S::Lemma> = batch.iter().map(|(_, lemma)| (*lemma).clone()).collect();
            let asked = MarginalsOf { relation: often.relation, slot: often.slot, divider: often.divider, lemmas };
            let anywhere = self.counts.count_rare(&asked)?;
            scored.extend(asked.lemmas.iter().zip(anywhere).map(|(lemma, anywhere)| scored_of(lemma, anywhere)));
            scored.sort_by(by_score);
        }
        let rows = scored.into_iter().take(self.asked.rows).map(|row| {
            let value = text(&row.lemma);
            let collocate = (group.slot.other(), is(Attribute::Lemma, ValueMatcher::exact(&value)));
            let query = group.query(vec![(group.slot, self.word.clone()), collocate]).to_string();
            SketchRow { value, together: row.together, anywhere: row.anywhere, score: Some(row.score), query }
        });
        Ok(rows.collect())
    }
}

/// The counts of an index.
struct IndexSketch<'a> {
    engine: &'a Engine,
    asked: &'a SketchOf<'a>,
    limits: &'a Limits,
    marginals: OnceLock<std::sync::Arc<Marginals>>,
}

impl SketchCounts for IndexSketch<'_> {
    type Lemma = u32;
    type Error = EngineError;

    fn text<'t>(&'t self, lemma: &'t u32) -> &'t str {
        self.engine.lexicon().string(Layer::Lemma, *lemma)
    }

    fn tags(&self) -> Result<TagCounts> {
        self.engine.tags_of_lemma(self.asked.lemma, self.asked.filter, self.limits)
    }

    fn pairs(&self, tag: &str) -> Result<Vec<PairCounts<u32>>> {
        // Known before, so that the time of a first sketch goes to what later ones need, too.
        let (marginals, _) = self.engine.marginals(self.asked.grammar, self.asked.filter, self.limits)?;
        let _ = self.marginals.set(marginals);
        self.engine.sketch_pairs(self.asked.grammar, &headword(self.asked.lemma, tag), self.asked.filter, self.limits)
    }

    fn marginals(&self, asked: &[MarginalsOf<'_, u32>]) -> Result<Vec<Vec<Option<u64>>>> {
        let Some(known) = self.marginals.get() else { return Ok(Vec::new()) };
        Ok(asked.iter().map(|asked| self.engine.known_marginals(known, asked)).collect())
    }

    fn count_rare(&self, asked: &MarginalsOf<'_, u32>) -> Result<Vec<u64>> {
        let SketchOf { grammar, filter, .. } = *self.asked;
        match asked.lemmas.len() > BATCH {
            true => {
                let counted = self.engine.marginals_of(grammar, filter, &asked.lemmas, self.limits)?;
                Ok(self.engine.known_marginals(&counted, asked).into_iter().map(Option::unwrap_or_default).collect())
            }
            false => self.engine.search_marginals(grammar, filter, asked, self.limits),
        }
    }

    fn is_cut_off(&self) -> bool {
        self.limits.cut_off().is_some()
    }
}

impl Engine {
    /// The hits of a lemma by part of speech, and the tokens of the documents.
    pub(crate) fn tags_of_lemma(
        &self,
        lemma: &str,
        filter: Option<&Filter>,
        limits: &Limits,
    ) -> Result<(Vec<(String, u64)>, u64)> {
        let lemma = is(Attribute::Lemma, ValueMatcher::exact(lemma));
        let alone = crate::cql::parse(&format!("[{lemma}]"))?;
        let found = self.search(&alone, MatchRule::Shortest, filter)?;
        let tags = found.by_attribute(Attribute::Tag, limits).0.into_iter().map(|(tag, (hits, _))| (tag, hits));
        Ok((tags.collect(), found.tokens()))
    }

    /// The collocates of a headword: for each relation those of the headword in slot a, then b.
    pub(crate) fn sketch_pairs(
        &self,
        grammar: &Grammar,
        word: &Logic<TokenTest>,
        filter: Option<&Filter>,
        limits: &Limits,
    ) -> Result<Vec<PairCounts<u32>>> {
        let mut found = Vec::new();
        for relation in &grammar.relations {
            for slot in [Slot::A, Slot::B] {
                let query = relation.query(&[(slot, word.clone())]);
                found.push(self.pairs(&query, (relation, slot.other()), filter, limits)?);
            }
        }
        Ok(found)
    }

    /// The marginal counts of those lemmas that were counted.
    fn known_marginals(&self, known: &Marginals, asked: &MarginalsOf<'_, u32>) -> Vec<Option<u64>> {
        let is_meant = |divider: u32| Some(first_part(self.lexicon().string(Layer::Lemma, divider))) == asked.divider;
        let is_meant: Option<&dyn Fn(u32) -> bool> = if asked.divider.is_some() { Some(&is_meant) } else { None };
        asked.lemmas.iter().map(|lemma| known.get(asked.relation, asked.slot, *lemma, is_meant)).collect()
    }

    /// The marginal counts of lemmas by their texts: those that are not known are counted in one pass.
    pub(crate) fn marginals_of_texts(
        &self,
        grammar: &Grammar,
        filter: Option<&Filter>,
        asked: &[MarginalsOf<'_, &str>],
        limits: &Limits,
    ) -> Result<Vec<Vec<u64>>> {
        let (known, _) = self.marginals(grammar, filter, limits)?;
        // A lemma that the lexicon does not have has no number.
        let id = |lemma: &&str| self.lexicon().find(Layer::Lemma, lemma).unwrap_or(u32::MAX);
        let asked: Vec<MarginalsOf<'_, u32>> = asked
            .iter()
            .filter(|asked| asked.relation < grammar.relations.len())
            .map(|MarginalsOf { relation, slot, divider, lemmas }| MarginalsOf {
                relation: *relation,
                slot: *slot,
                divider: *divider,
                lemmas: lemmas.iter().map(id).collect(),
            })
            .collect();
        let found: Vec<Vec<Option<u64>>> = asked.iter().map(|asked| self.known_marginals(&known, asked)).collect();
        let missing = asked.iter().zip(&found).flat_map(|(asked, found)| asked.lemmas.iter().zip(found));
        let mut rare: Vec<u32> =
            missing.filter(|(lemma, count)| count.is_none() && **lemma != u32::MAX).map(|(lemma, _)| *lemma).collect();
        rare.sort_unstable();
        rare.dedup();
        let counted = match rare.is_empty() {
            true => None,
            false => Some(self.marginals_of(grammar, filter, &rare, limits)?),
        };
        let rest = |asked: &MarginalsOf<'_, u32>| counted.as_ref().map(|counted| self.known_marginals(counted, asked));
        let joined = asked.iter().zip(found).map(|(asked, found)| match rest(asked) {
            Some(rest) => found.into_iter().zip(rest).map(|(known, rare)| known.or(rare).unwrap_or(0)).collect(),
            None => found.into_iter().map(Option::unwrap_or_default).collect(),
        });
        Ok(joined.collect())
    }

    /// The marginal counts of a few lemmas, by a search.
    fn search_marginals(
        &self,
        grammar: &Grammar,
        filter: Option<&Filter>,
        asked: &MarginalsOf<'_, u32>,
        limits: &Limits,
    ) -> Result<Vec<u64>> {
        let relation = &grammar.relations[asked.relation];
        let lemmas = asked.lemmas.iter().map(|id| ValueMatcher::exact(self.lexicon().string(Layer::Lemma, *id)));
        let lemmas = any_of(lemmas.map(|lemma| is(Attribute::Lemma, lemma)).collect());
        let query = query_of(relation, asked.divider, vec![(asked.slot, lemmas)]);
        let anywhere = self.pairs(&query, (relation, asked.slot), filter, limits)?;
        let count = |lemma: &u32| anywhere.values().filter_map(|counts| counts.get(lemma)).sum::<u64>();
        Ok(asked.lemmas.iter().map(count).collect())
    }

    /// Counts the lemmas in a slot of the matches of a query, separately for each splitting lemma.
    fn pairs(
        &self,
        query: &Query,
        (relation, slot): (&Relation, Slot),
        filter: Option<&Filter>,
        limits: &Limits,
    ) -> Result<PairCounts<u32>> {
        let lexicon = self.lexicon();
        let divides = relation.divider().map(|condition| LexemeSet::of(condition, self)).transpose()?;
        let search = self.search(query, MatchRule::Shortest, filter)?;
        let mut pairs: HashMap<Option<u32>, HashMap<u32, u64>> = HashMap::new();
        let (mut held, mut is_full) = (0, false);
        search.each(limits, |hit| {
            let segment = search.segment(hit.segment as usize);
            let position = if relation.is_first(slot) { hit.start } else { hit.end - 1 };
            let lemma = lexicon.of(segment.lexeme_at(position), Layer::Lemma);
            let divider = divides.as_ref().and_then(|divides| {
                let mut between = (hit.start + 1..hit.end - 1).map(|between| segment.lexeme_at(between));
                let found = between.find(|lexeme| divides.contains(*lexeme));
                found.map(|lexeme| lexicon.of(lexeme, Layer::Lemma))
            });
            let counts = pairs.entry(divider).or_default();
            match counts.get_mut(&lemma) {
                Some(count) => *count += 1,
                None if held >= MAX_PAIRS => is_full = true,
                None => {
                    held += 1;
                    counts.insert(lemma, 1);
                }
            }
        });
        // A contraction such as *im* has the lemma *in+der* and counts as its preposition.
        let mut named: PairCounts<u32> = HashMap::new();
        for (divider, counts) in pairs {
            let name = divider.map(|id| first_part(lexicon.string(Layer::Lemma, id)).to_owned());
            let sums = named.entry(name).or_default();
            counts.into_iter().for_each(|(lemma, count)| *sums.entry(lemma).or_default() += count);
        }
        if is_full {
            limits.strike(Limit::Values);
        }
        Ok(named)
    }
}

fn any_of(mut tests: Vec<Logic<TokenTest>>) -> Logic<TokenTest> {
    if tests.len() == 1 { tests.remove(0) } else { Logic::Any(tests) }
}

/// A lemma, alone or as the first of a contraction.
fn begins_with(lemma: &str) -> Logic<TokenTest> {
    is(Attribute::Lemma, ValueMatcher::regex(format!("{}(\\+.*)?", regex_syntax::escape(lemma))))
}

fn first_part(lemma: &str) -> &str {
    match lemma.split_once('+') {
        Some((first, _)) if !first.is_empty() => first,
        _ => lemma,
    }
}
