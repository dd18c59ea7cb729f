//! Domains that may not be asked yet: by their own pause, or by the pause of an address that many of them share.
//!
//! Of a group that shares an address the best domain alone is woken when the address is free, so that a thousand blogs
//! of one machine cost one step a pause and not a thousand.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sleeper {
    Domain(u32),
    Group(u64),
}

#[derive(Debug, Default)]
struct Group {
    domains: Members,
    pause: u64,
    scheduled: bool,
}

/// The members of a group by priority.
type Members = BinaryHeap<(Priority, u32)>;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Priority(f64);

impl Eq for Priority {}

impl PartialOrd for Priority {
    fn partial_cmp(&self, other: &Priority) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Priority {
    fn cmp(&self, other: &Priority) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Resting domains by the time at which they wake.
#[derive(Debug, Default)]
pub struct Resting {
    wakes: BinaryHeap<Reverse<(u64, Sleeper)>>,
    groups: HashMap<u64, Group>,
    len: usize,
}

impl Resting {
    /// Whether no domain rests.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// When the next domain wakes.
    pub fn next_wake(&self) -> Option<u64> {
        self.wakes.peek().map(|Reverse((at, _))| *at)
    }

    /// Puts a domain to rest until a time.
    pub fn until(&mut self, domain: u32, at: u64) {
        self.len += 1;
        self.wakes.push(Reverse((at, Sleeper::Domain(domain))));
    }

    /// Puts a domain to rest until its group may be asked.
    pub fn in_group(&mut self, domain: u32, priority: f64, group: u64, now: u64, at: u64) {
        self.len += 1;
        let members = self.groups.entry(group).or_default();
        members.domains.push((Priority(priority), domain));
        members.pause = at.saturating_sub(now).max(1);
        if !members.scheduled {
            members.scheduled = true;
            self.wakes.push(Reverse((at.max(now + 1), Sleeper::Group(group))));
        }
    }

    /// The domains that wake by now: all whose own pause is over, and the best of each group.
    pub fn wake(&mut self, now: u64, mut woken: impl FnMut(u32)) {
        while let Some(Reverse((at, sleeper))) = self.wakes.peek().copied() {
            if at > now {
                return;
            }
            self.wakes.pop();
            match sleeper {
                Sleeper::Domain(domain) => {
                    self.len -= 1;
                    woken(domain);
                }
                Sleeper::Group(group) => {
                    let Some(members) = self.groups.get_mut(&group) else { continue };
                    if let Some((_, domain)) = members.domains.pop() {
                        self.len -= 1;
                        woken(domain);
                    }
                    if members.domains.is_empty() {
                        self.groups.remove(&group);
                    } else {
                        let next = now + members.pause;
                        self.wakes.push(Reverse((next, Sleeper::Group(group))));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn woken(resting: &mut Resting, now: u64) -> Vec<u32> {
        let mut all = Vec::new();
        resting.wake(now, |domain| all.push(domain));
        all
    }

    #[test]
    fn domains_wake_when_their_pause_is_over() {
        let mut resting = Resting::default();
        resting.until(1, 50);
        resting.until(2, 20);
        assert_eq!(resting.next_wake(), Some(20));
        assert!(woken(&mut resting, 19).is_empty());
        assert_eq!(woken(&mut resting, 50), [2, 1]);
        assert!(resting.is_empty());
    }

    #[test]
    fn one_domain_of_an_address_wakes_at_a_time_the_best_first() {
        let mut resting = Resting::default();
        for (domain, priority) in [(1, 0.1), (2, 0.9), (3, 0.5)] {
            resting.in_group(domain, priority, 7, 100, 110);
        }
        assert!(woken(&mut resting, 109).is_empty());
        assert_eq!(woken(&mut resting, 110), [2]);
        assert!(woken(&mut resting, 119).is_empty());
        assert_eq!(woken(&mut resting, 120), [3]);
        assert_eq!(woken(&mut resting, 130), [1]);
        assert!(resting.is_empty());
    }
}
