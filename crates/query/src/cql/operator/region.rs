//! `<s/>`, `<doc site="…"/>`, `<ne type="ORG"/>`: all tokens of one structure.

use super::span_test::{SpanTest, parse_span_test};
use super::{Operator, OperatorDoc, PatternOperator, Structure, Syntax};
use crate::engine::nfa::{Assertion, LengthRange, NfaBuilder, NodeId, SeedToken, SpanPattern};
use crate::filter::{self, Filter};
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, Logic, Span, SyntaxError, read_logic};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "region",
        syntax: "<s/>  <p/>  <doc/>  <doc filter/>  <ne/>  <ne condition/>",
        meaning: "Matches a whole sentence, paragraph or document, or a whole span of a name; a filter selects documents by their \
            metadata fields, a condition selects spans by their attributes, as a condition on tokens does. Spans may nest and \
            overlap: each of them is a match, and of several that start at one token the match rule takes the shortest. Also the \
            usual target of `within`.",
        examples: &[
            (r#"<s/> containing [lc="storm"]"#, "whole sentences with *storm*"),
            (r#""market" within <doc date>=2026-03/>"#, "*market* in documents since March 2026"),
            (r#"<ne type="ORG" & name="Bank.*"/>"#, "names of organisations that start with *Bank*"),
            (r#"[lemma="crisis"] within <quote/>"#, "*crisis* in quotations"),
        ],
        templates: &[
            "<s/>",
            "<p/>",
            "<doc genre=\"blog\"/>",
            "<ne/>",
            "<ne type=\"A|B\" & name!=\"a\"/> {pattern}",
            "{token} <quote name=\".*b\"%c/>",
            "{token} within <ne/>",
            "<quote/> !containing <ne type=\"A\"/>",
            "<quote> {token}+ </quote>",
        ],
    },
    signs: "<>",
    syntax: Syntax::Other,
};

/// A structure, optionally only of documents that a filter admits, or only spans that fulfil a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The structure.
    pub structure: Structure,
    /// The documents; only `<doc/>` has fields.
    pub filter: Option<Filter>,
    /// The condition on spans; only these have attributes.
    pub condition: Option<Logic<SpanTest>>,
    /// The text it was read from.
    pub span: Span,
}

impl Region {
    /// All structures of a kind.
    pub fn of(structure: Structure) -> Region {
        Region { structure, filter: None, condition: None, span: Span::default() }
    }

    /// The text between the brackets of its tag.
    pub(super) fn inside(&self) -> String {
        let name = self.structure.name();
        match (&self.filter, &self.condition) {
            (Some(filter), _) => format!("{name} {filter}"),
            (None, Some(condition)) => format!("{name} {condition}"),
            (None, None) => name.to_owned(),
        }
    }

    /// The spans that it means; `None` if it is not about spans.
    pub(crate) fn spans(&self) -> Option<SpanPattern> {
        match self.structure {
            Structure::Span(name) => {
                Some(SpanPattern::Named { name, condition: self.condition.clone(), at: self.span })
            }
            _ => None,
        }
    }

    /// The oracle: whether a span is one of them.
    pub(crate) fn oracle_admits(&self, span: &tidings_model::TokenSpan) -> bool {
        span.name == self.structure.name()
            && self.condition.as_ref().is_none_or(|condition| condition.holds(&mut |test| test.oracle_matches(span)))
    }
}

/// Parses the fields after the name of a structure, up to `>` or `/>`; returns whether `/>` comes next.
pub(super) fn parse_fields(cursor: &mut Cursor<'_>, structure: Structure) -> Result<(Region, bool), SyntaxError> {
    let region = Region::of(structure);
    if cursor.looks_at("/>") || cursor.looks_at(">") {
        return Ok((region, cursor.looks_at("/>")));
    }
    let is_closed = |cursor: &mut Cursor<'_>| match (cursor.looks_at("/>"), cursor.looks_at(">")) {
        (false, false) => Err(cursor.unexpected("/> to close the structure, or & or |")),
        (is_region, _) => Ok(is_region),
    };
    if let Structure::Span(_) = structure {
        let condition = read_logic(cursor, true, &mut parse_span_test)?;
        return Ok((Region { condition: Some(condition), ..region }, is_closed(cursor)?));
    }
    cursor.skip_blanks();
    let start = cursor.at();
    let filter = filter::read(cursor)?;
    if structure != Structure::Document {
        let message = format!("<{}> has no attributes", structure.name());
        return Err(SyntaxError::new(cursor.span_from(start), message).help("only <doc …/> and spans have attributes"));
    }
    if filter.hit_queries().next().is_some() {
        let message = "has(…) is a condition of filters, not of structures in queries";
        let help = "give it as the filter of the question (--filter), or use `within (<doc/> containing …)`";
        return Err(SyntaxError::new(cursor.span_from(start), message).help(help));
    }
    Ok((Region { filter: Some(filter), ..region }, is_closed(cursor)?))
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}/>", self.inside())
    }
}

impl PatternOperator for Region {
    fn stays_in_sentence(&self) -> bool {
        self.structure == Structure::Sentence
    }

    fn collect_filters<'p>(&'p self, filters: &mut Vec<&'p Filter>) {
        filters.extend(&self.filter);
    }

    /// Of spans one state, which is left where a span ends; otherwise a loop over tokens that starts and ends at a boundary
    /// and has none inside.
    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, label: Option<usize>) -> NodeId {
        if let Some(spans) = self.spans() {
            return nfa.whole_span(spans, next);
        }
        let over = nfa.assertion(Assertion::End(self.structure), next);
        let after_token = nfa.split(Vec::new());
        let token = nfa.token(None, label, after_token);
        let inside = nfa.assertion(Assertion::Inside(self.structure), token);
        nfa.set_split(after_token, vec![inside, over]);
        let start = nfa.assertion(Assertion::Start(self.structure), token);
        match &self.filter {
            Some(filter) => nfa.assertion(Assertion::Admitted(filter.clone()), start),
            None => start,
        }
    }

    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        seeds.push(vec![match self.spans() {
            Some(spans) => nfa.span_seed(spans, at),
            None => nfa.structure_seed(self.structure, at),
        }]);
        LengthRange { min: 1, max: None }
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        let spans = text.document.region(self);
        let ends = paths.iter().flat_map(|path| {
            let starting = spans.iter().filter(|(start, _)| *start == path.at);
            starting.map(|(_, end)| path.moved_to(*end))
        });
        ends.collect()
    }
}
