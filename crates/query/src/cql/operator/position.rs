//! `[#100]`, `[#0-#9]`: tokens by their position in the document.

use super::{Operator, OperatorDoc, Pattern, PatternOperator, Syntax};
use crate::engine::nfa::{Assertion, LengthRange, NfaBuilder, NodeId, SeedToken};
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "position",
        syntax: "[#100]  [#0-#9]",
        meaning: "Matches the token at a position of its document, or at one of several; the first token has the position 0, as in \
            the lines of a concordance. Positions in the whole corpus are not used, because they change with every day.",
        examples: &[
            ("[#0]", "the first token of each document"),
            (r#"[#12] within <doc id=d1/>"#, "a token by its address"),
        ],
        templates: &["[#0]", "[#1-#4] {pattern}", "{token} [#3]"],
    },
    signs: "[]",
    syntax: Syntax::Primary(parse),
};

/// Tokens by their position in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The first position.
    pub first: u32,
    /// The last position.
    pub last: u32,
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    let mut ahead = cursor.clone();
    if !(ahead.eat("[") && ahead.eat("#")) {
        return Ok(None);
    }
    *cursor = ahead;
    let first = cursor.number()?;
    let last = if cursor.eat("-") {
        cursor.eat("#");
        cursor.number()?
    } else {
        first
    };
    cursor.expect("]", "to close the position")?;
    let span = cursor.span_from(start);
    if last < first {
        return Err(
            SyntaxError::new(span, "the positions end before they begin").help(format!("write [#{last}-#{first}]"))
        );
    }
    Ok(Some(Pattern::new(Position { first, last }, span)))
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "[#{}]", self.first),
            false => write!(f, "[#{}-#{}]", self.first, self.last),
        }
    }
}

impl PatternOperator for Position {
    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, label: Option<usize>) -> NodeId {
        let token = nfa.token(None, label, next);
        nfa.assertion(Assertion::Position { first: self.first, last: self.last }, token)
    }

    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        seeds.push(vec![nfa.position_seed(self.first, self.last, at)]);
        LengthRange::ONE
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        let is_here =
            |path: &&Path| path.at < text.tokens.len() && (self.first as usize..=self.last as usize).contains(&path.at);
        paths.iter().filter(is_here).map(|path| path.moved_to(path.at + 1)).collect()
    }
}
