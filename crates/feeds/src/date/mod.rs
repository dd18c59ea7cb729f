//! A lenient parser of dates in feeds.
//!
//! Instead of a list of formats, the string is split into numbers, words and signs; time and zone are found by
//! their shape, and the rest must be a date. Ambiguous dates are rejected, because users count words per day.

mod names;
mod zones;

use jiff::civil::{Date, ISOWeekDate, Time, Weekday};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, ToSpan};

/// Longer strings are rejected.
const MAX_BYTES: usize = 120;

/// Parses a date; without a zone it is in UTC, without a time it is midnight.
///
/// ```
/// let moment = tidings_feeds::date::parse("Mo., 3. März 2003 10:15 MEZ").unwrap();
/// assert_eq!(moment.to_string(), "2003-03-03T09:15:00Z");
/// assert_eq!(tidings_feeds::date::parse("10/01/2020"), None); // October or January?
/// ```
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_BYTES {
        return None;
    }
    if let Some(moment) = common_shape(text.as_bytes()) {
        return Some(moment);
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return digits_only(text);
    }
    let lower = text.to_lowercase();
    let tokens = cut(&lower);
    let mut reading = DateParser::new(tokens);
    reading.take_time()?;
    let date = reading.date()?;
    moment(date, reading.time, reading.offset_seconds)
}

/// A fast path for the two most common formats: `2003-12-31T10:14:55Z` and `Wed, 31 Dec 2003 10:14:55 GMT`, also with
/// numeric zones.
fn common_shape(b: &[u8]) -> Option<Timestamp> {
    let two = |at: usize| -> Option<i8> {
        let (tens, ones) = (b.get(at)?, b.get(at + 1)?);
        (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| ((tens - b'0') * 10 + (ones - b'0')) as i8)
    };
    let four = |at: usize| Some(i16::from(two(at)?) * 100 + i16::from(two(at + 2)?));
    let clock = |at: usize| -> Option<Time> {
        if b.get(at + 2) != Some(&b':') || b.get(at + 5) != Some(&b':') {
            return None;
        }
        Time::new(two(at)?, two(at + 3)?, two(at + 6)?, 0).ok()
    };
    let zone = |at: usize| -> Option<i32> {
        let sign = match b.get(at)? {
            b'+' => 1,
            b'-' => -1,
            b'Z' if b.len() == at + 1 => return Some(0),
            b'G' if &b[at..] == b"GMT" => return Some(0),
            _ => return None,
        };
        let minutes = match b.len() - at {
            5 => two(at + 3)?,
            6 if b[at + 3] == b':' => two(at + 4)?,
            _ => return None,
        };
        let hours = two(at + 1)?;
        (hours <= 15 && minutes < 60).then(|| sign * (i32::from(hours) * 3600 + i32::from(minutes) * 60))
    };
    let (date, time, offset) = if b.get(4) == Some(&b'-') && b.get(7) == Some(&b'-') && b.get(10) == Some(&b'T') {
        (Date::new(four(0)?, two(5)?, two(8)?).ok()?, clock(11)?, zone(19)?)
    } else if b.get(3) == Some(&b',') && b.get(4) == Some(&b' ') && b.get(7) == Some(&b' ') && b.get(11) == Some(&b' ')
    {
        if b.get(16) != Some(&b' ') || b.get(25) != Some(&b' ') {
            return None;
        }
        let month = match b.get(8..11)? {
            b"Jan" => 1,
            b"Feb" => 2,
            b"Mar" => 3,
            b"Apr" => 4,
            b"May" => 5,
            b"Jun" => 6,
            b"Jul" => 7,
            b"Aug" => 8,
            b"Sep" => 9,
            b"Oct" => 10,
            b"Nov" => 11,
            b"Dec" => 12,
            _ => return None,
        };
        (Date::new(four(12)?, month, two(5)?).ok()?, clock(17)?, zone(26)?)
    } else {
        return None;
    };
    moment(date, Some((time, false)), offset)
}

/// Earlier years are placeholders, not dates.
const MIN_YEAR: i16 = 1000;

/// A time and whether it is on the next day: 24:00 is midnight of the next day.
type ClockTime = (Time, bool);

fn moment(date: Date, time: Option<ClockTime>, offset_seconds: i32) -> Option<Timestamp> {
    let (time, next_day) = time.unwrap_or((Time::midnight(), false));
    let date = if next_day { date.tomorrow().ok()? } else { date };
    // Civil arithmetic in UTC: no time zone rules apply.
    let zone = TimeZone::fixed(Offset::UTC);
    let utc = date.to_datetime(time).to_zoned(zone).ok()?.timestamp();
    let utc = utc.checked_sub(i64::from(offset_seconds).seconds()).ok()?;
    (Offset::UTC.to_datetime(utc).year() >= MIN_YEAR).then_some(utc)
}

/// Parses digits only: seconds or milliseconds since 1970, or a date without separators.
fn digits_only(text: &str) -> Option<Timestamp> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let date = |y: i64, m: i64, d: i64| {
        let year = i16::try_from(y).ok().filter(|y| (1900..2200).contains(y))?;
        Date::new(year, i8::try_from(m).ok()?, i8::try_from(d).ok()?).ok()
    };
    let day = || date(number(0..4)?, number(4..6)?, number(6..8)?);
    let clock = |seconds| {
        let (h, m) = (number(8..10)?, number(10..12)?);
        Time::new(i8::try_from(h).ok()?, i8::try_from(m).ok()?, seconds, 0).ok()
    };
    match text.len() {
        4 => moment(date(number(0..4)?, 1, 1)?, None, 0),
        6 => {
            let year = full_year(number(0..2)?, 2)?;
            moment(date(i64::from(year), number(2..4)?, number(4..6)?)?, None, 0)
        }
        7 => {
            let first = date(number(0..4)?, 1, 1)?;
            moment(ordinal(first.year(), number(4..7)?)?, None, 0)
        }
        8 => moment(day()?, None, 0),
        9 | 10 => Timestamp::from_second(number(0..text.len())?).ok(),
        12 => match day().zip(clock(0)) {
            Some((day, time)) => moment(day, Some((time, false)), 0),
            None => Timestamp::from_millisecond(number(0..12)?).ok(),
        },
        13 => Timestamp::from_millisecond(number(0..13)?).ok(),
        14 => moment(day()?, Some((clock(i8::try_from(number(12..14)?).ok()?)?, false)), 0),
        _ => None,
    }
}

fn ordinal(year: i16, day: i64) -> Option<Date> {
    let first = Date::new(year, 1, 1).ok()?;
    if day < 1 || day > i64::from(first.days_in_year()) {
        return None;
    }
    first.checked_add((day - 1).days()).ok()
}

/// Expands two-digit and three-digit years.
fn full_year(year: i64, digits: usize) -> Option<i16> {
    let year = match (digits, year) {
        (1..=2, 0..70) => year + 2000,
        (1..=2, _) => year + 1900,
        // Programs that count from 1900 write 103 for 2003.
        (3, 100..200) => year + 1900,
        (4, _) => year,
        _ => return None,
    };
    i16::try_from(year).ok().filter(|year| *year >= MIN_YEAR)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DatePart<'a> {
    Number { value: i64, digits: usize },
    Word(&'a str),
    Sign(char),
}

#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    piece: DatePart<'a>,
    /// True if preceded by white space.
    apart: bool,
}

/// Splits a date into numbers, words and signs.
fn cut(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut apart = false;
    while let Some(c) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphabetic() || (!c.is_ascii() && !c.is_whitespace() && !is_mark(c));
        let (piece, length) = if c.is_whitespace() || matches!(c, '\u{200e}' | '\u{200f}') {
            apart = true;
            rest = &rest[c.len_utf8()..];
            continue;
        } else if c.is_ascii_digit() {
            let length = rest.bytes().take_while(u8::is_ascii_digit).count();
            // Fractions of seconds may be long; truncate them.
            let value = rest[..length.min(18)].parse().unwrap_or(0);
            (DatePart::Number { value, digits: length }, length)
        } else if is_word(c) {
            let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            (DatePart::Word(&rest[..length]), length)
        } else {
            (DatePart::Sign(c), c.len_utf8())
        };
        tokens.push(Token { piece, apart });
        apart = false;
        rest = &rest[length..];
    }
    tokens
}

/// Returns true for non-ASCII punctuation used in dates.
fn is_mark(c: char) -> bool {
    matches!(c, '،' | '，' | '、' | '：' | '–' | '—' | '−' | '·' | '«' | '»' | '“' | '”' | '’' | '‘')
}

/// The parser state; recognised tokens are removed.
struct DateParser<'a> {
    tokens: Vec<Token<'a>>,
    time: Option<ClockTime>,
    offset_seconds: i32,
}

impl<'a> DateParser<'a> {
    fn new(tokens: Vec<Token<'a>>) -> Self {
        DateParser { tokens, time: None, offset_seconds: 0 }
    }

    fn part(&self, at: usize) -> Option<DatePart<'a>> {
        self.tokens.get(at).map(|token| token.piece)
    }

    fn number(&self, at: usize) -> Option<(i64, usize)> {
        match self.part(at)? {
            DatePart::Number { value, digits } => Some((value, digits)),
            _ => None,
        }
    }

    fn word(&self, at: usize) -> Option<&'a str> {
        match self.part(at)? {
            DatePart::Word(word) => Some(word),
            _ => None,
        }
    }

    fn is_sign(&self, at: usize, sign: char) -> bool {
        self.part(at) == Some(DatePart::Sign(sign))
    }

    /// Removes the time and the zone after it. `None` if they are invalid.
    fn take_time(&mut self) -> Option<()> {
        let Some((from, mut to, [hour, minute, second])) = self.find_time() else {
            return Some(());
        };
        let mut from = from;
        let mut hour = hour;
        // AM and PM follow the time; in East Asia they precede it.
        let half = self.half_of_day(to).map(|(half, end)| {
            to = end;
            half
        });
        let half = half.or_else(|| {
            let (half, _) = from.checked_sub(1).and_then(|at| self.half_of_day(at))?;
            from -= 1;
            Some(half)
        });
        match half {
            Some(_) if hour > 12 => {}
            Some(HalfDay::Morning) if hour == 12 => hour = 0,
            Some(HalfDay::Afternoon) if hour < 12 => hour += 12,
            _ => {}
        }
        let next_day = hour == 24 && minute == 0 && second == 0;
        let hour = if next_day { 0 } else { hour };
        // A leap second becomes the last second of its minute.
        let second = if second == 60 { 59 } else { second };
        let part = |value: i64| i8::try_from(value).ok();
        let time = Time::new(part(hour)?, part(minute)?, part(second)?, 0).ok()?;
        self.time = Some((time, next_day));
        to = self.take_zone(to)?;
        // Remove a `T` or comma that introduces the time.
        if from > 0
            && matches!(
                self.part(from - 1),
                Some(DatePart::Word("t" | "um" | "at" | "klo" | "kl" | "à" | "às" | "ob" | "o" | "alle" | "ore"))
            )
        {
            from -= 1;
        }
        self.tokens.drain(from..to);
        Some(())
    }

    /// Finds hours, minutes and seconds with their token range.
    fn find_time(&self) -> Option<(usize, usize, [i64; 3])> {
        for at in 0..self.tokens.len() {
            let Some((hour, digits)) = self.number(at) else {
                continue;
            };
            let colon = |at: usize| self.is_sign(at, ':') || self.is_sign(at, '：');
            if digits <= 2 && colon(at + 1) {
                let (minute, _) = self.number(at + 2).filter(|(_, digits)| *digits <= 2)?;
                let mut to = at + 3;
                let mut second = 0;
                let dotted = |at: usize| self.is_sign(at, '.') && self.number(at + 1).is_some_and(|(_, d)| d == 2);
                if colon(to) || (dotted(to) && !self.tokens[to].apart) {
                    (second, _) = self.number(to + 1).filter(|(_, digits)| *digits <= 2)?;
                    to += 2;
                    let fraction = self.is_sign(to, '.') || self.is_sign(to, ',') || colon(to);
                    if fraction && self.number(to + 1).is_some() && !self.tokens[to + 1].apart {
                        to += 2;
                    }
                }
                return Some((at, to, [hour, minute, second]));
            }
            // 14h30, 9時15分, 9시 15분
            let unit = self.word(at + 1).filter(|_| digits <= 2);
            if let Some("h" | "時" | "时" | "시" | "点" | "點") = unit {
                let mut to = at + 2;
                let mut parts = [hour, 0, 0];
                for part in &mut parts[1..] {
                    let Some((value, _)) = self.number(to).filter(|(_, digits)| *digits <= 2) else {
                        break;
                    };
                    *part = value;
                    to += 1;
                    if let Some("分" | "분" | "秒" | "초" | "min" | "m" | "s") = self.word(to) {
                        to += 1;
                    }
                }
                return Some((at, to, parts));
            }
            // T10, T1015, T101530
            let after_t = at > 0 && self.word(at - 1) == Some("t");
            if after_t && matches!(digits, 2 | 4 | 6) {
                let parts = match digits {
                    2 => [hour, 0, 0],
                    4 => [hour / 100, hour % 100, 0],
                    _ => [hour / 10_000, hour / 100 % 100, hour % 100],
                };
                let mut to = at + 1;
                if self.is_sign(to, '.') && self.number(to + 1).is_some() {
                    to += 2;
                }
                return Some((at, to, parts));
            }
            // 10 pm
            if digits <= 2 && (1..=12).contains(&hour) && matches!(self.word(at + 1), Some("am" | "pm")) {
                return Some((at, at + 1, [hour, 0, 0]));
            }
        }
        None
    }

    /// Parses an AM/PM marker and returns the end of it.
    fn half_of_day(&self, at: usize) -> Option<(HalfDay, usize)> {
        let half = match self.word(at)? {
            "am" | "오전" | "上午" | "午前" | "πμ" | "dop" | "fm" => HalfDay::Morning,
            "pm" | "오후" | "下午" | "午後" | "μμ" | "odp" | "em" => HalfDay::Afternoon,
            letter @ ("a" | "p" | "π" | "μ") => {
                // a.m. and p.m.
                let dotted = self.is_sign(at + 1, '.') && matches!(self.word(at + 2), Some("m" | "μ"));
                if !dotted {
                    return None;
                }
                let end = if self.is_sign(at + 3, '.') { at + 4 } else { at + 3 };
                return Some((if matches!(letter, "a" | "π") { HalfDay::Morning } else { HalfDay::Afternoon }, end));
            }
            _ => return None,
        };
        Some((half, at + 1))
    }

    /// Parses the zone after the time and returns the end of it.
    fn take_zone(&mut self, mut at: usize) -> Option<usize> {
        let mut offset = None;
        while at < self.tokens.len() {
            if self.is_sign(at, '(') || self.is_sign(at, '[') {
                // A comment with the zone's name, used only if there is nothing else.
                if let (None, Some(name)) = (offset, self.word(at + 1)) {
                    offset = zones::seconds(name);
                }
                return Some(self.finish_zone(offset, self.tokens.len()));
            }
            if let Some((seconds, end)) = self.numeric_zone(at) {
                // GMT+1 is UTC+1, unlike in POSIX.
                offset = Some(offset.unwrap_or(0) + seconds?);
                at = end;
                continue;
            }
            if self.is_sign(at, ',') || self.is_sign(at, '.') {
                at += 1;
                continue;
            }
            let Some(word) = self.word(at) else { break };
            match word {
                "uhr" | "h" | "hs" | "hrs" | "klo" => at += 1,
                "etc" if self.is_sign(at + 1, '/') => at += 2,
                _ if self.is_sign(at + 1, '/') && self.word(at + 2).is_some() => {
                    // Europe/Berlin: its offset needs the time zone database.
                    return None;
                }
                _ if names::month(word).is_some() || tidings_lang::is_weekday(word) => break,
                _ => {
                    match zones::seconds(word) {
                        Some(seconds) => offset = Some(offset.unwrap_or(0) + seconds),
                        // RFC 5322: unknown zone names are UTC.
                        None if word.is_ascii() && word.len() <= 5 => offset = offset.or(Some(0)),
                        None => break,
                    }
                    at += 1;
                }
            }
        }
        Some(self.finish_zone(offset, at))
    }

    fn finish_zone(&mut self, offset: Option<i32>, end: usize) -> usize {
        self.offset_seconds = offset.unwrap_or_else(|| self.usual_offset());
        end
    }

    /// The default offset: Korean dates without a zone are in Korean time.
    fn usual_offset(&self) -> i32 {
        let korean = self.tokens.iter().any(|t| matches!(t.piece, DatePart::Word("년" | "오전" | "오후")));
        if korean { 9 * 3600 } else { 0 }
    }

    /// Parses `+0200`, `+02:00`, `+2`; the inner `None` is an invalid offset.
    fn numeric_zone(&self, at: usize) -> Option<(Option<i32>, usize)> {
        let sign = match self.part(at)? {
            DatePart::Sign('+') => 1,
            DatePart::Sign('-' | '−' | '–') => -1,
            _ => return None,
        };
        let (value, digits) = self.number(at + 1)?;
        let mut end = at + 2;
        let (hours, minutes) = match digits {
            1 | 2 if self.is_sign(end, ':') => {
                let (minutes, _) = self.number(end + 1)?;
                end += 2;
                (value, minutes)
            }
            1 | 2 => (value, 0),
            3 | 4 => (value / 100, value % 100),
            _ => return None,
        };
        // Numbers of any size come here, so they are multiplied only if they are possible.
        let possible = (0..=15).contains(&hours) && (0..60).contains(&minutes);
        let seconds = possible.then(|| hours * 3600 + minutes * 60).and_then(|seconds| i32::try_from(seconds).ok());
        Some((seconds.map(|seconds| sign * seconds), end))
    }

    /// Parses the remaining tokens as a date.
    fn date(&self) -> Option<Date> {
        let mut numbers: Vec<(i64, usize)> = Vec::new();
        let mut separators: Vec<char> = Vec::new();
        let mut month = None;
        let mut months_before_numbers = 0;
        let mut thai = false;
        let mut strangers = 0;
        let mut week = None;
        let mut units = String::new();
        let mut at = 0;
        while at < self.tokens.len() {
            match self.tokens[at].piece {
                DatePart::Number { value, digits } => numbers.push((value, digits)),
                DatePart::Sign(sign @ ('-' | '/' | '.' | ',' | '–' | '—')) => separators.push(sign),
                DatePart::Sign('(' | ')' | '\'' | '"' | '،' | '，' | '、' | '·' | '’') => {}
                DatePart::Sign(_) => return None,
                DatePart::Word("w") if numbers.len() == 1 && self.number(at + 1).is_some() => {
                    week = self.number(at + 1);
                    at += 1;
                }
                DatePart::Word(word @ ("年" | "月" | "日" | "년" | "월" | "일")) => units.push_str(word),
                DatePart::Word("tháng" | "thg") => {
                    month = self.number(at + 1).map(|(value, _)| value);
                    months_before_numbers = numbers.len();
                    at += 1;
                }
                DatePart::Word(word) => match names::month(word) {
                    Some(found) if month.is_none() => {
                        month = Some(i64::from(found));
                        months_before_numbers = numbers.len();
                        thai = word.starts_with(|c: char| ('\u{e00}'..'\u{e80}').contains(&c));
                    }
                    _ if names::is_filler(word) || tidings_lang::is_weekday(word) => {}
                    // One leading unknown word is a weekday in another language.
                    _ if numbers.is_empty() && month.is_none() && strangers == 0 => strangers += 1,
                    _ => return None,
                },
            }
            at += 1;
        }
        if let (Some((week, _)), Some((year, 4))) = (week, numbers.first().copied()) {
            return week_date(year, week, numbers.get(1).map_or(1, |(day, _)| *day));
        }
        let (year, month, day) = match month {
            Some(month) => {
                let (year, day) = year_and_day(&numbers, months_before_numbers)?;
                (year, month, day)
            }
            None => {
                if !units.is_empty() && !units.starts_with(['年', '년']) {
                    return None;
                }
                return numeric_date(&numbers, &separators);
            }
        };
        let year = if thai && year.0 > 2400 { (year.0 - 543, year.1) } else { year };
        civil(full_year(year.0, year.1)?, month, day)
    }
}

#[derive(Debug, Clone, Copy)]
enum HalfDay {
    Morning,
    Afternoon,
}

fn civil(year: i16, month: i64, day: i64) -> Option<Date> {
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn week_date(year: i64, week: i64, day: i64) -> Option<Date> {
    let weekday = Weekday::from_monday_one_offset(i8::try_from(day).ok()?).ok()?;
    let week = ISOWeekDate::new(i16::try_from(year).ok()?, i8::try_from(week).ok()?, weekday).ok()?;
    Some(week.date())
}

/// The year and day next to a month name, in either order, or the year alone.
fn year_and_day(numbers: &[(i64, usize)], before_month: usize) -> Option<((i64, usize), i64)> {
    match *numbers {
        [year @ (_, 4)] => Some((year, 1)),
        [year @ (_, 3 | 4), (day, 1 | 2)] => Some((year, day)),
        [(day, 1 | 2), year @ (_, 3 | 4)] => Some((year, day)),
        // Day and year with two digits each: the year is last.
        [(day, 1 | 2), year @ (_, 2)] if before_month <= 1 => Some((year, day)),
        _ => None,
    }
}

/// Parses a numeric date whose order is unambiguous.
fn numeric_date(numbers: &[(i64, usize)], separators: &[char]) -> Option<Date> {
    match *numbers {
        [(year, 4), (month, 1 | 2), (day, 1 | 2)] => civil(full_year(year, 4)?, month, day),
        [(a, 1 | 2), (b, 1 | 2), (year, 4)] => {
            let year = full_year(year, 4)?;
            let dots = separators.iter().filter(|c| **c == '.').count() >= 2;
            match (a > 12, b > 12) {
                (true, false) => civil(year, b, a),
                (false, true) if !dots => civil(year, a, b),
                // Dots are European: the day comes first.
                (false, false) if dots || a == b => civil(year, b, a),
                _ => None,
            }
        }
        [(year, 2), (month, 2), (day, 2)] if separators.iter().filter(|c| **c == '-').count() == 2 => {
            civil(full_year(year, 2)?, month, day)
        }
        [(day, 1 | 2), (month, 1 | 2), (year, 2)] if separators.iter().filter(|c| **c == '.').count() >= 2 => {
            civil(full_year(year, 2)?, month, day)
        }
        // A leading hyphen replaces the century: -03-12, -0312.
        [(year, 2), (month, 2)] if separators == ['-', '-'] => civil(full_year(year, 2)?, month, 1),
        [(whole, 4)] if separators == ['-'] => civil(full_year(whole / 100, 2)?, whole % 100, 1),
        [(year, 2), (day, 3)] => ordinal(full_year(year, 2)?, day),
        [(year, 4), (day, 3)] => ordinal(full_year(year, 4)?, day),
        [(year, 4), (month, 1 | 2)] => civil(full_year(year, 4)?, month, 1),
        [(whole, 8)] => civil(full_year(whole / 10_000, 4)?, whole / 100 % 100, whole % 100),
        [(whole, 7)] => ordinal(full_year(whole / 1000, 4)?, whole % 1000),
        [(year, 4)] => civil(full_year(year, 4)?, 1, 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
