//! The replay on a virtual clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::history::Feed;
use crate::policy::{ListedEntries, Policy};
use crate::{COUNTED, DAY, DRAIN, WARM_UP};

/// The interval at which a policy is fitted to all feeds.
const REFIT_EVERY: f64 = 4.0 * 3600.0;

/// The score of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// Mean hours from appearance to discovery, over discovered entries.
    pub mean_h: f64,
    /// The 95th percentile of the same.
    pub p95_h: f64,
    /// Entries that left the list before discovery, in per cent.
    pub lost: f64,
    /// Polls per feed and day.
    pub polls_per_day: f64,
    /// Polls without new entries, in per cent.
    pub idle: f64,
}

#[derive(Default)]
struct Counters {
    delays: Vec<f64>,
    lost: usize,
    polls: usize,
    idle: usize,
}

impl Counters {
    fn score(mut self, feeds: usize) -> Score {
        self.delays.sort_by(f64::total_cmp);
        let found = self.delays.len().max(1);
        Score {
            mean_h: self.delays.iter().sum::<f64>() / found as f64 / 3600.0,
            p95_h: self.delays.get(found * 95 / 100).copied().unwrap_or(0.0) / 3600.0,
            lost: 100.0 * self.lost as f64 / (self.lost + self.delays.len()).max(1) as f64,
            polls_per_day: self.polls as f64 / feeds as f64 / (COUNTED / DAY),
            idle: 100.0 * self.idle as f64 / self.polls.max(1) as f64,
        }
    }
}

/// A feed under observation.
struct Follower<'a> {
    feed: &'a Feed,
    /// The number of entries published until the last poll.
    seen: usize,
}

impl Follower<'_> {
    fn poll(&mut self, number: usize, now: f64, policy: &mut dyn Policy, counters: &mut Counters) -> f64 {
        let Feed { times, window, dated } = self.feed;
        let published = self.seen + times[self.seen..].partition_point(|time| *time <= now);
        let first = published.saturating_sub(*window);
        let counted = |time: &&f64| (WARM_UP..WARM_UP + COUNTED).contains(*time);
        let visible = first.max(self.seen);
        if now > 0.0 {
            counters.lost += times[self.seen..visible].iter().filter(counted).count();
            counters.delays.extend(times[visible..published].iter().filter(counted).map(|time| now - time));
        }
        let new = published - visible;
        if counted(&&now) {
            counters.polls += 1;
            counters.idle += usize::from(new == 0);
        }
        self.seen = published;
        policy.next(number, now, &ListedEntries { listed: &times[first..published], first, new, dated: *dated })
    }
}

/// Replays a policy that polls at any time.
pub fn replay(feeds: &[Feed], policy: &mut dyn Policy) -> Score {
    let mut followers: Vec<Follower<'_>> = feeds.iter().map(|feed| Follower { feed, seen: 0 }).collect();
    let mut counters = Counters::default();
    // Milliseconds, because the heap needs a total order.
    let key = |time: f64| (time * 1000.0).ceil() as u64;
    let mut due: BinaryHeap<Reverse<(u64, usize)>> = (0..feeds.len()).map(|number| Reverse((0, number))).collect();
    let mut next_refit = 0.0;
    while let Some(Reverse((time, number))) = due.pop() {
        let now = time as f64 / 1000.0;
        if now > WARM_UP + COUNTED + DRAIN {
            break;
        }
        while next_refit <= now {
            policy.refit();
            next_refit += REFIT_EVERY;
        }
        let next = followers[number].poll(number, now, policy, &mut counters);
        due.push(Reverse((key(next).max(time + 1), number)));
    }
    counters.score(feeds.len())
}

/// Replays a policy that polls only in runs every `cadence` seconds, as with cron.
pub fn replay_in_runs(feeds: &[Feed], policy: &mut dyn Policy, cadence: f64) -> Score {
    let mut followers: Vec<Follower<'_>> = feeds.iter().map(|feed| Follower { feed, seen: 0 }).collect();
    let mut due = vec![0.0; feeds.len()];
    let mut counters = Counters::default();
    let mut now = 0.0;
    while now <= WARM_UP + COUNTED + DRAIN {
        policy.refit();
        for (number, follower) in followers.iter_mut().enumerate() {
            if policy.is_due(number, due[number], now, cadence) {
                due[number] = follower.poll(number, now, policy, &mut counters);
            }
        }
        now += cadence;
    }
    counters.score(feeds.len())
}
