//! `(A within B)`, `(A containing B)`, `(a:[] b:[] :: a.lemma = b.lemma)`: a query as a part of a pattern or as a target.

use super::restriction::parse_conditions;
use super::{Operator, OperatorDoc, Pattern, PatternOperator, Syntax};
use crate::cql::MatchRule;
use crate::cql::ast::Query;
use crate::engine::nfa::{LengthRange, NfaBuilder, NodeId, SeedToken, SpanPattern};
use crate::filter::Filter;
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, Span, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "nested",
        syntax: "(A within B)  (A containing B)  (A :: c)",
        meaning: "Matches what the query in parentheses finds, all its matches and not only the shortest. Its restrictions and \
            constraints apply to the part alone; its labels are not known outside.",
        examples: &[
            (r#"[tag="VERB"] within (<s/> containing "price")"#, "verbs in sentences with *price*"),
            (r#"([tag="NOUN"]+ containing "oil") "price""#, "nouns with *oil* among them, before *price*"),
        ],
        templates: &[
            "{token} within (<s/> containing {token})",
            "({token}{1,2} containing {token}) {pattern}",
            "{token}? (x:[] []? y:[] :: x.word = y.word)",
            "<s/> containing ({pattern} !within <ne/>)",
            "({token} within ({pattern} !containing {token}))+",
        ],
    },
    signs: "()",
    syntax: Syntax::Other,
};

/// A query whose matches are parts of a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nested {
    /// The query; it has a restriction or a constraint.
    pub query: Box<Query>,
}

/// Parses the restrictions and constraints of a pattern in parentheses; without any, the pattern stays as it is.
pub(super) fn parse_after(cursor: &mut Cursor<'_>, pattern: Pattern) -> Result<Pattern, SyntaxError> {
    let (restrictions, constraints) = parse_conditions(cursor)?;
    if restrictions.is_empty() && constraints.is_empty() {
        return Ok(pattern);
    }
    let span = pattern.span;
    let query = Box::new(Query { restrictions, constraints, ..Query::of(pattern) });
    Ok(Pattern::new(Nested { query }, span))
}

impl fmt::Display for Nested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({})", self.query)
    }
}

impl Nested {
    fn spans(&self) -> SpanPattern {
        SpanPattern::Matches { query: self.query.clone(), rule: MatchRule::All }
    }
}

impl PatternOperator for Nested {
    fn stays_in_sentence(&self) -> bool {
        self.query.pattern.stays_in_sentence()
    }

    fn takes_tokens(&self) -> bool {
        self.query.pattern.takes_tokens()
    }

    fn states(&self, _span: Span) -> Result<u64, SyntaxError> {
        Ok(1 + self.query.check()?)
    }

    fn collect_filters<'p>(&'p self, filters: &mut Vec<&'p Filter>) {
        filters.extend(self.query.filters());
    }

    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, _label: Option<usize>) -> NodeId {
        nfa.whole_span(self.spans(), next)
    }

    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        seeds.push(vec![nfa.span_seed(self.spans(), at)]);
        // A match has at least one token, and of its own seeds nothing is kept.
        let length = self.query.pattern.seeds(&mut NfaBuilder::default(), LengthRange::EMPTY, &mut Vec::new());
        LengthRange { min: length.min.max(1), ..length }
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        let matches = text.query_matches(&self.query);
        let ends = paths.iter().flat_map(|path| {
            let starting = matches.iter().filter(|(start, _)| *start == path.at);
            starting.map(|(_, end)| path.moved_to(*end))
        });
        ends.collect()
    }
}
