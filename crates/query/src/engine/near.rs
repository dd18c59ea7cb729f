//! What stands beside hits.

use super::set::layer_of;
use super::{Limits, Search};
use crate::answer::{Collocates, Window};
use crate::cql::Attribute;
use crate::measure::association::Association;
use hashbrown::HashMap;
use std::ops::{ControlFlow, Range};

impl Search<'_> {
    /// Counts the strings of a layer in the windows of hits, by number; gives the hits too.
    fn near(&self, attribute: Attribute, window: Window, limits: &Limits<'_>) -> (Vec<u64>, u64, bool) {
        let layer = layer_of(attribute);
        let lexicon = self.engine.lexicon();
        let mut near = vec![0u64; lexicon.count(layer) as usize];
        let (mut hits, mut complete) = (0, true);
        for index in 0..self.segments() {
            let segment = self.segment(index);
            let column = segment.column();
            let mut counts = vec![0u32; column.bound()];
            let mut touched = Vec::new();
            let mut document = 0..0;
            let mut note = |positions: Range<u32>| {
                for position in positions {
                    let rank = column.get(position);
                    let count = &mut counts[rank as usize];
                    if *count == 0 {
                        touched.push(rank);
                    }
                    *count += 1;
                }
            };
            complete &= self.each_in(index, limits, &mut |start, end| {
                hits += 1;
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
            for rank in touched {
                if let Some(sum) = near.get_mut(lexicon.of(segment.lexeme(rank), layer) as usize) {
                    *sum += u64::from(counts[rank as usize]);
                }
            }
        }
        (near, hits, complete)
    }

    /// What stands in the neighbourhood of hits, with all measures; says whether everything was looked at.
    pub fn collocates(
        &self,
        attribute: Attribute,
        window: Window,
        order: Association,
        at_least: u64,
        limits: &Limits<'_>,
    ) -> (Collocates, bool) {
        let layer = layer_of(attribute);
        let lexicon = self.engine.lexicon();
        let (near, hits, complete) = self.near(attribute, window, limits);
        let anywhere = self.anywhere(layer);
        let text_of = |id: usize| lexicon.string(layer, id as u32);
        let mut rows: Vec<(String, u64, u64)> = Vec::new();
        if attribute == Attribute::Lc {
            let mut joined: HashMap<String, (u64, u64)> = HashMap::new();
            for (id, count) in near.into_iter().enumerate().filter(|(_, count)| *count > 0) {
                joined.entry(text_of(id).to_lowercase()).or_default().0 += count;
            }
            // Spellings that are near no hit count too.
            for (id, count) in anywhere.iter().enumerate().filter(|(_, count)| **count > 0) {
                if let Some(sums) = joined.get_mut(&text_of(id).to_lowercase()) {
                    sums.1 += count;
                }
            }
            rows.extend(joined.into_iter().map(|(text, (count, everywhere))| (text, count, everywhere)));
        } else {
            let found = near.into_iter().enumerate().filter(|(_, count)| *count >= at_least.max(1));
            rows.extend(
                found.map(|(id, count)| (text_of(id).to_owned(), count, anywhere.get(id).copied().unwrap_or(0))),
            );
        }
        (Collocates::rank(attribute, window, (hits, self.tokens()), order, at_least, rows), complete)
    }
}
