//! Open connections, and which one is closed if there is no place for another.
//!
//! A few clients that open all the connections there are must not lock out the rest: a client that comes takes the place
//! of the idlest connection of the client that has most of them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::client::network;

/// Accepted connections that wait for a place; more are closed at once.
const MAX_WAITING: usize = 256;

/// The open connections of all clients.
#[derive(Debug)]
pub(crate) struct ConnectionTable {
    most: usize,
    began: Instant,
    open: Mutex<OpenConnections>,
    waiting: AtomicUsize,
    closed: Notify,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next_id: u64,
    count: usize,
    by_client: HashMap<IpAddr, HashMap<u64, Arc<Connection>>>,
}

/// What is known of a connection.
#[derive(Debug)]
pub(crate) struct Connection {
    began: Instant,
    /// Requests that are being answered.
    requests: AtomicUsize,
    /// The time of the last progress, in milliseconds since the table was made.
    last_ms: AtomicU64,
    evicted: Notify,
}

/// The place of a connection; given back on drop.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    table: Arc<ConnectionTable>,
    client: IpAddr,
    id: u64,
    pub connection: Arc<Connection>,
}

/// A request of a connection that is being answered.
#[derive(Debug)]
pub(crate) struct RequestGuard(Arc<Connection>);

impl Connection {
    /// Records progress: bytes that the client has taken.
    pub fn touch(&self) {
        self.last_ms.store(self.began.elapsed().as_millis() as u64, Relaxed);
    }

    /// Marks the connection as busy while the guard lives.
    pub fn begin_request(self: &Arc<Connection>) -> RequestGuard {
        self.requests.fetch_add(1, Relaxed);
        self.touch();
        RequestGuard(self.clone())
    }

    /// Resolves when the connection must be closed in favour of another.
    pub async fn evicted(&self) {
        self.evicted.notified().await;
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Relaxed);
        self.0.touch();
    }
}

impl ConnectionTable {
    pub fn new(most: usize) -> Arc<ConnectionTable> {
        Arc::new(ConnectionTable {
            most: most.max(1),
            began: Instant::now(),
            open: Mutex::default(),
            waiting: AtomicUsize::new(0),
            closed: Notify::new(),
        })
    }

    /// Takes a place, if need be that of a connection of a client with more of them, or waits for one.
    pub async fn enter_within(
        self: &Arc<ConnectionTable>,
        client: IpAddr,
        patience: Duration,
    ) -> Option<ConnectionSlot> {
        if let Some(slot) = self.enter(client) {
            return Some(slot);
        }
        let _waiting = Waiting::new(&self.waiting)?;
        let turn = async {
            loop {
                let closed = self.closed.notified();
                if let Some(slot) = self.enter(client) {
                    return slot;
                }
                closed.await;
            }
        };
        tokio::time::timeout(patience, turn).await.ok()
    }

    fn enter(self: &Arc<ConnectionTable>, client: IpAddr) -> Option<ConnectionSlot> {
        let client = network(client);
        let mut open = self.open();
        if open.count >= self.most && !open.evict_for(client) {
            return None;
        }
        open.count += 1;
        open.next_id += 1;
        let id = open.next_id;
        let connection = Arc::new(Connection {
            began: self.began,
            requests: AtomicUsize::new(0),
            last_ms: AtomicU64::new(self.began.elapsed().as_millis() as u64),
            evicted: Notify::new(),
        });
        open.by_client.entry(client).or_default().insert(id, connection.clone());
        Some(ConnectionSlot { table: self.clone(), client, id, connection })
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().expect("no panic while held")
    }
}

impl OpenConnections {
    /// Closes the idlest connection of the client with most of them, if it has more than the one that comes would have.
    fn evict_for(&mut self, client: IpAddr) -> bool {
        let own = self.by_client.get(&client).map_or(0, HashMap::len);
        let greediest = self.by_client.iter().max_by_key(|(_, connections)| connections.len());
        let Some((greediest, connections)) = greediest.filter(|(_, connections)| connections.len() > own + 1) else {
            return false;
        };
        let idleness =
            |connection: &Connection| (connection.requests.load(Relaxed) > 0, connection.last_ms.load(Relaxed));
        let idlest = connections.iter().min_by_key(|(id, connection)| (idleness(connection), **id));
        let Some((greediest, id)) = idlest.map(|(id, _)| (*greediest, *id)) else { return false };
        if let Some(connection) = self.remove(greediest, id) {
            connection.evicted.notify_one();
        }
        true
    }

    fn remove(&mut self, client: IpAddr, id: u64) -> Option<Arc<Connection>> {
        let connections = self.by_client.get_mut(&client)?;
        let removed = connections.remove(&id)?;
        if connections.is_empty() {
            self.by_client.remove(&client);
        }
        self.count -= 1;
        Some(removed)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        // An evicted connection has no place any more.
        if self.table.open().remove(self.client, self.id).is_some() {
            self.table.closed.notify_one();
        }
    }
}

/// One of the connections that wait for a place.
struct Waiting<'t>(&'t AtomicUsize);

impl Waiting<'_> {
    fn new(count: &AtomicUsize) -> Option<Waiting<'_>> {
        let waiting = Waiting(count);
        (count.fetch_add(1, Relaxed) < MAX_WAITING).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, number])
    }

    #[test]
    fn a_full_table_closes_the_idlest_connection_of_the_greediest_client() {
        let table = ConnectionTable::new(6);
        let greedy: Vec<_> = (0..4).filter_map(|_| table.enter(address(1))).collect();
        let modest: Vec<_> = (0..2).filter_map(|_| table.enter(address(2))).collect();
        let _busy = greedy[0].connection.begin_request();
        greedy[1].connection.last_ms.store(u64::MAX, Relaxed);
        let third = table.enter(address(3)).expect("a place");
        let is_open = |slot: &ConnectionSlot| {
            table.open().by_client.get(&slot.client).is_some_and(|connections| connections.contains_key(&slot.id))
        };
        assert_eq!(greedy.iter().map(is_open).collect::<Vec<_>>(), [true, true, false, true]);
        assert!(modest.iter().all(is_open) && is_open(&third));
        assert_eq!(table.open().count, 6);
        drop((greedy, modest, third));
        assert!(table.open().count == 0 && table.open().by_client.is_empty());
    }

    #[test]
    fn a_client_cannot_take_the_places_of_clients_with_fewer_connections() {
        let table = ConnectionTable::new(4);
        let greedy: Vec<_> = (0..9).filter_map(|_| table.enter(address(1))).collect();
        assert_eq!(greedy.len(), 4);
        let modest: Vec<_> = (0..9).filter_map(|_| table.enter(address(2))).collect();
        assert_eq!(modest.len(), 2, "places are shared evenly");
    }
}
