//! `A B`: patterns in a row.

use super::{
    Operator, OperatorDoc, ParseOperand, Pattern, PatternKind, PatternOperator, Precedence, Syntax, fmt_operands,
};
use crate::engine::nfa::{LengthRange, NfaBuilder, NodeId, SeedToken};
use crate::filter::Filter;
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, Span, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "sequence",
        syntax: "A B",
        meaning: "Matches `A` directly followed by `B`, across sentences but never across documents.",
        examples: &[(r#"[tag="ADJ"] [lemma="government"]"#, "an adjective before *government*")],
        templates: &["{pattern} {pattern}", "{pattern} {token} {pattern}"],
    },
    signs: "",
    syntax: Syntax::Infix(parse),
};

/// Two or more patterns, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// The patterns, from left to right.
    pub parts: Vec<Pattern>,
}

impl Sequence {
    /// The pattern of a list: a sequence, or its only part.
    pub(super) fn of(parts: Vec<Pattern>) -> Option<Pattern> {
        Pattern::join(parts, |parts| PatternKind::Sequence(Sequence { parts }))
    }
}

fn parse(cursor: &mut Cursor<'_>, operand: ParseOperand<'_>) -> Result<Pattern, SyntaxError> {
    let mut parts = Vec::new();
    loop {
        let is_string = cursor.peek() == Some('"');
        match operand(cursor)? {
            // A phrase in quotes equals its words, so that both have the same canonical text.
            Some(Pattern { kind: PatternKind::Sequence(phrase), .. }) if is_string => parts.extend(phrase.parts),
            Some(part) => parts.push(part),
            None => break,
        }
    }
    Sequence::of(parts).ok_or_else(|| cursor.unexpected("a token such as [lemma=\"go\"], \"go\" or go"))
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_operands(f, &self.parts, " ", Precedence::Sequence)
    }
}

impl PatternOperator for Sequence {
    fn precedence(&self) -> Precedence {
        Precedence::Sequence
    }

    fn takes_tokens(&self) -> bool {
        self.parts.iter().any(Pattern::takes_tokens)
    }

    fn states(&self, _span: Span) -> Result<u64, SyntaxError> {
        self.parts.iter().map(Pattern::states).sum()
    }

    fn collect_labels(&self, _span: Span, repeated: bool, labels: &mut Vec<String>) -> Result<(), SyntaxError> {
        self.parts.iter().try_for_each(|part| part.collect_labels(repeated, labels))
    }

    fn collect_filters<'p>(&'p self, filters: &mut Vec<&'p Filter>) {
        self.parts.iter().for_each(|part| part.collect_filters(filters));
    }

    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, label: Option<usize>) -> NodeId {
        self.parts.iter().rev().fold(next, |next, part| part.compile(nfa, next, label))
    }

    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        let mut length = LengthRange::EMPTY;
        for part in &self.parts {
            length = length.then(part.seeds(nfa, at.then(length), seeds));
        }
        length
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        self.parts.iter().fold(paths.clone(), |paths, part| part.extend(text, &paths))
    }
}
