//! Dates in URLs: `/2019/08/02/`, `20190802`, `2019-08`.

use jiff::civil::Date;

use super::parse::date;

/// Longer URLs are not searched.
const MAX_BYTES: usize = 2048;

/// A date in a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UrlDate {
    /// A day with separators: `/2019/08/02/` or `2019-08-02`.
    Day(Date),
    /// A day as one number: `20190802`.
    Number(Date),
    /// A month, as its first day.
    Month(Date),
}

/// Finds a date in the path of a URL.
pub(super) fn read(url: &str) -> Option<UrlDate> {
    let url = url.get(..MAX_BYTES).unwrap_or(url);
    if url.len() > MAX_BYTES {
        return None;
    }
    // The date of a web archive URL is that of the copy, not of the page.
    let url = match url.rsplit_once("/http") {
        Some((front, inner)) if front.contains("://") && inner.contains("://") => inner,
        _ => match url.split_once("/web/") {
            Some((_, rest)) if rest.bytes().take_while(u8::is_ascii_digit).count() == 14 => &rest[14..],
            _ => url,
        },
    };
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = &rest[rest.find('/')?..];
    let b = path.as_bytes();
    let (mut number, mut month) = (None, None);
    let mut at = 0;
    while at < b.len() {
        if !b[at].is_ascii_digit() || at > 0 && b[at - 1].is_ascii_digit() {
            at += 1;
            continue;
        }
        let run = |from: usize| b[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let value =
            |from: usize, length: usize| b[from..from + length].iter().fold(0u32, |n, b| n * 10 + u32::from(b - b'0'));
        let length = run(at);
        if length == 4 {
            let year = value(at, 4);
            let sign = b.get(at + 4).copied().unwrap_or(0);
            if matches!(sign, b'/' | b'-' | b'_' | b'.') {
                let months = run(at + 5);
                if (1..=2).contains(&months) {
                    let m = value(at + 5, months);
                    let next = at + 5 + months;
                    let days = if matches!(b.get(next), Some(b'/' | b'-' | b'_' | b'.')) { run(next + 1) } else { 0 };
                    if (1..=2).contains(&days)
                        && let Some(day) = date(year, m, value(next + 1, days))
                    {
                        return Some(UrlDate::Day(day));
                    }
                    // `/2019/0802/` is a month here and a day below.
                    month = month.or(date(year, m, 1).filter(|_| months == 2));
                } else if months == 4
                    && let Some(day) = date(year, value(at + 5, 2), value(at + 7, 2))
                {
                    return Some(UrlDate::Day(day));
                } else if let Some(m) = b.get(at + 5..at + 8).and_then(english)
                    && let letters = b[at + 5..].iter().take_while(|b| b.is_ascii_alphabetic()).count()
                    && letters <= 9
                    && b.get(at + 5 + letters) == Some(&sign)
                {
                    let next = at + 6 + letters;
                    let days = run(next);
                    if (1..=2).contains(&days)
                        && let Some(day) = date(year, m, value(next, days))
                    {
                        return Some(UrlDate::Day(day));
                    }
                    month = month.or(date(year, m, 1));
                }
            }
        } else if (1..=2).contains(&length) && matches!(b.get(at + length), Some(b'-' | b'.' | b'/' | b'_')) {
            // 02-08-2019, day first.
            let sign = b[at + length];
            let second = at + length + 1;
            let months = run(second);
            if (1..=2).contains(&months) && b.get(second + months) == Some(&sign) && run(second + months + 1) == 4 {
                let (a, m, y) = (value(at, length), value(second, months), value(second + months + 1, 4));
                if let Some(day) = date(y, m, a).filter(|_| a > 12 || sign != b'/') {
                    return Some(UrlDate::Day(day));
                }
            }
        } else if length == 8 || length == 12 || length == 14 {
            number = number.or(date(value(at, 4), value(at + 4, 2), value(at + 6, 2)));
        } else if length == 6 && b.get(at + 6) == Some(&b'/') {
            month = month.or(date(value(at, 4), value(at + 4, 2), 1));
        }
        at += length;
    }
    number.map(UrlDate::Number).or(month.map(UrlDate::Month))
}

fn english(b: &[u8]) -> Option<u32> {
    const NAMES: [&[u8]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    NAMES.iter().zip(1..).find(|(name, _)| b.eq_ignore_ascii_case(name)).map(|(_, month)| month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_months_are_found_in_urls() {
        let day = Date::new(2019, 8, 2).unwrap();
        let month = Date::new(2019, 8, 1).unwrap();
        for (url, date) in [
            ("https://example.org/2019/08/02/title", Some(UrlDate::Day(day))),
            ("https://example.org/news/2019-8-2-title", Some(UrlDate::Day(day))),
            ("https://example.org/2019/aug/02/title", Some(UrlDate::Day(day))),
            ("https://example.org/2019/august/02/title", Some(UrlDate::Day(day))),
            ("https://example.org/2019/0802/c1001.html", Some(UrlDate::Day(day))),
            ("https://example.org/a/02-08-2019/title", Some(UrlDate::Day(day))),
            ("https://example.org/t20190802_123.html", Some(UrlDate::Number(day))),
            ("https://example.org/2019/08/title", Some(UrlDate::Month(month))),
            ("https://archive.example/web/20220101000000/http://example.org/2019/08/x", Some(UrlDate::Month(month))),
            ("https://example.org/2019/title", None),
            ("https://example.org/20199999", None),
            ("https://2019-08-02.example.org/", None),
            ("https://example.org/é/2019/08/é", Some(UrlDate::Month(month))),
        ] {
            assert_eq!(read(url), date, "{url}");
        }
    }
}
