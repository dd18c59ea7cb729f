//! Runs an automaton for queries with constraints: each path keeps the tokens of its labels.

use super::nfa::{END, Edge};
use super::nfa_run::MatchContext;
use super::restrict::Restrictions;
use super::{Deadline, Limit};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The number of states with different labels at one position. With unbounded gaps, three labels have as many as a document
/// has tokens, and four have its square.
const MAX_LABELLED: usize = 1 << 14;

/// A state and the token of each label.
type LabelledState = (u32, Vec<Option<u32>>);

/// The states that a match can be in, each with the tokens of its labels.
#[derive(Default)]
struct LabelledRun {
    next: Vec<LabelledState>,
    /// Ends of spans whose tokens are being taken, with their states.
    pending: BTreeSet<(u32, LabelledState)>,
}

impl LabelledRun {
    /// Adds the states that edges lead to; returns whether one leads to the end.
    fn follow(&mut self, edges: &[Edge], satisfied: u32, labels: &[Option<u32>]) -> bool {
        let mut accepts = false;
        for edge in edges.iter().filter(|edge| edge.assertions & !satisfied == 0) {
            if edge.to == END {
                accepts = true;
            } else {
                self.next.push((edge.to, labels.to_vec()));
            }
        }
        accepts
    }

    /// Replaces the next states that take spans by the ends of the spans that start here.
    fn enter_spans(&mut self, context: &MatchContext<'_, '_>, position: u32) {
        let span_of = |state: u32| context.nfa.states[state as usize].span;
        for (state, labels) in self.next.extract_if(.., |(state, _)| span_of(*state).is_some()) {
            let span = span_of(state).expect("only states of spans are extracted");
            let spans = context.spans_of(span);
            self.pending.extend(spans.ends_from(position).map(|end| (end, (state, labels.clone()))));
        }
    }

    /// Joins equal paths; returns false if there are too many.
    fn join_equal(&mut self) -> bool {
        self.next.sort_unstable();
        self.next.dedup();
        self.next.len() <= MAX_LABELLED && self.pending.len() <= MAX_LABELLED
    }
}

/// Takes the end of a match and the tokens of its labels.
pub(super) type EachMatch<'a> = dyn FnMut(u32, &[Option<u32>]) -> ControlFlow<()> + 'a;

/// Passes the ends of all matches that start at `start` and end at `limit` or before and whose constraints hold, the nearest
/// first, each with the tokens of the labels on one of its paths.
pub(super) fn match_ends_with_labels(
    context: &MatchContext<'_, '_>,
    start: u32,
    limit: u32,
    restrictions: &Restrictions<'_>,
    deadline: &mut Deadline,
    each: &mut EachMatch<'_>,
) {
    let nfa = context.nfa;
    let constraints_hold = |labels: &[Option<u32>], end: u32| {
        restrictions.constraints_hold(context.segment, &nfa.labels, labels, start..end)
    };
    let mut run = LabelledRun::default();
    run.follow(&nfa.first, context.satisfied(start), &vec![None; nfa.labels.len()]);
    run.enter_spans(context, start);
    let mut position = start;
    while (!run.next.is_empty() || !run.pending.is_empty()) && position < limit {
        if !run.join_equal() {
            return deadline.stop(Limit::Memory);
        }
        if let (true, Some((end, _))) = (run.next.is_empty(), run.pending.first()) {
            // Only spans can go on: skip to the first end of one.
            position = end - 1;
        }
        let current = std::mem::take(&mut run.next);
        let local_id = context.column.get(position);
        let satisfied = context.satisfied(position + 1);
        let mut holds: Option<Vec<Option<u32>>> = None;
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
            if run.next.len() > MAX_LABELLED * 4 && !run.join_equal() {
                return deadline.stop(Limit::Memory);
            }
            let accepts = run.follow(&nfa.follow[state], satisfied, &labels);
            if holds.is_none() && accepts && constraints_hold(&labels, position + 1) {
                holds = Some(labels);
            }
        }
        position += 1;
        while let Some((end, (state, labels))) = run.pending.pop_first() {
            if end > position {
                run.pending.insert((end, (state, labels)));
                break;
            }
            if !deadline.tick() {
                return;
            }
            let goes_on = end == position && run.follow(&nfa.follow[state as usize], satisfied, &labels);
            if holds.is_none() && goes_on && constraints_hold(&labels, position) {
                holds = Some(labels);
            }
        }
        run.enter_spans(context, position);
        if let Some(labels) = holds.filter(|_| position <= limit)
            && each(position, &labels).is_break()
        {
            return;
        }
    }
}
