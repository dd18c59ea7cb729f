//! `tidings backup`: copies what cannot be made again to another place; only what is new since the last time.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use jiff::Timestamp;
use serde_json::json;
use tidings_store::backup::{Backup, FOLDER_ENDING};
use tidings_store::{Error, stamp};

use super::Report;
use crate::args::Global;
use crate::console;
use tidings_pipeline::context::RunContext;
use tidings_pipeline::display::{count, grouped, span};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Saved are settings, feeds, the plan, pages, states, lists of hidden and removed documents, tokens and the logs of runs: all but \
    docs/, seen/, text/, index/ and history/, which can be made again. Pages are copied once. It may run at any time, also while \
    pages are fetched; those of a run under way are left to the next backup. `tidings restore` makes a home of it."
)]
pub struct Args {
    /// The folder of the backup, best on another disk or machine
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// Only read the backup and hold every byte against its digest
    #[arg(long)]
    verify: bool,
    /// Write to a backup of another home
    #[arg(long)]
    replace: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let began = std::time::Instant::now();
    let mut backup = Backup::open(&args.to)?;
    if args.verify {
        return verify(&backup, args);
    }
    let (home, config) = super::open_home(global)?;
    let whole = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path));
    if whole(&args.to)?.starts_with(whole(home.root())?) {
        bail!("{} lies in the home itself; a backup belongs elsewhere", args.to.display());
    }
    if args.to.join(tidings_store::SETTINGS).exists() {
        bail!("{} is a home; give the folder of a backup, or one that is not there yet", args.to.display());
    }
    if backup.is_of_another(&home) && !args.replace {
        bail!(
            "{} is a backup of another home, or this one has lost its pages; `tidings restore` brings those back, and --replace \
             writes over the backup",
            args.to.display()
        );
    }
    // What changes is copied while nobody writes, if possible; pages do not change, so that a harvest need not wait for them.
    let (name, draught) = match RunContext::open(&tidings_pipeline::Pipeline::new(home.clone(), config), "backup") {
        Ok(session) => (session.run.clone(), backup.begin(&home, &session.run)?),
        Err(error) if matches!(error.downcast_ref::<Error>(), Some(Error::Locked { .. })) => {
            let name = format!("{}{FOLDER_ENDING}", stamp(Timestamp::now()));
            let draught = backup.begin(&home, &name)?;
            (name, draught)
        }
        Err(error) => return Err(error),
    };
    let mut progress = console::progress("files", 0);
    let taken = backup.finish(&home, draught, |done, total, path| {
        progress.set_total(total);
        progress.show(done, path);
    })?;
    drop(progress);
    for path in taken.lost.iter().take(5) {
        log::warn!("the home has lost {path}; the backup keeps it");
    }
    if let Some(run) = &taken.under_way {
        log::info!("the run {run} is under way; the next backup has its pages");
    }
    let text = format!(
        "{} and {} bytes copied, {} in the backup, {}\n",
        count(taken.copied, "file"),
        grouped(taken.copied_bytes),
        count(taken.files, "file"),
        span(began.elapsed())
    );
    let json = json!({
        "done": true,
        "run": name,
        "files": taken.files,
        "bytes": taken.bytes,
        "copied": taken.copied,
        "copied_bytes": taken.copied_bytes,
        "lost": taken.lost,
        "under_way": taken.under_way,
    });
    Ok(Report { text, json, partly: !taken.lost.is_empty(), ..Report::default() })
}

fn verify(backup: &Backup, args: &Args) -> Result<Report> {
    if backup.is_empty() {
        bail!("there is no backup in {}", args.to.display());
    }
    let mut progress = console::progress("files", 0);
    let faults = backup.verify(|done, total, path| {
        progress.set_total(total);
        progress.show(done, path);
    })?;
    drop(progress);
    faults.iter().for_each(|fault| log::error!("{fault}"));
    let (files, bytes) = backup.size();
    let text = match faults.len() as u64 {
        0 => format!("{} with {} bytes are as they were saved\n", count(files, "file"), grouped(bytes)),
        bad => format!("{} of {files} not as they were saved\n", count(bad, "file")),
    };
    let json = json!({ "done": faults.is_empty(), "files": files, "bytes": bytes, "faults": faults });
    Ok(Report { text, json, failed: !faults.is_empty(), ..Report::default() })
}
