//! What a query says, as a tree. [`super::parse`] makes it, `Display` prints its canonical text, the
//! engine and the oracle evaluate it.
//!
//! # What it means
//!
//! A *match* is a run of one or more tokens of one document that the [`Pattern`] describes. A *hit* is a
//! match that fulfils every [`Restriction`] and every [`Constraint`]. From each position at most one hit
//! begins, namely the shortest ([`MatchRule::Shortest`]); hits are listed from left to right and may overlap.
//! Matches may cross sentences and paragraphs unless `within <s/>` forbids it, but never documents.

pub use super::attribute::{ATTRIBUTES, Attribute, Feature};
use crate::filter::Filter;
use crate::syntax::{Logic, Span, ValueMatcher};

/// A whole query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// What the tokens of a hit look like.
    pub pattern: Pattern,
    /// Where a hit must lie and what it must contain; all of them hold.
    pub restrictions: Vec<Restriction>,
    /// What labelled tokens have to do with each other; all of them hold.
    pub constraints: Vec<Constraint>,
}

/// A run of tokens, described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The description.
    pub kind: PatternKind,
    /// Where it stands in the query.
    pub span: Span,
}

/// The ways to describe a run of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternKind {
    /// `[]`: any one token.
    Any,
    /// `[lemma="go" & tag!="VERB"]`, `"going"`, `going`: one token with properties.
    Token(Logic<TokenTest>),
    /// Two or more, one behind the other.
    Sequence(Vec<Pattern>),
    /// Two or more, of which one is there.
    Alternatives(Vec<Pattern>),
    /// `?`, `*`, `+`, `{n}`, `{m,n}`, `{m,}`: the same so many times.
    Repeat {
        /// What is repeated: at least one token can match it, an anchor alone is refused.
        of: Box<Pattern>,
        /// At least so often.
        at_least: u32,
        /// At most so often; without a number as far as the document goes.
        at_most: Option<u32>,
    },
    /// `a:[…]`: one token that constraints can speak of.
    Labelled {
        /// The name, unique on every way through the query.
        label: String,
        /// [`PatternKind::Any`] or [`PatternKind::Token`].
        token: Box<Pattern>,
    },
    /// `<s>`: no token, but a place: a structure begins here.
    Start(Structure),
    /// `</s>`: no token, but a place: a structure ends here.
    End(Structure),
    /// `<s/>`: all tokens of one structure.
    Whole(Region),
}

/// A test of one property of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenTest {
    /// The property.
    pub attribute: Attribute,
    /// `!=`, `!==`: it must be something else.
    pub negated: bool,
    /// What it must be.
    pub value: ValueMatcher,
    /// Where the test stands in the query.
    pub span: Span,
}

/// What a corpus is divided into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Structure {
    /// `<s>`
    Sentence,
    /// `<p>`
    Paragraph,
    /// `<doc>`
    Document,
}

/// The structures with their names.
pub const STRUCTURES: &[(Structure, &str)] =
    &[(Structure::Sentence, "s"), (Structure::Paragraph, "p"), (Structure::Document, "doc")];

impl Structure {
    /// The structure of a name.
    pub fn named(name: &str) -> Option<Structure> {
        STRUCTURES.iter().find(|(_, known)| *known == name).map(|(structure, _)| *structure)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        STRUCTURES.iter().find(|(structure, _)| *structure == self).map_or("", |(_, name)| name)
    }
}

/// `<s/>`, `<doc site="…"/>`: structures, perhaps only some. Only documents have fields to choose by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// What kind.
    pub structure: Structure,
    /// Which documents.
    pub filter: Option<Filter>,
}

/// `within`, `containing`: what else holds of a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restriction {
    /// How hit and target lie to each other.
    pub relation: Inclusion,
    /// `!within`, `!containing`: it must not be so.
    pub negated: bool,
    /// What the hit lies in, or what it contains.
    pub target: Target,
    /// Where the restriction stands in the query.
    pub span: Span,
}

/// How a hit and the target of a restriction lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inclusion {
    /// Every token of the hit belongs to one target.
    Within,
    /// Every token of one target belongs to the hit.
    Containing,
}

/// The target of a restriction: structures, or the matches of a pattern (all of them, not only the
/// shortest).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Structures.
    Region(Region),
    /// Matches.
    Pattern(Pattern),
}

/// `a.lemma = b.lemma`: what a labelled token has to do with another or with a text. A hit whose way
/// through the query leaves a label out does not fulfil it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    /// A property of a labelled token.
    pub left: Reference,
    /// `!=`
    pub negated: bool,
    /// What it must be.
    pub right: Comparand,
    /// Where the constraint stands in the query.
    pub span: Span,
}

/// `a.lemma`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The label.
    pub label: String,
    /// The property of its token.
    pub attribute: Attribute,
}

/// The right side of a constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparand {
    /// The same text as that of another token.
    Reference(Reference),
    /// A text.
    Value(ValueMatcher),
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
