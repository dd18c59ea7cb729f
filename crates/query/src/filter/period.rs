//! Periods: days, weeks, months, quarters, half-years and years.

use jiff::ToSpan;
use jiff::civil::{Date, ISOWeekDate, Weekday};

/// A range of days, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// The first day.
    pub first: Date,
    /// The last day.
    pub last: Date,
}

impl Period {
    /// Returns whether a day is in the period.
    pub fn contains(&self, day: Date) -> bool {
        self.first <= day && day <= self.last
    }

    /// Parses `2026`, `2026-H1`, `2026-Q1`, `2026-03`, `2026-W09`, `2026-03-01`, or two of them with
    /// `..` between.
    pub fn parse(text: &str) -> Option<Period> {
        if let Some((from, to)) = text.split_once("..") {
            let (from, to) = (Period::parse_one(from)?, Period::parse_one(to)?);
            return (from.first <= to.last).then_some(Period { first: from.first, last: to.last });
        }
        Period::parse_one(text)
    }

    fn parse_one(text: &str) -> Option<Period> {
        let mut parts = text.split('-');
        let year = digits(parts.next()?, 4)?;
        let period = match (parts.next(), parts.next()) {
            (None, None) => Period::months(year, 1, 12),
            (Some(part), None) if part.starts_with('H') => {
                let half = digits(&part[1..], 1).filter(|half| (1..=2).contains(half))?;
                Period::months(year, 6 * half - 5, 6)
            }
            (Some(part), None) if part.starts_with('Q') => {
                let quarter = digits(&part[1..], 1).filter(|quarter| (1..=4).contains(quarter))?;
                Period::months(year, 3 * quarter - 2, 3)
            }
            (Some(part), None) if part.starts_with('W') => {
                let week = digits(&part[1..], 2)?;
                let monday = ISOWeekDate::new(year, i8::try_from(week).ok()?, Weekday::Monday).ok()?.date();
                let sunday = monday.checked_add(6.days()).ok()?;
                Some(Period { first: monday, last: sunday })
            }
            (Some(month), None) => Period::months(year, digits(month, 2)?, 1),
            (Some(month), Some(day)) => {
                let (month, day) = (digits(month, 2)?, digits(day, 2)?);
                let day = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
                Some(Period { first: day, last: day })
            }
            (None, Some(_)) => None,
        };
        if parts.next().is_some() { None } else { period }
    }

    fn months(year: i16, first_month: i16, count: i16) -> Option<Period> {
        let first = Date::new(year, i8::try_from(first_month).ok()?, 1).ok()?;
        let last_month = Date::new(year, i8::try_from(first_month + count - 1).ok()?, 1).ok()?;
        Some(Period { first, last: last_month.last_of_month() })
    }
}

fn digits(text: &str, count: usize) -> Option<i16> {
    let right = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if right { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn days(text: &str) -> Option<(Date, Date)> {
        Period::parse(text).map(|period| (period.first, period.last))
    }

    #[test]
    fn periods_end_with_their_last_day() {
        assert_eq!(days("2024"), Some((date(2024, 1, 1), date(2024, 12, 31))));
        assert_eq!(days("2024-H2"), Some((date(2024, 7, 1), date(2024, 12, 31))));
        assert_eq!(days("2024-Q1"), Some((date(2024, 1, 1), date(2024, 3, 31))));
        assert_eq!(days("2024-02"), Some((date(2024, 2, 1), date(2024, 2, 29))));
        assert_eq!(days("2021-W01"), Some((date(2021, 1, 4), date(2021, 1, 10))));
        assert_eq!(days("2024-02-03..2024-03"), Some((date(2024, 2, 3), date(2024, 3, 31))));
    }

    #[test]
    fn dates_that_do_not_exist_are_rejected() {
        for text in [
            "",
            "24",
            "2024-13",
            "2024-Q5",
            "2024-H0",
            "2024-W54",
            "2024-02-30",
            "2024-2",
            "2024-02-03-04",
            "é024-Q",
            "2024-",
        ] {
            assert_eq!(days(text), None, "{text}");
        }
        assert_eq!(days("2024..2023"), None);
    }

    #[test]
    fn periods_are_written_like_the_bins_of_the_calendar() {
        for step in crate::trend::Step::ALL {
            for bin in step.bins(date(2019, 12, 15), date(2024, 3, 2)) {
                assert_eq!(days(&bin.to_string()), Some((bin.first, bin.last)));
            }
        }
    }
}
