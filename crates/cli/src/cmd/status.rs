//! `tidings status`: how the home is, on one screen and for monitors.

use anyhow::Result;
use serde::Serialize;
use tidings_pipeline::health::status::{self, State};

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes, as monitors expect them: 0 all is well, 1 something needs a look, 2 data is being lost or will be \
    soon, 3 the home cannot be read.\n\n\
    Feeds: alive (answered), quiet (answered, but less than an entry a month), failing (did not answer of late), dead (gone for \
    good, or failing for a week). A feed below its own baseline brought so little in the last days that chance would do it \
    once in thousands of times, by its own past eight weeks and weekdays (docs/notes/status.md)."
)]
pub struct Args {
    /// For health checks of containers: exit with 1 where data is being lost or the home cannot be read, else with 0
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
    // Nothing is left to the usual codes here: what a monitor takes for a warning must be one.
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
