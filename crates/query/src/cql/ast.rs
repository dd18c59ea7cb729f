//! The syntax tree of a query. [`super::parse`] makes it, `Display` prints its canonical text, the
//! engine and the oracle evaluate it. The nodes are defined in the files of their operators.
//!
//! # Semantics
//!
//! A *match* is a run of one or more tokens of one document that the [`Pattern`] describes. A *hit* is a
//! match that fulfils every [`Restriction`] and every [`Constraint`]. From each position at most one hit
//! starts, namely the shortest ([`MatchRule::Shortest`]); hits are listed from left to right and may overlap.
//! Matches may cross sentences and paragraphs unless `within <s/>` forbids it, but never documents.

pub use super::attribute::{ATTRIBUTES, Attribute, Feature};
pub use super::name::Name;
pub use super::operator::{
    Alternatives, AnyToken, Boundary, Comparand, Comparator, Constraint, Labelled, Pattern, PatternKind, Reference,
    Region, Repeat, Restriction, RestrictionKind, STRUCTURES, Sequence, Side, SpanTest, Structure, Target,
    TokenPattern, TokenTest,
};
use crate::filter::Filter;
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
}

impl Query {
    /// Returns true if every hit is one token, whatever its position and its neighbours.
    pub fn is_single_token(&self) -> bool {
        matches!(self.pattern.kind, PatternKind::TokenPattern(_) | PatternKind::AnyToken(_))
            && self.restrictions.is_empty()
            && self.constraints.is_empty()
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
        Ok(())
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
