//! `<s>`, `</s>`: the start or the end of a structure, between two tokens.

use super::region::parse_fields;
use super::{Operator, OperatorDoc, Pattern, PatternOperator, Region, Structure, Syntax};
use crate::engine::nfa::{Assertion, LengthRange, NfaBuilder, NodeId, SeedToken};
use crate::filter::Filter;
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "boundary",
        syntax: "<s>  </s>  <p>  </p>  <doc>  </doc>  <doc filter>  <quote>  </quote>  <ne condition>",
        meaning: "Matches the place where a sentence, a paragraph, a document or a span of a name starts or ends; takes no token. \
            A filter selects documents, a condition spans, as in a region. Two boundaries need not be of the same span.",
        examples: &[
            (r#"<s> [lc="however"]"#, "*however* at the start of a sentence"),
            (r#"[tag="NOUN"] [] </s>"#, "a noun before the last token of a sentence"),
            (r#"[lemma="say"] ":" <quote>"#, "*said:* before a quotation"),
            (r#"<doc date="2020.*"> []"#, "the first token of each document of 2020"),
            (r#"<ne type="ORG"> []"#, "the first token of names of organisations"),
        ],
        templates: &[
            "<s> {pattern}",
            "{pattern} </s>",
            "<p> {pattern}",
            "{pattern} </doc>",
            "<doc genre=\"blog\"> {pattern}",
            "<ne type=\"A\"> {pattern}",
            "<ne> {pattern}",
            "{pattern} </ne>",
        ],
    },
    signs: "<>",
    syntax: Syntax::Primary(parse),
};

/// A place where a structure starts or ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundary {
    /// The side of the structure.
    pub side: Side,
    /// The structure, with a filter or a condition at its start.
    pub of: Region,
}

/// A side of a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// `<s>`
    Start,
    /// `</s>`
    End,
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    let mut ahead = cursor.clone();
    if !ahead.eat("<") {
        return Ok(None);
    }
    let side = if ahead.eat("/") { Side::End } else { Side::Start };
    *cursor = ahead;
    let structure = Structure::parse(cursor)?;
    let (of, is_region) = match side {
        Side::Start => parse_fields(cursor, structure)?,
        Side::End => (Region::of(structure), false),
    };
    // `<s/>` and `<doc site="…"/>` are regions.
    cursor.expect(if is_region { "/>" } else { ">" }, "to close the tag")?;
    let span = cursor.span_from(start);
    let of = Region { span, ..of };
    Ok(Some(if is_region { Pattern::new(of, span) } else { Pattern::new(Boundary { side, of }, span) }))
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.side == Side::End { "/" } else { "" };
        write!(f, "<{slash}{}>", self.of.inside())
    }
}

impl PatternOperator for Boundary {
    fn takes_tokens(&self) -> bool {
        false
    }

    fn collect_filters<'p>(&'p self, filters: &mut Vec<&'p Filter>) {
        filters.extend(&self.of.filter);
    }

    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, _label: Option<usize>) -> NodeId {
        let assertion = match (self.side, self.of.spans()) {
            (Side::Start, Some(spans)) => Assertion::SpanStart(nfa.span(spans)),
            (Side::End, Some(spans)) => Assertion::SpanEnd(nfa.span(spans)),
            (Side::Start, None) => Assertion::Start(self.of.structure),
            (Side::End, None) => Assertion::End(self.of.structure),
        };
        let boundary = nfa.assertion(assertion, next);
        match &self.of.filter {
            Some(filter) => nfa.assertion(Assertion::Admitted(filter.clone()), boundary),
            None => boundary,
        }
    }

    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        // What starts where the match does has a token in it.
        if let (Side::Start, LengthRange::EMPTY) = (self.side, at) {
            seeds.push(vec![match self.of.spans() {
                Some(spans) => nfa.span_seed(spans, at),
                None => nfa.structure_seed(self.of.structure, at),
            }]);
        }
        LengthRange::EMPTY
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        let spans = text.document.region(&self.of);
        let is_boundary = |path: &&Path| {
            spans.iter().any(|(start, end)| path.at == if self.side == Side::Start { *start } else { *end })
        };
        paths.iter().filter(is_boundary).cloned().collect()
    }
}
