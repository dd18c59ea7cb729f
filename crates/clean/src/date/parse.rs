//! Dates in text and attribute values, in many languages.
//!
//! Instead of a list of formats there is a small grammar: the text is tokenized into numbers, words
//! and signs, and a date is three tokens in an order that some language uses. The day is taken as
//! written, without conversion to another time zone.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tidings_lang::Month;

use super::locale::DateLocale;

/// Longer attribute values are not dates.
const MAX_STAMP_BYTES: usize = 160;
/// Maximum number of tokens per text.
const MAX_TOKENS: usize = 240;
/// Maximum number of dates per text.
const MAX_FOUND: usize = 8;
/// Dated web pages are rare before this year, and placeholders such as 1970 are common.
pub(super) const FIRST_YEAR: i16 = 1995;
/// Later years are not dates.
pub(super) const LAST_YEAR: i16 = 2100;

/// A date in a machine-readable value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MachineDate {
    /// The day as written.
    pub day: Date,
    /// The hour, if written in UTC; the local day may then differ.
    pub utc_hour: Option<i8>,
    /// The day under the other order of day and month.
    pub other: Option<Date>,
}

/// A date found in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenDate {
    pub day: Date,
    /// Its extent in bytes.
    pub start: usize,
    pub end: usize,
    /// The day under the other order of day and month: 3/4 or 4/3.
    pub other: Option<Date>,
    /// Whether the year has two digits, or the date is a bare eight-digit number.
    pub vague: bool,
}

/// Parses an attribute or field value.
pub(super) fn machine_date(text: &str, locale: DateLocale) -> Option<MachineDate> {
    let text = text.trim();
    if text.len() < 6 || text.len() > MAX_STAMP_BYTES {
        return None;
    }
    if let Some(stamp) = iso(text.as_bytes()) {
        return Some(stamp);
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return digits(text);
    }
    find(text, locale).into_iter().find(|found| !found.vague).map(|found| MachineDate {
        day: found.day,
        utc_hour: None,
        other: found.other,
    })
}

/// Parses ISO 8601: `2019-08-02`, `2019-08-02T10:00:00Z`.
fn iso(b: &[u8]) -> Option<MachineDate> {
    let sign = *b.get(4)?;
    if !matches!(sign, b'-' | b'/' | b'.') || b.get(7) != Some(&sign) || b.get(10).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let day = date(number(&b[..4])?, number(&b[5..7])?, number(b.get(8..10)?)?)?;
    let utc = matches!(b.last(), Some(b'Z' | b'z')) || b.ends_with(b"+00:00") || b.ends_with(b"+0000");
    let hour = b.get(11..13).and_then(number).filter(|hour| *hour < 24 && b.get(13) == Some(&b':'));
    // Midnight sharp means a date without a time.
    let sharp = b.get(13..19).is_some_and(|rest| rest == b":00:00" || rest == b":00:00Z");
    let utc_hour = hour.filter(|hour| utc && !(*hour == 0 && sharp)).map(|hour| hour as i8);
    Some(MachineDate { day, utc_hour, other: None })
}

/// Parses `20190802`, `20190802103000` and Unix timestamps in seconds or milliseconds.
fn digits(text: &str) -> Option<MachineDate> {
    let b = text.as_bytes();
    match b.len() {
        8 | 12 | 14 => {
            let day = date(number(&b[..4])?, number(&b[4..6])?, number(&b[6..8])?)?;
            Some(MachineDate { day, utc_hour: None, other: None })
        }
        10 | 13 => {
            let seconds = text[..10].parse::<i64>().ok()?;
            let moment = Timestamp::from_second(seconds).ok()?.to_zoned(TimeZone::UTC);
            (FIRST_YEAR..=LAST_YEAR).contains(&moment.year()).then(|| MachineDate {
                day: moment.date(),
                utc_hour: Some(moment.hour()),
                other: None,
            })
        }
        _ => None,
    }
}

fn number(b: &[u8]) -> Option<u32> {
    b.iter().try_fold(0u32, |n, b| b.is_ascii_digit().then(|| n * 10 + u32::from(b - b'0')))
}

/// A valid date in the supported range. Years of the Buddhist era are converted.
pub(super) fn date(year: u32, month: u32, day: u32) -> Option<Date> {
    let year = if (2538..2644).contains(&year) { year - 543 } else { year };
    let year = i16::try_from(year).ok().filter(|year| (FIRST_YEAR..=LAST_YEAR).contains(year))?;
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// Converts a date of the Persian calendar to the Gregorian one with the 33-year leap cycle, which
/// is exact for the supported years.
fn persian(year: u32, month: u32, day: u32) -> Option<Date> {
    if !(1370..1480).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // 1 Farvardin 1370 was 21 March 1991. Leap years leave 1, 5, 9, 13, 17, 22, 26, 30 modulo 33.
    let leaps = (1370..year).filter(|year| matches!(year % 33, 1 | 5 | 9 | 13 | 17 | 22 | 26 | 30)).count() as i64;
    let months = if month <= 7 { (month - 1) * 31 } else { 186 + (month - 7) * 30 };
    let days = i64::from(year - 1370) * 365 + leaps + i64::from(months) + i64::from(day) - 1;
    let found = Date::new(1991, 3, 21).ok()?.checked_add(jiff::Span::new().try_days(days).ok()?).ok()?;
    (found.year() >= FIRST_YEAR).then_some(found)
}

#[derive(Debug, Clone, Copy)]
enum TokenKind {
    Number { value: u32, digits: u8 },
    Word,
    Sign(char),
}

#[derive(Debug, Clone, Copy)]
struct Token {
    kind: TokenKind,
    start: usize,
    end: usize,
    spaced: bool,
}

/// Value of a decimal digit in one of the scripts used in dates.
fn digit(c: char) -> Option<u32> {
    const ZEROS: [char; 6] = ['٠', '۰', '०', '০', '๐', '０'];
    if c.is_ascii() {
        return c.to_digit(10);
    }
    if c < ZEROS[0] {
        return None;
    }
    ZEROS.iter().map(|zero| (c as u32).wrapping_sub(*zero as u32)).find(|value| *value < 10)
}

/// Returns whether the text has as many digits as the shortest date.
fn has_digits(text: &str) -> bool {
    let ascii = text.bytes().filter(u8::is_ascii_digit).count();
    ascii >= 3 || ascii == 0 && !text.is_ascii() && text.chars().any(|c| digit(c).is_some())
}

/// Returns whether a character is a letter or a combining sign of Indic and Thai scripts.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() || ('\u{900}'..='\u{E7F}').contains(&c)
}

fn tokenize(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::with_capacity(16);
    let mut chars = text.char_indices().peekable();
    let mut spaced = false;
    while let Some((start, c)) = chars.next() {
        if tokens.len() == MAX_TOKENS {
            break;
        }
        if c.is_whitespace() {
            spaced = true;
            continue;
        }
        let mut end = start + c.len_utf8();
        let kind = if let Some(first) = digit(c) {
            let (mut value, mut digits) = (first, 1u8);
            while let Some((at, next)) = chars.peek().and_then(|(at, c)| Some((*at, digit(*c)?))) {
                value = value.saturating_mul(10).saturating_add(next);
                digits = digits.saturating_add(1);
                end = at + chars.next().map_or(0, |(_, c)| c.len_utf8());
            }
            TokenKind::Number { value, digits }
        } else if is_letter(c) {
            let thai = ('\u{E00}'..='\u{E7F}').contains(&c);
            while let Some((at, next)) = chars.peek().copied() {
                if digit(next).is_some() || !(is_letter(next) || thai && next == '.') {
                    break;
                }
                end = at + next.len_utf8();
                chars.next();
            }
            TokenKind::Word
        } else {
            TokenKind::Sign(c)
        };
        // Bidirectional control characters occur within Arabic and Hebrew dates.
        if !matches!(kind, TokenKind::Sign('\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'))
        {
            tokens.push(Token { kind, start, end, spaced });
            spaced = false;
        }
    }
    tokens
}

/// Finds the dates in a text, in order.
pub(super) fn find(text: &str, locale: DateLocale) -> Vec<WrittenDate> {
    let mut found = Vec::new();
    if text.len() < 6 || !has_digits(text) {
        return found;
    }
    let parser = DateParser { text, tokens: tokenize(text), locale };
    let mut at = 0;
    while at < parser.tokens.len() && found.len() < MAX_FOUND {
        let read = match parser.tokens[at].kind {
            TokenKind::Number { .. } => parser.numeric(at),
            TokenKind::Word => parser.named(at),
            TokenKind::Sign(_) => None,
        };
        // A number is part of at most one date.
        let free =
            |(day, _): &(WrittenDate, usize)| found.last().is_none_or(|last: &WrittenDate| last.end <= day.start);
        match read.filter(free) {
            Some((day, next)) => {
                found.push(day);
                at = next;
            }
            None => at += 1,
        }
    }
    found
}

struct DateParser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    locale: DateLocale,
}

/// Words that may occur within a date with a month name and carry no meaning.
const FILLERS: [&str; 44] = [
    "st", "nd", "rd", "th", "er", "e", "a", "de", "del", "d", "di", "do", "da", "den", "der", "of", "the", "le", "la",
    "el", "em", "o", "m", "mėn", "gada", "г", "год", "года", "р", "року", "i", "ko", "eko", "º", "ª", "ème", "à", "al",
    "tes", "year", "y", "ngày", "dia", "năm",
];

impl DateParser<'_> {
    fn number(&self, at: usize) -> Option<(u32, u8)> {
        match self.tokens.get(at)?.kind {
            TokenKind::Number { value, digits } => Some((value, digits)),
            _ => None,
        }
    }

    fn word(&self, at: usize) -> Option<&str> {
        let token = self.tokens.get(at)?;
        matches!(token.kind, TokenKind::Word).then(|| &self.text[token.start..token.end])
    }

    fn sign(&self, at: usize) -> Option<char> {
        match self.tokens.get(at)?.kind {
            TokenKind::Sign(sign) => Some(sign),
            _ => None,
        }
    }

    fn span(&self, from: usize, to: usize, day: Date, other: Option<Date>, vague: bool) -> (WrittenDate, usize) {
        let (start, end) = (self.tokens[from].start, self.tokens[to].end);
        (WrittenDate { day, start, end, other: other.filter(|other| *other != day), vague }, to + 1)
    }

    /// Three numbers: 2019-08-02, 2.8.2019, 8/2/19, 2019年8月2日.
    fn numeric(&self, at: usize) -> Option<(WrittenDate, usize)> {
        let (a, a_digits) = self.number(at)?;
        if a_digits > 4 {
            return self.eight(at, a, a_digits);
        }
        if let (Some(mark), Some((b, _))) = (self.word(at + 1), self.number(at + 2)) {
            let east = matches!((mark, self.word(at + 3)), ("年", Some("月")) | ("년", Some("월")));
            if east && let Some((c, _)) = self.number(at + 4) {
                let era = self.word(at.wrapping_sub(1)).unwrap_or_default();
                let year = match era {
                    _ if a_digits == 4 => a,
                    _ if era.ends_with("令和") => a + 2018,
                    _ if era.ends_with("平成") => a + 1988,
                    _ if era.ends_with("民國") || era.ends_with("民国") => a + 1911,
                    _ if a_digits == 2 => a + 2000,
                    _ => return None,
                };
                return Some(self.span(at, at + 4, date(year, b, c)?, None, false));
            }
        }
        let sign = self.sign(at + 1).map(plain)?;
        let (b, b_digits) = self.number(at + 2)?;
        if !matches!(sign, '-' | '/' | '.') || self.sign(at + 3).map(plain) != Some(sign) {
            return None;
        }
        let (c, c_digits) = self.number(at + 4)?;
        // 2.8.2019.7 is a version, 192.168.1.2 an IP address, 555-12-2019 a telephone number.
        let joined = |at: usize| {
            matches!(self.sign(at), Some('.' | '-' | '/'))
                && !self.tokens[at].spaced
                && self.number(at + 1).is_some()
                && !self.tokens[at + 1].spaced
        };
        if at >= 2 && joined(at - 2 + 1) && self.number(at - 2).is_some()
            || joined(at + 5) && (c_digits <= 2 || self.sign(at + 5) == Some('.'))
        {
            return None;
        }
        let spaced = self.tokens[at + 1].spaced || self.tokens[at + 3].spaced;
        if a_digits == 4 && b_digits <= 2 && c_digits <= 2 {
            let day = date(a, b, c).or_else(|| persian(a, b, c))?;
            return Some(self.span(at, at + 4, day, None, false));
        }
        if a_digits > 2 || b_digits > 2 || spaced && sign == '-' {
            return None;
        }
        let year = match c_digits {
            4 => c,
            2 if a_digits == 2 && b_digits == 2 => 2000 + c,
            _ => return None,
        };
        let (european, american) = (date(year, b, a), date(year, a, b));
        let american_first = self.locale.month_first && sign != '.';
        let (first, second) = if american_first { (american, european) } else { (european, american) };
        // With dots the day always comes first.
        let second = second.filter(|_| sign != '.' || european.is_none());
        let day = first.or(second)?;
        Some(self.span(at, at + 4, day, if first.is_some() { second } else { None }, c_digits == 2))
    }

    /// An eight-digit number in text: 20190802.
    fn eight(&self, at: usize, value: u32, digits: u8) -> Option<(WrittenDate, usize)> {
        let day = (digits == 8).then(|| date(value / 10_000, value / 100 % 100, value % 100))??;
        Some(self.span(at, at, day, None, true))
    }

    /// A date with a month name: 2 August 2019, Aug. 2nd, 2019, 2019. augusztus 2.
    fn named(&self, at: usize) -> Option<(WrittenDate, usize)> {
        let word = self.word(at)?;
        if word.len() > 40 {
            return None;
        }
        let lower = word.to_lowercase();
        let lower = lower.trim_end_matches('.');
        // Vietnamese numbers its months.
        let (month, last) = if matches!(lower, "tháng" | "thang") {
            let month = self.number(at + 1).map(|(month, _)| month).filter(|month| (1..=12).contains(month))?;
            (Month::Gregorian(month as i8), at + 1)
        } else {
            (tidings_lang::month(lower, self.locale.croatian.then_some("hr"))?, at)
        };
        let is_day = |n: (u32, u8)| (1..=31).contains(&n.0) && n.1 <= 2;
        let is_year = |n: (u32, u8)| n.1 == 4;
        let make = |year: u32, day: u32| match month {
            Month::Gregorian(month) => date(year, month as u32, day),
            Month::Persian(month) => persian(year, month as u32, day),
        };
        let before = self.skip_back(at);
        let after = self.skip_forth(last + 1);
        let number = |at: Option<usize>| at.and_then(|at| self.number(at));
        let next_but_one = after.and_then(|after| self.skip_forth(after + 1));
        if let (Some(b), Some(a)) = (before, after) {
            let (day, year) = (self.number(b)?, self.number(a)?);
            if is_day(day) && is_year(year) {
                return Some(self.span(b, a, make(year.0, day.0)?, None, false));
            }
        }
        if let (Some(a), Some(aa)) = (after, next_but_one) {
            let (day, year) = (self.number(a)?, self.number(aa)?);
            if is_day(day) && is_year(year) {
                return Some(self.span(at, aa, make(year.0, day.0)?, None, false));
            }
            // Fri Aug 2 10:00:00 CEST 2019
            if is_day(day)
                && let Some(end) = self.after_clock(aa)
                && let Some(year) = self.number(end).filter(|year| is_year(*year))
            {
                return Some(self.span(at, end, make(year.0, day.0)?, None, false));
            }
        }
        if let (Some(b), Some(a)) = (before, after) {
            let (year, day) = (self.number(b)?, self.number(a)?);
            if is_year(year) && is_day(day) {
                return Some(self.span(b, a, make(year.0, day.0)?, None, false));
            }
            // 2 Aug 19, 02-Aug-19, 2. Aug '19
            if is_day(year) && day.1 == 2 && self.sign(a + 1) != Some(':') && day.0 <= 40 {
                return Some(self.span(b, a, make(2000 + day.0, year.0)?, None, true));
            }
        }
        // Latvian: 2019. gada 2. augusts
        if let Some(b) = before
            && let Some(bb) = self.skip_back(b)
            && let (Some(year), Some(day)) = (number(Some(bb)), number(Some(b)))
            && is_year(year)
            && is_day(day)
        {
            return Some(self.span(bb, last, make(year.0, day.0)?, None, false));
        }
        None
    }

    /// Index of the number before `at`, skipping fillers.
    fn skip_back(&self, at: usize) -> Option<usize> {
        (at.saturating_sub(5)..at).rev().find_map(|i| self.pass(i)).flatten()
    }

    /// Index of the number at or after `at`, skipping fillers.
    fn skip_forth(&self, at: usize) -> Option<usize> {
        (at..(at + 4).min(self.tokens.len())).find_map(|i| self.pass(i)).flatten()
    }

    /// Returns `Some(Some)` at a number, `None` at a filler, `Some(None)` at anything else.
    fn pass(&self, at: usize) -> Option<Option<usize>> {
        let token = self.tokens[at];
        match token.kind {
            TokenKind::Number { .. } => Some(Some(at)),
            TokenKind::Sign(
                '.' | ',' | '-' | '/' | '\'' | '’' | 'º' | 'ª' | '،' | '·' | '°' | '‑' | '–' | '+' | '(' | ')',
            ) => None,
            TokenKind::Sign(_) => Some(None),
            TokenKind::Word => {
                let word = &self.text[token.start..token.end];
                let filler = word.len() <= 8 && FILLERS.iter().any(|filler| word.eq_ignore_ascii_case(filler));
                if filler { None } else { Some(None) }
            }
        }
    }

    /// Index of the token after a time such as `10:00:00 CEST` that begins at `at`.
    fn after_clock(&self, at: usize) -> Option<usize> {
        let mut at = at;
        if self.sign(at + 1) != Some(':') {
            return None;
        }
        while self.number(at).is_some() && self.sign(at + 1) == Some(':') {
            at += 2;
        }
        at += 1;
        Some(if self.word(at).is_some() { at + 1 } else { at })
    }
}

/// Maps dashes and full-width signs to ASCII.
fn plain(sign: char) -> char {
    match sign {
        '‐' | '‑' | '–' | '−' => '-',
        '／' | '⁄' => '/',
        '．' | '․' => '.',
        sign => sign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> String {
        find(text, DateLocale::default()).first().map_or(String::from("none"), |found| found.day.to_string())
    }

    #[test]
    fn dates_are_parsed_in_many_languages() {
        for text in [
            "Freitag, 2. August 2019",
            "Aug. 2nd, 2019 at 10:15",
            "Publié le 2 août 2019",
            "2 de agosto de 2019",
            "2 agosto, 2019",
            "piątek, 2 sierpnia 2019 r.",
            "2. srpna 2019",
            "2 августа 2019 г.",
            "2 серпня 2019 року",
            "2 Αυγούστου 2019",
            "02 Ağustos 2019 Cuma",
            "2 أغسطس 2019",
            "٢ أغسطس ٢٠١٩",
            "2019年8月2日 10:15",
            "2019년 8월 2일",
            "令和元年は除く 令和1年8月2日",
            "2. elokuuta 2019",
            "2019. augusztus 2., péntek",
            "2 august 2019",
            "2019 m. rugpjūčio 2 d.",
            "2019. gada 2. augusts",
            "2 Agustus 2019",
            "Ngày 2 tháng 8 năm 2019",
            "2 สิงหาคม 2562",
            "2 ส.ค. 2562",
            "2 अगस्त 2019",
            "۱۱ مرداد ۱۳۹۸",
            "۱۳۹۸/۰۵/۱۱",
            "2 באוגוסט 2019",
            "2019(e)ko abuztuaren 2a",
            "2 d'agost de 2019",
            "Fri Aug 02 10:00:00 CEST 2019",
            "02-Aug-2019",
            "2019/08/02 10:15",
            "02.08.2019",
            "2. 8. 2019",
            "02.08.19",
            "2 Aug '19",
        ] {
            assert_eq!(one(text), "2019-08-02", "{text}");
        }
    }

    #[test]
    fn numbers_that_are_not_dates_are_ignored() {
        for text in [
            "1.2.3.4",
            "version 2.10.2019.3",
            "31. Februar 2019",
            "call 555-12-20",
            "May the 4th",
            "12:30:20",
            "2019",
            "",
        ] {
            assert_eq!(one(text), "none", "{text}");
        }
    }

    #[test]
    fn day_month_order_follows_language_and_host_unless_only_one_is_valid() {
        let american = DateLocale::of(Some("en-US"), Some("news.example.com"));
        let british = DateLocale::of(Some("en-GB"), Some("example.co.uk"));
        let german = DateLocale::of(Some("de"), None);
        let day = |locale| find("03/04/2020", locale)[0].day.to_string();
        assert_eq!([day(american), day(british), day(german)], ["2020-03-04", "2020-04-03", "2020-04-03"]);
        assert_eq!(find("25/04/2020", american)[0].day.to_string(), "2020-04-25");
        assert_eq!(find("04/25/2020", german)[0].day.to_string(), "2020-04-25");
        assert_eq!(find("03.04.2020", american)[0].day.to_string(), "2020-04-03");
    }

    #[test]
    fn machine_dates_keep_the_day_as_written() {
        let day = |text| {
            machine_date(text, DateLocale::default()).map_or(String::from("none"), |stamp| stamp.day.to_string())
        };
        assert_eq!(day("2019-08-02T23:30:00-07:00"), "2019-08-02");
        assert_eq!(day("20190802"), "2019-08-02");
        assert_eq!(day("1564740000"), "2019-08-02");
        assert_eq!(day("1564740000000"), "2019-08-02");
        assert_eq!(day("Fri, 02 Aug 2019 10:00:00 +0200"), "2019-08-02");
        assert_eq!(day("0000-00-00"), "none");
        assert_eq!(day("1970-01-01T00:00:00Z"), "none");
    }
}
