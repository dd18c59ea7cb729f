//! The virtual clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::history::Feed;
use crate::policy::{Policy, Shown};
use crate::{COUNTED, DAY, DRAIN, WARM_UP};

/// How often a policy may look at all feeds together.
const LOOK_EVERY: f64 = 4.0 * 3600.0;

/// How a policy did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// Hours from appearance to discovery, on average over entries that were discovered.
    pub mean_h: f64,
    /// The same for the slowest entry of twenty.
    pub p95_h: f64,
    /// Entries that left the document unseen, in percent.
    pub lost: f64,
    /// Polls of a feed in a day.
    pub polls_per_day: f64,
    /// Polls that showed nothing new, in percent.
    pub idle: f64,
}

#[derive(Default)]
struct Tally {
    delays: Vec<f64>,
    lost: usize,
    polls: usize,
    idle: usize,
}

impl Tally {
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

/// A feed while it is followed.
struct Follower<'a> {
    feed: &'a Feed,
    /// How many entries it had published at the last poll.
    seen: usize,
}

impl Follower<'_> {
    fn poll(&mut self, number: usize, now: f64, policy: &mut dyn Policy, tally: &mut Tally) -> f64 {
        let Feed { times, window, dated } = self.feed;
        let published = self.seen + times[self.seen..].partition_point(|time| *time <= now);
        let first = published.saturating_sub(*window);
        let counted = |time: &&f64| (WARM_UP..WARM_UP + COUNTED).contains(*time);
        let visible = first.max(self.seen);
        if now > 0.0 {
            tally.lost += times[self.seen..visible].iter().filter(counted).count();
            tally.delays.extend(times[visible..published].iter().filter(counted).map(|time| now - time));
        }
        let new = published - visible;
        if counted(&&now) {
            tally.polls += 1;
            tally.idle += usize::from(new == 0);
        }
        self.seen = published;
        policy.next(number, now, &Shown { listed: &times[first..published], first, new, dated: *dated })
    }
}

/// Lets a policy poll whenever it likes.
pub fn replay(feeds: &[Feed], policy: &mut dyn Policy) -> Score {
    let mut followers: Vec<Follower<'_>> = feeds.iter().map(|feed| Follower { feed, seen: 0 }).collect();
    let mut tally = Tally::default();
    // Milliseconds, because a heap wants an order that floating point numbers lack.
    let key = |time: f64| (time * 1000.0).ceil() as u64;
    let mut due: BinaryHeap<Reverse<(u64, usize)>> = (0..feeds.len()).map(|number| Reverse((0, number))).collect();
    let mut next_look = 0.0;
    while let Some(Reverse((time, number))) = due.pop() {
        let now = time as f64 / 1000.0;
        if now > WARM_UP + COUNTED + DRAIN {
            break;
        }
        while next_look <= now {
            policy.look_around();
            next_look += LOOK_EVERY;
        }
        let next = followers[number].poll(number, now, policy, &mut tally);
        due.push(Reverse((key(next).max(time + 1), number)));
    }
    tally.score(feeds.len())
}

/// Lets a policy poll only when a run comes by, every so many seconds, as cron does it.
pub fn replay_in_runs(feeds: &[Feed], policy: &mut dyn Policy, cadence: f64) -> Score {
    let mut followers: Vec<Follower<'_>> = feeds.iter().map(|feed| Follower { feed, seen: 0 }).collect();
    let mut due = vec![0.0; feeds.len()];
    let mut tally = Tally::default();
    let mut now = 0.0;
    while now <= WARM_UP + COUNTED + DRAIN {
        policy.look_around();
        for (number, follower) in followers.iter_mut().enumerate() {
            if policy.wants(number, due[number], now, cadence) {
                due[number] = follower.poll(number, now, policy, &mut tally);
            }
        }
        now += cadence;
    }
    tally.score(feeds.len())
}
