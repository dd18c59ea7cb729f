//! The syntax tree of a query. [`super::parse`] makes it, `Display` prints its canonical text, the
//! engine and the oracle evaluate it. The nodes are defined in the files of their operators.
//!
//! # Semantics
//!
//! A *match* is a run of one or more tokens of one document that the [`Pattern`] describes. A *hit* is a
//! match that fulfils every [`Restriction`] and every [`Constraint`]. From each position at most one hit
//! starts, namely the shortest ([`MatchRule::Shortest`]); hits are listed from left to right and may overlap.
//! Matches may cross sentences and paragraphs unless `within <s/>` forbids it, but never documents.

use super::MAX_TOKENS;
pub use super::attribute::{ATTRIBUTES, Attribute, Feature};
pub use super::name::Name;
use super::operator::too_large;
pub use super::operator::{
    Alternatives, AnyToken, Boundary, Comparand, Comparator, Constraint, Expansion, Labelled, LookAround, Meet,
    MeetWindow, Nested, Pattern, PatternKind, Position, Quantity, Reach, Reference, Region, Repeat, Restriction,
    RestrictionKind, STRUCTURES, Sequence, Side, SpanTest, Structure, Target, TokenPattern, TokenTest,
};
use crate::filter::Filter;
use crate::syntax::SyntaxError;
use std::fmt;

/// A whole query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The pattern of tokens.
    pub pattern: Pattern,
    /// Conditions on matches as a whole; all of them hold.
    pub restrictions: Vec<Restriction>,
    /// Conditions on labelled tokens; all of them hold.
    pub constraints: Vec<Constraint>,
    /// How far hits are widened at the end.
    pub expansion: Option<Expansion>,
    /// The number of hits that are kept.
    pub cut: Option<u64>,
}

impl Query {
    /// The query of a pattern alone.
    pub fn of(pattern: Pattern) -> Query {
        Query { pattern, restrictions: Vec::new(), constraints: Vec::new(), expansion: None, cut: None }
    }

    /// Rejects ambiguous or unknown labels, patterns without tokens, and queries that unroll into too many states; returns
    /// the number of NFA states.
    pub(crate) fn check(&self) -> Result<u64, SyntaxError> {
        let mut labels = Vec::new();
        self.pattern.collect_labels(false, &mut labels)?;
        let mut states = self.pattern.states()?;
        for restriction in &self.restrictions {
            states += restriction.check()?;
        }
        if states > MAX_TOKENS {
            return Err(too_large(self.pattern.span));
        }
        if !self.pattern.takes_tokens() {
            return Err(SyntaxError::new(self.pattern.span, "the query describes a boundary but no token")
                .help("put [] next to it for any token"));
        }
        self.constraints.iter().try_for_each(|constraint| constraint.check(&labels))?;
        Ok(states)
    }

    /// Returns true if every hit is one token, whatever its position and its neighbours.
    pub fn is_single_token(&self) -> bool {
        matches!(self.pattern.kind, PatternKind::TokenPattern(_) | PatternKind::AnyToken(_))
            && self.restrictions.is_empty()
            && self.constraints.is_empty()
            && self.expansion.is_none()
            && self.cut.is_none()
    }

    /// Returns true if a token of the pattern has a label, or it is that of the first or the last token.
    pub fn has_label(&self, label: &str) -> bool {
        let mut labels = Vec::new();
        let _ = self.pattern.collect_labels(false, &mut labels);
        ["match", "matchend"].contains(&label) || labels.iter().any(|known| known == label)
    }

    /// The hits that have a hit of another query near them, or none if `negated`, up to some tokens before or behind.
    pub fn near(self, other: &Query, negated: bool, tokens: u32) -> Query {
        let part = |query: Query| match query.restrictions.is_empty() && query.constraints.is_empty() {
            true => query.pattern,
            false => {
                let span = query.pattern.span;
                Pattern::new(Nested { query: Box::new(Query { expansion: None, cut: None, ..query }) }, span)
            }
        };
        let distance = i32::try_from(tokens).unwrap_or(i32::MAX);
        let (expansion, cut, span) = (self.expansion, self.cut, self.pattern.span);
        let window = MeetWindow::Tokens(-distance, distance);
        let meet = Meet { of: Box::new(part(self)), with: Box::new(part(other.clone())), negated, window };
        Query { expansion, cut, ..Query::of(Pattern::new(meet, span)) }
    }

    /// The filters of documents in structures such as `<doc site="…"/>`.
    pub fn filters(&self) -> Vec<&Filter> {
        let mut filters = Vec::new();
        self.pattern.collect_filters(&mut filters);
        self.restrictions.iter().for_each(|restriction| restriction.collect_filters(&mut filters));
        filters
    }
}

/// The canonical text, which answers quote, caches compare and permalinks carry. It is parsed back as the same query.
impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.pattern)?;
        for restriction in &self.restrictions {
            write!(f, " {restriction}")?;
        }
        for (index, constraint) in self.constraints.iter().enumerate() {
            write!(f, "{}{constraint}", if index == 0 { " :: " } else { " & " })?;
        }
        if let Some(expansion) = &self.expansion {
            write!(f, " {expansion}")?;
        }
        match self.cut {
            Some(hits) => write!(f, " cut {hits}"),
            None => Ok(()),
        }
    }
}

choices! {
    /// The choice among matches that begin at one position. Every answer states it.
    pub enum MatchRule {
        /// The shortest that fulfils restrictions and constraints.
        Shortest = "shortest",
        /// The longest that does.
        Longest = "longest",
        /// All that do: several hits may begin at one position, the shortest first.
        All = "all",
    }
}

impl Default for MatchRule {
    fn default() -> MatchRule {
        MatchRule::ALL[0]
    }
}
