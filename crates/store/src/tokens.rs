//! Access tokens of the HTTP API, in `tokens.tsv`.
//!
//! A token is 256 random bits that are shown once. The home stores only its SHA-256 digest, so that readers of the home
//! or a backup cannot use it.

use std::fmt::Write as _;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tidings_storage::file::write_private;

use crate::error::{Context as _, Result};
use crate::home::Home;
use crate::table::{self, Field, columns};

/// The prefix of every secret, by which people and secret scanners recognise it.
const PREFIX: &str = "tidings_";

/// The permission of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Read text if the availability of the documents allows it.
    Text,
    /// All permissions, including server metrics.
    Admin,
}

impl Scope {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Scope); 2] = [("text", Scope::Text), ("admin", Scope::Admin)];

    /// The scope of a name.
    pub fn named(name: &str) -> Option<Scope> {
        Scope::ALL.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Scope::ALL.iter().find(|row| row.1 == self).map_or("text", |row| row.0)
    }
}

impl Field for Option<Scope> {
    fn to_text(&self) -> String {
        self.map(Scope::name).unwrap_or_default().to_owned()
    }

    fn from_text(text: String) -> Option<Scope> {
        Scope::named(&text)
    }
}

/// A token without its secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Token {
    /// Its name for people.
    pub name: String,
    /// Its permission; `None` if the name in the table is unknown.
    pub scope: Option<Scope>,
    /// The digest of its secret, in hexadecimal digits.
    pub digest: String,
    /// The time of creation.
    pub created: String,
    /// The expiry; empty if it does not expire.
    pub expires: String,
}

impl Token {
    /// Creates a token; the second value is its secret, which is shown only once.
    pub fn make(name: &str, scope: Scope, now: Timestamp, expires: Option<Timestamp>) -> Result<(Token, String)> {
        let mut random = [0; 32];
        getrandom::fill(&mut random)
            .map_err(std::io::Error::from)
            .context("get random numbers from", "the system".as_ref())?;
        let secret = format!("{PREFIX}{}", hex(&random));
        let token = Token {
            name: name.to_owned(),
            scope: Some(scope),
            digest: digest(&secret),
            created: crate::rfc3339(now),
            expires: expires.map(crate::rfc3339).unwrap_or_default(),
        };
        Ok((token, secret))
    }

    /// Whether it has expired. An unreadable time counts as expired.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        !self.expires.is_empty() && self.expires.parse::<Timestamp>().map_or(true, |expires| expires <= now)
    }
}

/// The token of a secret, if there is one that has not expired.
///
/// All digests are compared in constant time, so that the duration reveals nothing.
pub fn find<'t>(tokens: &'t [Token], secret: &str, now: Timestamp) -> Option<&'t Token> {
    let given = digest(secret);
    let mut found = None;
    for token in tokens {
        let same = token.digest.len() == given.len()
            && token.digest.bytes().zip(given.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0;
        if same {
            found = Some(token);
        }
    }
    found.filter(|token| token.scope.is_some() && !token.has_expired(now))
}

fn digest(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

columns!(Token { name, scope, digest, created, expires });

/// All tokens.
pub fn read(home: &Home) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    table::read(&home.root().join("tokens.tsv"), |token| tokens.push(token))?;
    Ok(tokens)
}

/// Makes these all tokens.
pub fn write(home: &Home, tokens: Vec<Token>) -> Result<()> {
    Ok(write_private(&home.root().join("tokens.tsv"), table::text(tokens.into_iter()).as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_token_is_found_by_its_secret_until_it_expires() {
        let (now, end) = (at("2026-03-01T00:00:00Z"), at("2026-04-01T00:00:00Z"));
        let (token, secret) = Token::make("reader", Scope::Text, now, Some(end)).unwrap();
        let (other, _) = Token::make("other", Scope::Admin, now, None).unwrap();
        let tokens = [other, token];
        assert_eq!(find(&tokens, &secret, now).map(|token| token.name.as_str()), Some("reader"));
        assert_eq!(find(&tokens, &secret, end), None);
        assert_eq!(find(&tokens, &secret[..secret.len() - 1], now), None);
    }

    #[test]
    fn the_home_stores_no_secret_and_an_unknown_scope_allows_nothing() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        let now = at("2026-03-01T00:00:00Z");
        let (token, secret) = Token::make("reader", Scope::Admin, now, None).unwrap();
        write(&home, vec![token.clone()]).unwrap();
        assert_eq!(read(&home).unwrap(), [token]);
        let path = folder.path().join("tokens.tsv");
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(secret.trim_start_matches(PREFIX)));
        std::fs::write(&path, text.replace("admin", "root")).unwrap();
        assert_eq!(find(&read(&home).unwrap(), &secret, now), None);
    }
}
