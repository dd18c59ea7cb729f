//! Backoff: what a response or a failure means for the next request to its host, and the record of the request.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::{Action, CrawlLoop};
use crate::client::RequestError;
use crate::frontier::HostId;
use crate::request::{Completion, PendingRequest, Permission, retry_after};
use crate::types::{CrawlEvent, CrawlKind, JobSource, RequestRecord};

/// Consecutive network failures after which a host is postponed to a later crawl.
const MAX_CONSECUTIVE_FAILURES: u8 = 2;

/// Consecutive responses 403, 429 or 503 after which a host is postponed to a later crawl.
const MAX_THROTTLED: u8 = 3;

impl<J: JobSource> CrawlLoop<J> {
    /// Updates the delay and failure counters of a host after a request, and postpones the host after too many
    /// rejections or failures (backoff). Returns the delay before its next request.
    pub(super) fn update_backoff(&mut self, id: HostId, pending: &PendingRequest, completion: &Completion) -> Duration {
        let settings = &self.config.settings;
        let host = self.frontier.get_mut(id);
        let mut pause = host.pause(settings.delay);
        host.requests += 1;
        host.last_ended = Some(completion.ended);
        if completion.result.is_ok() && !host.answered {
            host.answered = true;
            self.stats.answering_hosts.fetch_add(1, Relaxed);
        }
        match completion.host_trouble() {
            Some(trouble) => host.trouble = Some(trouble.into()),
            None if completion.result.is_ok() && !pending.is_policy() => (host.served, host.trouble) = (true, None),
            None => {}
        }
        match &completion.result {
            Ok(response) => match response.status.as_u16() {
                429 | 503 => {
                    host.throttled += 1;
                    host.forbidden = 0;
                    let longer = pause * 2u32.pow(host.throttled.min(4).into());
                    pause = longer.min(settings.max_crawl_delay.max(pause));
                    if let Some(wait) = retry_after(response, completion.wall) {
                        pause = pause.max(wait);
                        host.not_before = Some(completion.ended + wait);
                        let until = self.config.started + (completion.ended + wait);
                        let event = CrawlEvent::RetryAfter { host: host.name.to_string(), until };
                        self.actions.push_back(Action::Record(Box::new(event)));
                    }
                    if pause > settings.max_retry_after || host.throttled >= MAX_THROTTLED {
                        host.given_up = Some("Retry-After exceeds the limit");
                    }
                }
                403 => {
                    host.throttled += 1;
                    host.forbidden += 1;
                    if host.throttled >= MAX_THROTTLED {
                        host.given_up = Some("it rejects requests (403, 429 or 503)");
                        // Overload passes, a refusal does not.
                        host.passes_over = host.forbidden >= MAX_THROTTLED && self.config.kind == CrawlKind::Page;
                    }
                }
                _ => (host.consecutive_failures, host.throttled, host.forbidden) = (0, 0, 0),
            },
            Err(RequestError::StaleConnection(..)) if !pending.retried => {}
            Err(RequestError::Failed(status, _) | RequestError::StaleConnection(status, _))
                if status.is_network_trouble() =>
            {
                host.consecutive_failures += 1;
                // A policy file that cannot be fetched already rejects every page of its origin.
                if host.consecutive_failures >= MAX_CONSECUTIVE_FAILURES && !pending.is_policy() {
                    host.given_up = Some("it is unreachable or does not respond");
                }
            }
            Err(_) => {}
        }
        host.pause_until = Some(completion.ended + pause);
        pause
    }

    /// Records a request for the log.
    pub(super) fn record(
        &mut self,
        id: HostId,
        pending: &PendingRequest,
        permission: &Permission,
        completion: &Completion,
        delay: Duration,
    ) {
        self.stats.requests.fetch_add(1, Relaxed);
        self.stats.bytes.fetch_add(completion.bytes, Relaxed);
        let status = match &completion.result {
            Ok(response) => response.status.as_u16().to_string(),
            Err(RequestError::Failed(status, _) | RequestError::StaleConnection(status, _)) => status.to_string(),
            Err(RequestError::OutOfSockets | RequestError::OtherAddress(_)) => return,
        };
        let record = RequestRecord {
            sent: completion.sent,
            ended: completion.ended,
            host: self.frontier.get(id).name.to_string(),
            kind: pending.word(self.config.kind),
            url: pending.url.to_string(),
            status,
            delay,
            conditional: pending.is_conditional(),
            reused: completion.reused,
            robots_age: permission.robots_age,
            bytes: completion.bytes,
            peer: completion.peer,
            address_delay: completion.peer.and_then(|ip| self.addresses.pause(ip)),
        };
        self.actions.push_back(Action::Record(Box::new(CrawlEvent::Request(record))));
    }
}
