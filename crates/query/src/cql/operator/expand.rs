//! `A expand to s`: hits that are widened to whole structures or by some tokens.

use super::restriction::structure_range;
use super::{Operator, OperatorDoc, Structure, Syntax};
use crate::oracle::{Document, TokenSpan};
use crate::syntax::{Cursor, SyntaxError};
use std::fmt;
use std::ops::Range;
use tidings_index::Segment;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "expand",
        syntax: "A expand to s  A expand left to s  A expand right to 5",
        meaning: "Widens each hit to the start of the sentence (`s`, `p`, `doc`) of its first token and to the end of that of its last \
            one, or by some tokens, never across documents. Of hits that then start at one token the match rule takes one.",
        examples: &[
            (r#"[lemma="oil"] expand to s"#, "whole sentences with *oil*"),
            (r#""however" expand right to 5"#, "*however* and the five tokens behind it"),
        ],
        templates: &["{pattern} expand to s", "{pattern} expand left to 2", "{token} within <s/> expand right to p"],
    },
    signs: "",
    syntax: Syntax::Other,
};

/// How far hits are widened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expansion {
    /// Before the hit.
    pub left: bool,
    /// Behind it.
    pub right: bool,
    /// The distance.
    pub to: Reach,
}

/// A distance from a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// To the border of the structure.
    Structure(Structure),
    /// A number of tokens.
    Tokens(u32),
}

/// The largest number of tokens.
const MAX_TOKENS: u32 = 10_000;

/// Parses `expand to s` if it comes next.
pub(crate) fn parse_expansion(cursor: &mut Cursor<'_>) -> Result<Option<Expansion>, SyntaxError> {
    if !is_next(cursor) {
        return Ok(None);
    }
    cursor.take_name();
    let (left, right) = match cursor.peek_name() {
        "left" => (true, false),
        "right" => (false, true),
        _ => (true, true),
    };
    if left != right {
        cursor.take_name();
    }
    if cursor.peek_name() != "to" {
        return Err(cursor.unexpected("to after expand"));
    }
    cursor.take_name();
    let start = cursor.at();
    let name = cursor.peek_name();
    let to = match Structure::named(name) {
        Some(structure) => {
            cursor.take_name();
            Reach::Structure(structure)
        }
        None if name.starts_with(|c: char| c.is_ascii_digit()) => Reach::Tokens(cursor.number()?),
        None => return Err(cursor.unexpected("s, p, doc or a number of tokens")),
    };
    if matches!(to, Reach::Tokens(tokens) if tokens > MAX_TOKENS) {
        return Err(SyntaxError::new(cursor.span_from(start), format!("more than {MAX_TOKENS} tokens")));
    }
    Ok(Some(Expansion { left, right, to }))
}

/// Returns true if `expand to` comes next, as an operator and not as words.
pub(super) fn is_next(cursor: &mut Cursor<'_>) -> bool {
    let name = cursor.peek_name();
    if name != "expand" {
        return false;
    }
    let mut next = cursor.rest()[name.len()..].split_whitespace().skip_while(|word| ["left", "right"].contains(word));
    let is_target = |word: &str| {
        let word = word.trim_end_matches(';');
        Structure::named(word).is_some() || !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
    };
    next.next() == Some("to") && next.next().is_some_and(is_target)
}

impl fmt::Display for Expansion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match (self.left, self.right) {
            (true, false) => "left ",
            (false, true) => "right ",
            _ => "",
        };
        match self.to {
            Reach::Structure(structure) => write!(f, "expand {side}to {}", structure.name()),
            Reach::Tokens(tokens) => write!(f, "expand {side}to {tokens}"),
        }
    }
}

impl Expansion {
    /// The engine: the widened hit.
    pub(crate) fn of(&self, hit: Range<u32>, document: &Range<u32>, segment: &Segment) -> Range<u32> {
        let start = || match self.to {
            Reach::Structure(structure) => structure_range(segment, structure, document, hit.start).start,
            Reach::Tokens(tokens) => hit.start.saturating_sub(tokens).max(document.start),
        };
        let end = || match self.to {
            Reach::Structure(structure) => structure_range(segment, structure, document, hit.end - 1).end,
            Reach::Tokens(tokens) => hit.end.saturating_add(tokens).min(document.end),
        };
        (if self.left { start() } else { hit.start })..(if self.right { end() } else { hit.end })
    }

    /// The oracle.
    pub(crate) fn oracle_of(&self, document: &Document, (start, end): TokenSpan) -> TokenSpan {
        let (left, right) = match self.to {
            Reach::Tokens(tokens) => {
                (start.saturating_sub(tokens as usize), document.tokens().len().min(end + tokens as usize))
            }
            Reach::Structure(structure) => {
                let all = document.structures(structure);
                let around = |token: usize| all.iter().copied().find(|(from, to)| (*from..*to).contains(&token));
                (around(start).map_or(start, |span| span.0), around(end - 1).map_or(end, |span| span.1))
            }
        };
        (if self.left { left } else { start }, if self.right { right } else { end })
    }
}
