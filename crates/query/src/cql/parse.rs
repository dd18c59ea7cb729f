//! The parser, by recursive descent, and the checks that the grammar cannot express. The operators parse
//! themselves, see [`super::operator`].

use super::MAX_BYTES;
use super::ast::Query;
use super::operator::{is_sign, keywords, parse_conditions, parse_cut, parse_expansion, parse_pattern, plain_words};
use crate::syntax::{Cursor, Span, SyntaxError};

/// Parses a query: CQL, bare words, or a phrase in quotes.
pub fn parse(text: &str) -> Result<Query, SyntaxError> {
    if text.len() > MAX_BYTES {
        let span = Span::new(0, 0);
        return Err(SyntaxError::new(span, format!("the query is longer than {MAX_BYTES} bytes")));
    }
    let query = if text.contains(is_sign) { parse_cql(text)? } else { parse_plain_words(text)? };
    query.check()?;
    Ok(query)
}

fn parse_plain_words(text: &str) -> Result<Query, SyntaxError> {
    let pattern = plain_words(text)?
        .ok_or_else(|| SyntaxError::new(Span::new(0, 0), "the query is empty").help("write a word, or [] for any"))?;
    Ok(Query::of(pattern))
}

fn parse_cql(text: &str) -> Result<Query, SyntaxError> {
    let mut cursor = Cursor::new(text);
    let pattern = parse_pattern(&mut cursor)?;
    let (restrictions, constraints) = parse_conditions(&mut cursor)?;
    let mut query = Query { restrictions, constraints, ..Query::of(pattern) };
    // CQP has cut before expand; both orders mean the same.
    query.cut = parse_cut(&mut cursor)?;
    query.expansion = parse_expansion(&mut cursor)?;
    if query.cut.is_none() {
        query.cut = parse_cut(&mut cursor)?;
    }
    // CQP ends its queries with a semicolon, and people copy them.
    cursor.eat(";");
    if !cursor.is_done() {
        return Err(cursor.unexpected(&format!("a token, {}, :: or the end", keywords(", "))));
    }
    Ok(query)
}
