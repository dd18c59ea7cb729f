//! Files of a day while they are being made, one for each shelf: how every stage that writes by language
//! and day appears whole or not at all.
//!
//! A shelf is a folder under a root, such as `docs/de/`. Its file of the day is drafted in `ROOT/draft/`,
//! and all of them take their places one after the other when they are sealed; the caller's recipe,
//! which vouches for them, goes before and comes back last.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::disk::{self, Appender};
use crate::docs::Ingredient;
use crate::error::{During, Result};
use crate::frames::{FRAME_BYTES, Packer};
use crate::home::{Home, files_in};

/// How hard shelves are packed. It is no setting, because the same input must give the same bytes
/// everywhere.
const LEVEL: i32 = 6;

/// Text that waits to be packed, of all shelves together. A page may claim any language, so the
/// number of languages is no bound.
const WAITING_BYTES: usize = 64 << 20;

/// The drafts of a day. What is not placed leaves no trace.
pub(crate) struct Shelves {
    root: PathBuf,
    ending: &'static str,
    packer: Packer,
    drafts: BTreeMap<String, Draft>,
    waiting: usize,
}

/// A file that is opened when there is something to write: open files are few.
struct Draft {
    path: PathBuf,
    bytes: u64,
    text: Vec<u8>,
    lines: u64,
    digest: Xxh3,
}

/// The place of a shelf's file of a day.
pub(crate) fn path(root: &Path, shelf: &str, day: &str, ending: &str) -> PathBuf {
    root.join(shelf).join(format!("{day}.{ending}"))
}

fn drafts(root: &Path) -> PathBuf {
    root.join("draft")
}

/// Removes the drafts that a crash left under a root, also in those of its folders that hold whole files.
pub(crate) fn sweep(root: &Path, others: &[&str]) -> Result<()> {
    let folders = others.iter().map(|name| root.join(name)).chain([drafts(root)]);
    for path in folders.map(|folder| files_in(&folder)).collect::<Result<Vec<_>>>()?.concat() {
        if path.extension().is_some_and(|ending| ending == "tmp") {
            disk::remove(&path)?;
        }
    }
    Ok(())
}

/// Removes everything under a root.
pub(crate) fn clear(root: &Path) -> Result<()> {
    // The recipes go first: a day without one is no day.
    for file in files_in(&root.join("recipes"))? {
        disk::remove(&file)?;
    }
    for folder in files_in(root)?.into_iter().filter(|path| path.is_dir()) {
        for file in files_in(&folder)? {
            disk::remove(&file)?;
        }
    }
    Ok(())
}

impl Shelves {
    /// Shelves under a root, none of them open.
    pub(crate) fn new(root: &Path, ending: &'static str) -> Shelves {
        Shelves { root: root.to_owned(), ending, packer: Packer::new(LEVEL), drafts: BTreeMap::new(), waiting: 0 }
    }

    /// Opens a shelf whose file begins with a label; does nothing if it is open.
    pub(crate) fn open(&mut self, shelf: &str, label: &[u8]) -> Result<()> {
        if !self.drafts.contains_key(shelf) {
            let path = drafts(&self.root).join(format!("{shelf}.tmp"));
            drop(Appender::create(&path)?);
            let mut draft = Draft { path, bytes: 0, text: Vec::new(), lines: 0, digest: Xxh3::new() };
            draft.append(label)?;
            self.drafts.insert(shelf.to_owned(), draft);
        }
        Ok(())
    }

    /// Adds text that counts for so many lines to an open shelf.
    pub(crate) fn push(&mut self, shelf: &str, text: &[u8], lines: u64) -> Result<()> {
        let draft = self.drafts.get_mut(shelf).expect("shelves are opened before they are filled");
        draft.lines += lines;
        draft.text.extend_from_slice(text);
        let is_full = draft.text.len() >= FRAME_BYTES;
        self.waiting += text.len();
        if is_full {
            return self.pack(shelf);
        }
        if self.waiting >= WAITING_BYTES {
            let largest = self.drafts.iter().max_by_key(|(_, draft)| draft.text.len());
            let name = largest.expect("something waits").0.clone();
            return self.pack(&name);
        }
        Ok(())
    }

    /// Opens a shelf with what a file holds that is as it is described, byte for byte; says whether it is.
    pub(crate) fn keep(&mut self, shelf: &str, file: &Path, described: &Ingredient) -> Result<bool> {
        self.open(shelf, &[])?;
        let draft = self.drafts.get_mut(shelf).expect("it was just opened");
        let mut source = File::open(file).during("open", file)?;
        let mut buffer = vec![0; FRAME_BYTES];
        loop {
            let read = source.read(&mut buffer).during("read", file)?;
            if read == 0 {
                break;
            }
            draft.append(&buffer[..read])?;
        }
        draft.lines = described.lines.unwrap_or_default();
        Ok(draft.described(String::new()).xxh3 == described.xxh3)
    }

    /// Packs what waits on every shelf: what comes later cannot change it.
    pub(crate) fn settle(&mut self) -> Result<()> {
        let names: Vec<String> = self.drafts.keys().cloned().collect();
        names.iter().try_for_each(|name| self.pack(name))
    }

    fn pack(&mut self, shelf: &str) -> Result<()> {
        let draft = self.drafts.get_mut(shelf).expect("shelves are opened before they are packed");
        if !draft.text.is_empty() {
            self.waiting -= draft.text.len();
            let frame = self.packer.pack(&draft.text);
            draft.text.clear();
            draft.text.shrink_to(FRAME_BYTES);
            draft.append(&frame)?;
        }
        Ok(())
    }

    /// Writes what waits and makes all of it durable; gives what the files of the day will be.
    pub(crate) fn seal(&mut self, home: &Home, day: &str) -> Result<Vec<Ingredient>> {
        self.settle()?;
        let mut files = Vec::new();
        for (name, draft) in &self.drafts {
            Appender::reopen(&draft.path, draft.bytes)?.sync()?;
            files.push(draft.described(home.shown(&path(&self.root, name, day, self.ending))));
        }
        Ok(files)
    }

    /// Puts the files in their places, and removes those of the day that are not among them.
    pub(crate) fn place(&mut self, day: &str) -> Result<()> {
        for (name, draft) in &self.drafts {
            let target = path(&self.root, name, day, self.ending);
            disk::make_folder(disk::parent(&target))?;
            disk::rename(&draft.path, &target)?;
        }
        for folder in files_in(&self.root)?.into_iter().filter(|path| path.is_dir()) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let leftover = path(&self.root, &name, day, self.ending);
            if !self.drafts.contains_key(&name) && leftover.exists() {
                disk::remove(&leftover)?;
            }
        }
        Ok(())
    }
}

/// Nobody needs half a day, and the disk may be full.
impl Drop for Shelves {
    fn drop(&mut self) {
        for draft in self.drafts.values() {
            // What was placed is not there any more; what a crash leaves is swept by the next run.
            let _ = fs::remove_file(&draft.path);
        }
    }
}

impl Draft {
    /// What the file will be.
    fn described(&self, file: String) -> Ingredient {
        let xxh3 = format!("{:032x}", self.digest.digest128());
        Ingredient { file, bytes: self.bytes, xxh3, lines: Some(self.lines) }
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.digest.update(bytes);
        Appender::reopen(&self.path, self.bytes)?.append(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_shelves_than_memory_are_packed_early_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        let mut shelves = Shelves::new(&home.docs(), "txt.zst");
        let line = |number: u32| format!("{number} {}\n", "x".repeat(1 << 20));
        for number in 0..80 {
            let shelf = ["aa", "bb", "cc"][number as usize % 3];
            shelves.open(shelf, &crate::frames::label("test", 1, "")).unwrap();
            shelves.push(shelf, line(number).as_bytes(), 1).unwrap();
            assert!(shelves.waiting < WAITING_BYTES + (2 << 20));
        }
        let files = shelves.seal(&home, "2026-03-01").unwrap();
        assert_eq!(files.iter().filter_map(|file| file.lines).sum::<u64>(), 80);
        shelves.place("2026-03-01").unwrap();
        let text = zstd::decode_all(&fs::read(home.docs().join("aa/2026-03-01.txt.zst")).unwrap()[..]).unwrap();
        let numbers: Vec<u32> = String::from_utf8(text)
            .unwrap()
            .lines()
            .map(|line| line.split(' ').next().unwrap().parse().unwrap())
            .collect();
        assert_eq!(numbers, (0..80).step_by(3).collect::<Vec<u32>>());
    }
}
