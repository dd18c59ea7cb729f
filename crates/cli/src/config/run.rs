//! How all stages go on one after the other.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The `[run]` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct RunConfig {
    pub every: Span,
    pub total: Span,
    pub update: Span,
    pub fetch: Span,
    pub clean: Span,
    pub dedup: Span,
    pub annotate: Span,
    pub compile: Span,
    pub report: bool,
}

impl Default for RunConfig {
    fn default() -> RunConfig {
        let minutes = |minutes: u64| Span(Duration::from_secs(60 * minutes));
        RunConfig {
            every: minutes(60),
            total: minutes(0),
            update: minutes(10),
            fetch: minutes(40),
            clean: minutes(30),
            dedup: minutes(30),
            annotate: minutes(30),
            compile: minutes(30),
            report: true,
        }
    }
}

/// A stretch of time as people write it: `90s`, `30m`, `2h`, `1d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(pub Duration);

impl std::str::FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let usage = || "give a time such as 90s, 30m or 2h".to_owned();
        let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
        let seconds = match unit {
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return Err(usage()),
        };
        match number.trim().parse::<f64>() {
            Ok(number) if (0.0..=1e6).contains(&number) => Ok(Span(Duration::from_secs_f64(number * seconds))),
            _ => Err(usage()),
        }
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Span, String> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> String {
        let s = span.0.as_secs_f64();
        let units = [("d", 86_400.0), ("h", 3600.0), ("m", 60.0)];
        match units.into_iter().find(|(_, unit)| s >= *unit && s % unit == 0.0) {
            Some((name, unit)) => format!("{}{name}", s / unit),
            None => format!("{s}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let seconds = |text: &str| text.parse::<Span>().map(|span| span.0.as_secs());
        assert_eq!(
            (seconds("90s"), seconds("1.5h"), seconds("10"), seconds("2d")),
            (Ok(90), Ok(5400), Ok(10), Ok(172_800))
        );
        assert!(["x", "-1s", "5 parsecs", ""].iter().all(|text| seconds(text).is_err()));
        for text in ["0s", "90s", "40m", "2h", "1d", "36h", "0.5s"] {
            assert_eq!(String::from(text.parse::<Span>().unwrap()), text);
        }
    }
}
