//! What else must hold of a hit: `within`, `containing`, constraints on labelled tokens.

use super::Limits;
use super::find::{MatchContext, NfaRun, RankTest};
use super::nfa::{Assertion, Nfa};
use super::set::{LexemeSet, layer_of};
use crate::cql::ast::{Comparand, Constraint, Inclusion, Query, Reference, Region, Structure, Target};
use crate::filter::Filter;
use crate::syntax::{CompiledMatcher, SyntaxError};
use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use tidings_index::Segment;
use tidings_index::codec::BitSet;
use tidings_index::lexicon::Lexicon;

/// The restrictions and constraints of a query, compiled once.
#[derive(Debug)]
pub(crate) struct HitConditions {
    rules: Vec<Compiled>,
    constraints: Vec<(Constraint, Option<CompiledMatcher>)>,
}

#[derive(Debug)]
struct Compiled {
    relation: Inclusion,
    negated: bool,
    target: CompiledTarget,
}

#[derive(Debug)]
enum CompiledTarget {
    Region(Region),
    Pattern { nfa: Nfa, sets: Vec<LexemeSet> },
}

impl HitConditions {
    pub(crate) fn new(query: &Query, lexicon: &Lexicon) -> Result<HitConditions, SyntaxError> {
        let mut rules = Vec::new();
        for restriction in &query.restrictions {
            let target = match &restriction.target {
                Target::Region(region) => CompiledTarget::Region(region.clone()),
                Target::Pattern(pattern) => {
                    let nfa = Nfa::new(pattern)?;
                    let sets = super::sets_of(&nfa, lexicon)?;
                    CompiledTarget::Pattern { nfa, sets }
                }
            };
            rules.push(Compiled { relation: restriction.relation, negated: restriction.negated, target });
        }
        let mut constraints = Vec::new();
        for constraint in &query.constraints {
            let matcher = match &constraint.right {
                Comparand::Value(wanted) => Some(wanted.compile()?),
                Comparand::Reference(_) => None,
            };
            constraints.push((constraint.clone(), matcher));
        }
        Ok(HitConditions { rules, constraints })
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.constraints.is_empty()
    }

    /// Whether every hit lies in one sentence.
    fn within_sentence(&self) -> bool {
        self.rules.iter().any(|rule| {
            let region = Region { structure: Structure::Sentence, filter: None };
            rule.relation == Inclusion::Within
                && !rule.negated
                && matches!(&rule.target, CompiledTarget::Region(target) if *target == region)
        })
    }
}

/// Restrictions on the hits of one segment.
pub(crate) struct Restrictions<'a> {
    rules: &'a HitConditions,
    lexicon: &'a Lexicon,
    targets: Vec<Bound<'a>>,
    within_sentence: bool,
}

/// A restriction that `within <s/>` does not cover already.
struct Bound<'a> {
    rule: &'a Compiled,
    /// For regions with a filter: the documents.
    admitted: Option<BitSet>,
    /// For patterns: tests, and the matches in the document that was looked at last.
    matches: Option<RefCell<Matches<'a>>>,
}

struct Matches<'a> {
    nfa: &'a Nfa,
    tests: Vec<RankTest<'a>>,
    admitted: Vec<Option<BitSet>>,
    run: NfaRun<'a>,
    document: Option<u32>,
    /// For each token of the document, the nearest end of a match that begins there.
    nearest: Vec<u32>,
    /// For each token, the farthest end of a match that begins there or before.
    farthest: Vec<u32>,
}

/// The documents that a filter of the query admits; removed ones are no matter, hits in them do not count anyway.
pub(crate) fn admitted_bits(segment: &Segment, filter: &Filter) -> BitSet {
    match filter.compile() {
        Ok(filter) => super::scope::admitted(segment, filter.condition()),
        Err(_) => BitSet::new(0),
    }
}

impl<'a> Restrictions<'a> {
    pub(crate) fn new(
        rules: &'a HitConditions,
        lexicon: &'a Lexicon,
        segment: &'a Segment,
        limits: &Limits<'a>,
    ) -> Restrictions<'a> {
        let within_sentence = rules.within_sentence();
        let is_covered = |rule: &Compiled| {
            let plain = matches!(&rule.target, CompiledTarget::Region(Region { structure, filter: None })
                if matches!(structure, Structure::Sentence | Structure::Document));
            // A hit never leaves its document.
            let is_document =
                matches!(&rule.target, CompiledTarget::Region(region) if region.structure == Structure::Document);
            plain && rule.relation == Inclusion::Within && !rule.negated && (within_sentence || is_document)
        };
        let targets = rules.rules.iter().filter(|rule| !is_covered(rule)).map(|rule| match &rule.target {
            CompiledTarget::Region(region) => {
                let admitted = region.filter.as_ref().map(|filter| admitted_bits(segment, filter));
                Bound { rule, admitted, matches: None }
            }
            CompiledTarget::Pattern { nfa, sets } => {
                let admitted = nfa.assertions.iter().map(|assertion| match assertion {
                    Assertion::Admitted(filter) => Some(admitted_bits(segment, filter)),
                    _ => None,
                });
                let matches = Matches {
                    nfa,
                    tests: sets.iter().map(|set| RankTest::new(set, segment, false)).collect(),
                    admitted: admitted.collect(),
                    run: NfaRun::new(nfa, limits),
                    document: None,
                    nearest: Vec::new(),
                    farthest: Vec::new(),
                };
                Bound { rule, admitted: None, matches: Some(RefCell::new(matches)) }
            }
        });
        Restrictions { targets: targets.collect(), rules, lexicon, within_sentence }
    }

    /// Whether a limit was hit while something was looked for.
    pub(crate) fn is_over(&self) -> bool {
        self.targets.iter().filter_map(|bound| bound.matches.as_ref()).any(|matches| matches.borrow().run.is_over())
    }

    pub(crate) fn within_sentence(&self) -> bool {
        self.within_sentence
    }

    pub(crate) fn sentence_bound(&self) -> bool {
        self.within_sentence
    }

    pub(crate) fn need_document(&self) -> bool {
        !self.targets.is_empty()
    }

    pub(crate) fn has_constraints(&self) -> bool {
        !self.rules.constraints.is_empty()
    }

    /// Whether all restrictions but `within <s/>` hold of a hit in a document.
    pub(crate) fn hold(&self, segment: &Segment, document: u32, tokens: &Range<u32>, hit: Range<u32>) -> bool {
        self.targets.iter().all(|bound| {
            let holds = match (&bound.rule.target, &bound.matches) {
                (_, Some(matches)) => {
                    let mut matches = matches.borrow_mut();
                    matches.look_at(segment, document, tokens);
                    matches.hold(bound.rule.relation, tokens.start, &hit)
                }
                (CompiledTarget::Region(region), None) => {
                    bound.admitted.as_ref().is_none_or(|admitted| admitted.get(document))
                        && region_holds(segment, region.structure, bound.rule.relation, tokens, &hit)
                }
                (CompiledTarget::Pattern { .. }, None) => false,
            };
            holds != bound.rule.negated
        })
    }

    /// Whether the constraints hold of labelled tokens.
    pub(crate) fn constraints_hold(&self, segment: &Segment, names: &[String], labels: &[Option<u32>]) -> bool {
        let text = |reference: &Reference| {
            let label = names.iter().position(|name| *name == reference.label)?;
            let position = labels.get(label).copied().flatten()?;
            let attribute = reference.attribute;
            Some(attribute.value(self.lexicon.text(segment.lexeme_at(position), layer_of(attribute))))
        };
        self.rules.constraints.iter().all(|(constraint, matcher)| {
            let Some(left) = text(&constraint.left) else { return false };
            let attribute = constraint.left.attribute;
            let same = match (&constraint.right, matcher) {
                (Comparand::Reference(right), _) => text(right).map(|right| attribute.agrees(&left, &right)),
                (Comparand::Value(_), Some(matcher)) => Some(attribute.fits(matcher, &left)),
                (Comparand::Value(_), None) => None,
            };
            same.is_some_and(|same| same != constraint.negated)
        })
    }
}

fn region_holds(
    segment: &Segment,
    structure: Structure,
    relation: Inclusion,
    tokens: &Range<u32>,
    hit: &Range<u32>,
) -> bool {
    // The next place behind `position` where a structure begins, or the end of the document.
    let next_border = |position: u32| match structure {
        Structure::Sentence => {
            tidings_index::codec::next_bit(segment.sentence_bits(), position, tokens.end).unwrap_or(tokens.end)
        }
        Structure::Paragraph => {
            segment.paragraphs().next_from(position).map_or(tokens.end, |next| next.min(tokens.end))
        }
        Structure::Document if position <= tokens.start => tokens.start,
        Structure::Document => tokens.end,
    };
    match relation {
        Inclusion::Within => next_border(hit.start + 1) >= hit.end,
        Inclusion::Containing => {
            let start = next_border(hit.start);
            start < hit.end && next_border(start + 1) <= hit.end
        }
    }
}

impl Matches<'_> {
    /// Finds all matches of the target in a document.
    fn look_at(&mut self, segment: &Segment, document: u32, tokens: &Range<u32>) {
        if self.document == Some(document) {
            return;
        }
        self.document = Some(document);
        self.nearest.clear();
        self.farthest.clear();
        let context = MatchContext {
            segment,
            column: segment.column(),
            nfa: self.nfa,
            tests: &self.tests,
            admitted: &self.admitted,
            document,
            tokens: tokens.clone(),
        };
        let mut farthest = 0;
        for start in tokens.clone() {
            let mut nearest = u32::MAX;
            self.run.run(&context, start, tokens.end, &mut |end| {
                nearest = nearest.min(end);
                farthest = farthest.max(end);
                ControlFlow::Continue(())
            });
            self.nearest.push(nearest);
            self.farthest.push(farthest);
        }
    }

    fn hold(&self, relation: Inclusion, first: u32, hit: &Range<u32>) -> bool {
        match relation {
            Inclusion::Within => self.farthest[(hit.start - first) as usize] >= hit.end,
            Inclusion::Containing => {
                let inside = &self.nearest[(hit.start - first) as usize..(hit.end - first) as usize];
                inside.iter().any(|end| *end <= hit.end)
            }
        }
    }
}
