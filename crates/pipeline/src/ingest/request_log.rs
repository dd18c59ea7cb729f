//! The request log: records every request, and passes host policies and Retry-After times to the committer.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use tidings_fetch::{CrawlEvent, PolicyResponse, RequestRecord};
use tidings_store::hosts::HostState;
use tidings_store::journal::{JournalBatch, Record};
use tidings_store::rfc3339;
use tidings_store::rules::RulesAnswer;
use tidings_store::runs::{Request, RequestKind, RunLog};

use super::{Batch, LINGER, committer};
use crate::cancel::{CancelToken, StopReason};

/// Rules are handed on in steps of about this size.
const STEP_BYTES: usize = 1 << 20;

pub(super) struct RequestLog {
    thread: JoinHandle<Result<RunLog>>,
}

impl RequestLog {
    /// Waits until the last event is written down.
    pub(super) fn finish(self) -> Result<RunLog> {
        self.thread.join().map_err(|_| anyhow!("the request log thread panicked"))?
    }
}

pub(super) fn start(
    log: RunLog,
    committer: committer::Sender,
    cancel: CancelToken,
) -> (Sender<CrawlEvent>, RequestLog) {
    let (sender, events) = channel();
    let thread = std::thread::spawn(move || {
        let result = write(log, events, committer);
        if result.is_err() {
            cancel.cancel(StopReason::Failure);
        }
        result
    });
    (sender, RequestLog { thread })
}

fn write(mut log: RunLog, events: Receiver<CrawlEvent>, committer: committer::Sender) -> Result<RunLog> {
    let mut step = JournalBatch::default();
    let pass_on = |step: &mut JournalBatch| {
        if !step.is_empty() {
            committer.batch(Batch { step: std::mem::take(step), ..Batch::default() });
        }
    };
    let mut due = Instant::now() + LINGER;
    let mut urgent = false;
    loop {
        let wait = if urgent { Duration::ZERO } else { due.saturating_duration_since(Instant::now()) };
        match events.recv_timeout(wait) {
            Ok(event) => {
                // A Retry-After must also hold for the next run, even if this one crashes.
                urgent |= matches!(event, CrawlEvent::RetryAfter { .. });
                match event {
                    CrawlEvent::Request(asked) => log.push(&request(asked))?,
                    CrawlEvent::Policy(found) => {
                        if let Some(answer) = answer(found) {
                            step.push(&Record::Rules(Box::new(answer)));
                        }
                    }
                    CrawlEvent::RetryAfter { host, until } => {
                        let state = HostState { host, not_before: rfc3339(until), ..HostState::default() };
                        step.push(&Record::Host(Box::new(state)));
                    }
                    CrawlEvent::Host(note) => {
                        step.push(&Record::Host(Box::new(super::host_state(&note, note.trouble.as_ref()))))
                    }
                }
                if step.bytes() < STEP_BYTES && Instant::now() < due {
                    continue;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                pass_on(&mut step);
                return Ok(log);
            }
        }
        if Instant::now() >= due {
            log.flush()?;
            due = Instant::now() + LINGER;
        }
        pass_on(&mut step);
        urgent = false;
    }
}

fn request(asked: RequestRecord) -> Request {
    Request {
        sent_ms: asked.sent.as_millis() as u64,
        ended_ms: asked.ended.as_millis() as u64,
        host: asked.host,
        kind: RequestKind::named(asked.kind),
        url: asked.url,
        status: asked.status,
        delay_ms: asked.delay.as_millis() as u64,
        conditional: asked.conditional,
        reused: asked.reused,
        robots_age_s: asked.robots_age.map(|age| age.as_secs()),
        bytes: asked.bytes,
        ip: asked.peer,
        ip_delay_ms: asked.address_delay.map(|delay| delay.as_millis() as u64),
        unsent: asked.peer.is_none(),
    }
}

/// The cacheable part of a policy response. Failures are requested again.
fn answer(found: PolicyResponse) -> Option<RulesAnswer> {
    let status = found.status.ok()?;
    if status == 429 || status >= 500 {
        return None;
    }
    Some(RulesAnswer {
        origin: found.origin,
        kind: found.kind.word().to_owned(),
        fetched: rfc3339(found.fetched),
        status,
        digest: found.digest,
        body: found.body.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_fetch::PolicyKind;
    use tidings_model::{FailureKind, Status};
    use tidings_store::journal::Journal;
    use tidings_store::pages::PageWriter;

    use super::committer::Committer;
    use crate::testing::home;

    fn policy(status: Result<u16, (Status, String)>) -> PolicyResponse {
        PolicyResponse {
            origin: "https://gazette.example".into(),
            kind: PolicyKind::Tdmrep,
            fetched: "2026-03-01T12:00:00Z".parse().unwrap(),
            status,
            body: Some(b"caf\xe9".to_vec()),
            digest: "d".into(),
        }
    }

    #[test]
    fn a_request_is_logged_with_its_times_in_milliseconds() {
        let logged = request(RequestRecord {
            sent: Duration::from_micros(1_999),
            ended: Duration::from_secs(2),
            host: "gazette.example".into(),
            kind: "feed",
            url: "https://gazette.example/feed".into(),
            status: "304".into(),
            delay: Duration::from_millis(1500),
            conditional: true,
            reused: true,
            robots_age: Some(Duration::from_secs(3600)),
            bytes: 12,
            peer: Some([192, 0, 2, 1].into()),
            address_delay: Some(Duration::from_millis(500)),
        });
        assert_eq!((logged.sent_ms, logged.ended_ms, logged.delay_ms), (1, 2000, 1500));
        assert_eq!((logged.kind, logged.robots_age_s, logged.bytes), (RequestKind::Feed, Some(3600), 12));
        assert!(logged.conditional && logged.reused && !logged.unsent);
        assert_eq!((logged.ip, logged.ip_delay_ms), (Some([192, 0, 2, 1].into()), Some(500)));
    }

    #[test]
    fn a_policy_response_is_cached_with_any_bytes() {
        let kept = answer(policy(Ok(200))).unwrap();
        assert_eq!((kept.kind.as_str(), kept.status, kept.digest.as_str()), ("tdmrep", 200, "d"));
        assert_eq!(kept.body.as_deref(), Some("caf\u{fffd}"));
        assert_eq!(answer(policy(Ok(404))).unwrap().status, 404);
    }

    #[test]
    fn failed_policy_requests_are_not_cached() {
        assert!([429, 500, 503].into_iter().all(|status| answer(policy(Ok(status))).is_none()));
        assert!(answer(policy(Err((Status::Failed(FailureKind::Dns), String::new())))).is_none());
    }

    #[test]
    fn a_retry_after_is_in_the_journal_when_the_log_ends() {
        let (_folder, pipeline) = home();
        let home = pipeline.home();
        let run = "20260301T120000000Z-fetch";
        let journal = Journal::create(home, run).unwrap();
        let page_writer = PageWriter::open(home, run, None);
        let committer = Committer::start(home, journal, page_writer, std::sync::Arc::default(), CancelToken::new());
        let (events, log) = start(RunLog::create(home, run).unwrap(), committer.sender(), CancelToken::new());
        let until = "2026-03-01T18:00:00Z".parse().unwrap();
        events.send(CrawlEvent::RetryAfter { host: "slow.example".into(), until }).unwrap();
        events.send(CrawlEvent::Policy(policy(Ok(200)))).unwrap();
        drop(events);
        log.finish().unwrap();
        committer.finish(|_| JournalBatch::default()).unwrap();
        tidings_store::apply_journal::apply_journal(home).unwrap();
        let mut hosts = Vec::new();
        tidings_store::hosts::read(home, |state| hosts.push((state.host, state.not_before))).unwrap();
        assert!(hosts.contains(&("slow.example".into(), "2026-03-01T18:00:00.000Z".into())), "{hosts:?}");
        let mut rules = 0;
        tidings_store::rules::read(home, |_| true, |_| rules += 1).unwrap();
        assert_eq!(rules, 1);
    }
}
