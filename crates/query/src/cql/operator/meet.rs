//! `MU(meet A B -3 3)`, `(union A B)`: words near each other, in any order.
//!
//! A union has no node of its own: it is `A | B`.

use super::{
    Alternatives, Operator, OperatorDoc, Pattern, PatternKind, PatternOperator, Precedence, Structure, Syntax,
};
use super::{parse_primary, restriction::structure_range};
use crate::engine::nfa::{LengthRange, NfaBuilder, NodeId, SeedToken, SpanPattern};
use crate::filter::Filter;
use crate::oracle::{Path, Text};
use crate::syntax::{Cursor, Span, SyntaxError};
use std::collections::BTreeSet;
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "meet",
        syntax: "MU(meet A B -3 3)  MU(meet A B s)  MU(meet A !B -3 3)  MU(union A B)",
        meaning: "Matches `A` if `B` is near it: all tokens of `B` lie from 3 tokens before the first token of `A` to 3 tokens behind \
            its last one (1 3: 1 to 3 tokens behind it), or in the same sentence `s`, paragraph `p` or document `doc`. `A` and `B` may \
            share tokens. `!B` keeps the matches of `A` that have no `B` near. `union` is `A | B`. `MU` can be left out, and each of the two may be a `(meet …)` or a `(union …)`.",
        examples: &[
            (
                r#"MU(meet [lemma="oil"] [lemma="price"] -3 3)"#,
                "*oil* with *price* up to three tokens before or behind it",
            ),
            (r#"MU(meet [lemma="oil"] ![lemma="price"] -5 5)"#, "*oil* without *price* near it"),
            (r#"MU(meet (meet "climate" "change" 1 1) "crisis" s)"#, "*climate change* in a sentence with *crisis*"),
        ],
        templates: &[
            "MU(meet {token} {token} -2 2)",
            "(meet ({pattern}) {token} 1 3)",
            "MU(meet {token} !{token} -1 2)",
            "(meet {token} !({pattern}) s) {token}?",
            "MU(meet {token} (union {token} (meet {token} {token} -1 0)) s)",
            "{token}? (meet {token} ({pattern}) p) {token}?",
        ],
    },
    signs: "()",
    syntax: Syntax::Primary(parse),
};

/// The largest distance of a window.
const MAX_DISTANCE: i32 = 10_000;

/// Matches of one pattern near matches of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meet {
    /// The pattern whose matches are found.
    pub of: Box<Pattern>,
    /// The pattern that is near them.
    pub with: Box<Pattern>,
    /// Whether it is not near them.
    pub negated: bool,
    /// The tokens in which it is.
    pub window: MeetWindow,
}

/// The tokens around a match in which another must lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeetWindow {
    /// From a distance from its first token to a distance from its last one.
    Tokens(i32, i32),
    /// In the same structure.
    Structure(Structure),
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    let mut ahead = cursor.clone();
    let has_keyword = ["MU", "mu"].contains(&ahead.peek_name());
    if has_keyword {
        ahead.take_name();
    }
    if !ahead.eat("(") {
        return Ok(None);
    }
    let keyword = ahead.peek_name();
    let operands = ahead.rest()[keyword.len()..].trim_start();
    // `(union leaders | strike)` are words.
    let is_known = ["meet", "union"].contains(&keyword) && operands.starts_with(['(', '"', '[', 'M']);
    if !(is_known || has_keyword && ["meet", "union"].contains(&keyword)) {
        if has_keyword && !cursor.rest().trim_start()[2..].starts_with(char::is_whitespace) {
            return Err(ahead.unexpected("meet or union").help("write MU(meet A B -3 3) or MU(union A B)"));
        }
        return Ok(None);
    }
    cursor.skip_blanks();
    let start = cursor.at();
    *cursor = ahead;
    cursor.deeper(|cursor| parse_body(cursor, start)).map(Some)
}

/// Parses what follows the parenthesis.
fn parse_body(cursor: &mut Cursor<'_>, start: usize) -> Result<Pattern, SyntaxError> {
    let keyword = cursor.take_name();
    let operand = |cursor: &mut Cursor<'_>| match parse_primary(cursor)? {
        Some(pattern) => Ok(pattern),
        None => Err(cursor.unexpected(&format!("a token of {keyword}"))),
    };
    let of = operand(cursor)?;
    let negated = keyword == "meet" && cursor.eat("!");
    let with = operand(cursor)?;
    let kind = match keyword {
        "union" => PatternKind::Alternatives(Alternatives { parts: vec![of, with] }),
        _ => {
            let window = parse_window(cursor)?;
            PatternKind::Meet(Meet { of: Box::new(of), with: Box::new(with), negated, window })
        }
    };
    cursor.expect(")", &format!("to close {keyword}"))?;
    Ok(Pattern::new(kind, cursor.span_from(start)))
}

fn parse_window(cursor: &mut Cursor<'_>) -> Result<MeetWindow, SyntaxError> {
    if cursor.looks_at(")") {
        let help = "write the distances, as in -3 3, or s for the same sentence";
        return Err(cursor.unexpected("the window of meet").help(help));
    }
    let name = cursor.peek_name();
    if let Some(structure) = Structure::named(name) {
        cursor.take_name();
        return Ok(MeetWindow::Structure(structure));
    }
    let start = cursor.at();
    let (left, right) = (parse_distance(cursor)?, parse_distance(cursor)?);
    if left > right {
        let error = SyntaxError::new(cursor.span_from(start), "the window of meet ends before it begins");
        return Err(error.help(format!("write {right} {left}")));
    }
    Ok(MeetWindow::Tokens(left, right))
}

fn parse_distance(cursor: &mut Cursor<'_>) -> Result<i32, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    let is_negative = cursor.eat("-");
    let number = i32::try_from(cursor.number()?).unwrap_or(i32::MAX);
    if number > MAX_DISTANCE {
        let message = format!("a distance of more than {MAX_DISTANCE} tokens");
        return Err(SyntaxError::new(cursor.span_from(start), message));
    }
    Ok(if is_negative { -number } else { number })
}

impl fmt::Display for MeetWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeetWindow::Tokens(left, right) => write!(f, "{left} {right}"),
            MeetWindow::Structure(structure) => f.write_str(structure.name()),
        }
    }
}

impl fmt::Display for Meet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MU(meet ")?;
        self.of.fmt_operand(f, Precedence::Repeat)?;
        f.write_str(if self.negated { " !" } else { " " })?;
        self.with.fmt_operand(f, Precedence::Repeat)?;
        write!(f, " {})", self.window)
    }
}

impl PatternOperator for Meet {
    fn stays_in_sentence(&self) -> bool {
        self.of.stays_in_sentence()
    }

    fn takes_tokens(&self) -> bool {
        self.of.takes_tokens()
    }

    fn states(&self, span: Span) -> Result<u64, SyntaxError> {
        for part in [&self.of, &self.with] {
            let mut labels = Vec::new();
            part.collect_labels(false, &mut labels)?;
            if let Some(label) = labels.first() {
                let message = format!("the label {label} is inside meet, where no constraint can refer to it");
                return Err(SyntaxError::new(span, message));
            }
            if !part.takes_tokens() {
                return Err(SyntaxError::new(part.span, "meet needs tokens, not boundaries"));
            }
        }
        Ok(1 + self.of.states()? + self.with.states()?)
    }

    fn collect_filters<'p>(&'p self, filters: &mut Vec<&'p Filter>) {
        self.of.collect_filters(filters);
        self.with.collect_filters(filters);
    }

    fn compile(&self, nfa: &mut NfaBuilder, next: NodeId, _label: Option<usize>) -> NodeId {
        nfa.whole_span(SpanPattern::Meet(Box::new(self.clone())), next)
    }

    fn seeds(&self, nfa: &mut NfaBuilder, at: LengthRange, seeds: &mut Vec<Vec<SeedToken>>) -> LengthRange {
        seeds.push(vec![nfa.span_seed(SpanPattern::Meet(Box::new(self.clone())), at)]);
        let length = self.of.seeds(&mut NfaBuilder::default(), LengthRange::EMPTY, &mut Vec::new());
        LengthRange { min: length.min.max(1), ..length }
    }

    fn extend(&self, text: &Text<'_>, paths: &BTreeSet<Path>) -> BTreeSet<Path> {
        let (all, near) = (text.matches(&self.of), text.matches(&self.with));
        let is_met = |(start, end): &(usize, usize)| {
            let (first, last) = match self.window {
                MeetWindow::Tokens(left, right) => (*start as i64 + i64::from(left), *end as i64 + i64::from(right)),
                MeetWindow::Structure(structure) => {
                    let around = text.document.structures(structure).into_iter();
                    let Some((from, to)) = around.into_iter().find(|(from, to)| from <= start && end <= to) else {
                        return false;
                    };
                    (from as i64, to as i64)
                }
            };
            near.iter().any(|(start, end)| first <= *start as i64 && *end as i64 <= last)
        };
        let met: Vec<(usize, usize)> = all.into_iter().filter(|hit| is_met(hit) != self.negated).collect();
        let ends = paths.iter().flat_map(|path| {
            let starting = met.iter().filter(|(start, _)| *start == path.at);
            starting.map(|(_, end)| path.moved_to(*end))
        });
        ends.collect()
    }
}

impl MeetWindow {
    /// The engine: the positions that a match at `hit` may be met in; `None` if it lies in no single structure.
    pub(crate) fn around(
        &self,
        hit: &std::ops::Range<u32>,
        document: &std::ops::Range<u32>,
        segment: &tidings_index::Segment,
    ) -> Option<std::ops::Range<u32>> {
        let clamp = |position: i64| position.clamp(i64::from(document.start), i64::from(document.end)) as u32;
        match self {
            MeetWindow::Tokens(left, right) => {
                let first = clamp(i64::from(hit.start) + i64::from(*left));
                let last = clamp(i64::from(hit.end) + i64::from(*right));
                (first < last).then_some(first..last)
            }
            MeetWindow::Structure(structure) => {
                let around = structure_range(segment, *structure, document, hit.start);
                (hit.end <= around.end).then_some(around)
            }
        }
    }
}
