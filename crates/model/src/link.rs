//! Links of web pages.

/// The name of the crawler in robots.txt, `<meta>` and `X-Robots-Tag`.
pub const AGENT: &str = "tidings";

/// The part of a page in which a link stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkRegion {
    /// In running text: a paragraph, a heading, a table of the main part.
    Text,
    /// In a list of links: teasers, archives, related articles.
    List,
    /// In navigation, header, footer, sidebar or a form.
    Navigation,
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLink {
    /// The normalised absolute URL.
    pub url: String,
    /// Where it stands.
    pub region: LinkRegion,
    /// The anchor text with white space collapsed, cut at 200 characters.
    pub anchor: String,
    /// Whether the link says `nofollow` (`rel` with `nofollow`, `ugc` or `sponsored`).
    pub nofollow: bool,
}

/// The links of a page and its statements about its own address.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageLinks {
    /// The links in document order, each URL once with its best region; a link is `nofollow` only if all its
    /// occurrences are.
    pub links: Vec<PageLink>,
    /// The language that the page declares for itself (`<html lang>`), as a code.
    pub language: Option<String>,
    /// The canonical URL, if the page declares exactly one.
    pub canonical: Option<String>,
    /// The next page of a paginated list (`rel="next"`).
    pub next: Option<String>,
    /// Versions in other languages: language tag and URL (`rel="alternate" hreflang`).
    pub alternates: Vec<(String, String)>,
    /// Other renderings of the page (`rel="amphtml"`, print and mobile versions).
    pub twins: Vec<String>,
    /// Whether `<meta name="robots">` forbids following the links.
    pub nofollow: bool,
    /// Whether `<meta name="robots">` forbids indexing the page.
    pub noindex: bool,
    /// Whether links were left out because of a limit.
    pub truncated: bool,
}

/// Directives of a page to crawlers about itself: `<meta name="robots">` and the header `X-Robots-Tag`.
///
/// Several statements add up: the more restrictive one holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RobotsDirectives {
    /// The links of the page must not be followed.
    pub nofollow: bool,
    /// The page must not be indexed.
    pub noindex: bool,
}

/// Directives of `X-Robots-Tag` with a value after a colon: not names of agents.
const VALUED: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

impl RobotsDirectives {
    /// Both statements together.
    #[must_use]
    pub fn and(self, other: RobotsDirectives) -> RobotsDirectives {
        RobotsDirectives { nofollow: self.nofollow || other.nofollow, noindex: self.noindex || other.noindex }
    }

    /// Reads the content of `<meta name="robots">`, or of one that has the name of the agent.
    pub fn of_meta(content: &str) -> RobotsDirectives {
        let words = content.split([',', ';', ' ', '\t', '\n', '\r']).map(str::trim);
        words.fold(RobotsDirectives::default(), |known, word| known.and(RobotsDirectives::of_word(word)))
    }

    /// Reads the values of the header `X-Robots-Tag` that are for all agents or for `agent`:
    /// `nofollow`, `tidings: none`, `otherbot: noindex, tidings: nofollow`.
    pub fn of_header<'a>(values: impl IntoIterator<Item = &'a str>, agent: &str) -> RobotsDirectives {
        let mut known = RobotsDirectives::default();
        for value in values {
            // An agent's name holds until the next one.
            let mut is_addressed = true;
            for part in value.split(',') {
                let mut directive = part.trim();
                if let Some((name, rest)) = directive.split_once(':').filter(|(name, _)| is_agent(name.trim())) {
                    is_addressed = name.trim() == "*" || name.trim().eq_ignore_ascii_case(agent);
                    directive = rest.trim();
                }
                if is_addressed {
                    known = known.and(RobotsDirectives::of_meta(directive));
                }
            }
        }
        known
    }

    fn of_word(word: &str) -> RobotsDirectives {
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        RobotsDirectives { nofollow: is("nofollow") || is("none"), noindex: is("noindex") || is("none") }
    }
}

fn is_agent(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'*' | b'/');
    !name.is_empty()
        && name.bytes().all(is_token)
        && !VALUED.iter().any(|directive| name.eq_ignore_ascii_case(directive))
}

/// Returns true if the `rel` of a link says that it must not be followed: `nofollow`, or written by users (`ugc`), or
/// paid for (`sponsored`).
pub fn is_nofollow(rel: &str) -> bool {
    let words = ["nofollow", "ugc", "sponsored"];
    rel.split(|c: char| c.is_ascii_whitespace() || c == ',')
        .any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: RobotsDirectives = RobotsDirectives { nofollow: false, noindex: false };
    const NOFOLLOW: RobotsDirectives = RobotsDirectives { nofollow: true, noindex: false };
    const NOINDEX: RobotsDirectives = RobotsDirectives { nofollow: false, noindex: true };
    const NONE: RobotsDirectives = RobotsDirectives { nofollow: true, noindex: true };

    #[test]
    fn directives_of_a_meta_element_are_words_in_any_case_and_order() {
        for (content, expected) in [
            ("", FREE),
            ("index, follow", FREE),
            ("NoFollow", NOFOLLOW),
            ("noindex,follow", NOINDEX),
            ("noindex nofollow", NONE),
            ("max-snippet:5, none", NONE),
            ("nofollowing", FREE),
        ] {
            assert_eq!(RobotsDirectives::of_meta(content), expected, "{content}");
        }
    }

    #[test]
    fn directives_of_a_header_are_for_all_agents_or_for_a_named_one() {
        let cases: [(&[&str], RobotsDirectives); 11] = [
            (&[], FREE),
            (&["nofollow"], NOFOLLOW),
            (&["noindex", "nofollow"], NONE),
            (&["googlebot: nofollow"], FREE),
            (&["Tidings: nofollow"], NOFOLLOW),
            (&["googlebot: noindex, nofollow, tidings: noindex"], NOINDEX),
            (&["googlebot: none", "noindex"], NOINDEX),
            (&["*: none"], NONE),
            (&["unavailable_after: Wed, 25 Jun 2025 15:00:00 PST, nofollow"], NOFOLLOW),
            (&["max-image-preview: large, noindex"], NOINDEX),
            (&["nofollow, googlebot: noindex"], NOFOLLOW),
        ];
        for (values, expected) in cases {
            assert_eq!(RobotsDirectives::of_header(values.iter().copied(), "tidings"), expected, "{values:?}");
        }
    }

    #[test]
    fn links_of_users_and_advertisers_are_not_followed() {
        for rel in ["nofollow", "noopener NOFOLLOW", "ugc", "sponsored", "external,nofollow"] {
            assert!(is_nofollow(rel), "{rel}");
        }
        for rel in ["", "noopener noreferrer", "next", "nofollowed"] {
            assert!(!is_nofollow(rel), "{rel}");
        }
    }
}
