//! `A | B`: one of several patterns.

use super::{
    Operator, OperatorDoc, ParseOperand, Pattern, PatternKind, PatternOperator, Precedence, Syntax, fmt_operands,
};
use crate::engine::nfa::{LengthRange, NfaBuilder, NodeId, SeedToken};
use crate::filter::Filter;
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, Span, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "alternative",
        syntax: "A | B",
        meaning: "Matches what `A` or `B` matches.",
        examples: &[(r#""prime" | "best" "race""#, "*prime*, or *best race*")],
        templates: &["{pattern} | {pattern}", "({pattern} | {pattern} | {pattern})"],
    },
    signs: "|",
    syntax: Syntax::Infix(parse),
};

/// Two or more patterns of which one matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternatives {
    /// The patterns.
    pub parts: Vec<Pattern>,
}

impl Alternatives {
    /// The alternatives without repetitions, which would be searched once each.
    fn distinct(&self) -> impl Iterator<Item = &Pattern> {
        let mut known = BTreeSet::new();
        self.parts.iter().filter(move |part| known.insert(part.to_string()))
    }
}

fn parse(cursor: &mut Cursor<'_>, operand: ParseOperand<'_>) -> Result<Pattern, SyntaxError> {
    let mut parts: Vec<Pattern> = operand(cursor)?.into_iter().collect();
    while cursor.eat("|") {
        parts.extend(operand(cursor)?);
    }
    let joined = Pattern::join(parts, |parts| PatternKind::Alternatives(Alternatives { parts }));
    Ok(joined.expect("a sequence has a pattern or is an error"))
}

impl fmt::Display for Alternatives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_operands(f, &self.parts, " | ", Precedence::Alternatives)
    }
}

impl PatternOperator for Alternatives {
    fn precedence(&self) -> Precedence {
        Precedence::Alternatives
    }

    fn stays_in_sentence(&self) -> bool {
        self.parts.iter().all(Pattern::stays_in_sentence)
    }

    fn takes_tokens(&self) -> bool {
        self.parts.iter().any(Pattern::takes_tokens)
    }

    fn states(&self, _span: Span) -> Result<u64, SyntaxError> {
        self.parts.iter().map(Pattern::states).sum()
    }

    /// Different alternatives may use the same label.
    fn collect_labels(&self, _span: Span, repeated: bool, labels: &mut Vec<String>) -> Result<(), SyntaxError> {
        let before = labels.clone();
        for part in &self.parts {
            let mut on_this_path = before.clone();
            part.collect_labels(repeated, &mut on_this_path)?;
            labels.extend(on_this_path.drain(before.len()..));
        }
        labels[before.len()..].sort();
        labels.dedup();
        Ok(())
    }

    fn collect_filters<'p>(&'p self, filters: &mut Vec<&'p Filter>) {
        self.parts.iter().for_each(|part| part.collect_filters(filters));
    }

    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, label: Option<usize>) -> NodeId {
        let parts = self.distinct().map(|part| part.compile(nfa, next, label)).collect();
        nfa.split(parts)
    }

    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        let mut length: Option<LengthRange> = None;
        let mut joined: Option<Vec<SeedToken>> = Some(Vec::new());
        for part in self.distinct() {
            let mut own = Vec::new();
            let part = part.seeds(nfa, at, &mut own);
            // The frequencies are not known yet, so take the first seed that is not `[]`.
            let is_selective = |set: &&Vec<SeedToken>| set.iter().all(|seed| nfa.is_selective(seed));
            let chosen = own.iter().find(is_selective).or(own.first()).cloned();
            joined = joined.zip(chosen).map(|(mut joined, chosen)| {
                joined.extend(chosen);
                joined
            });
            length = Some(length.map_or(part, |so_far| so_far.or(part)));
        }
        seeds.extend(joined);
        length.unwrap_or(LengthRange::EMPTY)
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        self.parts.iter().flat_map(|part| part.extend(text, paths)).collect()
    }
}
