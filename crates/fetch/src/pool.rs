//! Idle connections, at most one per host; the least recently used (LRU) is closed first.

use std::collections::{HashMap, VecDeque};

use crate::frontier::HostId;

/// A pool of idle connections of type `C`.
pub(crate) struct ConnectionPool<C> {
    idle: HashMap<HostId, (u64, C)>,
    /// Hosts in the order of [`ConnectionPool::put`], with the number of the call. Entries of
    /// connections that were taken since are skipped by that number.
    order: VecDeque<(u64, HostId)>,
    calls: u64,
}

impl<C> ConnectionPool<C> {
    pub(crate) fn new() -> ConnectionPool<C> {
        ConnectionPool { idle: HashMap::new(), order: VecDeque::new(), calls: 0 }
    }

    /// Keeps a connection for the next request to its host.
    pub(crate) fn put(&mut self, host: HostId, connection: C) {
        self.calls += 1;
        self.idle.insert(host, (self.calls, connection));
        self.order.push_back((self.calls, host));
        // Stale entries would grow with the number of requests.
        if self.order.len() > 2 * self.idle.len() + 64 {
            let idle = &self.idle;
            self.order.retain(|(call, host)| idle.get(host).is_some_and(|(current, _)| current == call));
        }
    }

    /// Takes the connection of a host.
    pub(crate) fn take(&mut self, host: HostId) -> Option<C> {
        self.idle.remove(&host).map(|(_, connection)| connection)
    }

    /// Closes the connection that has been idle longest; false if there is none.
    pub(crate) fn close_oldest(&mut self) -> bool {
        while let Some((call, host)) = self.order.pop_front() {
            if self.idle.get(&host).is_some_and(|(current, _)| *current == call) {
                self.idle.remove(&host);
                return true;
            }
        }
        false
    }

    /// Closes the oldest connections until there is space for one more than `in_use` and the idle ones within `limit`.
    pub(crate) fn make_room(&mut self, in_use: usize, limit: usize) {
        while in_use + self.idle.len() >= limit && self.close_oldest() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_connection_is_taken_once() {
        let mut pool = ConnectionPool::new();
        pool.put(7, "seven");
        assert_eq!((pool.take(7), pool.take(7), pool.take(8)), (Some("seven"), None, None));
    }

    #[test]
    fn the_connection_idle_longest_is_closed_first() {
        let mut pool = ConnectionPool::new();
        for host in 0..3 {
            pool.put(host, host);
        }
        // Host 0 is used again, which makes it the youngest.
        let again = pool.take(0).unwrap();
        pool.put(0, again);
        assert!(pool.close_oldest());
        assert_eq!((pool.take(0), pool.take(1), pool.take(2)), (Some(0), None, Some(2)));
        assert!(!pool.close_oldest());
    }

    #[test]
    fn space_is_made_for_one_more_than_those_in_use() {
        let mut pool = ConnectionPool::new();
        (0..8).for_each(|host| pool.put(host, host));
        pool.make_room(4, 10);
        assert_eq!(pool.idle.len(), 5);
        pool.make_room(20, 10);
        assert_eq!(pool.idle.len(), 0);
    }

    #[test]
    fn the_order_does_not_grow_with_the_number_of_requests() {
        let mut pool = ConnectionPool::new();
        for _ in 0..10_000 {
            pool.put(1, ());
            pool.take(1);
        }
        assert!(pool.order.len() <= 66, "{}", pool.order.len());
    }
}
