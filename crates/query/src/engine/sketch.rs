//! Word sketches: what stands beside a word in each relation of a grammar, and how typical it is.
//!
//! Nothing is prepared: the relations are looked for around the word whenever somebody asks, so that a sketch is as new as the
//! snapshot. How often a collocate stands in a relation with any word costs most, and is counted for the most frequent
//! collocates first; it ends when no rarer one could score higher than those that are shown.

use super::set::LexemeSet;
use super::{Engine, Limits, Result};
use crate::answer::{Sketch, SketchRelation, SketchRow, TagCount};
use crate::cql::ast::{Query, TokenTest};
use crate::cql::{Attribute, Rule};
use crate::filter::Filter;
use crate::measure::association::{Association, Pair};
use crate::sketch::{Grammar, Relation, Slot, is};
use crate::syntax::{Logic, Wanted};
use hashbrown::HashMap;
use std::cmp::Reverse;
use tidings_index::lexicon::Layer;

/// So many collocates are counted at once.
const BATCH: usize = 48;
/// No more are counted for one relation.
const MOST_COUNTED: usize = 960;
/// So many prepositions and the like have a list of their own.
const MOST_DIVIDERS: usize = 6;
/// No more pairs of one relation are held.
const MOST_PAIRS: usize = 2_000_000;

/// What is asked of a sketch.
#[derive(Debug, Clone, Copy)]
pub struct SketchOf<'a> {
    /// The lemma, as it is.
    pub lemma: &'a str,
    /// Its part of speech; the most frequent one if nothing is said.
    pub tag: Option<&'a str>,
    /// What is looked for.
    pub grammar: &'a Grammar,
    /// Of which documents.
    pub filter: Option<&'a Filter>,
    /// Together at least so often.
    pub at_least: u64,
    /// Rows for each relation.
    pub rows: usize,
}

/// How often the word stands in a relation with each lemma, by its number.
type Counts = HashMap<u32, u64>;

impl Engine {
    /// The sketch of a word; says whether everything was looked at.
    pub fn sketch(&self, asked: &SketchOf<'_>, limits: &Limits<'_>) -> Result<(Sketch, bool)> {
        let lemma = is(Attribute::Lemma, Wanted::exact(asked.lemma));
        let alone = crate::cql::parse(&format!("[{lemma}]"))?;
        let found = self.search(&alone, Rule::Shortest, asked.filter)?;
        let tokens = found.tokens();
        let (by_tag, mut complete) = found.by_attribute(Attribute::Tag, limits);
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
            return Ok((sketch, complete));
        }
        let word = Logic::All(vec![lemma, is(Attribute::Tag, Wanted::exact(&sketch.tag))]);
        for relation in &asked.grammar.relations {
            for slot in [Slot::A, Slot::B] {
                complete &= self.relation(asked, relation, slot, &word, limits, &mut sketch.relations)?;
            }
        }
        Ok((sketch, complete))
    }

    /// Adds what a word at a place of a relation stands with.
    fn relation(
        &self,
        asked: &SketchOf<'_>,
        relation: &Relation,
        slot: Slot,
        word: &Logic<TokenTest>,
        limits: &Limits<'_>,
        relations: &mut Vec<SketchRelation>,
    ) -> Result<bool> {
        let at_word = (slot, word.clone());
        let query = relation.query(std::slice::from_ref(&at_word));
        let (pairs, mut complete) = self.pairs(&query, relation, slot.other(), asked.filter, limits)?;
        let mut groups: Vec<(Option<String>, Counts)> = pairs.into_iter().collect();
        let sum = |counts: &Counts| counts.values().sum::<u64>();
        groups.retain(|(_, counts)| sum(counts) >= asked.at_least.max(1));
        groups.sort_by_cached_key(|(divider, counts)| (Reverse(sum(counts)), divider.clone()));
        for (divider, counts) in groups.into_iter().take(MOST_DIVIDERS) {
            let divided = divider.as_deref().map(|divider| (Slot::P, begins_with(divider)));
            let fixed: Vec<(Slot, Logic<TokenTest>)> = divided.into_iter().collect();
            let hits = sum(&counts);
            let (rows, values, whole) =
                self.rank(asked, relation, slot, (&at_word, &fixed), (&counts, hits), limits)?;
            complete &= whole;
            if !rows.is_empty() {
                let mut conditions = vec![at_word.clone()];
                conditions.extend(fixed);
                relations.push(SketchRelation {
                    name: relation.name(slot, asked.lemma, divider.as_deref()),
                    hits,
                    query: relation.query(&conditions).to_string(),
                    values,
                    rows,
                });
            }
        }
        Ok(complete)
    }

    /// Counts the lemmas at a place of the matches of a query, apart for each lemma that divides the relation.
    fn pairs(
        &self,
        query: &Query,
        relation: &Relation,
        slot: Slot,
        filter: Option<&Filter>,
        limits: &Limits<'_>,
    ) -> Result<(HashMap<Option<String>, Counts>, bool)> {
        let lexicon = self.lexicon();
        let divides = relation.divider().map(|condition| LexemeSet::of(condition, lexicon)).transpose()?;
        let search = self.search(query, Rule::Shortest, filter)?;
        let mut pairs: HashMap<Option<u32>, Counts> = HashMap::new();
        let (mut held, mut is_full) = (0, false);
        let complete = search.each(limits, |hit| {
            let segment = search.segment(hit.segment as usize);
            let position = if relation.is_first(slot) { hit.start } else { hit.end - 1 };
            let lemma = lexicon.of(segment.lexeme_at(position), Layer::Lemma);
            let divider = divides.as_ref().and_then(|divides| {
                let between = (hit.start + 1..hit.end - 1).map(|between| segment.lexeme_at(between));
                let found = between.into_iter().find(|lexeme| divides.contains(*lexeme));
                found.map(|lexeme| lexicon.of(lexeme, Layer::Lemma))
            });
            let counts = pairs.entry(divider).or_default();
            match counts.get_mut(&lemma) {
                Some(count) => *count += 1,
                None if held >= MOST_PAIRS => is_full = true,
                None => {
                    held += 1;
                    counts.insert(lemma, 1);
                }
            }
        });
        // A preposition that swallowed an article is the preposition: its lemma is theirs, joined by a plus.
        let mut named: HashMap<Option<String>, Counts> = HashMap::new();
        for (divider, counts) in pairs {
            let name = divider.map(|id| first_part(lexicon.string(Layer::Lemma, id)).to_owned());
            let sums = named.entry(name).or_default();
            counts.into_iter().for_each(|(lemma, count)| *sums.entry(lemma).or_default() += count);
        }
        Ok((named, complete && !is_full))
    }

    /// The most typical collocates of a relation, and how many there are.
    fn rank(
        &self,
        asked: &SketchOf<'_>,
        relation: &Relation,
        slot: Slot,
        (at_word, fixed): (&(Slot, Logic<TokenTest>), &[(Slot, Logic<TokenTest>)]),
        (counts, hits): (&Counts, u64),
        limits: &Limits<'_>,
    ) -> Result<(Vec<SketchRow>, u64, bool)> {
        let lexicon = self.lexicon();
        let text = |id: u32| lexicon.string(Layer::Lemma, id);
        let often = counts.iter().filter(|(id, count)| **count >= asked.at_least.max(1) && !text(**id).is_empty());
        let mut often: Vec<(u32, u64)> = often.map(|(id, count)| (*id, *count)).collect();
        often.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| text(a.0).cmp(text(b.0))));
        let score = |together: u64, anywhere: u64| {
            let pair =
                Pair { together: together as f64, node: hits as f64, collocate: anywhere as f64, tokens: hits as f64 };
            Association::LogDice.score(&pair)
        };
        let by_score = |a: &(f64, u32, u64, u64), b: &(f64, u32, u64, u64)| {
            b.0.total_cmp(&a.0).then_with(|| text(a.1).cmp(text(b.1)))
        };
        let mut scored: Vec<(f64, u32, u64, u64)> = Vec::new();
        let mut complete = true;
        for batch in often[..often.len().min(MOST_COUNTED)].chunks(BATCH) {
            // Nobody stands in a relation less often than with this word, so that this is the most a rarer one can reach.
            let most = score(batch[0].1, batch[0].1);
            if scored.len() >= asked.rows && (asked.rows == 0 || scored[asked.rows - 1].0 > most) {
                break;
            }
            let lemmas = batch.iter().map(|(id, _)| is(Attribute::Lemma, Wanted::exact(text(*id)))).collect();
            let mut conditions = vec![(slot.other(), any_of(lemmas))];
            conditions.extend(fixed.iter().cloned());
            let query = relation.query(&conditions);
            let (anywhere, whole) = self.pairs(&query, relation, slot.other(), asked.filter, limits)?;
            complete &= whole;
            let total = |id: u32| anywhere.values().filter_map(|counts| counts.get(&id)).sum::<u64>();
            scored.extend(batch.iter().map(|(id, together)| {
                let anywhere = total(*id).max(*together);
                (score(*together, anywhere), *id, *together, anywhere)
            }));
            scored.sort_by(by_score);
        }
        let rows = scored.into_iter().take(asked.rows).map(|(score, id, together, anywhere)| {
            let collocate = (slot.other(), is(Attribute::Lemma, Wanted::exact(text(id))));
            let mut conditions = vec![at_word.clone(), collocate];
            conditions.extend(fixed.iter().cloned());
            let query = relation.query(&conditions).to_string();
            SketchRow { value: text(id).to_owned(), together, anywhere, score, query }
        });
        Ok((rows.collect(), often.len() as u64, complete))
    }
}

fn any_of(mut tests: Vec<Logic<TokenTest>>) -> Logic<TokenTest> {
    if tests.len() == 1 { tests.remove(0) } else { Logic::Any(tests) }
}

/// A lemma, alone or as the first of several that one token stands for.
fn begins_with(lemma: &str) -> Logic<TokenTest> {
    is(Attribute::Lemma, Wanted::regex(format!("{}(\\+.*)?", regex_syntax::escape(lemma))))
}

fn first_part(lemma: &str) -> &str {
    match lemma.split_once('+') {
        Some((first, _)) if !first.is_empty() => first,
        _ => lemma,
    }
}
