//! robots.txt (RFC 9309).
//!
//! Only the rules of our own group are kept, or else those of the group `*`. The longest matching rule wins; of two
//! equally long ones, `Allow`.

use std::sync::Arc;

/// Length to which a robots.txt is read; the RFC requires at least 500 KiB.
pub const MAX_BYTES: usize = 512 * 1024;

/// Number and length of the usage lines that are kept as evidence.
const MAX_USAGE_LINES: usize = 16;
const MAX_USAGE_BYTES: usize = 300;

/// Number and length of the sitemaps that are kept.
const MAX_SITEMAPS: usize = 20;
const MAX_SITEMAP_BYTES: usize = 2000;

/// A parsed robots.txt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Robots {
    rules: Vec<Rule>,
    /// Crawl-delay in seconds.
    pub crawl_delay_s: Option<f64>,
    /// Lines about use rather than access: Content-Usage, Content-Signal, License.
    pub usage: Vec<String>,
    /// The sitemaps that it names, as written.
    pub sitemaps: Arc<[String]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    allow: bool,
    pattern: Box<str>,
}

impl Robots {
    /// Parses a file for the crawler with a product token.
    pub fn parse(bytes: &[u8], product: &str) -> Robots {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_BYTES)]);
        let mut ours = Group::default();
        let mut wildcard = Group::default();
        let (mut usage, mut sitemaps) = (Vec::new(), Vec::new());
        let (mut in_ours, mut in_wildcard, mut naming) = (false, false, false);

        for line in text.trim_start_matches('\u{feff}').split(['\n', '\r']) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" | "useragent" | "user agent" => {
                    if !naming {
                        (in_ours, in_wildcard, naming) = (false, false, true);
                    }
                    in_wildcard |= value == "*";
                    let us = names(value, product);
                    in_ours |= us;
                    ours.found |= us;
                }
                "allow" | "disallow" | "crawl-delay" => {
                    naming = false;
                    if in_ours {
                        ours.take(&key, value);
                    }
                    if in_wildcard {
                        wildcard.take(&key, value);
                    }
                }
                "content-usage" | "content-signal" | "license" if usage.len() < MAX_USAGE_LINES => {
                    usage.push(line.trim().chars().take(MAX_USAGE_BYTES).collect());
                }
                "sitemap" if sitemaps.len() < MAX_SITEMAPS && value.len() <= MAX_SITEMAP_BYTES => {
                    sitemaps.push(value.to_owned());
                }
                _ => {}
            }
        }
        let group = if ours.found { ours } else { wildcard };
        Robots { rules: group.rules, crawl_delay_s: group.crawl_delay_s, usage, sitemaps: sitemaps.into() }
    }

    /// True if a path (with its query) may be fetched.
    pub fn allows(&self, path: &str) -> bool {
        if path == "/robots.txt" {
            return true;
        }
        let path = normalise(path);
        let best = self
            .rules
            .iter()
            .filter(|rule| matches(&rule.pattern, &path))
            .max_by_key(|rule| (rule.pattern.len(), rule.allow));
        best.is_none_or(|rule| rule.allow)
    }
}

#[derive(Default)]
struct Group {
    found: bool,
    rules: Vec<Rule>,
    crawl_delay_s: Option<f64>,
}

impl Group {
    fn take(&mut self, key: &str, value: &str) {
        match key {
            "crawl-delay" => {
                let seconds = value.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
                self.crawl_delay_s = seconds.or(self.crawl_delay_s);
            }
            // An empty rule matches nothing: `Disallow:` alone allows everything.
            _ if value.is_empty() => {}
            key => {
                let lead = if value.starts_with(['/', '*', '$']) { "" } else { "/" };
                let pattern = normalise(&format!("{lead}{value}")).into_boxed_str();
                self.rules.push(Rule { allow: key == "allow", pattern });
            }
        }
    }
}

/// True if a user-agent line contains the product token with any version.
fn names(value: &str, product: &str) -> bool {
    let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).unwrap_or(value.len());
    value[..end].eq_ignore_ascii_case(product)
}

/// Normalises percent-encodings and raw characters to one form, so that they compare by octet.
fn normalise(path: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let bytes = path.as_bytes();
    let mut out = String::with_capacity(path.len());
    let mut at = 0;
    while at < bytes.len() {
        let coded = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let coded =
            coded.and_then(|two| std::str::from_utf8(two).ok()).and_then(|two| u8::from_str_radix(two, 16).ok());
        let byte = coded.unwrap_or(bytes[at]);
        at += if coded.is_some() { 3 } else { 1 };
        let unreserved = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        if unreserved || (coded.is_none() && byte.is_ascii_graphic()) {
            out.push(byte as char);
        } else {
            out.push('%');
            out.push(HEX[usize::from(byte >> 4)] as char);
            out.push(HEX[usize::from(byte & 15)] as char);
        }
    }
    out
}

/// True if a pattern with `*` and a final `$` matches a prefix of a path. Pieces between stars are
/// matched greedily, so the time is linear in the path.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    let mut last = None;
    for piece in pieces {
        if let Some(previous) = last.replace(piece) {
            match memchr::memmem::find(rest.as_bytes(), str::as_bytes(previous)) {
                Some(at) => rest = &rest[at + previous.len()..],
                None => return false,
            }
        }
    }
    match last {
        None => !anchored || rest.is_empty(),
        Some(piece) if anchored => rest.ends_with(piece),
        Some(piece) => memchr::memmem::find(rest.as_bytes(), piece.as_bytes()).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(robots: &str, path: &str) -> bool {
        Robots::parse(robots.as_bytes(), "tidings").allows(path)
    }

    #[test]
    fn the_longest_rule_wins_and_permission_breaks_ties() {
        let robots = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c\nAllow: /x\nDisallow: /x";
        assert!(!allowed(robots, "/a/x") && allowed(robots, "/a/b/x") && !allowed(robots, "/a/b/c"));
        assert!(allowed(robots, "/x") && allowed(robots, "/other") && allowed("", "/"));
    }

    #[test]
    fn our_own_group_replaces_the_wildcard_group() {
        let robots = "User-agent: *\nDisallow: /\n\nUser-agent: Tidings/1.0\nUser-agent: other\nDisallow: /private\n";
        assert!(allowed(robots, "/a") && !allowed(robots, "/private/x"));
        assert!(!allowed("user-agent: tidingsbot\nallow: /\n\nUser-Agent: *\nDisallow: /", "/a"));
        // Blank lines do not end a group, so both agents share the rule.
        assert!(!allowed("User-agent: tidings\n\nUser-agent: *\nDisallow: /", "/a"));
    }

    #[test]
    fn groups_of_one_agent_are_joined() {
        let robots =
            "User-agent: tidings\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: tidings\nDisallow: /c";
        assert!(!allowed(robots, "/a") && allowed(robots, "/b") && !allowed(robots, "/c"));
    }

    #[test]
    fn stars_and_dollars_match_as_the_rfc_says() {
        assert!(!allowed("User-agent: *\nDisallow: /*.gif$", "/a/b.gif"));
        assert!(allowed("User-agent: *\nDisallow: /*.gif$", "/a/b.gif?x"));
        assert!(!allowed("User-agent: *\nDisallow: /a*c*e", "/abcde/f"));
        assert!(allowed("User-agent: *\nDisallow: /a*c*e", "/aec"));
        assert!(!allowed("User-agent: *\nDisallow: *", "/x") && !allowed("User-agent: *\nDisallow: /$", "/"));
        assert!(allowed("User-agent: *\nDisallow: /$", "/a") && allowed("User-agent: *\nDisallow:", "/a"));
    }

    #[test]
    fn encodings_compare_by_octet() {
        assert!(!allowed("User-agent: *\nDisallow: /žluť", "/%C5%BElu%C5%A5"));
        assert!(
            !allowed("User-agent: *\nDisallow: /a%7eb", "/a~b") && allowed("User-agent: *\nDisallow: /a%2Fb", "/a/b")
        );
    }

    #[test]
    fn delays_usage_lines_and_sitemaps_are_kept() {
        let text = b"User-Agent: *\r\nCrawl-delay: 7.5\r\nContent-Usage: train-ai=n\r\nSitemap: http://a.org/s.xml\r\n";
        let robots = Robots::parse(text, "tidings");
        assert_eq!(*robots.sitemaps, ["http://a.org/s.xml"]);
        assert_eq!(robots.crawl_delay_s, Some(7.5));
        assert_eq!(robots.usage, ["Content-Usage: train-ai=n"]);
    }

    proptest::proptest! {
        #[test]
        fn no_file_and_no_path_causes_a_panic(file in proptest::collection::vec(proptest::num::u8::ANY, 0..400), path in ".*") {
            Robots::parse(&file, "tidings").allows(&path);
        }

        #[test]
        fn greedy_matching_agrees_with_trying_everything(pattern in "/[ab*]{0,8}\\$?", path in "/[ab]{0,8}") {
            fn naive(pattern: &[u8], path: &[u8]) -> bool {
                match pattern.split_first() {
                    None => true,
                    Some((b'$', [])) => path.is_empty(),
                    Some((b'*', rest)) => (0..=path.len()).any(|skip| naive(rest, &path[skip..])),
                    Some((c, rest)) => path.first() == Some(c) && naive(rest, &path[1..]),
                }
            }
            proptest::prop_assert_eq!(matches(&pattern, &path), naive(pattern.as_bytes(), path.as_bytes()));
        }
    }
}
