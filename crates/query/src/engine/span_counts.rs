//! Hits by an attribute of the span that they are or lie within.

use super::{Deadline, Limit, Limits, Search};
use crate::measure::per_million;
use crate::question::{Frequencies, FrequencyRow};
use hashbrown::HashMap;
use std::ops::{ControlFlow, Range};
use tidings_index::codec::ListedSpan;
use tidings_index::segment::Spans;

/// The maximum number of distinct values in memory.
const MAX_VALUES: usize = 2_000_000;
/// The memory of a value besides its text.
const VALUE_BYTES: u64 = 80;

/// The spans of a name in one document, to find the shortest around some tokens.
#[derive(Default)]
struct Enclosing {
    tokens: Range<u32>,
    spans: Vec<ListedSpan>,
    /// For each span the farthest end of it and the spans before it.
    farthest: Vec<u32>,
}

impl Enclosing {
    fn load(&mut self, spans: Option<&Spans<'_>>, tokens: Range<u32>) {
        self.spans.clear();
        if let Some(spans) = spans {
            spans.of_document(&tokens, &mut self.spans);
        }
        self.tokens = tokens;
        let mut farthest = 0;
        self.farthest.clear();
        self.farthest.extend(self.spans.iter().map(|span| {
            farthest = farthest.max(span.end);
            farthest
        }));
    }

    /// The shortest span around some tokens; of equals the first.
    fn shortest(&self, start: u32, end: u32, deadline: &mut Deadline) -> Option<u32> {
        let mut best: Option<&ListedSpan> = None;
        let before = self.spans.partition_point(|span| span.start <= start);
        for (span, farthest) in self.spans[..before].iter().zip(&self.farthest).rev() {
            if *farthest < end || !deadline.tick() {
                break;
            }
            let length = span.end - span.start;
            if span.end >= end && best.is_none_or(|best| length <= best.end - best.start) {
                best = Some(span);
            }
        }
        best.map(|span| span.index)
    }
}

impl Search<'_> {
    /// Hits by the value of an attribute of the shortest span of a name that contains them; hits outside of such spans, and
    /// in spans without the attribute, have the empty value. Returns false if a limit was reached or there are too many
    /// distinct values.
    pub fn by_span(&self, span: &str, attribute: &str, limits: &Limits) -> (HashMap<String, u64>, bool) {
        self.begin_pass(limits);
        let mut values: HashMap<String, u64> = HashMap::new();
        let (mut complete, mut memory) = (true, limits.memory());
        let mut deadline = Deadline::new(limits);
        for index in 0..self.segments() {
            let segment = self.segment(index);
            let spans = segment.spans(span);
            let column = spans.and_then(|spans| spans.attribute(attribute));
            let mut counts = vec![0u64; column.map_or(0, |column| column.count() as usize)];
            let mut outside = 0;
            let mut enclosing = Enclosing::default();
            complete &= self.each_in(index, limits, &mut |start, end| {
                if !enclosing.tokens.contains(&start) {
                    enclosing.load(spans.as_ref(), segment.tokens_of(segment.document_at(start)));
                }
                let code = column.zip(enclosing.shortest(start, end, &mut deadline));
                let code = code.map(|(column, span)| column.code(span) as usize);
                match code.and_then(|code| counts.get_mut(code)) {
                    Some(count) => *count += 1,
                    None => outside += 1,
                }
                if deadline.is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let mut add = |value: &str, count: u64| {
                if let Some(sum) = values.get_mut(value) {
                    *sum += count;
                } else if count > 0 {
                    if values.len() >= MAX_VALUES || !memory.grow(VALUE_BYTES + value.len() as u64) {
                        limits.strike(Limit::Values);
                        complete = false;
                    } else {
                        values.insert(value.to_owned(), count);
                    }
                }
            };
            add("", outside);
            if let Some(column) = column {
                // Values that cannot be read are left out; the engine reports that they are damaged.
                let read = column.each(|code, value| add(value, counts.get(code as usize).copied().unwrap_or(0)));
                complete &= read.is_ok();
            }
            if !complete {
                break;
            }
        }
        (values, complete)
    }

    /// The `most` most frequent values of an attribute of spans among hits, of those with at least `at_least` hits. Without
    /// an exhaustive search there are no rates.
    pub fn frequencies_by_span(
        &self,
        span: &str,
        attribute: &str,
        at_least: u64,
        most: usize,
        limits: &Limits,
    ) -> (Frequencies, bool) {
        let (values, complete) = self.by_span(span, attribute, limits);
        let (tokens, hits) = (self.tokens(), values.values().sum());
        let mut rows: Vec<(String, u64)> = values.into_iter().filter(|(_, hits)| *hits >= at_least).collect();
        rows.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let count = rows.len() as u64;
        let row = |(value, hits): (String, u64)| FrequencyRow {
            value,
            hits,
            hit_documents: None,
            documents: None,
            document_share: None,
            tokens: None,
            per_million: per_million(hits as f64, tokens as f64).filter(|_| complete),
        };
        let rows = rows.into_iter().take(most).map(row).collect();
        (Frequencies { by: format!("{span}.{attribute}"), hits, tokens, values: count, rows }, complete)
    }
}
