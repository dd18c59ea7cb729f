//! Writes down every request as it happens, and passes on what must be remembered.

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

use super::{Batch, committer};
use crate::cancel::{CancelToken, StopReason};

/// How long rules and requests may wait to be written.
const LINGER: Duration = Duration::from_secs(2);

/// Rules are handed on in steps of about this size.
const STEP_BYTES: usize = 1 << 20;

pub(super) struct RequestLog {
    thread: JoinHandle<Result<RunLog>>,
}

impl RequestLog {
    /// Waits until the last event is written down.
    pub(super) fn finish(self) -> Result<RunLog> {
        self.thread.join().map_err(|_| anyhow!("the request log failed"))?
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
                // A host that wants to be left alone must not be asked by the next run either,
                // whatever becomes of this one.
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
    }
}

/// What is remembered of rules: answers only. Who could not be reached is asked again next time.
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
