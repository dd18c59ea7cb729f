//! Links of web pages.

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
