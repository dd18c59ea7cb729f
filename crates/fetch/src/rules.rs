//! What an origin lets us do: its robots.txt and tdmrep.json, as far as we know them.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tidings_model::{RobotsEvidence, Status};

use crate::PRODUCT;
use crate::rights::TdmRules;
use crate::robots::Robots;

/// Which file of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulesKind {
    /// `/robots.txt`
    Robots,
    /// `/.well-known/tdmrep.json`
    Tdmrep,
}

impl RulesKind {
    /// Its name in tables and logs.
    pub fn word(self) -> &'static str {
        match self {
            RulesKind::Robots => "robots",
            RulesKind::Tdmrep => "tdmrep",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            RulesKind::Robots => "/robots.txt",
            RulesKind::Tdmrep => "/.well-known/tdmrep.json",
        }
    }
}

/// An answer about rules, now or from memory.
#[derive(Debug, Clone)]
pub struct RulesFound {
    /// Scheme, host and port.
    pub origin: String,
    /// Which file.
    pub kind: RulesKind,
    /// When it was asked for.
    pub fetched: Timestamp,
    /// The status, or what kept the answer away.
    pub status: Result<u16, (Status, String)>,
    /// The body of a successful answer.
    pub body: Option<Vec<u8>>,
    /// The digest under which the body is kept.
    pub digest: String,
}

/// What is known of an origin.
#[derive(Debug, Default, Clone)]
pub(crate) struct Rules {
    pub(crate) robots: Known<Arc<RobotsRules>>,
    pub(crate) tdm: Known<Arc<TdmRules>>,
}

/// A fact that is looked up once.
#[derive(Debug, Default, Clone)]
pub(crate) enum Known<T> {
    #[default]
    Unknown,
    /// Somebody is on the way to find out.
    Asking,
    Yes(T),
}

#[derive(Debug)]
pub(crate) struct RobotsRules {
    pub(crate) fetched: Timestamp,
    pub(crate) verdict: Verdict,
    pub(crate) evidence: Option<RobotsEvidence>,
}

#[derive(Debug)]
pub(crate) enum Verdict {
    Obey(Robots),
    AllowAll,
    /// Nobody can tell what is allowed, so nothing is.
    Unreachable(Status, String),
}

impl RobotsRules {
    pub(crate) fn from(found: &RulesFound) -> RobotsRules {
        let verdict = match &found.status {
            Ok(200..300) => Verdict::Obey(Robots::parse(found.body.as_deref().unwrap_or_default(), PRODUCT)),
            // Redirects without end count as "there is none", like any other 4xx; a server that
            // asks for patience is treated like one that cannot answer.
            Ok(status @ (429 | 500..)) => {
                Verdict::Unreachable(Status::failed("robots-unreachable"), format!("robots.txt answered {status}"))
            }
            Ok(_) => Verdict::AllowAll,
            Err((status, detail)) if *status == Status::failed("redirects") => {
                let _ = detail;
                Verdict::AllowAll
            }
            Err((status, detail)) => {
                // Trouble with the network is the host's, and so is a private address. Whatever else
                // is wrong with robots.txt may be mended tomorrow and must not settle its pages.
                let status = match status {
                    status if status.is_network_trouble() || *status == Status::failed("private") => status.clone(),
                    _ => Status::failed("robots-unreachable"),
                };
                Verdict::Unreachable(status, format!("robots.txt: {detail}"))
            }
        };
        let usage = match &verdict {
            Verdict::Obey(robots) => robots.usage.clone(),
            _ => Vec::new(),
        };
        let evidence = found.status.as_ref().ok().map(|status| RobotsEvidence {
            fetched: found.fetched.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            status: *status,
            digest: found.digest.clone(),
            usage,
        });
        RobotsRules { fetched: found.fetched, verdict, evidence }
    }

    pub(crate) fn crawl_delay(&self) -> Option<Duration> {
        match &self.verdict {
            Verdict::Obey(robots) => robots.crawl_delay_s.and_then(|s| Duration::try_from_secs_f64(s).ok()),
            _ => None,
        }
    }

    pub(crate) fn allows(&self, path: &str) -> bool {
        match &self.verdict {
            Verdict::Obey(robots) => robots.allows(path),
            Verdict::AllowAll => true,
            Verdict::Unreachable(..) => false,
        }
    }
}
