//! Hits that are passed on document by document.
//!
//! A limit may stop a search in the middle of a document. Its hits are dropped then: what was counted and the tokens that
//! were seen are of the same documents, and rates over them are true.

use super::{Deadline, Limits};
use std::ops::{ControlFlow, Range};
use tidings_index::Segment;

/// The number of hits that are held back (8 MiB). A document has more only if several hits begin at one token.
const MAX_HELD: usize = 1 << 20;

/// The hits of the document that is being searched, held back until the search has left it.
pub(crate) struct DocumentHits<'s> {
    segment: &'s Segment,
    document: u32,
    /// The end of its tokens.
    end: u32,
    hits: Vec<(u32, u32)>,
    /// The receiver wants no more hits.
    is_broken: bool,
    /// Receivers may need longer for a hit than the search: they are stopped too.
    deadline: Deadline,
}

impl<'s> DocumentHits<'s> {
    pub(crate) fn new(segment: &'s Segment, limits: &Limits) -> DocumentHits<'s> {
        DocumentHits {
            segment,
            document: 0,
            end: 0,
            hits: Vec::new(),
            is_broken: false,
            deadline: Deadline::new(limits),
        }
    }

    /// Takes a hit; starts ascend.
    #[inline]
    pub(crate) fn push(
        &mut self,
        start: u32,
        end: u32,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if start >= self.end {
            self.pass_on(each)?;
            self.document = self.segment.document_from(self.document, start);
            self.end = self.segment.tokens_of(self.document).end;
        }
        if self.hits.len() == MAX_HELD {
            self.pass_on(each)?;
        }
        self.hits.push((start, end));
        if self.deadline.tick() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn pass_on(&mut self, each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>) -> ControlFlow<()> {
        for (start, end) in self.hits.drain(..) {
            if each(start, end).is_break() {
                self.is_broken = true;
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// Ends a window of documents: passes on the hits of the last document that was searched to its end, and returns the
    /// first that was not, or the end of the window. `flow` is how the search of the window ended.
    pub(crate) fn complete(
        &mut self,
        window: &Range<u32>,
        flow: ControlFlow<u32>,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> u32 {
        let searched = match flow {
            ControlFlow::Continue(()) => window.end,
            ControlFlow::Break(_) if self.is_broken => self.document,
            ControlFlow::Break(start) => self.segment.document_at(start),
        };
        match self.hits.is_empty() || self.document < searched {
            true if self.pass_on(each).is_break() => self.document,
            true => searched.clamp(window.start, window.end),
            false => {
                self.hits.clear();
                searched.clamp(window.start, window.end)
            }
        }
    }
}
