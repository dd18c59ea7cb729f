//! `tidings searches`: saved searches, their feeds and webhooks.

use anyhow::Result;
use tidings_pipeline::searches::{self, NewSearch, SearchRow};

use super::{Report, open_interruptible};
use crate::args::Global;
use crate::style::Style;
use crate::table::Table;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Every saved search has a feed of new hits: /api/v1/searches/NAME/feed of `tidings serve`, as RSS or \
    JSON.\n\n\
    With --webhook, `tidings run` sends a POST request with JSON to an address when there are new hits: search, lang, query, \
    filter, hits, documents, items (id, date, site, title, url, lines) and link. Addresses that are not public need the \
    setting fetch.allow_private. A request that fails is repeated, also by later runs, so a notification may arrive twice.\n\n\
    Example:\n  \
    tidings searches add storms '[lemma=\"storm\"]' --lang en --webhook https://chat.example/hooks/1"
)]
pub struct Args {
    #[command(subcommand)]
    action: SearchesAction,
}

#[derive(Debug, clap::Subcommand)]
enum SearchesAction {
    /// List the saved searches and the state of their webhooks
    List,
    /// Save a search; replaces an existing one with its name
    Add {
        /// Name of the search: letters, digits, hyphens, dots and underscores
        name: String,
        /// Query: a word, several words, or CQL
        query: String,
        /// Language, such as de [default: the only one there is]
        #[arg(long, value_name = "CODE")]
        lang: Option<String>,
        /// Filter by metadata, such as "site=gazette.example"
        #[arg(long)]
        filter: Option<String>,
        /// URL to notify of new hits
        #[arg(long, value_name = "URL")]
        webhook: Option<String>,
    },
    /// Remove a search
    Remove {
        /// Name of the search
        name: String,
    },
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let pipeline = open_interruptible(global)?;
    Ok(match &args.action {
        SearchesAction::List => table(&searches::list(pipeline.home())?),
        SearchesAction::Add { name, query, lang, filter, webhook } => {
            let new = NewSearch {
                name: name.clone(),
                lang: lang.clone(),
                query: query.clone(),
                filter: filter.clone(),
                webhook: webhook.clone(),
            };
            searches::save(&pipeline, &new)?.into()
        }
        SearchesAction::Remove { name } => searches::remove(&pipeline, name)?.into(),
    })
}

fn table(rows: &[SearchRow]) -> Report {
    let mut table = Table::new(&["name", "language", "query", "filter", "webhook", "last notified", "failure"]);
    for row in rows {
        let SearchRow { name, lang, q, filter, webhook, notified, failure, .. } = row.clone();
        table.push(vec![name, lang, q, filter, webhook, notified, failure]);
    }
    let text = if rows.is_empty() { "no saved searches\n".to_owned() } else { table.text(Style::stdout()) };
    Report::list(text, rows)
}
