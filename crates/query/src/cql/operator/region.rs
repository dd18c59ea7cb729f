//! `<s/>`, `<doc site="…"/>`: all tokens of one structure.

use super::{Operator, OperatorDoc, Pattern, PatternOperator, Structure, Syntax};
use crate::engine::nfa::{Assertion, LengthRange, NfaBuilder, NodeId, SeedToken};
use crate::filter::{self, Filter};
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "region",
        syntax: "<s/>  <p/>  <doc/>  <doc filter/>",
        meaning: "Matches a whole sentence, paragraph or document; a filter selects documents by their metadata fields. Also the usual target of `within`.",
        examples: &[
            (r#"<s/> containing [lc="storm"]"#, "whole sentences with *storm*"),
            (r#""market" within <doc date>=2026-03/>"#, "*market* in documents since March 2026"),
        ],
        templates: &["<s/>", "<p/>", "<doc genre=\"blog\"/>"],
    },
    signs: "<>",
    syntax: Syntax::Primary(parse),
};

/// A structure, optionally only of documents that a filter admits. Only documents have fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The structure.
    pub structure: Structure,
    /// The documents.
    pub filter: Option<Filter>,
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    if !cursor.eat("<") {
        return Ok(None);
    }
    let structure = Structure::parse(cursor)?;
    let region = parse_fields(cursor, structure)?;
    Ok(Some(Pattern::new(region, cursor.span_from(start))))
}

/// Parses what follows the name of the structure: fields and `/>`.
fn parse_fields(cursor: &mut Cursor<'_>, structure: Structure) -> Result<Region, SyntaxError> {
    if cursor.eat("/>") {
        return Ok(Region { structure, filter: None });
    }
    cursor.skip_blanks();
    let start = cursor.at();
    let filter = filter::read(cursor)?;
    if structure != Structure::Document {
        let message = format!("<{}> has no attributes", structure.name());
        return Err(SyntaxError::new(cursor.span_from(start), message).help("only <doc …/> has fields"));
    }
    cursor.expect("/>", "to close the structure, or & or |")?;
    Ok(Region { structure, filter: Some(filter) })
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.filter {
            Some(filter) => write!(f, "<{} {filter}/>", self.structure.name()),
            None => write!(f, "<{}/>", self.structure.name()),
        }
    }
}

impl PatternOperator for Region {
    fn collect_filters<'p>(&'p self, filters: &mut Vec<&'p Filter>) {
        filters.extend(&self.filter);
    }

    /// A loop over tokens that starts and ends at a boundary and has none inside.
    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, label: Option<usize>) -> NodeId {
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

    fn seeds(&self, _nfa: &mut NfaBuilder, _at: LengthRange, _seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
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
