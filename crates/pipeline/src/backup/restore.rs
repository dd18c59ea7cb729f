//! Restore: makes a home of a backup, without what was removed.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use serde::Serialize;
use tidings_store::backup::{self, Backup};
use tidings_store::removed::Removed;

use crate::Pipeline;
use crate::display::{count, span};
use crate::outcome::Outcome;
use crate::reporter::Reporter;
use crate::takedown::{self, TakedownOutcome};

/// Options of a restoration.
#[derive(Debug, Clone, Default)]
pub struct RestoreOptions {
    /// The folder of the backup.
    pub from: PathBuf,
    /// The folder of the new home: empty, or not there yet.
    pub to: PathBuf,
    /// A newer `removed.tsv`, whose tombstones hold here too.
    pub removed: Option<PathBuf>,
}

/// A home that was restored.
#[derive(Debug, Clone, Serialize)]
pub struct RestoreOutcome {
    /// Always true.
    pub done: bool,
    /// Files that were restored.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// What was removed from the new home, because of tombstones.
    pub removed: Option<TakedownOutcome>,
    #[serde(skip)]
    to: PathBuf,
    #[serde(skip)]
    took: Duration,
}

impl Outcome for RestoreOutcome {}

impl fmt::Display for RestoreOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, to, took) = (count(self.files, "file"), self.to.display(), span(self.took));
        writeln!(f, "{files} restored to {to}, {took}; `tidings run --from clean --home {to}` makes the rest")
    }
}

/// Makes a home of a backup. Every file is held against its digest on the way.
pub fn restore(options: &RestoreOptions, reporter: &Arc<dyn Reporter>) -> Result<RestoreOutcome> {
    let began = std::time::Instant::now();
    let saved = Backup::open(&options.from)?;
    if saved.is_empty() {
        bail!("there is no backup in {}", options.from.display());
    }
    if !backup::is_free(&options.to)? {
        bail!("{} is not empty; give an empty folder, or one that is not there yet", options.to.display());
    }
    let newer = match &options.removed {
        Some(path) if !path.is_file() => bail!("there is no file {}", path.display()),
        Some(path) => Removed::read_file(path)?,
        None => Removed::default(),
    };
    saved.restore(&options.to, super::progress_of(reporter))?;
    let pipeline = Pipeline::open(&options.to)?.with_reporter(reporter.clone());
    let mut tombstones = Removed::read(pipeline.home())?;
    newer.rows().iter().for_each(|row| tombstones.begin(row.clone()));
    let mut removed = None;
    if tombstones.unfinished().next().is_some() {
        tombstones.write(pipeline.home())?;
        removed = Some(takedown::finish(&pipeline)?);
    }
    let (files, bytes) = saved.size();
    Ok(RestoreOutcome { done: true, files, bytes, removed, to: options.to.clone(), took: began.elapsed() })
}
