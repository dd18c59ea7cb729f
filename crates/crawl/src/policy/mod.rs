//! The worth of a page, and the rules that order requests by it.
//!
//! A rule sees the evidence of a domain and of its arms (sections, or groups of rare ones) and gives a priority. It
//! keeps only what concerns the crawl as a whole; evidence belongs to the [`crate::steward`], which saves it. Every
//! decision is made anew, so that scores follow each page at once.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Bytes of text that one token stands for, to compare tokens with downloaded bytes.
pub const BYTES_PER_TOKEN: f64 = 6.0;
/// Cost of a request beside its bytes, in bytes.
pub const REQUEST_BYTES: f64 = 20_000.0;

/// The worth of a fetched page.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PageWorth {
    /// Bytes on the wire.
    pub bytes: u64,
    /// Bytes of clean text in the wanted languages.
    pub clean_bytes: u64,
    /// Tokens of clean text in the wanted languages.
    pub tokens: u64,
    /// The share of the text that was not known from other pages, 0 to 1.
    pub new_share: f32,
    /// Whether exactly the same text is known.
    pub exact_duplicate: bool,
}

/// Facts about a domain before its first page.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DomainHints {
    /// Whether the top-level domain is that of a country with a wanted language.
    pub tld_language: bool,
    /// Whether the link or the linking page names a wanted language (`hreflang`, `lang`, anchor text).
    pub link_language: bool,
    /// Share of clean text in the page that linked it first.
    pub source_yield: f32,
    /// Length of the host name.
    pub host_len: u16,
    /// Domains between it and the nearest seed.
    pub distance: u16,
}

/// The evidence of the pages of a domain or section.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Requests.
    pub pages: u64,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Bytes of clean text in the wanted languages, exact duplicates left out.
    pub clean_bytes: u64,
    /// New tokens in the wanted languages.
    pub tokens: f64,
    /// Discounted value in bytes of text.
    pub value: f64,
    /// Discounted cost in bytes.
    pub cost: f64,
    /// Pages in a row without new text.
    pub barren: u32,
}

/// The names of the rules (`crawl.rule`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Thompson sampling over sections.
    #[default]
    Tidings,
    /// The yield threshold t(n) of the SpiderLing paper.
    Spiderling,
    /// The defaults of the MaCoCu crawler.
    Macocu,
    /// All domains in turn.
    BreadthFirst,
}

impl Rule {
    /// All rules with the names that settings use.
    pub const ALL: [(Rule, &'static str); 4] = [
        (Rule::Tidings, "tidings"),
        (Rule::Spiderling, "spiderling"),
        (Rule::Macocu, "macocu"),
        (Rule::BreadthFirst, "breadth-first"),
    ];

    /// The rule with a name.
    pub fn from_name(name: &str) -> Option<Rule> {
        Rule::ALL.iter().find(|(_, known)| *known == name).map(|(rule, _)| *rule)
    }

    /// The name of the rule.
    pub fn name(self) -> &'static str {
        Rule::ALL.iter().find(|(rule, _)| *rule == self).map_or("", |(_, name)| name)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
