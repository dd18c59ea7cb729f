//! Matches of nested queries as spans, found document by document or for several documents at once.

use super::compiled::CompiledQuery;
use super::find::Finder;
use super::{Deadline, Limit, Limits};
use crate::cql::MatchRule;
use crate::cql::ast::MeetWindow;
use std::ops::{ControlFlow, Range};
use tidings_index::Segment;
use tidings_index::codec::ListedSpan;
use tidings_index::lexicon::Lexicon;

/// The maximum number of spans of one document (24 MiB). Only patterns with unbounded gaps have more in a long document.
const MAX_SPANS: usize = 1 << 21;
/// The maximum number of spans that are kept of several documents.
const MAX_KEPT: usize = 1 << 19;
/// A pattern is searched in the documents of the other only, if it has this many times as many positions.
const RARE: u64 = 8;

/// Where the matches of the other pattern of `meet` are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearMatches {
    /// There are none.
    pub(crate) negated: bool,
    pub(crate) window: MeetWindow,
}

/// Finds the matches of a nested query in one segment.
pub(crate) struct SpanFinder<'s> {
    segment: &'s Segment,
    of: Finder<'s>,
    /// What must be near them.
    with: Option<(Finder<'s>, NearMatches)>,
    /// The documents whose spans are kept, from the last search for starts.
    kept: Range<u32>,
    spans: Vec<ListedSpan>,
    deadline: Deadline,
    /// Spans of the other pattern.
    near: Vec<ListedSpan>,
}

impl<'s> SpanFinder<'s> {
    pub(crate) fn of_query(
        segment: &'s Segment,
        lexicon: &'s Lexicon,
        query: &'s CompiledQuery,
        rule: MatchRule,
        limits: &Limits,
    ) -> SpanFinder<'s> {
        SpanFinder {
            segment,
            of: Finder::new(segment, lexicon, query, None, rule, limits),
            with: None,
            kept: 0..0,
            spans: Vec::new(),
            deadline: Deadline::new(limits),
            near: Vec::new(),
        }
    }

    pub(crate) fn of_meet(
        segment: &'s Segment,
        lexicon: &'s Lexicon,
        (of, with): (&'s CompiledQuery, &'s CompiledQuery),
        near: NearMatches,
        limits: &Limits,
    ) -> SpanFinder<'s> {
        let with = Finder::new(segment, lexicon, with, None, MatchRule::All, limits);
        SpanFinder { with: Some((with, near)), ..SpanFinder::of_query(segment, lexicon, of, MatchRule::All, limits) }
    }

    /// The expected number of spans, and the cost of finding them.
    pub(crate) fn expected(&self) -> (u64, f64) {
        let (number, cost) = (self.of.plan.expected, self.of.plan.cost);
        match &self.with {
            None => (number, cost),
            Some((_, near)) if near.negated => (number, cost * 2.0),
            Some((with, _)) => (number.min(with.plan.expected), cost.min(with.plan.cost) * 2.0),
        }
    }

    /// Returns true if a limit was reached.
    pub(crate) fn is_over(&self) -> bool {
        self.deadline.is_over || self.of.is_over() || self.with.as_ref().is_some_and(|(with, _)| with.is_over())
    }

    /// Appends the starts of spans in some documents, ascending; keeps the spans for [`Self::of_document`].
    pub(crate) fn starts(&mut self, documents: Range<u32>, into: &mut Vec<u32>) {
        let mut spans = std::mem::take(&mut self.spans);
        spans.clear();
        self.kept = 0..0;
        let from = into.len();
        let mut is_whole = true;
        self.find(documents.clone(), &mut |start, end| {
            if into[from..].last() != Some(&start) {
                into.push(start);
            }
            is_whole &= spans.len() < MAX_KEPT;
            if is_whole {
                spans.push(ListedSpan { index: 0, start, end });
            }
            ControlFlow::Continue(())
        });
        if is_whole && !self.is_over() {
            self.kept = documents;
        }
        self.spans = spans;
    }

    /// Appends the spans of a document, sorted by start.
    pub(crate) fn of_document(&mut self, document: u32, tokens: &Range<u32>, into: &mut Vec<ListedSpan>) {
        if self.kept.contains(&document) {
            let first = self.spans.partition_point(|span| span.start < tokens.start);
            into.extend(self.spans[first..].iter().take_while(|span| span.start < tokens.end));
            return;
        }
        let from = into.len();
        self.find(document..document + 1, &mut |start, end| {
            into.push(ListedSpan { index: 0, start, end });
            if into.len() - from < MAX_SPANS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if into.len() - from >= MAX_SPANS {
            self.deadline.stop(Limit::Memory);
        }
    }

    /// Passes the spans of some documents, sorted by start.
    fn find(&mut self, documents: Range<u32>, each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>) {
        let Some((with, window)) = &mut self.with else {
            let _ = self.of.find(documents, each);
            return;
        };
        let window = *window;
        let (segment, of, deadline) = (self.segment, &mut self.of, &mut self.deadline);
        // Each document of the rarer pattern, then the other one in that document.
        let is_rare = !window.negated && with.plan.expected.saturating_mul(RARE) < of.plan.expected;
        let mut near = std::mem::take(&mut self.near);
        near.clear();
        let keep = |near: &mut Vec<ListedSpan>, start, end| {
            near.push(ListedSpan { index: 0, start, end });
            if near.len() < MAX_SPANS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        if is_rare {
            let _ = with.find(documents.clone(), &mut |start, end| keep(&mut near, start, end));
            let mut next = 0;
            while next < near.len() && deadline.tick() {
                let document = segment.document_at(near[next].start);
                let tokens = segment.tokens_of(document);
                let last = next + near[next..].partition_point(|span| span.start < tokens.end);
                let here = &near[next..last.max(next + 1)];
                let flow = of.find(document..document + 1, &mut |start, end| {
                    if is_near(start..end, &tokens, segment, window, here) {
                        each(start, end)
                    } else {
                        ControlFlow::Continue(())
                    }
                });
                if flow.is_break() {
                    break;
                }
                next = last.max(next + 1);
            }
        } else {
            let (mut document, mut tokens) = (0, 0..0);
            let _ = of.find(documents, &mut |start, end| {
                if !tokens.contains(&start) {
                    document = segment.document_from(document, start);
                    tokens = segment.tokens_of(document);
                    near.clear();
                    let _ = with.find(document..document + 1, &mut |start, end| keep(&mut near, start, end));
                }
                if is_near(start..end, &tokens, segment, window, &near) {
                    each(start, end)
                } else {
                    ControlFlow::Continue(())
                }
            });
        }
        if near.len() >= MAX_SPANS {
            deadline.stop(Limit::Memory);
        }
        self.near = near;
    }
}

/// Returns true if one of some spans, sorted by start, lies in the window of a hit, or none does if that is asked for.
fn is_near(hit: Range<u32>, document: &Range<u32>, segment: &Segment, of: NearMatches, near: &[ListedSpan]) -> bool {
    let Some(around) = of.window.around(&hit, document, segment) else { return of.negated };
    let first = near.partition_point(|span| span.start < around.start);
    let mut inside = near[first..].iter().take_while(|span| span.start < around.end);
    inside.any(|span| span.end <= around.end) != of.negated
}
