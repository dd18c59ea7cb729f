//! Checks of the file system features that the store relies on.
//!
//! The guarantees of the store about power failures and concurrent runs rest on features that some network and
//! container file systems lack. They are tested in a temporary folder.

// Everything is written into a folder that was just made.
#![allow(clippy::disallowed_methods)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use tidings_storage::file;

use crate::error::Result;
use crate::home::Home;

/// A feature that the store relies on, and the result of its test.
pub struct Ability {
    /// The name.
    pub name: &'static str,
    /// The error, if there was one.
    pub fault: Option<String>,
}

/// Tries everything in a home.
pub fn probe(home: &Home) -> Result<Vec<Ability>> {
    let folder = home.root().join(format!(".probe-{}", std::process::id()));
    file::make_folder(&folder)?;
    type Attempt = fn(&Path) -> io::Result<()>;
    let attempts: [(&str, Attempt); 4] =
        [("write and sync", write), ("rename", rename), ("hard links", link), ("locks", lock)];
    let abilities = attempts.map(|(name, attempt)| {
        let fault = attempt(&folder).err().map(|error| error.to_string());
        Ability { name, fault }
    });
    let _ = fs::remove_dir_all(&folder);
    Ok(abilities.into())
}

fn write(folder: &Path) -> io::Result<()> {
    let mut file = File::create(folder.join("a"))?;
    file.write_all(b"kept")?;
    file.sync_all()?;
    File::open(folder)?.sync_all()
}

fn rename(folder: &Path) -> io::Result<()> {
    // Onto an existing file, as when publishing.
    fs::write(folder.join("b"), b"old")?;
    fs::rename(folder.join("a"), folder.join("b"))?;
    match fs::read(folder.join("b"))? == b"kept" {
        true => Ok(()),
        false => Err(io::Error::other("the old file still exists")),
    }
}

fn link(folder: &Path) -> io::Result<()> {
    fs::hard_link(folder.join("b"), folder.join("c"))
}

fn lock(folder: &Path) -> io::Result<()> {
    let open = || OpenOptions::new().create(true).truncate(false).write(true).open(folder.join("lock"));
    let (first, second) = (open()?, open()?);
    first.try_lock().map_err(io::Error::from)?;
    match second.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Ok(()),
        Err(fs::TryLockError::Error(error)) => Err(error),
        Ok(()) => Err(io::Error::other("the lock is not exclusive, so that two runs could write at once")),
    }
}

/// Files of the home that are owned by another user than this one. Checks a few files per folder, which is enough to
/// find a run under the wrong user.
pub fn files_of_others(home: &Home, user: u32) -> Vec<String> {
    const LOOKED_AT: usize = 200;
    let folders = ["", "pages", "docs", "seen", "text", "index", "state", "runs", "history"];
    let entries = folders.iter().filter_map(|name| fs::read_dir(home.root().join(name)).ok());
    let entries = entries.flat_map(|entries| entries.flatten().take(LOOKED_AT));
    let others = entries.filter(|entry| entry.metadata().is_ok_and(|meta| meta.uid() != user));
    others.map(|entry| home.shown(&entry.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sound_file_system_has_all_abilities_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let before = fs::read_dir(folder.path()).unwrap().count();
        let home = Home::at(folder.path()).unwrap();
        assert!(probe(&home).unwrap().iter().all(|ability| ability.fault.is_none()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before);
    }
}
