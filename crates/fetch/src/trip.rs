//! One request on its way: the task that makes it, and what it tells the loop when it is over.

use std::sync::Arc;
use std::time::Duration;

use http::header::{self, HeaderName, HeaderValue};
use tidings_model::{RobotsEvidence, Status, clock};
use tokio::sync::mpsc;
use tokio::time::Instant;
use url::Url;
use xxhash_rust::xxh3::xxh3_128;

use crate::connect::Connection;
use crate::decode::{Ceiling, Decoder};
use crate::exchange::{Answer, Ask, Asker, Exchanged, NoAnswer};
use crate::hosts::HostId;
use crate::robots;
use crate::rules::{RulesFound, RulesKind};
use crate::terms::{Delivery, Kind, Redirect};

/// A request on its way from address to address.
pub(crate) struct Trip {
    pub(crate) purpose: Purpose,
    pub(crate) url: Url,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) redirects: Vec<Redirect>,
    /// An idle connection closed under it, and it may be tried once more.
    pub(crate) unheard: bool,
}

#[derive(Clone)]
pub(crate) enum Purpose {
    Errand(u32),
    /// The rules of an origin, for whose sake a host waits.
    Rules {
        kind: RulesKind,
        origin: String,
        waiting: HostId,
    },
}

/// What allowed a request, as evidence.
#[derive(Default)]
pub(crate) struct Licence {
    pub(crate) robots: Option<RobotsEvidence>,
    pub(crate) robots_age: Option<Duration>,
    pub(crate) tdm: (Option<String>, Option<String>),
}

/// What a task tells the loop when its request is over.
pub(crate) struct Report {
    pub(crate) host: HostId,
    pub(crate) sent: Instant,
    pub(crate) ended: Instant,
    pub(crate) connection: Option<Connection>,
    pub(crate) reused: bool,
    pub(crate) bytes: u64,
    pub(crate) kind: &'static str,
    pub(crate) url: String,
    pub(crate) conditional: bool,
    pub(crate) robots_age: Option<Duration>,
    /// The status or the word for the failure.
    pub(crate) status: Result<u16, Status>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) next: Next,
}

pub(crate) enum Next {
    /// The errand was delivered.
    Delivered,
    /// It goes on at another address.
    Elsewhere(Trip),
    /// Rules were found, or not.
    Rules(RulesFound, HostId),
    /// There was no socket: the trip has not begun.
    Again(Trip),
    /// Perhaps nobody heard: once more, after the pause.
    Unheard(Trip),
    /// Nobody takes deliveries any more.
    Unwanted,
}

/// Everything a request's task needs.
pub(crate) struct Task {
    pub(crate) asker: Arc<Asker>,
    pub(crate) deliveries: mpsc::Sender<Delivery>,
    pub(crate) kind: Kind,
    pub(crate) max_redirects: usize,
    pub(crate) max_body_bytes: usize,
    pub(crate) host: HostId,
    pub(crate) licence: Licence,
}

impl Task {
    pub(crate) async fn go(self, trip: Trip, lent: Option<Connection>) -> Report {
        let rules = matches!(trip.purpose, Purpose::Rules { .. });
        let ask = Ask {
            url: trip.url.clone(),
            accept: if rules { "text/plain,application/json,*/*;q=0.5" } else { self.kind.accept() },
            headers: trip.headers.clone(),
            text_only: !rules && self.kind == Kind::Page,
            max_body_bytes: if rules { robots::MAX_BYTES * 4 } else { self.max_body_bytes },
            // RFC 9309: what stands behind the first half megabyte need not be read.
            beginning_will_do: rules,
        };
        let sent = Instant::now();
        let Exchanged { result, connection, reused, bytes } = self.asker.ask(&ask, lent).await;
        let ended = Instant::now();
        let mut report = Report {
            host: self.host,
            sent,
            ended,
            connection,
            reused,
            bytes,
            kind: match &trip.purpose {
                Purpose::Errand(_) => self.kind.word(),
                Purpose::Rules { kind, .. } => kind.word(),
            },
            url: trip.url.to_string(),
            conditional: trip
                .headers
                .iter()
                .any(|(name, _)| *name == header::IF_NONE_MATCH || *name == header::IF_MODIFIED_SINCE),
            robots_age: self.licence.robots_age,
            status: Ok(0),
            retry_after: None,
            next: Next::Delivered,
        };
        let result = match result {
            Err(NoAnswer::OutOfSockets) => {
                report.next = Next::Again(trip);
                return report;
            }
            Err(NoAnswer::Unheard(status, _)) if !trip.unheard => {
                report.status = Err(status);
                report.next = Next::Unheard(Trip { unheard: true, ..trip });
                return report;
            }
            Err(NoAnswer::Failed(status, detail) | NoAnswer::Unheard(status, detail)) => {
                report.status = Err(status.clone());
                Err((status, detail))
            }
            Ok(answer) => {
                report.status = Ok(answer.status.as_u16());
                report.retry_after = retry_after(&answer);
                Ok(answer)
            }
        };
        report.next = self.next(trip, result).await;
        report
    }

    async fn next(self, mut trip: Trip, result: Result<Answer, (Status, String)>) -> Next {
        let result = match result {
            Ok(answer) => match self.redirected(&trip, &answer) {
                Ok(None) => Ok(answer),
                Ok(Some(url)) => {
                    trip.redirects.push(Redirect { status: answer.status.as_u16(), to: url.to_string() });
                    trip.url = url;
                    return Next::Elsewhere(trip);
                }
                Err(failure) => Err(failure),
            },
            Err(failure) => Err(failure),
        };
        match trip.purpose {
            Purpose::Rules { kind, origin, waiting } => {
                // Only the redirect led to a private place; the host itself is where it should be.
                let result = result.map_err(|(status, detail)| match trip.redirects.is_empty() {
                    true => (status, detail),
                    false if status == Status::failed("private") => (Status::failed("robots-unreachable"), detail),
                    false => (status, detail),
                });
                Next::Rules(read_rules(kind, origin, result), waiting)
            }
            Purpose::Errand(ticket) => {
                let delivery = Delivery {
                    ticket,
                    url: trip.url.into(),
                    redirects: trip.redirects,
                    at: clock::now(),
                    result,
                    robots: self.licence.robots,
                    tdm: self.licence.tdm,
                };
                // The place among the requests under way is kept until the body was taken, so
                // that bodies cannot pile up in memory.
                match self.deliveries.send(delivery).await {
                    Ok(()) => Next::Delivered,
                    Err(_) => Next::Unwanted,
                }
            }
        }
    }

    /// Where an answer sends us, if it does and we may go there.
    fn redirected(&self, trip: &Trip, answer: &Answer) -> Result<Option<Url>, (Status, String)> {
        if !matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let Some(location) = answer.headers.get(header::LOCATION) else { return Ok(None) };
        let location = String::from_utf8_lossy(location.as_bytes());
        let failure = |name: &str| (Status::failed(name), format!("redirect to {}", location.trim()));
        let mut url = trip.url.join(location.trim()).map_err(|_| failure("bad-url"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(failure("scheme"));
        }
        url.set_fragment(None);
        if trip.redirects.len() >= self.max_redirects {
            return Err(failure("redirects"));
        }
        // To itself means the server wants a cookie; it would go on for ever.
        if url == trip.url || trip.redirects.iter().any(|earlier| earlier.to == url.as_str()) {
            return Err(failure("redirects"));
        }
        Ok(Some(url))
    }
}

fn read_rules(kind: RulesKind, origin: String, result: Result<Answer, (Status, String)>) -> RulesFound {
    let fetched = clock::now();
    let mut found = RulesFound { origin, kind, fetched, status: Ok(0), body: None, digest: String::new() };
    match result {
        Err(failure) => found.status = Err(failure),
        Ok(answer) => {
            found.status = Ok(answer.status.as_u16());
            if answer.status.is_success() {
                let encoding = text_of(&answer, header::CONTENT_ENCODING);
                let ceiling = Ceiling { max_bytes: robots::MAX_BYTES * 4, max_ratio: 100 };
                match Decoder::new(ceiling).decode(&encoding, &answer.body) {
                    Ok(mut body) => {
                        body.truncate(robots::MAX_BYTES);
                        found.digest = format!("{:032x}", xxh3_128(&body));
                        found.body = Some(body);
                    }
                    Err(status) => found.status = Err((status, "its encoding is damaged".to_owned())),
                }
            }
        }
    }
    found
}

fn text_of(answer: &Answer, name: HeaderName) -> String {
    let values: Vec<String> = answer
        .headers
        .get_all(name)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect();
    values.join(",")
}

/// How long a server wants to be left alone: seconds, or a date.
fn retry_after(answer: &Answer) -> Option<Duration> {
    /// Nobody is left alone for longer by a header.
    const MOST: Duration = Duration::from_secs(24 * 3600);
    let text = answer.headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let date = jiff::fmt::rfc2822::parse(&text.replace(" GMT", " +0000")).ok()?.timestamp();
            Duration::try_from(date.duration_since(clock::now())).ok()?
        }
    };
    Some(wait.min(MOST))
}
