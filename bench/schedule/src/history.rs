//! Publishing histories: when each entry of a feed appeared, and the length of its list.

use crate::{BEFORE, COUNTED, DAY, DRAIN, WARM_UP};

/// The publishing pattern of feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// A constant rate.
    Steady,
    /// 19 of 20 entries in eight hours of the day, in the feed's own time zone.
    WorkingHours,
    /// The same, with little at weekends.
    WorkingWeek,
    /// Several entries at once, two or three times a day.
    Batches,
    /// A rate that jumps about every week, to a tenth or ten times the usual.
    Shifting,
    /// A third of the feeds stops publishing.
    Dying,
    /// A third of the feeds resumes after a month of silence.
    Reviving,
}

impl Pattern {
    /// All patterns with their names.
    pub const ALL: [(Pattern, &'static str); 7] = [
        (Pattern::Steady, "steady"),
        (Pattern::WorkingHours, "working hours"),
        (Pattern::WorkingWeek, "working week"),
        (Pattern::Batches, "batches"),
        (Pattern::Shifting, "rates shift"),
        (Pattern::Dying, "dying"),
        (Pattern::Reviving, "reviving"),
    ];
}

/// A feed with all entries it ever publishes.
#[derive(Debug, Clone)]
pub struct Feed {
    /// The times of its entries, in order.
    pub times: Vec<f64>,
    /// The number of entries it lists.
    pub window: usize,
    /// True if entries have dates.
    pub dated: bool,
}

/// Generates feeds of one pattern: log-normal rates with median 0.8 per day and sigma 2, windows of 10 to 100
/// entries, one feed in twelve without dates.
pub fn world(pattern: Pattern, feeds: usize, seed: u64) -> Vec<Feed> {
    let mut random = fastrand::Rng::with_seed(seed);
    // Each feed has its own random generator, so that the same feeds occur under every pattern.
    (0..feeds).map(|_| feed(pattern, &mut random.fork())).collect()
}

fn feed(pattern: Pattern, random: &mut fastrand::Rng) -> Feed {
    let rate = 0.8 * (2.0 * normal(random)).exp();
    let window = random.usize(10..=100);
    let dated = random.u32(0..12) != 0;
    let longitude = random.usize(0..24);
    let end = WARM_UP + COUNTED + DRAIN;
    let third = random.u32(0..3) == 0;
    let turning = random.f64() * (WARM_UP + COUNTED);

    let mut times = Vec::new();
    let mut factor = 1.0;
    let mut next_shift = -BEFORE;
    let mut hour = -BEFORE;
    while hour < end {
        if pattern == Pattern::Shifting && hour >= next_shift {
            factor = 10f64.powf(random.f64() * 2.0 - 1.0);
            next_shift = hour + exponential(random) * 7.0 * DAY;
        }
        let of_day = ((hour / 3600.0) as i64).rem_euclid(24) as usize;
        let of_week = (hour / DAY).floor() as i64;
        let working = match (of_day + longitude) % 24 {
            8..16 => 2.85,
            _ => 0.075,
        };
        let weekend = if of_week.rem_euclid(7) >= 5 { 0.2 } else { 1.32 };
        let alive = match pattern {
            Pattern::Dying => !third || hour < turning,
            Pattern::Reviving => !third || hour < -BEFORE + 20.0 * DAY || hour > turning,
            _ => true,
        };
        let a_day = match pattern {
            Pattern::WorkingHours | Pattern::Dying | Pattern::Reviving => rate * working,
            Pattern::WorkingWeek => rate * working * weekend,
            Pattern::Shifting => rate * factor,
            Pattern::Steady | Pattern::Batches => rate,
        };
        if alive && pattern == Pattern::Batches {
            let size = (rate / 2.5).max(1.0);
            for _ in 0..poisson(rate / size / 24.0, random) {
                let at = hour + random.f64() * 3600.0;
                let count = (exponential(random) * size).round().max(1.0) as usize;
                times.extend((0..count).map(|n| at + n as f64));
            }
        } else if alive {
            let count = poisson(a_day / 24.0, random);
            times.extend((0..count).map(|_| hour + random.f64() * 3600.0));
        }
        hour += 3600.0;
    }
    times.sort_by(f64::total_cmp);
    Feed { times, window, dated }
}

fn exponential(random: &mut fastrand::Rng) -> f64 {
    -(1.0 - random.f64()).ln()
}

fn normal(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

fn poisson(mean: f64, random: &mut fastrand::Rng) -> usize {
    let (mut count, mut at) = (0, exponential(random));
    while at < mean {
        count += 1;
        at += exponential(random);
    }
    count
}
