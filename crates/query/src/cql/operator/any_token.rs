//! `[]`: any token.

use super::{Operator, OperatorDoc, Pattern, PatternOperator, Syntax};
use crate::engine::nfa::{LengthRange, NfaBuilder, NodeId, SeedToken};
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "any token",
        syntax: "[]",
        meaning: "Matches any one token.",
        examples: &[(r#""as" [] "as""#, "*as* twice with one token between")],
        templates: &["[]"],
    },
    signs: "[]",
    syntax: Syntax::Primary(parse),
};

/// Any token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnyToken;

fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    let mut ahead = cursor.clone();
    if !(ahead.eat("[") && ahead.eat("]")) {
        return Ok(None);
    }
    *cursor = ahead;
    Ok(Some(Pattern::new(AnyToken, cursor.span_from(start))))
}

impl fmt::Display for AnyToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[]")
    }
}

impl PatternOperator for AnyToken {
    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, label: Option<usize>) -> NodeId {
        nfa.token(None, label, next)
    }

    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        seeds.push(vec![nfa.seed(None, at)]);
        LengthRange::ONE
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        let paths = paths.iter().filter(|path| path.at < text.tokens.len());
        paths.map(|path| path.moved_to(path.at + 1)).collect()
    }
}
