//! What was seen: keys of late in memory, all others and all pieces on disk.
//!
//! A memory begins with what earlier days left (nothing, for a filter), grows by what is put into it, and
//! writes into a folder of its own whatever outgrows its room. It never changes a file that it was
//! given: whoever gave it decides what becomes of the new ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{During, Result};
use crate::keys::{KeyRun, KeyWriter, PieceNumber, merge};
use crate::pieces::{Piece, PieceFile, PieceWriter, Pieces};
use crate::recent::Recent;

/// So many runs of a size become one of the next.
const FAN: usize = 4;

/// What earlier days left.
#[derive(Default)]
pub struct Past {
    /// Runs of keys.
    pub runs: Vec<KeyRun>,
    /// Files of pieces, oldest first.
    pub pieces: Vec<PieceFile>,
    /// The days on which pieces were seen, each with the first of its pieces; oldest first.
    pub days: Vec<(i64, PieceNumber)>,
}

/// What was seen.
pub struct Memory {
    folder: PathBuf,
    recent: Recent,
    /// Runs written since this memory began, with their size as a power of [`FAN`].
    fresh: Vec<(u32, KeyRun)>,
    past: Vec<KeyRun>,
    pieces: Pieces,
    growing: PieceWriter,
    days: Vec<(i64, PieceNumber)>,
    forgotten: BTreeSet<PieceNumber>,
    files: u32,
    /// N-grams that were put into pieces.
    grams: u64,
    buffer: Vec<u8>,
}

/// What a memory has written since it began.
pub struct Sealed {
    /// The runs that it was given.
    pub past: Vec<KeyRun>,
    /// Runs of keys.
    pub runs: Vec<KeyRun>,
    /// The pieces.
    pub pieces: PieceFile,
    /// The days of all pieces, those of the past too.
    pub days: Vec<(i64, PieceNumber)>,
}

impl Memory {
    /// A memory that goes on from the past, writes into a folder, and keeps to about so many bytes of memory.
    pub fn new(past: Past, folder: &Path, budget_bytes: usize) -> Result<Memory> {
        let pieces = Pieces::new(past.pieces);
        let growing = PieceWriter::create(&folder.join("pieces.tmp"), pieces.end())?;
        Ok(Memory {
            folder: folder.to_owned(),
            recent: Recent::new(budget_bytes),
            fresh: Vec::new(),
            past: past.runs,
            pieces,
            growing,
            days: past.days,
            forgotten: BTreeSet::new(),
            files: 0,
            grams: 0,
            buffer: Vec::new(),
        })
    }

    /// What is known about pieces from here on was seen on that day.
    pub(crate) fn turn_to(&mut self, day: i64) {
        if self.days.last().is_none_or(|(last, _)| *last < day) {
            self.days.push((day, self.growing.next()));
        }
    }

    /// The first piece that was seen on this day or later.
    pub(crate) fn first_since(&self, day: i64) -> PieceNumber {
        let at = self.days.partition_point(|(known, _)| *known < day);
        self.days.get(at).map_or(self.growing.next(), |(_, piece)| *piece)
    }

    /// Nothing counts any more that only these pieces hold.
    pub fn forget(&mut self, pieces: impl IntoIterator<Item = PieceNumber>) {
        self.forgotten.extend(pieces);
    }

    /// The pieces of a key from a first one on, ascending.
    pub(crate) fn look_up(&mut self, key: u64, first: PieceNumber, found: &mut Vec<PieceNumber>) -> Result<()> {
        found.clear();
        self.recent.look_up(key, found);
        for run in self.past.iter_mut().chain(self.fresh.iter_mut().map(|(_, run)| run)) {
            run.look_up(key, &mut self.buffer, found)?;
        }
        if !found.is_empty() {
            found.retain(|piece| *piece >= first && !self.forgotten.contains(piece));
            found.sort_unstable();
        }
        Ok(())
    }

    /// Reads a piece; false if there is none of that number.
    pub(crate) fn piece(&mut self, number: PieceNumber, piece: &mut Piece) -> Result<bool> {
        self.pieces.read(number, &self.growing, piece)
    }

    /// Adds a piece; gives its number.
    pub(crate) fn add(&mut self, name: &[u8], grams: &[u32]) -> Result<PieceNumber> {
        let number = self.growing.next();
        self.grams += grams.len() as u64;
        self.growing.push(&Piece::pack(name, grams))?;
        Ok(number)
    }

    /// Adds a key of a piece.
    pub(crate) fn remember(&mut self, key: u64, piece: PieceNumber) -> Result<()> {
        self.recent.insert(key, piece);
        if self.recent.is_full() { self.spill() } else { Ok(()) }
    }

    /// Writes down the keys of late.
    fn spill(&mut self) -> Result<()> {
        if self.recent.len() == 0 {
            return Ok(());
        }
        let path = self.unused_path();
        let pairs = self.recent.drain();
        let last = pairs.iter().map(|(_, piece)| *piece).max().unwrap_or(0);
        let mut writer = KeyWriter::create(&path, pairs.len() as u64, last)?;
        pairs.iter().try_for_each(|(key, piece)| writer.push(*key, *piece))?;
        self.fresh.push((0, writer.finish()?));
        while let Some(from) = self.fresh.len().checked_sub(FAN)
            && self.fresh[from].0 == self.fresh[self.fresh.len() - 1].0
        {
            let path = self.unused_path();
            let runs: Vec<&KeyRun> = self.fresh[from..].iter().map(|(_, run)| run).collect();
            let merged = merge(&runs, &path, None)?;
            for (_, run) in &self.fresh[from..] {
                fs::remove_file(run.path()).during("remove", run.path())?;
            }
            let size = self.fresh[from].0 + 1;
            self.fresh.truncate(from);
            self.fresh.push((size, merged));
        }
        Ok(())
    }

    fn unused_path(&mut self) -> PathBuf {
        self.files += 1;
        self.folder.join(format!("keys-{}.tmp", self.files))
    }

    /// N-grams that were put into it since it began.
    pub fn grams(&self) -> u64 {
        self.grams
    }

    /// Bytes of all its files.
    pub fn disk_bytes(&self) -> u64 {
        let runs = self.past.iter().chain(self.fresh.iter().map(|(_, run)| run));
        runs.map(KeyRun::bytes).sum::<u64>() + self.pieces.bytes() + self.growing.bytes()
    }

    /// Bytes of memory it holds, about.
    pub fn memory_bytes(&self) -> usize {
        self.recent.memory() + self.growing.memory()
    }

    /// Writes down everything and gives the new files.
    pub fn seal(mut self) -> Result<Sealed> {
        self.spill()?;
        let runs = self.fresh.into_iter().map(|(_, run)| run).collect();
        Ok(Sealed { past: self.past, runs, pieces: self.growing.finish()?, days: self.days })
    }
}
