//! Date conventions of a language: order of day and month, and the time zones of its readers.

use jiff::civil::Date;

/// Conventions for reading dates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct DateLocale {
    /// Whether 3/4/2020 is in March.
    pub month_first: bool,
    /// Whether `listopad` is October (Croatian) rather than November (Czech, Polish).
    pub croatian: bool,
}

impl DateLocale {
    /// The conventions of a language tag (`en-GB`) on a host.
    pub fn of(language: Option<&str>, host: Option<&str>) -> DateLocale {
        let language = language.unwrap_or_default().trim();
        let mut parts = language.split(['-', '_']);
        let primary = parts.next().unwrap_or_default();
        let region = parts.find(|part| part.len() == 2).unwrap_or_default();
        let ending = host.and_then(|host| host.rsplit('.').next()).unwrap_or_default();
        let american_host = ["com", "us", "org", "net", "gov", "edu", "mil", "io", "ph", ""].contains(&ending);
        let month_first = match (primary, region) {
            (p, r) if p.eq_ignore_ascii_case("en") && r.eq_ignore_ascii_case("us") => american_host,
            (p, "") if p.eq_ignore_ascii_case("en") || p.is_empty() => american_host,
            (p, r) if p.eq_ignore_ascii_case("en") && r.eq_ignore_ascii_case("ph") => true,
            _ => false,
        };
        DateLocale { month_first, croatian: primary.eq_ignore_ascii_case("hr") || ending == "hr" }
    }
}

/// Range of UTC offsets of a language's readers, in hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UtcOffsets {
    pub west: i8,
    pub east: i8,
}

impl UtcOffsets {
    /// The offsets of a language.
    pub fn of(language: Option<&str>) -> UtcOffsets {
        let primary = language.unwrap_or_default().trim().split(['-', '_']).next().unwrap_or_default();
        // Only the two-letter codes that pages use: others keep the wide range until the next behaviour version.
        let is_usual = |code: &str| code.eq_ignore_ascii_case(primary) || primary.eq_ignore_ascii_case("no");
        let known = tidings_lang::language(primary).filter(|known| is_usual(known.code));
        let offsets = known.and_then(|known| known.utc_offsets);
        offsets.map_or(UtcOffsets { west: -8, east: 12 }, |(west, east)| UtcOffsets { west, east })
    }

    /// Returns whether an hour of a UTC day may belong to the local day `other`.
    pub fn may_be(self, day: Date, utc_hour: Option<i8>, other: Date) -> bool {
        let Some(hour) = utc_hour else { return false };
        let before = hour + self.west < 0 && day.yesterday().is_ok_and(|yesterday| yesterday == other);
        let after = hour + self.east >= 24 && day.tomorrow().is_ok_and(|tomorrow| tomorrow == other);
        before || after
    }
}
