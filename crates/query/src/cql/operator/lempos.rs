//! `lempos="test-n"`: lemma and part of speech in one, as Sketch Engine has it. It becomes tests of `lemma` and `tag`.

use super::TokenTest;
use super::condition::parse_equality;
use crate::cql::attribute::Attribute;
use crate::syntax::{Cursor, Logic, Span, SyntaxError, ValueMatcher};

/// The letters of parts of speech, with the tags of Universal Dependencies.
const LETTERS: &[(char, &str)] = &[
    ('n', "NOUN|PROPN"),
    ('v', "VERB|AUX"),
    ('j', "ADJ"),
    ('a', "ADV"),
    ('d', "PRON"),
    ('i', "ADP"),
    ('c', "CCONJ|SCONJ"),
    ('x', "DET|INTJ|NUM|PART|PUNCT|SYM|X"),
];

pub(super) fn parse_lempos(cursor: &mut Cursor<'_>) -> Result<Logic<TokenTest>, SyntaxError> {
    let start = cursor.at();
    cursor.take_name();
    let (negated, exact) = parse_equality(cursor)?;
    let (value, at) = ValueMatcher::read(cursor, exact)?;
    let span = cursor.span_from(start);
    let Some((lemma, letters)) = value.text.rsplit_once('-') else { return Err(no_letter(at)) };
    let lemma = ValueMatcher { text: lemma.to_owned(), ..value.clone() };
    lemma.compile().map_err(|error| SyntaxError { span: at, ..error })?;
    let lemma = Logic::Test(TokenTest::of(Attribute::Lemma, lemma, span));
    let both = match tags(letters).ok_or_else(|| no_letter(at))? {
        Some(tags) => {
            Logic::All(vec![lemma, Logic::Test(TokenTest::of(Attribute::Tag, ValueMatcher::regex(tags), span))])
        }
        None => lemma,
    };
    Ok(if negated { Logic::Not(Box::new(both)) } else { both })
}

/// The tags of `n`, `[nv]` or `(n|v)`; nothing inside of `.`, which is any part of speech.
fn tags(letters: &str) -> Option<Option<String>> {
    if [".", ".*", ".+"].contains(&letters) {
        return Some(None);
    }
    let letters = letters.trim_matches(['[', ']', '(', ')']).replace('|', "");
    let tags: Option<Vec<&str>> = letters
        .chars()
        .map(|letter| LETTERS.iter().find(|(known, _)| *known == letter).map(|(_, tags)| *tags))
        .collect();
    tags.filter(|tags| !tags.is_empty()).map(|tags| Some(tags.join("|")))
}

fn no_letter(at: Span) -> SyntaxError {
    let letters: Vec<String> = LETTERS.iter().map(|(letter, tags)| format!("-{letter} {tags}")).collect();
    SyntaxError::new(at, "lempos ends with a hyphen and the letter of a part of speech, as in test-n")
        .help(format!("there are {}", letters.join(", ")))
}
