//! The worth of a page, and the rules that order requests by it.
//!
//! A rule sees the evidence of a domain and of its arms (sections, or groups of rare ones) and gives a priority. It
//! keeps only what concerns the crawl as a whole; evidence belongs to the [`crate::steward`], which saves it. Every
//! decision is made anew, so that scores follow each page at once.

mod breadth_first;
mod gamma;
mod macocu;
mod prior;
mod spiderling;
mod tidings;

use std::fmt;

pub use breadth_first::BreadthFirst;
pub use macocu::Macocu;
use serde::{Deserialize, Serialize};
pub use spiderling::Spiderling;
pub use tidings::Tidings;

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
    /// Whether it has text, but in a language that is not wanted.
    pub foreign: bool,
}

impl PageWorth {
    /// New tokens.
    pub fn new_tokens(&self) -> f64 {
        if self.exact_duplicate { 0.0 } else { self.tokens as f64 * f64::from(self.new_share) }
    }

    /// The value in bytes of new text.
    pub fn value(&self) -> f64 {
        self.new_tokens() * BYTES_PER_TOKEN
    }

    /// The cost in bytes.
    pub fn cost(&self) -> f64 {
        self.bytes as f64 + REQUEST_BYTES
    }
}

/// Facts about a domain before its first page.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DomainHints {
    /// Whether the top-level domain is that of a country with a wanted language.
    pub tld_language: bool,
    /// Whether a link to it promised a wanted language, see [`crate::link_language`].
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
    /// Pages with new text.
    pub text_pages: u64,
    /// Pages with text in languages that are not wanted.
    pub foreign: u64,
    /// Pages in a row without new text.
    pub barren: u32,
    /// New URLs that its pages showed, each counted by the rate of its section beside the best of the domain,
    /// discounted.
    pub led: f64,
}

impl Evidence {
    /// Adds a page; earlier value and cost count `keep` times as much from now on.
    pub fn add(&mut self, worth: &PageWorth, keep: f64) {
        self.pages += 1;
        self.bytes += worth.bytes;
        if !worth.exact_duplicate {
            self.clean_bytes += worth.clean_bytes;
        }
        self.tokens += worth.new_tokens();
        self.value = self.value * keep + worth.value();
        self.cost = self.cost * keep + worth.cost();
        self.led *= keep;
        self.foreign += u64::from(worth.foreign);
        if worth.value() > 0.0 {
            self.text_pages += 1;
            self.barren = 0;
        } else {
            self.barren = self.barren.saturating_add(1);
        }
    }

    /// Adds the evidence of a part.
    pub fn join(&mut self, part: &Evidence) {
        self.pages += part.pages;
        self.bytes += part.bytes;
        self.clean_bytes += part.clean_bytes;
        self.text_pages += part.text_pages;
        self.foreign += part.foreign;
        self.tokens += part.tokens;
        self.value += part.value;
        self.cost += part.cost;
        self.led += part.led;
    }

    /// Takes the evidence of a part away.
    pub fn part(&mut self, part: &Evidence) {
        self.pages = self.pages.saturating_sub(part.pages);
        self.bytes = self.bytes.saturating_sub(part.bytes);
        self.clean_bytes = self.clean_bytes.saturating_sub(part.clean_bytes);
        self.text_pages = self.text_pages.saturating_sub(part.text_pages);
        self.foreign = self.foreign.saturating_sub(part.foreign);
        self.tokens = (self.tokens - part.tokens).max(0.0);
        self.value = (self.value - part.value).max(0.0);
        self.cost = (self.cost - part.cost).max(0.0);
        self.led = (self.led - part.led).max(0.0);
    }

    /// Clean bytes per downloaded byte, without near-duplicates taken away: the yield rate of the SpiderLing paper.
    pub fn yield_rate(&self) -> f64 {
        if self.bytes == 0 { 0.0 } else { self.clean_bytes as f64 / self.bytes as f64 }
    }

    /// New URLs of good sections that a page shows, where earlier pages count `keep` times as much.
    pub fn led_per_page(&self, keep: f64) -> f64 {
        let pages = if keep < 1.0 { (1.0 - keep.powf(self.pages as f64)) / (1.0 - keep) } else { self.pages as f64 };
        if pages > 0.0 { self.led / pages } else { 0.0 }
    }

    /// The usual number of pages until one with new text, without the run of barren pages at the end; `None` if no page
    /// had text.
    pub fn text_gap(&self) -> Option<f64> {
        let before = self.pages.saturating_sub(u64::from(self.barren));
        (self.text_pages > 0).then(|| (before as f64 / self.text_pages as f64).max(1.0))
    }

    /// The share of pages in wanted languages among those with text, one in a wanted language assumed (Laplace).
    pub fn language_share(&self) -> f64 {
        let wanted = self.text_pages as f64 + 1.0;
        wanted / (wanted + self.foreign as f64)
    }

    /// Value per cost.
    pub fn rate(&self) -> f64 {
        if self.cost > 0.0 { self.value / self.cost } else { 0.0 }
    }
}

/// A domain as a rule sees it.
#[derive(Debug, Clone, Copy)]
pub struct DomainView<'a> {
    /// Facts before its first page.
    pub hints: &'a DomainHints,
    /// Mean rate of the domains that link to it.
    pub source_rate: f64,
    /// Whether it is a seed or more than one other domain links to it.
    pub trusted: bool,
    /// Evidence of its pages.
    pub evidence: &'a Evidence,
    /// The rate of its best arm, also of one without waiting URLs.
    pub best_rate: f64,
    /// Need of new URLs of good sections: 1 if none wait, towards 0 the more do.
    pub dryness: f64,
    /// Its share of all tokens.
    pub share: f64,
    /// The number of domains with text.
    pub sources: u64,
    /// When it last got a request, or was met, as a count of such events.
    pub turn: u64,
}

/// An arm as a rule sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmView {
    /// Evidence of its pages.
    pub evidence: Evidence,
    /// The share of pages with text that the form of its URLs promises, 1 that of a mean page.
    pub appeal: f64,
}

impl ArmView {
    /// An arm of whose URLs the form says nothing.
    pub fn plain(evidence: Evidence) -> ArmView {
        ArmView { evidence, appeal: 1.0 }
    }
}

/// The decision of a rule about a domain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The priority of the domain among all.
    pub priority: f64,
    /// The arm that gives its next URL, as a position in the arms that were passed.
    pub arm: usize,
}

/// The part of a domain that a page closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// The arm of the page.
    Arm,
    /// The domain.
    Domain,
}

/// A rule that orders domains and arms.
pub trait Policy: fmt::Debug + Send {
    /// The number of domains that are worked on at once, first come, first served; `None`: all.
    fn window(&self) -> Option<usize> {
        None
    }

    /// The number of other domains whose priority is computed anew at each decision.
    fn redraws(&self) -> usize {
        0
    }

    /// Whether sections are arms and soft traps are looked for; otherwise a domain is one arm.
    fn has_sections(&self) -> bool {
        false
    }

    /// The factor of earlier evidence at each page.
    fn keep(&self) -> f64 {
        1.0
    }

    /// The priority of a domain and the arm that should give its next URL.
    fn choose(&mut self, domain: &DomainView<'_>, arms: &[ArmView]) -> Choice;

    /// A page of a domain, with the evidence that includes it.
    fn learn(&mut self, domain: &DomainView<'_>, worth: &PageWorth);

    /// What a page closes, with the evidence that includes it.
    fn closes(&self, domain: &DomainView<'_>, arm: &Evidence) -> Option<Closing>;

    /// Whether links of a page to other domains are followed.
    fn follows_out(&self, worth: &PageWorth) -> bool {
        let _ = worth;
        true
    }

    /// Numbers that the rule learned, to be saved.
    fn learned(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Goes on with numbers that were saved.
    fn restore(&mut self, learned: &[f64]) {
        let _ = learned;
    }
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

    /// The rule itself, with the settings that it takes.
    pub fn policy(self, floor: f64, largest_share: f64, seed: u64) -> Box<dyn Policy> {
        match self {
            Rule::Tidings => Box::new(Tidings::new(floor, largest_share, seed)),
            Rule::Spiderling => Box::new(Spiderling),
            Rule::Macocu => Box::new(Macocu),
            Rule::BreadthFirst => Box::new(BreadthFirst),
        }
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
