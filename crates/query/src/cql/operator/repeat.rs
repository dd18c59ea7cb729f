//! `A?`, `A*`, `A+`, `A{n}`, `A{m,n}`, `A{m,}`: the same pattern several times.

use super::{Operator, OperatorDoc, Pattern, PatternOperator, Precedence, Syntax};
use crate::cql::MAX_REPEAT;
use crate::engine::nfa::{LengthRange, NfaBuilder, NodeId, SeedToken};
use crate::filter::Filter;
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, Span, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "repeat",
        syntax: "A?  A*  A+  A{n}  A{m,n}  A{m,}",
        meaning: "Matches `A` 0 or 1 times, any number of times, at least once, `n` times, `m` to `n` times, at least `m` times.",
        examples: &[
            (r#"[lemma="go"] []{0,3} [tag="NOUN"]"#, "*go* and a noun with up to three tokens between"),
            (r#""the" [tag="ADJ"]? [tag="NOUN"]"#, "*the* and a noun, with or without an adjective"),
        ],
        templates: &["({pattern})?", "{token}*", "({pattern})+", "{token}{2}", "({pattern}){1,3}", "{token}{2,}"],
    },
    signs: "{}",
    syntax: Syntax::Postfix(parse),
};

/// A pattern several times in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// The repeated pattern; it takes at least one token.
    pub of: Box<Pattern>,
    /// The minimum.
    pub at_least: u32,
    /// The maximum; without one, up to the end of the document.
    pub at_most: Option<u32>,
}

fn parse(cursor: &mut Cursor<'_>, operand: Pattern, start: usize) -> Result<Pattern, SyntaxError> {
    let Some((at_least, at_most)) = parse_times(cursor)? else { return Ok(operand) };
    let repeat = Repeat { of: Box::new(operand), at_least, at_most };
    let pattern = Pattern::new(repeat, cursor.span_from(start));
    if matches!(cursor.peek(), Some('?' | '*' | '+')) || begins_times(cursor) {
        return Err(cursor.unexpected("no second repetition").help("put parentheses around the first"));
    }
    Ok(pattern)
}

fn parse_times(cursor: &mut Cursor<'_>) -> Result<Option<(u32, Option<u32>)>, SyntaxError> {
    for (sign, times) in [("?", (0, Some(1))), ("*", (0, None)), ("+", (1, None))] {
        if cursor.eat(sign) {
            return Ok(Some(times));
        }
    }
    cursor.skip_blanks();
    let start = cursor.at();
    if !begins_times(cursor) {
        return Ok(None);
    }
    cursor.eat("{");
    let at_least = if cursor.looks_at(",") { 0 } else { cursor.number()? };
    let at_most = match cursor.eat(",") {
        false => Some(at_least),
        true if cursor.looks_at("}") => None,
        true => Some(cursor.number()?),
    };
    cursor.expect("}", "to close the repetition")?;
    let span = cursor.span_from(start);
    let largest = at_most.unwrap_or(at_least).max(at_least);
    if at_most.is_some_and(|most| most < at_least) {
        return Err(SyntaxError::new(span, "the repetition ends before it begins").help("write {least,most}"));
    }
    if largest > MAX_REPEAT {
        return Err(SyntaxError::new(span, format!("more than {MAX_REPEAT} repetitions")));
    }
    if at_most == Some(0) {
        return Err(SyntaxError::new(span, "a pattern repeated zero times matches nothing"));
    }
    Ok(Some((at_least, at_most)))
}

/// Returns true if a number in braces comes next; anything else in braces is a lemma.
fn begins_times(cursor: &mut Cursor<'_>) -> bool {
    let is_number = |rest: &str| rest.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == ',');
    cursor.peek() == Some('{') && is_number(&cursor.rest()[1..])
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.fmt_operand(f, Precedence::Repeat)?;
        match (self.at_least, self.at_most) {
            (0, Some(1)) => f.write_str("?"),
            (0, None) => f.write_str("*"),
            (1, None) => f.write_str("+"),
            (least, None) => write!(f, "{{{least},}}"),
            (least, Some(most)) if least == most => write!(f, "{{{least}}}"),
            (least, Some(most)) => write!(f, "{{{least},{most}}}"),
        }
    }
}

impl PatternOperator for Repeat {
    fn precedence(&self) -> Precedence {
        Precedence::Repeat
    }

    fn takes_tokens(&self) -> bool {
        self.of.takes_tokens()
    }

    fn states(&self, span: Span) -> Result<u64, SyntaxError> {
        if !self.of.takes_tokens() {
            return Err(SyntaxError::new(span, "only tokens can be repeated, not boundaries"));
        }
        let times = self.at_most.unwrap_or(self.at_least).clamp(1, MAX_REPEAT);
        Ok(self.of.states()?.saturating_mul(u64::from(times)))
    }

    fn collect_labels(&self, _span: Span, repeated: bool, labels: &mut Vec<String>) -> Result<(), SyntaxError> {
        self.of.collect_labels(repeated || self.at_most != Some(1), labels)
    }

    fn collect_filters<'p>(&'p self, filters: &mut Vec<&'p Filter>) {
        self.of.collect_filters(filters);
    }

    /// Unrolls the repetition; without a maximum the last copy loops.
    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, label: Option<usize>) -> NodeId {
        let mut first = next;
        match self.at_most {
            Some(most) => {
                for _ in self.at_least..most {
                    let again = self.of.compile(nfa, first, label);
                    first = nfa.split(vec![again, next]);
                }
            }
            None => {
                first = nfa.split(Vec::new());
                let again = self.of.compile(nfa, first, label);
                nfa.set_split(first, vec![again, next]);
            }
        }
        (0..self.at_least).fold(first, |next, _| self.of.compile(nfa, next, label))
    }

    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        let mut own = Vec::new();
        let once = self.of.seeds(nfa, at, &mut own);
        if self.at_least > 0 {
            seeds.extend(own);
        }
        once.times(self.at_least, self.at_most)
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        let mut latest = paths.clone();
        for _ in 0..self.at_least {
            latest = self.of.extend(text, &latest);
        }
        let mut all = latest.clone();
        let mut times = self.at_least;
        while !latest.is_empty() && self.at_most.is_none_or(|most| times < most) {
            latest = self.of.extend(text, &latest).difference(&all).cloned().collect();
            all.extend(latest.iter().cloned());
            times += 1;
        }
        all
    }
}
