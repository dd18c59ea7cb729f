//! Spans of a batch, by name.

use std::ops::Range;

use hashbrown::HashMap;
use tidings_model::TokenSpan;

use super::batch::one_line;
use super::spans::{NewSpan, NewSpans};

/// Spans of the documents of a batch.
#[derive(Default)]
pub(super) struct PendingSpans {
    names: Vec<SpansOfName>,
    bytes: usize,
}

struct SpansOfName {
    name: String,
    attributes: Vec<(String, HashMap<Box<str>, u32>)>,
    /// Document, first token and end in the batch, codes of attributes; sorted by document and start.
    spans: Vec<(u32, Range<u32>, Box<[u32]>)>,
}

impl PendingSpans {
    /// Estimated memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds the spans of a document with these tokens. Ends are cut to the document, spans without tokens are left out.
    pub(super) fn add(&mut self, document: u32, tokens: &Range<u32>, spans: &[TokenSpan]) {
        let mut sorted: Vec<&TokenSpan> = spans.iter().collect();
        sorted.sort_by(|a, b| a.file_order(b));
        for span in sorted {
            let start = tokens.start.saturating_add(span.start);
            let end = tokens.start.saturating_add(span.end).min(tokens.end);
            if start >= end {
                continue;
            }
            let index = self.names.iter().position(|known| known.name == span.name).unwrap_or_else(|| {
                self.names.push(SpansOfName { name: span.name.clone(), attributes: Vec::new(), spans: Vec::new() });
                self.names.len() - 1
            });
            self.bytes += self.names[index].push(document, start..end, &span.attributes);
        }
    }

    pub(super) fn names(&self) -> Vec<NewSpans> {
        let attributes = |(name, codes): &(String, HashMap<Box<str>, u32>)| {
            let mut values = vec![String::new(); codes.len()];
            codes.iter().for_each(|(value, code)| values[*code as usize] = value.to_string());
            (name.clone(), values)
        };
        let of_name = |spans: &SpansOfName| NewSpans {
            name: spans.name.clone(),
            attributes: spans.attributes.iter().map(attributes).collect(),
        };
        self.names.iter().map(of_name).collect()
    }

    /// Appends the spans of a name in a document that moves from `from` to `at`.
    pub(super) fn of_document(&self, name: usize, document: u32, from: u32, at: u32, into: &mut Vec<NewSpan>) {
        let of_name = &self.names[name];
        let first = of_name.spans.partition_point(|(known, ..)| *known < document);
        let here = of_name.spans[first..].iter().take_while(|(known, ..)| *known == document);
        into.extend(here.map(|(_, tokens, codes)| {
            let mut codes = codes.to_vec();
            // Attributes that came after this span.
            codes.resize(of_name.attributes.len(), 0);
            NewSpan { start: tokens.start - from + at, end: tokens.end - from + at, codes }
        }));
    }
}

impl SpansOfName {
    /// Adds a span; returns its memory in bytes.
    fn push(&mut self, document: u32, tokens: Range<u32>, attributes: &[(String, String)]) -> usize {
        let mut codes = vec![0; self.attributes.len()];
        let mut bytes = 48 + attributes.len() * 4;
        for (name, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
            let index = self.attributes.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                self.attributes.push((name.clone(), HashMap::from_iter([("".into(), 0)])));
                codes.push(0);
                self.attributes.len() - 1
            });
            let known = &mut self.attributes[index].1;
            codes[index] = match known.get(value.as_str()) {
                Some(code) => *code,
                None => {
                    let value = one_line(value);
                    let next = known.len() as u32;
                    bytes += value.len() + 32;
                    *known.entry(value.into()).or_insert(next)
                }
            };
        }
        self.spans.push((document, tokens, codes.into()));
        bytes
    }
}
