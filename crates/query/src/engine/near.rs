//! What stands beside hits.

use super::set::layer_of;
use super::{Limits, Search};
use crate::answer::{Collocates, Window};
use crate::cql::Attribute;
use crate::measure::association::Association;
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

impl Search<'_> {
    /// Counts the lexemes in the windows of hits, by the string of a layer; gives the hits too.
    fn near(&self, attribute: Attribute, window: Window, limits: &Limits<'_>) -> (HashMap<u32, u64>, u64, bool) {
        let layer = layer_of(attribute);
        let lexicon = self.engine.lexicon();
        let mut near: HashMap<u32, u64> = HashMap::new();
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
                *near.entry(lexicon.of(segment.lexeme(rank), layer)).or_default() += u64::from(counts[rank as usize]);
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
        let anywhere = self.anywhere(layer, &near);
        let mut joined: HashMap<String, (u64, u64)> = HashMap::new();
        let is_lower = attribute == Attribute::Lc;
        let mut rows: Vec<(String, u64, u64)> = Vec::new();
        for (id, count) in near {
            let text = lexicon.string(layer, id);
            let everywhere = anywhere.get(&id).copied().unwrap_or(0);
            if is_lower {
                let entry = joined.entry(text.to_lowercase()).or_default();
                entry.0 += count;
                entry.1 += everywhere;
            } else if count >= at_least {
                rows.push((text.to_owned(), count, everywhere));
            }
        }
        if is_lower {
            // Spellings that are near no hit count too.
            let all = self.lower_counts(&joined);
            rows.extend(joined.into_iter().map(|(text, (count, _))| {
                let everywhere = all.get(&text).copied().unwrap_or(0);
                (text, count, everywhere)
            }));
        }
        (Collocates::rank(attribute, window, (hits, self.tokens()), order, at_least, rows), complete)
    }
}
