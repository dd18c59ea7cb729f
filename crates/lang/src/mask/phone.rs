//! Telephone and card numbers: groups of digits and the marks between them.
//!
//! A telephone number is known by its shape (a `+`, parentheses, a zero before an area, groups that no other number has)
//! or by a word before it, such as *Tel.* or 电话; then any groups will do.

use super::account::{is_isbn, luhn};
use super::continues_word;
use super::cues::{Before, Cue, is_unspaced};

/// Groups of digits with the punctuation between them.
pub struct DigitGroups<'a> {
    text: &'a str,
    bytes: &'a [u8],
    start: usize,
    /// Start and end of each group.
    groups: Vec<(usize, usize)>,
}

/// The longest match in bytes, punctuation included.
const MAX_NUMBER_BYTES: usize = 40;

impl<'a> DigitGroups<'a> {
    pub fn read(text: &'a str, start: usize) -> DigitGroups<'a> {
        let bytes = text.as_bytes();
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
        DigitGroups { text, bytes, start, groups }
    }

    pub fn first_group_bytes(&self) -> usize {
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
    fn marks(&self, groups: usize) -> Vec<&'a [u8]> {
        self.groups[..groups].windows(2).map(|pair| &self.bytes[pair[0].1..pair[1].0]).collect()
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
    pub fn card(&self) -> Option<usize> {
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
        let evenly = self.marks(groups).iter().all(|mark| *mark == b" " || *mark == b"-");
        shaped
            && evenly
            && luhn(&digits)
            && !is_isbn(&digits)
            && self.ends_after(groups)
            && digits.iter().any(|digit| *digit != digits[0])
    }

    /// The end of the telephone number that begins here; `is_dangling` if marks before it tie it to something else.
    pub fn phone(&self, is_dangling: bool) -> Option<usize> {
        if self.digit_count(self.groups.len()) < MIN_DIGITS {
            return None;
        }
        let before = Before::read(self.text, self.start);
        let has_cue = before.says(Cue::Phone);
        if !has_cue && (is_dangling || before.says(Cue::NotPhone)) {
            return None;
        }
        let is_phone = |groups: &usize| self.is_phone(*groups, has_cue);
        (1..=self.groups.len()).rev().find(is_phone).map(|groups| self.groups[groups - 1].1)
    }

    fn is_phone(&self, groups: usize, has_cue: bool) -> bool {
        let digits = self.digits(groups);
        if !(MIN_DIGITS..=15).contains(&digits.len()) || is_isbn(&digits) || !self.ends_after(groups) {
            return false;
        }
        let lengths = self.lengths(groups);
        let marks = self.marks(groups);
        if is_date(&lengths, &digits) || digits.iter().all(|digit| *digit == digits[0]) {
            return false;
        }
        let lead = &self.bytes[self.start..self.groups[0].0];
        let is_closed = || marks.first().is_some_and(|mark| mark.contains(&b')'));
        match lead {
            // International format: +43 1 58801, (+43) 1 58801, +(43) 1 58801.
            b"+" => digits.len() >= 8 && digits[0] != 0 && lengths.iter().all(|length| *length <= 13),
            b"(+" | b"+(" => digits.len() >= 8 && digits[0] != 0 && is_closed(),
            // (555) 123-4567, (01) 234 56 78
            b"(" => {
                let is_year = lengths[0] == 4 && matches!(digits[..2], [1, 9] | [2, 0]);
                let enough = if has_cue || digits[0] == 0 { 7 } else { 9 };
                let rest = lengths[1..].iter().all(|length| *length >= 2);
                is_closed() && (1..=6).contains(&lengths[0]) && digits.len() >= enough && rest && (has_cue || !is_year)
            }
            b"" if has_cue => self.is_cued(groups, &digits, &lengths, &marks),
            b"" => self.is_shaped(groups, &digits, &lengths, &marks),
            _ => false,
        }
    }

    /// Any groups after a word for telephones, unless they are a sum of money or several numbers.
    fn is_cued(&self, groups: usize, digits: &[u8], lengths: &[usize], marks: &[&[u8]]) -> bool {
        let is_sum = self.text[self.groups[groups - 1].1..].trim_start().starts_with(['€', '$', '£', '%', '°']);
        let dots = marks.iter().filter(|mark| **mark == b".").count();
        let is_grouped_number =
            dots == marks.len() && lengths[1..].iter().all(|length| *length == 3) && lengths.len() > 1;
        let rest = self.groups.len() == groups || self.is_break(groups);
        !is_sum && rest && lengths.len() <= 7 && !(is_grouped_number && digits[0] != 0 && lengths[0] < 3)
    }

    /// Groups that are a telephone number without any word before them.
    fn is_shaped(&self, groups: usize, digits: &[u8], lengths: &[usize], marks: &[&[u8]]) -> bool {
        let all = |mark: &[u8]| marks.iter().all(|one| *one == mark);
        let is_even = all(b"-") || all(b".") || all(b" ");
        let is_whole = self.groups.len() == groups || self.is_break(groups);
        let is_plain = marks
            .iter()
            .all(|mark| matches!(*mark, b" " | b"-" | b"/" | b" - " | b" / " | b"(" | b")" | b") " | b" ("));
        if !is_whole {
            return false;
        }
        match (digits[0], lengths) {
            // 0043 1 58801
            (0, _) if digits[1] == 0 => {
                digits[2] != 0 && digits.len() >= 10 && is_plain && (lengths.len() > 1 || digits.len() >= 12)
            }
            // 01.23.45.67.89, as in France; numbers of a lottery ascend.
            (0, [2, 2, 2, 2, 2]) => {
                let pairs: Vec<u8> = digits.chunks(2).map(|pair| pair[0] * 10 + pair[1]).collect();
                let is_lottery = pairs.windows(2).all(|pair| pair[0] < pair[1]) && pairs[4] <= 59;
                (is_even || is_plain) && !is_lottery
            }
            // Solid numbers of a mobile or an area.
            (0, [10 | 11]) => digits[1] != 0,
            (0, [_]) => false,
            // 0 and an area, and at least one more group: 030/901820, 01 23 45 678
            (0, [first, rest @ ..]) => {
                let extension = rest.len() > 1 && marks.last() == Some(&&b"-"[..]);
                let checked = if extension { &rest[..rest.len() - 1] } else { rest };
                let is_hungarian = digits[1] == 6 && *first == 2;
                let shortest = if is_hungarian { 1 } else { 2 };
                let enough = if marks.iter().any(|mark| mark.contains(&b'-') || mark.contains(&b'/')) { 8 } else { 9 };
                (2..=6).contains(first)
                    && digits.len() >= enough
                    && digits.len() <= 13
                    && (is_plain || is_even && lengths.len() >= 3 && digits.len() <= 11)
                    && checked.iter().all(|length| *length >= shortest)
                    && lengths.iter().any(|length| *length > 2)
            }
            // 1-800-555-1234, 8 (495) 123-45-67, 8-800-555-35-35
            (1, [1, 3, 3, 4]) | (7 | 8, [1, 3, 3, 2, 2] | [1, 3, 3, 4] | [1, 4, 2, 2, 2] | [1, 3, 7]) => {
                is_plain || is_even
            }
            // Mobiles of China.
            (1, [3, 4, 4]) => (3..=9).contains(&digits[1]) && is_even,
            (1, [11]) => (3..=9).contains(&digits[1]) && self.is_beside_unspaced(groups),
            // 1300 123 456, 1800-123-456
            (1, [4, 3, 3]) => matches!(digits[1], 3 | 5 | 6 | 8) && is_even,
            // 555-123-4567, 555 123 4567, 400-820-8820
            (2..=9, [3, 3, 4]) => digits[3] >= 2 && is_even || all(b"-") || all(b"."),
            // 91 234 56 78, 212 123 45 67, 912 34 56 78
            (2..=9, [2, 3, 2, 2] | [3, 3, 2, 2] | [3, 2, 2, 2]) => is_plain,
            // 601-234-567; with blanks it is a large number.
            (5..=9, [3, 3, 3]) => all(b"-"),
            // 11 91234-5678, 55 1234 5678, 9 1234 5678
            (_, [2, 5, 4] | [2, 4, 4]) => is_plain && marks[1] != b"/" && (all(b" ") || marks[1] == b"-"),
            (2 | 9, [1, 4, 4]) => all(b" ") || marks[1] == b"-",
            // 98765 43210
            (6..=9, [5, 5]) => is_even && !digits.ends_with(&[0, 0, 0]) && (digits[5..] != [0; 5]),
            // 210 1234567, 333 1234567
            (2 | 3 | 6, [3, 7]) => is_plain,
            _ => false,
        }
    }

    /// Returns true if another number follows after the groups: `030 123456 / 0171 1234567`.
    fn is_break(&self, groups: usize) -> bool {
        let Some((next, _)) = self.groups.get(groups) else { return true };
        let mark = &self.bytes[self.groups[groups - 1].1..*next];
        matches!(mark, b" / " | b"/ " | b" /") || mark.contains(&b'+') || mark == b" ("
    }

    /// Returns true if a letter of a script without spaces is on one side.
    fn is_beside_unspaced(&self, groups: usize) -> bool {
        let before = self.text[..self.start].trim_end_matches(['：', ':', ' ']).chars().next_back();
        let after = self.text[self.groups[groups - 1].1..].chars().next();
        before.is_some_and(is_unspaced) || after.is_some_and(is_unspaced)
    }
}

/// Digits of the shortest number, after a word for telephones.
const MIN_DIGITS: usize = 6;

/// Returns true for 01-03-2026, 2026-03-01 and the like.
fn is_date(lengths: &[usize], digits: &[u8]) -> bool {
    let pair = |at: usize| digits[at] * 10 + digits[at + 1];
    match lengths {
        [2, 2, 4, ..] => {
            (1..=31).contains(&pair(0)) && (1..=31).contains(&pair(2)) && matches!(digits[4..6], [1, 9] | [2, 0])
        }
        [4, 2, 2, ..] => matches!(digits[..2], [1, 9] | [2, 0]) && pair(4) <= 12 && pair(6) <= 31,
        [4, 4] => matches!(digits[..2], [1, 9] | [2, 0]) && matches!(digits[4..6], [1, 9] | [2, 0]),
        _ => false,
    }
}
