//! `@[…]`: the target of CQP, a token with the label `target`.

use super::label::{Labelled, is_token};
use super::{Operator, OperatorDoc, Pattern, Syntax, parse_primary};
use crate::syntax::{Cursor, SyntaxError};

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "target",
        syntax: "@[…]  @1[…]  @1:[…]",
        meaning: "Marks a token, as CQP does: `@` is the label `target`, `@1` the label `target1`. The hit is the whole match; constraints \
            refer to the token, and counts by `target.lemma` count it alone.",
        examples: &[
            (r#"@[word="oil"] [tag="NOUN"]"#, "*oil* before a noun"),
            (r#"@[tag="ADJ"] [tag="NOUN"] :: target.lemma = "new|old""#, "*new* or *old* before a noun"),
        ],
        templates: &["@{token} {pattern} :: target.word != \"a\"", "{token} @1:[] :: target1.lemma = match.lemma"],
    },
    signs: "",
    syntax: Syntax::Prefix(parse),
};

fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    let mut ahead = cursor.clone();
    if !ahead.eat("@") {
        return Ok(None);
    }
    let start = ahead.at() - 1;
    let number = ahead.take_while(|c| c.is_ascii_digit());
    if ahead.rest().starts_with(':') {
        ahead.eat(":");
    }
    // `@handle` is a word.
    if !ahead.rest().starts_with(['[', '"', '(']) {
        return Ok(None);
    }
    *cursor = ahead;
    let token = parse_primary(cursor)?.ok_or_else(|| cursor.unexpected("a token after @"))?;
    let span = cursor.span_from(start);
    if !is_token(&token) {
        return Err(SyntaxError::new(span, "the target @ is more than one token").help("put @ before one token"));
    }
    Ok(Some(Pattern::new(Labelled { label: format!("target{number}"), token: Box::new(token) }, span)))
}
