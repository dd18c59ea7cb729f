//! `tidings revisions`: pages that changed after their first download, with old and new headlines.

use anyhow::Result;
use tidings_pipeline::usage_error::UsageError;
use tidings_pipeline::views::revisions::{self, RevisionsOutcome};
use tidings_store::revisions::RevisionFilter;

use super::Report;
use crate::args::Global;
use crate::table::Table;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A page is fetched again when its feed announces a change (setting fetch.revisions). The corpus contains the \
    newest revision; all revisions stay among the documents and pages."
)]
pub struct Args {
    /// First day of download of the later revision, such as 2026-03-01 [default: all]
    #[arg(long, value_name = "DAY")]
    since: Option<String>,
    /// Last day of download of the later revision [default: all]
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
    /// Site to list, with its subdomains [default: all]
    #[arg(long)]
    site: Option<String>,
    /// URL of a page [default: all]
    #[arg(long)]
    url: Option<String>,
    /// List changed headlines only
    #[arg(long)]
    headlines: bool,
    /// Print CSV instead of a list
    #[arg(long)]
    csv: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    for (flag, day) in [("--since", &args.since), ("--until", &args.until)] {
        if let Some(day) = day
            && (day.len() != 10 || day.parse::<jiff::civil::Date>().is_err())
        {
            return Err(UsageError::new(format!("{flag} {day} is not a day; write it as 2026-03-01")).into());
        }
    }
    let Args { since, until, site, url, .. } = args;
    let filter = RevisionFilter { since: since.clone(), until: until.clone(), site: site.clone(), url: url.clone() };
    let outcome = revisions::list(&super::open_home(global)?.0, &filter, args.headlines)?;
    let csv = args.csv.then(|| table(&outcome).csv());
    let report = Report::from(outcome);
    Ok(match csv {
        Some(text) => Report { text, ..report },
        None => report,
    })
}

fn table(outcome: &RevisionsOutcome) -> Table {
    let columns =
        ["fetched", "before", "site", "#revision", "old_title", "new_title", "retitled", "rewritten", "id", "url"];
    let mut table = Table::new(&columns);
    for row in &outcome.rows {
        table.push(vec![
            row.after.downloaded.clone(),
            row.before.downloaded.clone(),
            row.site.clone(),
            row.revision.to_string(),
            row.before.title.clone(),
            row.after.title.clone(),
            row.retitled.to_string(),
            row.rewritten.to_string(),
            row.after.id.clone(),
            row.url.clone(),
        ]);
    }
    table
}
