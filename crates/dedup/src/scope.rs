//! Against what a document is judged: all that was seen, or what was seen lately, this month, at this site.
//!
//! The scope changes how often a word occurs over time, so that it is a choice of whoever builds a
//! corpus. A month and a site become part of the keys; a window is a number of a piece below which
//! nothing counts, because pieces are numbered in the order of time.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::hash;

/// What a document is judged against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Scope {
    /// Everything that was ever seen.
    #[default]
    All,
    /// What was seen on the same day and on so many days before it.
    Days(u32),
    /// What is dated in the same calendar month.
    Month,
    /// What the same site published.
    Site,
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Scope, String> {
        match text {
            "all" => Ok(Scope::All),
            "month" => Ok(Scope::Month),
            "site" => Ok(Scope::Site),
            _ => match text.strip_suffix('d').and_then(|days| days.parse().ok()) {
                Some(days @ 1..=100_000) => Ok(Scope::Days(days)),
                _ => Err(format!("`{text}` is no scope; give all, month, site, or a window of days such as 30d")),
            },
        }
    }
}

impl TryFrom<String> for Scope {
    type Error = String;

    fn try_from(text: String) -> Result<Scope, String> {
        text.parse()
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> String {
        match scope {
            Scope::All => "all".to_owned(),
            Scope::Month => "month".to_owned(),
            Scope::Site => "site".to_owned(),
            Scope::Days(days) => format!("{days}d"),
        }
    }
}

/// Where and when a document comes from, as far as anybody knows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Origin<'a> {
    /// Its name: what copies of it will be said to be copies of.
    pub name: &'a str,
    /// Who published it.
    pub site: &'a str,
    /// The month it belongs to.
    pub month: &'a str,
    /// The day on which it was seen, counted from any day.
    pub day: i64,
    /// A checksum of the raw page, where that is known.
    pub page: Option<u64>,
}

impl Scope {
    /// What makes keys of one scope differ from those of another.
    pub(crate) fn salt(self, origin: &Origin<'_>) -> u64 {
        match self {
            Scope::All | Scope::Days(_) => 0,
            Scope::Month => hash::bytes(origin.month.as_bytes()),
            Scope::Site => hash::bytes(origin.site.as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_has_a_name() {
        for text in ["all", "month", "site", "30d"] {
            assert_eq!(String::from(text.parse::<Scope>().unwrap()), text);
        }
        for text in ["", "d", "0d", "-3d", "week", "30"] {
            assert!(text.parse::<Scope>().unwrap_err().contains("30d"));
        }
    }
}
