//! One number for all feeds, and from it the next turn of each.

use jiff::Timestamp;

use super::server_hints::{PollFailure, ServerHints, MAX_BACKOFF_S};
use super::{DAY_S, HOUR_S, PublishingRate, later, seconds_between};

/// Between two polls no more than this share of a document may be replaced, by what is expected.
const SAFE_SHARE: f64 = 0.5;
/// A turn comes this much earlier or later than planned, so that feeds do not march in step.
const JITTER: f64 = 0.1;
/// The policy is fitted to as many feeds at most; more would not change it.
const SAMPLED_FEEDS: usize = 10_000;
/// Runs further apart than this say nothing about when the next one comes.
const LONGEST_CADENCE_S: f64 = 6.0 * HOUR_S;

/// What polling may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Polls a day of an average feed.
    pub polls_per_day: f64,
    /// No feed is asked more often than this, in seconds.
    pub min_interval_s: f64,
    /// No feed that answers is asked less often than this, in seconds.
    pub max_interval_s: f64,
    /// Runs come by about every so many seconds; nothing if there is always one.
    pub cadence_s: f64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { polls_per_day: 6.0, min_interval_s: 900.0, max_interval_s: 2.0 * DAY_S, cadence_s: 0.0 }
    }
}

/// When a feed's turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextPoll {
    /// When it should be asked.
    pub due: Timestamp,
    /// It must not be asked before this, whoever comes by.
    pub not_before: Timestamp,
}

/// How densely feeds are polled: the c of T = c/√λ, such that the budget is met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PollPolicy {
    budget: Budget,
    c: f64,
}

/// What decides how often a feed is polled at an hour of the day, apart from the policy.
#[derive(Clone, Copy)]
struct PollDemand {
    /// The root of what it publishes then.
    root: f64,
    /// Polls a day that its window needs then.
    needed: f64,
}

impl PollPolicy {
    /// The policy at which these feeds together cost what the budget allows. What the windows of
    /// feeds need comes first: where that alone exceeds the budget, it is exceeded.
    pub fn fit(budget: Budget, feeds: &[&PublishingRate]) -> PollPolicy {
        let mut policy = PollPolicy { budget, c: 1.0 };
        let stride = feeds.len().div_ceil(SAMPLED_FEEDS).max(1);
        let demands: Vec<[PollDemand; 24]> = feeds.iter().step_by(stride).map(|publishing| demands(publishing)).collect();
        if demands.is_empty() {
            return policy;
        }
        let wanted = budget.polls_per_day * demands.len() as f64;
        // Polls fall as c grows, so the right one is between two wrong ones.
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

    /// Polls a day at an hour with this demand.
    fn density(&self, demand: &PollDemand) -> f64 {
        let wanted = (demand.root / self.c).max(demand.needed);
        // Polls between two runs would be paid for and never made.
        let shortest_s = self.budget.min_interval_s.max(self.budget.cadence_s.min(LONGEST_CADENCE_S));
        wanted.max(DAY_S / self.budget.max_interval_s).min(DAY_S / shortest_s)
    }

    /// Polls a day that a feed is worth.
    pub fn polls_per_day(&self, publishing: &PublishingRate) -> f64 {
        demands(publishing).iter().map(|demand| self.density(demand) / 24.0).sum()
    }

    /// The next turn of a feed that was asked just now and answered well.
    pub fn next_poll(&self, publishing: &PublishingRate, now: Timestamp, seed: u64, hints: &ServerHints) -> NextPoll {
        let demands = demands(publishing);
        let mut left = 1.0 + JITTER * (2.0 * unit(seed, now) - 1.0);
        let mut wait_s = 0.0;
        let mut second_of_day = now.as_second().rem_euclid(86_400) as f64;
        // Density adds up hour by hour until it makes one poll.
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
        // A server's hint that would cost entries was not meant that way.
        let safe_s = self.safe_s(publishing);
        let not_before = hints.not_before(now, safe_s).max(later(now, self.budget.min_interval_s));
        let due = hints.outside_skipped(later(now, wait_s).max(not_before), later(now, safe_s));
        NextPoll { due, not_before }
    }

    /// The turn of a feed that was `planned` when it was last asked, as it stands at this policy: the
    /// budget may have grown since then, or other feeds may need less of it than was thought.
    pub fn revised(&self, planned: NextPoll, publishing: &PublishingRate, asked: Timestamp, seed: u64, hints: &ServerHints) -> NextPoll {
        let now_planned = self.next_poll(publishing, asked, seed, hints);
        NextPoll { due: planned.due.min(now_planned.due).max(planned.not_before), ..planned }
    }

    /// The next turn of a feed that failed, and not for the first time perhaps.
    pub fn after_failure(&self, publishing: &PublishingRate, now: Timestamp, seed: u64, hints: &ServerHints, failure: PollFailure) -> NextPoll {
        let usual_s = (DAY_S / self.polls_per_day(publishing)).min(DAY_S / 2.0);
        let mut wait_s = (usual_s + failure.backoff_s()).min(MAX_BACKOFF_S);
        if failure.may_be_transient() {
            // It may be over in a minute, and a feed that forgets quickly is worth another look.
            wait_s = wait_s.min(self.safe_s(publishing));
        }
        let wait_s = wait_s * (1.0 + JITTER * (2.0 * unit(seed, now) - 1.0));
        let not_before = hints.not_before(now, f64::INFINITY).max(later(now, self.budget.min_interval_s));
        NextPoll { due: later(now, wait_s).max(not_before), not_before }
    }

    /// How long a feed may be left alone without losing entries, by how far its document reaches.
    fn safe_s(&self, publishing: &PublishingRate) -> f64 {
        publishing.window_age_s.map_or(f64::INFINITY, |age| (age * SAFE_SHARE).max(self.budget.min_interval_s))
    }
}

impl NextPoll {
    /// Whether it has come, for a feed last asked at `asked` and a run that comes by every
    /// `cadence_s` seconds or so.
    ///
    /// A run that comes every four hours would, if it took only what is overdue, add two hours to
    /// every interval. So it takes what is nearer to this run than to the next.
    pub fn is_due(&self, asked: Timestamp, now: Timestamp, cadence_s: f64) -> bool {
        let interval_s = seconds_between(asked, self.due).max(0.0);
        let early_s = (cadence_s.clamp(0.0, LONGEST_CADENCE_S) / 2.0).min(interval_s / 2.0);
        // A last poll in the future is from a clock that was wrong.
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

/// A number from 0 to 1 that looks random and is the same for the same feed and time.
fn unit(seed: u64, now: Timestamp) -> f64 {
    let mut x = seed ^ (now.as_second() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for _ in 0..2 {
        x = (x ^ (x >> 31)).wrapping_mul(0x7fb5_d329_728e_a185);
        x = (x ^ (x >> 27)).wrapping_mul(0x81da_def4_bc2d_d44d);
    }
    (x >> 11) as f64 / (1u64 << 53) as f64
}
