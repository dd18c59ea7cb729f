//! One number for all feeds, and from it the next turn of each.

use jiff::Timestamp;

use super::hints::{Failure, Hints, MOST_PATIENCE_S};
use super::{DAY_S, HOUR_S, Pulse, later, seconds_between};

/// Between two polls no more than this share of a document may be replaced, by what is expected.
const SAFE_SHARE: f64 = 0.5;
/// A turn comes this much earlier or later than planned, so that feeds do not march in step.
const JITTER: f64 = 0.1;
/// The tempo is fitted to as many feeds at most; more would not change it.
const ENOUGH_FEEDS: usize = 10_000;
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
pub struct Turn {
    /// When it should be asked.
    pub due: Timestamp,
    /// It must not be asked before this, whoever comes by.
    pub not_before: Timestamp,
}

/// How densely feeds are polled: the c of T = c/√λ, such that the budget is met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tempo {
    budget: Budget,
    c: f64,
}

/// What decides how often a feed is polled at an hour of the day, apart from the tempo.
#[derive(Clone, Copy)]
struct Claim {
    /// The root of what it publishes then.
    root: f64,
    /// Polls a day that its window needs then.
    needed: f64,
}

impl Tempo {
    /// The tempo at which these feeds together cost what the budget allows. What the windows of
    /// feeds need comes first: where that alone exceeds the budget, it is exceeded.
    pub fn fit(budget: Budget, feeds: &[&Pulse]) -> Tempo {
        let mut tempo = Tempo { budget, c: 1.0 };
        let stride = feeds.len().div_ceil(ENOUGH_FEEDS).max(1);
        let claims: Vec<[Claim; 24]> = feeds.iter().step_by(stride).map(|pulse| claims(pulse)).collect();
        if claims.is_empty() {
            return tempo;
        }
        let wanted = budget.polls_per_day * claims.len() as f64;
        // Polls fall as c grows, so the right one is between two wrong ones.
        let (mut low, mut high) = (1e-4f64, 1e4f64);
        for _ in 0..26 {
            tempo.c = (low * high).sqrt();
            let polls: f64 = claims.iter().flatten().map(|claim| tempo.density(claim) / 24.0).sum();
            if polls > wanted {
                low = tempo.c;
            } else {
                high = tempo.c;
            }
        }
        tempo
    }

    /// Polls a day at an hour with this claim.
    fn density(&self, claim: &Claim) -> f64 {
        let wanted = (claim.root / self.c).max(claim.needed);
        // Polls between two runs would be paid for and never made.
        let shortest_s = self.budget.min_interval_s.max(self.budget.cadence_s.min(LONGEST_CADENCE_S));
        wanted.max(DAY_S / self.budget.max_interval_s).min(DAY_S / shortest_s)
    }

    /// Polls a day that a feed is worth.
    pub fn polls_per_day(&self, pulse: &Pulse) -> f64 {
        claims(pulse).iter().map(|claim| self.density(claim) / 24.0).sum()
    }

    /// The next turn of a feed that was asked just now and answered well.
    pub fn next(&self, pulse: &Pulse, now: Timestamp, seed: u64, hints: &Hints) -> Turn {
        let claims = claims(pulse);
        let mut left = 1.0 + JITTER * (2.0 * unit(seed, now) - 1.0);
        let mut wait_s = 0.0;
        let mut second_of_day = now.as_second().rem_euclid(86_400) as f64;
        // Density adds up hour by hour until it makes one poll.
        loop {
            let density = self.density(&claims[(second_of_day / HOUR_S) as usize % 24]);
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
        let safe_s = self.safe_s(pulse);
        let not_before = hints.not_before(now, safe_s).max(later(now, self.budget.min_interval_s));
        let due = hints.outside_skipped(later(now, wait_s).max(not_before), later(now, safe_s));
        Turn { due, not_before }
    }

    /// The turn of a feed that was `planned` when it was last asked, as it stands at this tempo: the
    /// budget may have grown since then, or other feeds may need less of it than was thought.
    pub fn revised(&self, planned: Turn, pulse: &Pulse, asked: Timestamp, seed: u64, hints: &Hints) -> Turn {
        let now_planned = self.next(pulse, asked, seed, hints);
        Turn { due: planned.due.min(now_planned.due).max(planned.not_before), ..planned }
    }

    /// The next turn of a feed that failed, and not for the first time perhaps.
    pub fn after_failure(&self, pulse: &Pulse, now: Timestamp, seed: u64, hints: &Hints, failure: Failure) -> Turn {
        let usual_s = (DAY_S / self.polls_per_day(pulse)).min(DAY_S / 2.0);
        let mut wait_s = (usual_s + failure.patience_s()).min(MOST_PATIENCE_S);
        if failure.may_pass() {
            // It may be over in a minute, and a feed that forgets quickly is worth another look.
            wait_s = wait_s.min(self.safe_s(pulse));
        }
        let wait_s = wait_s * (1.0 + JITTER * (2.0 * unit(seed, now) - 1.0));
        let not_before = hints.not_before(now, f64::INFINITY).max(later(now, self.budget.min_interval_s));
        Turn { due: later(now, wait_s).max(not_before), not_before }
    }

    /// How long a feed may be left alone without losing entries, by how far its document reaches.
    fn safe_s(&self, pulse: &Pulse) -> f64 {
        pulse.reach_s.map_or(f64::INFINITY, |reach| (reach * SAFE_SHARE).max(self.budget.min_interval_s))
    }
}

impl Turn {
    /// Whether it has come, for a feed last asked at `asked` and a run that comes by every
    /// `cadence_s` seconds or so.
    ///
    /// A run that comes every four hours would, if it took only what is overdue, add two hours to
    /// every interval. So it takes what is nearer to this run than to the next.
    pub fn has_come(&self, asked: Timestamp, now: Timestamp, cadence_s: f64) -> bool {
        let interval_s = seconds_between(asked, self.due).max(0.0);
        let early_s = (cadence_s.clamp(0.0, LONGEST_CADENCE_S) / 2.0).min(interval_s / 2.0);
        // A last poll in the future is from a clock that was wrong.
        asked > now || (self.not_before <= now && seconds_between(now, self.due) <= early_s)
    }
}

fn claims(pulse: &Pulse) -> [Claim; 24] {
    let listed = pulse.window.len() as f64;
    let by_reach = pulse.reach_s.map_or(0.0, |reach| DAY_S / (reach * SAFE_SHARE).max(1.0));
    let worth = pulse.worth.clamp(0.1, 10.0);
    pulse.rates().map(|rate| {
        let by_rate = if listed > 1.0 { rate / (listed * SAFE_SHARE) } else { 0.0 };
        Claim { root: (rate * worth).sqrt(), needed: by_rate.max(by_reach) }
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
