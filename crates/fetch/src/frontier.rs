//! The crawl frontier: per-host queues, and a priority queue of hosts by the time of their next turn.
//!
//! A host takes its name, four bytes per job and about two hundred more; it has no task and no timer while it waits, so
//! a frontier of a million hosts fits into memory. All times are durations since the start of the crawl: the frontier
//! has no clock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use crate::request::{InFlight, PendingRequest};
use crate::types::JobId;

/// Index of a host in the frontier.
pub(crate) type HostId = u32;

/// Queues and politeness state of one host.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) name: Box<str>,
    /// Its IP address, as far as it is known: the one of its last connection, or the first of its name.
    pub(crate) address: Option<IpAddr>,
    /// Jobs not yet loaded; the last is the next.
    pub(crate) jobs: Vec<JobId>,
    /// Requests that precede new jobs: redirects, policy files, retries.
    pub(crate) front_queue: VecDeque<PendingRequest>,
    /// The one request that is being sent or whose result waits for the consumer.
    pub(crate) in_flight: Option<InFlight>,
    /// True if the host is in the priority queue, or waits for its address.
    queued: bool,
    /// True if its next request waits for a policy file that another host was redirected to serve.
    pub(crate) waiting_for_policy: bool,
    /// Reason for which it is not contacted any more in this crawl.
    pub(crate) given_up: Option<&'static str>,
    /// Network failures in a row.
    pub(crate) consecutive_failures: u8,
    /// Responses in a row with 403, 429 or 503.
    pub(crate) throttled: u8,
    /// Responses in a row with 403.
    pub(crate) forbidden: u8,
    /// True if it refuses every page: the jobs that it has left are passed over.
    pub(crate) passes_over: bool,
    /// Jobs that were passed over.
    pub(crate) passed_over: u32,
    /// Jobs that could not be passed over, because their policy is not known.
    pub(crate) kept: Vec<JobId>,
    /// Its Crawl-delay in milliseconds.
    crawl_delay_ms: u32,
    pub(crate) requests: u32,
    /// Time since its last response when the crawl began, known from an earlier crawl.
    pub(crate) idle_before_start: Option<Duration>,
    /// End of its last response in this crawl.
    pub(crate) last_ended: Option<Duration>,
    /// End of the pause after that response.
    pub(crate) pause_until: Option<Duration>,
    /// End of its `Retry-After`.
    pub(crate) not_before: Option<Duration>,
    pub(crate) answered: bool,
    /// True if it served a job in this crawl.
    pub(crate) served: bool,
    /// Its last failure, unless it served a job since.
    pub(crate) trouble: Option<Box<str>>,
}

impl Host {
    /// Raises the pause to the host's own Crawl-delay.
    pub(crate) fn require_delay(&mut self, delay: Duration) {
        let delay_ms = u32::try_from(delay.as_millis()).unwrap_or(u32::MAX);
        self.crawl_delay_ms = self.crawl_delay_ms.max(delay_ms);
    }

    /// Delay between two requests: the configured one, or a longer Crawl-delay.
    pub(crate) fn pause(&self, configured: Duration) -> Duration {
        configured.max(Duration::from_millis(self.crawl_delay_ms.into()))
    }

    /// True if jobs were passed over or were never looked at.
    pub(crate) fn has_left_work(&self) -> bool {
        !self.jobs.is_empty() || !self.front_queue.is_empty() || self.passed_over > 0
    }

    /// True if a turn of this host could send something, or pass over a job.
    pub(crate) fn has_work(&self) -> bool {
        if self.passes_over {
            return !self.jobs.is_empty();
        }
        self.given_up.is_none() && (!self.front_queue.is_empty() || (!self.jobs.is_empty() && !self.waiting_for_policy))
    }
}

/// All hosts of a crawl.
#[derive(Default)]
pub(crate) struct Frontier {
    hosts: Vec<Host>,
    by_name: HashMap<Box<str>, HostId>,
    /// Hosts with work, by the time of their turn; ties go to the host that was queued first.
    turns: BinaryHeap<Reverse<(Duration, u64, HostId)>>,
    arrivals: u64,
    /// Numbers of evicted hosts.
    vacant: Vec<HostId>,
}

impl Frontier {
    /// Finds or adds a host.
    pub(crate) fn id(&mut self, name: &str) -> HostId {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let host = Host { name: name.into(), ..Host::default() };
        let id = match self.vacant.pop() {
            Some(id) => {
                self.hosts[id as usize] = host;
                id
            }
            None => {
                self.hosts.push(host);
                HostId::try_from(self.hosts.len() - 1).expect("fewer than 2^32 hosts")
            }
        };
        self.by_name.insert(name.into(), id);
        id
    }

    /// The number of hosts.
    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// True if a host is known.
    pub(crate) fn holds(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Hosts without work and without a running pause. Nothing refers to them but their name: a host that another one or
    /// an address waits for has a request in its queue.
    pub(crate) fn idle(&self, now: Duration) -> Vec<HostId> {
        let is_idle = |host: &Host| {
            let rests_until = host.pause_until.max(host.not_before).unwrap_or_default();
            host.jobs.is_empty()
                && host.front_queue.is_empty()
                && host.in_flight.is_none()
                && !host.queued
                && !host.waiting_for_policy
                && rests_until <= now
        };
        self.by_name.values().copied().filter(|id| is_idle(self.get(*id))).collect()
    }

    /// Forgets a host; its number is given to another one.
    pub(crate) fn evict(&mut self, id: HostId) {
        let host = std::mem::take(&mut self.hosts[id as usize]);
        self.by_name.remove(&host.name);
        self.vacant.push(id);
    }

    pub(crate) fn get(&self, id: HostId) -> &Host {
        &self.hosts[id as usize]
    }

    pub(crate) fn get_mut(&mut self, id: HostId) -> &mut Host {
        &mut self.hosts[id as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Host> {
        self.hosts.iter()
    }

    /// Queues a host for a turn, if it has work, nothing in flight, and is not queued yet.
    pub(crate) fn enqueue(&mut self, id: HostId, at: Duration) {
        let host = &mut self.hosts[id as usize];
        if host.has_work() && host.in_flight.is_none() && !host.queued {
            host.queued = true;
            self.arrivals += 1;
            self.turns.push(Reverse((at, self.arrivals, id)));
        }
    }

    /// Keeps a host out of the queue until [`Frontier::unpark`]: it waits for its address.
    pub(crate) fn park(&mut self, id: HostId) {
        self.hosts[id as usize].queued = true;
    }

    /// Queues a parked host for a turn.
    pub(crate) fn unpark(&mut self, id: HostId, at: Duration) {
        debug_assert!(self.hosts[id as usize].queued, "only a parked host waits for an address");
        self.arrivals += 1;
        self.turns.push(Reverse((at, self.arrivals, id)));
    }

    /// Time of the next turn.
    pub(crate) fn next_turn(&self) -> Option<Duration> {
        self.turns.peek().map(|Reverse((at, _, _))| *at)
    }

    /// Takes the first host whose turn has come.
    pub(crate) fn pop_due(&mut self, now: Duration) -> Option<HostId> {
        let Reverse((at, _, id)) = *self.turns.peek()?;
        if at > now {
            return None;
        }
        self.turns.pop();
        self.hosts[id as usize].queued = false;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn with_jobs(names: &[&str]) -> Frontier {
        let mut frontier = Frontier::default();
        for name in names {
            let id = frontier.id(name);
            frontier.get_mut(id).jobs = vec![0];
        }
        frontier
    }

    #[test]
    fn a_host_has_one_id() {
        let mut frontier = Frontier::default();
        let (a, b) = (frontier.id("a.org"), frontier.id("b.org"));
        assert_eq!((a, b, frontier.id("a.org"), frontier.iter().count()), (0, 1, 0, 2));
        assert_eq!(&*frontier.get(b).name, "b.org");
    }

    #[test]
    fn idle_hosts_are_evicted_and_their_numbers_used_again() {
        let mut frontier = with_jobs(&["busy", "idle", "resting"]);
        frontier.get_mut(1).jobs.clear();
        frontier.get_mut(2).jobs.clear();
        frontier.get_mut(2).pause_until = Some(SECOND * 9);
        assert_eq!(frontier.idle(SECOND), [1]);
        frontier.evict(1);
        assert_eq!((frontier.len(), frontier.holds("idle"), frontier.id("new")), (2, false, 1));
        assert_eq!(frontier.idle(SECOND * 9).len(), 2);
    }

    #[test]
    fn turns_come_by_time_and_ties_by_arrival() {
        let mut frontier = with_jobs(&["a", "b", "c", "d"]);
        for (id, at) in [(3, 2), (0, 1), (2, 1), (1, 3)] {
            frontier.enqueue(id, SECOND * at);
        }
        assert_eq!(frontier.next_turn(), Some(SECOND));
        let order: Vec<_> = std::iter::from_fn(|| frontier.pop_due(SECOND * 9)).collect();
        assert_eq!(order, [0, 2, 3, 1]);
        assert_eq!(frontier.next_turn(), None);
    }

    #[test]
    fn a_host_is_not_due_before_its_time() {
        let mut frontier = with_jobs(&["a"]);
        frontier.enqueue(0, SECOND * 5);
        assert_eq!(frontier.pop_due(SECOND * 5 - Duration::from_nanos(1)), None);
        assert_eq!(frontier.pop_due(SECOND * 5), Some(0));
    }

    #[test]
    fn a_host_is_queued_once_and_its_first_time_holds() {
        let mut frontier = with_jobs(&["a"]);
        frontier.enqueue(0, SECOND * 2);
        frontier.enqueue(0, SECOND);
        assert_eq!(frontier.pop_due(SECOND * 9), Some(0));
        assert_eq!(frontier.pop_due(SECOND * 9), None);
    }

    #[test]
    fn a_host_without_work_or_given_up_is_not_queued() {
        let mut frontier = with_jobs(&["a", "b"]);
        frontier.get_mut(0).jobs.clear();
        frontier.get_mut(1).given_up = Some("test");
        frontier.enqueue(0, SECOND);
        frontier.enqueue(1, SECOND);
        assert_eq!(frontier.next_turn(), None);
    }

    #[test]
    fn the_longer_of_both_delays_is_the_pause() {
        let mut host = Host::default();
        assert_eq!(host.pause(SECOND), SECOND);
        host.require_delay(SECOND * 7);
        host.require_delay(SECOND * 3);
        assert_eq!((host.pause(SECOND), host.pause(SECOND * 9)), (SECOND * 7, SECOND * 9));
        host.require_delay(Duration::MAX);
        assert_eq!(host.pause(SECOND), Duration::from_millis(u32::MAX.into()));
    }
}
