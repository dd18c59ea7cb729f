//! Calendar intervals and the bins of a time axis.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use serde::Serialize;
use std::fmt;

choices! {
    /// The length of a step of the time axis.
    pub enum Step {
        /// A day.
        Day = "day",
        /// The first ten days of a month, the second ten, and the rest.
        TenDays = "ten-days" | "10days",
        /// From Monday to Sunday, numbered as in ISO 8601.
        Week = "week",
        /// A month.
        Month = "month",
        /// Three months.
        Quarter = "quarter",
        /// Six months.
        HalfYear = "half-year",
        /// A year.
        Year = "year",
    }
}

/// The numbers of periods of a time axis that show its course and still have text in each.
const USUAL_PERIODS: std::ops::RangeInclusive<f64> = 24.0..=60.0;

impl Step {
    /// The mean length in days.
    fn mean_days(self) -> f64 {
        let year = 365.2425;
        match self {
            Step::Day => 1.0,
            Step::TenDays => year / 36.0,
            Step::Week => 7.0,
            Step::Month => year / 12.0,
            Step::Quarter => year / 4.0,
            Step::HalfYear => year / 2.0,
            Step::Year => year,
        }
    }

    /// The step that divides some days into 24 to 60 periods: the shortest, if there are several, and the nearest, if there
    /// is none.
    pub fn automatic(days: u32) -> Step {
        let off = |step: &Step| {
            let periods = f64::from(days.max(1)) / step.mean_days();
            // The ratio by which there are too few periods or too many.
            (USUAL_PERIODS.start() / periods).max(periods / USUAL_PERIODS.end()).max(1.0)
        };
        let steps = [Step::Day, Step::Week, Step::TenDays, Step::Month, Step::Quarter, Step::HalfYear, Step::Year];
        let nearest = steps.into_iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        nearest.unwrap_or(Step::Month)
    }

    /// The step for events, which are over after days or weeks, in some days with some documents: a day where there are few
    /// weeks, otherwise a week, and a month where a week has too few documents for a word to stand out in several of them.
    pub fn of_events(days: u32, documents: u64) -> Step {
        if days < MIN_DAYS_BY_WEEK {
            return Step::Day;
        }
        let by_week = documents as f64 * Step::Week.mean_days() / f64::from(days);
        if by_week < MIN_DOCUMENTS_BY_WEEK { Step::Month } else { Step::Week }
    }

    /// The bin a day belongs to.
    pub fn bin_of(self, day: Date) -> Bin {
        let months = |count: i8| {
            let first_month = (day.month() - 1) / count * count + 1;
            let first = in_month(day, first_month, 1);
            (first, in_month(day, first_month + count - 1, 1).last_of_month())
        };
        let (first, last) = match self {
            Step::Day => (day, day),
            Step::TenDays => match day.day() {
                1..=10 => (in_month(day, day.month(), 1), in_month(day, day.month(), 10)),
                11..=20 => (in_month(day, day.month(), 11), in_month(day, day.month(), 20)),
                _ => (in_month(day, day.month(), 21), day.last_of_month()),
            },
            Step::Week => {
                let behind_monday = day.weekday().since(Weekday::Monday);
                (day.saturating_sub(behind_monday.days()), day.saturating_add((6 - behind_monday).days()))
            }
            Step::Month => months(1),
            Step::Quarter => months(3),
            Step::HalfYear => months(6),
            Step::Year => months(12),
        };
        Bin { step: self, first, last }
    }

    /// All bins from that of one day to that of another, without gaps.
    pub fn bins(self, from: Date, to: Date) -> Vec<Bin> {
        let mut bins = Vec::new();
        let mut next = Some(from);
        while let Some(day) = next.filter(|day| *day <= to) {
            let bin = self.bin_of(day);
            bins.push(bin);
            next = bin.last.tomorrow().ok();
        }
        bins
    }
}

/// The days from which events are looked for by week: a burst needs eight periods before it.
const MIN_DAYS_BY_WEEK: u32 = 120;
/// The documents of a week from which events are looked for by week: a burst is in five documents, and a word in more than
/// a quarter of all documents of a week is rare even in the news.
const MIN_DOCUMENTS_BY_WEEK: f64 = 20.0;

fn in_month(day: Date, month: i8, of_month: i8) -> Date {
    Date::new(day.year(), month, of_month).expect("every year has twelve months, every month twenty-one days")
}

/// One bin of a time axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Bin {
    /// Its interval.
    pub step: Step,
    /// Its first day.
    pub first: Date,
    /// Its last day.
    pub last: Date,
}

impl Bin {
    /// The number of days.
    pub fn days(&self) -> u32 {
        let days = self.last.since(self.first).map_or(0, |span| span.get_days());
        days.unsigned_abs() + 1
    }
}

/// The name, which filters accept: `2026-03`, `2026-W09`, `2026-03-01..2026-03-10`.
impl fmt::Display for Bin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month) = (self.first.year(), self.first.month());
        match self.step {
            Step::Day => write!(f, "{}", self.first),
            Step::TenDays => write!(f, "{}..{}", self.first, self.last),
            Step::Week => {
                let week = self.first.iso_week_date();
                write!(f, "{:04}-W{:02}", week.year(), week.week())
            }
            Step::Month => write!(f, "{year:04}-{month:02}"),
            Step::Quarter => write!(f, "{year:04}-Q{}", (month + 2) / 3),
            Step::HalfYear => write!(f, "{year:04}-H{}", (month + 5) / 6),
            Step::Year => write!(f, "{year:04}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn bins_follow_the_calendar() {
        for (step, day, name, first, last) in [
            (Step::TenDays, date(2024, 2, 25), "2024-02-21..2024-02-29", date(2024, 2, 21), date(2024, 2, 29)),
            (Step::Week, date(2021, 1, 1), "2020-W53", date(2020, 12, 28), date(2021, 1, 3)),
            (Step::Month, date(2023, 2, 28), "2023-02", date(2023, 2, 1), date(2023, 2, 28)),
            (Step::Quarter, date(2026, 12, 31), "2026-Q4", date(2026, 10, 1), date(2026, 12, 31)),
            (Step::HalfYear, date(2026, 6, 30), "2026-H1", date(2026, 1, 1), date(2026, 6, 30)),
            (Step::Year, date(2026, 6, 30), "2026", date(2026, 1, 1), date(2026, 12, 31)),
        ] {
            let bin = step.bin_of(day);
            assert_eq!((bin.to_string().as_str(), bin.first, bin.last), (name, first, last));
            assert_eq!(step.bins(first, last).len(), 1);
            assert_eq!(bin.days() as usize, Step::Day.bins(first, last).len());
        }
    }

    #[test]
    fn bins_cover_every_day_once() {
        for step in Step::ALL {
            let bins = step.bins(date(2019, 12, 15), date(2024, 3, 2));
            for pair in bins.windows(2) {
                assert_eq!(pair[0].last.tomorrow().unwrap(), pair[1].first);
            }
            assert!(bins[0].first <= date(2019, 12, 15) && bins.last().unwrap().last >= date(2024, 3, 2));
            for bin in bins {
                assert_eq!(step.bin_of(bin.last), bin);
            }
        }
    }

    #[test]
    fn events_are_looked_for_in_steps_with_enough_documents() {
        assert_eq!(Step::of_events(100, 100_000), Step::Day);
        assert_eq!(Step::of_events(3650, 20_000), Step::Week);
        assert_eq!(Step::of_events(3650, 5_000), Step::Month, "ten documents a week");
        assert_eq!(Step::of_events(120, 0), Step::Month);
    }

    #[test]
    fn the_automatic_step_gives_24_to_60_periods() {
        for (days, step) in [
            (1, Step::Day),
            (30, Step::Day),
            (200, Step::Week),
            (500, Step::TenDays),
            (3 * 365, Step::Month),
            (10 * 365, Step::Quarter),
            (20 * 365, Step::HalfYear),
            (50 * 365, Step::Year),
            (3000 * 365, Step::Year),
        ] {
            assert_eq!(Step::automatic(days), step, "{days} days");
        }
        let from = date(1990, 1, 1);
        for days in (24..60 * 365).step_by(17) {
            let periods = Step::automatic(days).bins(from, from.saturating_add(i64::from(days).days())).len();
            // Between days and weeks, and in two more places, no step gives as many.
            assert!((14..=104).contains(&periods), "{days} days: {periods}");
            if (168..=590).contains(&days) || (740..=1800).contains(&days) || days > 2200 {
                assert!((23..=62).contains(&periods), "{days} days: {periods}");
            }
        }
    }

    #[test]
    fn bins_end_with_the_calendar() {
        assert_eq!(Step::Year.bins(Date::MAX, Date::MAX).len(), 1);
        assert_eq!(Step::Week.bin_of(Date::MAX).last, Date::MAX);
    }
}
