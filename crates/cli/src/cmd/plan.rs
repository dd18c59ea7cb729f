//! `tidings plan`: shows the plan, or the part of it that was asked for.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;
use tidings_model::{Row, address};
use tidings_store::plan;

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only entries with this status (new, ok, 404, timeout, …); may be given several times
    #[arg(long, value_name = "STATUS")]
    status: Vec<String>,
    /// Only entries of this host
    #[arg(long)]
    host: Option<String>,
    /// Only entries of this feed
    #[arg(long, value_name = "URL")]
    feed: Option<String>,
    /// Stop after this many entries
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
    /// Print only how many entries have each status
    #[arg(long)]
    count: bool,
    /// Read this plan file instead of the home's: ours or FeedFetcher's, plain or compressed
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Args {
    fn wants(&self, row: &Row<'_>) -> bool {
        (self.status.is_empty() || self.status.iter().any(|status| status == row.status))
            && self.feed.as_ref().is_none_or(|feed| feed == row.feed)
            && self
                .host
                .as_ref()
                .is_none_or(|host| address::host(row.url).is_some_and(|h| h.eq_ignore_ascii_case(host)))
    }
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let path = match &args.file {
        Some(path) => path.clone(),
        None => plan::path(&super::open_home(global)?.0)?,
    };
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut shown = 0;
    let mut out = String::new();
    plan::read_file(&path, |row| {
        if !args.wants(row) || args.limit.is_some_and(|limit| shown >= limit) {
            return;
        }
        shown += 1;
        *counts.entry(row.status.to_owned()).or_default() += 1;
        if !args.count && !global.json {
            row.write(&mut out);
            if out.len() > 1 << 16 {
                console::print(&out);
                out.clear();
            }
        }
    })?;
    if args.count {
        for (status, number) in &counts {
            let _ = writeln!(out, "{number}\t{status}");
        }
    }
    Ok(Report { text: out, json: json!({ "done": true, "entries": shown, "statuses": counts }), ..Report::default() })
}
