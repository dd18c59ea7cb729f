//! `a:[…]`: a token that constraints refer to.

use super::{Operator, OperatorDoc, Pattern, PatternKind, PatternOperator, Syntax, parse_primary};
use crate::engine::nfa::{LengthRange, NfaBuilder, NodeId, SeedToken};
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, Span, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "label",
        syntax: "a:[…]",
        meaning: "Names a token for a constraint. A label is unique on every path through the pattern and cannot be repeated.",
        examples: &[(r#"a:[] "and" b:[] :: a.lemma = b.lemma"#, "*more and more*, *again and again*")],
        templates: &["x:{token} {pattern} y:[] :: x.word = y.word"],
    },
    signs: "",
    syntax: Syntax::Prefix(parse),
};

/// A token with a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// The label.
    pub label: String,
    /// An [`AnyToken`](super::AnyToken), a [`TokenPattern`](super::TokenPattern) or a [`Position`](super::Position).
    pub token: Box<Pattern>,
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    let start = cursor.at();
    let Some(label) = parse_label(cursor) else { return Ok(None) };
    let Some(token) = parse_primary(cursor)? else {
        return Err(cursor.unexpected(&format!("a token after the label {label}:")));
    };
    let span = cursor.span_from(start);
    if RESERVED.contains(&label.as_str()) {
        let message = format!(
            "the label {label} is the {} token of every match",
            RESERVED_MEANING[usize::from(label == RESERVED[1])]
        );
        return Err(SyntaxError::new(span, message).help("choose another name"));
    }
    if !is_token(&token) {
        return Err(SyntaxError::new(span, format!("the label {label} applies to more than one token")));
    }
    Ok(Some(Pattern::new(Labelled { label, token: Box::new(token) }, span)))
}

/// The labels of the first and the last token of a match, which need no token.
pub(super) const RESERVED: [&str; 2] = ["match", "matchend"];
const RESERVED_MEANING: [&str; 2] = ["first", "last"];

/// Returns true if a pattern is one token, which can have a label.
pub(super) fn is_token(pattern: &Pattern) -> bool {
    matches!(pattern.kind, PatternKind::AnyToken(_) | PatternKind::TokenPattern(_) | PatternKind::Position(_))
}

/// `a:`, but not the first half of `::`.
fn parse_label(cursor: &mut Cursor<'_>) -> Option<String> {
    let name = cursor.peek_name();
    let after = cursor.rest()[name.len()..].trim_start();
    if name.is_empty() || !after.starts_with(':') || after.starts_with("::") {
        return None;
    }
    let label = name.to_owned();
    cursor.name("a label").ok()?;
    cursor.eat(":");
    Some(label)
}

impl fmt::Display for Labelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.label, self.token)
    }
}

impl PatternOperator for Labelled {
    fn collect_labels(&self, span: Span, repeated: bool, labels: &mut Vec<String>) -> Result<(), SyntaxError> {
        let label = &self.label;
        if repeated {
            let message = format!("the label {label} is repeated and would mean several tokens");
            return Err(SyntaxError::new(span, message));
        }
        if labels.contains(label) {
            return Err(SyntaxError::new(span, format!("there is another token with the label {label}")));
        }
        labels.push(label.clone());
        Ok(())
    }

    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, _label: Option<usize>) -> NodeId {
        let label = nfa.label(&self.label);
        self.token.compile(nfa, next, Some(label))
    }

    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        self.token.seeds(nfa, at, seeds)
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        let mut extended = BTreeSet::new();
        for path in paths {
            for mut end in self.token.extend(text, &BTreeSet::from([path.clone()])) {
                end.labels.insert(self.label.clone(), path.at);
                extended.insert(end);
            }
        }
        extended
    }
}
