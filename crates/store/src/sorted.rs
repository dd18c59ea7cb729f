//! External merge sort: records become sorted runs on disk, and runs are merged.
//!
//! A record is a byte string, and records are ordered by their bytes. Callers that combine equal records do so before
//! writing a run and again while reading the merge, so that runs stay small.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read as _, Seek as _, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use tidings_storage::file;

use crate::error::{Context, Result};

/// Runs that are merged at once; each takes about a megabyte of memory.
const FAN: usize = 64;
/// Ids that wait in memory before they become a run.
const WAITING_IDS: usize = 1 << 20;
const ID_BYTES: usize = 16;
/// The zstd level of runs: they are read once, soon.
const LEVEL: i32 = 1;

/// Runs on disk. Their files are unlinked at once, so that they are deleted with the process.
pub struct Runs {
    folder: PathBuf,
    runs: Vec<File>,
    made: u32,
}

impl Runs {
    /// Creates an empty set of runs in a folder.
    pub fn new(folder: &Path) -> Runs {
        Runs { folder: folder.to_owned(), runs: Vec::new(), made: 0 }
    }

    /// Adds a run of records that are in order.
    pub fn add<R: AsRef<[u8]>>(&mut self, records: impl Iterator<Item = R>) -> Result<()> {
        let mut records = records;
        let run = self.write(|push| records.try_for_each(|record| push(record.as_ref())))?;
        self.runs.push(run);
        if self.runs.len() == FAN {
            let runs = std::mem::take(&mut self.runs);
            let mut merged = self.open(runs)?;
            let run = self.write(|push| {
                while let Some(record) = merged.next()? {
                    push(record)?;
                }
                Ok(())
            })?;
            self.runs.push(run);
        }
        Ok(())
    }

    /// All records, in order.
    pub fn merge(mut self) -> Result<Merged> {
        let runs = std::mem::take(&mut self.runs);
        self.open(runs)
    }

    /// A temporary file, which is deleted when it is closed.
    fn unlinked(&mut self) -> Result<(File, PathBuf)> {
        // Several programs may share a folder for such files.
        let path = self.folder.join(format!("tidings-{}-run-{}.tmp", std::process::id(), self.made));
        self.made += 1;
        let file = file::create_scratch(&path)?;
        fs::remove_file(&path).context("unlink", &path)?;
        Ok((file, path))
    }

    fn write(&mut self, fill: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>) -> Result<File> {
        let (file, path) = self.unlinked()?;
        let mut out = zstd::stream::write::Encoder::new(BufWriter::new(file), LEVEL).context("write", &path)?;
        fill(&mut |record| {
            let len = u32::try_from(record.len()).expect("records are short").to_le_bytes();
            Ok(out.write_all(&len).and_then(|()| out.write_all(record)).context("write", &path)?)
        })?;
        let buffer = out.finish().context("write", &path)?;
        let mut file = buffer.into_inner().map_err(|error| error.into_error()).context("write", &path)?;
        file.rewind().context("read", &path)?;
        Ok(file)
    }

    fn open(&self, runs: Vec<File>) -> Result<Merged> {
        let mut merged =
            Merged { folder: self.folder.clone(), readers: Vec::new(), heap: BinaryHeap::new(), current: Vec::new() };
        for (at, run) in runs.into_iter().enumerate() {
            let reader = zstd::stream::read::Decoder::new(run).context("read", &self.folder)?;
            merged.readers.push(BufReader::with_capacity(1 << 16, reader));
            merged.advance(at, Vec::new())?;
        }
        Ok(merged)
    }
}

type RunReader = BufReader<zstd::stream::read::Decoder<'static, BufReader<File>>>;

/// The records of all runs, in order.
pub struct Merged {
    folder: PathBuf,
    readers: Vec<RunReader>,
    heap: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    current: Vec<u8>,
}

impl Merged {
    /// The next record; `None` at the end.
    #[allow(clippy::should_implement_trait)] // A lending iterator.
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        let Some(Reverse((record, run))) = self.heap.pop() else { return Ok(None) };
        let spare = std::mem::replace(&mut self.current, record);
        self.advance(run, spare)?;
        Ok(Some(&self.current))
    }

    fn advance(&mut self, run: usize, mut record: Vec<u8>) -> Result<()> {
        let reader = &mut self.readers[run];
        let mut len = [0; 4];
        if reader.read(&mut len[..1]).context("read", &self.folder)? == 0 {
            return Ok(());
        }
        reader.read_exact(&mut len[1..]).context("read", &self.folder)?;
        record.resize(u32::from_le_bytes(len) as usize, 0);
        reader.read_exact(&mut record).context("read", &self.folder)?;
        self.heap.push(Reverse((record, run)));
        Ok(())
    }
}

/// Collects document ids by day.
pub struct DayIdsBuilder {
    runs: Runs,
    waiting: Vec<[u8; 4 + ID_BYTES]>,
}

/// Document ids by day: on disk, with one day at a time in memory.
pub struct DayIds {
    file: File,
    folder: PathBuf,
    /// The range of the ids of each day, by their number.
    days: BTreeMap<i32, Range<u64>>,
}

impl DayIdsBuilder {
    /// Creates an empty builder; ids beyond the memory limit are stored in this folder.
    pub fn new(folder: &Path) -> DayIdsBuilder {
        DayIdsBuilder { runs: Runs::new(folder), waiting: Vec::new() }
    }

    /// Adds a document.
    pub fn push(&mut self, day: i32, id: u128) -> Result<()> {
        let mut record = [0; 4 + ID_BYTES];
        // With the sign bit flipped, big-endian numbers sort like their bytes.
        record[..4].copy_from_slice(&(day as u32 ^ 1 << 31).to_be_bytes());
        record[4..].copy_from_slice(&id.to_be_bytes());
        self.waiting.push(record);
        if self.waiting.len() >= WAITING_IDS { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<()> {
        self.waiting.sort_unstable();
        self.waiting.dedup();
        self.runs.add(self.waiting.iter())?;
        self.waiting.clear();
        Ok(())
    }

    /// All of them, each once.
    pub fn finish(mut self) -> Result<DayIds> {
        self.spill()?;
        let folder = self.runs.folder.clone();
        let (file, path) = self.runs.unlinked()?;
        let mut merged = self.runs.merge()?;
        let mut out = BufWriter::new(file);
        let mut days: BTreeMap<i32, Range<u64>> = BTreeMap::new();
        let (mut last, mut written) = (Vec::new(), 0);
        while let Some(record) = merged.next()? {
            let Some((day, id)) = record.split_first_chunk::<4>().filter(|_| record != last) else { continue };
            let day = (u32::from_be_bytes(*day) ^ 1 << 31) as i32;
            out.write_all(id).context("write", &path)?;
            written += 1;
            days.entry(day).or_insert(written - 1..written).end = written;
            last.clear();
            last.extend_from_slice(record);
        }
        let file = out.into_inner().map_err(|error| error.into_error()).context("write", &path)?;
        Ok(DayIds { file, folder, days })
    }
}

impl DayIds {
    /// The ids of a day, in ascending order.
    pub fn of(&self, day: i32) -> Result<Vec<u128>> {
        let Some(places) = self.days.get(&day) else { return Ok(Vec::new()) };
        let mut bytes = vec![0; (places.end - places.start) as usize * ID_BYTES];
        self.file.read_exact_at(&mut bytes, places.start * ID_BYTES as u64).context("read", &self.folder)?;
        Ok(bytes.as_chunks().0.iter().map(|id| u128::from_be_bytes(*id)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_are_grouped_by_day_and_unique() {
        let folder = tempfile::tempdir().unwrap();
        let mut ids = DayIdsBuilder::new(folder.path());
        for (day, id) in [(20_000, 7), (-3, 1), (20_000, u128::MAX), (0, 5), (20_000, 7)] {
            ids.push(day, id).unwrap();
            // Even a few ids may have to go to disk.
            ids.spill().unwrap();
        }
        let ids = ids.finish().unwrap();
        assert_eq!(ids.of(20_000).unwrap(), [7, u128::MAX]);
        assert_eq!((ids.of(-3).unwrap(), ids.of(0).unwrap(), ids.of(1).unwrap()), (vec![1], vec![5], vec![]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn more_runs_than_the_fan_in_are_merged_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut runs = Runs::new(folder.path());
        let mut all = Vec::new();
        for run in 0..FAN as u32 * 2 + 3 {
            let mut records: Vec<Vec<u8>> =
                (0..20u32).map(|n| (n.wrapping_mul(2_654_435_761) ^ run).to_be_bytes().to_vec()).collect();
            records.sort();
            runs.add(records.iter()).unwrap();
            all.extend(records);
        }
        all.sort();
        let mut merged = runs.merge().unwrap();
        for expected in &all {
            assert_eq!(merged.next().unwrap(), Some(&expected[..]));
        }
        assert_eq!(merged.next().unwrap(), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "runs leave no files");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn merged_runs_are_all_records_in_order(runs in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..12), 0..6)) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorted = Runs::new(folder.path());
            let mut all = Vec::new();
            for mut records in runs {
                records.sort();
                sorted.add(records.iter()).unwrap();
                all.extend(records);
            }
            all.sort();
            let mut merged = sorted.merge().unwrap();
            for expected in &all {
                prop_assert_eq!(merged.next().unwrap(), Some(&expected[..]));
            }
            prop_assert_eq!(merged.next().unwrap(), None);
        }

        #[test]
        fn ids_of_a_day_are_sorted_and_unique(pairs in prop::collection::vec((-3i32..3, any::<u128>()), 0..40)) {
            let folder = tempfile::tempdir().unwrap();
            let mut builder = DayIdsBuilder::new(folder.path());
            let mut expected: BTreeMap<i32, std::collections::BTreeSet<u128>> = BTreeMap::new();
            for (day, id) in pairs {
                builder.push(day, id).unwrap();
                expected.entry(day).or_default().insert(id);
            }
            let ids = builder.finish().unwrap();
            for day in -4..4 {
                let wanted: Vec<u128> = expected.get(&day).into_iter().flatten().copied().collect();
                prop_assert_eq!(ids.of(day).unwrap(), wanted);
            }
        }
    }
}
