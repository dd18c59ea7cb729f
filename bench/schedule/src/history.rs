//! Feeds that publish: when each of their entries appeared, and how many they list.

use crate::{BEFORE, COUNTED, DAY, DRAIN, WARM_UP};

/// How the feeds of a world behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    /// At any time, at a constant rate.
    Steady,
    /// Nineteen entries of twenty in eight hours of the day, at the feed's own longitude.
    WorkingHours,
    /// The same, and little at weekends.
    WorkingWeek,
    /// Several at once, two or three times a day.
    Batches,
    /// At any time, with a rate that jumps every week or so, to a tenth or ten times the usual.
    Shifting,
    /// A third of the feeds falls silent for good.
    Dying,
    /// A third of the feeds has been silent for a month and wakes up.
    Reviving,
}

impl Habit {
    /// All of them, with their names.
    pub const ALL: [(Habit, &'static str); 7] = [
        (Habit::Steady, "steady"),
        (Habit::WorkingHours, "working hours"),
        (Habit::WorkingWeek, "working week"),
        (Habit::Batches, "batches"),
        (Habit::Shifting, "rates shift"),
        (Habit::Dying, "dying"),
        (Habit::Reviving, "reviving"),
    ];
}

/// A feed with everything it ever publishes.
#[derive(Debug, Clone)]
pub struct Feed {
    /// When each entry appeared, in order.
    pub times: Vec<f64>,
    /// How many entries its document lists.
    pub window: usize,
    /// Whether entries carry dates.
    pub dated: bool,
}

/// So many feeds of one habit: rates log-normal with median 0.8 a day and sigma 2, windows of 10 to
/// 100 entries, one feed in twelve without dates.
pub fn world(habit: Habit, feeds: usize, seed: u64) -> Vec<Feed> {
    let mut random = fastrand::Rng::with_seed(seed);
    // Each feed draws from a source of its own, so that the same feeds meet every habit.
    (0..feeds).map(|_| feed(habit, &mut random.fork())).collect()
}

fn feed(habit: Habit, random: &mut fastrand::Rng) -> Feed {
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
        if habit == Habit::Shifting && hour >= next_shift {
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
        let alive = match habit {
            Habit::Dying => !third || hour < turning,
            Habit::Reviving => !third || hour < -BEFORE + 20.0 * DAY || hour > turning,
            _ => true,
        };
        let a_day = match habit {
            Habit::WorkingHours | Habit::Dying | Habit::Reviving => rate * working,
            Habit::WorkingWeek => rate * working * weekend,
            Habit::Shifting => rate * factor,
            Habit::Steady | Habit::Batches => rate,
        };
        if alive && habit == Habit::Batches {
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
