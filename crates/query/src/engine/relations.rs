//! How often frequent lemmas stand in the relations of a grammar with any word: one pass over the corpus for all of them.
//!
//! A pattern of a sketch has one end for each beginning, because what may lie between never fits what comes next. So no machine
//! is needed: a token's tests are bits of a word, and a match is a walk along the sentence. Frequent lemmas are few, so that
//! their counts fit into memory and serve every sketch of a snapshot; rare ones are cheaper to look for when they are wanted.

use super::scope::Scope;
use super::set::LexemeSet;
use super::{Engine, Limits, Result};
use crate::filter::{CompiledFilter, Filter};
use crate::sketch::{Grammar, MOST_RELATIONS, Slot};
use crate::syntax::{Span, SyntaxError};
use hashbrown::HashMap;
use std::ops::Range;
use std::sync::Arc;
use tidings_index::Segment;
use tidings_index::codec::{bit, next_bit};
use tidings_index::lexicon::Layer;

/// A lemma is frequent if it is at least one token in so many, and occurs at least so often.
const ONE_IN: u64 = 200_000;
const LEAST: u64 = 50;
/// So many lemmas are frequent, at most.
const MOST: usize = 1 << 14;
/// Documents are looked at together up to so many tokens.
const CHUNK: u32 = 1 << 16;
/// No lemma, no token.
const NONE: u32 = u32::MAX;

/// How often frequent lemmas stand in relations.
#[derive(Debug)]
pub(crate) struct Marginals {
    /// The place of a frequent lemma among them, by its number in the lexicon.
    places: HashMap<u32, u32>,
    /// By relation and slot, then by lemma.
    counts: Vec<Vec<u32>>,
    /// For relations that are divided, by relation and slot, divider, and place.
    divided: HashMap<(u32, u32, u32), u32>,
    /// The lemmas that divide relations.
    dividers: Vec<u32>,
}

impl Marginals {
    /// How often a lemma stands at a slot of a relation, with those dividers between that are meant; nothing if it is rare.
    pub(crate) fn get(
        &self,
        relation: usize,
        slot: Slot,
        lemma: u32,
        is_meant: Option<&dyn Fn(u32) -> bool>,
    ) -> Option<u64> {
        let place = *self.places.get(&lemma)?;
        let row = row(relation, slot);
        Some(match is_meant {
            None => u64::from(self.counts[row][place as usize]),
            Some(is_meant) => {
                let meant = self.dividers.iter().filter(|divider| is_meant(**divider));
                let counts = meant.filter_map(|divider| self.divided.get(&(row as u32, *divider, place)));
                counts.map(|count| u64::from(*count)).sum()
            }
        })
    }
}

fn row(relation: usize, slot: Slot) -> usize {
    relation * 2 + usize::from(slot == Slot::B)
}

/// A relation as a walk: the bits of its tests, and how often each may be passed.
struct Walk {
    steps: Vec<(u64, u32, u32)>,
    /// The tests of which the second token passes one.
    second: u64,
    divider: Option<usize>,
    a_is_first: bool,
}

impl Walk {
    /// The last token of the match that begins with the first of these, and the token that divides it.
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

/// The relations of a grammar, made ready for a lexicon.
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
                if number >= MOST_RELATIONS {
                    let message = format!("the grammar {} has too many different tokens", grammar.name);
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
        let sets = tests.into_iter().map(|test| LexemeSet::of(test, engine.lexicon()));
        Ok(Walks { walks, tests: sets.collect::<std::result::Result<_, _>>()? })
    }
}

/// What a segment's ranks mean for the walks.
struct Ranks {
    /// The tests that the rank passes, as bits.
    bits: Vec<u64>,
    /// The relations that may begin with it, and those that may go on with it behind their first token, as bits.
    begins: Vec<u64>,
    follows: Vec<u64>,
    /// Its place among frequent lemmas.
    places: Vec<u32>,
}

impl Engine {
    /// How often frequent lemmas stand in the relations of a grammar; says whether everything was looked at. What is known of all
    /// documents is kept.
    pub(crate) fn marginals(
        &self,
        grammar: &Grammar,
        filter: Option<&Filter>,
        limits: &Limits<'_>,
    ) -> Result<(Arc<Marginals>, bool)> {
        if filter.is_none()
            && let Some(known) = self.marginals.lock().expect("no panic while held").get(&grammar.name)
        {
            return Ok((known.clone(), true));
        }
        let filter = filter.map(Filter::compile).transpose()?;
        let (found, complete) = self.count_relations(grammar, filter.as_ref(), limits)?;
        let found = Arc::new(found);
        if filter.is_none() && complete {
            self.marginals.lock().expect("no panic while held").insert(grammar.name.clone(), found.clone());
        }
        Ok((found, complete))
    }

    fn count_relations(
        &self,
        grammar: &Grammar,
        filter: Option<&CompiledFilter>,
        limits: &Limits<'_>,
    ) -> Result<(Marginals, bool)> {
        let walks = Walks::new(grammar, self)?;
        let places = self.frequent_lemmas();
        let counts = vec![vec![0; places.len()]; grammar.relations.len() * 2];
        let mut found = Marginals { places, counts, divided: HashMap::new(), dividers: Vec::new() };
        let mut complete = true;
        for live in self.snapshot().segments() {
            let (segment, scope) = (live.segment(), Scope::new(live, filter));
            if scope.documents().is_empty() {
                continue;
            }
            let ranks = self.ranks(segment, &walks, &found.places);
            let mut chunk = Chunk::default();
            scope.runs(|documents| {
                let mut first = documents.start;
                while first < documents.end && complete {
                    let goal = segment.tokens_of(first).start.saturating_add(CHUNK);
                    let end = segment.starts()[..=documents.end as usize].partition_point(|start| *start < goal) as u32;
                    let end = end.clamp(first + 1, documents.end);
                    chunk.read(segment, segment.tokens_in(first..end), &ranks);
                    self.count_chunk(segment, &chunk, &ranks, &walks, &mut found);
                    complete = !limits.is_over();
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
        let least = (self.snapshot().tokens() / ONE_IN).max(LEAST);
        let mut often: Vec<u32> = (0..totals.len() as u32).filter(|id| totals[*id as usize] >= least).collect();
        often.sort_by_key(|id| (std::cmp::Reverse(totals[*id as usize]), *id));
        often.truncate(MOST);
        often.into_iter().zip(0..).collect()
    }

    fn ranks(&self, segment: &Segment, walks: &Walks, places: &HashMap<u32, u32>) -> Ranks {
        let lexicon = self.lexicon();
        // As many as the column could name, so that no rank needs to be checked.
        let bound = segment.column().bound();
        let none = || vec![0; bound];
        let mut ranks = Ranks { bits: none(), begins: none(), follows: none(), places: vec![NONE; bound] };
        for (rank, lexeme) in segment.lexemes().iter().take(bound).enumerate() {
            let passed = walks.tests.iter().enumerate().filter(|(_, set)| set.contains(*lexeme));
            let bits = passed.fold(0, |bits, (number, _)| bits | 1 << number);
            ranks.bits[rank] = bits;
            for (number, walk) in walks.walks.iter().enumerate() {
                ranks.begins[rank] |= u64::from(bits & walk.steps[0].0 != 0) << number;
                ranks.follows[rank] |= u64::from(bits & walk.second != 0) << number;
            }
            ranks.places[rank] = places.get(&lexicon.of(*lexeme, Layer::Lemma)).copied().unwrap_or(NONE);
        }
        ranks
    }

    fn count_chunk(&self, segment: &Segment, chunk: &Chunk, ranks: &Ranks, walks: &Walks, found: &mut Marginals) {
        let sentences = segment.sentence_bits();
        let tokens = chunk.tokens.clone();
        let mut sentence = tokens.start;
        while sentence < tokens.end {
            let end = next_bit(sentences, sentence + 1, tokens.end).unwrap_or(tokens.end);
            debug_assert!(sentence == tokens.start || bit(sentences, sentence));
            let here = (sentence - tokens.start) as usize..(end - tokens.start) as usize;
            let (bits, numbers) = (&chunk.bits[here.clone()], &chunk.ranks[here]);
            // Every relation has two tokens at least, and two are enough to rule most of them out.
            for (first, (rank, next)) in numbers.iter().zip(numbers.get(1..).unwrap_or_default()).enumerate() {
                let mut begins = ranks.begins[*rank as usize] & ranks.follows[*next as usize];
                while begins != 0 {
                    let relation = begins.trailing_zeros() as usize;
                    begins &= begins - 1;
                    let walk = &walks.walks[relation];
                    let Some((last, divider)) = walk.last(&bits[first..]) else { continue };
                    let ends = [*rank, numbers[first + last]];
                    for (slot, rank) in
                        [(Slot::A, ends[usize::from(!walk.a_is_first)]), (Slot::B, ends[usize::from(walk.a_is_first)])]
                    {
                        let place = ranks.places[rank as usize];
                        if place == NONE {
                            continue;
                        }
                        match walk.divider {
                            None => found.counts[row(relation, slot)][place as usize] += 1,
                            Some(_) => {
                                let divider = segment.lexeme(numbers[first + divider]);
                                let divider = self.lexicon().of(divider, Layer::Lemma);
                                *found.divided.entry((row(relation, slot) as u32, divider, place)).or_default() += 1;
                            }
                        }
                    }
                }
            }
            sentence = end;
        }
    }
}

/// Some documents, unpacked.
#[derive(Default)]
struct Chunk {
    tokens: Range<u32>,
    ranks: Vec<u32>,
    bits: Vec<u64>,
}

impl Chunk {
    fn read(&mut self, segment: &Segment, tokens: Range<u32>, ranks: &Ranks) {
        self.ranks.clear();
        self.bits.clear();
        segment.column().scan(tokens.start, tokens.end, |_, numbers| {
            self.ranks.extend_from_slice(numbers);
            self.bits.extend(numbers.iter().map(|rank| ranks.bits[*rank as usize]));
        });
        // A damaged column may end too early.
        self.tokens = tokens.start..tokens.start + self.ranks.len() as u32;
    }
}
