//! Masking of personal data: e-mail addresses, card and account numbers, telephone numbers, IP addresses.
//!
//! Each rule has a name for the settings and leaves its own placeholder, so that a sentence keeps its
//! structure. Numbers that look similar (dates, prices, ISBNs, scores) stay: a rule verifies check digits
//! if there are any, and otherwise requires the usual punctuation.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// A kind of personal data. Rules are tried in this order.
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
    /// Telephone numbers with a `+`, with parentheses, or in groups after a zero.
    Phone,
}

impl MaskRule {
    /// All rules.
    pub const ALL: [MaskRule; 5] = [MaskRule::Email, MaskRule::Iban, MaskRule::Card, MaskRule::Ip, MaskRule::Phone];

    /// The name in the settings.
    pub fn name(self) -> &'static str {
        ["email", "iban", "card", "ip", "phone"][self as usize]
    }

    /// The rule with a name.
    pub fn named(name: &str) -> Option<MaskRule> {
        MaskRule::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// The placeholder.
    pub fn token(self) -> &'static str {
        ["[EMAIL]", "[IBAN]", "[CARD]", "[IP]", "[PHONE]"][self as usize]
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
/// assert_eq!(masked.counts, [1, 0, 0, 0, 0]);
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
    let mut found = Vec::new();
    let mut place = 0;
    while let Some((rule, start, end)) = next(text, place, place, rules) {
        found.push((rule, start..end));
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
        candidates[byte] =
            letter.is_ascii_hexdigit() || letter.is_ascii_uppercase() || matches!(letter, b'@' | b':' | b'+' | b'(');
        byte += 1;
    }
    candidates
};

/// The next match at or after `place` that does not begin before `from`.
fn next(text: &str, mut place: usize, from: usize, rules: &[MaskRule]) -> Option<(MaskRule, usize, usize)> {
    let bytes = text.as_bytes();
    let on = |rule: MaskRule| rules.contains(&rule);
    while let Some(ahead) = bytes[place..].iter().position(|byte| CANDIDATE_BYTES[usize::from(*byte)]) {
        place += ahead;
        let byte = bytes[place];
        let before = place.checked_sub(1).map(|place| bytes[place]);
        let starts_word = !ends_in_word(&bytes[..place]);
        if byte == b'@'
            && on(MaskRule::Email)
            && let Some((start, end)) = email(bytes, place, from)
        {
            return Some((MaskRule::Email, start, end));
        }
        if starts_word
            && byte.is_ascii_uppercase()
            && on(MaskRule::Iban)
            && let Some(end) = iban(bytes, place)
        {
            return Some((MaskRule::Iban, place, end));
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
            let run = DigitGroups::read(bytes, place);
            if on(MaskRule::Card)
                && let Some(end) = run.card()
            {
                return Some((MaskRule::Card, place, end));
            }
            // Digits after digits and a space continue a longer number, which did not match.
            let follows_digits = place >= 2 && bytes[place - 1] == b' ' && bytes[place - 2].is_ascii_digit();
            let after_mark = matches!(before, Some(b'.' | b',' | b'/' | b'-' | b':' | b'=' | b'#' | b'$'));
            let dangling = byte.is_ascii_digit() && (follows_digits || after_mark);
            if on(MaskRule::Phone)
                && !dangling
                && let Some(end) = run.phone()
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

/// Returns true if a letter or digit of any script follows.
fn continues_word(rest: &[u8]) -> bool {
    match rest.first() {
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric() || *byte == b'_',
        Some(_) => {
            let end = (2..=rest.len().min(4)).find_map(|len| std::str::from_utf8(&rest[..len]).ok());
            end.and_then(|letter| letter.chars().next()).is_some_and(char::is_alphanumeric)
        }
        None => false,
    }
}

/// Returns true if the bytes end with a letter or digit.
fn ends_in_word(read: &[u8]) -> bool {
    let start = read.iter().rposition(|byte| byte & 0xc0 != 0x80).unwrap_or(0);
    continues_word(&read[start..])
}

/// The e-mail address around an `@`.
fn email(bytes: &[u8], at: usize, from: usize) -> Option<(usize, usize)> {
    let local = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-' | b'\'');
    let mut start = at - bytes[from..at].iter().rev().take(64).take_while(|byte| local(byte)).count();
    while start < at && matches!(bytes[start], b'.' | b'-' | b'\'' | b'+') {
        start += 1;
    }
    let domain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let mut end = at + 1 + bytes[at + 1..].iter().take(253).take_while(|byte| domain(byte)).count();
    while end > at + 1 && !bytes[end - 1].is_ascii_alphanumeric() {
        end -= 1;
    }
    let host = &bytes[at + 1..end];
    let mut labels = host.split(|byte| *byte == b'.');
    let last = labels.next_back()?;
    let fine = |label: &[u8]| !label.is_empty() && label[0] != b'-' && label[label.len() - 1] != b'-';
    let rest: Vec<&[u8]> = labels.collect();
    let named =
        last.len() >= 2 && last.iter().all(u8::is_ascii_alphabetic) && !rest.is_empty() && rest.into_iter().all(fine);
    (start < at && named).then_some((start, end))
}

/// Lengths of IBANs, by country.
const IBAN_LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 \
    EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 \
    LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 \
    SC31 SD18 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20";

/// The end of the IBAN that begins at `start`.
fn iban(bytes: &[u8], start: usize) -> Option<usize> {
    let head = bytes.get(start..start + 4)?;
    if !(head[1].is_ascii_uppercase() && head[2].is_ascii_digit() && head[3].is_ascii_digit()) {
        return None;
    }
    let country = std::str::from_utf8(&head[..2]).ok()?;
    let length: usize = IBAN_LENGTHS.split(' ').find_map(|row| row.strip_prefix(country))?.parse().ok()?;
    let mut digits = Vec::with_capacity(34);
    let mut place = start;
    while digits.len() < length {
        match *bytes.get(place)? {
            byte if byte.is_ascii_digit() || byte.is_ascii_uppercase() => digits.push(byte),
            // Printed in groups of four.
            b' ' if digits.len() % 4 == 0 && bytes[place - 1] != b' ' => {}
            _ => return None,
        }
        place += 1;
    }
    if continues_word(&bytes[place..]) {
        return None;
    }
    digits.rotate_left(4);
    let remainder = digits.iter().fold(0_u32, |sum, byte| match byte {
        b'0'..=b'9' => (sum * 10 + u32::from(byte - b'0')) % 97,
        letter => (sum * 100 + u32::from(letter - b'A') + 10) % 97,
    });
    (remainder == 1).then_some(place)
}

/// The end of the IP address that begins at `start`.
fn ip_address(text: &str, start: usize) -> Option<usize> {
    let rest = &text.as_bytes()[start..];
    // Fast path: most words that begin with a hexadecimal digit have no colon or dot near.
    if !rest.iter().take(5).any(|byte| matches!(byte, b':' | b'.')) {
        return None;
    }
    let mut len =
        rest.iter().take(46).take_while(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')).count();
    while len > 0 && (rest[len - 1] == b'.' || rest[len - 1] == b':' && !rest[..len].ends_with(b"::")) {
        len -= 1;
    }
    let end = start + len;
    if continues_word(&rest[len..]) || rest.get(len) == Some(&b'-') {
        return None;
    }
    let word = &text[start..end];
    if let Some((four, port)) = word.split_once(':') {
        if four.parse::<Ipv4Addr>().is_ok() && port.parse::<u16>().is_ok() {
            return Some(start + four.len());
        }
        // `::` and `a::b` are more likely source code: an address has two groups and two digits.
        let groups = word.split(':').filter(|group| !group.is_empty()).count();
        let numbered = word.bytes().filter(u8::is_ascii_digit).count() >= 2;
        return (word.parse::<Ipv6Addr>().is_ok() && groups >= 2 && numbered).then_some(end);
    }
    // Version numbers have four parts too.
    let shortly_before = &text[text.floor_char_boundary(start.saturating_sub(24))..start];
    let is_version = shortly_before.split_whitespace().next_back().is_some_and(|word| {
        word.trim_start_matches(|letter: char| !letter.is_alphabetic()).to_lowercase().starts_with("ver")
    });
    (!is_version && word.parse::<Ipv4Addr>().is_ok()).then_some(end)
}

/// Groups of digits with the punctuation between them.
struct DigitGroups<'a> {
    bytes: &'a [u8],
    start: usize,
    /// Start and end of each group.
    groups: Vec<(usize, usize)>,
}

/// The longest match in bytes, punctuation included.
const MAX_NUMBER_BYTES: usize = 40;

impl<'a> DigitGroups<'a> {
    fn read(bytes: &'a [u8], start: usize) -> DigitGroups<'a> {
        let mut groups = Vec::new();
        let mut place = start;
        let limit = bytes.len().min(start + MAX_NUMBER_BYTES);
        while place < limit {
            let digits = bytes[place..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits > 0 {
                groups.push((place, place + digits));
                place += digits;
                continue;
            }
            // At most three marks between groups, as in `) ` or ` / `.
            let marks = bytes[place..limit]
                .iter()
                .take_while(|byte| matches!(byte, b' ' | b'-' | b'.' | b'/' | b'(' | b')' | b'+'))
                .count();
            if marks == 0 || marks > 3 {
                break;
            }
            place += marks;
        }
        DigitGroups { bytes, start, groups }
    }

    fn first_group_bytes(&self) -> usize {
        self.groups.first().map_or(0, |(_, end)| end - self.start)
    }

    fn digit_count(&self, groups: usize) -> usize {
        self.groups[..groups].iter().map(|(start, end)| end - start).sum()
    }

    /// The digits of the first groups.
    fn digits(&self, groups: usize) -> Vec<u8> {
        let of = |(start, end): &(usize, usize)| self.bytes[*start..*end].iter().map(|byte| byte - b'0');
        self.groups[..groups].iter().flat_map(of).collect()
    }

    /// The punctuation between the first groups.
    fn marks(&self, groups: usize) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.groups[..groups].windows(2).map(|pair| &self.bytes[pair[0].1..pair[1].0])
    }

    /// Returns true if the number can end after `groups` groups: nothing that follows continues it.
    fn ends_after(&self, groups: usize) -> bool {
        let end = self.groups[groups - 1].1;
        match self.bytes.get(end) {
            Some(b'.' | b',' | b':' | b'-' | b'/') => !self.bytes.get(end + 1).is_some_and(u8::is_ascii_digit),
            Some(b'%') => false,
            _ => !continues_word(&self.bytes[end..]),
        }
    }

    fn lengths(&self, groups: usize) -> Vec<usize> {
        self.groups[..groups].iter().map(|(start, end)| end - start).collect()
    }

    /// The end of the card number that begins here.
    fn card(&self) -> Option<usize> {
        (1..=self.groups.len()).rev().find(|groups| self.is_card(*groups)).map(|groups| self.groups[groups - 1].1)
    }

    fn is_card(&self, groups: usize) -> bool {
        if !(13..=19).contains(&self.digit_count(groups)) {
            return false;
        }
        let digits = self.digits(groups);
        if !(2..=6).contains(&digits[0]) || self.groups[0].0 != self.start {
            return false;
        }
        let lengths = self.lengths(groups);
        let shaped = matches!(lengths.as_slice(), [_] | [4, 6, 5] | [4, 6, 4] | [4, 4, 4, 4] | [4, 4, 4, 4, 3]);
        let evenly = self.marks(groups).all(|mark| mark == b" " || mark == b"-");
        shaped
            && evenly
            && luhn(&digits)
            && !is_isbn(&digits)
            && self.ends_after(groups)
            && digits.iter().any(|digit| *digit != digits[0])
    }

    /// The end of the telephone number that begins here.
    fn phone(&self) -> Option<usize> {
        (1..=self.groups.len()).rev().find(|groups| self.is_phone(*groups)).map(|groups| self.groups[groups - 1].1)
    }

    fn is_phone(&self, groups: usize) -> bool {
        if !(8..=15).contains(&self.digit_count(groups)) {
            return false;
        }
        let digits = self.digits(groups);
        let lengths = self.lengths(groups);
        let lead = &self.bytes[self.start..self.groups[0].0];
        let mut marks = self.marks(groups);
        if is_isbn(&digits) || !self.ends_after(groups) {
            return false;
        }
        match lead {
            // International format.
            b"+" => digits[0] != 0 && lengths.iter().all(|length| *length <= 12),
            // (+43) 1 58801-0
            b"(+" => digits[0] != 0 && marks.next().is_some_and(|mark| mark.starts_with(b")")),
            // (555) 123-4567, (01) 234 56 78
            b"(" => {
                let closed = marks.next().is_some_and(|mark| mark.starts_with(b")"));
                closed
                    && (2..=5).contains(&lengths[0])
                    && digits.len() >= 9
                    && lengths.iter().skip(1).all(|length| *length >= 2)
            }
            b"" => {
                let all: Vec<&[u8]> = marks.collect();
                let dotted = all.iter().any(|mark| mark.contains(&b'.'));
                match lengths.as_slice() {
                    // 555-123-4567
                    [3, 3, 4] if digits[0] >= 2 => {
                        all.iter().all(|mark| *mark == b"-") || all.iter().all(|mark| *mark == b".")
                    }
                    // 01.23.45.67.89, as in France
                    [2, 2, 2, 2, 2] if dotted => digits[0] == 0,
                    // 0 and an area, and at least one more group: 030/901820, 01 23 45 67 89
                    [first, rest @ ..] if !dotted && !rest.is_empty() => {
                        let separated = all.iter().all(|mark| matches!(*mark, b" " | b"-" | b"/" | b" - " | b" / "));
                        let whole = groups == self.groups.len();
                        digits[0] == 0
                            && whole
                            && digits.iter().any(|digit| *digit != 0)
                            && (2..=6).contains(first)
                            && digits.len() >= 9
                            && separated
                            && rest.iter().all(|length| *length >= 2)
                            && !is_date(&lengths)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }
}

/// Returns true for 01-03-2026 and the like.
fn is_date(lengths: &[usize]) -> bool {
    matches!(lengths, [2, 2, 4, ..])
}

/// Verifies the Luhn check digit.
fn luhn(digits: &[u8]) -> bool {
    let double = |digit: u8| if digit < 5 { digit * 2 } else { digit * 2 - 9 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(n, digit)| u32::from(if n % 2 == 1 { double(*digit) } else { *digit }))
        .sum();
    sum.is_multiple_of(10)
}

/// Returns true for an ISBN-13 with a valid check digit.
fn is_isbn(digits: &[u8]) -> bool {
    let sum: u32 = digits.iter().enumerate().map(|(n, digit)| u32::from(*digit) * if n % 2 == 1 { 3 } else { 1 }).sum();
    digits.len() == 13 && matches!(digits, [9, 7, 8 | 9, ..]) && sum.is_multiple_of(10)
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
        assert_eq!((got.text.as_ref(), got.counts), ("a@b.at [IP] c@d.at", [0, 0, 0, 1, 0]));
        assert_eq!(mask(text, &MaskRule::ALL).counts, [2, 0, 0, 1, 0]);
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
