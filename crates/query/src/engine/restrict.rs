//! Restrictions (`within`, `containing`) and constraints on labelled tokens, evaluated on matches of one segment.
//!
//! What each operator means is in its file, [`crate::cql`]; this file compiles targets and finds their matches.

use super::layers;
use super::lexeme_test::LexemeTest;
use super::nfa::{Assertion, Nfa, SpanPattern};
use super::nfa_run::{MatchContext, NfaRun};
use super::set::{LexemeSet, SetBuilder, layer_of};
use super::spans::{self, DocumentSpans};
use super::{Limits, Result};
use crate::cql::ast::{Comparand, Query, Reference, Region, RestrictionKind, Structure, Target};
use crate::cql::operator::{CompiledConstraint, TargetMatches};
use crate::filter::Filter;
use crate::syntax::SyntaxError;
use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use tidings_index::codec::{BitSet, next_bit};
use tidings_index::lexicon::Lexicon;
use tidings_index::{Segment, Snapshot};

/// The restrictions and constraints of a query, compiled once for all segments.
#[derive(Debug)]
pub(crate) struct HitConditions {
    restrictions: Vec<CompiledRestriction>,
    constraints: Vec<CompiledConstraint>,
}

#[derive(Debug)]
struct CompiledRestriction {
    kind: RestrictionKind,
    negated: bool,
    target: CompiledTarget,
}

#[derive(Debug)]
enum CompiledTarget {
    Region(Region),
    Spans(SpanPattern),
    Pattern { nfa: Nfa, sets: Vec<LexemeSet> },
}

impl HitConditions {
    pub(crate) fn new(query: &Query, snapshot: &Snapshot, builder: &mut SetBuilder<'_>) -> Result<HitConditions> {
        let mut restrictions = Vec::new();
        for restriction in &query.restrictions {
            let target = match &restriction.target {
                Target::Region(region) => match region.spans() {
                    Some(spans) => {
                        spans::check(std::slice::from_ref(&spans), snapshot)?;
                        CompiledTarget::Spans(spans)
                    }
                    None => CompiledTarget::Region(region.clone()),
                },
                Target::Pattern(pattern) => {
                    let nfa = Nfa::new(pattern)?;
                    spans::check(&nfa.spans, snapshot)?;
                    let sets = builder.sets_of(&nfa)?;
                    CompiledTarget::Pattern { nfa, sets }
                }
            };
            restrictions.push(CompiledRestriction { kind: restriction.kind, negated: restriction.negated, target });
        }
        for constraint in &query.constraints {
            let right = match &constraint.right {
                Comparand::Reference(reference) => Some(reference),
                Comparand::Value(_) => None,
            };
            for reference in [Some(&constraint.left), right].into_iter().flatten() {
                layers::check(reference.attribute, constraint.span, snapshot.lexicon())?;
            }
        }
        let constraints = query.constraints.iter().map(|constraint| constraint.compile());
        let constraints = constraints.collect::<std::result::Result<_, SyntaxError>>()?;
        Ok(HitConditions { restrictions, constraints })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.restrictions.is_empty() && self.constraints.is_empty()
    }
}

impl CompiledRestriction {
    /// Returns true if every hit lies inside one structure of a kind, in any document.
    fn keeps_inside(&self, structure: Structure) -> bool {
        let is_plain = matches!(&self.target, CompiledTarget::Region(region) if *region == Region::of(structure));
        is_plain && !self.negated && self.kind.operator().keeps_inside()
    }
}

/// The restrictions and constraints of a query, bound to one segment.
pub(crate) struct Restrictions<'a> {
    conditions: &'a HitConditions,
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
    nfa: &'a Nfa,
    tests: Vec<LexemeTest<'a>>,
    admitted: Vec<Option<BitSet>>,
    spans: Vec<RefCell<DocumentSpans<'a>>>,
    run: NfaRun,
    /// The document of `matches`.
    document: Option<u32>,
    matches: TargetMatches,
}

/// The documents that a filter of the query admits. Deleted documents may be among them: no hit in them counts.
pub(crate) fn admitted_bits(segment: &Segment, filter: &Filter) -> BitSet {
    match filter.compile() {
        Ok(filter) => super::scope::admitted(segment, filter.condition()),
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
                    let spans = DocumentSpans::new(segment, spans);
                    let target = SpanTarget { spans, document: None, matches: TargetMatches::default() };
                    BoundTarget::Spans(Box::new(RefCell::new(target)))
                }
                CompiledTarget::Region(Region { structure, filter, .. }) => BoundTarget::Region {
                    structure: *structure,
                    admitted: filter.as_ref().map(|filter| admitted_bits(segment, filter)),
                },
                CompiledTarget::Pattern { nfa, sets } => {
                    BoundTarget::Pattern(Box::new(RefCell::new(TargetFinder::new(nfa, sets, segment, limits))))
                }
            };
            BoundRestriction { restriction, target }
        });
        Restrictions { bound: bound.collect(), conditions, lexicon, within_sentence }
    }

    /// Returns true if a limit was reached while a target was searched.
    pub(crate) fn is_over(&self) -> bool {
        self.bound.iter().any(|bound| match &bound.target {
            BoundTarget::Pattern(finder) => finder.borrow().run.is_over(),
            BoundTarget::Region { .. } | BoundTarget::Spans(_) => false,
        })
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
                BoundTarget::Pattern(finder) => {
                    let mut finder = finder.borrow_mut();
                    finder.find(segment, document, tokens);
                    operator.holds_for_matches(&hit, &finder.matches)
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

    /// Returns true if the constraints hold of labelled tokens.
    pub(crate) fn constraints_hold(&self, segment: &Segment, names: &[String], labels: &[Option<u32>]) -> bool {
        let value = |reference: &Reference| {
            let label = names.iter().position(|name| *name == reference.label)?;
            let position = labels.get(label).copied().flatten()?;
            let attribute = reference.attribute;
            let layer = layer_of(attribute, self.lexicon);
            Some(attribute.value(self.lexicon.text(segment.lexeme_at(position), layer)))
        };
        self.conditions.constraints.iter().all(|constraint| constraint.holds(&value))
    }
}

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

impl<'a> TargetFinder<'a> {
    fn new(nfa: &'a Nfa, sets: &'a [LexemeSet], segment: &'a Segment, limits: &Limits) -> TargetFinder<'a> {
        TargetFinder {
            nfa,
            tests: sets.iter().map(|set| LexemeTest::new(set, segment, false)).collect(),
            admitted: admitted_by(segment, &nfa.assertions),
            spans: DocumentSpans::all(segment, &nfa.spans),
            run: NfaRun::new(nfa, limits),
            document: None,
            matches: TargetMatches::default(),
        }
    }

    /// Finds all matches in a document, unless that was the last one.
    fn find(&mut self, segment: &Segment, document: u32, tokens: &Range<u32>) {
        if self.document == Some(document) {
            return;
        }
        self.document = Some(document);
        self.matches.first = tokens.start;
        self.matches.nearest_end.clear();
        self.matches.farthest_end.clear();
        let context = MatchContext {
            segment,
            column: segment.column(),
            nfa: self.nfa,
            tests: &self.tests,
            admitted: &self.admitted,
            spans: &self.spans,
            document,
            tokens: tokens.clone(),
        };
        let mut farthest = 0;
        for start in tokens.clone() {
            let mut nearest = u32::MAX;
            self.run.match_ends(&context, start, tokens.end, &mut |end| {
                nearest = nearest.min(end);
                farthest = farthest.max(end);
                ControlFlow::Continue(())
            });
            self.matches.nearest_end.push(nearest);
            self.matches.farthest_end.push(farthest);
        }
    }
}
