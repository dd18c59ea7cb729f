//! Open crawls: queues arrive while the loop runs, and state that is no longer needed is dropped.
//!
//! A crawl that follows links does not know its hosts at the start, and meets more of them than memory holds. Hosts
//! without work whose pause is over are evicted, with the policies of their origins; jobs of a host that is postponed go
//! back to the caller instead of waiting for the end.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::{Action, CrawlLoop, Now};
use crate::frontier::HostId;
use crate::policy::Lookup;
use crate::request::{PendingRequest, Purpose};
use crate::types::{CrawlEvent, FetchResult, HostQueue, JobSource};
use tidings_model::{FailureKind, Status};
use url::Url;

/// Hosts and origins that are kept before idle ones are evicted.
pub(super) const MIN_KEPT: usize = 4096;

impl<J: JobSource> CrawlLoop<J> {
    /// Keeps the loop running without work until [`super::Input::QueuesClosed`].
    pub(crate) fn open(mut self) -> CrawlLoop<J> {
        self.is_open = true;
        self
    }

    /// True while queues may arrive.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Adds jobs that arrived while the loop runs, behind those that wait.
    pub(super) fn on_queue(&mut self, queue: HostQueue) {
        let id = self.frontier.id(&queue.host);
        let host = self.frontier.get_mut(id);
        // The last job is the next.
        host.jobs.splice(0..0, queue.later.into_iter().rev().chain(queue.jobs.into_iter().rev()));
        self.schedule(id);
        self.return_jobs(id);
    }

    /// Gives the jobs of a postponed host back to the caller.
    pub(super) fn return_jobs(&mut self, id: HostId) {
        let host = self.frontier.get(id);
        if let Some(reason) = host.given_up.filter(|_| self.is_open && host.in_flight.is_none()) {
            self.give_back(id, FailureKind::Postponed, reason);
        }
    }

    /// Whether a URL is on a host of this crawl.
    pub(super) fn owns(&self, url: &Url) -> bool {
        let partition = self.config.settings.partition.as_ref();
        partition.is_none_or(|partition| partition.owns_host(url.host_str().unwrap_or_default()))
    }

    /// Whether a host belongs to this crawl at its IP address. A policy file that redirects to it is read anyway.
    pub(super) fn owns_address(&self, id: HostId, pending: &PendingRequest, ip: IpAddr) -> bool {
        let is_foreign_policy = pending.is_policy() && !pending.redirects.is_empty();
        let partition = self.config.settings.partition.as_ref().filter(|_| !is_foreign_policy);
        partition.is_none_or(|partition| partition.owns_address(&self.frontier.get(id).name, ip))
    }

    /// Gives all jobs of a host back to the caller, with a failure.
    pub(super) fn give_back(&mut self, id: HostId, failure: FailureKind, reason: &str) {
        let host = self.frontier.get_mut(id);
        let jobs = std::mem::take(&mut host.jobs);
        let pending = std::mem::take(&mut host.front_queue);
        let mut returned: Vec<_> = jobs.into_iter().rev().map(|job| (job, String::new(), Vec::new())).collect();
        let mut policies = Vec::new();
        for request in pending {
            match request.purpose {
                Purpose::Job(job) => returned.push((job, request.url.into(), request.redirects)),
                Purpose::Policy { .. } => policies.push(request),
            }
        }
        let wall = self.config.started;
        for (job, url, redirects) in returned {
            let result = FetchResult {
                job,
                url,
                at: wall,
                requested: failure == FailureKind::MovedShard && !redirects.is_empty(),
                redirects,
                result: Err((Status::Failed(failure), reason.to_owned())),
                robots: None,
                tdm: (None, None),
                sitemaps: Arc::default(),
            };
            self.actions.push_back(Action::Deliver(None, Box::new(result)));
        }
        for request in policies {
            if let (FailureKind::MovedShard, Purpose::Policy { origin, .. }) = (failure, &request.purpose) {
                // The other shard asks.
                self.policies.remove(origin);
                continue;
            }
            let failure = Err((Status::Failed(FailureKind::Connect), reason.to_owned()));
            self.on_policy(request, failure, Ok(()), wall);
        }
    }

    /// Evicts hosts without work, policies of hosts that are gone, and addresses that were not used for long, if there
    /// are many.
    pub(super) fn evict_idle(&mut self, now: Now) {
        if self.is_open && self.frontier.len() > self.evict_above {
            for id in self.frontier.idle(now.elapsed) {
                if let Some(note) = self.note(self.frontier.get(id)) {
                    self.actions.push_back(Action::Record(Box::new(CrawlEvent::Host(note))));
                }
                self.frontier.evict(id);
                self.actions.push_back(Action::Evicted(id));
            }
            let frontier = &self.frontier;
            self.policies.retain(|origin, policy| {
                let is_requested =
                    matches!(policy.robots, Lookup::Requested) || matches!(policy.tdm, Lookup::Requested);
                let host = Url::parse(origin).ok().and_then(|url| url.host_str().map(str::to_owned));
                is_requested || host.is_some_and(|host| frontier.holds(&host))
            });
            self.addresses.forget_idle(now.elapsed.saturating_sub(Duration::from_secs(600)));
            self.evict_above = MIN_KEPT.max(self.frontier.len() * 2);
        }
    }
}
