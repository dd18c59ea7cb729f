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
pub use super::operator::{
    Alternatives, AnyToken, Boundary, Comparand, Constraint, Labelled, Pattern, PatternKind, Reference, Region, Repeat,
    Restriction, RestrictionKind, STRUCTURES, Sequence, Side, Structure, Target, TokenPattern, TokenTest,
};
use serde::Serialize;
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

/// The rule that chooses hits among the matches that start at one position. Every answer states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchRule {
    /// The shortest match that fulfils restrictions and constraints.
    #[default]
    Shortest,
    /// The longest such match.
    Longest,
    /// All such matches: several hits may start at one position, the shortest first.
    All,
}
