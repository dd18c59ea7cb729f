//! Numbers and times as people read them.

use std::time::Duration;

/// `1,234,567`: digits in groups.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 page`, `2 pages`: a count with its noun.
pub fn count(number: u64, thing: &str) -> String {
    let stem = thing.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    let plural = match stem {
        _ if number == 1 => thing.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None => format!("{thing}s"),
    };
    format!("{} {plural}", grouped(number))
}

/// `38 s`, `2 min 5 s`, `1 h 3 min`.
pub fn span(duration: Duration) -> String {
    let s = duration.as_secs();
    match s {
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        60..3600 => format!("{} min {} s", s / 60, s % 60),
        _ => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

/// The same of a number of seconds.
pub fn span_s(seconds: f64) -> String {
    span(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// `1.5 GB`: a size.
pub fn bytes(number: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let (mut value, mut unit) = (number.max(0.0), 0);
    // A value that would be rounded to 1000 uses the next unit.
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = usize::from(value < 9.95 && unit > 0);
    let value = format!("{value:.decimals$}");
    format!("{} {}", value.strip_suffix(".0").unwrap_or(&value), units[unit])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(count(1, "page"), "1 page");
        assert_eq!(count(1234567, "entry"), "1,234,567 entries");
        assert_eq!(count(3, "day"), "3 days");
        assert_eq!(span(Duration::from_secs(3725)), "1 h 2 min");
    }

    #[test]
    fn sizes_have_binary_units() {
        assert_eq!(
            [0.0, 999.0, 1500.0, 25e6, 1e9, 1.2e12].map(bytes),
            ["0 B", "999 B", "1.5 kB", "25 MB", "1 GB", "1.2 TB"]
        );
    }

    #[test]
    fn a_noun_in_y_after_a_consonant_changes_its_ending() {
        assert_eq!([count(2, "try"), count(0, "entry")], ["2 tries", "0 entries"]);
        assert_eq!([count(2, "survey"), count(2, "key")], ["2 surveys", "2 keys"]);
    }

    #[test]
    fn a_time_has_the_units_that_matter_at_its_length() {
        assert_eq!([0.0, 0.04, 59.94].map(span_s), ["0.0 s", "0.0 s", "59.9 s"]);
        assert_eq!([60.0, 125.9, 3599.9].map(span_s), ["1 min 0 s", "2 min 5 s", "59 min 59 s"]);
        assert_eq!(span_s(90_000.0), "25 h 0 min");
    }

    #[test]
    fn an_invalid_duration_counts_as_zero() {
        assert_eq!([-1.0, f64::NAN, f64::INFINITY].map(span_s), ["0.0 s", "0.0 s", "0.0 s"]);
    }

    #[test]
    fn a_size_just_below_a_unit_is_shown_in_that_unit() {
        assert_eq!([999_949.0, 999_999.0, 1e6 - 0.5].map(bytes), ["1 MB", "1 MB", "1 MB"]);
        assert_eq!([999_400.0, 9_960.0, 9_949.0].map(bytes), ["999 kB", "10 kB", "9.9 kB"]);
    }

    proptest! {
        #[test]
        fn grouping_keeps_the_digits_and_puts_a_comma_before_every_third(number: u64) {
            let text = grouped(number);
            prop_assert_eq!(text.replace(',', ""), number.to_string());
            let groups: Vec<&str> = text.split(',').collect();
            prop_assert!((1..=3).contains(&groups[0].len()));
            prop_assert!(groups[1..].iter().all(|group| group.len() == 3));
        }

        #[test]
        fn a_size_has_three_digits_at_most(number in 0u64..1_000_000_000_000_000) {
            let text = bytes(number as f64);
            let digits = text.chars().filter(char::is_ascii_digit).count();
            prop_assert!((1..=3).contains(&digits), "{}", text);
        }
    }
}
