//! Domains that may not be asked yet: by their own pause, or by the pause of an address that many of them share.
//!
//! Of a group that shares an address the best domain alone is woken when the address is free, so that a thousand blogs
//! of one machine cost one step a pause and not a thousand. Their priorities are those of their last draws: the caller
//! renews some of them whenever the group is due, or one lucky site would keep the address for itself.

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
    /// The domains with the priority of their last draw, in no order: the best is searched once a pause.
    members: Vec<(u32, f64)>,
    pause: u64,
    wakes_at: u64,
}

/// What wakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// A domain whose own pause is over.
    Domain(u32),
    /// The domains of an address, of which [`Resting::wake_best`] takes one.
    Group(u64),
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
    pub fn next_wake(&mut self) -> Option<u64> {
        // Groups that woke earlier leave their first time behind.
        while let Some(Reverse((at, Sleeper::Group(group)))) = self.wakes.peek()
            && self.groups.get(group).is_none_or(|group| group.wakes_at != *at)
        {
            self.wakes.pop();
        }
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
        let at = at.max(now + 1);
        let known = self.groups.entry(group).or_insert_with(|| Group { wakes_at: u64::MAX, ..Group::default() });
        known.members.push((domain, priority));
        known.pause = at - now;
        self.wake_group_at(group, at);
    }

    /// The group may be asked at a time, earlier than was known.
    pub fn wake_group_at(&mut self, group: u64, at: u64) {
        if let Some(known) = self.groups.get_mut(&group)
            && at < known.wakes_at
        {
            known.wakes_at = at;
            self.wakes.push(Reverse((at, Sleeper::Group(group))));
        }
    }

    /// What wakes by now, one at a time.
    pub fn due(&mut self, now: u64) -> Option<Due> {
        if self.next_wake()? > now {
            return None;
        }
        let Reverse((_, sleeper)) = self.wakes.pop()?;
        Some(match sleeper {
            Sleeper::Domain(domain) => {
                self.len -= 1;
                Due::Domain(domain)
            }
            Sleeper::Group(group) => Due::Group(group),
        })
    }

    /// The number of domains of a group.
    pub fn members(&self, group: u64) -> usize {
        self.groups.get(&group).map_or(0, |group| group.members.len())
    }

    /// A domain of a group, whose priority can be changed.
    pub fn member(&mut self, group: u64, at: usize) -> Option<&mut (u32, f64)> {
        self.groups.get_mut(&group)?.members.get_mut(at)
    }

    /// Wakes the best domain of a group that is due; the others wait for another pause. Domains that `rests` does not
    /// hold for, because they were closed, leave the group.
    pub fn wake_best(&mut self, group: u64, now: u64, rests: impl Fn(u32) -> bool) -> Option<u32> {
        let Group { members, pause, wakes_at } = self.groups.get_mut(&group)?;
        let before = members.len();
        members.retain(|(domain, _)| rests(*domain));
        let best = (0..members.len()).max_by(|one, other| members[*one].1.total_cmp(&members[*other].1));
        let woken = best.map(|best| members.swap_remove(best).0);
        self.len -= before - members.len();
        if members.is_empty() {
            self.groups.remove(&group);
        } else {
            *wakes_at = now + *pause;
            self.wakes.push(Reverse((*wakes_at, Sleeper::Group(group))));
        }
        woken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn woken(resting: &mut Resting, now: u64) -> Vec<u32> {
        let mut all = Vec::new();
        while let Some(due) = resting.due(now) {
            all.extend(match due {
                Due::Domain(domain) => Some(domain),
                Due::Group(group) => resting.wake_best(group, now, |domain| domain != 9),
            });
        }
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
    #[test]
    fn the_best_is_that_of_the_last_draws_and_closed_domains_leave() {
        let mut resting = Resting::default();
        for (domain, priority) in [(1, 0.1), (9, 0.9), (3, 0.5)] {
            resting.in_group(domain, priority, 7, 100, 110);
        }
        assert_eq!(resting.members(7), 3);
        *resting.member(7, 0).unwrap() = (1, 0.8);
        assert_eq!(woken(&mut resting, 110), [1]);
        assert_eq!(woken(&mut resting, 120), [3]);
        assert!(resting.is_empty() && resting.next_wake().is_none());
    }

    #[test]
    fn a_group_wakes_when_its_address_is_free_earlier_than_was_known() {
        let mut resting = Resting::default();
        resting.in_group(1, 0.5, 7, 0, 1_000);
        resting.in_group(2, 0.4, 7, 0, 1_000);
        resting.wake_group_at(7, 50);
        resting.wake_group_at(8, 50);
        assert_eq!(resting.next_wake(), Some(50));
        assert_eq!(woken(&mut resting, 50), [1]);
        assert!(woken(&mut resting, 1_049).is_empty());
        assert_eq!(woken(&mut resting, 1_050), [2]);
        assert!(resting.is_empty());
    }
}
