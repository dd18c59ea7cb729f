//! `tidings token`: who may read text over the network.

use anyhow::{Result, bail};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tidings_store::tokens::{self, Scope, Token};

use super::{Report, open_home, parse_time};
use crate::args::Global;
use crate::table::Table;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Make a token and print it, once
    Add {
        /// Whose it is, or what for
        #[arg(long)]
        name: String,
        /// text: read lines where documents admit it; admin: everything
        #[arg(long, value_name = "SCOPE", default_value = "text", value_parser = parse_scope)]
        scope: Scope,
        /// When it ends: a time from now such as 90d, or a day such as 2027-01-01 [default: never]
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
    },
    /// Show all, without their secrets
    List,
    /// End one at once
    Revoke {
        /// Its name
        name: String,
    },
}

fn parse_scope(name: &str) -> Result<Scope, String> {
    Scope::named(name).ok_or_else(|| "give text or admin".to_owned())
}

/// When something ends: a while from now, or at the beginning of a day.
fn parse_end(text: &str, now: Timestamp) -> Result<Timestamp> {
    if let Ok(date) = text.parse::<Date>() {
        return Ok(date.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp());
    }
    match parse_time(text).map(SignedDuration::try_from) {
        Ok(Ok(while_from_now)) => Ok(now.checked_add(while_from_now)?),
        _ => bail!("--expires {text}: give a time such as 90d, or a day such as 2027-01-01"),
    }
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, _) = open_home(global)?;
    // A harvest may have the home for an hour, and a revocation must not wait for it: nobody else writes this table.
    let _lock = home.lock().ok();
    let now = tidings_model::clock::now();
    match &args.what {
        What::List => {
            let known = tokens::read(&home)?;
            let mut table = Table::new(&["name", "scope", "created", "expires"]);
            let scope = |token: &Token| token.scope.map_or("none", Scope::name);
            for token in &known {
                let expires = match token.expires.as_str() {
                    "" => "never".to_owned(),
                    time if token.has_expired(now) => format!("{time} (over)"),
                    time => time.to_owned(),
                };
                table.push(vec![token.name.clone(), scope(token).to_owned(), token.created.clone(), expires]);
            }
            let text = if known.is_empty() { "there is no token yet\n".to_owned() } else { table.text() };
            let row = |token: &Token| {
                json!({ "name": token.name, "scope": scope(token), "created": token.created, "expires": token.expires,
                    "expired": token.has_expired(now) })
            };
            Ok(Report { text, json: known.iter().map(row).collect(), ..Report::default() })
        }
        What::Add { name, scope, expires } => {
            if name.trim().is_empty() || name.len() > 100 || name.chars().any(char::is_control) {
                bail!("`{}` is no name for a token; say whose it is", name.escape_debug());
            }
            let expires = expires.as_deref().map(|text| parse_end(text, now)).transpose()?;
            let mut known = tokens::read(&home)?;
            if known.iter().any(|token| token.name == *name) {
                bail!("there is a token {name} already; revoke it first, or take another name");
            }
            let (token, secret) = Token::make(name, *scope, now, expires)?;
            let json = json!({ "name": name, "scope": scope.name(), "expires": token.expires, "token": secret });
            known.push(token);
            tokens::write(&home, known)?;
            log::info!("this is shown once; send it as `Authorization: Bearer …`");
            Ok(Report { text: secret + "\n", json, ..Report::default() })
        }
        What::Revoke { name } => {
            let mut known = tokens::read(&home)?;
            let before = known.len();
            known.retain(|token| token.name != *name);
            if known.len() == before {
                bail!("there is no token {name}; `tidings token list` shows all");
            }
            tokens::write(&home, known)?;
            Ok(Report { text: format!("{name} is revoked\n"), json: json!({ "revoked": name }), ..Report::default() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_while_or_a_day() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        assert_eq!(parse_end("2d", now).unwrap().to_string(), "2026-03-03T12:00:00Z");
        assert_eq!(parse_end("2027-01-01", now).unwrap().to_string(), "2027-01-01T00:00:00Z");
        assert!(parse_end("soon", now).is_err());
    }
}
