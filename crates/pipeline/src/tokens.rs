//! Access tokens: read permissions over the network.

use std::fmt;

use anyhow::{Result, bail};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
pub use tidings_store::tokens::Scope;
use tidings_store::tokens::{self, Token};
use tidings_store::{Home, Lock};

use crate::config::Span;
use crate::outcome::Outcome;

/// The expiry of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// A duration from now.
    After(SignedDuration),
    /// The start of a day.
    On(Date),
}

impl std::str::FromStr for Expiry {
    type Err = String;

    fn from_str(text: &str) -> Result<Expiry, String> {
        if let Ok(date) = text.parse::<Date>() {
            return Ok(Expiry::On(date));
        }
        match text.parse::<Span>().map(|span| SignedDuration::try_from(span.0)) {
            Ok(Ok(span)) => Ok(Expiry::After(span)),
            _ => Err("give a duration such as 90d, or a date such as 2027-01-01".to_owned()),
        }
    }
}

impl Expiry {
    fn timestamp(self, now: Timestamp) -> Result<Timestamp> {
        Ok(match self {
            Expiry::On(date) => date.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp(),
            Expiry::After(span) => now.checked_add(span)?,
        })
    }
}

/// A token without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TokenRow {
    /// The owner or purpose.
    pub name: String,
    /// The permissions.
    pub scope: &'static str,
    /// The time of creation.
    pub created: String,
    /// The expiry; empty if it does not expire.
    pub expires: String,
    /// Whether it has expired.
    pub expired: bool,
}

/// A new token with its secret, which is shown once.
#[derive(Debug, Clone, Serialize)]
pub struct AddOutcome {
    /// The owner or purpose.
    pub name: String,
    /// The permissions.
    pub scope: &'static str,
    /// The expiry; empty if it does not expire.
    pub expires: String,
    /// The secret.
    pub token: String,
}

impl Outcome for AddOutcome {}

impl fmt::Display for AddOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.token)
    }
}

/// A token that was revoked.
#[derive(Debug, Clone, Serialize)]
pub struct RevokeOutcome {
    /// Its name.
    pub revoked: String,
}

impl Outcome for RevokeOutcome {}

impl fmt::Display for RevokeOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "token {} revoked", self.revoked)
    }
}

/// Locks the home, if no run holds the lock. A crawl may hold it for an hour, and a revocation must not wait: no run
/// writes this table.
fn try_lock(home: &Home) -> Option<Lock> {
    home.lock().ok()
}

/// All tokens.
pub fn list(home: &Home) -> Result<Vec<TokenRow>> {
    let now = tidings_model::clock::now();
    let row = |token: Token| TokenRow {
        scope: token.scope.map_or("none", Scope::name),
        expired: token.has_expired(now),
        name: token.name,
        created: token.created,
        expires: token.expires,
    };
    Ok(tokens::read(home)?.into_iter().map(row).collect())
}

/// Creates a token.
pub fn add(home: &Home, name: &str, scope: Scope, expiry: Option<Expiry>) -> Result<AddOutcome> {
    if name.trim().is_empty() || name.len() > 100 || name.chars().any(char::is_control) {
        bail!("invalid token name `{}`; use the name of its owner", name.escape_debug());
    }
    let _lock = try_lock(home);
    let now = tidings_model::clock::now();
    let mut known = tokens::read(home)?;
    if known.iter().any(|token| token.name == name) {
        bail!("token {name} already exists; revoke it first or choose another name");
    }
    let expires = expiry.map(|expiry| expiry.timestamp(now)).transpose()?;
    let (token, secret) = Token::make(name, scope, now, expires)?;
    let expires = token.expires.clone();
    known.push(token);
    tokens::write(home, known)?;
    log::info!("the token is shown only once; send it as `Authorization: Bearer …`");
    Ok(AddOutcome { name: name.to_owned(), scope: scope.name(), expires, token: secret })
}

/// Revokes a token at once.
pub fn revoke(home: &Home, name: &str) -> Result<RevokeOutcome> {
    let _lock = try_lock(home);
    let mut known = tokens::read(home)?;
    let before = known.len();
    known.retain(|token| token.name != name);
    if known.len() == before {
        bail!("no token named {name}; `tidings token list` lists all tokens");
    }
    tokens::write(home, known)?;
    Ok(RevokeOutcome { revoked: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_a_duration_or_a_date() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let end = |text: &str| text.parse::<Expiry>().unwrap().timestamp(now).unwrap().to_string();
        assert_eq!(end("2d"), "2026-03-03T12:00:00Z");
        assert_eq!(end("2027-01-01"), "2027-01-01T00:00:00Z");
        assert!("soon".parse::<Expiry>().is_err());
    }

    #[test]
    fn a_token_is_created_listed_and_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let pipeline = crate::Pipeline::create(folder.path()).unwrap();
        let home = pipeline.home();
        let made = add(home, "reader", Scope::Text, None).unwrap();
        assert!(made.to_string().starts_with("tidings_"));
        assert!(add(home, "reader", Scope::Text, None).is_err() && add(home, " ", Scope::Text, None).is_err());
        let rows = list(home).unwrap();
        assert_eq!((rows.len(), rows[0].scope, rows[0].expired), (1, "text", false));
        assert_eq!(revoke(home, "reader").unwrap().to_string(), "token reader revoked\n");
        assert!(revoke(home, "reader").is_err() && list(home).unwrap().is_empty());
    }

    #[test]
    fn an_expired_token_is_listed_as_expired() {
        let (_folder, pipeline) = crate::test_home::empty();
        add(pipeline.home(), "past", Scope::Text, Some("2001-01-01".parse().unwrap())).unwrap();
        add(pipeline.home(), "future", Scope::Admin, Some("9999-01-01".parse().unwrap())).unwrap();
        let rows: Vec<(String, bool)> =
            list(pipeline.home()).unwrap().into_iter().map(|row| (row.name, row.expired)).collect();
        assert_eq!(rows, [("past".to_owned(), true), ("future".to_owned(), false)]);
    }

    #[test]
    fn the_secret_is_shown_once_and_not_stored() {
        let (_folder, pipeline) = crate::test_home::empty();
        let secret = add(pipeline.home(), "reader", Scope::Text, None).unwrap().token;
        let bare = secret.trim_start_matches("tidings_").as_bytes();
        for (name, bytes) in crate::test_home::files_of(pipeline.home().root()) {
            assert!(!bytes.windows(bare.len()).any(|part| part == bare), "{}", name.display());
        }
    }

    #[test]
    fn names_that_would_break_the_table_are_rejected() {
        let (_folder, pipeline) = crate::test_home::empty();
        for name in ["a\tb", "a\nb", "", &"x".repeat(101)] {
            assert!(add(pipeline.home(), name, Scope::Text, None).is_err(), "{name:?}");
        }
    }
}
