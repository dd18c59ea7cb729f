//! The operators of CQL, one file each.
//!
//! A file holds everything about its operator: the node of the syntax tree, the parser, `Display` (the
//! canonical text), the static checks, the translation to the [NFA](crate::engine), the brute-force
//! evaluation for the [oracle](crate::oracle), and an [`OperatorDoc`] with examples. The oracle's function
//! never calls the engine's: the tests compare the two. The table below is the only other place that
//! knows an operator.
//!
//! # Precedence
//!
//! From the loosest to the tightest:
//!
//! 1. `:: constraint`, `within`, `containing`, `expand to` and `cut` apply to the whole pattern,
//! 2. `A | B` ([`alternative`]),
//! 3. `A B` ([`sequence`]),
//! 4. `A?`, `A*`, `A+`, `A{m,n}` ([`repeat`]), one per operand,
//! 5. `a:[…]` ([`label`]), `@[…]` ([`target`]),
//! 6. tokens, words, `(…)`, `MU(…)`, `(?= …)`, `<s>`, `<s/>`.
//!
//! Inside `[…]`, `!` binds more tightly than `&`, and `&` more tightly than `|`. Among infix operators the
//! order of rows in the table decides, the loosest first.

mod alternative;
mod any_token;
mod boundary;
mod comparator;
mod condition;
mod constraint;
mod containing;
mod cut;
mod doc;
mod expand;
mod group;
mod label;
mod lemma;
mod lempos;
mod look_around;
mod meet;
mod nested;
mod position;
mod region;
mod registry;
mod repeat;
mod restriction;
mod sequence;
mod span_test;
mod structure;
mod target;
mod token;
mod within;
mod word;

use registry::operators;

operators! {
    // Operators with a node in the syntax tree of patterns.
    patterns {
        /// `A | B`: one of several patterns.
        Alternatives(alternative),
        /// `A B`: patterns in a row.
        Sequence(sequence),
        /// `A?`, `A*`, `A+`, `A{n}`, `A{m,n}`, `A{m,}`: the same pattern several times.
        Repeat(repeat),
        /// `a:[…]`: a token that constraints refer to.
        Labelled(label),
        /// `MU(meet A B -3 3)`: a pattern near another.
        Meet(meet),
        /// `(?= A)`, `[: … :]`: what comes next or came before; takes no token.
        LookAround(look_around),
        /// `[#100]`: tokens by their position in the document.
        Position(position),
        /// `[]`: any token.
        AnyToken(any_token),
        /// `[lemma="go" & tag!="VERB"]`, `"going"`, `going`: a token with properties.
        TokenPattern(token),
        /// `<s>`, `</quote>`: the start or the end of a structure or a span; takes no token.
        Boundary(boundary),
        /// `<s/>`, `<ne type="ORG"/>`: all tokens of one structure or span.
        Region(region),
        /// `(A within B)`: a query with restrictions as a part of a pattern.
        Nested(nested),
    }
    // Operators that follow the pattern and accept or reject a match as a whole.
    restrictions {
        /// Every token of the hit lies in one target.
        Within(within),
        /// Every token of one target lies in the hit.
        Containing(containing),
    }
    // Syntax without a node of its own, or outside of patterns. `word` is last: it reads what no other operator does.
    others { target, group, lemma, condition, constraint, expand, cut, word }
}

pub use boundary::Side;
pub use comparator::Comparator;
pub(crate) use comparator::number_of;
pub use condition::{Quantity, TokenTest};
pub(crate) use condition::{equality_sign, suggest_attribute};
pub use constraint::{Comparand, Constraint, Reference};
pub(crate) use constraint::{CompiledConstraint, ReferenceValue};
pub(crate) use cut::parse_cut;
pub use doc::{OperatorDoc, operator_docs, reference};
pub(crate) use expand::parse_expansion;
pub use expand::{Expansion, Reach};
pub use meet::MeetWindow;
pub use restriction::{Restriction, Target};
pub(crate) use restriction::{RestrictionOperator, TargetMatches, keywords, parse_conditions};
pub use span_test::SpanTest;
pub use structure::{STRUCTURES, Structure};
pub(crate) use word::plain_words;

use super::MAX_TOKENS;
use crate::engine::nfa::{LengthRange, NfaBuilder, NodeId, SeedToken};
use crate::filter::Filter;
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, Span, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

/// A row of the table: documentation and syntax of an operator.
pub(crate) struct Operator {
    pub(crate) doc: OperatorDoc,
    /// The characters that make a text CQL. A text without any of these is plain words.
    pub(crate) signs: &'static str,
    pub(crate) syntax: Syntax,
}

/// The place of an operator in the grammar, with its parser.
pub(crate) enum Syntax {
    /// `A | B`: parses operands with the next tighter infix operator.
    Infix(fn(&mut Cursor<'_>, ParseOperand<'_>) -> Result<Pattern, SyntaxError>),
    /// `a:[…]`: parses itself and its operand, or returns `None` if something else comes next.
    Prefix(fn(&mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError>),
    /// `A+`: wraps the operand that starts at a byte, or returns it as it is.
    Postfix(fn(&mut Cursor<'_>, Pattern, usize) -> Result<Pattern, SyntaxError>),
    /// `[…]`, `(…)`: returns `None` if something else comes next.
    Primary(fn(&mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError>),
    /// Not a part of patterns: conditions, restrictions, constraints.
    Other,
}

/// Parses an operand; `None` if none comes next.
pub(crate) type ParseOperand<'p> = &'p mut dyn FnMut(&mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError>;

/// The behaviour of a node of a pattern besides parsing and printing.
pub(crate) trait PatternOperator: fmt::Display {
    /// The level at which the node binds, to print parentheses where they are needed.
    fn precedence(&self) -> Precedence {
        Precedence::Primary
    }

    /// Returns true if every match lies in one sentence, although it may have many tokens.
    fn stays_in_sentence(&self) -> bool {
        false
    }

    /// Returns true if a match can have a token of it; a boundary takes none.
    fn takes_tokens(&self) -> bool {
        true
    }

    /// The number of NFA states, with repetitions unrolled.
    fn states(&self, _span: Span) -> Result<u64, SyntaxError> {
        Ok(1)
    }

    /// Collects labels; a label must be unique on every path and must not be repeated.
    fn collect_labels(&self, _span: Span, _repeated: bool, _labels: &mut Vec<String>) -> Result<(), SyntaxError> {
        Ok(())
    }

    /// Collects the filters of documents in the node and its operands.
    fn collect_filters<'p>(&'p self, _filters: &mut Vec<&'p Filter>) {}

    /// Adds the node to the NFA in front of `next` and returns its first node. `label` applies to its tokens.
    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, label: Option<usize>) -> NodeId;

    /// Collects seeds, that is, sets of token tests of which every match passes one; `at` is the distance from the start
    /// of the match. Returns the length of the pattern.
    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange;

    /// The oracle: extends each path through the text by every match of the node.
    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path>;
}

/// The levels of precedence of patterns, the loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precedence {
    Alternatives,
    Sequence,
    Repeat,
    Primary,
}

/// A pattern of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The outermost operator.
    pub kind: PatternKind,
    /// The text it was read from.
    pub span: Span,
}

impl Pattern {
    /// A pattern of an operator.
    pub fn new(kind: impl Into<PatternKind>, span: Span) -> Pattern {
        Pattern { kind: kind.into(), span }
    }

    /// One pattern as it is, several under an operator that joins them; `None` of none.
    fn join(mut parts: Vec<Pattern>, operator: impl Fn(Vec<Pattern>) -> PatternKind) -> Option<Pattern> {
        let span = Span::new(parts.first()?.span.start, parts.last()?.span.end);
        if parts.len() == 1 { parts.pop() } else { Some(Pattern { kind: operator(parts), span }) }
    }

    pub(crate) fn stays_in_sentence(&self) -> bool {
        self.kind.operator().stays_in_sentence()
    }

    pub(crate) fn takes_tokens(&self) -> bool {
        self.kind.operator().takes_tokens()
    }

    /// The number of NFA states; an error if they are more than a query may have.
    pub(crate) fn states(&self) -> Result<u64, SyntaxError> {
        let states = self.kind.operator().states(self.span)?;
        if states > MAX_TOKENS { Err(too_large(self.span)) } else { Ok(states) }
    }

    pub(crate) fn collect_labels(&self, repeated: bool, labels: &mut Vec<String>) -> Result<(), SyntaxError> {
        self.kind.operator().collect_labels(self.span, repeated, labels)
    }

    pub(crate) fn collect_filters<'p>(&'p self, filters: &mut Vec<&'p Filter>) {
        self.kind.operator().collect_filters(filters);
    }

    pub(crate) fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, label: Option<usize>) -> NodeId {
        self.kind.operator().compile(nfa, next, label)
    }

    pub(crate) fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        self.kind.operator().seeds(nfa, at, seeds)
    }

    pub(crate) fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        self.kind.operator().extend(text, paths)
    }

    /// Prints an operand, in parentheses unless it binds more tightly than the operator around it.
    fn fmt_operand(&self, f: &mut fmt::Formatter<'_>, around: Precedence) -> fmt::Result {
        if self.kind.operator().precedence() > around { write!(f, "{self}") } else { write!(f, "({self})") }
    }
}

/// The canonical text, which is parsed back as the same pattern.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.operator().fmt(f)
    }
}

fn fmt_operands(f: &mut fmt::Formatter<'_>, parts: &[Pattern], sign: &str, around: Precedence) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(sign)?;
        }
        part.fmt_operand(f, around)?;
    }
    Ok(())
}

/// Returns true if `expand to` or `cut` comes next, as an operator.
pub(crate) fn ends_query(cursor: &mut Cursor<'_>) -> bool {
    expand::is_next(cursor) || cut::is_next(cursor)
}

pub(crate) fn too_large(span: Span) -> SyntaxError {
    SyntaxError::new(span, format!("with all its repetitions the query has more than {MAX_TOKENS} tokens"))
        .help("use smaller repetitions")
}

/// Returns true if a character makes a text CQL.
pub(crate) fn is_sign(c: char) -> bool {
    OPERATORS.iter().any(|operator| operator.signs.contains(c))
}

/// Parses a pattern up to the first character that belongs to no operator.
pub(crate) fn parse_pattern(cursor: &mut Cursor<'_>) -> Result<Pattern, SyntaxError> {
    cursor.deeper(|cursor| {
        let pattern = parse_infix(cursor, 0)?;
        Ok(pattern.expect("an infix operator parses an operand or fails"))
    })
}

fn parse_infix(cursor: &mut Cursor<'_>, level: usize) -> Result<Option<Pattern>, SyntaxError> {
    let mut infix = OPERATORS.iter().filter_map(|operator| match operator.syntax {
        Syntax::Infix(parse) => Some(parse),
        _ => None,
    });
    match infix.nth(level) {
        Some(parse) => parse(cursor, &mut |cursor| parse_infix(cursor, level + 1)).map(Some),
        None => parse_element(cursor),
    }
}

/// A primary with its prefix and its postfix operators.
fn parse_element(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    let mut element = None;
    for operator in OPERATORS {
        if let (None, Syntax::Prefix(parse)) = (&element, &operator.syntax) {
            element = parse(cursor)?;
        }
    }
    if element.is_none() {
        element = parse_primary(cursor)?;
    }
    let Some(mut pattern) = element else { return Ok(None) };
    for operator in OPERATORS {
        if let Syntax::Postfix(parse) = operator.syntax {
            pattern = parse(cursor, pattern, start)?;
        }
    }
    Ok(Some(pattern))
}

fn parse_primary(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    for operator in OPERATORS {
        if let Syntax::Primary(parse) = operator.syntax
            && let Some(pattern) = parse(cursor)?
        {
            return Ok(Some(pattern));
        }
    }
    Ok(None)
}
