//! Runs an automaton over the tokens of a document.
//!
//! The simulation keeps the set of states that a match can be in, as Thompson (*Regular expression search algorithm*,
//! 1968) does, so that its time is at most proportional to tokens times states.

use super::lexeme_test::LexemeTest;
use super::nfa::{Assertion, END, Edge, Nfa};
use super::spans::DocumentSpans;
use super::{Deadline, Limits};
use crate::cql::ast::Structure;
use std::cell::{RefCell, RefMut};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::{ControlFlow, Range};
use tidings_index::Segment;
use tidings_index::codec::{BitSet, TokenColumn, bit};

/// The document that an automaton runs over, and everything its tests and assertions read.
pub(crate) struct MatchContext<'s, 'a> {
    pub(crate) segment: &'s Segment,
    pub(crate) column: TokenColumn<'s>,
    pub(crate) nfa: &'s Nfa,
    pub(crate) tests: &'s [LexemeTest<'s>],
    pub(crate) admitted: &'s [Option<BitSet>],
    /// The spans of the automaton.
    pub(crate) spans: &'s [RefCell<DocumentSpans<'a>>],
    pub(crate) document: u32,
    pub(crate) tokens: Range<u32>,
}

impl<'a> MatchContext<'_, 'a> {
    /// The assertions that hold before a position, as bits.
    pub(super) fn satisfied(&self, position: u32) -> u32 {
        let mut satisfied = 0;
        for (index, assertion) in self.nfa.assertions.iter().enumerate() {
            let holds = match assertion {
                Assertion::Start(structure) => position < self.tokens.end && self.is_boundary(*structure, position),
                Assertion::End(structure) => position > self.tokens.start && self.is_boundary(*structure, position),
                Assertion::Inside(structure) => !self.is_boundary(*structure, position),
                Assertion::Admitted(_) => self.admitted[index].as_ref().is_some_and(|bits| bits.get(self.document)),
                Assertion::SpanStart(spans) => self.spans_of(*spans).starts_at(position),
                Assertion::SpanEnd(spans) => self.spans_of(*spans).ends_at(position),
                Assertion::NoSpanStart(spans) => !self.spans_of(*spans).starts_at(position),
                Assertion::NoSpanEnd(spans) => !self.spans_of(*spans).ends_at(position),
                Assertion::Position { first, last } => {
                    position < self.tokens.end && (*first..=*last).contains(&(position - self.tokens.start))
                }
            };
            satisfied |= u32::from(holds) << index;
        }
        satisfied
    }

    /// The spans of the document, by their index in the automaton.
    pub(super) fn spans_of(&self, index: usize) -> RefMut<'_, DocumentSpans<'a>> {
        let mut spans = self.spans[index].borrow_mut();
        spans.load(self.document, &self.tokens);
        spans
    }

    fn is_boundary(&self, structure: Structure, position: u32) -> bool {
        position == self.tokens.start
            || position == self.tokens.end
            || match structure {
                Structure::Sentence => bit(self.segment.sentence_bits(), position),
                Structure::Paragraph => self.segment.paragraphs().contains(position),
                // Spans have assertions of their own.
                Structure::Document | Structure::Span(_) => false,
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
    /// Ends of spans whose tokens are being taken, with their states.
    pending: BinaryHeap<Reverse<(u32, u32)>>,
    pub(super) deadline: Deadline,
}

impl NfaRun {
    pub(crate) fn new(nfa: &Nfa, limits: &Limits) -> NfaRun {
        let generations = vec![0; nfa.states.len()];
        NfaRun {
            current: Vec::new(),
            next: Vec::new(),
            generations,
            generation: 0,
            pending: BinaryHeap::new(),
            deadline: Deadline::new(limits),
        }
    }

    /// Returns true if it stopped because a limit was reached.
    pub(crate) fn is_over(&self) -> bool {
        self.deadline.is_over
    }

    /// Passes the ends of all matches that start at `start` and end at `limit` or before, the nearest first.
    pub(crate) fn match_ends(
        &mut self,
        context: &MatchContext<'_, '_>,
        start: u32,
        limit: u32,
        each: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) {
        let nfa = context.nfa;
        let (has_assertions, has_spans) = (!nfa.assertions.is_empty(), !nfa.spans.is_empty());
        let mut satisfied = if has_assertions { context.satisfied(start) } else { 0 };
        self.next.clear();
        self.pending.clear();
        self.next_generation();
        self.follow(&nfa.first, satisfied);
        if has_spans {
            self.enter_spans(context, start, limit);
        }
        let mut position = start;
        while position < limit {
            if self.next.is_empty() {
                // Only spans can go on: skip to the first end of one.
                let Some(Reverse((end, _))) = self.pending.peek() else { return };
                position = end - 1;
            }
            if !self.deadline.tick_by(self.next.len().max(1) as u32) {
                return;
            }
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
            if has_spans {
                accepts |= self.leave_spans(nfa, position, satisfied);
                self.enter_spans(context, position, limit);
            }
            if accepts && each(position).is_break() {
                return;
            }
        }
    }

    /// Replaces the next states that take spans by the ends of the spans that start here.
    fn enter_spans(&mut self, context: &MatchContext<'_, '_>, position: u32, limit: u32) {
        let (states, pending, deadline) = (&context.nfa.states, &mut self.pending, &mut self.deadline);
        self.next.retain(|state| {
            let Some(span) = states[*state as usize].span else { return true };
            for end in context.spans_of(span).ends_from(position).filter(|end| *end <= limit) {
                deadline.tick();
                pending.push(Reverse((end, *state)));
            }
            false
        });
    }

    /// Goes on from the states whose spans end here; returns whether one leads to the end.
    fn leave_spans(&mut self, nfa: &Nfa, position: u32, satisfied: u32) -> bool {
        let mut accepts = false;
        while let Some(Reverse((end, state))) = self.pending.peek().copied().filter(|top| top.0.0 <= position) {
            self.pending.pop();
            if end == position {
                accepts |= self.follow(&nfa.follow[state as usize], satisfied);
            }
        }
        accepts
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
