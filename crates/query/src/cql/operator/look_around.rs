//! `[: … :]`, `(?= A)`, `(?! A)`, `(?<= A)`, `(?<! A)`: what comes next, or came before, without being taken.

use super::token::parse_condition;
use super::{Operator, OperatorDoc, Pattern, PatternOperator, Syntax, TokenPattern, parse_pattern};
use crate::cql::MatchRule;
use crate::cql::ast::Query;
use crate::engine::nfa::{Assertion, LengthRange, NfaBuilder, NodeId, SeedToken, SpanPattern};
use crate::filter::Filter;
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, Span, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "look-around",
        syntax: "(?= A)  (?! A)  (?<= A)  (?<! A)  [: condition :]",
        meaning: "Matches the place before a match of `A` (`?=`), or where none starts (`?!`), the place behind a match of `A` (`?<=`), \
            or where none ends (`?<!`), in the same document; takes no token. `[: condition :]` is `(?= [condition])`.",
        examples: &[
            (r#"[tag="ADJ"] (?! [tag="NOUN"])"#, "an adjective that no noun follows"),
            (r#"(?<! "the"%c) [lemma="market"]"#, "*market* without *the* before it"),
            (r#"[lemma="go"] [: tag="ADP" :]"#, "*go* before a preposition, which is not part of the hit"),
        ],
        templates: &[
            "{token} (?= {token})",
            "{pattern} (?! {pattern})",
            "(?<= {token}) {pattern}",
            "(?<! {token} {token}?) {token} [: tag=\"N\" :]",
            "{token} ((?= {token}) {pattern} | (?<= {token} within <s/>) {token})",
        ],
    },
    signs: "()[]",
    syntax: Syntax::Primary(parse),
};

/// A place between two tokens before or behind a match of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookAround {
    /// The query, with its restrictions.
    pub query: Box<Query>,
    /// Whether its match ends here, instead of starting here.
    pub behind: bool,
    /// Whether there is none.
    pub negated: bool,
}

const SIGNS: [(&str, bool, bool); 4] =
    [("(?<=", true, false), ("(?<!", true, true), ("(?=", false, false), ("(?!", false, true)];

fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    if cursor.eat("[:") {
        let condition = parse_condition(cursor)?;
        cursor.expect(":]", "to close the look-ahead, or & or |")?;
        let span = cursor.span_from(start);
        let query = Box::new(Query::of(Pattern::new(TokenPattern { condition }, span)));
        return Ok(Some(Pattern::new(LookAround { query, behind: false, negated: false }, span)));
    }
    let Some((_, behind, negated)) = SIGNS.into_iter().find(|(sign, ..)| cursor.eat(sign)) else { return Ok(None) };
    let pattern = parse_pattern(cursor)?;
    let (restrictions, constraints) = super::restriction::parse_conditions(cursor)?;
    cursor.expect(")", "to close the look-around")?;
    let query = Box::new(Query { restrictions, constraints, ..Query::of(pattern) });
    Ok(Some(Pattern::new(LookAround { query, behind, negated }, cursor.span_from(start))))
}

impl fmt::Display for LookAround {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = SIGNS.iter().find(|(_, behind, negated)| (*behind, *negated) == (self.behind, self.negated));
        write!(f, "{} {})", sign.map_or("", |(sign, ..)| sign), self.query)
    }
}

impl PatternOperator for LookAround {
    fn takes_tokens(&self) -> bool {
        false
    }

    fn states(&self, span: Span) -> Result<u64, SyntaxError> {
        if !self.query.pattern.takes_tokens() {
            return Err(SyntaxError::new(span, "a look-around describes a boundary but no token"));
        }
        self.query.check()
    }

    fn collect_filters<'p>(&'p self, filters: &mut Vec<&'p Filter>) {
        filters.extend(self.query.filters());
    }

    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, _label: Option<usize>) -> NodeId {
        // Where a match starts, the shortest is as good as any.
        let rule = if self.behind { MatchRule::All } else { MatchRule::Shortest };
        let spans = nfa.span(SpanPattern::Matches { query: self.query.clone(), rule });
        let assertion = match (self.behind, self.negated) {
            (false, false) => Assertion::SpanStart(spans),
            (false, true) => Assertion::NoSpanStart(spans),
            (true, false) => Assertion::SpanEnd(spans),
            (true, true) => Assertion::NoSpanEnd(spans),
        };
        nfa.assertion(assertion, next)
    }

    fn seeds(&self, _nfa: &mut NfaBuilder, _at: LengthRange, _seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        LengthRange::EMPTY
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        let matches = text.query_matches(&self.query);
        let is_here = |path: &&Path| {
            matches.iter().any(|(start, end)| path.at == if self.behind { *end } else { *start }) != self.negated
        };
        paths.iter().filter(is_here).cloned().collect()
    }
}
