//! `tidings restore`: makes a home of a backup, without what was removed.

use std::path::PathBuf;

use anyhow::{Result, bail};
use serde_json::json;
use tidings_store::Home;
use tidings_store::backup::{self, Backup};
use tidings_store::removed::Removed;

use super::{Report, remove};
use crate::args::Global;
use crate::console;
use tidings_pipeline::display::{count, span};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Every file is held against its digest on the way. The home gets what was saved; `tidings run --from clean` makes the rest of it. \
    What was removed since the backup was taken stays removed with --removed, which takes the removed.tsv of then."
)]
pub struct Args {
    /// The folder of the backup
    #[arg(value_name = "BACKUP")]
    from: PathBuf,
    /// The folder of the new home: empty, or not there yet
    #[arg(value_name = "HOME")]
    to: PathBuf,
    /// A newer removed.tsv, whose tombstones hold here too
    #[arg(long, value_name = "FILE")]
    removed: Option<PathBuf>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let began = std::time::Instant::now();
    let saved = Backup::open(&args.from)?;
    if saved.is_empty() {
        bail!("there is no backup in {}", args.from.display());
    }
    if !backup::is_free(&args.to)? {
        bail!("{} is not empty; give an empty folder, or one that is not there yet", args.to.display());
    }
    let newer = match &args.removed {
        Some(path) if !path.is_file() => bail!("there is no file {}", path.display()),
        Some(path) => Removed::read_file(path)?,
        None => Removed::default(),
    };
    let mut progress = console::progress("files", 0);
    saved.restore(&args.to, |done, total, path| {
        progress.set_total(total);
        progress.show(done, path);
    })?;
    drop(progress);
    let home = Home::at(&args.to)?;
    let mut removed = Removed::read(&home)?;
    newer.rows().iter().for_each(|row| removed.begin(row.clone()));
    let mut taken_out = None;
    if removed.unfinished().next().is_some() {
        removed.write(&home)?;
        let global = Global { home: Some(args.to.clone()), ..global.clone() };
        taken_out = Some(remove::finish(&global)?.json);
    }
    let (files, bytes) = saved.size();
    let to = args.to.display();
    let text = format!(
        "{} restored to {to}, {}; `tidings run --from clean --home {to}` makes the rest\n",
        count(files, "file"),
        span(began.elapsed())
    );
    let json = json!({ "done": true, "files": files, "bytes": bytes, "removed": taken_out });
    Ok(Report { text, json, ..Report::default() })
}
