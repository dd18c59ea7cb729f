//! Days as people and programs write them.
//!
//! There is no end of lists of formats, so this is not a list: the text is cut into numbers, words
//! and signs, and a day is three of them in an order that some language uses. The day is taken as
//! it stands: a page that says half past eleven at night in its own zone means that evening.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use tidings_lang::Month;

/// Dates are short; a longer attribute is not one.
const MOST_STAMP_BYTES: usize = 160;
/// Tokens looked at in one text.
const MOST_TOKENS: usize = 240;
/// Days taken from one text.
const MOST_FOUND: usize = 8;
/// The web had few dated pages before, and placeholders such as 1970 are many.
pub(super) const FIRST_YEAR: i16 = 1995;
/// Later years are no dates in any case.
pub(super) const LAST_YEAR: i16 = 2100;

/// How a page writes its numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Habit {
    /// Whether 3/4/2020 is in March.
    pub month_first: bool,
    /// Whether `listopad` is October.
    pub croatian: bool,
}

impl Habit {
    /// The habit of a language (`en-GB`) at an address.
    pub fn of(language: Option<&str>, host: Option<&str>) -> Habit {
        let language = language.unwrap_or_default().trim();
        let mut parts = language.split(['-', '_']);
        let primary = parts.next().unwrap_or_default();
        let region = parts.find(|part| part.len() == 2).unwrap_or_default();
        let ending = host.and_then(|host| host.rsplit('.').next()).unwrap_or_default();
        let american_place = ["com", "us", "org", "net", "gov", "edu", "mil", "io", "ph", ""].contains(&ending);
        let month_first = match (primary, region) {
            (p, r) if p.eq_ignore_ascii_case("en") && r.eq_ignore_ascii_case("us") => american_place,
            (p, "") if p.eq_ignore_ascii_case("en") || p.is_empty() => american_place,
            (p, r) if p.eq_ignore_ascii_case("en") && r.eq_ignore_ascii_case("ph") => true,
            _ => false,
        };
        Habit { month_first, croatian: primary.eq_ignore_ascii_case("hr") || ending == "hr" }
    }
}

/// Where the readers of a page live, in hours from Greenwich.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Zone {
    pub west: i8,
    pub east: i8,
}

impl Zone {
    /// The zone of a language.
    pub fn of(language: Option<&str>) -> Zone {
        let primary = language.unwrap_or_default().trim().split(['-', '_']).next().unwrap_or_default();
        // Only codes of two letters as pages write them: others keep the wide zone until the behaviour version grows.
        let is_usual = |code: &str| code.eq_ignore_ascii_case(primary) || primary.eq_ignore_ascii_case("no");
        let known = tidings_lang::language(primary).filter(|known| is_usual(known.code));
        let offsets = known.and_then(|known| known.utc_offsets);
        offsets.map_or(Zone { west: -8, east: 12 }, |(west, east)| Zone { west, east })
    }

    /// Whether an hour of a day in Greenwich may belong to that other day here.
    pub fn may_be(self, day: Date, utc_hour: Option<i8>, other: Date) -> bool {
        let Some(hour) = utc_hour else { return false };
        let before = hour + self.west < 0 && day.yesterday().is_ok_and(|yesterday| yesterday == other);
        let after = hour + self.east >= 24 && day.tomorrow().is_ok_and(|tomorrow| tomorrow == other);
        before || after
    }
}

/// A day written for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The day as written.
    pub day: Date,
    /// The hour, where it was written in UTC and the writer's own day may be another.
    pub utc_hour: Option<i8>,
    /// The day it is when the habit was guessed wrong.
    pub other: Option<Date>,
}

/// A day found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub day: Date,
    /// Where it begins and ends, in bytes.
    pub start: usize,
    pub end: usize,
    /// The day it is when the habit was guessed wrong: 3/4 is 4/3.
    pub other: Option<Date>,
    /// Only a month or a two-digit year was written.
    pub vague: bool,
}

/// Reads the value of an attribute or a field.
pub(super) fn stamp(text: &str, habit: Habit) -> Option<Stamp> {
    let text = text.trim();
    if text.len() < 6 || text.len() > MOST_STAMP_BYTES {
        return None;
    }
    if let Some(stamp) = iso(text.as_bytes()) {
        return Some(stamp);
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return digits(text);
    }
    find(text, habit).into_iter().find(|found| !found.vague).map(|found| Stamp {
        day: found.day,
        utc_hour: None,
        other: found.other,
    })
}

/// `2019-08-02`, `2019-08-02T10:00:00Z` and the like.
fn iso(b: &[u8]) -> Option<Stamp> {
    let sign = *b.get(4)?;
    if !matches!(sign, b'-' | b'/' | b'.') || b.get(7) != Some(&sign) || b.get(10).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let day = date(number(&b[..4])?, number(&b[5..7])?, number(b.get(8..10)?)?)?;
    let utc = matches!(b.last(), Some(b'Z' | b'z')) || b.ends_with(b"+00:00") || b.ends_with(b"+0000");
    let hour = b.get(11..13).and_then(number).filter(|hour| *hour < 24 && b.get(13) == Some(&b':'));
    // Midnight sharp is a day without a time, not a moment in Greenwich.
    let sharp = b.get(13..19).is_some_and(|rest| rest == b":00:00" || rest == b":00:00Z");
    let utc_hour = hour.filter(|hour| utc && !(*hour == 0 && sharp)).map(|hour| hour as i8);
    Some(Stamp { day, utc_hour, other: None })
}

/// `20190802`, `20190802103000`, and seconds or milliseconds since 1970.
fn digits(text: &str) -> Option<Stamp> {
    let b = text.as_bytes();
    match b.len() {
        8 | 12 | 14 => {
            let day = date(number(&b[..4])?, number(&b[4..6])?, number(&b[6..8])?)?;
            Some(Stamp { day, utc_hour: None, other: None })
        }
        10 | 13 => {
            let seconds = text[..10].parse::<i64>().ok()?;
            let moment = Timestamp::from_second(seconds).ok()?.to_zoned(TimeZone::UTC);
            (FIRST_YEAR..=LAST_YEAR).contains(&moment.year()).then(|| Stamp {
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

/// A day that can be one; years of the Buddhist era are brought home.
pub(super) fn date(year: u32, month: u32, day: u32) -> Option<Date> {
    let year = if (2538..2644).contains(&year) { year - 543 } else { year };
    let year = i16::try_from(year).ok().filter(|year| (FIRST_YEAR..=LAST_YEAR).contains(year))?;
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// The Gregorian day of a day in the Persian calendar, by its cycle of 33 years, which holds for our lifetimes.
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
enum Kind {
    Number { value: u32, digits: u8 },
    Word,
    Sign(char),
}

#[derive(Debug, Clone, Copy)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
    spaced: bool,
}

/// The value of a decimal digit in any of the scripts that date pages with their own.
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

/// Whether there are as many digits as the shortest date has.
fn has_digits(text: &str) -> bool {
    let ascii = text.bytes().filter(u8::is_ascii_digit).count();
    ascii >= 3 || ascii == 0 && !text.is_ascii() && text.chars().any(|c| digit(c).is_some())
}

/// Letters, and the signs that Indic and Thai words are made of.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() || ('\u{900}'..='\u{E7F}').contains(&c)
}

fn cut(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::with_capacity(16);
    let mut chars = text.char_indices().peekable();
    let mut spaced = false;
    while let Some((start, c)) = chars.next() {
        if tokens.len() == MOST_TOKENS {
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
            Kind::Number { value, digits }
        } else if is_letter(c) {
            let thai = ('\u{E00}'..='\u{E7F}').contains(&c);
            while let Some((at, next)) = chars.peek().copied() {
                if digit(next).is_some() || !(is_letter(next) || thai && next == '.') {
                    break;
                }
                end = at + next.len_utf8();
                chars.next();
            }
            Kind::Word
        } else {
            Kind::Sign(c)
        };
        // Invisible marks of the writing direction stand between the parts of Arabic and Hebrew dates.
        if !matches!(kind, Kind::Sign('\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')) {
            tokens.push(Token { kind, start, end, spaced });
            spaced = false;
        }
    }
    tokens
}

/// Finds the days written in a text, in order.
pub(super) fn find(text: &str, habit: Habit) -> Vec<Found> {
    let mut found = Vec::new();
    if text.len() < 6 || !has_digits(text) {
        return found;
    }
    let reader = Reader { text, tokens: cut(text), habit };
    let mut at = 0;
    while at < reader.tokens.len() && found.len() < MOST_FOUND {
        let read = match reader.tokens[at].kind {
            Kind::Number { .. } => reader.numeric(at),
            Kind::Word => reader.named(at),
            Kind::Sign(_) => None,
        };
        // A number belongs to one date only.
        let free = |(day, _): &(Found, usize)| found.last().is_none_or(|last: &Found| last.end <= day.start);
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

struct Reader<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    habit: Habit,
}

/// What may stand between the parts of a named date and means nothing.
const FILLERS: [&str; 44] = [
    "st", "nd", "rd", "th", "er", "e", "a", "de", "del", "d", "di", "do", "da", "den", "der", "of", "the", "le", "la",
    "el", "em", "o", "m", "mėn", "gada", "г", "год", "года", "р", "року", "i", "ko", "eko", "º", "ª", "ème", "à", "al",
    "tes", "year", "y", "ngày", "dia", "năm",
];

impl Reader<'_> {
    fn number(&self, at: usize) -> Option<(u32, u8)> {
        match self.tokens.get(at)?.kind {
            Kind::Number { value, digits } => Some((value, digits)),
            _ => None,
        }
    }

    fn word(&self, at: usize) -> Option<&str> {
        let token = self.tokens.get(at)?;
        matches!(token.kind, Kind::Word).then(|| &self.text[token.start..token.end])
    }

    fn sign(&self, at: usize) -> Option<char> {
        match self.tokens.get(at)?.kind {
            Kind::Sign(sign) => Some(sign),
            _ => None,
        }
    }

    fn span(&self, from: usize, to: usize, day: Date, other: Option<Date>, vague: bool) -> (Found, usize) {
        let (start, end) = (self.tokens[from].start, self.tokens[to].end);
        (Found { day, start, end, other: other.filter(|other| *other != day), vague }, to + 1)
    }

    /// Three numbers: 2019-08-02, 2.8.2019, 8/2/19, 2019年8月2日.
    fn numeric(&self, at: usize) -> Option<(Found, usize)> {
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
        // 2.8.2019.7 is a version, 192.168.1.2 an address, 555-12-2019 a telephone.
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
        let american_first = self.habit.month_first && sign != '.';
        let (first, second) = if american_first { (american, european) } else { (european, american) };
        // A dot parts day from month, wherever it is used.
        let second = second.filter(|_| sign != '.' || european.is_none());
        let day = first.or(second)?;
        Some(self.span(at, at + 4, day, if first.is_some() { second } else { None }, c_digits == 2))
    }

    /// 20190802 in the midst of a text.
    fn eight(&self, at: usize, value: u32, digits: u8) -> Option<(Found, usize)> {
        let day = (digits == 8).then(|| date(value / 10_000, value / 100 % 100, value % 100))??;
        Some(self.span(at, at, day, None, true))
    }

    /// A day around the name of a month: 2 August 2019, Aug. 2nd, 2019, 2019. augusztus 2.
    fn named(&self, at: usize) -> Option<(Found, usize)> {
        let word = self.word(at)?;
        if word.len() > 40 {
            return None;
        }
        let lower = word.to_lowercase();
        let lower = lower.trim_end_matches('.');
        // Vietnamese counts its months.
        let (month, last) = if matches!(lower, "tháng" | "thang") {
            let month = self.number(at + 1).map(|(month, _)| month).filter(|month| (1..=12).contains(month))?;
            (Month::Gregorian(month as i8), at + 1)
        } else {
            (tidings_lang::month(lower, self.habit.croatian.then_some("hr"))?, at)
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

    /// The place of the number before `at`, fillers passed over.
    fn skip_back(&self, at: usize) -> Option<usize> {
        (at.saturating_sub(5)..at).rev().find_map(|i| self.pass(i)).flatten()
    }

    /// The place of the number at or after `at`, fillers passed over.
    fn skip_forth(&self, at: usize) -> Option<usize> {
        (at..(at + 4).min(self.tokens.len())).find_map(|i| self.pass(i)).flatten()
    }

    /// `Some(Some)` at a number, `None` at a filler, `Some(None)` at anything else.
    fn pass(&self, at: usize) -> Option<Option<usize>> {
        let token = self.tokens[at];
        match token.kind {
            Kind::Number { .. } => Some(Some(at)),
            Kind::Sign(
                '.' | ',' | '-' | '/' | '\'' | '’' | 'º' | 'ª' | '،' | '·' | '°' | '‑' | '–' | '+' | '(' | ')',
            ) => None,
            Kind::Sign(_) => Some(None),
            Kind::Word => {
                let word = &self.text[token.start..token.end];
                let filler = word.len() <= 8 && FILLERS.iter().any(|filler| word.eq_ignore_ascii_case(filler));
                if filler { None } else { Some(None) }
            }
        }
    }

    /// The place of the token after `10:00:00 CEST`, where that begins at `at`.
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

/// Dashes and full-width signs as their plain relatives.
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
        find(text, Habit::default()).first().map_or(String::from("none"), |found| found.day.to_string())
    }

    #[test]
    fn a_day_is_read_in_the_words_of_many_languages() {
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
    fn what_is_no_day_is_not_read() {
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
    fn the_order_of_day_and_month_follows_language_and_address_unless_only_one_fits() {
        let american = Habit::of(Some("en-US"), Some("news.example.com"));
        let british = Habit::of(Some("en-GB"), Some("example.co.uk"));
        let german = Habit::of(Some("de"), None);
        let day = |habit| find("03/04/2020", habit)[0].day.to_string();
        assert_eq!([day(american), day(british), day(german)], ["2020-03-04", "2020-04-03", "2020-04-03"]);
        assert_eq!(find("25/04/2020", american)[0].day.to_string(), "2020-04-25");
        assert_eq!(find("04/25/2020", german)[0].day.to_string(), "2020-04-25");
        assert_eq!(find("03.04.2020", american)[0].day.to_string(), "2020-04-03");
    }

    #[test]
    fn stamps_keep_the_day_they_are_written_with() {
        let day = |text| stamp(text, Habit::default()).map_or(String::from("none"), |stamp| stamp.day.to_string());
        assert_eq!(day("2019-08-02T23:30:00-07:00"), "2019-08-02");
        assert_eq!(day("20190802"), "2019-08-02");
        assert_eq!(day("1564740000"), "2019-08-02");
        assert_eq!(day("1564740000000"), "2019-08-02");
        assert_eq!(day("Fri, 02 Aug 2019 10:00:00 +0200"), "2019-08-02");
        assert_eq!(day("0000-00-00"), "none");
        assert_eq!(day("1970-01-01T00:00:00Z"), "none");
    }
}
