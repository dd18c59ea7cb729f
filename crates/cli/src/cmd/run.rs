//! `tidings run`: the corridor in one command, from the feeds to the index.
//!
//! Each stage is the very command that can be typed by itself, with its own record in `runs/`. A stage that
//! could not do its work does not keep the others from what is there: a network that is down is no reason
//! to leave yesterday's pages unread.

use anyhow::Result;
use clap::Parser as _;
use serde_json::{Map, Value, json};

use super::Report;
use crate::args::Global;
use crate::console;

/// The stages, in their order.
const STAGES: [&str; 6] = ["update", "fetch", "clean", "dedup", "annotate", "compile"];

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Stages: update, fetch, clean, dedup, annotate, compile. Safe to start at any time, from cron or by hand: one run at \
    a time has the home, and each stage goes on where an earlier run was stopped."
)]
pub struct Args {
    /// Begin with this stage, such as clean
    #[arg(long, value_name = "STAGE", value_parser = STAGES)]
    from: Option<String>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    // The home is looked for once, so that every stage works in the same one.
    let (home, _) = super::open_home(global)?;
    let home = home.root().to_string_lossy().into_owned();
    let first = args.from.as_deref().and_then(|from| STAGES.iter().position(|stage| *stage == from)).unwrap_or(0);
    let mut stages = Map::new();
    let (mut failed, mut partly) = (false, false);
    for stage in &STAGES[first..] {
        let words = ["tidings", stage, "--home", &home];
        let ended = crate::run(crate::args::Args::try_parse_from(words)?);
        let report = match ended {
            Ok(report) => report,
            Err(error) => {
                log::error!("{stage}: {error:#}");
                Report {
                    json: json!({ "done": false, "error": format!("{error:#}") }),
                    failed: true,
                    ..Report::default()
                }
            }
        };
        if !global.json {
            let lines = report.text.lines().map(|line| format!("{stage:<9} {line}\n"));
            console::print(&lines.collect::<String>());
        }
        failed |= report.failed;
        partly |= report.partly;
        stages.insert((*stage).to_owned(), report.json);
    }
    Ok(Report { text: String::new(), json: Value::Object(stages), failed, partly })
}
