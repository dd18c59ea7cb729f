//! Spans of a query in one segment, document by document.

use super::Result;
use super::nfa::SpanPattern;
use crate::cql::ast::{STRUCTURES, SpanTest};
use crate::cql::operator::TargetMatches;
use crate::syntax::{Logic, SyntaxError};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use tidings_index::codec::{BitSet, ListedSpan};
use tidings_index::segment::{SpanAttribute, Spans};
use tidings_index::{Segment, Snapshot};
use tidings_model::TokenSpan;

/// Rejects spans and attributes of spans that the corpus does not have, to tell "no hits" from "no such annotation".
pub(super) fn check(patterns: &[SpanPattern], snapshot: &Snapshot) -> std::result::Result<(), SyntaxError> {
    if patterns.is_empty() {
        return Ok(());
    }
    let known = snapshot.span_names();
    for pattern in patterns {
        let Some(attributes) = known.get(pattern.name.as_str()) else {
            let error =
                SyntaxError::new(pattern.at, format!("no document of this corpus has spans <{}>", pattern.name));
            let names = STRUCTURES.iter().map(|(_, name)| *name).chain(known.keys().copied());
            return Err(error.help(format!("there are {}", names.collect::<Vec<_>>().join(", "))));
        };
        let tests = pattern.condition.as_ref().map(Logic::tests).unwrap_or_default();
        let declared = TokenSpan::declared_attributes(pattern.name.as_str());
        let is_known = |name: &str| attributes.contains(name) || declared.contains(&name);
        if let Some(test) = tests.into_iter().find(|test| !is_known(test.attribute.as_str())) {
            let message = format!("no span <{}> of this corpus has the attribute {}", pattern.name, test.attribute);
            let names: BTreeSet<&str> = attributes.iter().chain(declared).copied().collect();
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            let help =
                if names.is_empty() { "they have no attributes".to_owned() } else { format!("there are {names}") };
            return Err(SyntaxError::new(test.span, message).help(help));
        }
    }
    Ok(())
}

/// Spans of a name in one segment that fulfil a condition.
pub(crate) struct SegmentSpans<'s> {
    spans: Option<Spans<'s>>,
    condition: Option<Logic<BoundTest<'s>>>,
}

/// A test of an attribute, evaluated for each of its values in the segment.
struct BoundTest<'s> {
    /// The attribute and the codes of matching values; without the attribute, whether the empty value matches.
    codes: Option<(SpanAttribute<'s>, BitSet)>,
    without: bool,
}

impl BoundTest<'_> {
    fn holds(&self, span: u32) -> bool {
        match &self.codes {
            Some((attribute, codes)) => codes.get(attribute.code(span)),
            None => self.without,
        }
    }
}

impl<'s> SegmentSpans<'s> {
    pub(crate) fn new(segment: &'s Segment, pattern: &SpanPattern) -> SegmentSpans<'s> {
        let spans = segment.spans(pattern.name.as_str());
        let bound = |test: &SpanTest| -> Result<BoundTest<'s>> {
            let matcher = test.value.compile()?;
            let fits = |value: &str| matcher.matches(value) != test.negated;
            let Some(attribute) = spans.and_then(|spans| spans.attribute(test.attribute.as_str())) else {
                return Ok(BoundTest { codes: None, without: fits("") });
            };
            let mut codes = BitSet::new(attribute.count() as usize);
            attribute.each(|code, value| {
                if fits(value) {
                    codes.set(code);
                }
            })?;
            Ok(BoundTest { codes: Some((attribute, codes)), without: false })
        };
        match pattern.condition.as_ref().map(|condition| condition.try_map(&mut |test| bound(test))) {
            None => SegmentSpans { spans, condition: None },
            Some(Ok(condition)) => SegmentSpans { spans, condition: Some(condition) },
            // Values that cannot be read match nothing; the engine reports that they are damaged. Expressions were compiled by the parser.
            Some(Err(_)) => SegmentSpans { spans: None, condition: None },
        }
    }

    /// The number of spans of the name in the segment, whether or not they fulfil the condition.
    pub(crate) fn count(&self) -> u64 {
        self.spans.map_or(0, |spans| u64::from(spans.list().len()))
    }

    fn admits(&self, span: &ListedSpan) -> bool {
        self.condition.as_ref().is_none_or(|condition| condition.holds(&mut |test| test.holds(span.index)))
    }

    /// Appends the starts of spans in a range, ascending.
    pub(crate) fn starts(&self, tokens: Range<u32>, into: &mut Vec<u32>) {
        let Some(spans) = self.spans else { return };
        let from = into.len();
        spans.list().each_from(tokens.start, tokens.end, |span| {
            if into[from..].last() != Some(&span.start) && self.admits(&span) {
                into.push(span.start);
            }
            true
        });
    }

    /// Appends the spans of a document, sorted by start.
    pub(crate) fn of_document(&self, tokens: &Range<u32>, into: &mut Vec<ListedSpan>) {
        let Some(spans) = self.spans else { return };
        let from = into.len();
        spans.of_document(tokens, into);
        if self.condition.is_some() {
            let mut kept = from;
            for index in from..into.len() {
                if self.admits(&into[index]) {
                    into[kept] = into[index];
                    kept += 1;
                }
            }
            into.truncate(kept);
        }
    }
}

/// Spans of a name, with those of one document at hand.
pub(crate) struct DocumentSpans<'s> {
    of_segment: SegmentSpans<'s>,
    document: Option<u32>,
    /// Sorted by start.
    spans: Vec<ListedSpan>,
    /// Sorted.
    ends: Vec<u32>,
}

impl<'s> DocumentSpans<'s> {
    /// The spans of each pattern of an automaton.
    pub(crate) fn all(segment: &'s Segment, patterns: &[SpanPattern]) -> Vec<RefCell<DocumentSpans<'s>>> {
        patterns.iter().map(|pattern| RefCell::new(DocumentSpans::new(segment, pattern))).collect()
    }

    pub(crate) fn new(segment: &'s Segment, pattern: &SpanPattern) -> DocumentSpans<'s> {
        let of_segment = SegmentSpans::new(segment, pattern);
        DocumentSpans { of_segment, document: None, spans: Vec::new(), ends: Vec::new() }
    }

    pub(crate) fn of_segment(&self) -> &SegmentSpans<'s> {
        &self.of_segment
    }

    /// Reads the spans of a document, unless that was the last one.
    pub(crate) fn load(&mut self, document: u32, tokens: &Range<u32>) {
        if self.document == Some(document) {
            return;
        }
        self.document = Some(document);
        self.spans.clear();
        self.of_segment.of_document(tokens, &mut self.spans);
        self.ends.clear();
        self.ends.extend(self.spans.iter().map(|span| span.end));
        self.ends.sort_unstable();
    }

    fn from(&self, position: u32) -> &[ListedSpan] {
        let first = self.spans.partition_point(|span| span.start < position);
        let here = &self.spans[first..];
        &here[..here.partition_point(|span| span.start == position)]
    }

    /// Returns true if a span starts before a token.
    pub(crate) fn starts_at(&self, position: u32) -> bool {
        !self.from(position).is_empty()
    }

    /// Returns true if a span ends before a token.
    pub(crate) fn ends_at(&self, position: u32) -> bool {
        self.ends.binary_search(&position).is_ok()
    }

    /// The ends of the spans that start at a token.
    pub(crate) fn ends_from(&self, position: u32) -> impl Iterator<Item = u32> {
        self.from(position).iter().map(|span| span.end).filter(move |end| *end > position)
    }

    /// The spans of a document as the target of a restriction.
    pub(crate) fn matches(&mut self, document: u32, tokens: &Range<u32>, into: &mut TargetMatches) {
        self.load(document, tokens);
        into.first = tokens.start;
        into.nearest_end.clear();
        into.nearest_end.resize(tokens.len(), u32::MAX);
        into.farthest_end.clear();
        into.farthest_end.resize(tokens.len(), 0);
        for span in self.spans.iter().filter(|span| tokens.contains(&span.start)) {
            let at = (span.start - tokens.start) as usize;
            into.nearest_end[at] = into.nearest_end[at].min(span.end);
            into.farthest_end[at] = into.farthest_end[at].max(span.end);
        }
        let mut farthest = 0;
        for end in &mut into.farthest_end {
            farthest = farthest.max(*end);
            *end = farthest;
        }
    }
}
