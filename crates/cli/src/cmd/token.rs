//! `tidings token`: access tokens of the HTTP API.

use anyhow::Result;
use tidings_pipeline::tokens::{self, Expiry, Scope, TokenRow};
use tidings_pipeline::usage_error::UsageError;

use super::{Report, open_home};
use crate::args::Global;
use crate::style::Style;
use crate::table::Table;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: TokenAction,
}

#[derive(Debug, clap::Subcommand)]
enum TokenAction {
    /// Create a token and print it; it is not shown again
    Add {
        /// Name of the user or the purpose
        #[arg(long)]
        name: String,
        /// Permission: text (text of documents that allow it) or admin (everything)
        #[arg(long, value_name = "SCOPE", default_value = "text", value_parser = parse_scope)]
        scope: Scope,
        /// End of validity: a duration such as 90d, or a day such as 2027-01-01 [default: never]
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
    },
    /// List the tokens, without their secrets
    List,
    /// Revoke a token immediately
    Revoke {
        /// Name of the token
        name: String,
    },
}

fn parse_scope(name: &str) -> Result<Scope, String> {
    Scope::named(name).ok_or_else(|| "expected text or admin".to_owned())
}

fn parse_expiry(text: &str) -> Result<Expiry> {
    Ok(text.parse::<Expiry>().map_err(|error| UsageError::new(format!("--expires {text}: {error}")))?)
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, _) = open_home(global)?;
    match &args.action {
        TokenAction::List => Ok(table(&tokens::list(&home)?)),
        TokenAction::Add { name, scope, expires } => {
            let expiry = expires.as_deref().map(parse_expiry).transpose()?;
            Ok(tokens::add(&home, name, *scope, expiry)?.into())
        }
        TokenAction::Revoke { name } => Ok(tokens::revoke(&home, name)?.into()),
    }
}

fn table(rows: &[TokenRow]) -> Report {
    let mut table = Table::new(&["name", "scope", "created", "expires"]);
    for row in rows {
        let expires = match row.expires.as_str() {
            "" => "never".to_owned(),
            time if row.expired => format!("{time} (expired)"),
            time => time.to_owned(),
        };
        table.push(vec![row.name.clone(), row.scope.to_owned(), row.created.clone(), expires]);
    }
    let text = if rows.is_empty() { "no tokens\n".to_owned() } else { table.text(Style::stdout()) };
    Report::list(text, rows)
}
