//! The `[run]` table: rounds of all stages.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::stage::StageId;

/// The `[run]` table: a time limit for each stage under its name, and the settings of the round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunConfig {
    /// Interval between the starts of two rounds.
    pub every: Span,
    /// Time limit of all stages together; 0: no limit.
    pub total: Span,
    /// Time limit of each stage; 0: no limit.
    pub stages: BTreeMap<StageId, Span>,
    /// Whether a round writes the daily report.
    pub report: bool,
    /// The last day of the collection, if it has ended or will.
    pub until: LastDay,
}

impl RunConfig {
    /// The moment that the state of the home is compared with: now, or the end of the collection if that is earlier.
    pub fn as_of(&self, now: Timestamp) -> Timestamp {
        self.until.end().map_or(now, |end| end.min(now))
    }

    /// Whether the last day of the collection is over.
    pub fn has_ended(&self, now: Timestamp) -> bool {
        self.until.end().is_some_and(|end| end <= now)
    }

    /// The time limit of a stage.
    pub fn limit(&self, stage: StageId) -> Duration {
        self.stages.get(&stage).map_or(Duration::ZERO, |span| span.0)
    }
}

impl Default for RunConfig {
    fn default() -> RunConfig {
        let minutes = |minutes: u64| Span(Duration::from_secs(60 * minutes));
        RunConfig {
            every: minutes(60),
            total: minutes(0),
            stages: StageId::ALL.iter().map(|id| (*id, minutes(id.stage().minutes_in_a_round()))).collect(),
            report: true,
            until: LastDay(None),
        }
    }
}

/// The keys of the table that are not names of stages.
const OTHER_KEYS: [&str; 4] = ["every", "total", "report", "until"];
static KEYS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| OTHER_KEYS.into_iter().chain(StageId::ALL.iter().map(|stage| stage.name())).collect());

impl Serialize for RunConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(KEYS.len()))?;
        map.serialize_entry("every", &self.every)?;
        map.serialize_entry("total", &self.total)?;
        for (stage, span) in &self.stages {
            map.serialize_entry(stage.name(), span)?;
        }
        map.serialize_entry("report", &self.report)?;
        map.serialize_entry("until", &self.until)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for RunConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RunConfig, D::Error> {
        struct Table;

        impl<'de> Visitor<'de> for Table {
            type Value = RunConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of time limits")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<RunConfig, M::Error> {
                let mut config = RunConfig::default();
                while let Some(key) = map.next_key::<String>()? {
                    match (key.as_str(), key.parse::<StageId>()) {
                        ("every", _) => config.every = map.next_value()?,
                        ("total", _) => config.total = map.next_value()?,
                        ("report", _) => config.report = map.next_value()?,
                        ("until", _) => config.until = map.next_value()?,
                        (_, Ok(stage)) => {
                            config.stages.insert(stage, map.next_value()?);
                        }
                        (unknown, Err(_)) => return Err(M::Error::unknown_field(unknown, &KEYS)),
                    }
                }
                Ok(config)
            }
        }

        deserializer.deserialize_map(Table)
    }
}

/// The last day of a collection, `YYYY-MM-DD`; empty without an end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LastDay(pub Option<Date>);

impl LastDay {
    /// The end of the day, in UTC.
    fn end(self) -> Option<Timestamp> {
        Some(self.0?.tomorrow().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp())
    }
}

impl TryFrom<String> for LastDay {
    type Error = String;

    fn try_from(text: String) -> Result<LastDay, String> {
        let day = Some(text.as_str()).filter(|text| !text.is_empty());
        let day = day.map(|day| day.parse().map_err(|_| "give a day such as 2026-12-31".to_owned()));
        day.transpose().map(LastDay)
    }
}

impl From<LastDay> for String {
    fn from(last: LastDay) -> String {
        last.0.map(|day| day.to_string()).unwrap_or_default()
    }
}

/// The longest duration: a million days.
const MAX_SECONDS: f64 = 1e6 * 86_400.0;

/// A duration as users write it: `90s`, `30m`, `2h`, `1d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(pub Duration);

impl std::str::FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let usage = || "give a duration such as 90s, 30m or 2h".to_owned();
        let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
        let seconds = match unit {
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return Err(usage()),
        };
        match number.trim().parse::<f64>().map(|number| number * seconds) {
            // The limit applies to the duration and not to the number, so that a value survives being printed in
            // another unit.
            Ok(time) if (0.0..=MAX_SECONDS).contains(&time) => Ok(Span(Duration::from_secs_f64(time))),
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
    fn durations_are_read_with_their_units() {
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

    #[test]
    fn the_table_of_stages_survives_being_written_and_read() {
        let until = LastDay(Some(Date::constant(2026, 12, 31)));
        let mut config = RunConfig { report: false, until, ..RunConfig::default() };
        for (minutes, stage) in (1..).zip(StageId::ALL.iter()) {
            config.stages.insert(*stage, Span(Duration::from_secs(60 * minutes)));
        }
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<RunConfig>(&text).unwrap(), config);
    }

    #[test]
    fn a_stage_that_is_not_named_keeps_its_default_time() {
        let config: RunConfig = toml::from_str("clean = '5m'\n").unwrap();
        assert_eq!(config.limit(StageId::Clean), Duration::from_secs(300));
        assert_eq!(config.limit(StageId::Fetch), RunConfig::default().limit(StageId::Fetch));
    }

    #[test]
    fn a_collection_ends_with_its_last_day() {
        let config: RunConfig = toml::from_str("until = '2025-12-31'\n").unwrap();
        let at = |time: &str| time.parse::<Timestamp>().unwrap();
        assert!(!config.has_ended(at("2025-12-31T23:59:59Z")) && config.has_ended(at("2026-01-01T00:00:00Z")));
        assert_eq!(config.as_of(at("2025-06-01T00:00:00Z")), at("2025-06-01T00:00:00Z"));
        assert_eq!(config.as_of(at("2030-06-01T00:00:00Z")), at("2026-01-01T00:00:00Z"));
        assert!(!RunConfig::default().has_ended(at("2030-06-01T00:00:00Z")));
        assert!(toml::from_str::<RunConfig>("until = 'soon'\n").is_err());
    }

    #[test]
    fn an_unknown_stage_is_rejected() {
        let error = toml::from_str::<RunConfig>("claen = '5m'\n").unwrap_err().to_string();
        assert!(error.contains("unknown field `claen`"), "{error}");
    }

    proptest::proptest! {
        #[test]
        fn every_duration_survives_printing_and_parsing(number in 0.0..1e6_f64, unit in "[smhd]") {
            let span: Span = format!("{number:.3}{unit}").parse().unwrap();
            let written = String::from(span);
            let again = written.parse::<Span>();
            proptest::prop_assert!(again.is_ok(), "{written}");
            let difference = again.unwrap().0.abs_diff(span.0);
            proptest::prop_assert!(difference < Duration::from_micros(100), "{written}");
        }
    }
}
