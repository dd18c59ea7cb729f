//! What a page was worth, and the rules that order requests by it.

/// The worth of a fetched page.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PageWorth {
    /// Bytes on the wire.
    pub bytes: u64,
    /// Bytes of clean text in any language.
    pub clean_bytes: u64,
    /// Tokens of clean text in the wanted languages.
    pub tokens: u64,
    /// The share of the text that was not known from other pages, 0 to 1.
    pub new_share: f32,
    /// Whether exactly the same text is known.
    pub exact_duplicate: bool,
}

/// Facts about a domain before its first page.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DomainHints {
    /// Whether the top-level domain is that of a country with a wanted language.
    pub tld_language: bool,
    /// Share of clean text in the page that linked it first.
    pub source_yield: f32,
    /// Length of the host name.
    pub host_len: u16,
    /// Domains between it and the nearest seed.
    pub distance: u16,
}

/// A rule that orders domains and sections. Every decision is asked for anew: scores follow each page at once.
pub trait Policy {
    /// A domain was met for the first time.
    fn domain(&mut self, domain: u32, hints: DomainHints);

    /// A page of a section was fetched. Sections are numbered within their domain.
    fn fetched(&mut self, domain: u32, section: u32, worth: PageWorth);

    /// The priority of a domain and the section that should give its next URL, among the sections that have waiting
    /// URLs; `None` if the domain is closed.
    fn choose(&mut self, domain: u32, sections: &[u32]) -> Option<(f64, u32)>;

    /// Whether links found on pages of a section may be followed to other domains.
    fn follows_out(&self, domain: u32, section: u32) -> bool;
}
