//! A request in the crawl loop: pending, in flight, and completed.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{self, HeaderName, HeaderValue};
use jiff::Timestamp;
use tidings_model::{FailureKind, RobotsEvidence, Status};
use url::Url;

use crate::client::{HttpRequest, HttpResponse, RequestError};
use crate::frontier::HostId;
use crate::policy::PolicyKind;
use crate::robots;
use crate::types::{CrawlKind, JobId, Redirect};

/// Longest `Retry-After` that is honoured.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 3600);

/// Connections to another address than the free one after which a request fails.
const MAX_ADDRESS_CHANGES: u8 = 3;

/// A request that waits for its turn, possibly after redirects.
pub(crate) struct PendingRequest {
    pub(crate) purpose: Purpose,
    pub(crate) url: Url,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) redirects: Vec<Redirect>,
    /// True if it was sent once on an idle connection that the server then closed.
    pub(crate) retried: bool,
    /// Connections that had another address than expected.
    pub(crate) address_changes: u8,
}

#[derive(Clone)]
pub(crate) enum Purpose {
    Job(JobId),
    /// A policy file of an origin, for which a host waits.
    Policy {
        kind: PolicyKind,
        origin: String,
        waiting: HostId,
    },
}

/// The permission of a request, as evidence.
#[derive(Default)]
pub(crate) struct Permission {
    pub(crate) robots: Option<RobotsEvidence>,
    pub(crate) robots_age: Option<Duration>,
    pub(crate) tdm: (Option<String>, Option<String>),
    pub(crate) sitemaps: Arc<[String]>,
}

/// The request that occupies a host.
pub(crate) enum InFlight {
    /// The IP address of the host is looked up for this request.
    Resolving(Box<PendingRequest>, Box<Permission>),
    Sending(Box<PendingRequest>, Box<Permission>),
    /// The response was passed on and the consumer has not accepted it yet.
    Delivering,
}

/// End of an exchange, measured by the driver.
pub(crate) struct Completion {
    pub(crate) sent: Duration,
    pub(crate) ended: Duration,
    pub(crate) wall: Timestamp,
    /// True if an open connection was used again.
    pub(crate) reused: bool,
    /// Bytes of body on the wire.
    pub(crate) bytes: u64,
    /// Address to which the request was sent; `None` if it never left.
    pub(crate) peer: Option<IpAddr>,
    pub(crate) result: Result<HttpResponse, RequestError>,
    /// The result of decoding the content of a policy file. Bodies of jobs stay as received.
    pub(crate) decoded: Result<(), Status>,
}

impl Completion {
    /// The end of a request that was never sent.
    pub(crate) fn unsent(sent: Duration, ended: Duration, wall: Timestamp, error: RequestError) -> Completion {
        Completion { sent, ended, wall, reused: false, bytes: 0, peer: None, result: Err(error), decoded: Ok(()) }
    }

    /// The failure of the host that the result shows, if any: network trouble, or a request for patience.
    pub(crate) fn host_trouble(&self) -> Option<String> {
        match &self.result {
            Ok(response) => {
                matches!(response.status.as_u16(), 429 | 503).then(|| format!("HTTP status {}", response.status))
            }
            Err(RequestError::Failed(status, detail) | RequestError::StaleConnection(status, detail)) => {
                status.is_host_trouble().then(|| format!("{status}: {detail}"))
            }
            Err(RequestError::OutOfSockets | RequestError::OtherAddress(_)) => None,
        }
    }
}

impl PendingRequest {
    pub(crate) fn new(purpose: Purpose, url: Url, headers: Vec<(HeaderName, HeaderValue)>) -> PendingRequest {
        PendingRequest { purpose, url, headers, redirects: Vec::new(), retried: false, address_changes: 0 }
    }

    /// False after too many connections that had another address than expected.
    pub(crate) fn may_change_address(&self) -> bool {
        self.address_changes < MAX_ADDRESS_CHANGES
    }

    pub(crate) fn is_policy(&self) -> bool {
        matches!(self.purpose, Purpose::Policy { .. })
    }

    /// Name of the request's kind in the log.
    pub(crate) fn word(&self, kind: CrawlKind) -> &'static str {
        match &self.purpose {
            Purpose::Job(_) => kind.word(),
            Purpose::Policy { kind, .. } => kind.word(),
        }
    }

    /// True if validators are sent.
    pub(crate) fn is_conditional(&self) -> bool {
        let validators = [header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE];
        self.headers.iter().any(|(name, _)| validators.contains(name))
    }

    /// The HTTP request to send.
    pub(crate) fn http_request(&self, kind: CrawlKind, max_body_bytes: usize) -> HttpRequest {
        let policy = self.is_policy();
        HttpRequest {
            url: self.url.clone(),
            address: None,
            accept: if policy { "text/plain,application/json,*/*;q=0.5" } else { kind.accept() },
            headers: self.headers.clone(),
            text_only: !policy && kind == CrawlKind::Page && !is_packed_sitemap(&self.url),
            max_body_bytes: if policy { robots::MAX_BYTES * 4 } else { max_body_bytes },
            // RFC 9309, section 2.5: a parser may stop after 500 KiB.
            truncate: policy,
            decode: policy,
            json: None,
        }
    }

    /// Target of a redirect response, if it is one and may be followed.
    pub(crate) fn redirect_target(
        &self,
        response: &HttpResponse,
        max_redirects: usize,
    ) -> Result<Option<Url>, (Status, String)> {
        if !matches!(response.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let Some(location) = response.headers.get(header::LOCATION) else { return Ok(None) };
        let location = String::from_utf8_lossy(location.as_bytes());
        let failure = |name: &'static str| (Status::failed(name), format!("redirect to {}", location.trim()));
        let mut url = self.url.join(location.trim()).map_err(|_| failure("bad-url"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(failure("scheme"));
        }
        url.set_fragment(None);
        if self.redirects.len() >= max_redirects {
            return Err(failure("redirects"));
        }
        // A redirect to the same URL is a cookie check and would never end.
        if url == self.url || self.redirects.iter().any(|earlier| earlier.to == url.as_str()) {
            return Err(failure("redirects"));
        }
        Ok(Some(url))
    }

    /// Leads the request to the target of a redirect.
    pub(crate) fn redirect(&mut self, status: u16, url: Url) {
        self.redirects.push(Redirect { status, to: url.to_string() });
        self.url = url;
    }

    /// Leads the request to a host of another shard; returns the failure.
    pub(crate) fn moved(&mut self, status: u16, url: Url) -> (Status, String) {
        self.redirect(status, url);
        (FailureKind::MovedShard.into(), "a redirect leads to a host of another shard".to_owned())
    }
}

/// Whether a URL has the form of a sitemap in a gzip file, whose content type does not say that it is text.
fn is_packed_sitemap(url: &Url) -> bool {
    [".xml.gz", ".txt.gz"].iter().any(|ending| url.path().ends_with(ending))
}

/// The wait of a `Retry-After` header: seconds or a date.
pub(crate) fn retry_after(response: &HttpResponse, now: Timestamp) -> Option<Duration> {
    let text = response.headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        // A number beyond 64 bits is a long time, not none.
        Err(_) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => MAX_RETRY_AFTER,
        Err(_) => {
            let date = jiff::fmt::rfc2822::parse(&text.replace(" GMT", " +0000")).ok()?.timestamp();
            Duration::try_from(date.duration_since(now)).ok()?
        }
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(url: &str) -> PendingRequest {
        PendingRequest::new(Purpose::Job(0), Url::parse(url).unwrap(), Vec::new())
    }

    fn target(request: &PendingRequest, status: u16, location: &str) -> Result<Option<String>, String> {
        let response = HttpResponse::for_test(status, &[("location", location)], Vec::new());
        match request.redirect_target(&response, 3) {
            Ok(url) => Ok(url.map(String::from)),
            Err((status, _)) => Err(status.to_string()),
        }
    }

    fn wait(value: &str) -> Option<Duration> {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        retry_after(&HttpResponse::for_test(429, &[("retry-after", value)], Vec::new()), now)
    }

    #[test]
    fn a_location_is_resolved_against_the_url_and_loses_its_fragment() {
        let request = pending("https://a.org/dir/page?q");
        assert_eq!(target(&request, 301, " next#top ").unwrap().as_deref(), Some("https://a.org/dir/next"));
        assert_eq!(target(&request, 308, "//b.org/x").unwrap().as_deref(), Some("https://b.org/x"));
    }

    #[test]
    fn only_five_statuses_redirect_and_only_with_a_location() {
        let request = pending("https://a.org/");
        for status in [200, 300, 304, 305, 306, 404] {
            assert_eq!(target(&request, status, "/x"), Ok(None), "{status}");
        }
        let without = HttpResponse::for_test(302, &[], Vec::new());
        assert!(request.redirect_target(&without, 3).unwrap().is_none());
    }

    #[test]
    fn redirects_to_other_schemes_and_to_no_url_fail_by_name() {
        let request = pending("https://a.org/");
        assert_eq!(target(&request, 302, "ftp://a.org/"), Err("scheme".to_owned()));
        assert_eq!(target(&request, 302, "javascript:void(0)"), Err("scheme".to_owned()));
        assert_eq!(target(&request, 302, "http://"), Err("bad-url".to_owned()));
    }

    #[test]
    fn redirect_loops_and_long_chains_fail() {
        let mut request = pending("https://a.org/3");
        assert_eq!(target(&request, 302, "/3"), Err("redirects".to_owned()));
        request.redirects.push(Redirect { status: 302, to: "https://a.org/2".to_owned() });
        assert_eq!(target(&request, 302, "/2"), Err("redirects".to_owned()));
        assert!(target(&request, 302, "/4").is_ok());
        request.redirects.extend([2, 3].map(|n| Redirect { status: 302, to: format!("https://a.org/x{n}") }));
        assert_eq!(target(&request, 302, "/4"), Err("redirects".to_owned()));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_at_most_a_day() {
        assert_eq!(wait("120"), Some(Duration::from_secs(120)));
        assert_eq!(wait(" 0 "), Some(Duration::ZERO));
        assert_eq!(wait("Sun, 01 Mar 2026 12:01:30 GMT"), Some(Duration::from_secs(90)));
        assert_eq!(wait("99999999"), Some(MAX_RETRY_AFTER));
        assert_eq!(wait("999999999999999999999"), Some(MAX_RETRY_AFTER), "an overflow is later, not now");
        assert_eq!(wait("Sun, 01 Mar 2026 11:00:00 GMT"), None);
        assert_eq!((wait("soon"), wait("-5"), wait("")), (None, None, None));
    }

    #[test]
    fn policy_files_have_their_own_limits() {
        let origin = "https://a.org".to_owned();
        let purpose = Purpose::Policy { kind: PolicyKind::Robots, origin, waiting: 0 };
        let policy = PendingRequest::new(purpose, Url::parse("https://a.org/robots.txt").unwrap(), Vec::new());
        let request = policy.http_request(CrawlKind::Page, 7);
        assert!(request.truncate && request.decode && !request.text_only && request.max_body_bytes > 7);
        assert_eq!(policy.word(CrawlKind::Page), "robots");
        let page = pending("https://a.org/").http_request(CrawlKind::Page, 7);
        assert!(!page.truncate && !page.decode && page.text_only && page.max_body_bytes == 7);
        assert!(!pending("https://a.org/").http_request(CrawlKind::Feed, 7).text_only);
        assert!(!pending("https://a.org/map.xml.gz").http_request(CrawlKind::Page, 7).text_only);
    }

    #[test]
    fn a_request_with_validators_is_conditional() {
        let mut request = pending("https://a.org/");
        request.headers.push((header::ACCEPT_LANGUAGE, HeaderValue::from_static("cs")));
        assert!(!request.is_conditional());
        request.headers.push((header::IF_NONE_MATCH, HeaderValue::from_static("\"1\"")));
        assert!(request.is_conditional());
    }
}
