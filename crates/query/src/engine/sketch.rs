//! Word sketches: the collocates of a word in each relation of a grammar, by logDice.
//!
//! Sketches are computed on demand, so that they are as new as the snapshot. The costly part is the marginal count of a
//! collocate, with any headword. For frequent lemmas it is counted once per snapshot; rare ones are searched in batches by
//! descending frequency, until no rarer one can score higher than the rows shown (threshold algorithm).

use super::relations::Marginals;
use super::set::LexemeSet;
use super::words::is_wordlike;
use super::{Engine, Limit, Limits, Result};
use crate::cql::ast::{Query, TokenTest};
use crate::cql::{Attribute, MatchRule};
use crate::filter::Filter;
use crate::measure::association::{Association, Pair};
use crate::question::{Sketch, SketchRelation, SketchRow, TagCount};
use crate::sketch::{Grammar, Relation, Slot, is};
use crate::syntax::{Logic, ValueMatcher};
use hashbrown::HashMap;
use tidings_index::lexicon::Layer;

/// The number of rare collocates that are counted in one search.
const BATCH: usize = 240;
/// The maximum number of rare collocates that are counted for one relation.
const MAX_COUNTED: usize = 960;
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

/// Co-occurrences of the word with each lemma, by lemma number.
type Counts = HashMap<u32, u64>;

impl Engine {
    /// The sketch of a word; returns true if the search was exhaustive. Otherwise there are no scores.
    pub fn sketch(&self, asked: &SketchOf<'_>, limits: &Limits) -> Result<(Sketch, bool)> {
        let lemma = is(Attribute::Lemma, ValueMatcher::exact(asked.lemma));
        let alone = crate::cql::parse(&format!("[{lemma}]"))?;
        let found = self.search(&alone, MatchRule::Shortest, asked.filter)?;
        let tokens = found.tokens();
        let (by_tag, complete) = found.by_attribute(Attribute::Tag, limits);
        let tags = by_tag.into_iter().filter(|(tag, _)| !tag.is_empty());
        let mut tags: Vec<TagCount> = tags.map(|(tag, (hits, _))| TagCount { tag, hits }).collect();
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
            return Ok((sketch, complete));
        }
        let (marginals, _) = self.marginals(asked.grammar, asked.filter, limits)?;
        let word = Logic::All(vec![lemma, is(Attribute::Tag, ValueMatcher::exact(&sketch.tag))]);
        let builder = SketchBuilder { engine: self, asked, word, marginals: &marginals, limits };
        for relation in 0..asked.grammar.relations.len() {
            for slot in [Slot::A, Slot::B] {
                builder.relation(relation, slot, &mut sketch.relations)?;
            }
        }
        let complete = limits.cut_off().is_none();
        if !complete {
            let rows = sketch.relations.iter_mut().flat_map(|relation| &mut relation.rows);
            rows.for_each(|row| row.score = None);
        }
        Ok((sketch, complete))
    }
}

/// The state of one sketch.
struct SketchBuilder<'a> {
    engine: &'a Engine,
    asked: &'a SketchOf<'a>,
    /// The condition on the headword.
    word: Logic<TokenTest>,
    marginals: &'a Marginals,
    limits: &'a Limits,
}

/// A relation with the headword in one slot, and its splitting lemma if it has one.
struct Group<'a> {
    number: usize,
    relation: &'a Relation,
    /// The slot of the headword.
    slot: Slot,
    divider: Option<String>,
    /// Co-occurrences with each lemma.
    counts: Counts,
    /// Their sum.
    hits: u64,
}

impl Group<'_> {
    /// The query that finds the relation with these conditions and its splitting lemma.
    fn query(&self, mut conditions: Vec<(Slot, Logic<TokenTest>)>) -> Query {
        conditions.extend(self.divider.as_deref().map(|divider| (Slot::P, begins_with(divider))));
        self.relation.query(&conditions)
    }

    /// The logDice of a lemma, from its co-occurrences and its marginal count.
    fn score(&self, together: u64, anywhere: u64) -> f64 {
        let [together, node, collocate] = [together, self.hits, anywhere].map(|count| count as f64);
        Association::LogDice.score(&Pair { together, node, collocate, tokens: node })
    }
}

/// A collocate with its score, co-occurrences and marginal count.
struct Scored {
    score: f64,
    lemma: u32,
    together: u64,
    anywhere: u64,
}

impl<'a> SketchBuilder<'a> {
    /// Adds the collocates in one slot of a relation.
    fn relation(&self, number: usize, slot: Slot, relations: &mut Vec<SketchRelation>) -> Result<()> {
        let relation = &self.asked.grammar.relations[number];
        let query = relation.query(&[(slot, self.word.clone())]);
        let pairs = self.pairs(&query, relation, slot.other())?;
        let mut groups: Vec<Group<'a>> = pairs
            .into_iter()
            .map(|(divider, counts)| {
                let hits = counts.values().sum();
                Group { number, relation, slot, divider, counts, hits }
            })
            .filter(|group| group.hits >= self.asked.at_least.max(1))
            .collect();
        groups.sort_by(|a, b| b.hits.cmp(&a.hits).then_with(|| a.divider.cmp(&b.divider)));
        for group in groups.into_iter().take(MAX_DIVIDERS) {
            let (rows, values) = self.rows(&group)?;
            if !rows.is_empty() {
                relations.push(SketchRelation {
                    name: relation.name(slot, self.asked.lemma, group.divider.as_deref()),
                    pattern: relation.name(slot, "…", group.divider.as_deref()),
                    hits: group.hits,
                    query: group.query(vec![(slot, self.word.clone())]).to_string(),
                    values,
                    rows,
                });
            }
        }
        Ok(())
    }

    /// Counts the lemmas in a slot of the matches of a query, separately for each splitting lemma.
    fn pairs(&self, query: &Query, relation: &Relation, slot: Slot) -> Result<HashMap<Option<String>, Counts>> {
        let lexicon = self.engine.lexicon();
        let divides = relation.divider().map(|condition| LexemeSet::of(condition, self.engine)).transpose()?;
        let search = self.engine.search(query, MatchRule::Shortest, self.asked.filter)?;
        let mut pairs: HashMap<Option<u32>, Counts> = HashMap::new();
        let (mut held, mut is_full) = (0, false);
        search.each(self.limits, |hit| {
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
        let mut named: HashMap<Option<String>, Counts> = HashMap::new();
        for (divider, counts) in pairs {
            let name = divider.map(|id| first_part(lexicon.string(Layer::Lemma, id)).to_owned());
            let sums = named.entry(name).or_default();
            counts.into_iter().for_each(|(lemma, count)| *sums.entry(lemma).or_default() += count);
        }
        if is_full {
            self.limits.strike(Limit::Values);
        }
        Ok(named)
    }

    /// The most typical collocates of a relation, and their total number.
    fn rows(&self, group: &Group<'_>) -> Result<(Vec<SketchRow>, u64)> {
        let lexicon = self.engine.lexicon();
        let text = |id: u32| lexicon.string(Layer::Lemma, id);
        let is_often = |(id, count): &(&u32, &u64)| **count >= self.asked.at_least.max(1) && is_wordlike(text(**id));
        let often: Vec<(u32, u64)> = group.counts.iter().filter(is_often).map(|(id, count)| (*id, *count)).collect();
        let values = often.len() as u64;
        let (mut scored, mut rare) = (Vec::new(), Vec::new());
        let is_meant = |divider: u32| Some(first_part(text(divider))) == group.divider.as_deref();
        let is_meant: Option<&dyn Fn(u32) -> bool> = if group.divider.is_some() { Some(&is_meant) } else { None };
        for (lemma, together) in often {
            match self.marginals.get(group.number, group.slot.other(), lemma, is_meant) {
                Some(anywhere) => {
                    // A marginal count that a limit cut short may be too small.
                    let anywhere = anywhere.max(together);
                    scored.push(Scored { score: group.score(together, anywhere), lemma, together, anywhere });
                }
                None => rare.push((lemma, together)),
            }
        }
        let by_score =
            |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then_with(|| text(a.lemma).cmp(text(b.lemma)));
        scored.sort_by(by_score);
        rare.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| text(a.0).cmp(text(b.0))));
        for batch in rare[..rare.len().min(MAX_COUNTED)].chunks(BATCH) {
            // A marginal count is at least the co-occurrence, so that this is the highest score of the rest.
            let most = group.score(batch[0].1, batch[0].1);
            if self.asked.rows.checked_sub(1).is_none_or(|last| scored.get(last).is_some_and(|row| row.score > most)) {
                break;
            }
            scored.extend(self.count_rare(group, batch)?);
            scored.sort_by(by_score);
        }
        let rows = scored.into_iter().take(self.asked.rows).map(|row| {
            let value = text(row.lemma).to_owned();
            let collocate = (group.slot.other(), is(Attribute::Lemma, ValueMatcher::exact(&value)));
            let query = group.query(vec![(group.slot, self.word.clone()), collocate]).to_string();
            SketchRow { value, together: row.together, anywhere: row.anywhere, score: Some(row.score), query }
        });
        Ok((rows.collect(), values))
    }

    /// Counts rare lemmas in a relation with any headword.
    fn count_rare(&self, group: &Group<'_>, batch: &[(u32, u64)]) -> Result<Vec<Scored>> {
        let lexicon = self.engine.lexicon();
        let other = group.slot.other();
        let lemmas = batch.iter().map(|(id, _)| ValueMatcher::exact(lexicon.string(Layer::Lemma, *id)));
        let lemmas = any_of(lemmas.map(|lemma| is(Attribute::Lemma, lemma)).collect());
        let anywhere = self.pairs(&group.query(vec![(other, lemmas)]), group.relation, other)?;
        let scored = batch.iter().map(|(lemma, together)| {
            let sum = anywhere.values().filter_map(|counts| counts.get(lemma)).sum::<u64>();
            let anywhere = sum.max(*together);
            Scored { score: group.score(*together, anywhere), lemma: *lemma, together: *together, anywhere }
        });
        Ok(scored.collect())
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
