//! What goes in and out of the [`super::Steward`].

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    policy::{DomainHints, PageWorth, Rule},
    text::TextFingerprint,
};

/// The number of a section within its domain.
pub type SectionId = u32;

/// The settings of a crawl that concern the order of requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The rule that orders requests.
    pub rule: Rule,
    /// Bytes of text per downloaded byte under which a section is closed (rule `tidings`).
    pub floor: f64,
    /// Share of all tokens that one domain may have before its score is damped (rule `tidings`).
    pub largest_share: f64,
    /// Seed of all random draws.
    pub seed: u64,
    /// The most requests to a registered domain in 24 hours.
    pub max_pages_per_site_day: u32,
    /// Budgets; `None` is no limit.
    pub max_pages: Option<u64>,
    /// Bytes on the wire.
    pub max_bytes: Option<u64>,
    /// New tokens in the wanted languages.
    pub max_tokens: Option<u64>,
    /// Milliseconds on the caller's clock at which the crawl ends.
    pub until: Option<u64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            rule: Rule::Tidings,
            floor: 0.002,
            largest_share: 0.02,
            seed: 1,
            max_pages_per_site_day: 5_000,
            max_pages: None,
            max_bytes: None,
            max_tokens: None,
            until: None,
        }
    }
}

/// A URL that was not known before.
#[derive(Debug, Clone, Copy)]
pub struct Discovered<'a> {
    /// The registered domain.
    pub domain: &'a str,
    /// The section, see [`crate::shape::section`]: host, then the shape of the path.
    pub section: &'a str,
    /// The registered domain of the page with the link; `None` for seeds.
    pub source: Option<&'a str>,
    /// Facts about the domain, used when it is met for the first time.
    pub hints: DomainHints,
}

/// The answer to [`Discovered`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// The URL waits.
    Admit(Admitted),
    /// The URL is dropped.
    Refuse(Refusal),
}

/// The numbers under which a URL waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitted {
    /// The number of the domain.
    pub domain: u32,
    /// The number of the section within the domain.
    pub section: SectionId,
}

/// Why a URL is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Its domain is closed.
    DomainClosed,
    /// Its section is closed.
    SectionClosed,
    /// Its section is another address of pages that another section has.
    Alias,
    /// The domain has more hosts than its text justifies.
    ManyHosts,
    /// Its section has enough waiting URLs.
    Full,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::DomainClosed => "domain closed",
            Refusal::SectionClosed => "section closed",
            Refusal::Alias => "section repeats another",
            Refusal::ManyHosts => "more hosts than the text of the domain justifies",
            Refusal::Full => "enough URLs of the section wait",
        })
    }
}

/// Whether a host may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Now.
    Open,
    /// Not before a time: the pause of the host.
    Until(u64),
    /// Not before a time that all hosts of a group share: the pause of an IP address.
    Group {
        /// The number of the group, for example a hash of the address.
        group: u64,
        /// When a host of the group may be asked.
        until: u64,
    },
}

/// The next step of a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// A request.
    Request(Request),
    /// Nothing may be asked before a time.
    Wait(u64),
    /// Nothing can be asked until a request in flight is done or a URL is discovered.
    Idle,
    /// The crawl is over.
    Finished(End),
}

/// A domain and section whose best waiting URL is asked for next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The number of the domain.
    pub domain: u32,
    /// The number of the section within the domain.
    pub section: SectionId,
}

/// The outcome of a request.
#[derive(Debug, Clone, Copy)]
pub enum Outcome<'a> {
    /// A page.
    Page {
        /// Its worth. With a `text`, the steward computes `new_share` and `exact_duplicate` itself.
        worth: PageWorth,
        /// The fingerprint of its clean text.
        text: Option<&'a TextFingerprint>,
        /// Whether it is the front page of its host.
        front: bool,
    },
    /// No page: an error of the server, a redirect elsewhere, a type that is no text. It costs a request.
    Nothing {
        /// Bytes on the wire.
        bytes: u64,
    },
    /// No request was made or its failure says nothing about the site: network down, refused by robots.txt, cleaner
    /// failed.
    NotCounted,
    /// The queue had no URL in the section.
    Empty,
}

/// The consequences of an outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The worth of the page with the share of new text.
    pub worth: PageWorth,
    /// Whether links of the page to other domains may be followed.
    pub follow_out: bool,
    /// Sections and domains that were closed by it.
    pub closed: Vec<Closed>,
}

/// A section or domain that was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// The number of the domain.
    pub domain: u32,
    /// The section, or `None` for the whole domain: waiting URLs under it can be dropped.
    pub section: Option<SectionId>,
    /// The reason.
    pub why: CloseReason,
}

/// Why a section or domain is closed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloseReason {
    /// Its yield is certainly below the floor.
    Floor,
    /// Its yield is below the threshold t(n).
    Threshold,
    /// So many pages in a row gave no new text.
    Barren(u32),
    /// Its pages have the text of another section's pages.
    Alias(String),
    /// Its front page has the text of other domains' front pages.
    Parked,
    /// Its texts are made of sentences that its other texts have too.
    Template,
    /// The words of its texts are spread over them as by chance.
    Generated,
    /// All its sections are closed.
    Sections,
    /// Closed by the user.
    Request,
    /// Another shard crawls it.
    HandedOver,
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CloseReason::Floor => f.write_str("yield below the floor"),
            CloseReason::Threshold => f.write_str("yield below the threshold t(n)"),
            CloseReason::Barren(pages) => write!(f, "{pages} pages in a row without new text"),
            CloseReason::Alias(section) => write!(f, "the same texts as {section}"),
            CloseReason::Parked => f.write_str("its front page has the text of other domains' front pages"),
            CloseReason::Template => f.write_str("its texts repeat each other's sentences: filled templates"),
            CloseReason::Generated => f.write_str("the words of its texts are spread as by chance: generated text"),
            CloseReason::Sections => f.write_str("all sections closed"),
            CloseReason::Request => f.write_str("closed by the user"),
            CloseReason::HandedOver => f.write_str("another shard crawls it"),
        }
    }
}

/// Why a crawl is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The budget of pages is spent.
    Pages,
    /// The budget of bytes is spent.
    Bytes,
    /// The budget of tokens is reached.
    Tokens,
    /// The time is over.
    Time,
    /// Nothing waits that is worth a request.
    Dry,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            End::Pages => "budget of pages spent",
            End::Bytes => "budget of bytes spent",
            End::Tokens => "budget of tokens reached",
            End::Time => "time limit reached",
            End::Dry => "nothing left that is worth a request",
        })
    }
}
