//! The few ways in which bytes become durable.
//!
//! Everything the store promises about power cuts rests on three moves: append and sync, write a
//! draft and rename it, sync the folder. They live here so that they are right in one place, and
//! so that a test can stop the process at each of them: in debug builds the environment variable
//! `TIDINGS_CRASH_AT=N` ends the process at the Nth move as a power cut would, with everything
//! that was not synced torn off.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{During, Result};

#[cfg(debug_assertions)]
mod power {
    //! The power cut, for tests.
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{LazyLock, Mutex};

    static MOVES: AtomicU64 = AtomicU64::new(0);
    static CRASH_AT: LazyLock<Option<u64>> =
        LazyLock::new(|| std::env::var("TIDINGS_CRASH_AT").ok().and_then(|n| n.parse().ok()));
    /// Files that are being appended to, with the length that is known to be on disk.
    static SYNCED: Mutex<Vec<(PathBuf, u64)>> = Mutex::new(Vec::new());

    pub(super) fn moved() {
        if CRASH_AT.is_some_and(|at| MOVES.fetch_add(1, Ordering::SeqCst) + 1 == at) {
            for (path, synced) in SYNCED.lock().expect("no panic while held").iter() {
                if let Ok(file) = OpenOptions::new().write(true).open(path) {
                    // Half of the unsynced bytes survive: a torn tail is harder than a clean cut.
                    let len = file.metadata().map_or(0, |meta| meta.len());
                    let _ = file.set_len(synced + len.saturating_sub(*synced) / 2);
                }
            }
            std::process::abort();
        }
    }

    pub(super) fn synced(path: &Path, len: u64) {
        let mut files = SYNCED.lock().expect("no panic while held");
        files.retain(|(known, _)| known != path);
        files.push((path.to_owned(), len));
    }
}

#[cfg(not(debug_assertions))]
mod power {
    pub(super) fn moved() {}
    pub(super) fn synced(_: &std::path::Path, _: u64) {}
}

/// Makes the names in a folder durable.
pub fn sync_folder(folder: &Path) -> Result<()> {
    power::moved();
    File::open(folder).and_then(|dir| dir.sync_all()).during("sync the folder", folder)
}

/// Renames within a file system and makes the new name durable.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    power::moved();
    fs::rename(from, to).during("rename to", to)?;
    sync_folder(parent(to))
}

/// Makes the bytes of a file durable that somebody else has written.
pub(crate) fn sync_file(path: &Path) -> Result<()> {
    power::moved();
    File::open(path).and_then(|file| file.sync_all()).during("sync", path)
}

/// Removes a file if it is there, durably.
pub fn remove(path: &Path) -> Result<()> {
    power::moved();
    match fs::remove_file(path) {
        Ok(()) => sync_folder(parent(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).during("remove", path),
    }
}

/// Makes a folder with its parents, durably.
pub fn make_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(path).during("make the folder", path)?;
    sync_folder(parent(path))
}

pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file that grows at its end, in steps that are durable once [`Appender::sync`] returns.
pub(crate) struct Appender {
    path: PathBuf,
    file: File,
    len: u64,
}

impl Appender {
    /// Starts a new file; its name is durable at once.
    pub(crate) fn create(path: &Path) -> Result<Appender> {
        make_folder(parent(path))?;
        let file = File::create_new(path).during("create", path)?;
        power::synced(path, 0);
        sync_folder(parent(path))?;
        Ok(Appender { path: path.to_owned(), file, len: 0 })
    }

    /// Opens a file that may exist, to go on behind its first `len` bytes.
    pub(crate) fn reopen(path: &Path, len: u64) -> Result<Appender> {
        make_folder(parent(path))?;
        let file = OpenOptions::new().create(true).append(true).open(path).during("open", path)?;
        file.set_len(len).during("cut the torn end of", path)?;
        power::synced(path, len);
        Ok(Appender { path: path.to_owned(), file, len })
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).during("write", &self.path)?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    pub(crate) fn sync(&mut self) -> Result<()> {
        power::moved();
        self.file.sync_data().during("sync", &self.path)?;
        power::synced(&self.path, self.len);
        Ok(())
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// A file that appears whole under its name, or not at all.
pub struct Draft {
    target: PathBuf,
    temporary: PathBuf,
    file: BufWriter<File>,
}

impl Draft {
    /// Begins the file under a temporary name.
    pub fn create(target: &Path) -> Result<Draft> {
        make_folder(parent(target))?;
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(".tmp");
        let temporary = target.with_file_name(name);
        let file = File::create(&temporary).during("create", &temporary)?;
        Ok(Draft { target: target.to_owned(), temporary, file: BufWriter::with_capacity(1 << 20, file) })
    }

    /// Adds bytes to it.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).during("write", &self.temporary)
    }

    /// Gives it up.
    pub(crate) fn discard(self) {
        drop(self.file);
        // What stays is swept by the next run.
        let _ = fs::remove_file(&self.temporary);
    }

    /// Syncs it and gives it its name.
    pub fn publish(mut self) -> Result<()> {
        self.file.flush().during("write", &self.temporary)?;
        power::moved();
        self.file.get_ref().sync_all().during("sync", &self.temporary)?;
        rename(&self.temporary, &self.target)
    }
}

/// Writes a small file whole: it appears under its name with all of its bytes, or not at all.
pub fn write_whole(target: &Path, bytes: &[u8]) -> Result<()> {
    let mut draft = Draft::create(target)?;
    draft.write(bytes)?;
    draft.publish()
}
