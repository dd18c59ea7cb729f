//! The newspapers of the demo's country.

use jiff::civil::{Date, date};

/// A newspaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlet {
    /// The name of its host.
    pub host: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The code of its language.
    pub language: &'static str,
    /// Whether it is a daily, a weekly or an agency.
    pub genre: &'static str,
    /// Ordinary articles a year.
    pub articles_a_year: u32,
    /// The first day on which it publishes, if it joins later.
    pub since: Option<Date>,
    /// The days on which it publishes nothing, the last one included.
    pub silent: Option<(Date, Date)>,
    /// The Creative Commons licence of its articles, as in the URL of the licence; empty: none.
    pub licence: &'static str,
    /// The topics that it prefers; empty: all alike.
    pub beats: &'static [&'static str],
}

/// The agency, whose reports others reprint.
pub const AGENCY: &str = "hna.example";

/// All newspapers, in the order of their addresses.
pub const OUTLETS: [Outlet; 12] = [
    Outlet { beats: &[], ..Outlet::daily("courier.example", "The Ansel Courier", "en", 88) },
    Outlet {
        beats: &["harbour", "fishing", "weather"],
        silent: Some((date(2019, 8, 20), date(2019, 10, 6))),
        ..Outlet::daily("harbourpost.example", "Harbour Post", "en", 76)
    },
    Outlet {
        licence: "",
        beats: &["business", "budget", "housing", "solar"],
        ..Outlet::daily("northernledger.example", "The Northern Ledger", "en", 68)
    },
    Outlet {
        licence: "by-nc",
        beats: &["football", "weather", "festival", "crime"],
        ..Outlet::daily("islandtimes.example", "Island Times", "en", 76)
    },
    Outlet {
        beats: &["farming", "school", "roads", "drought"],
        ..Outlet::weekly("valleyobserver.example", "Valley Observer", "en", 48)
    },
    Outlet {
        beats: &["science", "hospital", "solar"],
        ..Outlet::weekly("sciencedesk.example", "Science Desk", "en", 44)
    },
    Outlet {
        beats: &["council", "budget", "court", "housing"],
        since: Some(date(2021, 1, 4)),
        ..Outlet::weekly("thecommons.example", "The Commons", "en", 56)
    },
    Outlet { genre: "agency", beats: &[], ..Outlet::daily(AGENCY, "Halmora News Agency", "en", 56) },
    Outlet { beats: &[], ..Outlet::daily("hochlandbote.example", "Hochlandbote", "de", 76) },
    Outlet { beats: &[], ..Outlet::weekly("steinauer-zeitung.example", "Steinauer Zeitung", "de", 44) },
    Outlet { beats: &[], ..Outlet::daily("elfaro.example", "El Faro del Sur", "es", 70) },
    Outlet { beats: &[], ..Outlet::daily("diarioclaro.example", "Diario Claro", "es", 54) },
];

impl Outlet {
    const fn daily(host: &'static str, name: &'static str, language: &'static str, articles_a_year: u32) -> Outlet {
        Outlet {
            host,
            name,
            language,
            genre: "daily",
            articles_a_year,
            since: None,
            silent: None,
            licence: "by",
            beats: &[],
        }
    }

    const fn weekly(host: &'static str, name: &'static str, language: &'static str, articles_a_year: u32) -> Outlet {
        Outlet { genre: "weekly", ..Outlet::daily(host, name, language, articles_a_year) }
    }

    /// Whether it publishes on a day.
    pub fn publishes_on(&self, day: Date) -> bool {
        self.since.is_none_or(|since| since <= day)
            && self.silent.is_none_or(|(first, last)| !(first..=last).contains(&day))
    }
}
