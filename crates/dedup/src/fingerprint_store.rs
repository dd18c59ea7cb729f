//! The fingerprint store: a memtable of recent fingerprints, with runs and blocks on disk.
//!
//! A store opens the files of earlier days (none, for a filter), and writes to a folder of its own what exceeds its
//! memory budget. It never changes the files it was opened with; the caller decides which new files replace them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::blocks::{Block, BlockFile, BlockFiles, BlockWriter};
use crate::error::{IoContext, Result};
use crate::fingerprint_index::{BlockId, FingerprintRun, RunWriter, merge};
use crate::memtable::MemTable;
use crate::trace::Trace;

/// The number of runs of one size that are merged into one of the next.
const FAN: usize = 4;

/// The files that earlier days left.
#[derive(Default)]
pub struct StoreFiles {
    /// Fingerprint runs.
    pub runs: Vec<FingerprintRun>,
    /// Block files, oldest first.
    pub blocks: Vec<BlockFile>,
    /// Days with the first block of each, oldest first.
    pub days: Vec<(i64, BlockId)>,
}

/// Fingerprints and blocks of all earlier documents.
pub struct FingerprintStore {
    folder: PathBuf,
    memtable: MemTable,
    /// Runs written by this store, with their size as a power of [`FAN`].
    fresh: Vec<(u32, FingerprintRun)>,
    past: Vec<FingerprintRun>,
    blocks: BlockFiles,
    growing: BlockWriter,
    days: Vec<(i64, BlockId)>,
    forgotten: BTreeSet<BlockId>,
    files: u32,
    /// N-grams added to blocks.
    grams: u64,
    buffer: Vec<u8>,
    /// The trace of the current document, and the first block it may add.
    trace: Option<(Trace, BlockId)>,
}

/// The files that a store has written.
pub struct FlushedFiles {
    /// The runs that the store was opened with.
    pub past: Vec<FingerprintRun>,
    /// New fingerprint runs.
    pub runs: Vec<FingerprintRun>,
    /// New blocks.
    pub blocks: BlockFile,
    /// Days with the first block of each, including earlier days.
    pub days: Vec<(i64, BlockId)>,
}

impl FingerprintStore {
    /// Opens a store over existing files that writes to `folder` and uses about `budget_bytes` of memory.
    pub fn new(past: StoreFiles, folder: &Path, budget_bytes: usize) -> Result<FingerprintStore> {
        let blocks = BlockFiles::new(past.blocks);
        let growing = BlockWriter::create(&folder.join("blocks.tmp"), blocks.end())?;
        Ok(FingerprintStore {
            folder: folder.to_owned(),
            memtable: MemTable::new(budget_bytes),
            fresh: Vec::new(),
            past: past.runs,
            blocks,
            growing,
            days: past.days,
            forgotten: BTreeSet::new(),
            files: 0,
            grams: 0,
            buffer: Vec::new(),
            trace: None,
        })
    }

    /// Starts a new day: blocks added from now on are assigned to it.
    pub(crate) fn start_day(&mut self, day: i64) {
        if self.days.last().is_none_or(|(last, _)| *last < day) {
            self.days.push((day, self.growing.next()));
        }
    }

    /// The first block of this day or later.
    pub(crate) fn first_since(&self, day: i64) -> BlockId {
        let at = self.days.partition_point(|(known, _)| *known < day);
        self.days.get(at).map_or(self.growing.next(), |(_, block)| *block)
    }

    /// Excludes blocks from lookups.
    pub fn forget(&mut self, blocks: impl IntoIterator<Item = BlockId>) {
        self.forgotten.extend(blocks);
    }

    /// Finds the blocks of a fingerprint with ids from `first` on, ascending; of one in at least `limit` blocks, any
    /// `limit` of them. A phrase of every page is in thousands.
    pub(crate) fn look_up(
        &mut self,
        fingerprint: u64,
        first: BlockId,
        limit: usize,
        found: &mut Vec<BlockId>,
    ) -> Result<()> {
        found.clear();
        let FingerprintStore { memtable, fresh, past, forgotten, buffer, trace, .. } = self;
        let mut take = |block| {
            if block >= first && !forgotten.contains(&block) {
                found.push(block);
            }
            found.len() < limit
        };
        let mut is_open = true;
        for run in past {
            if is_open {
                run.look_up(fingerprint, buffer, |block| {
                    is_open = take(block);
                    is_open
                })?;
            }
        }
        // What earlier days decide does not depend on this day.
        if !is_open {
            return Ok(());
        }
        memtable.look_up(fingerprint, |block| {
            is_open = take(block);
            is_open
        });
        for (_, run) in fresh {
            if is_open {
                run.look_up(fingerprint, buffer, |block| {
                    is_open = take(block);
                    is_open
                })?;
            }
        }
        found.sort_unstable();
        if let Some((trace, _)) = trace {
            if is_open { trace.looked_up.push(fingerprint) } else { trace.common.push(fingerprint) }
        }
        Ok(())
    }

    /// Finds the first block of a fingerprint with an id from `first` on.
    pub(crate) fn first_block(&mut self, fingerprint: u64, first: BlockId) -> Result<Option<BlockId>> {
        let FingerprintStore { memtable, fresh, past, forgotten, buffer, trace, .. } = self;
        let is_wanted = |block: BlockId| block >= first && !forgotten.contains(&block);
        let earlier = |found: Option<BlockId>, block| Some(found.map_or(block, |found: BlockId| found.min(block)));
        // The blocks of a run are in order, so that its first one is enough.
        let first_of = |run: &mut FingerprintRun, buffer: &mut Vec<u8>, found: &mut Option<BlockId>| {
            run.look_up(fingerprint, buffer, |block| {
                if is_wanted(block) {
                    *found = earlier(*found, block);
                }
                !is_wanted(block)
            })
        };
        let mut found = None;
        past.iter_mut().try_for_each(|run| first_of(run, buffer, &mut found))?;
        // What earlier days decide does not depend on this day.
        if found.is_some() {
            return Ok(found);
        }
        memtable.look_up(fingerprint, |block| {
            if is_wanted(block) {
                found = earlier(found, block);
            }
            true
        });
        fresh.iter_mut().try_for_each(|(_, run)| first_of(run, buffer, &mut found))?;
        if let Some((trace, _)) = trace {
            trace.looked_up.push(fingerprint);
        }
        Ok(found)
    }

    /// Reads a block; returns false if it does not exist.
    pub(crate) fn block(&mut self, number: BlockId, block: &mut Block) -> Result<bool> {
        self.blocks.read(number, &self.growing, block)
    }

    /// Adds a block and returns its id.
    pub(crate) fn add(&mut self, name: &[u8], grams: &[u32]) -> Result<BlockId> {
        let number = self.growing.next();
        self.grams += grams.len() as u64;
        let packed = Block::pack(name, grams);
        self.growing.push(&packed)?;
        if let Some((trace, _)) = &mut self.trace {
            trace.blocks.push(packed);
        }
        Ok(number)
    }

    /// Adds a fingerprint of a block.
    pub(crate) fn insert(&mut self, fingerprint: u64, block: BlockId) -> Result<()> {
        if let Some((trace, first)) = &mut self.trace {
            trace.added.push((fingerprint, block - *first));
        }
        self.memtable.insert(fingerprint, block);
        if self.memtable.is_full() { self.spill() } else { Ok(()) }
    }

    /// Starts the trace of a document.
    pub(crate) fn start_trace(&mut self) {
        self.trace = Some((Trace::default(), self.growing.next()));
    }

    /// Ends the trace of a document and returns it.
    pub(crate) fn end_trace(&mut self) -> Trace {
        self.trace.take().map(|(trace, _)| trace).unwrap_or_default()
    }

    /// Adds what a judgement added before.
    pub(crate) fn replay(&mut self, trace: &Trace) -> Result<()> {
        let first = self.growing.next();
        trace.blocks.iter().try_for_each(|block| self.growing.push(block))?;
        trace.added.iter().try_for_each(|(fingerprint, block)| self.insert(*fingerprint, first + *block))
    }

    /// Writes the memtable to a run and merges runs of equal size.
    fn spill(&mut self) -> Result<()> {
        if self.memtable.len() == 0 {
            return Ok(());
        }
        let path = self.unused_path();
        let pairs = self.memtable.drain();
        let last = pairs.iter().map(|(_, block)| *block).max().unwrap_or(0);
        let mut writer = RunWriter::create(&path, pairs.len() as u64, last)?;
        pairs.iter().try_for_each(|(fingerprint, block)| writer.push(*fingerprint, *block))?;
        self.fresh.push((0, writer.finish()?));
        while let Some(from) = self.fresh.len().checked_sub(FAN)
            && self.fresh[from].0 == self.fresh[self.fresh.len() - 1].0
        {
            let path = self.unused_path();
            let runs: Vec<&FingerprintRun> = self.fresh[from..].iter().map(|(_, run)| run).collect();
            let merged = merge(&runs, &path, None)?;
            for (_, run) in &self.fresh[from..] {
                fs::remove_file(run.path()).context("remove", run.path())?;
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

    /// N-grams added since the store was opened.
    pub fn grams(&self) -> u64 {
        self.grams
    }

    /// The size of all files.
    pub fn disk_bytes(&self) -> u64 {
        let runs = self.past.iter().chain(self.fresh.iter().map(|(_, run)| run));
        runs.map(FingerprintRun::bytes).sum::<u64>() + self.blocks.bytes() + self.growing.bytes()
    }

    /// Approximate memory use.
    pub fn memory_bytes(&self) -> usize {
        self.memtable.memory() + self.growing.memory()
    }

    /// Writes everything to disk and returns the new files.
    pub fn flush(mut self) -> Result<FlushedFiles> {
        self.spill()?;
        let runs = self.fresh.into_iter().map(|(_, run)| run).collect();
        Ok(FlushedFiles { past: self.past, runs, blocks: self.growing.finish()?, days: self.days })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMON: usize = 3;

    /// A store over the files of an earlier day, on which fingerprint 7 was added to four blocks and 8 to one.
    fn second_day(folders: [&Path; 2]) -> FingerprintStore {
        let mut store = FingerprintStore::new(StoreFiles::default(), folders[0], 1 << 20).unwrap();
        store.start_day(1);
        for (name, fingerprints) in [("a", &[7][..]), ("b", &[7, 8]), ("c", &[7]), ("d", &[7])] {
            let block = store.add(name.as_bytes(), &[]).unwrap();
            fingerprints.iter().for_each(|fingerprint| store.insert(*fingerprint, block).unwrap());
        }
        let FlushedFiles { runs, blocks, days, .. } = store.flush().unwrap();
        let mut store =
            FingerprintStore::new(StoreFiles { runs, blocks: vec![blocks], days }, folders[1], 1 << 20).unwrap();
        store.start_day(2);
        store
    }

    #[test]
    fn a_trace_names_only_what_later_documents_of_the_day_can_change() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let mut store = second_day([folders[0].path(), folders[1].path()]);
        for name in ["e", "f", "g", "h"] {
            let block = store.add(name.as_bytes(), &[]).unwrap();
            [7, 9].iter().for_each(|fingerprint| store.insert(*fingerprint, block).unwrap());
        }
        store.start_trace();
        let mut found = Vec::new();
        store.look_up(7, 0, COMMON, &mut found).unwrap();
        assert_eq!(found.len(), COMMON, "no more than needed");
        store.look_up(8, 0, COMMON, &mut found).unwrap();
        assert_eq!(found, [1]);
        store.look_up(9, 0, COMMON, &mut found).unwrap();
        assert_eq!(found.len(), COMMON);
        store.look_up(9, 6, COMMON, &mut found).unwrap();
        assert_eq!(found, [6, 7], "only blocks of the scope");
        let firsts = [7, 8, 9, 10].map(|fingerprint| store.first_block(fingerprint, 0).unwrap());
        assert_eq!(firsts, [Some(0), Some(1), Some(4), None]);
        let trace = store.end_trace();
        assert_eq!((trace.looked_up, trace.common), (vec![8, 9, 9, 10], vec![9]));
    }

    #[test]
    fn blocks_that_were_forgotten_are_not_found() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let mut store = second_day([folders[0].path(), folders[1].path()]);
        store.forget([0, 2]);
        let mut found = Vec::new();
        store.look_up(7, 0, COMMON, &mut found).unwrap();
        assert_eq!((found, store.first_block(7, 0).unwrap()), (vec![1, 3], Some(1)));
    }
}
