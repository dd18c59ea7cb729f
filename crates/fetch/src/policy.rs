//! Host policy: the permissions in the robots.txt and tdmrep.json of an origin.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tidings_model::{RobotsEvidence, Status};
use xxhash_rust::xxh3::xxh3_128;

use crate::PRODUCT;
use crate::client::HttpResponse;
use crate::rights::TdmRules;
use crate::robots::{self, Robots};

/// A policy file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyKind {
    /// `/robots.txt`
    Robots,
    /// `/.well-known/tdmrep.json`
    Tdmrep,
}

impl PolicyKind {
    /// Name in tables and logs.
    pub fn word(self) -> &'static str {
        match self {
            PolicyKind::Robots => "robots",
            PolicyKind::Tdmrep => "tdmrep",
        }
    }

    /// Path on every origin.
    pub(crate) fn path(self) -> &'static str {
        match self {
            PolicyKind::Robots => "/robots.txt",
            PolicyKind::Tdmrep => "/.well-known/tdmrep.json",
        }
    }
}

/// Response to a request for a policy file, new or from an earlier crawl.
#[derive(Debug, Clone)]
pub struct PolicyResponse {
    /// Scheme, host and port.
    pub origin: String,
    /// The file.
    pub kind: PolicyKind,
    /// Time of the response.
    pub fetched: Timestamp,
    /// HTTP status, or a failure with its details.
    pub status: Result<u16, (Status, String)>,
    /// Decoded body of a successful response.
    pub body: Option<Vec<u8>>,
    /// Digest under which the body is stored.
    pub digest: String,
}

impl PolicyResponse {
    /// Reads the response to a request for a policy file. `decoded` is the result of decoding its content.
    pub(crate) fn new(
        origin: String,
        kind: PolicyKind,
        fetched: Timestamp,
        result: Result<HttpResponse, (Status, String)>,
        decoded: Result<(), Status>,
    ) -> PolicyResponse {
        let mut policy = PolicyResponse { origin, kind, fetched, status: Ok(0), body: None, digest: String::new() };
        match (result, decoded) {
            (Err(failure), _) => policy.status = Err(failure),
            (Ok(response), Err(status)) if response.status.is_success() => {
                policy.status = Err((status, "its content encoding is damaged".to_owned()));
            }
            (Ok(response), _) => {
                policy.status = Ok(response.status.as_u16());
                if response.status.is_success() {
                    let mut body = response.body;
                    body.truncate(robots::MAX_BYTES);
                    policy.digest = format!("{:032x}", xxh3_128(&body));
                    policy.body = Some(body);
                }
            }
        }
        policy
    }
}

/// The known policy of an origin.
#[derive(Debug, Default, Clone)]
pub(crate) struct HostPolicy {
    pub(crate) robots: Lookup<Arc<RobotsPolicy>>,
    pub(crate) tdm: Lookup<Arc<TdmRules>>,
}

/// A fact that is looked up once per crawl.
#[derive(Debug, Default, Clone)]
pub(crate) enum Lookup<T> {
    #[default]
    Unknown,
    /// A request for it is queued or in flight.
    Requested,
    Known(T),
}

/// An interpreted robots.txt.
#[derive(Debug)]
pub(crate) struct RobotsPolicy {
    pub(crate) fetched: Timestamp,
    pub(crate) access: Access,
    pub(crate) evidence: Option<RobotsEvidence>,
}

#[derive(Debug)]
pub(crate) enum Access {
    /// The rules of the file.
    Rules(Robots),
    /// There is no file.
    AllowAll,
    /// The file could not be read, so nothing is allowed (RFC 9309, section 2.3.1.4).
    Unreachable(Status, String),
}

impl RobotsPolicy {
    pub(crate) fn from(response: &PolicyResponse) -> RobotsPolicy {
        let access = match &response.status {
            Ok(200..300) => Access::Rules(Robots::parse(response.body.as_deref().unwrap_or_default(), PRODUCT)),
            // 429 is temporary and treated like a server error; other 4xx mean that there is no file.
            Ok(status @ (429 | 500..)) => Access::Unreachable(
                Status::failed("robots-unreachable"),
                format!("HTTP status {status} for robots.txt"),
            ),
            Ok(_) => Access::AllowAll,
            // RFC 9309, section 2.3.1.2: more than five redirects count as "unavailable".
            Err((status, _)) if *status == Status::failed("redirects") => Access::AllowAll,
            Err((status, detail)) => {
                // Network failures and private addresses concern the host and keep their names. Other failures of
                // robots.txt may be temporary and must not become a permanent failure of its pages.
                let status = match status {
                    status if status.is_network_trouble() || *status == Status::failed("private") => status.clone(),
                    _ => Status::failed("robots-unreachable"),
                };
                Access::Unreachable(status, format!("robots.txt: {detail}"))
            }
        };
        let usage = match &access {
            Access::Rules(robots) => robots.usage.clone(),
            _ => Vec::new(),
        };
        let evidence = response.status.as_ref().ok().map(|status| RobotsEvidence {
            fetched: response.fetched.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            status: *status,
            digest: response.digest.clone(),
            usage,
        });
        RobotsPolicy { fetched: response.fetched, access, evidence }
    }

    /// The failure because of which robots.txt could not be read. A private address is a verdict, no failure.
    pub(crate) fn host_trouble(&self) -> Option<String> {
        match &self.access {
            Access::Unreachable(status, detail) if !status.is_final() => Some(format!("{status}: {detail}")),
            _ => None,
        }
    }

    pub(crate) fn crawl_delay(&self) -> Option<Duration> {
        match &self.access {
            Access::Rules(robots) => robots.crawl_delay_s.and_then(|s| Duration::try_from_secs_f64(s).ok()),
            _ => None,
        }
    }

    pub(crate) fn sitemaps(&self) -> Arc<[String]> {
        match &self.access {
            Access::Rules(robots) => Arc::clone(&robots.sitemaps),
            _ => Arc::default(),
        }
    }

    pub(crate) fn allows(&self, path: &str) -> bool {
        match &self.access {
            Access::Rules(robots) => robots.allows(path),
            Access::AllowAll => true,
            Access::Unreachable(..) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn robots(status: Result<u16, (Status, String)>, body: &str) -> RobotsPolicy {
        RobotsPolicy::from(&PolicyResponse {
            origin: "https://a.org".to_owned(),
            kind: PolicyKind::Robots,
            fetched: Timestamp::UNIX_EPOCH,
            status,
            body: Some(body.as_bytes().to_vec()),
            digest: "d".to_owned(),
        })
    }

    fn failed(name: &'static str) -> Result<u16, (Status, String)> {
        Err((Status::failed(name), "detail".to_owned()))
    }

    #[test]
    fn a_successful_file_is_obeyed_and_kept_as_evidence() {
        let policy = robots(Ok(200), "User-agent: *\nDisallow: /x\nCrawl-delay: 2\nContent-Usage: train-ai=n");
        assert!(policy.allows("/a") && !policy.allows("/x"));
        assert_eq!(policy.crawl_delay(), Some(Duration::from_secs(2)));
        let evidence = policy.evidence.unwrap();
        assert_eq!((evidence.status, evidence.fetched.as_str()), (200, "1970-01-01T00:00:00Z"));
        assert_eq!(evidence.usage, ["Content-Usage: train-ai=n"]);
    }

    #[test]
    fn a_missing_file_allows_everything() {
        for status in [301, 400, 401, 403, 404, 410] {
            assert!(robots(Ok(status), "").allows("/x"), "{status}");
        }
        assert!(robots(failed("redirects"), "").allows("/x"));
    }

    #[test]
    fn an_unreachable_file_allows_nothing() {
        for status in [429, 500, 503, 599] {
            let policy = robots(Ok(status), "");
            assert!(!policy.allows("/x"), "{status}");
            assert!(
                matches!(policy.access, Access::Unreachable(ref s, _) if *s == Status::failed("robots-unreachable"))
            );
        }
    }

    #[test]
    fn network_failures_keep_their_names_and_others_become_robots_unreachable() {
        let name = |given| match robots(failed(given), "").access {
            Access::Unreachable(status, _) => status.to_string(),
            _ => panic!("{given} allows"),
        };
        for same in ["timeout", "dns", "connect", "tls", "cut", "slow", "private"] {
            assert_eq!(name(same), same);
        }
        for other in ["too-large", "encoding", "scheme"] {
            assert_eq!(name(other), "robots-unreachable");
        }
    }

    #[test]
    fn a_crawl_delay_out_of_range_is_ignored() {
        assert_eq!(robots(Ok(200), "User-agent: *\nCrawl-delay: 1e300").crawl_delay(), None);
        assert_eq!(robots(Ok(404), "User-agent: *\nCrawl-delay: 3").crawl_delay(), None);
    }

    #[test]
    fn a_response_becomes_a_policy_with_digest_and_limited_length() {
        let response = |code: u16, body: Vec<u8>| HttpResponse::for_test(code, &[], body);
        let read = |result, decoded| {
            PolicyResponse::new("http://a".to_owned(), PolicyKind::Robots, Timestamp::UNIX_EPOCH, result, decoded)
        };
        let long = read(Ok(response(200, vec![b' '; robots::MAX_BYTES + 9])), Ok(()));
        assert_eq!(long.body.map(|body| body.len()), Some(robots::MAX_BYTES));
        assert_eq!(long.digest.len(), 32);
        let missing = read(Ok(response(404, b"not here".to_vec())), Ok(()));
        assert_eq!((missing.status.ok(), missing.body, missing.digest.as_str()), (Some(404), None, ""));
        let damaged = read(Ok(response(200, Vec::new())), Err(Status::failed("encoding")));
        assert!(matches!(damaged.status, Err((status, _)) if status == Status::failed("encoding")));
    }
}
