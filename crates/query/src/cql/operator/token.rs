//! `[lemma="go" & tag!="VERB"]`: a token with properties.

use super::condition::{TokenTest, parse_token_test};
use super::{Operator, OperatorDoc, Pattern, PatternOperator, Syntax};
use crate::engine::nfa::{LengthRange, NfaBuilder, NodeId, SeedToken};
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, Logic, SyntaxError, read_logic};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "token",
        syntax: "[condition]",
        meaning: "Matches one token that fulfils the condition on its attributes `word`, `lc`, `lemma`, `tag`, `feats`, a feature such as `Case`, or `lempos`.",
        examples: &[
            (r#"[lemma="go"]"#, "*go*, *goes*, *went*"),
            (r#"[tag="NOUN" & Number="Plur"]"#, "nouns in the plural"),
        ],
        templates: &["{token}"],
    },
    signs: "[]",
    syntax: Syntax::Primary(parse),
};

/// A token that fulfils a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenPattern {
    /// The condition.
    pub condition: Logic<TokenTest>,
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    if !cursor.eat("[") {
        return Ok(None);
    }
    let condition = parse_condition(cursor)?;
    cursor.expect("]", "to close the token, or & or |")?;
    Ok(Some(Pattern::new(TokenPattern { condition }, cursor.span_from(start))))
}

/// Parses the condition between the brackets.
pub(super) fn parse_condition(cursor: &mut Cursor<'_>) -> Result<Logic<TokenTest>, SyntaxError> {
    Ok(read_logic(cursor, false, &mut parse_token_test)?.flatten())
}

impl fmt::Display for TokenPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.condition)
    }
}

impl PatternOperator for TokenPattern {
    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, label: Option<usize>) -> NodeId {
        nfa.token(Some(&self.condition), label, next)
    }

    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        seeds.push(vec![nfa.seed(Some(&self.condition), at)]);
        LengthRange::ONE
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        let fits = |path: &&Path| {
            let token = text.tokens.get(path.at);
            token.is_some_and(|token| self.condition.holds(&mut |test| test.oracle_matches(text, token)))
        };
        paths.iter().filter(fits).map(|path| path.moved_to(path.at + 1)).collect()
    }
}
