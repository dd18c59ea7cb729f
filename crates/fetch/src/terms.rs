//! The words in which a harvest is ordered and reported.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use http::header::{HeaderName, HeaderValue};
use jiff::Timestamp;
use tidings_model::{RobotsEvidence, Status};

use crate::exchange::Answer;
use crate::rules::RulesFound;

/// What a harvest is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Article pages.
    Page,
    /// Feeds.
    Feed,
    /// Addresses of which it is not known yet whether they are feeds, pages or nothing.
    Probe,
}

impl Kind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Page => "page",
            Kind::Feed => "feed",
            Kind::Probe => "probe",
        }
    }

    pub(crate) fn accept(self) -> &'static str {
        match self {
            Kind::Page => "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1",
            Kind::Feed => {
                "application/rss+xml,application/atom+xml,application/feed+json,application/rdf+xml;q=0.9,\
                 application/xml;q=0.8,text/xml;q=0.8,*/*;q=0.1"
            }
            Kind::Probe => {
                "application/rss+xml,application/atom+xml,application/feed+json,text/html,application/xml;q=0.9,*/*;q=0.5"
            }
        }
    }
}

/// Something to ask for.
#[derive(Debug, Clone)]
pub struct Errand {
    /// Its address.
    pub url: String,
    /// Headers of its own, such as validators.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// Where errands are kept until their host's turn comes.
pub trait Desk: Send {
    /// The errand of a ticket.
    fn errand(&mut self, ticket: u32) -> Result<Errand, Box<dyn std::error::Error + Send + Sync>>;
}

/// The errands for one host; without any, what must be kept in mind if a redirect leads there.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    /// The host's name, without port.
    pub host: String,
    /// Its errands.
    pub tickets: Vec<u32>,
    /// How long ago its last answer ended, if that was recently.
    pub rested: Option<Duration>,
    /// How long it wants to be left alone.
    pub not_for: Option<Duration>,
}

/// A redirect that was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Its status.
    pub status: u16,
    /// Where it led.
    pub to: String,
}

/// What became of an errand.
pub struct Delivery {
    /// Its ticket.
    pub ticket: u32,
    /// The address that was asked last.
    pub url: String,
    /// How it was led there.
    pub redirects: Vec<Redirect>,
    /// When that was decided.
    pub at: Timestamp,
    /// The answer, whatever its status; or why there is none.
    pub result: Result<Answer, (Status, String)>,
    /// The robots.txt that allowed it.
    pub robots: Option<RobotsEvidence>,
    /// Reservation and policy by tdmrep.json.
    pub tdm: (Option<String>, Option<String>),
}

/// A request that was sent, for the record.
#[derive(Debug, Clone)]
pub struct Asked {
    /// When, since the harvest began.
    pub sent: Duration,
    /// When its answer ended or was given up.
    pub ended: Duration,
    /// The host.
    pub host: String,
    /// `page`, `feed`, `probe`, `robots` or `tdmrep`.
    pub kind: &'static str,
    /// The address.
    pub url: String,
    /// The HTTP status or the word for the failure.
    pub status: String,
    /// The pause that the host gets before the next request.
    pub delay: Duration,
    /// Whether validators were sent.
    pub conditional: bool,
    /// Whether an open connection served again.
    pub reused: bool,
    /// The age of the robots.txt that allowed it.
    pub robots_age: Option<Duration>,
    /// Bytes of body on the wire.
    pub bytes: u64,
}

/// Something to write down.
pub enum Event {
    /// A request was sent.
    Asked(Asked),
    /// An origin told its rules.
    Rules(RulesFound),
    /// A host wants to be left alone for a while.
    Patience {
        /// The host.
        host: String,
        /// Until when.
        until: Timestamp,
    },
}

/// What must be remembered about a host after the harvest.
#[derive(Debug, Clone)]
pub struct HostNote {
    /// Its name.
    pub host: String,
    /// When its last answer ended.
    pub last_request: Timestamp,
    /// Not to be asked before then: its pause, or its own wish.
    pub not_before: Option<Timestamp>,
    /// Whether it answered at all.
    pub answered: bool,
    /// Requests sent to it.
    pub requests: u32,
}

/// How a harvest ended.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Hosts that were given up, with the reason.
    pub given_up: Vec<(String, &'static str)>,
    /// What to remember about the hosts that were asked.
    pub hosts: Vec<HostNote>,
    /// Whether it was stopped before everything was done.
    pub stopped: bool,
}

/// Counts for whoever watches.
#[derive(Debug, Default)]
pub struct Gauge {
    /// Requests under way.
    pub under_way: AtomicU64,
    /// Requests that were answered or failed.
    pub asked: AtomicU64,
    /// Errands that were delivered.
    pub delivered: AtomicU64,
    /// Bytes received.
    pub bytes: AtomicU64,
    /// Hosts that answered at least once: proof that the network is there.
    pub answering_hosts: AtomicU64,
}
