//! Restore: creates a home from a backup and applies the tombstones of removed pages.

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

/// Options of a restore.
#[derive(Debug, Clone, Default)]
pub struct RestoreOptions {
    /// The folder of the backup.
    pub from: PathBuf,
    /// The folder of the new home: empty or not existing yet.
    pub to: PathBuf,
    /// A newer `removed.tsv`, whose tombstones are applied too.
    pub removed: Option<PathBuf>,
}

/// The outcome of a restore.
#[derive(Debug, Clone, Serialize)]
pub struct RestoreOutcome {
    /// Always true.
    pub done: bool,
    /// Files that were restored.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// The pages and documents deleted from the new home because of tombstones.
    pub removed: Option<TakedownOutcome>,
    /// Whether a newer list of removals was given.
    #[serde(skip)]
    has_newer_list: bool,
    #[serde(skip)]
    to: PathBuf,
    #[serde(skip)]
    took: Duration,
}

impl Outcome for RestoreOutcome {}

impl fmt::Display for RestoreOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, to, took) = (count(self.files, "file"), self.to.display(), span(self.took));
        writeln!(f, "{files} restored to {to}, {took}; `tidings run --from clean --home {to}` rebuilds the rest")?;
        match self.has_newer_list {
            true => Ok(()),
            false => writeln!(
                f,
                "pages that were removed after the backup are back; if there are some, restore it with --removed and the \
                 newest removed.tsv instead"
            ),
        }
    }
}

/// Creates a home from a backup. Every copied file is compared with its digest.
pub fn restore(options: &RestoreOptions, reporter: &Arc<dyn Reporter>) -> Result<RestoreOutcome> {
    let began = std::time::Instant::now();
    let saved = Backup::open(&options.from)?;
    if saved.is_empty() {
        bail!("no backup found in {}", options.from.display());
    }
    if !backup::is_free(&options.to)? {
        bail!("{} is not empty; give an empty folder or one that does not exist yet", options.to.display());
    }
    let newer = match &options.removed {
        Some(path) if !path.is_file() => bail!("{} not found", path.display()),
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
    let has_newer_list = options.removed.is_some();
    Ok(RestoreOutcome {
        done: true,
        files,
        bytes,
        removed,
        has_newer_list,
        to: options.to.clone(),
        took: began.elapsed(),
    })
}
