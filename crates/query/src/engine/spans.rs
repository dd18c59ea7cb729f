//! Spans of a query in one segment, document by document: annotated ones, and matches of nested queries.

use super::compiled::CompiledSpans;
use super::span_finder::{NearMatches, SpanFinder};
use super::{Limits, Result};
use crate::cql::ast::{Name, STRUCTURES, SpanTest};
use crate::cql::operator::TargetMatches;
use crate::syntax::{Logic, Span, SyntaxError};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use tidings_index::codec::{BitSet, ListedSpan};
use tidings_index::lexicon::Lexicon;
use tidings_index::segment::{SpanAttribute, Spans};
use tidings_index::{Segment, Snapshot};
use tidings_model::TokenSpan;

/// Rejects spans and attributes of spans that the corpus does not have, to tell "no hits" from "no such annotation".
pub(super) fn check(
    name: Name,
    condition: Option<&Logic<SpanTest>>,
    at: Span,
    snapshot: &Snapshot,
) -> std::result::Result<(), SyntaxError> {
    let known = snapshot.span_names();
    let Some(attributes) = known.get(name.as_str()) else {
        let error = SyntaxError::new(at, format!("no document of this corpus has spans <{name}>"));
        let names = STRUCTURES.iter().map(|(_, name)| *name).chain(known.keys().copied());
        return Err(error.help(format!("there are {}", names.collect::<Vec<_>>().join(", "))));
    };
    let tests = condition.map(Logic::tests).unwrap_or_default();
    let declared = TokenSpan::declared_attributes(name.as_str());
    let is_known = |name: &str| attributes.contains(name) || declared.contains(&name);
    if let Some(test) = tests.into_iter().find(|test| !is_known(test.attribute.as_str())) {
        let message = format!("no span <{name}> of this corpus has the attribute {}", test.attribute);
        let names: BTreeSet<&str> = attributes.iter().chain(declared).copied().collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let help = if names.is_empty() { "they have no attributes".to_owned() } else { format!("there are {names}") };
        return Err(SyntaxError::new(test.span, message).help(help));
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
    pub(crate) fn new(segment: &'s Segment, name: Name, condition: Option<&Logic<SpanTest>>) -> SegmentSpans<'s> {
        let spans = segment.spans(name.as_str());
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
        match condition.map(|condition| condition.try_map(&mut |test| bound(test))) {
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

/// The cost of reading a span, in nanoseconds as in the plan.
const READ_SPAN: f64 = 4.0;

/// Spans with those of one document at hand.
pub(crate) struct DocumentSpans<'s> {
    source: SpanSource<'s>,
    document: Option<u32>,
    /// Sorted by start.
    spans: Vec<ListedSpan>,
    /// Sorted.
    ends: Vec<u32>,
}

enum SpanSource<'s> {
    /// Annotated spans of the segment.
    Stored(SegmentSpans<'s>),
    /// Matches, which are searched for.
    Found(Box<SpanFinder<'s>>),
}

impl<'s> DocumentSpans<'s> {
    /// The spans of an automaton.
    pub(crate) fn all(
        segment: &'s Segment,
        lexicon: &'s Lexicon,
        spans: &'s [CompiledSpans],
        limits: &Limits,
    ) -> Vec<RefCell<DocumentSpans<'s>>> {
        spans.iter().map(|spans| RefCell::new(DocumentSpans::new(segment, lexicon, spans, limits))).collect()
    }

    pub(crate) fn new(
        segment: &'s Segment,
        lexicon: &'s Lexicon,
        spans: &'s CompiledSpans,
        limits: &Limits,
    ) -> DocumentSpans<'s> {
        let source = match spans {
            CompiledSpans::Named { name, condition } => {
                SpanSource::Stored(SegmentSpans::new(segment, *name, condition.as_ref()))
            }
            CompiledSpans::Matches { query, rule } => {
                SpanSource::Found(Box::new(SpanFinder::of_query(segment, lexicon, query, *rule, limits)))
            }
            CompiledSpans::Meet { of, with, negated, window } => {
                let near = NearMatches { negated: *negated, window: *window };
                SpanSource::Found(Box::new(SpanFinder::of_meet(segment, lexicon, (of, with), near, limits)))
            }
        };
        DocumentSpans { source, document: None, spans: Vec::new(), ends: Vec::new() }
    }

    /// The expected number of spans in the segment, and the cost of finding them.
    pub(crate) fn expected(&self) -> (u64, f64) {
        match &self.source {
            SpanSource::Stored(spans) => (spans.count(), spans.count() as f64 * READ_SPAN),
            SpanSource::Found(finder) => finder.expected(),
        }
    }

    /// Returns true if a limit was reached while spans were searched.
    pub(crate) fn is_over(&self) -> bool {
        matches!(&self.source, SpanSource::Found(finder) if finder.is_over())
    }

    /// Appends the starts of the spans of some documents, ascending.
    pub(crate) fn starts(&mut self, segment: &Segment, documents: Range<u32>, into: &mut Vec<u32>) {
        match &mut self.source {
            SpanSource::Stored(spans) => spans.starts(segment.tokens_in(documents), into),
            SpanSource::Found(finder) => {
                self.document = None;
                finder.starts(documents, into);
            }
        }
    }

    /// Reads the spans of a document, unless that was the last one.
    pub(crate) fn load(&mut self, document: u32, tokens: &Range<u32>) {
        if self.document == Some(document) {
            return;
        }
        self.document = Some(document);
        self.spans.clear();
        match &mut self.source {
            SpanSource::Stored(spans) => spans.of_document(tokens, &mut self.spans),
            SpanSource::Found(finder) => finder.of_document(document, tokens, &mut self.spans),
        }
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
        into.reset(tokens);
        self.spans.iter().for_each(|span| into.add(span.start, span.end));
        into.complete();
    }

    /// Passes the annotated spans of some documents, sorted by start.
    pub(crate) fn each_stored(&self, segment: &Segment, documents: Range<u32>, each: &mut dyn FnMut(u32, u32)) {
        let SpanSource::Stored(SegmentSpans { spans: Some(spans), .. }) = &self.source else { return };
        let SpanSource::Stored(stored) = &self.source else { return };
        let tokens = segment.tokens_in(documents);
        spans.list().each_from(tokens.start, tokens.end, |span| {
            if stored.admits(&span) {
                each(span.start, span.end);
            }
            true
        });
    }
}
