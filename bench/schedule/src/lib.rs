//! A replay of publishing histories against polling policies on a virtual clock.
//!
//! Everything is determined by a seed. Times are seconds since the start of the replay. The policy [`Tidings`] is
//! the code that `tidings update` runs, fed with what a feed would list.

pub mod front_pages;
mod history;
mod policy;
mod replay;

pub use history::{Feed, Pattern, world};
pub use policy::{EntryFrequency, Fixed, ListedEntries, Policy, Tidings, WeightedMean};
pub use replay::{Score, replay, replay_in_runs};

/// A day in seconds.
pub const DAY: f64 = 86_400.0;
/// The warm-up time in which policies learn and nothing is counted.
pub const WARM_UP: f64 = 10.0 * DAY;
/// The measured time.
pub const COUNTED: f64 = 30.0 * DAY;
/// The time after that in which the last entries may still be discovered.
pub const DRAIN: f64 = 3.0 * DAY;
/// The length of the publishing history before the first poll.
pub const BEFORE: f64 = 60.0 * DAY;

/// Scales a policy to a budget by bisection; `score` takes a scale of intervals.
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
