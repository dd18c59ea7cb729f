//! `<s>`, `</s>`: the start or the end of a structure, between two tokens.

use super::{Operator, OperatorDoc, Pattern, PatternOperator, Structure, Syntax};
use crate::engine::nfa::{Assertion, LengthRange, NfaBuilder, NodeId, SeedToken, SpanPattern};
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, Span, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "boundary",
        syntax: "<s>  </s>  <p>  </p>  <doc>  </doc>  <quote>  </quote>",
        meaning: "Matches the place where a sentence, a paragraph, a document or a span of a name starts or ends; takes no token. \
            Two boundaries need not be of the same span.",
        examples: &[
            (r#"<s> [lc="however"]"#, "*however* at the start of a sentence"),
            (r#"[tag="NOUN"] [] </s>"#, "a noun before the last token of a sentence"),
            (r#"[lemma="say"] ":" <quote>"#, "*said:* before a quotation"),
        ],
        templates: &[
            "<s> {pattern}",
            "{pattern} </s>",
            "<p> {pattern}",
            "{pattern} </doc>",
            "<ne> {pattern}",
            "{pattern} </ne>",
        ],
    },
    signs: "<>",
    syntax: Syntax::Primary(parse),
};

/// A place where a structure starts or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boundary {
    /// The side of the structure.
    pub side: Side,
    /// The structure.
    pub structure: Structure,
    /// The text it was read from.
    pub span: Span,
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
    if side == Side::Start {
        // `<s/>` and `<doc site="…"/>` are regions.
        let mut after_name = ahead.clone();
        after_name.take_name();
        if !after_name.looks_at(">") {
            return Ok(None);
        }
    }
    *cursor = ahead;
    let structure = Structure::parse(cursor)?;
    cursor.expect(">", "to close the tag")?;
    let span = cursor.span_from(start);
    Ok(Some(Pattern::new(Boundary { side, structure, span }, span)))
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.side == Side::End { "/" } else { "" };
        write!(f, "<{slash}{}>", self.structure.name())
    }
}

impl PatternOperator for Boundary {
    fn takes_tokens(&self) -> bool {
        false
    }

    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, _label: Option<usize>) -> NodeId {
        let assertion = match (self.side, self.structure) {
            (Side::Start, Structure::Span(name)) => Assertion::SpanStart(nfa.span(SpanPattern::plain(name, self.span))),
            (Side::End, Structure::Span(name)) => Assertion::SpanEnd(nfa.span(SpanPattern::plain(name, self.span))),
            (Side::Start, structure) => Assertion::Start(structure),
            (Side::End, structure) => Assertion::End(structure),
        };
        nfa.assertion(assertion, next)
    }

    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        // A span that starts where the match does has a token in it.
        if let (Side::Start, Structure::Span(name), LengthRange::EMPTY) = (self.side, self.structure, at) {
            seeds.push(vec![nfa.span_seed(SpanPattern::plain(name, self.span), at)]);
        }
        LengthRange::EMPTY
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        let spans = text.document.structures(self.structure);
        let is_boundary = |path: &&Path| {
            spans.iter().any(|(start, end)| path.at == if self.side == Side::Start { *start } else { *end })
        };
        paths.iter().filter(is_boundary).cloned().collect()
    }
}
