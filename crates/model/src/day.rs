//! Days as numbers; documents and positions are sorted by day.

use std::fmt;

use jiff::civil::Date;

/// A day of the Gregorian calendar, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Day(pub i32);

impl Day {
    /// Parses `YYYY-MM-DD`, optionally followed by a time.
    pub fn parse(text: &str) -> Option<Day> {
        text.get(..10)?.parse::<Date>().ok().map(Day::of)
    }

    /// The number of a date.
    pub fn of(date: Date) -> Day {
        // Counted from March, leap days come last; the months then have a pattern of five.
        let (year, month, day) = (i32::from(date.year()), i32::from(date.month()), i32::from(date.day()));
        let year = if month <= 2 { year - 1 } else { year };
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        Day(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
    }

    /// The date; numbers outside of the range of [`Date`] are clamped.
    pub fn date(self) -> Date {
        let days = i64::from(self.0) + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        match i16::try_from(year) {
            Ok(year) => Date::new(year, month as i8, day as i8).unwrap_or(Date::MAX),
            Err(_) if year < 0 => Date::MIN,
            Err(_) => Date::MAX,
        }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.date().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::ToSpan as _;

    #[test]
    fn every_day_has_its_number() {
        let mut date = "1895-01-01".parse::<Date>().expect("a date");
        let first = Day::of(date).0;
        for number in first..first + 80_000 {
            assert_eq!((Day::of(date).0, Day(number).date()), (number, date));
            date = date.checked_add(1.day()).expect("within the calendar");
        }
        assert_eq!(Day::parse("1970-01-01T10:00:00Z"), Some(Day(0)));
        assert_eq!(Day::parse("1970-1-1"), None);
        assert_eq!((Day(i32::MAX).date(), Day(i32::MIN).date()), (Date::MAX, Date::MIN));
    }
}
