//! Runs an automaton over the tokens of a document.
//!
//! The simulation keeps the set of states that a match can be in, as Thompson (*Regular expression search algorithm*,
//! 1968) does, so that its time is at most proportional to tokens times states.

use super::lexeme_test::LexemeTest;
use super::nfa::{Assertion, END, Edge, Nfa};
use super::restrict::Restrictions;
use super::{Deadline, Limit, Limits};
use crate::cql::ast::Structure;
use std::ops::{ControlFlow, Range};
use tidings_index::Segment;
use tidings_index::codec::{BitSet, TokenColumn, bit};

/// The document that an automaton runs over, and everything its tests and assertions read.
pub(crate) struct MatchContext<'s> {
    pub(crate) segment: &'s Segment,
    pub(crate) column: TokenColumn<'s>,
    pub(crate) nfa: &'s Nfa,
    pub(crate) tests: &'s [LexemeTest<'s>],
    pub(crate) admitted: &'s [Option<BitSet>],
    pub(crate) document: u32,
    pub(crate) tokens: Range<u32>,
}

impl MatchContext<'_> {
    /// The assertions that hold before a position, as bits.
    fn satisfied(&self, position: u32) -> u32 {
        let mut satisfied = 0;
        for (index, assertion) in self.nfa.assertions.iter().enumerate() {
            let holds = match assertion {
                Assertion::Start(structure) => position < self.tokens.end && self.is_boundary(*structure, position),
                Assertion::End(structure) => position > self.tokens.start && self.is_boundary(*structure, position),
                Assertion::Inside(structure) => !self.is_boundary(*structure, position),
                Assertion::Admitted(_) => self.admitted[index].as_ref().is_some_and(|bits| bits.get(self.document)),
            };
            satisfied |= u32::from(holds) << index;
        }
        satisfied
    }

    fn is_boundary(&self, structure: Structure, position: u32) -> bool {
        position == self.tokens.start
            || position == self.tokens.end
            || match structure {
                Structure::Sentence => bit(self.segment.sentence_bits(), position),
                Structure::Paragraph => self.segment.paragraphs().contains(position),
                Structure::Document => false,
            }
    }
}

/// A run of an automaton; its buffers are reused from one start to the next.
pub(crate) struct NfaRun {
    current: Vec<u32>,
    next: Vec<u32>,
    /// The generation in which each state was last added, so that a set has it once.
    generations: Vec<u32>,
    generation: u32,
    pub(super) deadline: Deadline,
}

impl NfaRun {
    pub(crate) fn new(nfa: &Nfa, limits: &Limits) -> NfaRun {
        let generations = vec![0; nfa.states.len()];
        NfaRun { current: Vec::new(), next: Vec::new(), generations, generation: 0, deadline: Deadline::new(limits) }
    }

    /// Returns true if it stopped because a limit was reached.
    pub(crate) fn is_over(&self) -> bool {
        self.deadline.is_over
    }

    /// Passes the ends of all matches that start at `start` and end at `limit` or before, the nearest first.
    pub(crate) fn match_ends(
        &mut self,
        context: &MatchContext<'_>,
        start: u32,
        limit: u32,
        each: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) {
        let nfa = context.nfa;
        let has_assertions = !nfa.assertions.is_empty();
        let mut satisfied = if has_assertions { context.satisfied(start) } else { 0 };
        self.next.clear();
        self.next_generation();
        self.follow(&nfa.first, satisfied);
        let mut position = start;
        while !self.next.is_empty() && position < limit && self.deadline.tick_by(self.next.len() as u32) {
            std::mem::swap(&mut self.current, &mut self.next);
            self.next.clear();
            self.next_generation();
            let local_id = context.column.get(position);
            position += 1;
            satisfied = if has_assertions { context.satisfied(position) } else { 0 };
            let mut accepts = false;
            for index in 0..self.current.len() {
                let state = self.current[index] as usize;
                if context.tests[nfa.states[state].test].passes(local_id) {
                    accepts |= self.follow(&nfa.follow[state], satisfied);
                }
            }
            if accepts && each(position).is_break() {
                return;
            }
        }
    }

    fn next_generation(&mut self) {
        self.generation = match self.generation.checked_add(1) {
            Some(generation) => generation,
            None => {
                self.generations.fill(0);
                1
            }
        };
    }

    /// Adds the states that edges lead to; returns whether one leads to the end.
    #[inline]
    fn follow(&mut self, edges: &[Edge], satisfied: u32) -> bool {
        let mut accepts = false;
        for edge in edges {
            if edge.assertions & !satisfied != 0 {
                continue;
            }
            if edge.to == END {
                accepts = true;
            } else if self.generations[edge.to as usize] != self.generation {
                self.generations[edge.to as usize] = self.generation;
                self.next.push(edge.to);
            }
        }
        accepts
    }
}

/// The number of states with different labels at one position. With unbounded gaps, three labels have as many as a document
/// has tokens, and four have its square.
const MAX_LABELLED: usize = 1 << 14;

/// The same for queries with constraints: each path keeps the tokens of its labels. Passes the ends of matches whose
/// constraints hold.
pub(super) fn match_ends_with_labels(
    context: &MatchContext<'_>,
    start: u32,
    limit: u32,
    restrictions: &Restrictions<'_>,
    deadline: &mut Deadline,
    each: &mut dyn FnMut(u32) -> ControlFlow<()>,
) {
    type LabelledState = (u32, Vec<Option<u32>>);
    let nfa = context.nfa;
    let follow = |edges: &[Edge], satisfied: u32, labels: &[Option<u32>], next: &mut Vec<LabelledState>| {
        let mut accepts = false;
        for edge in edges.iter().filter(|edge| edge.assertions & !satisfied == 0) {
            if edge.to == END {
                accepts = true;
            } else {
                next.push((edge.to, labels.to_vec()));
            }
        }
        accepts
    };
    let mut next: Vec<LabelledState> = Vec::new();
    follow(&nfa.first, context.satisfied(start), &vec![None; nfa.labels.len()], &mut next);
    let mut position = start;
    while !next.is_empty() && position < limit {
        next.sort_unstable();
        next.dedup();
        if next.len() > MAX_LABELLED {
            return deadline.stop(Limit::Memory);
        }
        let current = std::mem::take(&mut next);
        let local_id = context.column.get(position);
        let satisfied = context.satisfied(position + 1);
        let mut holds = false;
        for (state, mut labels) in current {
            let state = state as usize;
            if !deadline.tick() {
                return;
            }
            if !context.tests[nfa.states[state].test].passes(local_id) {
                continue;
            }
            if let Some(label) = nfa.states[state].label {
                labels[label] = Some(position);
            }
            // Paths with equal labels are one, so that duplicates do not fill the memory.
            if next.len() > MAX_LABELLED * 4 {
                next.sort_unstable();
                next.dedup();
                if next.len() > MAX_LABELLED {
                    return deadline.stop(Limit::Memory);
                }
            }
            if follow(&nfa.follow[state], satisfied, &labels, &mut next) {
                holds |= restrictions.constraints_hold(context.segment, &nfa.labels, &labels);
            }
        }
        position += 1;
        if holds && each(position).is_break() {
            return;
        }
    }
}
