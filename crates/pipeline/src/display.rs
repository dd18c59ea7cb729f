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
    let plural = match thing {
        _ if number == 1 => thing.to_owned(),
        _ if thing.ends_with('y') && !thing.ends_with("ay") => format!("{}ies", &thing[..thing.len() - 1]),
        _ => format!("{thing}s"),
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
    let step = (number.max(1.0).log10() / 3.0).floor().min(5.0);
    let value = number / 1000f64.powf(step);
    let decimals = usize::from(value < 10.0 && step > 0.0);
    let value = format!("{value:.decimals$}");
    format!("{} {}", value.strip_suffix(".0").unwrap_or(&value), units[step as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(1, "page"), "1 page");
        assert_eq!(count(1234567, "entry"), "1,234,567 entries");
        assert_eq!(count(3, "day"), "3 days");
        assert_eq!(span(Duration::from_secs(3725)), "1 h 2 min");
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(
            [0.0, 999.0, 1500.0, 25e6, 1e9, 1.2e12].map(bytes),
            ["0 B", "999 B", "1.5 kB", "25 MB", "1 GB", "1.2 TB"]
        );
    }
}
