//! Politeness per IP address: one request at a time and a pause, whatever names the address has.
//!
//! Two names of one machine are two hosts of the frontier with a delay each, but one machine answers both. Each
//! address therefore has a slot, which a host takes for the time of a request. Hosts that find it taken wait in line
//! without a place among the concurrent requests, so a thousand names of one address do not stop the others.
//!
//! A waiting host is woken by the end of the request before it, and only one host per address is awake at a time.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use crate::frontier::HostId;
use crate::guard::Network;
use crate::settings::Settings;

/// Connection attempts in a row without a response after which the other hosts of an address are postponed: each would
/// cost the full timeout, one after the other.
const MAX_CONNECT_TIMEOUTS: u8 = 3;

/// The answer to a host that wants to send a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Acquired {
    /// The slot is taken for the host.
    Taken,
    /// The host waits in line until [`AddressSlots::wake`] names it.
    Waits,
    /// Nothing answers at the address.
    Unreachable,
}

/// The slots of all addresses of a crawl.
pub(crate) struct AddressSlots {
    slots: HashMap<IpAddr, Slot>,
    pause: Duration,
    /// End of the pause after the requests of an earlier crawl, whose addresses are not known.
    opens_at: Duration,
    /// Networks without a limit per address.
    shared: Vec<Network>,
}

#[derive(Default)]
struct Slot {
    taken: bool,
    /// End of the pause after the last request.
    free_at: Duration,
    waiting: VecDeque<HostId>,
    /// The host that was woken and has not had its turn yet.
    woken: Option<HostId>,
    connect_timeouts: u8,
}

impl AddressSlots {
    /// Slots that open `idle_for` after the last request of an earlier crawl, if one is known. The pause per address is
    /// never longer than the delay per host.
    pub(crate) fn new(settings: &Settings, idle_for: Option<Duration>) -> AddressSlots {
        let pause = settings.ip_delay.min(settings.delay);
        AddressSlots {
            slots: HashMap::new(),
            pause,
            opens_at: idle_for.map_or(Duration::ZERO, |idle| pause.saturating_sub(idle)),
            shared: settings.shared_networks.clone(),
        }
    }

    /// Pause after a request to an address; `None` if the address is in a shared network.
    pub(crate) fn pause(&self, ip: IpAddr) -> Option<Duration> {
        (!self.is_shared(ip)).then_some(self.pause)
    }

    fn is_shared(&self, ip: IpAddr) -> bool {
        self.shared.iter().any(|network| network.contains(ip.to_canonical()))
    }

    /// Takes the slot of an address for a host, or puts the host in line.
    pub(crate) fn acquire(&mut self, ip: IpAddr, host: HostId, now: Duration) -> Acquired {
        if self.is_shared(ip) {
            return Acquired::Taken;
        }
        let opens_at = self.opens_at;
        let slot = self.slots.entry(ip).or_insert_with(|| Slot { free_at: opens_at, ..Slot::default() });
        slot.woken = slot.woken.filter(|woken| *woken != host);
        if slot.connect_timeouts >= MAX_CONNECT_TIMEOUTS {
            return Acquired::Unreachable;
        }
        if slot.taken || now < slot.free_at {
            slot.waiting.push_back(host);
            return Acquired::Waits;
        }
        slot.taken = true;
        Acquired::Taken
    }

    /// Frees the slot of an address, with a pause from a time if something was sent.
    pub(crate) fn release(&mut self, ip: IpAddr, sent_until: Option<Duration>) {
        let pause = self.pause;
        if let Some(slot) = self.slots.get_mut(&ip) {
            slot.taken = false;
            slot.free_at = sent_until.map_or(slot.free_at, |until| until + pause);
        }
    }

    /// Notes whether a connection to an address opened or timed out.
    pub(crate) fn note_connect(&mut self, ip: IpAddr, timed_out: bool) {
        if let Some(slot) = self.slots.get_mut(&ip) {
            slot.connect_timeouts = if timed_out { slot.connect_timeouts.saturating_add(1) } else { 0 };
        }
    }

    /// Forgets addresses that were not used since a time.
    pub(crate) fn forget_idle(&mut self, since: Duration) {
        self.slots
            .retain(|_, slot| slot.taken || slot.woken.is_some() || !slot.waiting.is_empty() || slot.free_at > since);
    }

    /// The turn of a host is over. Wakes the next host of the address if its slot is not taken: returns it with the
    /// time of its turn.
    pub(crate) fn wake(&mut self, ip: IpAddr, ended: HostId) -> Option<(HostId, Duration)> {
        let slot = self.slots.get_mut(&ip)?;
        slot.woken = slot.woken.filter(|woken| *woken != ended);
        if slot.taken || slot.woken.is_some() {
            return None;
        }
        slot.woken = slot.waiting.pop_front();
        slot.woken.map(|host| (host, slot.free_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn slots(idle_for: Option<Duration>) -> AddressSlots {
        let shared_networks = vec!["10.9.0.0/16".parse().unwrap()];
        let settings = Settings { ip_delay: SECOND * 2, shared_networks, ..Settings::default() };
        AddressSlots::new(&settings, idle_for)
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_has_one_request_at_a_time_and_a_pause_after_it() {
        let (mut slots, one) = (slots(None), ip("10.0.0.1"));
        assert_eq!(slots.acquire(one, 1, SECOND), Acquired::Taken);
        assert_eq!(slots.acquire(one, 2, SECOND), Acquired::Waits);
        assert_eq!(slots.wake(one, 2), None, "the slot is taken");
        slots.release(one, Some(SECOND * 3));
        assert_eq!(slots.wake(one, 1), Some((2, SECOND * 5)));
        assert_eq!(slots.acquire(one, 1, SECOND * 4), Acquired::Waits, "the pause is not over");
        assert_eq!(slots.wake(one, 1), None, "host 2 is awake");
        assert_eq!(slots.acquire(one, 2, SECOND * 5), Acquired::Taken);
        assert_eq!(slots.acquire(ip("10.0.0.2"), 3, SECOND * 5), Acquired::Taken);
    }

    #[test]
    fn a_woken_host_that_sends_nothing_passes_its_turn_on() {
        let (mut slots, one) = (slots(None), ip("10.0.0.1"));
        assert_eq!(slots.acquire(one, 1, SECOND), Acquired::Taken);
        assert_eq!((slots.acquire(one, 2, SECOND), slots.acquire(one, 3, SECOND)), (Acquired::Waits, Acquired::Waits));
        slots.release(one, None);
        assert_eq!(slots.wake(one, 1), Some((2, Duration::ZERO)));
        assert_eq!(slots.wake(one, 2), Some((3, Duration::ZERO)));
        assert_eq!(slots.wake(one, 3), None);
    }

    #[test]
    fn addresses_that_rest_are_forgotten_and_others_are_not() {
        let (mut slots, one) = (slots(None), ip("10.0.0.1"));
        assert_eq!(slots.acquire(one, 1, SECOND), Acquired::Taken);
        slots.forget_idle(SECOND * 1000);
        assert_eq!(slots.acquire(one, 2, SECOND), Acquired::Waits, "it is taken");
        slots.release(one, Some(SECOND * 3));
        slots.forget_idle(SECOND * 1000);
        assert_eq!(slots.wake(one, 1), Some((2, SECOND * 5)), "a host waits for it");
        assert_eq!(slots.acquire(one, 2, SECOND * 5), Acquired::Taken);
        slots.release(one, Some(SECOND * 6));
        slots.forget_idle(SECOND * 1000);
        assert!(slots.slots.is_empty());
    }

    #[test]
    fn addresses_of_shared_networks_have_no_limit() {
        let (mut slots, shared) = (slots(None), ip("10.9.1.1"));
        assert_eq!(
            (slots.acquire(shared, 1, SECOND), slots.acquire(shared, 2, SECOND)),
            (Acquired::Taken, Acquired::Taken)
        );
        slots.release(shared, Some(SECOND));
        assert_eq!((slots.wake(shared, 1), slots.pause(shared)), (None, None));
    }

    #[test]
    fn the_pause_after_an_earlier_crawl_holds_for_all_addresses() {
        let mut slots = slots(Some(SECOND));
        assert_eq!(slots.acquire(ip("10.0.0.1"), 1, Duration::ZERO), Acquired::Waits);
        assert_eq!(slots.wake(ip("10.0.0.1"), 1), Some((1, SECOND)));
        assert_eq!(slots.acquire(ip("10.0.0.1"), 1, SECOND), Acquired::Taken);
    }

    #[test]
    fn the_pause_is_never_longer_than_the_delay_of_hosts() {
        let settings = Settings { delay: Duration::ZERO, ..Settings::default() };
        assert_eq!(AddressSlots::new(&settings, None).pause(ip("10.0.0.1")), Some(Duration::ZERO));
    }

    #[test]
    fn an_address_that_accepts_no_connection_three_times_is_unreachable() {
        let (mut slots, one) = (slots(None), ip("10.0.0.1"));
        for (host, timed_out, acquired) in [
            (1, true, Acquired::Taken),
            (2, true, Acquired::Taken),
            (3, false, Acquired::Taken),
            (1, true, Acquired::Taken),
            (2, true, Acquired::Taken),
            (3, true, Acquired::Taken),
            (4, true, Acquired::Unreachable),
        ] {
            assert_eq!(slots.acquire(one, host, SECOND), acquired, "host {host}");
            slots.note_connect(one, timed_out);
            slots.release(one, None);
        }
    }
}
