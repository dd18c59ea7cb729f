//! `tidings status`: the state of the home, for people and monitoring.

use anyhow::Result;
use serde::Serialize;
use tidings_pipeline::health::status::{self, State};

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes (as in Nagios): 0 OK, 1 warning, 2 critical: data is being lost or will be soon, 3 the home cannot be \
    read.\n\n\
    Feeds: alive (responding), quiet (responding, less than one entry a month), failing (last requests failed), dead (gone, or \
    failing for a week). A feed is below its baseline if its volume of the last days has a probability of less than one in \
    thousands, given its last eight weeks and weekdays (docs/notes/status.md)."
)]
pub struct Args {
    /// Exit with 1 if the state is critical or the home is unreadable, else with 0; for containers
    #[arg(long)]
    health: bool,
}

/// The JSON of a home that cannot be read.
#[derive(Serialize)]
struct Unreadable {
    done: bool,
    error: String,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let print = |text: &str, json: &serde_json::Value| {
        console::print(&if global.json { format!("{json}\n") } else { text.to_owned() });
    };
    // The usual exit codes do not apply: to a monitor, 1 means warning.
    let code = match super::open_interruptible(global).and_then(|pipeline| status::status(&pipeline)) {
        Ok(outcome) => {
            let code = match outcome.state {
                State::Ok => 0,
                State::Warning => 1,
                State::Critical => 2,
            };
            let report = Report::from(outcome);
            print(&report.text, &report.json);
            code
        }
        Err(error) => {
            log::error!("{error:#}");
            print("", &serde_json::to_value(Unreadable { done: false, error: format!("{error:#}") })?);
            3
        }
    };
    std::process::exit(if args.health { i32::from(code > 1) } else { code });
}
