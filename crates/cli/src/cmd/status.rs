//! `tidings status`: the state of the home, for people and monitoring.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::json;
use tidings_pipeline::health::metrics;
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
    /// Print metrics in the Prometheus text format, or write them to FILE for the node exporter
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", conflicts_with = "health")]
    metrics: Option<PathBuf>,
}

/// The JSON of a home that cannot be read.
#[derive(Serialize)]
struct Unreadable {
    done: bool,
    error: String,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    if let Some(file) = &args.metrics {
        let text = metrics::of_home(&super::open_interruptible(global)?);
        return match file.as_os_str() == "-" {
            true => Ok(Report { json: json!({ "done": true, "metrics": text }), text, ..Report::default() }),
            false => write_metrics(file, &text),
        };
    }
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

/// Replaces the file at once: the node exporter may read it at any time.
fn write_metrics(file: &Path, text: &str) -> Result<Report> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut draft = tempfile::Builder::new().prefix(".tidings-").tempfile_in(folder)?;
        std::io::Write::write_all(&mut draft, text.as_bytes())?;
        // Temporary files are readable for their owner only, and the exporter is another user.
        std::fs::set_permissions(draft.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
        draft.persist(file)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", file.display()))?;
    Ok(Report { json: json!({ "done": true, "file": file }), ..Report::default() })
}
