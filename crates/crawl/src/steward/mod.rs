//! The scheduler of a crawl: which domain and section give the next URL.
//!
//! The steward knows domains, their sections, the evidence of their pages and how many URLs wait in each section. URLs
//! themselves wait in a [`crate::queue::UrlQueue`]. It has no clock and no network: times are milliseconds that the
//! caller passes in. A crawl is a loop:
//!
//! 1. [`Steward::discovered`] for every URL that the sieve finds new: keep it under its section, or drop it.
//!    [`Steward::linked`] for the domains that a page links to, known or not.
//! 2. [`Steward::next`] names a domain and a section; the caller takes the best URL of the section from its queue and
//!    fetches it. A domain has one request in flight.
//! 3. [`Steward::done`] with the outcome, and when the domain may be asked again.

mod rows;
mod types;

pub use rows::{CrawlRow, DomainRow, Row, SectionRow};
pub use types::{
    Admission, Admitted, CloseReason, Closed, Discovered, End, Gate, Judged, Next, Outcome, Refusal, Request,
    SectionId, Settings,
};

use crate::policy::PageWorth;

/// The scheduler of a crawl.
#[derive(Debug)]
pub struct Steward {
    settings: Settings,
}

impl Steward {
    /// A steward that knows no domain yet.
    pub fn new(settings: Settings) -> Steward {
        Steward { settings }
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A URL that was not known before. The caller stores admitted URLs under the domain and section that it passed in.
    pub fn discovered(&mut self, url: &Discovered<'_>) -> Admission {
        let _ = url;
        Admission::Refuse(Refusal::DomainClosed)
    }

    /// Registered domains that a page of `source` links to, also by URLs that are known already: domains that only one
    /// other domain links to are trusted less. Domains that were never met are ignored.
    pub fn linked(&mut self, source: &str, target: &str) {
        let _ = (source, target);
    }

    /// The next request at a time. `gate` says whether a host may be asked now (its own pause and that of its address).
    pub fn next(&mut self, now: u64, gate: &mut dyn FnMut(&str) -> Gate) -> Next {
        let _ = (now, gate);
        Next::Finished(End::Dry)
    }

    /// The outcome of a request. The domain rests until `ready_at`.
    pub fn done(&mut self, request: &Request, outcome: Outcome<'_>, ready_at: u64) -> Judged {
        let _ = (request, outcome, ready_at);
        Judged { worth: PageWorth::default(), follow_out: false, closed: Vec::new() }
    }

    /// The name of the domain of a request.
    pub fn domain_name(&self, request: &Request) -> &str {
        let _ = request;
        ""
    }

    /// The name of the section of a request.
    pub fn section_name(&self, request: &Request) -> &str {
        let _ = request;
        ""
    }

    /// The reason why the crawl is over, if it is: a budget or nothing left that is worth a request.
    pub fn finished(&self) -> Option<End> {
        None
    }

    /// The state as rows, to be saved at a checkpoint; requests in flight count as waiting.
    pub fn rows(&self) -> Vec<Row> {
        Vec::new()
    }

    /// The number of URLs that wait in a section, where the queue knows better than the rows of a checkpoint.
    pub fn set_waiting(&mut self, domain: &str, section: &str, waiting: u64) {
        let _ = (domain, section, waiting);
    }

    /// Closes a domain, for example because the user removes it.
    pub fn close(&mut self, domain: &str) {
        let _ = domain;
    }

    /// The rows of one domain, for `why`; empty for a domain that was never met.
    pub fn why(&self, domain: &str) -> Vec<Row> {
        let _ = domain;
        Vec::new()
    }

    /// A steward from the rows of a checkpoint. All domains may be asked from `ready_at` on.
    pub fn restore(settings: Settings, rows: impl IntoIterator<Item = Row>, ready_at: u64) -> Steward {
        let _ = (rows.into_iter().count(), ready_at);
        Steward::new(settings)
    }
}
