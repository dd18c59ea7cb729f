//! Character references (`&amp;`, `&#8217;`, `&#x2019;`), with the error handling of the HTML
//! standard.

use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};
use memchr::memchr2;

/// Length of the longest name that is valid without a semicolon, such as `&Aacute`.
const MAX_BARE_NAME: usize = 6;
/// Length of the longest name, without the semicolon.
const MAX_NAME: usize = 31;

/// A decoded character reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference {
    first: char,
    second: Option<char>,
    /// Number of bytes after the ampersand.
    pub(super) length: usize,
}

impl Reference {
    pub(super) fn push_to(self, text: &mut String) {
        text.push(self.first);
        text.extend(self.second);
    }
}

/// Reads the reference after an ampersand; `None` if the ampersand is literal.
///
/// URLs in attributes may contain `&copy=1`, so there a name without a semicolon must not be
/// followed by `=` or an alphanumeric character.
pub(super) fn read(rest: &[u8], in_attribute: bool) -> Option<Reference> {
    match rest.first()? {
        b'#' => numeric(rest),
        byte if byte.is_ascii_alphanumeric() => named(rest, in_attribute),
        _ => None,
    }
}

/// Appends text with its references decoded; null characters become U+FFFD.
pub(super) fn decode(text: &str, in_attribute: bool, into: &mut String) {
    let mut from = 0;
    let mut look = 0;
    while let Some(found) = memchr2(b'&', 0, &text.as_bytes()[look..]) {
        let found = look + found;
        look = found + 1;
        if text.as_bytes()[found] == 0 {
            into.push_str(&text[from..found]);
            into.push('\u{fffd}');
            from = look;
        } else if let Some(reference) = read(&text.as_bytes()[look..], in_attribute) {
            into.push_str(&text[from..found]);
            reference.push_to(into);
            look += reference.length;
            from = look;
        }
    }
    into.push_str(&text[from..]);
}

fn numeric(rest: &[u8]) -> Option<Reference> {
    let (base, start) = if matches!(rest.get(1), Some(b'x' | b'X')) { (16, 2) } else { (10, 1) };
    let mut number = 0_u32;
    let mut end = start;
    while let Some(digit) = rest.get(end).and_then(|byte| char::from(*byte).to_digit(base)) {
        // Out-of-range values saturate and stay out of range.
        number = number.saturating_mul(base).saturating_add(digit);
        end += 1;
    }
    if end == start {
        return None;
    }
    let length = end + usize::from(rest.get(end) == Some(&b';'));
    // Numbers in the C1 control range mean the Windows-1252 characters.
    let windows = number.checked_sub(0x80).and_then(|place| *C1_REPLACEMENTS.get(place as usize)?);
    let first = match number {
        0 => '\u{fffd}',
        _ => windows.or(char::from_u32(number)).unwrap_or('\u{fffd}'),
    };
    Some(Reference { first, second: None, length })
}

fn named(rest: &[u8], in_attribute: bool) -> Option<Reference> {
    let run = rest.iter().take(MAX_NAME + 1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    if rest.get(run) == Some(&b';')
        && let Some(reference) = look_up(&rest[..run + 1])
    {
        return Some(reference);
    }
    let reference = (1..=run.min(MAX_BARE_NAME)).rev().find_map(|length| look_up(&rest[..length]))?;
    let continues = rest.get(reference.length).is_some_and(|next| *next == b'=' || next.is_ascii_alphanumeric());
    (!in_attribute || !continues).then_some(reference)
}

fn look_up(name: &[u8]) -> Option<Reference> {
    // The table also contains prefixes of names, mapped to 0.
    let (first, second) = *NAMED_ENTITIES.get(std::str::from_utf8(name).ok()?)?;
    let first = char::from_u32(first).filter(|first| *first != '\0')?;
    let second = char::from_u32(second).filter(|second| *second != '\0');
    Some(Reference { first, second, length: name.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        let mut decoded = String::new();
        decode(text, false, &mut decoded);
        decoded
    }

    #[test]
    fn no_entity_name_exceeds_the_maximum() {
        for (name, _) in NAMED_ENTITIES.entries().filter(|(_, (first, _))| *first != 0) {
            let most = if name.ends_with(';') { MAX_NAME + 1 } else { MAX_BARE_NAME };
            assert!(name.len() <= most, "{name}");
        }
    }

    #[test]
    fn named_and_numeric_references_are_decoded() {
        assert_eq!(plain("Tom &amp; Jerry&#8217;s &#x201c;M&uuml;ll&#X201D;"), "Tom & Jerry’s “Müll”");
        assert_eq!(plain("&notit; &notin; &NotEqualTilde; &CounterClockwiseContourIntegral;"), "¬it; ∉ ≂̸ ∳");
        assert_eq!(plain("&#x80; &#0; &#xD800; &#99999999999; &# &#x; &; &nosuch; &"), "€ � � � &# &#x; &; &nosuch; &");
    }

    #[test]
    fn references_in_urls_keep_query_parameters() {
        let mut decoded = String::new();
        decode("?a=1&copy=2&copyx&copy;&copy ", true, &mut decoded);
        assert_eq!(decoded, "?a=1&copy=2&copyx©© ");
    }
}
