//! `going`, `"going"`, `"prime minister"`: words without brackets. They become token patterns of the attribute `word`.

use super::ends_query;
use super::restriction::peek_keyword;
use super::{Operator, OperatorDoc, Pattern, Sequence, Syntax, TokenPattern, TokenTest, is_sign};
use crate::cql::attribute::Attribute;
use crate::cql::foreign::BareWord;
use crate::syntax::{Cursor, Logic, Span, SyntaxError, ValueMatcher, unescape};

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "word",
        syntax: "going  climate*  \"go.*\"  \"prime minister\"",
        meaning: "A bare word matches that word, in any case unless it has a capital. In a query of words alone and in phrases `*` is any \
            number of characters and `?` is one. A string is a regular expression on the word, case-sensitive. A string with blanks is \
            a phrase of bare words.",
        examples: &[
            ("market", "*market*, *Market*"),
            ("prime minister", "*prime minister* in any case"),
            ("climate*", "*climate*, *climates*, *climatic* not"),
            ("un*ly", "*unlikely*, *Unfortunately*"),
            (r#""ma.*""#, "words that start with *ma*"),
        ],
        templates: &["a*", "?b a", "\"a* b\" {token}", "\"a\"", "\"a.*\"%c", "\"a b\" {token}"],
    },
    signs: "\"",
    syntax: Syntax::Primary(parse),
};

/// Characters that end a bare word, besides those that make a text CQL.
const ENDS_BARE_WORD: &[char] = &['&', '?', '*', '+', ':', '=', '!', '%', '\\', ';'];

fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    match cursor.peek() {
        Some('"') => parse_string(cursor).map(Some),
        Some(c) if ends_bare_word(c) || peek_keyword(cursor).is_some() => Ok(None),
        Some(_) if ends_query(cursor) => Ok(None),
        Some(_) => {
            let (start, before) = (cursor.at(), cursor.before());
            let word = cursor.take_while(|c| !ends_bare_word(c));
            BareWord { word, before, after: cursor.rest(), span: cursor.span_from(start) }.check_in_cql()?;
            Ok(Some(word_pattern(ValueMatcher::typed(word), cursor.span_from(start))))
        }
        None => Ok(None),
    }
}

fn ends_bare_word(c: char) -> bool {
    c.is_whitespace() || is_sign(c) || ENDS_BARE_WORD.contains(&c)
}

/// A string between tokens: one token, or a phrase if it has blanks.
fn parse_string(cursor: &mut Cursor<'_>) -> Result<Pattern, SyntaxError> {
    let start = cursor.at();
    let raw = cursor.clone().quoted()?;
    if raw.trim().contains(char::is_whitespace) {
        let words = phrase(raw, start + 1, |word| unescape(word, true));
        let pattern = words.expect("a text with blanks inside has words");
        cursor.quoted()?;
        if cursor.looks_at("%") {
            return Err(cursor.unexpected("no flag after a phrase").help("give each word its own quotes"));
        }
        return Ok(pattern);
    }
    if raw.trim().is_empty() {
        let span = Span::new(start, start + raw.len() + 2);
        return Err(SyntaxError::new(span, "the string is empty").help("[] is any token"));
    }
    let (value, _) = ValueMatcher::read(cursor, false)?;
    Ok(word_pattern(value, cursor.span_from(start)))
}

/// The pattern of a text without any sign of CQL: one token per word, in this order.
pub(crate) fn plain_words(text: &str) -> Result<Option<Pattern>, SyntaxError> {
    each_word(text, 0).try_for_each(|word| word.check_in_plain_words())?;
    Ok(phrase(text, 0, str::to_owned))
}

/// The words of a text that starts at a byte of the query.
fn each_word(text: &str, offset: usize) -> impl Iterator<Item = BareWord<'_>> {
    text.split_whitespace().map(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        let (before, after) = (&text[..start], &text[start + word.len()..]);
        BareWord { word, before, after, span: Span::new(offset + start, offset + start + word.len()) }
    })
}

/// The pattern of the words of a text that starts at a byte of the query.
fn phrase(text: &str, offset: usize, unescape: impl Fn(&str) -> String) -> Option<Pattern> {
    let pattern = |word: BareWord<'_>| word_pattern(matcher_of_typed(&unescape(word.word)), word.span);
    Sequence::of(each_word(text, offset).map(pattern).collect())
}

fn word_pattern(value: ValueMatcher, span: Span) -> Pattern {
    Pattern::new(TokenPattern { condition: Logic::Test(TokenTest::of(Attribute::Word, value, span)) }, span)
}

/// The matcher of a word as it is typed into a search box: `*` is any number of characters, `?` is one. A sign on its own is a
/// sign, and the case of letters counts if one is a capital.
pub(super) fn matcher_of_typed(word: &str) -> ValueMatcher {
    let typed = ValueMatcher::typed(word);
    if !(word.contains(['*', '?']) && word.contains(char::is_alphanumeric)) {
        return typed;
    }
    let mut pattern = String::new();
    for c in word.chars() {
        match c {
            '*' if pattern.ends_with(".*") => {}
            '*' => pattern.push_str(".*"),
            '?' => pattern.push('.'),
            c => pattern.push_str(&regex_syntax::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    ValueMatcher { text: pattern, exact: false, ..typed }
}
