//! The hosts of a harvest and whose turn it is.
//!
//! A host costs its name, four bytes for each errand and some two hundred more: there is no task
//! and no timer for it until its turn comes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use crate::connect::Connection;
use crate::trip::Trip;

/// A host by its number in this harvest.
pub(crate) type HostId = u32;

#[derive(Default)]
pub(crate) struct Host {
    pub(crate) name: Box<str>,
    /// Errands not yet looked at; the last is the next.
    pub(crate) tickets: Vec<u32>,
    /// Trips that are under way and come before new errands: redirects, rules, second tries.
    pub(crate) urgent: VecDeque<Trip>,
    pub(crate) connection: Option<Connection>,
    /// Asking right now.
    pub(crate) busy: bool,
    /// Stands in the line.
    pub(crate) queued: bool,
    /// Cannot go on before some other host has answered about our rules.
    pub(crate) parked: bool,
    /// Not asked any more in this run, and why.
    pub(crate) given_up: Option<&'static str>,
    /// Troubles in a row.
    pub(crate) strikes: u8,
    /// How often it asked for patience.
    pub(crate) slowed: u8,
    /// The pause it wants beyond ours, in milliseconds.
    own_delay_ms: u32,
    pub(crate) requests: u32,
    /// When its last answer ended.
    pub(crate) last: Option<Instant>,
    /// When the pause after that is over.
    pub(crate) rests_until: Option<Instant>,
    /// It asked not to be asked before then.
    pub(crate) not_before: Option<Instant>,
    pub(crate) answered: bool,
}

impl Host {
    /// Takes note of the pause that a host's own rules ask for.
    pub(crate) fn insist_on(&mut self, pause: Duration) {
        self.own_delay_ms = self.own_delay_ms.max(pause.as_millis() as u32);
    }

    /// The pause between two requests: ours, or its own where that is longer.
    pub(crate) fn pause(&self, ours: Duration) -> Duration {
        ours.max(Duration::from_millis(self.own_delay_ms.into()))
    }

    pub(crate) fn has_work(&self) -> bool {
        self.given_up.is_none() && (!self.urgent.is_empty() || (!self.tickets.is_empty() && !self.parked))
    }
}

#[derive(Default)]
pub(crate) struct Hosts {
    all: Vec<Host>,
    by_name: HashMap<Box<str>, HostId>,
    /// Hosts with work that may be asked, by the time when.
    line: BinaryHeap<Reverse<(Instant, u64, HostId)>>,
    arrivals: u64,
    /// Hosts that hold a connection without using it, in the order they came to hold it.
    idle: VecDeque<HostId>,
    idle_count: usize,
}

impl Hosts {
    pub(crate) fn id(&mut self, name: &str) -> HostId {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let id = self.all.len() as HostId;
        self.all.push(Host { name: name.into(), ..Host::default() });
        self.by_name.insert(name.into(), id);
        id
    }

    pub(crate) fn get(&mut self, id: HostId) -> &mut Host {
        &mut self.all[id as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Host> {
        self.all.iter()
    }

    /// Lets a host stand in line for a time, if it has work and does not stand there yet.
    pub(crate) fn enqueue(&mut self, id: HostId, at: Instant) {
        let host = &mut self.all[id as usize];
        if host.has_work() && !host.busy && !host.queued {
            host.queued = true;
            self.arrivals += 1;
            self.line.push(Reverse((at, self.arrivals, id)));
        }
    }

    /// When the next host may be asked.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.line.peek().map(|Reverse((at, _, _))| *at)
    }

    /// Takes the first host out of the line if its time has come.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<HostId> {
        let Reverse((at, _, id)) = *self.line.peek()?;
        if at > now {
            return None;
        }
        self.line.pop();
        self.all[id as usize].queued = false;
        Some(id)
    }

    /// Keeps a connection for a host's next request.
    pub(crate) fn keep(&mut self, id: HostId, connection: Connection) {
        self.all[id as usize].connection = Some(connection);
        self.idle.push_back(id);
        self.idle_count += 1;
    }

    /// The connection that was kept for a host.
    pub(crate) fn take_connection(&mut self, id: HostId) -> Option<Connection> {
        let connection = self.all[id as usize].connection.take();
        self.idle_count -= usize::from(connection.is_some());
        connection
    }

    pub(crate) fn idle_connections(&self) -> usize {
        self.idle_count
    }

    /// Closes the connection that has been idle longest.
    pub(crate) fn close_oldest_idle(&mut self) -> bool {
        while let Some(id) = self.idle.pop_front() {
            if self.take_connection(id).is_some() {
                return true;
            }
        }
        false
    }
}
