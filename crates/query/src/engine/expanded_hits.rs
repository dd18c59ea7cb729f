//! Hits that are widened by `expand to`: those that then start at one token are joined as the match rule says.

use crate::cql::MatchRule;
use crate::cql::ast::Expansion;
use std::ops::{ControlFlow, Range};
use tidings_index::Segment;

/// The widened hits of one start. Starts ascend, before and after.
pub(crate) struct ExpandedHits<'s> {
    segment: &'s Segment,
    expansion: Expansion,
    rule: MatchRule,
    document: u32,
    tokens: Range<u32>,
    start: u32,
    ends: Vec<u32>,
}

impl<'s> ExpandedHits<'s> {
    pub(crate) fn new(segment: &'s Segment, expansion: Expansion, rule: MatchRule) -> ExpandedHits<'s> {
        ExpandedHits { segment, expansion, rule, document: 0, tokens: 0..0, start: 0, ends: Vec::new() }
    }

    /// Takes a hit; passes on those that can have no more ends.
    pub(crate) fn push(
        &mut self,
        start: u32,
        end: u32,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if !self.tokens.contains(&start) {
            self.document = self.segment.document_at(start);
            self.tokens = self.segment.tokens_of(self.document);
        }
        let wide = self.expansion.of(start..end, &self.tokens, self.segment);
        if wide.start != self.start {
            self.pass_on(each).map_break(|_| ())?;
            self.start = wide.start;
        }
        match (self.ends.first_mut(), self.rule) {
            (Some(known), MatchRule::Shortest) => *known = wide.end.min(*known),
            (Some(known), MatchRule::Longest) => *known = wide.end.max(*known),
            (None, _) | (_, MatchRule::All) => self.ends.push(wide.end),
        }
        ControlFlow::Continue(())
    }

    /// Passes on the hits of the current start; breaks with that start.
    pub(crate) fn pass_on(&mut self, each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>) -> ControlFlow<u32> {
        self.ends.sort_unstable();
        self.ends.dedup();
        for end in self.ends.drain(..) {
            each(self.start, end).map_break(|()| self.start)?;
        }
        ControlFlow::Continue(())
    }
}
