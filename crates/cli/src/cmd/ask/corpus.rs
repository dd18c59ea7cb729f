//! `tidings corpus`: virtual corpora by name.
//!
//! A virtual corpus is a filter that somebody gave a name; its documents are found anew whenever it is
//! asked, so that it grows with the corpus. They lie in `corpora.tsv`, which may be edited.

use anyhow::{Result, bail};
use serde_json::json;
use tidings_query::Filter;
use tidings_store::Home;
use tidings_store::corpora::{self, Named};

use super::parse_filter;
use crate::args::Global;
use crate::cmd::{Report, open_home};
use crate::session::Session;
use crate::table::Table;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Name a filter, such as: tidings corpus save spring "date>=2026-03 date<=2026-05"
    Save {
        /// Letters, digits, hyphens
        name: String,
        /// Which documents
        filter: String,
    },
    /// Show all that are named
    List,
    /// Forget one
    Remove {
        /// Its name
        name: String,
    },
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = open_home(global)?;
    match &args.what {
        What::List => {
            let known = corpora::read(&home)?;
            let mut table = Table::new(&["name", "filter"]);
            known.iter().for_each(|named| table.push(vec![named.name.clone(), named.filter.clone()]));
            let text = if known.is_empty() { "no virtual corpus is named yet\n".to_owned() } else { table.text() };
            let rows: Vec<_> =
                known.iter().map(|named| json!({ "name": named.name, "filter": named.filter })).collect();
            Ok(Report { text, json: json!(rows), ..Report::default() })
        }
        What::Save { name, filter } => {
            let is_plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
            if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
                bail!("`{name}` is no name for a corpus; use letters, digits and hyphens");
            }
            let filter = parse_filter(filter)?.to_string();
            let session = Session::open(home, config, "corpus")?;
            let mut known = corpora::read(&session.home)?;
            known.retain(|named| named.name != *name);
            known.push(Named { name: name.clone(), filter: filter.clone() });
            known.sort_by(|a, b| a.name.cmp(&b.name));
            corpora::write(&session.home, known)?;
            let text = format!("{name} is {filter}; ask it with --in {name}\n");
            Ok(Report { text, json: json!({ "name": name, "filter": filter }), ..Report::default() })
        }
        What::Remove { name } => {
            find(&home, name)?;
            let session = Session::open(home, config, "corpus")?;
            let mut known = corpora::read(&session.home)?;
            known.retain(|named| named.name != *name);
            corpora::write(&session.home, known)?;
            Ok(Report { text: format!("{name} is forgotten\n"), json: json!({ "removed": name }), ..Report::default() })
        }
    }
}

/// The filter of a name.
pub fn find(home: &Home, name: &str) -> Result<Filter> {
    let known = corpora::read(home)?;
    match known.iter().find(|named| named.name == name) {
        Some(named) => parse_filter(&named.filter),
        None if known.is_empty() => bail!("there is no virtual corpus yet; name one with `tidings corpus save`"),
        None => {
            let names: Vec<&str> = known.iter().map(|named| named.name.as_str()).collect();
            bail!("there is no virtual corpus {name}; there are {}", names.join(", "))
        }
    }
}
