//! Publishing histories, polling policies, and a virtual clock that lets them meet.
//!
//! Everything follows from a seed. Times are seconds since the replay began; the policy called
//! "ours" is the code that `tidings update` runs, fed with what a feed's document would show.

mod history;
mod policy;
mod replay;

pub use history::{Feed, Habit, world};
pub use policy::{EntryFrequency, Fixed, Ours, Policy, Shown, WeightedMean};
pub use replay::{Score, replay, replay_in_runs};

/// A day in seconds.
pub const DAY: f64 = 86_400.0;
/// Days in which policies learn and nothing is counted.
pub const WARM_UP: f64 = 10.0 * DAY;
/// Days that are counted.
pub const COUNTED: f64 = 30.0 * DAY;
/// Time after that in which the last entries may still be found.
pub const DRAIN: f64 = 3.0 * DAY;
/// How far back feeds have published when they are first seen.
pub const BEFORE: f64 = 60.0 * DAY;

/// Finds the setting at which a policy costs what it should: `score` takes a scale of intervals.
pub fn at_budget(polls_per_day: f64, score: impl Fn(f64) -> Score) -> Score {
    let (mut low, mut high) = (1e-3f64, 1e3f64);
    let mut best = score(1.0);
    for _ in 0..16 {
        let scale = (low * high).sqrt();
        best = score(scale);
        if best.polls_per_day > polls_per_day {
            low = scale;
        } else {
            high = scale;
        }
    }
    best
}
