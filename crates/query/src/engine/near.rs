//! Collocations: words in the windows around hits.

use super::parallel::Block;
use super::search::HitBlocks;
use super::set::layer_of;
use super::{Limits, Search};
use crate::cql::Attribute;
use crate::measure::association::Association;
use crate::question::{Collocates, Window};
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use tidings_index::lexicon::Layer;

/// The strings in the windows of hits.
pub(super) struct NearCounts {
    /// By the number of the string.
    counts: Vec<u64>,
    hits: u64,
}

impl NearCounts {
    /// The hits.
    pub(super) fn hits(&self) -> u64 {
        self.hits
    }

    /// The counts by the number of the string.
    pub(super) fn into_counts(self) -> Vec<u64> {
        self.counts
    }

    /// The strings that occur, with their counts.
    pub(super) fn each(&self) -> impl Iterator<Item = (u32, u64)> {
        (0..).zip(&self.counts).filter(|(_, count)| **count > 0).map(|(id, count)| (id, *count))
    }
}

impl Search<'_> {
    /// Counts the strings of a layer in the windows of hits.
    pub(super) fn near(&self, attribute: Attribute, window: Window, limits: &Limits) -> NearCounts {
        self.begin_pass(limits);
        let layer = layer_of(attribute, self.engine.lexicon());
        let lexicon = self.engine.lexicon();
        let all: Vec<usize> = (0..self.segments()).collect();
        let (counts, hits) = self.fold_hits(&all, limits, |blocks| {
            let mut sum = (vec![0u64; lexicon.count(layer) as usize], 0);
            while let Some(block) = blocks.next() {
                self.near_in(&block, blocks, window, layer, &mut sum);
            }
            sum
        });
        NearCounts { counts, hits }
    }

    /// Adds the strings in the windows of the hits of a block, and the hits.
    fn near_in(
        &self,
        block: &Block,
        blocks: &mut HitBlocks<'_>,
        window: Window,
        layer: Layer,
        (near, hits): &mut (Vec<u64>, u64),
    ) {
        let (lexicon, segment) = (self.engine.lexicon(), self.segment(block.index));
        let column = segment.column();
        let mut counts = vec![0u32; column.bound()];
        let mut touched = Vec::new();
        let mut document = 0..0;
        let mut note = |positions: Range<u32>| {
            for position in positions {
                let local_id = column.get(position);
                let count = &mut counts[local_id as usize];
                if *count == 0 {
                    touched.push(local_id);
                }
                *count += 1;
            }
        };
        blocks.search(block, &mut |start, end| {
            *hits += 1;
            if !document.contains(&start) {
                document = segment.tokens_of(segment.document_at(start));
            }
            match window {
                Window::Tokens { left, right } => {
                    note(start.saturating_sub(left).max(document.start)..start);
                    note(end..end.saturating_add(right).min(document.end));
                }
                Window::Sentence => {
                    note(segment.sentence_of(start, &document).start..start);
                    note(end..segment.sentence_of(end - 1, &document).end);
                }
            }
            ControlFlow::Continue(())
        });
        for local_id in touched {
            if let Some(sum) = near.get_mut(lexicon.of(segment.lexeme(local_id), layer) as usize) {
                *sum += u64::from(counts[local_id as usize]);
            }
        }
    }

    /// The collocates of hits with all association measures; returns true if the search was exhaustive. Otherwise there are
    /// no scores, and the most frequent come first.
    pub fn collocates(
        &self,
        attribute: Attribute,
        window: Window,
        order: Association,
        at_least: u64,
        limits: &Limits,
    ) -> (Collocates, bool) {
        let layer = layer_of(attribute, self.engine.lexicon());
        let NearCounts { counts: near, hits } = self.near(attribute, window, limits);
        self.begin_pass(limits);
        // The marginal frequency counts all spellings, also those near no hit.
        let anywhere = self.engine.joined(attribute, self.anywhere(layer, limits));
        let complete = limits.cut_off().is_none();
        let near = self.engine.joined(attribute, Cow::Owned(near));
        let found = (0..).zip(near.iter().zip(anywhere.iter())).filter(|(_, (count, _))| **count >= at_least.max(1));
        // Past a limit a word may be counted near hits and not yet anywhere: it occurs at least once.
        let least = u64::from(!complete);
        let rows =
            found.map(|(id, (count, anywhere))| (self.engine.name(attribute, id), *count, *anywhere.max(&least)));
        let ranked = Collocates::rank(attribute, window, (hits, self.tokens()), order, at_least, rows);
        (if complete { ranked } else { ranked.without_scores() }, complete)
    }
}
