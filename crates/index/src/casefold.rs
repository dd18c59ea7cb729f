//! Case folding and removal of diacritics: one key for all spellings that a case- or
//! accent-insensitive search may match.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Key under which a string is found regardless of case and diacritics.
///
/// Strings that differ only in case or diacritics have the same key. Others may share it, so
/// callers must verify each match.
pub fn look_up_key(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        return if is_lower { Cow::Borrowed(text) } else { Cow::Owned(text.to_ascii_lowercase()) };
    }
    let plain = text.nfd().filter(|char| !is_combining_mark(*char));
    Cow::Owned(plain.map(one_case).nfc().collect())
}

/// Maps to uppercase and then to lowercase, which unites `ſ` with `s` and `ς` with `σ`. A character
/// whose mapping has several characters is kept.
fn one_case(char: char) -> char {
    if char == 'ﬅ' {
        return 'ﬆ'; // Two ligatures of the same letters, one with a long s.
    }
    let mut upper = char.to_uppercase();
    let upper = upper.next().filter(|_| upper.next().is_none()).unwrap_or(char);
    let mut lower = upper.to_lowercase();
    lower.next().filter(|_| lower.next().is_none()).unwrap_or(upper)
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::hir::{Class, HirKind};

    #[test]
    fn characters_that_a_caseless_expression_unites_have_one_key() {
        // The iota subscript is both a mark and a letter; it counts as a mark here.
        for char in ('\0'..='\u{1ffff}').filter(|char| char.is_alphabetic() && !is_combining_mark(*char)) {
            let text = regex_syntax::escape(&char.to_string());
            let parsed = regex_syntax::ParserBuilder::new().case_insensitive(true).build().parse(&text);
            let parsed = parsed.expect("a literal");
            let HirKind::Class(Class::Unicode(class)) = parsed.kind() else { continue };
            for other in class.ranges().iter().flat_map(|range| range.start()..=range.end()) {
                if is_combining_mark(other) {
                    continue;
                }
                assert_eq!(look_up_key(&char.to_string()), look_up_key(&other.to_string()), "{char} {other}");
            }
        }
    }

    #[test]
    fn case_and_marks_do_not_count() {
        for (text, key) in [("Été", "ete"), ("ete", "ete"), ("İ", "i"), ("STRAẞE", "straße"), ("", "")] {
            assert_eq!(look_up_key(text), key);
        }
    }
}
