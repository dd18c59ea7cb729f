//! Days that users write as a year, a month or a day.

use jiff::civil::Date;

/// The expected form, for error messages.
pub const PERIOD_FORM: &str = "a day, month or year such as 2026-03-01, 2026-03 or 2026";

/// The first day of a period: of `2026-03`, the first of March.
pub fn first_day(text: &str) -> Option<Date> {
    let full = match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        _ => text.to_owned(),
    };
    full.parse().ok()
}

/// The last day of a period.
pub fn last_day(text: &str) -> Option<Date> {
    first_day(text).map(|first| match text.len() {
        4 => first.last_of_year(),
        7 => first.last_of_month(),
        _ => first,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_or_month_stands_for_its_first_or_last_day() {
        assert_eq!(first_day("2019"), Some(Date::constant(2019, 1, 1)));
        assert_eq!(last_day("2019"), Some(Date::constant(2019, 12, 31)));
        assert_eq!(last_day("2020-02"), Some(Date::constant(2020, 2, 29)));
        assert_eq!(first_day("2019-03-04"), Some(Date::constant(2019, 3, 4)));
        assert_eq!(last_day("2019-03-04"), first_day("2019-03-04"));
        assert!(["last year", "soon", "2019-13", "", "99"].iter().all(|text| first_day(text).is_none()));
    }
}
