//! Sections of a site: host and shape of the path.
//!
//! Pages of one template share the form of their URLs: `/2019/03/04/a-long-title.html` and
//! `/2020/11/30/another-title.html` are both `/D/*.html`. Numbers become `#`, dates `D`, titles and identifiers `*`; of
//! a query only the names of its keys remain.

use std::fmt::Write as _;

use url::Url;

/// Years taken for dates in paths.
const YEARS: std::ops::RangeInclusive<u32> = 1990..=2100;
/// The longest segment that can be the name of a section.
const MAX_NAME: usize = 24;

/// The registered domain of a URL: what the public suffix list gives for its host, else the host.
pub fn domain(url: &Url) -> &str {
    let host = url.host_str().unwrap_or_default();
    let is_number = host.starts_with('[') || host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if is_number { host } else { tidings_model::registered_domain(host).unwrap_or(host) }
}

/// The section of a URL: its host and the shape of its path and query.
pub fn section(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let mut section = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    section.push_str(&path_shape(url.path()));
    let mut keys: Vec<_> = url.query_pairs().map(|(key, _)| key.to_ascii_lowercase()).collect();
    keys.sort_unstable();
    keys.dedup();
    for (at, key) in keys.iter().enumerate() {
        let _ = write!(section, "{}{}", if at == 0 { '?' } else { '&' }, name_or_star(key));
    }
    section
}

/// Hosts of other versions of a site, before its domain.
const VERSION_HOSTS: [&str; 3] = ["m.", "mobile.", "amp."];
/// First segments of the paths of other versions.
const VERSION_SEGMENTS: [&str; 3] = ["/print/", "/amp/", "/mobile/"];
/// Keys of queries that ask for other versions.
const VERSION_KEYS: [&str; 3] = ["amp", "print", "printable"];

/// The section whose pages a section for printers, AMP or telephones shows once more, if its name says so.
pub fn plain_section(section: &str) -> Option<String> {
    if let Some(rest) = VERSION_HOSTS.iter().find_map(|host| section.strip_prefix(host)) {
        return Some(rest.to_owned());
    }
    let (path, query) = section.split_once('?').unwrap_or((section, ""));
    let keys: Vec<&str> = query.split('&').filter(|key| !key.is_empty()).collect();
    let kept: Vec<&str> = keys.iter().copied().filter(|key| !VERSION_KEYS.contains(key)).collect();
    let (host, tail) = path.split_at(path.find('/')?);
    let stripped = VERSION_SEGMENTS.iter().find_map(|segment| tail.strip_prefix(segment));
    // `/print/*` may be a section of its own beside `/*`; a longer path has its twin.
    let stripped = stripped.filter(|rest| rest.contains(['/', '.', '?']));
    if stripped.is_none() && kept.len() == keys.len() {
        return None;
    }
    let tail = stripped.map_or_else(|| tail.to_owned(), |rest| format!("/{rest}"));
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    let host = host.strip_prefix("www.").unwrap_or(host);
    Some(format!("{host}{tail}{query}"))
}

fn path_shape(path: &str) -> String {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let mut shape = String::with_capacity(path.len());
    let mut in_date = false;
    for (at, segment) in segments.iter().enumerate() {
        let last = at + 1 == segments.len() && !path.ends_with('/');
        if is_date(segment) || in_date && is_day_or_month(segment) {
            if !in_date {
                shape.push_str("/D");
            }
            in_date = true;
            continue;
        }
        in_date = false;
        shape.push('/');
        shape.push_str(&segment_shape(segment, last, at));
    }
    if path.ends_with('/') || shape.is_empty() {
        shape.push('/');
    }
    shape
}

fn segment_shape(segment: &str, last: bool, depth: usize) -> String {
    let (stem, extension) =
        match segment.rsplit_once('.').filter(|(stem, ext)| last && is_extension(ext) && !stem.is_empty()) {
            Some((stem, extension)) => (stem, format!(".{}", extension.to_ascii_lowercase())),
            None => (segment, String::new()),
        };
    let stem = if stem.bytes().all(|b| b.is_ascii_digit()) {
        "#"
    } else if last && depth > 0 && extension.is_empty() {
        // The last segment below a section names one of its pages.
        "*"
    } else {
        name_or_star(stem)
    };
    format!("{stem}{extension}")
}

/// A name that many URLs of a site can share, or `*` for a title or identifier.
fn name_or_star(text: &str) -> &str {
    let separators = text.bytes().filter(|b| matches!(b, b'-' | b'_' | b'+' | b'.')).count();
    let is_name = text.len() <= MAX_NAME
        && separators <= 1
        && text.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_' | b'[' | b']' | b'+' | b'.'));
    if is_name { text } else { "*" }
}

fn is_extension(text: &str) -> bool {
    (2..=5).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric())
        && !text.bytes().all(|b| b.is_ascii_digit())
}

fn is_day_or_month(segment: &str) -> bool {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let is_number = segment.len() <= 2 && segment.parse::<u32>().is_ok_and(|n| (1..=31).contains(&n));
    is_number || segment.len() == 3 && MONTHS.iter().any(|month| segment.eq_ignore_ascii_case(month))
}

fn is_date(segment: &str) -> bool {
    let digits: String = segment.chars().filter(|c| !matches!(c, '-' | '_' | '.')).collect();
    let numeric = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let year = digits.get(..4).and_then(|year| year.parse::<u32>().ok()).is_some_and(|year| YEARS.contains(&year));
    let part = |from: usize, most: u32| {
        digits.get(from..from + 2).and_then(|n| n.parse::<u32>().ok()).is_some_and(|n| (1..=most).contains(&n))
    };
    numeric
        && year
        && match digits.len() {
            4 => true,
            6 => part(4, 12),
            8 => part(4, 12) && part(6, 31),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> String {
        section(&Url::parse(url).expect("a URL"))
    }

    #[test]
    fn articles_of_one_template_share_a_section() {
        let first = of("https://www.paper.example/2019/03/04/the-long-title-of-a-story.html");
        assert_eq!(first, "www.paper.example/D/*.html");
        assert_eq!(first, of("https://www.paper.example/2020/11/30/another-title-2.html"));
        assert_eq!(of("https://a.example/politics/2020-11-30/budget-vote"), "a.example/politics/D/*");
        assert_eq!(of("https://a.example/news/12345"), of("https://a.example/news/999"));
    }

    #[test]
    fn sections_of_a_site_differ() {
        let sections =
            ["/", "/blog/", "/shop/item/7", "/shop/item/", "/forum/thread.php?id=4", "/forum/thread.php?id=4&sort=up"];
        let distinct: std::collections::HashSet<String> =
            sections.iter().map(|path| of(&format!("https://a.example{path}"))).collect();
        assert_eq!(distinct.len(), sections.len());
    }

    #[test]
    fn the_order_and_values_of_query_keys_do_not_matter() {
        assert_eq!(of("http://a.example/list?b=2&a=1"), of("http://a.example/list?a=9&b=7&a=3"));
        assert_eq!(of("http://a.example/list?b=2&a=1"), "a.example/list?a&b");
    }

    #[test]
    fn calendars_are_one_section() {
        assert_eq!(of("http://a.example/calendar/2031/05/"), of("http://a.example/calendar/2017/12/"));
        assert_eq!(of("http://a.example/calendar/2031/05/"), "a.example/calendar/D/");
    }

    #[test]
    fn versions_for_printers_and_telephones_name_the_section_that_they_repeat() {
        for (version, plain) in [
            ("m.a.example/news/*", "a.example/news/*"),
            ("www.a.example/print/news/*", "a.example/news/*"),
            ("a.example/print/*.html", "a.example/*.html"),
            ("a.example/news/show.php?amp&id", "a.example/news/show.php?id"),
            ("a.example/news/*?amp", "a.example/news/*"),
        ] {
            assert_eq!(plain_section(version).as_deref(), Some(plain), "{version}");
        }
        for plain in ["a.example/news/*", "a.example/print/*", "a.example/", "a.example/print", "magazine.example/*"] {
            assert_eq!(plain_section(plain), None, "{plain}");
        }
    }

    #[test]
    fn the_domain_is_the_registered_one() {
        let domain_of = |url: &str| domain(&Url::parse(url).expect("a URL")).to_owned();
        assert_eq!(domain_of("https://blog.paper.co.uk/a"), "paper.co.uk");
        assert_eq!(domain_of("http://127.0.0.9:8080/a"), "127.0.0.9");
        assert_eq!(domain_of("http://x12.farm.test/"), "farm.test");
    }
}
