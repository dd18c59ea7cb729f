//! Errors that stop a run: each names the file, the cause and the remedy.

use std::path::PathBuf;

pub(crate) use tidings_model::Context;
use tidings_model::{BadRow, FileError};

/// A failure that stops the run.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // See the messages.
pub enum Error {
    #[error(transparent)]
    Io(#[from] FileError),
    #[error("{}, line {line}: {fault}; correct or delete the line", path.display())]
    Row { path: PathBuf, line: u64, fault: BadRow },
    #[error("{}, line {line}: {fault}", path.display())]
    Line { path: PathBuf, line: u64, fault: String },
    #[error("{} is damaged {at}; restore it from a backup, or delete it to continue without it", path.display())]
    Damaged { path: PathBuf, at: String },
    #[error("{} was written by a newer Tidings (format {found}, Tidings {} reads up to {known}); install a newer version", path.display(), env!("CARGO_PKG_VERSION"))]
    Newer { path: PathBuf, found: String, known: u32 },
    #[error("the plan {} is damaged {at}; `tidings doctor --repair` restores it", path.display())]
    DamagedPlan { path: PathBuf, at: String },
    #[error("{} is damaged; `tidings doctor --repair` makes it again from the stored pages", path.display())]
    DamagedFetched { path: PathBuf },
    #[error("the plan {} is missing; {}", path.display(), restore(*has_history))]
    NoPlan { path: PathBuf, has_history: bool },
    #[error("the counts of the day {day} do not match: {fault}; this is a bug in Tidings, please report it")]
    Uneven { day: String, fault: String },
    #[error("{} {fault}", path.display())]
    Output { path: PathBuf, fault: &'static str },
    #[error("`{key}` is not a valid file name in a home")]
    Key { key: String },
    #[error("{} lists `{file}`, {fault}; nothing was restored, because Tidings writes no such backup", manifest.display())]
    Manifest { manifest: PathBuf, file: String, fault: &'static str },
    #[error("{} is a symbolic link, and a restore follows none; delete it", path.display())]
    Link { path: PathBuf },
    #[error("{url} belongs to another home; give this one another prefix in `store.bucket`")]
    OwnedBucket { url: String },
    #[error("the data of {} is {url}, which is not in `store.bucket`; set it to the prefix of this object", path.display())]
    ElsewhereBucket { path: PathBuf, url: String },
    #[error("another run is active in {}{}; wait for it to end", root.display(), by(pid))]
    Locked { root: PathBuf, pid: Option<String> },
    #[error(
        "another process has taken over {stage} {unit}, because this one gave no sign of life; nothing of it was published here"
    )]
    ClaimLost { stage: String, unit: String },
    #[error(
        "a rebuild from {from} by {shards} shards is not complete; finish it with `tidings rebuild --from {from} --shard I/{shards}`, or delete it with `tidings rebuild --abandon`"
    )]
    OtherRebuild { from: String, shards: u32 },
    #[error("{} is not a Tidings home (no tidings.toml here or above); create one with `tidings init DIR`, or give one with --home DIR", start.display())]
    NoHome { start: PathBuf },
}

/// The result of a store operation.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// True if an object store failed, which says nothing about the data in it.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Error::Io(error) if tidings_storage::source::is_unavailable(&error.source.0))
    }
}

impl From<tidings_storage::Error> for Error {
    fn from(error: tidings_storage::Error) -> Error {
        match error {
            tidings_storage::Error::Io(error) => Error::Io(error),
            tidings_storage::Error::Key { key } => Error::Key { key },
            tidings_storage::Error::Elsewhere { path, url } => Error::ElsewhereBucket { path, url },
            tidings_storage::Error::Owned { url } => Error::OwnedBucket { url },
        }
    }
}

impl From<tidings_formats::Error> for Error {
    fn from(error: tidings_formats::Error) -> Error {
        match error {
            tidings_formats::Error::Io(error) => Error::Io(error),
            tidings_formats::Error::Line { path, line, fault } => Error::Line { path, line, fault },
            tidings_formats::Error::Damaged { path, at } => Error::Damaged { path, at },
        }
    }
}

fn restore(has_history: bool) -> &'static str {
    match has_history {
        true => "`tidings doctor --repair` restores it",
        false => "`tidings init` creates an empty one in this home",
    }
}

fn by(pid: &Option<String>) -> String {
    pid.as_ref().map(|pid| format!(" (process {pid})")).unwrap_or_default()
}
