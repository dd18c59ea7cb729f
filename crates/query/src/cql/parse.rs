//! The parser, by recursive descent, and the checks that the grammar cannot express. The operators parse
//! themselves, see [`super::operator`].

use super::ast::Query;
use super::operator::{is_sign, keywords, parse_constraints, parse_pattern, parse_restriction, plain_words, too_large};
use super::{MAX_BYTES, MAX_TOKENS};
use crate::syntax::{Cursor, Span, SyntaxError};

/// Parses a query: CQL, bare words, or a phrase in quotes.
pub fn parse(text: &str) -> Result<Query, SyntaxError> {
    if text.len() > MAX_BYTES {
        let span = Span::new(0, 0);
        return Err(SyntaxError::new(span, format!("the query is longer than {MAX_BYTES} bytes")));
    }
    let query = if text.contains(is_sign) { parse_cql(text)? } else { parse_plain_words(text)? };
    check(&query)?;
    Ok(query)
}

fn parse_plain_words(text: &str) -> Result<Query, SyntaxError> {
    let pattern = plain_words(text)?
        .ok_or_else(|| SyntaxError::new(Span::new(0, 0), "the query is empty").help("write a word, or [] for any"))?;
    Ok(Query { pattern, restrictions: Vec::new(), constraints: Vec::new() })
}

fn parse_cql(text: &str) -> Result<Query, SyntaxError> {
    let mut cursor = Cursor::new(text);
    let pattern = parse_pattern(&mut cursor)?;
    let mut restrictions = Vec::new();
    while let Some(restriction) = parse_restriction(&mut cursor)? {
        restrictions.push(restriction);
    }
    let constraints = parse_constraints(&mut cursor)?;
    // CQP ends its queries with a semicolon, and people copy them.
    cursor.eat(";");
    if !cursor.is_done() {
        return Err(cursor.unexpected(&format!("a token, {}, :: or the end", keywords(", "))));
    }
    Ok(Query { pattern, restrictions, constraints })
}

/// Rejects ambiguous or unknown labels, patterns without tokens, and queries that unroll into too many states.
fn check(query: &Query) -> Result<(), SyntaxError> {
    let mut labels = Vec::new();
    query.pattern.collect_labels(false, &mut labels)?;
    let mut states = query.pattern.states()?;
    for restriction in &query.restrictions {
        states += restriction.check()?;
    }
    if states > MAX_TOKENS {
        return Err(too_large(query.pattern.span));
    }
    if !query.pattern.takes_tokens() {
        return Err(SyntaxError::new(query.pattern.span, "the query describes a boundary but no token")
            .help("put [] next to it for any token"));
    }
    query.constraints.iter().try_for_each(|constraint| constraint.check(&labels))
}
