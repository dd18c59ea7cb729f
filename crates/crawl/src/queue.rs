//! Waiting URLs, as the caller of the scheduler keeps them.

use tidings_model::LinkRegion;

/// A waiting URL with what its order within the section depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingUrl {
    /// The normalised URL.
    pub url: String,
    /// The registered domain.
    pub domain: String,
    /// The section, see [`crate::shape::section`].
    pub section: String,
    /// Where the link stood.
    pub region: LinkRegion,
    /// Share of clean text in the linking page, 0 to 1.
    pub source_yield: f32,
    /// The date in the path or from a sitemap, as days since 1970.
    pub day: Option<i32>,
    /// Links from the nearest seed.
    pub depth: u16,
}

/// URLs that wait, by section. In memory for simulations, on disk for crawls.
pub trait UrlQueue {
    /// Adds a URL that is not known yet.
    fn push(&mut self, url: WaitingUrl);

    /// Takes the best waiting URL of a section.
    fn pop(&mut self, domain: &str, section: &str) -> Option<WaitingUrl>;

    /// The number of URLs that wait in a section.
    fn waiting(&self, domain: &str, section: &str) -> u64;
}
