//! Incremental backup of the files that cannot be rebuilt (raw pages, settings, state) to another folder.

mod restore;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use jiff::Timestamp;
use serde::Serialize;
use tidings_store::backup::{Backup, FOLDER_ENDING, Taken};
use tidings_store::{Error, Home, stamp};

use crate::Pipeline;
use crate::context::RunContext;
use crate::display::{count, grouped, span};
use crate::outcome::{Outcome, Status};
use crate::reporter::{ProgressScope, Reporter};
pub use restore::{RestoreOptions, RestoreOutcome, restore};

/// Options of a backup.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder of the backup.
    pub to: PathBuf,
    /// Write to a backup of another home.
    pub replace: bool,
}

/// The outcome of a backup.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BackupOutcome {
    /// Always true.
    pub done: bool,
    /// The name of the run.
    pub run: String,
    /// The files of the backup, and those copied by this run.
    #[serde(flatten)]
    pub taken: Taken,
    #[serde(skip)]
    took: Duration,
}

impl Outcome for BackupOutcome {
    fn status(&self) -> Status {
        if self.taken.lost.is_empty() { Status::Done } else { Status::Partly }
    }
}

impl fmt::Display for BackupOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (copied, bytes) = (count(self.taken.copied, "file"), grouped(self.taken.copied_bytes));
        let (files, took) = (count(self.taken.files, "file"), span(self.took));
        writeln!(f, "{copied} and {bytes} bytes copied, {files} in the backup, {took}")
    }
}

/// The outcome of a verification: all files of a backup compared with their digests.
#[derive(Debug, Clone, Default, Serialize)]
pub struct VerifyOutcome {
    /// Whether all files are intact.
    pub done: bool,
    /// Files in the backup.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// The damaged or missing files.
    pub faults: Vec<String>,
}

impl Outcome for VerifyOutcome {
    fn status(&self) -> Status {
        if self.done { Status::Done } else { Status::NotDone }
    }
}

impl fmt::Display for VerifyOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.files;
        match self.faults.len() as u64 {
            0 => {
                let bytes = grouped(self.bytes);
                writeln!(f, "{} with {bytes} bytes are intact", count(files, "file"))
            }
            bad => writeln!(f, "{} of {files} damaged or missing", count(bad, "file")),
        }
    }
}

/// Reports progress over files whose number is only known during the walk.
fn progress_of(reporter: &std::sync::Arc<dyn Reporter>) -> impl FnMut(u64, u64, &str) {
    let mut progress = ProgressScope::begin(reporter, "files", 0);
    move |done, total, path| {
        progress.set_total(total);
        progress.show(done, path);
    }
}

/// Takes a backup. Other runs may be active in the home at the same time.
pub fn run(pipeline: &Pipeline, options: &Options) -> Result<BackupOutcome> {
    let began = std::time::Instant::now();
    let home = pipeline.home();
    let mut backup = Backup::open(&options.to)?;
    check_target(home, &backup, options)?;
    // The mutable files are copied under the lock, if it is free. Pages are immutable, so a running crawl need not be
    // waited for.
    let (run, draft) = match RunContext::open(pipeline, "backup") {
        Ok(context) => (context.run.clone(), backup.begin(home, &context.run)?),
        Err(error) if matches!(error.downcast_ref::<Error>(), Some(Error::Locked { .. })) => {
            let name = format!("{}{FOLDER_ENDING}", stamp(Timestamp::now()));
            let draft = backup.begin(home, &name)?;
            (name, draft)
        }
        Err(error) => return Err(error),
    };
    let taken = backup.finish(home, draft, progress_of(pipeline.reporter()))?;
    for path in taken.lost.iter().take(5) {
        log::warn!("{path} is missing in the home; the backup keeps its copy");
    }
    if let Some(run) = &taken.under_way {
        log::info!("run {run} is still active; its pages will be in the next backup");
    }
    Ok(BackupOutcome { done: true, run, taken, took: began.elapsed() })
}

/// Rejects folders that cannot hold a backup of this home.
fn check_target(home: &Home, backup: &Backup, options: &Options) -> Result<()> {
    let to = options.to.display();
    let absolute = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path));
    if absolute(&options.to)?.starts_with(absolute(home.root())?) {
        bail!("{to} is inside the home; choose a folder outside of it");
    }
    if Home::at(&options.to).is_ok() {
        bail!("{to} is a home; give a backup folder or a folder that does not exist yet");
    }
    if backup.is_of_another(home) && !options.replace {
        bail!(
            "{to} is a backup of another home, or this home has lost its pages (`tidings restore` restores them); \
             use --replace to overwrite the backup"
        );
    }
    Ok(())
}

/// Reads a backup and compares every file with its digest.
pub fn verify(folder: &Path, reporter: &std::sync::Arc<dyn Reporter>) -> Result<VerifyOutcome> {
    let backup = Backup::open(folder)?;
    if backup.is_empty() {
        bail!("no backup found in {}", folder.display());
    }
    let faults = backup.verify(progress_of(reporter))?;
    faults.iter().for_each(|fault| log::error!("{fault}"));
    let (files, bytes) = backup.size();
    Ok(VerifyOutcome { done: faults.is_empty(), files, bytes, faults })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::Silent;
    use crate::test_home;

    #[test]
    fn a_backup_is_taken_verified_and_restored() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let pipeline = Pipeline::create(&at("home")).unwrap();
        let options = Options { to: at("backup"), replace: false };
        let first = run(&pipeline, &options).unwrap();
        assert!(first.taken.copied >= 3 && first.status() == Status::Done, "{first}");
        let reporter: std::sync::Arc<dyn Reporter> = std::sync::Arc::new(Silent);
        assert!(verify(&at("backup"), &reporter).unwrap().done);
        let restored = RestoreOptions { from: at("backup"), to: at("other"), removed: None };
        assert_eq!(restore(&restored, &reporter).unwrap().files, first.taken.files);
        assert!(Home::at(&at("other")).is_ok());
        assert!(restore(&restored, &reporter).unwrap_err().to_string().contains("is not empty"));
    }

    #[test]
    fn a_backup_inside_the_home_or_over_another_home_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let pipeline = Pipeline::create(&at("home")).unwrap();
        Pipeline::create(&at("second")).unwrap();
        let refused = |to: PathBuf| run(&pipeline, &Options { to, replace: false }).unwrap_err().to_string();
        assert!(refused(at("home/backup")).contains("is inside the home"));
        assert!(refused(at("second")).contains("is a home"));
        let reporter: std::sync::Arc<dyn Reporter> = std::sync::Arc::new(Silent);
        assert!(verify(&at("nothing"), &reporter).unwrap_err().to_string().contains("no backup found"));
    }

    /// The path in the backup of a file of the home.
    fn saved(backup: &Path, file: &str) -> Option<PathBuf> {
        test_home::files_of(backup).into_keys().find(|path| path.ends_with(file))
    }

    #[test]
    fn a_second_backup_copies_only_what_is_new() {
        let (folder, pipeline) = test_home::built();
        let options = Options { to: folder.path().join("backup"), replace: false };
        let first = run(&pipeline, &options).unwrap().taken;
        test_home::put_pages(pipeline.home().root(), "2026-03-03", "a.0", &test_home::articles()[..1]);
        let second = run(&pipeline, &options).unwrap().taken;
        assert_eq!(second.files, first.files + 1);
        assert!(second.copied < first.copied && second.copied >= 1, "{second:?}");
    }

    #[test]
    fn a_restored_home_has_the_same_pages_and_can_be_rebuilt() {
        let (folder, pipeline) = test_home::built();
        let (to, again) = (folder.path().join("backup"), folder.path().join("again"));
        run(&pipeline, &Options { to: to.clone(), replace: false }).unwrap();
        let reporter: std::sync::Arc<dyn Reporter> = std::sync::Arc::new(Silent);
        restore(&RestoreOptions { from: to, to: again.clone(), removed: None }, &reporter).unwrap();
        let pages = |root: &Path| test_home::files_of(&root.join("pages"));
        assert_eq!(pages(&again), pages(pipeline.home().root()));
        let restored = Pipeline::open(&again).unwrap();
        test_home::run_derived(&restored);
        let digest = |pipeline: &Pipeline| crate::digest::run(pipeline, &Default::default()).unwrap().digest;
        assert_eq!(digest(&restored), digest(&pipeline));
    }

    #[test]
    fn a_changed_byte_in_a_backup_is_detected_and_never_restored() {
        let (folder, pipeline) = test_home::built();
        let to = folder.path().join("backup");
        run(&pipeline, &Options { to: to.clone(), replace: false }).unwrap();
        let file = to.join(saved(&to, "pages/2026-03-01/a.0.jsonl.zst").unwrap());
        let mut bytes = std::fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let reporter: std::sync::Arc<dyn Reporter> = std::sync::Arc::new(Silent);
        let outcome = verify(&to, &reporter).unwrap();
        assert_eq!((outcome.faults.len(), outcome.status()), (1, Status::NotDone));
        let options = RestoreOptions { from: to, to: folder.path().join("again"), removed: None };
        assert!(restore(&options, &reporter).is_err());
    }

    #[test]
    fn pages_missing_in_the_home_stay_in_the_backup() {
        let (folder, pipeline) = test_home::built();
        let options = Options { to: folder.path().join("backup"), replace: false };
        run(&pipeline, &options).unwrap();
        std::fs::remove_dir_all(pipeline.home().root().join("pages/2026-03-02")).unwrap();
        let outcome = run(&pipeline, &options).unwrap();
        assert_eq!((outcome.taken.lost.len(), outcome.status()), (1, Status::Partly));
        assert!(saved(&options.to, "pages/2026-03-02/a.0.jsonl.zst").is_some());
    }

    #[test]
    fn a_restored_home_does_not_contain_pages_removed_since() {
        let (folder, pipeline) = test_home::built();
        let to = folder.path().join("backup");
        run(&pipeline, &Options { to: to.clone(), replace: false }).unwrap();
        let what = crate::takedown::Options {
            what: Some("https://gazette.example/ferry".into()),
            reason: Some("asked to".into()),
            ..Default::default()
        };
        crate::takedown::run(&pipeline, &what).unwrap();
        let removed = Some(pipeline.home().root().join("removed.tsv"));
        let options = RestoreOptions { from: to, to: folder.path().join("again"), removed };
        let reporter: std::sync::Arc<dyn Reporter> = std::sync::Arc::new(Silent);
        assert_eq!(restore(&options, &reporter).unwrap().removed.unwrap().pages, 1);
        let absent =
            RestoreOptions { removed: Some("no/removed.tsv".into()), to: folder.path().join("third"), ..options };
        assert!(restore(&absent, &reporter).unwrap_err().to_string().contains("not found"));
        assert!(!absent.to.exists());
    }
}
