//! Marginal counts of lemmas in the relations of a sketch grammar, in one pass over the corpus.
//!
//! A sketch pattern is deterministic: what may stand between never matches what comes next, so that each start has one end.
//! It needs no automaton: the tests that a token passes are bits of a machine word, and a match is a walk along the sentence.
//! The counts of frequent lemmas fit into memory and serve every sketch of a snapshot; rare lemmas are searched on demand.

use super::scope::Scope;
use super::set::LexemeSet;
use super::{Engine, Limits, Result};
use crate::filter::{CompiledFilter, Filter};
use crate::sketch::{Grammar, MAX_RELATIONS, Slot};
use crate::syntax::{Span, SyntaxError};
use hashbrown::HashMap;
use std::ops::Range;
use std::sync::Arc;
use tidings_index::Segment;
use tidings_index::codec::{bit, next_bit};
use tidings_index::lexicon::Layer;

/// A lemma is frequent if it makes up one token in this many, and has at least [`MIN_FREQUENCY`] tokens.
const ONE_IN: u64 = 200_000;
const MIN_FREQUENCY: u64 = 50;
/// The maximum number of frequent lemmas.
const MAX_FREQUENT: usize = 1 << 14;
/// The number of tokens that are decoded at once.
const CHUNK: u32 = 1 << 16;
/// The slot of a lemma that is not frequent.
const NONE: u32 = u32::MAX;

/// The marginal counts of frequent lemmas.
#[derive(Debug)]
pub(crate) struct Marginals {
    /// The index of each frequent lemma, by its number in the lexicon.
    frequent: HashMap<u32, u32>,
    /// Counts by relation and slot, then by lemma.
    counts: Vec<Vec<u32>>,
    /// Counts of relations that are split: by relation and slot, splitting lemma, and index.
    divided: HashMap<(u32, u32, u32), u32>,
    /// The lemmas that split relations.
    dividers: Vec<u32>,
}

impl Marginals {
    /// The count of a lemma in a slot of a relation, with some splitting lemmas; `None` if the lemma is rare.
    pub(crate) fn get(
        &self,
        relation: usize,
        slot: Slot,
        lemma: u32,
        is_meant: Option<&dyn Fn(u32) -> bool>,
    ) -> Option<u64> {
        let index = *self.frequent.get(&lemma)?;
        let row = row(relation, slot);
        Some(match is_meant {
            None => u64::from(self.counts[row][index as usize]),
            Some(is_meant) => {
                let meant = self.dividers.iter().filter(|divider| is_meant(**divider));
                let counts = meant.filter_map(|divider| self.divided.get(&(row as u32, *divider, index)));
                counts.map(|count| u64::from(*count)).sum()
            }
        })
    }
}

fn row(relation: usize, slot: Slot) -> usize {
    relation * 2 + usize::from(slot == Slot::B)
}

/// A relation as a list of runs: the bit of a test, the minimum and the maximum number of tokens.
struct Walk {
    steps: Vec<(u64, u32, u32)>,
    /// The tests that the second token may pass.
    second: u64,
    divider: Option<usize>,
    a_is_first: bool,
}

impl Walk {
    /// The last token of the match that starts with the first of these, and its splitting token.
    #[inline]
    fn last(&self, bits: &[u64]) -> Option<(usize, usize)> {
        let (mut at, mut divider) = (0, 0);
        for (index, (test, at_least, at_most)) in self.steps.iter().enumerate() {
            let mut times = 0;
            while times < *at_most && bits.get(at).is_some_and(|bits| bits & test != 0) {
                at += 1;
                times += 1;
            }
            if times < *at_least {
                return None;
            }
            if Some(index) == self.divider {
                divider = at - 1;
            }
        }
        Some((at - 1, divider))
    }
}

/// The relations of a grammar, compiled for a lexicon.
struct Walks {
    walks: Vec<Walk>,
    tests: Vec<LexemeSet>,
}

impl Walks {
    fn new(grammar: &Grammar, engine: &Engine) -> Result<Walks> {
        let mut tests = Vec::new();
        let mut walks = Vec::new();
        for relation in &grammar.relations {
            let mut steps = Vec::new();
            for step in relation.steps() {
                let known = tests.iter().position(|known| *known == &step.test);
                let number = known.unwrap_or(tests.len());
                if known.is_none() {
                    tests.push(&step.test);
                }
                if number >= MAX_RELATIONS {
                    let message = format!("the grammar {} has too many distinct token tests", grammar.name);
                    return Err(SyntaxError::new(Span::default(), message).into());
                }
                steps.push((1 << number, step.at_least, step.at_most));
            }
            let divider = relation.steps().iter().position(|step| step.slot == Some(Slot::P));
            let mut second = 0;
            for (test, at_least, _) in &steps[1..] {
                second |= test;
                if *at_least > 0 {
                    break;
                }
            }
            walks.push(Walk { steps, second, divider, a_is_first: relation.is_first(Slot::A) });
        }
        let sets = tests.into_iter().map(|test| LexemeSet::of(test, engine));
        Ok(Walks { walks, tests: sets.collect::<std::result::Result<_, _>>()? })
    }
}

/// The lexemes of a segment, prepared for the walks.
struct LocalLexemes {
    /// The tests that a lexeme passes, as bits.
    bits: Vec<u64>,
    /// The relations that can start with it, and those that can have it as their second token, as bits.
    begins: Vec<u64>,
    follows: Vec<u64>,
    /// The index of its lemma among the frequent ones.
    frequent: Vec<u32>,
}

impl Engine {
    /// The marginal counts of a grammar; returns false if a limit was reached. Those of the whole corpus are cached.
    pub(crate) fn marginals(
        &self,
        grammar: &Grammar,
        filter: Option<&Filter>,
        limits: &Limits,
    ) -> Result<(Arc<Marginals>, bool)> {
        if filter.is_none()
            && let Some(known) = self.marginals.lock().expect("no panic while held").get(&grammar.name)
        {
            return Ok((known.clone(), true));
        }
        let filter = filter.map(Filter::compile).transpose()?;
        let frequent = self.frequent_lemmas();
        let (found, complete) = self.count_relations(grammar, filter.as_ref(), frequent, limits)?;
        let found = Arc::new(found);
        if filter.is_none() && complete {
            self.marginals.lock().expect("no panic while held").insert(grammar.name.clone(), found.clone());
        }
        Ok((found, complete))
    }

    /// The marginal counts of some lemmas, in one pass.
    pub(crate) fn marginals_of(
        &self,
        grammar: &Grammar,
        filter: Option<&Filter>,
        lemmas: &[u32],
        limits: &Limits,
    ) -> Result<Marginals> {
        let filter = filter.map(Filter::compile).transpose()?;
        let lemmas = lemmas.iter().copied().zip(0..).collect();
        Ok(self.count_relations(grammar, filter.as_ref(), lemmas, limits)?.0)
    }

    /// Counts lemmas, of which each has an index, in all relations.
    fn count_relations(
        &self,
        grammar: &Grammar,
        filter: Option<&CompiledFilter>,
        frequent: HashMap<u32, u32>,
        limits: &Limits,
    ) -> Result<(Marginals, bool)> {
        let walks = Walks::new(grammar, self)?;
        let counts = vec![vec![0; frequent.len()]; grammar.relations.len() * 2];
        let mut found = Marginals { frequent, counts, divided: HashMap::new(), dividers: Vec::new() };
        limits.begin_pass(self.snapshot().tokens());
        let mut complete = true;
        for live in self.snapshot().segments() {
            let (segment, scope) = (live.segment(), Scope::new(live, filter));
            if scope.documents().is_empty() {
                continue;
            }
            let lexemes = self.prepare_lexemes(segment, &walks, &found.frequent);
            let mut chunk = Chunk::default();
            scope.runs(|documents| {
                let mut first = documents.start;
                while first < documents.end && complete {
                    if limits.is_over() {
                        complete = false;
                        break;
                    }
                    let goal = segment.tokens_of(first).start.saturating_add(CHUNK);
                    let end = segment.starts()[..=documents.end as usize].partition_point(|start| *start < goal) as u32;
                    let end = end.clamp(first + 1, documents.end);
                    chunk.read(segment, segment.tokens_in(first..end), &lexemes);
                    self.count_chunk(segment, &chunk, &lexemes, &walks, &mut found);
                    limits.saw(segment.tokens_in(first..end).len() as u64);
                    first = end;
                }
            });
        }
        let dividers: hashbrown::HashSet<u32> = found.divided.keys().map(|(_, divider, _)| *divider).collect();
        found.dividers = dividers.into_iter().collect();
        Ok((found, complete))
    }

    fn frequent_lemmas(&self) -> HashMap<u32, u32> {
        let totals = self.string_totals(Layer::Lemma);
        let least = (self.snapshot().tokens() / ONE_IN).max(MIN_FREQUENCY);
        let mut often: Vec<u32> = (0..totals.len() as u32).filter(|id| totals[*id as usize] >= least).collect();
        often.sort_by_key(|id| (std::cmp::Reverse(totals[*id as usize]), *id));
        often.truncate(MAX_FREQUENT);
        often.into_iter().zip(0..).collect()
    }

    fn prepare_lexemes(&self, segment: &Segment, walks: &Walks, frequent: &HashMap<u32, u32>) -> LocalLexemes {
        let lexicon = self.lexicon();
        // One entry for every id that the column can encode, so that none needs a check.
        let bound = segment.column().bound();
        let none = || vec![0; bound];
        let mut lexemes = LocalLexemes { bits: none(), begins: none(), follows: none(), frequent: vec![NONE; bound] };
        for (local_id, lexeme) in segment.lexemes().all().iter().take(bound).enumerate() {
            let passed = walks.tests.iter().enumerate().filter(|(_, set)| set.contains(*lexeme));
            let bits = passed.fold(0, |bits, (number, _)| bits | 1 << number);
            lexemes.bits[local_id] = bits;
            for (number, walk) in walks.walks.iter().enumerate() {
                lexemes.begins[local_id] |= u64::from(bits & walk.steps[0].0 != 0) << number;
                lexemes.follows[local_id] |= u64::from(bits & walk.second != 0) << number;
            }
            lexemes.frequent[local_id] = frequent.get(&lexicon.of(*lexeme, Layer::Lemma)).copied().unwrap_or(NONE);
        }
        lexemes
    }

    fn count_chunk(
        &self,
        segment: &Segment,
        chunk: &Chunk,
        lexemes: &LocalLexemes,
        walks: &Walks,
        found: &mut Marginals,
    ) {
        let sentences = segment.sentence_bits();
        let tokens = chunk.tokens.clone();
        let mut sentence = tokens.start;
        while sentence < tokens.end {
            let end = next_bit(sentences, sentence + 1, tokens.end).unwrap_or(tokens.end);
            debug_assert!(sentence == tokens.start || bit(sentences, sentence));
            let here = (sentence - tokens.start) as usize..(end - tokens.start) as usize;
            let (bits, numbers) = (&chunk.bits[here.clone()], &chunk.local_ids[here]);
            // Every relation has at least two tokens, and two rule out most relations.
            for (first, (local_id, next)) in numbers.iter().zip(numbers.get(1..).unwrap_or_default()).enumerate() {
                let mut begins = lexemes.begins[*local_id as usize] & lexemes.follows[*next as usize];
                while begins != 0 {
                    let relation = begins.trailing_zeros() as usize;
                    begins &= begins - 1;
                    let walk = &walks.walks[relation];
                    let Some((last, divider)) = walk.last(&bits[first..]) else { continue };
                    let ends = [*local_id, numbers[first + last]];
                    for (slot, local_id) in
                        [(Slot::A, ends[usize::from(!walk.a_is_first)]), (Slot::B, ends[usize::from(walk.a_is_first)])]
                    {
                        let index = lexemes.frequent[local_id as usize];
                        if index == NONE {
                            continue;
                        }
                        match walk.divider {
                            None => found.counts[row(relation, slot)][index as usize] += 1,
                            Some(_) => {
                                let divider = segment.lexeme(numbers[first + divider]);
                                let divider = self.lexicon().of(divider, Layer::Lemma);
                                *found.divided.entry((row(relation, slot) as u32, divider, index)).or_default() += 1;
                            }
                        }
                    }
                }
            }
            sentence = end;
        }
    }
}

/// The decoded tokens of some documents.
#[derive(Default)]
struct Chunk {
    tokens: Range<u32>,
    local_ids: Vec<u32>,
    bits: Vec<u64>,
}

impl Chunk {
    fn read(&mut self, segment: &Segment, tokens: Range<u32>, lexemes: &LocalLexemes) {
        self.local_ids.clear();
        self.bits.clear();
        segment.column().scan(tokens.start, tokens.end, |_, numbers| {
            self.local_ids.extend_from_slice(numbers);
            self.bits.extend(numbers.iter().map(|local_id| lexemes.bits[*local_id as usize]));
        });
        // A damaged column may end too early.
        self.tokens = tokens.start..tokens.start + self.local_ids.len() as u32;
    }
}
