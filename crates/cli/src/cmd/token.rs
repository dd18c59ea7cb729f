//! `tidings token`: who may read text over the network.

use anyhow::{Result, anyhow};
use tidings_pipeline::tokens::{self, Expiry, Scope, TokenRow};

use super::{Report, open_home};
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

fn parse_expiry(text: &str) -> Result<Expiry> {
    text.parse().map_err(|error| anyhow!("--expires {text}: {error}"))
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, _) = open_home(global)?;
    match &args.what {
        What::List => Ok(table(&tokens::list(&home)?)),
        What::Add { name, scope, expires } => {
            let expiry = expires.as_deref().map(parse_expiry).transpose()?;
            Ok(tokens::add(&home, name, *scope, expiry)?.into())
        }
        What::Revoke { name } => Ok(tokens::revoke(&home, name)?.into()),
    }
}

fn table(rows: &[TokenRow]) -> Report {
    let mut table = Table::new(&["name", "scope", "created", "expires"]);
    for row in rows {
        let expires = match row.expires.as_str() {
            "" => "never".to_owned(),
            time if row.expired => format!("{time} (over)"),
            time => time.to_owned(),
        };
        table.push(vec![row.name.clone(), row.scope.to_owned(), row.created.clone(), expires]);
    }
    let text = if rows.is_empty() { "there is no token yet\n".to_owned() } else { table.text() };
    Report::list(text, rows)
}
