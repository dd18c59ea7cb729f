//! Restrictions: operators that follow the pattern and relate a match to a target.
//!
//! This file has what `within`, `containing` and their like share; each has a file of its own.

use super::constraint::{Condition, Constraint, parse_condition};
use super::{Pattern, PatternKind, Region, RestrictionKind, Structure, parse_pattern};
use crate::cql::foreign::check_target;
use crate::filter::Filter;
use crate::oracle::{Text, TokenSpan};
use crate::syntax::{Cursor, Span, SyntaxError};
use std::fmt;
use std::ops::Range;
use tidings_index::Segment;

/// The behaviour of a restriction besides parsing and printing.
pub(crate) trait RestrictionOperator: Sync {
    /// The oracle: whether a hit and one target are in this relation.
    fn relates(&self, hit: TokenSpan, target: TokenSpan) -> bool;

    /// The engine, for structures: whether a hit is in this relation to one of them. `next_boundary` returns the first
    /// position at or after another where a structure starts or the document ends.
    fn holds_for_structures(&self, hit: &Range<u32>, next_boundary: &dyn Fn(u32) -> u32) -> bool;

    /// The engine, for patterns: whether a hit is in this relation to one of the matches in its document.
    fn holds_for_matches(&self, hit: &Range<u32>, matches: &TargetMatches) -> bool;

    /// Returns true if a hit never crosses the border of its target, so that the search can stop there.
    fn keeps_inside(&self) -> bool {
        false
    }
}

/// The matches of a target in one document.
#[derive(Debug, Default)]
pub(crate) struct TargetMatches {
    /// The first token of the document.
    pub(crate) first: u32,
    /// For each token of the document, the nearest end of a match that starts there; `u32::MAX` if there is none.
    pub(crate) nearest_end: Vec<u32>,
    /// For each token of the document, the farthest end of a match that starts there or before.
    pub(crate) farthest_end: Vec<u32>,
}

impl TargetMatches {
    /// Begins with the matches of a document.
    pub(crate) fn reset(&mut self, tokens: &Range<u32>) {
        self.first = tokens.start;
        self.nearest_end.clear();
        self.nearest_end.resize(tokens.len(), u32::MAX);
        self.farthest_end.clear();
        self.farthest_end.resize(tokens.len(), 0);
    }

    /// Adds a match. A damaged index may have matches elsewhere.
    pub(crate) fn add(&mut self, start: u32, end: u32) {
        let Some(at) = start.checked_sub(self.first).map(|at| at as usize) else { return };
        if let (Some(nearest), Some(farthest)) = (self.nearest_end.get_mut(at), self.farthest_end.get_mut(at)) {
            *nearest = end.min(*nearest);
            *farthest = end.max(*farthest);
        }
    }

    /// Ends with the matches of a document.
    pub(crate) fn complete(&mut self) {
        let mut farthest = 0;
        for end in &mut self.farthest_end {
            farthest = farthest.max(*end);
            *end = farthest;
        }
    }

    /// The index of a token in the lists.
    pub(crate) fn index(&self, position: u32) -> usize {
        (position - self.first) as usize
    }
}

/// `within A`, `containing A`: a condition on a match as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restriction {
    /// The operator.
    pub kind: RestrictionKind,
    /// `!within`, `!containing`
    pub negated: bool,
    /// The target.
    pub target: Target,
    /// The text it was read from.
    pub span: Span,
}

/// The target of a restriction: structures, or the matches of a pattern (all of them, not only the shortest).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Structures.
    Region(Region),
    /// Matches.
    Pattern(Pattern),
    /// `within 3 s`, `within 5 words`: at most this many structures or, without a structure, tokens in a row.
    AtMost(u32, Option<Structure>),
}

/// Parses the restrictions and constraints that follow a pattern, in any order: CQP has `:: … within s`, Sketch Engine
/// `… within <s/> & 1.lemma = 2.lemma`.
pub(crate) fn parse_conditions(cursor: &mut Cursor<'_>) -> Result<(Vec<Restriction>, Vec<Constraint>), SyntaxError> {
    let (mut restrictions, mut constraints) = (Vec::new(), Vec::new());
    loop {
        if let Some(restriction) = parse_restriction(cursor)? {
            restrictions.push(restriction);
        } else if cursor.eat("::") || cursor.eat("&") {
            match parse_condition(cursor)? {
                Condition::Constraint(constraint) => constraints.push(constraint),
                Condition::Document(restriction) => restrictions.push(restriction),
            }
        } else {
            return Ok((restrictions, constraints));
        }
    }
}

/// The engine: the tokens of the structure that a token lies in.
pub(crate) fn structure_range(
    segment: &Segment,
    structure: Structure,
    document: &Range<u32>,
    position: u32,
) -> Range<u32> {
    match structure {
        Structure::Sentence => segment.sentence_of(position, document),
        Structure::Paragraph => {
            let mut start = document.start;
            segment.paragraphs().pieces(document.start, position + 1, |piece| start = *piece.last().unwrap_or(&start));
            let end = segment.paragraphs().next_from(position + 1).unwrap_or(document.end);
            start..end.min(document.end)
        }
        Structure::Document | Structure::Span(_) => document.clone(),
    }
}

/// The keyword of a restriction that comes next. In quotes it is an ordinary word.
pub(super) fn peek_keyword(cursor: &mut Cursor<'_>) -> Option<RestrictionKind> {
    let name = cursor.peek_name();
    RestrictionKind::ALL.iter().copied().find(|kind| kind.keyword() == name)
}

/// The keywords of all restrictions, for error messages.
pub(crate) fn keywords(separator: &str) -> String {
    RestrictionKind::ALL.iter().map(|kind| kind.keyword()).collect::<Vec<_>>().join(separator)
}

/// Parses a restriction if one comes next.
fn parse_restriction(cursor: &mut Cursor<'_>) -> Result<Option<Restriction>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    let negated = cursor.eat("!");
    let Some(kind) = peek_keyword(cursor) else {
        return if negated { Err(cursor.unexpected(&format!("{} after !", keywords(" or ")))) } else { Ok(None) };
    };
    cursor.take_name();
    let target = parse_target(cursor, kind)?;
    Ok(Some(Restriction { kind, negated, target, span: cursor.span_from(start) }))
}

fn parse_target(cursor: &mut Cursor<'_>, kind: RestrictionKind) -> Result<Target, SyntaxError> {
    // CQP writes `within s`.
    let name = cursor.peek_name();
    if let Some(structure) = Structure::named(name) {
        cursor.name("a structure")?;
        return Ok(Target::Region(Region::of(structure)));
    }
    if let Some(target) = parse_number_of(cursor, kind)? {
        return Ok(target);
    }
    let span = Span::new(cursor.at(), cursor.at() + name.len());
    check_target(name, &cursor.rest()[name.len()..], kind.keyword(), span)?;
    let pattern = parse_pattern(cursor)?;
    Ok(match pattern.kind {
        PatternKind::Region(region) => Target::Region(region),
        _ => Target::Pattern(pattern),
    })
}

/// `3 s`, `5 words`, `5`.
fn parse_number_of(cursor: &mut Cursor<'_>, kind: RestrictionKind) -> Result<Option<Target>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    let digits = cursor.peek_name();
    if digits.is_empty()
        || !digits.bytes().all(|byte| byte.is_ascii_digit())
        || cursor.rest()[digits.len()..].starts_with(':')
    {
        return Ok(None);
    }
    let number = cursor.number()?;
    let unit = cursor.peek_name();
    let structure = Structure::named(unit);
    if structure.is_some() || ["w", "word", "words", "token", "tokens"].contains(&unit) {
        cursor.take_name();
    }
    let span = cursor.span_from(start);
    if !kind.operator().keeps_inside() {
        let error = SyntaxError::new(span, format!("{} has no number of structures", kind.keyword()));
        return Err(error.help("only within has one, as in within 3 s"));
    }
    if number == 0 {
        return Err(SyntaxError::new(span, "nothing lies within 0").help("write within 1 s or within 5 words"));
    }
    Ok(Some(Target::AtMost(number, structure)))
}

impl fmt::Display for Restriction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} ", if self.negated { "!" } else { "" }, self.kind.keyword())?;
        match &self.target {
            Target::Region(region) => write!(f, "{region}"),
            Target::Pattern(pattern) => write!(f, "{pattern}"),
            Target::AtMost(number, Some(structure)) => write!(f, "{number} {}", structure.name()),
            Target::AtMost(number, None) => write!(f, "{number} words"),
        }
    }
}

impl Restriction {
    /// Checks the target pattern, whose labels no constraint could refer to; returns the number of its NFA states.
    pub(crate) fn check(&self) -> Result<u64, SyntaxError> {
        let Target::Pattern(pattern) = &self.target else { return Ok(0) };
        let mut labels = Vec::new();
        pattern.collect_labels(false, &mut labels)?;
        if let Some(label) = labels.first() {
            let message = format!("the label {label} is inside a restriction, where no constraint can refer to it");
            return Err(SyntaxError::new(self.span, message));
        }
        pattern.states()
    }

    /// Collects the filters of documents in the target.
    pub(crate) fn collect_filters<'r>(&'r self, filters: &mut Vec<&'r Filter>) {
        match &self.target {
            Target::Region(region) => filters.extend(&region.filter),
            Target::Pattern(pattern) => pattern.collect_filters(filters),
            Target::AtMost(..) => {}
        }
    }

    /// The oracle.
    pub(crate) fn oracle_holds(&self, text: &Text<'_>, hit: TokenSpan) -> bool {
        let targets = match &self.target {
            Target::Region(region) => text.document.region(region),
            Target::Pattern(pattern) => text.matches(pattern),
            Target::AtMost(number, None) => return ((hit.1 - hit.0) <= *number as usize) != self.negated,
            Target::AtMost(number, Some(structure)) => {
                let all = text.document.structures(*structure);
                let first = all.iter().position(|(start, end)| (*start..*end).contains(&hit.0));
                let last = all.iter().position(|(start, end)| (*start..*end).contains(&(hit.1 - 1)));
                let lies_in = first.zip(last).is_some_and(|(first, last)| last - first < *number as usize);
                return lies_in != self.negated;
            }
        };
        targets.iter().any(|target| self.kind.operator().relates(hit, *target)) != self.negated
    }
}
