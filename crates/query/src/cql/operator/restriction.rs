//! Restrictions: operators that follow the pattern and relate a match to a target.
//!
//! This file has what `within`, `containing` and their like share; each has a file of its own.

use super::{Pattern, PatternKind, Region, RestrictionKind, Structure, parse_pattern};
use crate::cql::foreign::check_target;
use crate::filter::Filter;
use crate::oracle::{Text, TokenSpan};
use crate::syntax::{Cursor, Span, SyntaxError};
use std::fmt;
use std::ops::Range;

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
pub(crate) fn parse_restriction(cursor: &mut Cursor<'_>) -> Result<Option<Restriction>, SyntaxError> {
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
    let span = Span::new(cursor.at(), cursor.at() + name.len());
    check_target(name, &cursor.rest()[name.len()..], kind.keyword(), span)?;
    let pattern = parse_pattern(cursor)?;
    Ok(match pattern.kind {
        PatternKind::Region(region) => Target::Region(region),
        _ => Target::Pattern(pattern),
    })
}

impl fmt::Display for Restriction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} ", if self.negated { "!" } else { "" }, self.kind.keyword())?;
        match &self.target {
            Target::Region(region) => write!(f, "{region}"),
            Target::Pattern(pattern) => write!(f, "{pattern}"),
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
        }
    }

    /// The oracle.
    pub(crate) fn oracle_holds(&self, text: &Text<'_>, hit: TokenSpan) -> bool {
        let targets = match &self.target {
            Target::Region(region) => text.document.region(region),
            Target::Pattern(pattern) => text.matches(pattern),
        };
        targets.iter().any(|target| self.kind.operator().relates(hit, *target)) != self.negated
    }
}
