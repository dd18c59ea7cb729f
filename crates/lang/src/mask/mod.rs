//! Masking of personal data: e-mail addresses, card and account numbers, telephone numbers, IP addresses, national
//! identity numbers.
//!
//! Each rule has a name for the settings and leaves its own placeholder, so that a sentence keeps its
//! structure. Numbers that look similar (dates, prices, ISBNs, scores) stay: a rule verifies check digits
//! if there are any, and otherwise requires the usual punctuation or a word before the number.

mod account;
mod cues;
mod email;
mod identity;
mod ip;
mod phone;
mod plain;

use std::borrow::Cow;
use std::ops::Range;

use account::iban;
use cues::is_unspaced;
use email::{email, spoken_email};
use identity::identity;
use ip::ip_address;
use phone::DigitGroups;
use plain::Plain;

/// A kind of personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MaskRule {
    /// E-mail addresses.
    Email,
    /// Bank accounts (IBAN) with valid check digits.
    Iban,
    /// Card numbers of 13 to 19 digits with a valid Luhn check digit.
    Card,
    /// IPv4 and IPv6 addresses.
    Ip,
    /// Telephone numbers in the shapes of many countries, or after a word such as *Tel.*
    Phone,
    /// National identity, tax and insurance numbers.
    Id,
}

impl MaskRule {
    /// All rules.
    pub const ALL: [MaskRule; 6] =
        [MaskRule::Email, MaskRule::Iban, MaskRule::Card, MaskRule::Ip, MaskRule::Phone, MaskRule::Id];

    /// The name in the settings.
    pub fn name(self) -> &'static str {
        ["email", "iban", "card", "ip", "phone", "id"][self as usize]
    }

    /// The rule with a name.
    pub fn named(name: &str) -> Option<MaskRule> {
        MaskRule::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// The placeholder.
    pub fn token(self) -> &'static str {
        ["[EMAIL]", "[IBAN]", "[CARD]", "[IP]", "[PHONE]", "[ID]"][self as usize]
    }
}

/// A text after masking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked<'a> {
    /// The masked text, borrowed if nothing was found.
    pub text: Cow<'a, str>,
    /// Replacements by rule, in the order of [`MaskRule::ALL`].
    pub counts: [usize; MaskRule::ALL.len()],
    /// Replaced ranges of the original text, from left to right.
    pub found: Vec<(MaskRule, Range<usize>)>,
}

/// Applies the rules, in time linear in the text.
///
/// ```
/// use tidings_lang::{MaskRule, mask};
///
/// let masked = mask("Write to jane@example.org before 01.03.2026.", &MaskRule::ALL);
/// assert_eq!(masked.text, "Write to [EMAIL] before 01.03.2026.");
/// assert_eq!(masked.counts, [1, 0, 0, 0, 0, 0]);
/// ```
pub fn mask<'a>(text: &'a str, rules: &[MaskRule]) -> Masked<'a> {
    let mut masked = Masked { text: Cow::Borrowed(text), counts: [0; MaskRule::ALL.len()], found: Vec::new() };
    // A placeholder may end the word beside it and make another rule match, so the result is scanned too.
    for _ in 0..MAX_PASSES {
        let more = find(&masked.text, rules);
        if more.is_empty() {
            break;
        }
        masked.add(more);
        masked.text = Cow::Owned(replaced(text, &masked.found));
    }
    for (rule, _) in &masked.found {
        masked.counts[*rule as usize] += 1;
    }
    masked
}

/// A second pass rarely finds anything.
const MAX_PASSES: usize = 8;

impl Masked<'_> {
    /// Adds matches in the masked text, which never overlap earlier ones.
    fn add(&mut self, more: Vec<(MaskRule, Range<usize>)>) {
        let mut all = Vec::with_capacity(self.found.len() + more.len());
        let mut earlier = std::mem::take(&mut self.found).into_iter().peekable();
        // The same position in the original and in the masked text.
        let (mut original, mut masked) = (0, 0);
        for (rule, place) in more {
            while let Some((_, before)) = earlier.peek()
                && masked + (before.start - original) <= place.start
            {
                let (rule, before) = earlier.next().expect("peek returned an item");
                masked += before.start - original + rule.token().len();
                original = before.end;
                all.push((rule, before));
            }
            let start = original + (place.start - masked);
            all.push((rule, start..start + place.len()));
        }
        all.extend(earlier);
        self.found = all;
    }
}

/// The text with placeholders for the matches.
fn replaced(text: &str, found: &[(MaskRule, Range<usize>)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (rule, place) in found {
        out.push_str(&text[copied..place.start]);
        out.push_str(rule.token());
        copied = place.end;
    }
    out.push_str(&text[copied..]);
    out
}

/// The matches, from left to right.
fn find(text: &str, rules: &[MaskRule]) -> Vec<(MaskRule, Range<usize>)> {
    let plain = Plain::new(text);
    let mut found = Vec::new();
    let mut place = 0;
    while let Some((rule, start, end)) = next(&plain.text, place, rules) {
        found.push((rule, plain.original(start..end)));
        place = end;
    }
    found
}

/// Bytes at which a match can begin or, as `@`, be recognised.
const CANDIDATE_BYTES: [bool; 256] = {
    let mut candidates = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        candidates[byte] = letter.is_ascii_hexdigit()
            || letter.is_ascii_uppercase()
            || matches!(letter, b'@' | b':' | b'+' | b'(' | b'[' | b'{' | b'<');
        byte += 1;
    }
    candidates
};

/// The next match at or after `from`.
fn next(text: &str, from: usize, rules: &[MaskRule]) -> Option<(MaskRule, usize, usize)> {
    let bytes = text.as_bytes();
    let on = |rule: MaskRule| rules.contains(&rule);
    let mut place = from;
    while let Some(ahead) = bytes[place..].iter().position(|byte| CANDIDATE_BYTES[usize::from(*byte)]) {
        place += ahead;
        let byte = bytes[place];
        let before = place.checked_sub(1).map(|place| bytes[place]);
        let starts_word = !ends_in_word(&bytes[..place]);
        if on(MaskRule::Email) {
            let found = match byte {
                b'@' | b'(' | b'[' | b'{' | b'<' => email(text, place, from),
                b'a' | b'A' if before == Some(b' ') => spoken_email(text, place, from),
                _ => None,
            };
            if let Some((start, end)) = found {
                return Some((MaskRule::Email, start, end));
            }
        }
        if starts_word
            && byte.is_ascii_uppercase()
            && on(MaskRule::Iban)
            && let Some(end) = iban(bytes, place)
        {
            return Some((MaskRule::Iban, place, end));
        }
        let is_tied = matches!(before, Some(b'.' | b',' | b'/' | b'-' | b'=' | b'#' | b'$'));
        if starts_word
            && !is_tied
            && (byte.is_ascii_uppercase() || byte.is_ascii_digit())
            && on(MaskRule::Id)
            && let Some(end) = identity(text, place)
        {
            return Some((MaskRule::Id, place, end));
        }
        if starts_word
            && (byte.is_ascii_hexdigit() || byte == b':')
            && !matches!(before, Some(b'.' | b':'))
            && on(MaskRule::Ip)
            && let Some(end) = ip_address(text, place)
        {
            return Some((MaskRule::Ip, place, end));
        }
        if starts_word && (byte.is_ascii_digit() || matches!(byte, b'+' | b'(')) {
            let run = DigitGroups::read(text, place);
            if on(MaskRule::Card)
                && let Some(end) = run.card()
            {
                return Some((MaskRule::Card, place, end));
            }
            // Digits after digits and a space continue a longer number, which did not match; after a colon they are
            // part of a time.
            let follows = |mark: u8| place >= 2 && bytes[place - 1] == mark && bytes[place - 2].is_ascii_digit();
            let is_dangling = byte.is_ascii_digit() && (is_tied || follows(b' ') || follows(b':'));
            if on(MaskRule::Phone)
                && let Some(end) = run.phone(is_dangling)
            {
                return Some((MaskRule::Phone, place, end));
            }
            // A number that does not match here does not match inside its first group either, except in
            // parentheses.
            place += if byte == b'(' { 1 } else { run.first_group_bytes().max(1) };
            continue;
        }
        place += 1;
    }
    None
}

/// Returns true if a letter or digit follows, of any script that has spaces between words.
fn continues_word(rest: &[u8]) -> bool {
    match rest.first() {
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric() || *byte == b'_',
        Some(_) => {
            let end = (2..=rest.len().min(4)).find_map(|len| std::str::from_utf8(&rest[..len]).ok());
            end.and_then(|letter| letter.chars().next()).is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c))
        }
        None => false,
    }
}

/// Returns true if the bytes end with a letter or digit.
fn ends_in_word(read: &[u8]) -> bool {
    let start = read.iter().rposition(|byte| byte & 0xc0 != 0x80).unwrap_or(0);
    continues_word(&read[start..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn masked(text: &str) -> String {
        mask(text, &MaskRule::ALL).text.into_owned()
    }

    #[test]
    fn personal_data_is_masked() {
        for (text, expected) in [
            ("Mail jane.doe+news@mail.example.org.", "Mail [EMAIL]."),
            ("<o'neil@example.ie>, x@y.at", "<[EMAIL]>, [EMAIL]"),
            ("Karte 4111 1111 1111 1111, gültig", "Karte [CARD], gültig"),
            ("4111111111111111 5500-0000-0000-0004", "[CARD] [CARD]"),
            ("AmEx 3782 822463 10005 12/27", "AmEx [CARD] 12/27"),
            ("Konto DE89 3704 0044 0532 0130 00 bitte", "Konto [IBAN] bitte"),
            ("GB82WEST12345698765432.", "[IBAN]."),
            ("from 192.168.10.7 and 10.0.0.1:8080", "from [IP] and [IP]:8080"),
            ("2001:db8::ff00:42:8329 answered", "[IP] answered"),
            ("Tel. +43 1 58801-0, Fax +43 1 58801 42099", "Tel. [PHONE], Fax [PHONE]"),
            ("call (555) 123-4567 or 555-123-4567", "call [PHONE] or [PHONE]"),
            ("Tél. 01 23 45 67 89 ou 01.23.45.67.89", "Tél. [PHONE] ou [PHONE]"),
            ("Telefon 030/90182030", "Telefon [PHONE]"),
            ("+420777123456", "[PHONE]"),
        ] {
            assert_eq!(masked(text), expected, "{text}");
        }
    }

    #[test]
    fn similar_numbers_are_not_masked() {
        for text in [
            "ISBN 978-3-16-148410-0, 9783161484100, 3-16-148410-X",
            "2026-03-01, 01.03.2026 14:30, 01/03/2026, 3/1/26, 2010-2015, 01-03-2026 12",
            "1,234,567.89 EUR; 1 234 567 890 Kč; $1.000.000; 0.99; 12 000 000",
            "3:2, 21-19 21-17, 6:4 7:6, 105-98",
            "1.2.3, version 1.2.3.4, v10.0.19041.1, 256.1.1.1, 1.2.3.4.5",
            "12:30:45, 06:12 : 15:28, 2006-07-18T07:25:45Z",
            "48.2082° N, 16.3738° E; 48.208200, 16.373800; -33.8688 151.2093",
            "std::vec, a::b, ::, C::new()",
            "4111 1111 1111 1112, 1234567890123456, 0000 0000 0000 0000",
            "DE89 3704 0044 0532 0130 01, AB12 CD34, IBAN",
            "@jane, a@b, foo@, me @ home, 5@3.2, x@y.z9",
            "Order 00012345, case 2023/0456, § 1295 ABGB, Art. 5 (1) 2004",
            "100 000 000 people, 0800, 112, 10 000 - 20 000, 007",
            "10.1000/182, arXiv:2101.00001, RFC 2119, EN 13485-2016",
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn rules_can_be_chosen_and_are_counted() {
        let text = "a@b.at 192.168.0.1 c@d.at";
        let got = mask(text, &[MaskRule::Ip]);
        assert_eq!((got.text.as_ref(), got.counts), ("a@b.at [IP] c@d.at", [0, 0, 0, 1, 0, 0]));
        assert_eq!(mask(text, &MaskRule::ALL).counts, [2, 0, 0, 1, 0, 0]);
        assert!(matches!(mask("nothing here", &MaskRule::ALL).text, Cow::Borrowed(_)));
        for rule in MaskRule::ALL {
            assert_eq!(MaskRule::named(rule.name()), Some(rule));
        }
    }

    proptest! {
        #[test]
        fn masking_is_idempotent_on_any_text(text in "\\PC*|[0-9 .@+()/:a-fA-Z-]{0,80}") {
            let once = masked(&text);
            prop_assert_eq!(masked(&once), once);
        }

        #[test]
        fn only_reported_ranges_change(text in "[0-9 .@+()/:a-fA-Z-]{0,80}|([0-9]{1,4}[ ./-]|a@b\\.at|1\\.2\\.3\\.4|\\+43 1 588| ){0,12}") {
            let got = mask(&text, &MaskRule::ALL);
            let mut rebuilt = String::new();
            let mut copied = 0;
            for (rule, place) in &got.found {
                rebuilt.push_str(&text[copied..place.start]);
                rebuilt.push_str(rule.token());
                copied = place.end;
            }
            rebuilt.push_str(&text[copied..]);
            prop_assert_eq!(rebuilt.as_str(), got.text.as_ref());
            prop_assert_eq!(got.counts.iter().sum::<usize>(), got.found.len());
        }
    }

    #[test]
    fn hostile_text_is_masked_in_linear_time() {
        for unit in ["@", "a@", "1 ", "(", "+1", "1.", "DE8", ":", "a.", "1:"] {
            mask(&unit.repeat(100_000), &MaskRule::ALL);
        }
    }
}
