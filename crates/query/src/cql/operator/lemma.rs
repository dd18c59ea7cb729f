//! `{go}`, `{light/NOUN}`, `{un*}`: simple search by lemma.

use super::word::matcher_of_typed;
use super::{Operator, OperatorDoc, Pattern, Syntax, TokenTest};
use crate::cql::attribute::Attribute;
use crate::syntax::{Cursor, Logic, SyntaxError};

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "lemma",
        syntax: "{go}  {light/NOUN}  {un*}",
        meaning: "All forms of a word: a lemma, in any case unless it has a capital, perhaps with its part of speech after a slash. \
            `*` is any number of characters, `?` is one.",
        examples: &[
            ("{go} home", "*go home*, *went home*"),
            ("{light/NOUN}", "the noun *light*"),
            ("{un*/ADJ} {price}", "an adjective in *un-* before a form of *price*"),
        ],
        templates: &["{a}", "{b*} {token}", "{a/N} {pattern}"],
    },
    signs: "{}",
    syntax: Syntax::Primary(parse),
};

fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    if !cursor.eat("{") {
        return Ok(None);
    }
    let text = cursor.take_while(|c| !"{}\"[]()<>|".contains(c)).trim();
    let (lemma, tag) = text.rsplit_once('/').filter(|(lemma, _)| !lemma.is_empty()).unwrap_or((text, ""));
    if lemma.is_empty() || text.contains(char::is_whitespace) {
        return Err(cursor.unexpected("one lemma, as in {go}").help("give each lemma its own braces"));
    }
    cursor.expect("}", "to close the lemma")?;
    let span = cursor.span_from(start);
    let mut tests = vec![Logic::Test(TokenTest::of(Attribute::Lemma, matcher_of_typed(lemma), span))];
    if !tag.is_empty() {
        tests.push(Logic::Test(TokenTest::of(Attribute::Tag, matcher_of_typed(tag), span)));
    }
    let condition = if tests.len() == 1 { tests.remove(0) } else { Logic::All(tests) };
    Ok(Some(Pattern::new(super::TokenPattern { condition }, span)))
}
