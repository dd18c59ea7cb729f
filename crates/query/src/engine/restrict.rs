//! Restrictions (`within`, `containing`) and constraints on labelled tokens, evaluated on matches of one segment.
//!
//! What each operator means is in its file, [`crate::cql`]; this file compiles targets and finds their matches.

use super::compiled::{CompiledQuery, CompiledSpans};
use super::find::Finder;
use super::layers;
use super::nfa::Assertion;
use super::plan::Driver;
use super::set::{SetBuilder, layer_of};
use super::spans::DocumentSpans;
use super::{Engine, EngineError, Limits, Result};
use crate::cql::MatchRule;
use crate::cql::ast::{Attribute, Quantity, Query, Reference, Region, RestrictionKind, Structure, Target};
use crate::cql::operator::{CompiledConstraint, ReferenceValue, TargetMatches};
use crate::filter::Filter;
use crate::syntax::SyntaxError;
use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use tidings_index::Segment;
use tidings_index::codec::{BitSet, next_bit};
use tidings_index::lexicon::Lexicon;

/// The restrictions and constraints of a query, compiled once for all segments.
#[derive(Debug, Default)]
pub(crate) struct HitConditions {
    restrictions: Vec<CompiledRestriction>,
    constraints: Vec<CompiledConstraint>,
    /// The frequencies that constraints refer to, by string.
    frequencies: Vec<(Attribute, Vec<u64>)>,
}

#[derive(Debug)]
struct CompiledRestriction {
    kind: RestrictionKind,
    negated: bool,
    target: CompiledTarget,
    /// Its text, for `--explain`.
    text: String,
}

#[derive(Debug)]
enum CompiledTarget {
    Region(Region),
    Spans(CompiledSpans),
    Pattern(Box<CompiledQuery>),
    AtMost(u32, Option<Structure>),
}

impl HitConditions {
    pub(crate) fn new(query: &Query, engine: &Engine, builder: &mut SetBuilder<'_>) -> Result<HitConditions> {
        let mut restrictions = Vec::new();
        for restriction in &query.restrictions {
            let target = match &restriction.target {
                Target::Region(region) => match region.spans() {
                    Some(spans) => CompiledTarget::Spans(CompiledSpans::new(&spans, engine, builder)?),
                    None => CompiledTarget::Region(region.clone()),
                },
                Target::Pattern(pattern) => {
                    CompiledTarget::Pattern(Box::new(CompiledQuery::of_pattern(pattern, engine, builder)?))
                }
                Target::AtMost(number, structure) => CompiledTarget::AtMost(*number, *structure),
            };
            let (kind, negated, text) = (restriction.kind, restriction.negated, restriction.to_string());
            restrictions.push(CompiledRestriction { kind, negated, target, text });
        }
        let mut frequencies: Vec<(Attribute, Vec<u64>)> = Vec::new();
        for constraint in &query.constraints {
            for reference in constraint.references() {
                let attribute = reference.attribute;
                if !builder.is_lenient() {
                    layers::check(attribute, constraint.span, engine.lexicon())?;
                }
                let is_known = frequencies.iter().any(|(known, _)| *known == attribute);
                if reference.quantity == Quantity::Frequency && !is_known {
                    let counts = builder.frequencies(attribute)?;
                    if !builder.reserve(counts.len() as u64 * 8) {
                        return Err(EngineError::TooManyWords);
                    }
                    frequencies.push((attribute, counts));
                }
            }
        }
        let constraints = query.constraints.iter().map(|constraint| constraint.compile());
        let constraints = constraints.collect::<std::result::Result<_, SyntaxError>>()?;
        Ok(HitConditions { restrictions, constraints, frequencies })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.restrictions.is_empty() && self.constraints.is_empty()
    }
}

impl CompiledRestriction {
    /// Returns true if every hit lies inside one structure of a kind, in any document.
    fn keeps_inside(&self, structure: Structure) -> bool {
        let is_plain = match &self.target {
            CompiledTarget::Region(region) => *region == Region::of(structure),
            CompiledTarget::AtMost(number, of) => *number == 1 && *of == Some(structure),
            CompiledTarget::Spans(_) | CompiledTarget::Pattern(_) => false,
        };
        is_plain && !self.negated && self.kind.operator().keeps_inside()
    }
}

/// The restrictions and constraints of a query, bound to one segment.
pub(crate) struct Restrictions<'a> {
    conditions: &'a HitConditions,
    segment: &'a Segment,
    lexicon: &'a Lexicon,
    bound: Vec<BoundRestriction<'a>>,
    within_sentence: bool,
}

/// A restriction that must be evaluated for each match.
struct BoundRestriction<'a> {
    restriction: &'a CompiledRestriction,
    target: BoundTarget<'a>,
}

enum BoundTarget<'a> {
    Region { structure: Structure, admitted: Option<BitSet> },
    AtMost(u32, Option<Structure>),
    Pattern(Box<RefCell<TargetFinder<'a>>>),
    Spans(Box<RefCell<SpanTarget<'a>>>),
}

/// The spans of a restriction, document by document.
struct SpanTarget<'a> {
    spans: DocumentSpans<'a>,
    /// The document of `matches`.
    document: Option<u32>,
    matches: TargetMatches,
}

/// Finds the matches of a target pattern, document by document.
struct TargetFinder<'a> {
    finder: Finder<'a>,
    /// The document of `matches`.
    document: Option<u32>,
    matches: TargetMatches,
}

/// The documents that a filter of the query admits. Deleted documents may be among them: no hit in them counts.
pub(crate) fn admitted_bits(segment: &Segment, filter: &Filter) -> BitSet {
    match filter.compile() {
        // Structures have no condition on hits, so that the file of the segment is not needed.
        Ok(filter) => super::scope::admitted(segment, "", filter.condition()),
        Err(_) => BitSet::new(0),
    }
}

/// For each assertion about the document, the documents that satisfy it.
pub(crate) fn admitted_by(segment: &Segment, assertions: &[Assertion]) -> Vec<Option<BitSet>> {
    let admitted = assertions.iter().map(|assertion| match assertion {
        Assertion::Admitted(filter) => Some(admitted_bits(segment, filter)),
        _ => None,
    });
    admitted.collect()
}

impl<'a> Restrictions<'a> {
    pub(crate) fn new(
        conditions: &'a HitConditions,
        lexicon: &'a Lexicon,
        segment: &'a Segment,
        limits: &Limits,
    ) -> Restrictions<'a> {
        let within_sentence =
            conditions.restrictions.iter().any(|restriction| restriction.keeps_inside(Structure::Sentence));
        // The finder itself keeps hits inside sentences, and no hit leaves its document.
        let needs_check = |restriction: &&CompiledRestriction| {
            !restriction.keeps_inside(Structure::Sentence) && !restriction.keeps_inside(Structure::Document)
        };
        let bound = conditions.restrictions.iter().filter(needs_check).map(|restriction| {
            let target = match &restriction.target {
                CompiledTarget::Spans(spans) => {
                    let spans = DocumentSpans::new(segment, lexicon, spans, limits);
                    let target = SpanTarget { spans, document: None, matches: TargetMatches::default() };
                    BoundTarget::Spans(Box::new(RefCell::new(target)))
                }
                CompiledTarget::Region(Region { structure, filter, .. }) => BoundTarget::Region {
                    structure: *structure,
                    admitted: filter.as_ref().map(|filter| admitted_bits(segment, filter)),
                },
                CompiledTarget::AtMost(number, structure) => BoundTarget::AtMost(*number, *structure),
                CompiledTarget::Pattern(query) => {
                    let finder = Finder::new(segment, lexicon, query, None, MatchRule::All, limits);
                    let target = TargetFinder { finder, document: None, matches: TargetMatches::default() };
                    BoundTarget::Pattern(Box::new(RefCell::new(target)))
                }
            };
            BoundRestriction { restriction, target }
        });
        Restrictions { bound: bound.collect(), conditions, segment, lexicon, within_sentence }
    }

    /// Returns true if a limit was reached while a target was searched.
    pub(crate) fn is_over(&self) -> bool {
        self.bound.iter().any(|bound| match &bound.target {
            BoundTarget::Pattern(target) => target.borrow().finder.is_over(),
            BoundTarget::Spans(target) => target.borrow().spans.is_over(),
            BoundTarget::Region { .. } | BoundTarget::AtMost(..) => false,
        })
    }

    /// The restrictions by whose targets all hits can be found.
    pub(crate) fn drivers(&self) -> Vec<Driver> {
        let driver = |(index, bound): (usize, &BoundRestriction<'_>)| {
            if bound.restriction.negated {
                return None;
            }
            let (targets, cost, longest) = match &bound.target {
                BoundTarget::Pattern(target) => {
                    let finder = &target.borrow().finder;
                    (finder.plan.expected, finder.plan.cost, finder.nfa.length.max)
                }
                BoundTarget::Spans(target) => {
                    let (targets, cost) = target.borrow().spans.expected();
                    (targets, cost, None)
                }
                BoundTarget::Region { .. } | BoundTarget::AtMost(..) => return None,
            };
            // A hit in a target starts at one of its tokens, whose number is a guess if it has no maximum.
            let starts = match bound.restriction.kind {
                RestrictionKind::Containing => None,
                RestrictionKind::Within => Some(longest.map_or(TARGET_TOKENS, f64::from)),
            };
            Some(Driver { index, targets, cost, starts })
        };
        self.bound.iter().enumerate().filter_map(driver).collect()
    }

    /// The operator of a driver.
    pub(crate) fn kind_of(&self, driver: usize) -> RestrictionKind {
        self.bound[driver].restriction.kind
    }

    /// The text of a driver.
    pub(crate) fn text_of(&self, driver: usize) -> &str {
        &self.bound[driver].restriction.text
    }

    /// Appends the starts of the targets of a driver in some documents, ascending, and for each its nearest end, or its
    /// farthest one if hits lie in it.
    pub(crate) fn targets(&self, driver: usize, documents: Range<u32>, starts: &mut Vec<u32>, ends: &mut Vec<u32>) {
        let is_farthest = self.kind_of(driver) == RestrictionKind::Within;
        let mut push = |start: u32, end: u32| match (starts.last() == Some(&start), ends.last_mut()) {
            (true, Some(known)) if is_farthest => *known = end.max(*known),
            (true, Some(known)) => *known = end.min(*known),
            _ => {
                starts.push(start);
                ends.push(end);
            }
        };
        match &self.bound[driver].target {
            BoundTarget::Pattern(target) => {
                let _ = target.borrow_mut().finder.find(documents, &mut |start, end| {
                    push(start, end);
                    ControlFlow::Continue(())
                });
            }
            BoundTarget::Spans(target) => {
                let target = target.borrow();
                target.spans.each_stored(self.segment, documents, &mut push);
            }
            BoundTarget::Region { .. } | BoundTarget::AtMost(..) => {}
        }
    }

    /// Returns true if every hit lies in one sentence.
    pub(crate) fn within_sentence(&self) -> bool {
        self.within_sentence
    }

    /// Returns true if the document of a match must be known to evaluate restrictions.
    pub(crate) fn need_document(&self) -> bool {
        !self.bound.is_empty()
    }

    pub(crate) fn has_constraints(&self) -> bool {
        !self.conditions.constraints.is_empty()
    }

    /// Returns true if all restrictions but `within <s/>` hold of a match in a document.
    pub(crate) fn hold(&self, segment: &Segment, document: u32, tokens: &Range<u32>, hit: Range<u32>) -> bool {
        self.bound.iter().all(|bound| {
            let operator = bound.restriction.kind.operator();
            let holds = match &bound.target {
                BoundTarget::Pattern(target) => {
                    let mut target = target.borrow_mut();
                    target.find(document, tokens);
                    operator.holds_for_matches(&hit, &target.matches)
                }
                BoundTarget::AtMost(number, None) => hit.len() <= *number as usize,
                BoundTarget::AtMost(number, Some(structure)) => {
                    let mut end = hit.start;
                    let mut ends = (0..*number).map(|_| {
                        end = next_boundary(segment, *structure, tokens, end + 1);
                        end
                    });
                    ends.any(|end| end >= hit.end)
                }
                BoundTarget::Spans(target) => {
                    let SpanTarget { spans, document: known, matches } = &mut *target.borrow_mut();
                    if *known != Some(document) {
                        *known = Some(document);
                        spans.matches(document, tokens, matches);
                    }
                    operator.holds_for_matches(&hit, matches)
                }
                BoundTarget::Region { structure, admitted } => {
                    admitted.as_ref().is_none_or(|admitted| admitted.get(document))
                        && operator.holds_for_structures(&hit, &|position| {
                            next_boundary(segment, *structure, tokens, position)
                        })
                }
            };
            holds != bound.restriction.negated
        })
    }

    /// Returns true if the constraints hold of labelled tokens of a match.
    pub(crate) fn constraints_hold(
        &self,
        segment: &Segment,
        names: &[String],
        labels: &[Option<u32>],
        hit: Range<u32>,
    ) -> bool {
        let value = |reference: &Reference| {
            let position = match reference.label.as_str() {
                "match" => hit.start,
                "matchend" => hit.end - 1,
                label => labels.get(names.iter().position(|name| name == label)?).copied().flatten()?,
            };
            let attribute = reference.attribute;
            let (lexeme, layer) = (segment.lexeme_at(position), layer_of(attribute, self.lexicon));
            Some(match reference.quantity {
                Quantity::Value => ReferenceValue::Text(attribute.value(self.lexicon.text(lexeme, layer))),
                Quantity::Frequency => {
                    let counts = self.conditions.frequencies.iter().find(|(known, _)| *known == attribute);
                    let string = self.lexicon.of(lexeme, layer) as usize;
                    ReferenceValue::Frequency(counts.and_then(|(_, counts)| counts.get(string)).copied().unwrap_or(0))
                }
            })
        };
        self.conditions.constraints.iter().all(|constraint| constraint.holds(&value))
    }
}

/// The expected number of tokens of a target without a maximum.
const TARGET_TOKENS: f64 = 20.0;

/// The first position at or after another where a structure starts or the document ends.
fn next_boundary(segment: &Segment, structure: Structure, tokens: &Range<u32>, position: u32) -> u32 {
    match structure {
        Structure::Sentence => next_bit(segment.sentence_bits(), position, tokens.end).unwrap_or(tokens.end),
        Structure::Paragraph => {
            segment.paragraphs().next_from(position).map_or(tokens.end, |next| next.min(tokens.end))
        }
        Structure::Document if position <= tokens.start => tokens.start,
        // Spans are targets of their own.
        Structure::Document | Structure::Span(_) => tokens.end,
    }
}

impl TargetFinder<'_> {
    /// Finds all matches in a document, unless that was the last one.
    fn find(&mut self, document: u32, tokens: &Range<u32>) {
        if self.document == Some(document) {
            return;
        }
        self.document = Some(document);
        let matches = &mut self.matches;
        matches.reset(tokens);
        let _ = self.finder.find(document..document + 1, &mut |start, end| {
            matches.add(start, end);
            ControlFlow::Continue(())
        });
        matches.complete();
    }
}
