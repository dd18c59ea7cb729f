//! The scope of comparison: all documents, a window of days, the same month or the same site.
//!
//! The scope changes word frequencies over time, so the builder of a corpus chooses it. Month and site are mixed
//! into the fingerprints. A window is a lower bound of block ids, because ids ascend with time.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::fingerprint_index::FINGERPRINT_BITS;
use crate::hash::{self, mix};

/// The documents that a document is compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Scope {
    /// All earlier documents.
    #[default]
    All,
    /// Documents seen on the same day or on this many days before.
    Days(u32),
    /// Documents dated in the same calendar month.
    Month,
    /// Documents of the same site.
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
                _ => Err(format!("unknown scope `{text}`; use all, month, site, or a window of days such as 30d")),
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

/// Provenance of a document, as far as it is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Origin<'a> {
    /// The name that verdicts on its copies refer to.
    pub name: &'a str,
    /// The site that published it.
    pub site: &'a str,
    /// The month it is dated in.
    pub month: &'a str,
    /// The day on which it was seen, counted from any epoch.
    pub day: i64,
    /// A checksum of the raw page, if known.
    pub page: Option<u64>,
}

impl Scope {
    /// A salt that separates the fingerprints of different months or sites.
    pub(crate) fn salt(self, origin: &Origin<'_>) -> u64 {
        match self {
            Scope::All | Scope::Days(_) => 0,
            Scope::Month => hash::bytes(origin.month.as_bytes()),
            Scope::Site => hash::bytes(origin.site.as_bytes()),
        }
    }
}

/// The fingerprint of a hash in the scope with this salt.
pub(crate) fn fingerprint(hash: u64, salt: u64) -> u64 {
    mix(hash ^ salt) >> (64 - FINGERPRINT_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_round_trip_through_their_names() {
        for text in ["all", "month", "site", "30d"] {
            assert_eq!(String::from(text.parse::<Scope>().unwrap()), text);
        }
        for text in ["", "d", "0d", "-3d", "week", "30"] {
            assert!(text.parse::<Scope>().unwrap_err().contains("30d"));
        }
    }
}
