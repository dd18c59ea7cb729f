//! Free disk space and its forecast from the growth of the home.

use std::collections::BTreeMap;

use jiff::civil::Date;
use tidings_store::Home;

use super::days::{DayFigures, IndexFigures};

/// The number of days over which growth is measured.
const MEASURED_DAYS: i32 = 14;

/// Disk space of a home.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct DiskFigures {
    /// Bytes that are free.
    pub free: Option<u64>,
    /// Growth in bytes per day; `None` before the first whole day.
    pub growth_per_day: Option<f64>,
    /// Days until only store.min_free_mib are free and crawls stop.
    pub days_left: Option<f64>,
}

/// Measures the whole days before today.
pub fn read(
    home: &Home,
    days: &[DayFigures],
    indexes: &BTreeMap<String, IndexFigures>,
    today: Date,
    min_free_mib: u64,
) -> DiskFigures {
    let free = home.free_bytes();
    let (tokens, bytes) = indexes.values().fold((0, 0), |sum, index| (sum.0 + index.tokens, sum.1 + index.bytes));
    let per_token = bytes as f64 / (tokens as f64).max(1.0);
    let ago = |day: &DayFigures| (today - day.day).get_days();
    let recent: Vec<&DayFigures> = days.iter().filter(|day| (1..=MEASURED_DAYS).contains(&ago(day))).collect();
    // A younger home has grown in fewer days; days without pages count.
    let since = recent.iter().map(|day| ago(day)).max();
    let grown: f64 = recent
        .iter()
        .map(|day| (day.page_bytes + day.derived_bytes) as f64 + day.all_tokens() as f64 * per_token)
        .sum();
    let growth_per_day = since.map(|days| grown / f64::from(days)).filter(|growth| *growth > 0.0);
    let available = free.map(|free| free.saturating_sub(min_free_mib << 20) as f64);
    let days_left = available.zip(growth_per_day).map(|(available, growth)| available / growth);
    DiskFigures { free, growth_per_day, days_left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home;

    fn day(number: i8, bytes: u64) -> DayFigures {
        DayFigures { day: Date::constant(2026, 3, number), page_bytes: bytes, ..DayFigures::default() }
    }

    fn figures(days: &[DayFigures]) -> DiskFigures {
        let (_folder, pipeline) = test_home::empty();
        read(pipeline.home(), days, &BTreeMap::new(), Date::constant(2026, 3, 20), 0)
    }

    #[test]
    fn growth_is_measured_over_whole_days_of_two_weeks() {
        let days = [day(1, 1 << 40), day(10, 600), day(15, 400), day(20, 1 << 40)];
        let found = figures(&days);
        assert_eq!(found.growth_per_day, Some(100.0), "1,000 bytes in the ten days since the first of them");
        let free = found.free.unwrap() as f64;
        assert_eq!(found.days_left, Some(free / 100.0));
    }

    #[test]
    fn without_a_whole_day_nothing_is_forecast() {
        for days in [&[][..], &[day(20, 500)], &[day(19, 0)]] {
            let found = figures(days);
            assert_eq!((found.growth_per_day, found.days_left), (None, None));
            assert!(found.free.is_some());
        }
    }

    #[test]
    fn the_reserved_space_does_not_count_as_free() {
        let (_folder, pipeline) = test_home::empty();
        let days = [day(19, 100)];
        let all = read(pipeline.home(), &days, &BTreeMap::new(), Date::constant(2026, 3, 20), 1 << 40);
        assert_eq!(all.days_left, Some(0.0));
    }
}
