//! Collocations: words in the windows around hits.

use super::parallel::Block;
use super::search::HitBlocks;
use super::set::layer_of;
use super::{Limits, Search};
use crate::cql::Attribute;
use crate::measure::association::Association;
use crate::question::{Collocates, Window};
use hashbrown::HashMap;
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use tidings_index::lexicon::Layer;

/// The words around hits that are counted.
#[derive(Debug, Clone, Copy)]
pub struct Around<'t> {
    /// The attribute whose values are counted.
    pub attribute: Attribute,
    /// The window around each hit.
    pub window: Window,
    /// The part of speech of tokens that count; all do without one.
    pub tag: Option<&'t str>,
}

impl Around<'_> {
    /// Words of every part of speech.
    pub fn all(attribute: Attribute, window: Window) -> Around<'static> {
        Around { attribute, window, tag: None }
    }
}

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
    pub(super) fn near(&self, around: Around<'_>, limits: &Limits) -> NearCounts {
        self.begin_pass(limits);
        let layer = layer_of(around.attribute, self.engine.lexicon());
        let lexicon = self.engine.lexicon();
        let all: Vec<usize> = (0..self.segments()).collect();
        let (counts, hits) = self.fold_hits(&all, limits, |blocks| {
            let mut sum = (vec![0u64; lexicon.count(layer) as usize], 0);
            while let Some(block) = blocks.next() {
                self.near_in(&block, blocks, around, layer, &mut sum);
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
        Around { window, tag, .. }: Around<'_>,
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
        let is_counted = self.engine.is_of_tag(tag);
        for local_id in touched.into_iter().filter(|local_id| is_counted(segment.lexeme(*local_id))) {
            if let Some(sum) = near.get_mut(lexicon.of(segment.lexeme(local_id), layer) as usize) {
                *sum += u64::from(counts[local_id as usize]);
            }
        }
    }

    /// The collocates of hits with all association measures; returns true if the search was exhaustive. Otherwise there are
    /// no scores, and the most frequent come first.
    pub fn collocates(
        &self,
        around: Around<'_>,
        order: Association,
        at_least: u64,
        limits: &Limits,
    ) -> (Collocates, bool) {
        let Around { attribute, window, tag } = around;
        let layer = layer_of(attribute, self.engine.lexicon());
        let NearCounts { counts: near, hits } = self.near(around, limits);
        self.begin_pass(limits);
        // The marginal frequency counts all spellings, also those near no hit.
        let anywhere = self.engine.joined(attribute, self.anywhere(layer, tag, limits));
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

    /// The co-occurrences of some values at each place of a window of tokens, from the farthest before the hit to the farthest
    /// behind it.
    pub(crate) fn by_place(
        &self,
        (attribute, tag): (Attribute, Option<&str>),
        (left, right): (u32, u32),
        values: &[String],
        limits: &Limits,
    ) -> Vec<Vec<u64>> {
        self.begin_pass(limits);
        let numbers = self.numbers_of(attribute, values.iter().map(String::as_str).collect());
        let row_of: HashMap<u32, usize> =
            values.iter().enumerate().filter_map(|(row, value)| Some((*numbers.get(value.as_str())?, row))).collect();
        let (number, is_counted) = (self.numbering(attribute), self.engine.is_of_tag(tag));
        let mut counts = vec![vec![0; (left + right) as usize]; values.len()];
        for index in 0..self.segments() {
            let segment = self.segment(index);
            let column = segment.column();
            let row = |lexeme: &u32| row_of.get(&number(*lexeme)).copied().filter(|_| is_counted(*lexeme));
            let rows: Vec<Option<usize>> = segment.lexemes().all().iter().map(row).collect();
            let mut document = 0..0;
            let mut note = |position: u32, place: u32| {
                if let Some(row) = rows.get(column.get(position) as usize).copied().flatten() {
                    counts[row][place as usize] += 1;
                }
            };
            let is_complete = self.each_in(index, limits, &mut |start, end| {
                if !document.contains(&start) {
                    document = segment.tokens_of(segment.document_at(start));
                }
                let before = start.saturating_sub(left).max(document.start);
                (before..start).for_each(|position| note(position, left - (start - position)));
                let behind = end.saturating_add(right).min(document.end);
                (end..behind).for_each(|position| note(position, left + (position - end)));
                ControlFlow::Continue(())
            });
            if !is_complete {
                break;
            }
        }
        counts
    }
}
