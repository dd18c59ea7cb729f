//! The poll policy: distributes a budget of polls over all feeds.

use jiff::Timestamp;

use super::server_hints::{MAX_BACKOFF_S, PollFailure, ServerHints};
use super::{DAY_S, HOUR_S, PublishingRate, later, seconds_between};

/// The maximum share of a window that may be replaced between two polls, in expectation.
const SAFE_SHARE: f64 = 0.5;
/// Relative jitter of poll times, so that feeds do not synchronise.
const JITTER: f64 = 0.1;
/// The policy is fitted to a sample of at most this many feeds.
const SAMPLED_FEEDS: usize = 10_000;
/// Longer gaps between runs do not predict the next run.
const LONGEST_CADENCE_S: f64 = 6.0 * HOUR_S;

/// Mean polls per day of a feed, if nothing else is asked for.
const FEED_POLLS: f64 = 6.0;
/// Mean polls per day of a front page or section page, whose server rarely says that it is unchanged. Pages with five
/// articles a day in working hours cost 2.6 polls by intervals × 0.8 / × 1.5; with fewer than 2 the median delay of steadily
/// publishing ones is over two hours (bench/schedule).
const PAGE_POLLS: f64 = 2.3;

/// The cost limits of polling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Mean polls per feed and day.
    pub polls_per_day: f64,
    /// The minimum interval between polls of a feed, in seconds.
    pub min_interval_s: f64,
    /// The maximum interval of a responding feed, in seconds.
    pub max_interval_s: f64,
    /// The interval between runs, in seconds; 0 if polling is continuous.
    pub cadence_s: f64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { polls_per_day: FEED_POLLS, min_interval_s: 900.0, max_interval_s: 2.0 * DAY_S, cadence_s: 0.0 }
    }
}

impl Budget {
    /// The default of pages of sites without feeds.
    pub fn of_pages() -> Budget {
        Budget { polls_per_day: PAGE_POLLS, ..Budget::default() }
    }
}

/// The time of a feed's next poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextPoll {
    /// The time when it is due.
    pub due: Timestamp,
    /// The earliest permitted time, whichever run comes by.
    pub not_before: Timestamp,
}

/// The polling density of all feeds: the c of T = c/√λ that meets the budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PollPolicy {
    budget: Budget,
    c: f64,
}

/// The demand of a feed at one hour of the day, before scaling by c.
#[derive(Clone, Copy)]
struct PollDemand {
    /// The square root of its weighted rate.
    root: f64,
    /// Polls per day required by its window.
    needed: f64,
}

impl PollPolicy {
    /// Fits c to the budget by bisection. The demand of windows comes first: if it alone exceeds the budget, the
    /// budget is exceeded.
    pub fn fit(budget: Budget, feeds: &[&PublishingRate]) -> PollPolicy {
        let mut policy = PollPolicy { budget, c: 1.0 };
        let stride = feeds.len().div_ceil(SAMPLED_FEEDS).max(1);
        let demands: Vec<[PollDemand; 24]> =
            feeds.iter().step_by(stride).map(|publishing| demands(publishing)).collect();
        if demands.is_empty() {
            return policy;
        }
        let wanted = budget.polls_per_day * demands.len() as f64;
        // The number of polls decreases in c, so bisect.
        let (mut low, mut high) = (1e-4f64, 1e4f64);
        for _ in 0..26 {
            policy.c = (low * high).sqrt();
            let polls: f64 = demands.iter().flatten().map(|demand| policy.density(demand) / 24.0).sum();
            if polls > wanted {
                low = policy.c;
            } else {
                high = policy.c;
            }
        }
        policy
    }

    /// Polls per day at an hour with this demand.
    fn density(&self, demand: &PollDemand) -> f64 {
        let wanted = (demand.root / self.c).max(demand.needed);
        // Polls between two runs would be counted but never made.
        let shortest_s = self.budget.min_interval_s.max(self.budget.cadence_s.min(LONGEST_CADENCE_S));
        wanted.max(DAY_S / self.budget.max_interval_s).min(DAY_S / shortest_s)
    }

    /// Polls per day of a feed.
    pub fn polls_per_day(&self, publishing: &PublishingRate) -> f64 {
        demands(publishing).iter().map(|demand| self.density(demand) / 24.0).sum()
    }

    /// The next poll after a successful one.
    pub fn next_poll(&self, publishing: &PublishingRate, now: Timestamp, seed: u64, hints: &ServerHints) -> NextPoll {
        let demands = demands(publishing);
        let mut left = 1.0 + JITTER * (2.0 * unit(seed, now) - 1.0);
        let mut wait_s = 0.0;
        let mut second_of_day = now.as_second().rem_euclid(86_400) as f64;
        // Integrate the density by the hour until it reaches one poll.
        loop {
            let density = self.density(&demands[(second_of_day / HOUR_S) as usize % 24]);
            let step_s = HOUR_S - second_of_day % HOUR_S;
            let gain = density * step_s / DAY_S;
            if gain >= left {
                wait_s += step_s * left / gain;
                break;
            }
            left -= gain;
            wait_s += step_s;
            second_of_day = (second_of_day + step_s) % DAY_S;
        }
        let wait_s = wait_s.clamp(self.budget.min_interval_s, self.budget.max_interval_s);
        // Ignore a server hint that would lose entries.
        let safe_s = self.safe_s(publishing);
        let not_before = hints.not_before(now, safe_s).max(later(now, self.budget.min_interval_s));
        let due = hints.outside_skipped(later(now, wait_s).max(not_before), later(now, safe_s));
        NextPoll { due, not_before }
    }

    /// Revises a planned poll under the current policy: the budget may have grown since, or other feeds may need
    /// less of it.
    pub fn revised(
        &self,
        planned: NextPoll,
        publishing: &PublishingRate,
        asked: Timestamp,
        seed: u64,
        hints: &ServerHints,
    ) -> NextPoll {
        let now_planned = self.next_poll(publishing, asked, seed, hints);
        NextPoll { due: planned.due.min(now_planned.due).max(planned.not_before), ..planned }
    }

    /// The longest time from now until a poll, by the rules of this policy.
    pub fn longest_wait_s(&self) -> f64 {
        // Skipped days come on top of an interval.
        self.budget.max_interval_s.max(MAX_BACKOFF_S * (1.0 + JITTER)) + 7.0 * DAY_S
    }

    /// Bounds a remembered poll by the rules of this policy. If the last poll is in the future, or the next one later
    /// than the rules allow, the clock was ahead then, and the feed is due now. `failures` is the number of failed
    /// polls in a row.
    pub fn bounded(&self, planned: NextPoll, asked: Timestamp, now: Timestamp, failures: u32) -> NextPoll {
        let longest_s = match failures {
            0 => self.budget.max_interval_s * (1.0 + JITTER) + 7.0 * DAY_S,
            _ => self.longest_wait_s(),
        };
        let is_too_late = |time: Timestamp| seconds_between(now, time) > longest_s;
        if asked > now || is_too_late(planned.due) || is_too_late(planned.not_before) {
            return NextPoll { due: now, not_before: now };
        }
        planned
    }

    /// The next poll after a failure: the usual interval plus a linear backoff.
    pub fn after_failure(
        &self,
        publishing: &PublishingRate,
        now: Timestamp,
        seed: u64,
        hints: &ServerHints,
        failure: PollFailure,
    ) -> NextPoll {
        let usual_s = (DAY_S / self.polls_per_day(publishing)).min(DAY_S / 2.0);
        let mut wait_s = (usual_s + failure.backoff_s()).min(MAX_BACKOFF_S);
        if failure.may_be_transient() {
            // The failure may be transient, and a short window would lose entries.
            wait_s = wait_s.min(self.safe_s(publishing));
        }
        let wait_s = wait_s * (1.0 + JITTER * (2.0 * unit(seed, now) - 1.0));
        let not_before = hints.not_before(now, f64::INFINITY).max(later(now, self.budget.min_interval_s));
        NextPoll { due: later(now, wait_s).max(not_before), not_before }
    }

    /// The longest interval without loss of entries, by the window age.
    fn safe_s(&self, publishing: &PublishingRate) -> f64 {
        publishing.window_age_s.map_or(f64::INFINITY, |age| (age * SAFE_SHARE).max(self.budget.min_interval_s))
    }
}

impl NextPoll {
    /// Returns true if the feed should be polled now. `asked` is its last poll, `cadence_s` the interval between runs.
    ///
    /// A run every four hours that polled only overdue feeds would add two hours to every interval, so it takes feeds
    /// that are nearer to this run than to the next.
    pub fn is_due(&self, asked: Timestamp, now: Timestamp, cadence_s: f64) -> bool {
        let interval_s = seconds_between(asked, self.due).max(0.0);
        let early_s = (cadence_s.clamp(0.0, LONGEST_CADENCE_S) / 2.0).min(interval_s / 2.0);
        // A last poll in the future comes from a wrong clock.
        asked > now || (self.not_before <= now && seconds_between(now, self.due) <= early_s)
    }
}

fn demands(publishing: &PublishingRate) -> [PollDemand; 24] {
    let listed = publishing.window.len() as f64;
    let by_age = publishing.window_age_s.map_or(0.0, |age| DAY_S / (age * SAFE_SHARE).max(1.0));
    let yield_weight = publishing.yield_weight.clamp(0.1, 10.0);
    publishing.rates().map(|rate| {
        let by_rate = if listed > 1.0 { rate / (listed * SAFE_SHARE) } else { 0.0 };
        PollDemand { root: (rate * yield_weight).sqrt(), needed: by_rate.max(by_age) }
    })
}

/// A pseudo-random number from 0 to 1, determined by feed and time.
fn unit(seed: u64, now: Timestamp) -> f64 {
    let mut x = seed ^ (now.as_second() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for _ in 0..2 {
        x = (x ^ (x >> 31)).wrapping_mul(0x7fb5_d329_728e_a185);
        x = (x ^ (x >> 27)).wrapping_mul(0x81da_def4_bc2d_d44d);
    }
    (x >> 11) as f64 / (1u64 << 53) as f64
}
