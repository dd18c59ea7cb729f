//! URLs that are traps by their form: never asked for, never remembered.

use std::fmt;

use jiff::civil::Date;
use url::Url;

/// The longest URL that is followed, in bytes.
pub const MAX_URL_BYTES: usize = 512;
/// The deepest path that is followed, in segments.
pub const MAX_DEPTH: usize = 16;
/// The most keys of a query.
pub const MAX_QUERY_KEYS: usize = 6;
/// The oldest year of a date in a path.
const OLDEST_YEAR: i16 = 1990;

/// Why a URL is a trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HardTrap {
    /// Longer than [`MAX_URL_BYTES`].
    Long,
    /// More than [`MAX_DEPTH`] segments.
    Deep,
    /// A segment three times, or a cycle of segments.
    Repeated,
    /// A host name inside the path: a relative link that should be absolute.
    HostInPath,
    /// A date before 1990 or more than a year ahead: a calendar without end.
    FarDate,
    /// More than [`MAX_QUERY_KEYS`] keys: facets in any combination.
    ManyKeys,
    /// Neither http nor https, or no host.
    NotWeb,
}

impl fmt::Display for HardTrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HardTrap::Long => "longer than 512 bytes",
            HardTrap::Deep => "more than 16 path segments",
            HardTrap::Repeated => "path segments repeat",
            HardTrap::HostInPath => "a host name inside the path",
            HardTrap::FarDate => "a date before 1990 or more than a year ahead",
            HardTrap::ManyKeys => "more than 6 query keys",
            HardTrap::NotWeb => "not an http or https URL",
        })
    }
}

/// The trap that a URL is by its form, if it is one. `today` bounds dates in paths.
pub fn hard_trap(url: &Url, today: Date) -> Option<HardTrap> {
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Some(HardTrap::NotWeb);
    }
    if url.as_str().len() > MAX_URL_BYTES {
        return Some(HardTrap::Long);
    }
    let segments: Vec<&str> = url.path().split('/').filter(|segment| !segment.is_empty()).collect();
    if segments.len() > MAX_DEPTH {
        return Some(HardTrap::Deep);
    }
    if repeats(&segments) {
        return Some(HardTrap::Repeated);
    }
    let host = url.host_str().unwrap_or_default();
    let bare = host.strip_prefix("www.").unwrap_or(host);
    if segments.iter().any(|segment| {
        segment.eq_ignore_ascii_case(host) || segment.eq_ignore_ascii_case(bare) || segment.starts_with("www.")
    }) {
        return Some(HardTrap::HostInPath);
    }
    if url.query_pairs().count() > MAX_QUERY_KEYS {
        return Some(HardTrap::ManyKeys);
    }
    date_in_path(url)
        .filter(|date| date.year() < OLDEST_YEAR || date.year() > today.year() + 1 || *date > ahead(today))
        .map(|_| HardTrap::FarDate)
}

fn ahead(today: Date) -> Date {
    today.saturating_add(jiff::Span::new().years(1))
}

/// A segment three times, or two segments in turn twice.
fn repeats(segments: &[&str]) -> bool {
    let thrice = segments
        .iter()
        .enumerate()
        .any(|(at, segment)| segments[at + 1..].iter().filter(|other| *other == segment).count() >= 2);
    thrice || segments.windows(4).any(|four| four[0] == four[2] && four[1] == four[3])
}

/// The date in the path of a URL: `/2019/03/04/`, `/2019/03/`, `2019-03-04` or `20190304` within a segment of its own.
/// A missing day or month is the first.
pub fn date_in_path(url: &Url) -> Option<Date> {
    let segments: Vec<&str> = url.path().split('/').collect();
    segments.iter().enumerate().find_map(|(at, segment)| {
        let number = |text: &str| text.parse::<i16>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
        let follows = |by: usize| {
            segments
                .get(at + by)
                .filter(|text| (1..=2).contains(&text.len()))
                .and_then(|text| number(text))
                .and_then(|n| i8::try_from(n).ok())
        };
        match segment.len() {
            4 => {
                let (year, month) = (number(segment)?, follows(1)?);
                Date::new(year, month, follows(2).unwrap_or(1)).or_else(|_| Date::new(year, month, 1)).ok()
            }
            8 if segment.bytes().all(|b| b.is_ascii_digit()) => {
                ymd(segment.get(..4)?, segment.get(4..6)?, segment.get(6..)?)
            }
            10 => {
                let mut parts = segment.split(['-', '_', '.']);
                ymd(parts.next()?, parts.next()?, parts.next()?)
            }
            _ => None,
        }
    })
}

fn ymd(year: &str, month: &str, day: &str) -> Option<Date> {
    let valid = year.len() == 4;
    Date::new(year.parse().ok().filter(|_| valid)?, month.parse().ok()?, day.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trap(url: &str) -> Option<HardTrap> {
        hard_trap(&Url::parse(url).expect("a URL"), Date::constant(2026, 11, 16))
    }

    #[test]
    fn articles_are_no_traps() {
        for url in [
            "https://a.example/2019/03/04/title.html",
            "https://a.example/news/news/today",
            "https://a.example/?p=12&lang=de",
            "https://a.example/calendar/2027/06/",
            "https://a.example/1984/review",
            "https://a.example/stories/www-and-the-law",
        ] {
            assert_eq!(trap(url), None, "{url}");
        }
    }

    #[test]
    fn each_form_of_trap_is_named() {
        let long = format!("https://a.example/{}", "x".repeat(600));
        let deep = format!("https://a.example/{}", (0..20).map(|n| format!("{n}/")).collect::<String>());
        for (url, kind) in [
            (long.as_str(), HardTrap::Long),
            (deep.as_str(), HardTrap::Deep),
            ("https://a.example/a/b/a/c/a/", HardTrap::Repeated),
            ("https://a.example/x/a/b/a/b/", HardTrap::Repeated),
            ("https://www.a.example/about/a.example/about", HardTrap::HostInPath),
            ("https://a.example/links/www.b.example/", HardTrap::HostInPath),
            ("https://a.example/calendar/2031/05/", HardTrap::FarDate),
            ("https://a.example/archive/1875-01-01", HardTrap::FarDate),
            ("https://a.example/shop?a=1&b=2&c=3&d=4&e=5&f=6&g=7", HardTrap::ManyKeys),
            ("mailto:a@b.example", HardTrap::NotWeb),
        ] {
            assert_eq!(trap(url), Some(kind), "{url}");
        }
    }
}
