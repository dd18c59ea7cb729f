//! Sending: the IP address of a host and its slot come before each request.

use std::net::IpAddr;
use std::time::Duration;

use tidings_model::{FailureKind, Status};
use url::Host;

use super::{Action, CrawlLoop, Now};
use crate::address_slots::Acquired;
use crate::client::RequestError;
use crate::frontier::HostId;
use crate::request::{Completion, InFlight, PendingRequest, Permission};
use crate::types::JobSource;

/// Wait after this machine ran out of sockets.
pub(super) const SOCKET_RETRY: Duration = Duration::from_millis(50);

impl<J: JobSource> CrawlLoop<J> {
    /// Sends a request if the address of its host is known and free. Otherwise the request goes back to the queue, and
    /// the host waits for the address.
    pub(super) fn send(&mut self, id: HostId, pending: PendingRequest, permission: Permission, now: Now) {
        let host = self.frontier.get_mut(id);
        debug_assert!(host.in_flight.is_none(), "one request per host at a time");
        host.waiting_for_policy = false;
        let Some(ip) = host.address.or_else(|| literal_address(&pending)) else {
            self.active += 1;
            self.actions.push_back(Action::Resolve(id, pending.url.clone()));
            host.in_flight = Some(InFlight::Resolving(Box::new(pending), Box::new(permission)));
            return;
        };
        host.address = Some(ip);
        match self.addresses.acquire(ip, id, now.elapsed) {
            Acquired::Taken => {
                let mut request = pending.http_request(self.config.kind, self.config.settings.max_body_bytes);
                request.address = Some(ip);
                host.in_flight = Some(InFlight::Sending(Box::new(pending), Box::new(permission)));
                self.active += 1;
                self.actions.push_back(Action::Send(id, Box::new(request)));
            }
            Acquired::Waits => {
                host.front_queue.push_front(pending);
                self.frontier.park(id);
            }
            Acquired::Unreachable => {
                host.front_queue.push_front(pending);
                host.given_up = Some("its IP address accepts no connection");
            }
        }
    }

    /// Continues with the request that waited for the address of its host.
    pub(super) fn on_resolved(&mut self, id: HostId, ip: IpAddr) {
        let Some(InFlight::Resolving(pending, _)) = self.release(id) else { return };
        if self.owns_address(id, &pending, ip) {
            return self.try_address(id, *pending, ip);
        }
        self.frontier.get_mut(id).front_queue.push_front(*pending);
        self.give_back(id, FailureKind::MovedShard, "the IP address of its host belongs to another shard");
    }

    /// Continues with a request whose connection has another address than the one that was free: the first address of
    /// its host does not answer, or the name has moved.
    pub(super) fn on_other_address(&mut self, id: HostId, mut pending: PendingRequest, ip: IpAddr) {
        pending.address_changes += 1;
        self.try_address(id, pending, ip);
    }

    fn try_address(&mut self, id: HostId, pending: PendingRequest, ip: IpAddr) {
        let host = self.frontier.get_mut(id);
        host.address = Some(ip.to_canonical());
        host.front_queue.push_front(pending);
        self.frontier.enqueue(id, Duration::ZERO);
    }

    /// Frees the address of a host after a request.
    pub(super) fn end_at_address(&mut self, id: HostId, completion: &Completion) {
        let Some(ip) = self.frontier.get(id).address else { return };
        let is_idle = matches!(completion.result, Err(RequestError::OutOfSockets | RequestError::OtherAddress(_)));
        let timed_out = match &completion.result {
            Err(RequestError::Failed(status, _)) => completion.peer.is_none() && *status == Status::failed("timeout"),
            _ => false,
        };
        self.addresses.note_connect(ip, timed_out);
        self.free_address(id, (!is_idle).then_some(completion.ended));
    }

    /// Frees the address of a host, with a pause from a time if something was sent, and wakes the next host there.
    pub(super) fn free_address(&mut self, id: HostId, sent_until: Option<Duration>) {
        if let Some(ip) = self.frontier.get(id).address {
            self.addresses.release(ip, sent_until);
            self.wake_neighbour(id);
        }
    }

    /// Gives the next host that waits for the same address its turn, unless the address is taken.
    pub(super) fn wake_neighbour(&mut self, id: HostId) {
        let next = self.frontier.get(id).address.and_then(|ip| self.addresses.wake(ip, id));
        if let Some((host, at)) = next {
            self.frontier.unpark(host, at);
        }
    }

    /// Retries a request that found no socket soon, and lowers the limits.
    pub(super) fn on_socket_shortage(&mut self, id: HostId, pending: PendingRequest, ended: Duration) {
        self.frontier.get_mut(id).front_queue.push_front(pending);
        self.config.max_open = self.config.max_open.saturating_sub(1).max(self.active).max(1);
        self.concurrency = self.concurrency.min(self.config.max_open);
        self.frontier.enqueue(id, ended + SOCKET_RETRY);
    }
}

/// The address that a URL names itself.
fn literal_address(pending: &PendingRequest) -> Option<IpAddr> {
    match pending.url.host()? {
        Host::Ipv4(ip) => Some(ip.into()),
        Host::Ipv6(ip) => Some(IpAddr::from(ip).to_canonical()),
        Host::Domain(_) => None,
    }
}
