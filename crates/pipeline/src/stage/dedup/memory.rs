//! The fingerprint memory of the judged days: which files hold it, and how a day is added and removed.
//!
//! The last day has files of its own, because it may grow: it is then judged again without a change of the others. With
//! the next day, its files are merged into those of the earlier days (`lsm_levels`). The names of files tell their days;
//! homes of version 0.1.0, whose last day is merged already, are read in the same way.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::civil::Date;
use tidings_dedup::lsm_levels::{self, LevelRun};
use tidings_dedup::{BlockFile, BlockId, FingerprintRun, FlushedFiles, StoreFiles, join, merge};
use tidings_store::dedup_state::{self, JudgedDay, JudgedDays};
use tidings_store::{FileDigest, Home};

/// A kind of fingerprint file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Keys,
    Pieces,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Kind::Keys => "keys",
            Kind::Pieces => "pieces",
        }
    }

    fn file(self, day: &JudgedDay) -> &FileDigest {
        match self {
            Kind::Keys => &day.key_file,
            Kind::Pieces => &day.piece_file,
        }
    }

    fn file_mut(self, day: &mut JudgedDay) -> &mut FileDigest {
        match self {
            Kind::Keys => &mut day.key_file,
            Kind::Pieces => &mut day.piece_file,
        }
    }

    /// The days of the files of this kind after as many days, if the last one does not grow any more.
    fn layout(self, days: u64) -> Vec<Range<u64>> {
        match self {
            Kind::Keys => lsm_levels::layout(days),
            Kind::Pieces => lsm_levels::block_layout(days),
        }
    }
}

/// The days of the present files of a kind, oldest first.
fn ranges(days: &[JudgedDay], kind: Kind) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    let mut end = days.len();
    while end > 0 {
        let first = dedup_state::first_day(kind.file(&days[end - 1]));
        let start = days[..end].partition_point(|day| day.day.as_str() < first).min(end - 1);
        ranges.push(start as u64..end as u64);
        end = start;
    }
    ranges.reverse();
    ranges
}

/// The files that hold the fingerprints of these days.
pub(crate) fn memory_files(days: &[JudgedDay]) -> Vec<FileDigest> {
    let last = |range: &Range<u64>, kind: Kind| kind.file(&days[range.end as usize - 1]).clone();
    [Kind::Keys, Kind::Pieces]
        .into_iter()
        .flat_map(|kind| ranges(days, kind).into_iter().map(move |range| last(&range, kind)))
        .collect()
}

/// Whether the last day has files of its own, so that it can be judged again without a change of the others.
pub(super) fn is_last_open(days: &[JudgedDay]) -> bool {
    let is_alone = |kind| ranges(days, kind).last().is_some_and(|range| range.end - range.start == 1);
    is_alone(Kind::Keys) && is_alone(Kind::Pieces)
}

/// Opens the files of the last day, which are about to be replaced: those of a newer version must not be.
pub(super) fn check_last(home: &Home, days: &[JudgedDay]) -> Result<()> {
    if let Some(last) = days.last() {
        FingerprintRun::open(&last.key_file.path(home))?;
        BlockFile::open(&last.piece_file.path(home))?;
    }
    Ok(())
}

/// The files of fingerprints of all judged days.
pub(super) struct Memory {
    home: Home,
    keys: Vec<LevelRun>,
    pieces: Vec<(Range<u64>, BlockFile)>,
    /// The days as numbers, with the first piece of each.
    days: Vec<(i64, BlockId)>,
}

impl Memory {
    /// Opens the files of these days.
    pub(super) fn open(home: &Home, days: &[JudgedDay]) -> Result<Memory> {
        let path = |range: &Range<u64>, kind: Kind| kind.file(&days[range.end as usize - 1]).path(home);
        let mut keys = Vec::new();
        for range in ranges(days, Kind::Keys) {
            let run = FingerprintRun::open(&path(&range, Kind::Keys))?;
            keys.push(LevelRun { days: range, run });
        }
        let pieces = ranges(days, Kind::Pieces).into_iter().map(|range| {
            let [first, last] = [&days[range.start as usize], &days[range.end as usize - 1]];
            let number = last.pieces.end - first.pieces.start;
            let path = path(&range, Kind::Pieces);
            (range, BlockFile::known(&path, first.pieces.start, number, last.piece_file.bytes))
        });
        Ok(Memory { home: home.clone(), keys, pieces: pieces.collect(), days: numbered_days(days) })
    }

    fn path(&self, kind: Kind, range: &Range<u64>, days: &[JudgedDay]) -> PathBuf {
        let [first, last] = [range.start, range.end - 1].map(|day| days[day as usize].day.as_str());
        dedup_state::memory_path(&self.home, kind.name(), first, last)
    }

    /// Truncates the memory to the first days. New files are written first, then the ledger, which gets their digests:
    /// those of files that an older version wrote differ.
    pub(super) fn truncate(&mut self, ledger: &mut JudgedDays, kept: usize) -> Result<()> {
        let draft = dedup_state::draft_folder(&self.home)?.join("cut.tmp");
        let firsts: Vec<BlockId> = ledger.days.iter().map(|day| day.pieces.start).collect();
        let first = |day: u64| firsts[day as usize];
        for range in lsm_levels::layout(kept as u64) {
            if !self.keys.iter().any(|level| level.days == range) {
                drop(lsm_levels::truncate(&self.keys, &range, first, |_| draft.clone())?);
                self.place(Kind::Keys, &draft, &range, ledger)?;
            }
        }
        for range in lsm_levels::block_layout(kept as u64) {
            if !self.pieces.iter().any(|(days, _)| *days == range) {
                let parts: Vec<&BlockFile> = self.pieces.iter().map(|(_, file)| file).collect();
                join(&parts, first(range.start)..first(range.end), &draft)?;
                self.place(Kind::Pieces, &draft, &range, ledger)?;
            }
        }
        ledger.cut(&self.home, kept)?;
        *self = Memory::open(&self.home, &ledger.days)?;
        Ok(())
    }

    fn place(&self, kind: Kind, draft: &Path, range: &Range<u64>, ledger: &mut JudgedDays) -> Result<()> {
        let target = self.path(kind, range, &ledger.days);
        let placed = dedup_state::place(&self.home, draft, &target)?;
        *kind.file_mut(&mut ledger.days[range.end as usize - 1]) = placed;
        Ok(())
    }

    /// Merges the files of the last day into those of earlier days, because another day follows. The result is in
    /// `merged` until the ledger is written.
    pub(super) fn close_last(&mut self, days: &[JudgedDay]) -> Result<Option<[FileDigest; 2]>> {
        let Some(last) = days.last().filter(|_| is_last_open(days)) else { return Ok(None) };
        let draft = dedup_state::draft_folder(&self.home)?.join("merged.tmp");
        let count = days.len() as u64;
        let wanted = |kind: Kind| kind.layout(count).pop().expect("a day is in some file");
        let mut merged = [last.key_file.clone(), last.piece_file.clone()];
        let range = wanted(Kind::Keys);
        if range.end - range.start > 1 {
            let from = self.keys.iter().position(|level| level.days.start >= range.start).unwrap_or(self.keys.len());
            let runs: Vec<&FingerprintRun> = self.keys[from..].iter().map(|level| &level.run).collect();
            drop(merge(&runs, &draft, None)?);
            let target = self.path(Kind::Keys, &range, days);
            merged[0] = dedup_state::place(&self.home, &draft, &target)?;
            self.keys.truncate(from);
            self.keys.push(LevelRun { days: range, run: FingerprintRun::open(&target)? });
        }
        let range = wanted(Kind::Pieces);
        if range.end - range.start > 1 {
            let from = self.pieces.iter().position(|(days, _)| days.start >= range.start).unwrap_or(self.pieces.len());
            let parts: Vec<&BlockFile> = self.pieces[from..].iter().map(|(_, file)| file).collect();
            join(&parts, days[range.start as usize].pieces.start..last.pieces.end, &draft)?;
            let target = self.path(Kind::Pieces, &range, days);
            merged[1] = dedup_state::place(&self.home, &draft, &target)?;
            self.pieces.truncate(from);
            self.pieces.push((range, BlockFile::open(&target)?));
        }
        Ok(Some(merged))
    }

    /// The files as a store opens them. The runs are given back with [`Memory::add`].
    pub(super) fn lend(&mut self) -> (StoreFiles, Vec<Range<u64>>) {
        let (ranges, runs) = self.keys.drain(..).map(|level| (level.days, level.run)).unzip();
        let blocks = self.pieces.iter().map(|(_, file)| file.clone()).collect();
        (StoreFiles { runs, blocks, days: std::mem::take(&mut self.days) }, ranges)
    }

    /// Publishes the files of a new day; returns those of keys and pieces.
    pub(super) fn add(&mut self, day: &str, lent: Vec<Range<u64>>, flushed: FlushedFiles) -> Result<[FileDigest; 2]> {
        let number = lent.last().map_or(0, |range| range.end);
        let past = lent.into_iter().zip(flushed.past);
        self.keys = past.map(|(days, run)| LevelRun { days, run }).collect();
        self.days = flushed.days;
        let path = |kind: Kind| dedup_state::memory_path(&self.home, kind.name(), day, day);
        let draft = match &flushed.runs[..] {
            [run] => run.path().to_owned(),
            runs => {
                let draft = dedup_state::draft_folder(&self.home)?.join("keys.tmp");
                merge(&runs.iter().collect::<Vec<_>>(), &draft, None)?.path().to_owned()
            }
        };
        let key_file = dedup_state::place(&self.home, &draft, &path(Kind::Keys))?;
        let piece_file = dedup_state::place(&self.home, flushed.blocks.path(), &path(Kind::Pieces))?;
        let days = number..number + 1;
        self.keys.push(LevelRun { days: days.clone(), run: FingerprintRun::open(&path(Kind::Keys))? });
        self.pieces.push((days, BlockFile::open(&path(Kind::Pieces))?));
        Ok([key_file, piece_file])
    }
}

/// A day as a number.
pub(super) fn numbered(day: &str) -> i64 {
    day.parse::<Date>().map_or(0, crate::day_number)
}

/// Days as numbers, with the first piece of each.
fn numbered_days(days: &[JudgedDay]) -> Vec<(i64, BlockId)> {
    days.iter().map(|day| (numbered(&day.day), day.pieces.start)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(file: String) -> FileDigest {
        FileDigest { file, bytes: 0, xxh3: String::new(), lines: None }
    }

    /// A ledger whose files have the given days.
    fn judged(count: u64, files: impl Fn(Kind, u64) -> Range<u64>) -> Vec<JudgedDay> {
        let name = |day: u64| format!("2026-{:02}-{:02}", day / 28 + 1, day % 28 + 1);
        let file = |kind: Kind, day: u64| {
            let range = files(kind, day);
            digest(format!("seen/{0}/{1}.{2}.{0}", kind.name(), name(range.start), name(range.end - 1)))
        };
        let day = |day: u64| JudgedDay {
            day: name(day),
            docs: String::new(),
            documents: 0,
            duplicates: 0,
            paragraphs: 0,
            duplicate_paragraphs: 0,
            words: 0,
            duplicate_words: 0,
            pieces: 0..0,
            verdicts: digest(String::new()),
            piece_file: file(Kind::Pieces, day),
            key_file: file(Kind::Keys, day),
            amendments: Vec::new(),
        };
        (0..count).map(day).collect()
    }

    #[test]
    fn the_names_of_files_tell_their_days_whether_the_last_day_is_merged_or_not() {
        for count in 1..300 {
            let closed = |kind: Kind, day: u64| kind.layout(day + 1).pop().unwrap();
            let days = judged(count, closed);
            for kind in [Kind::Keys, Kind::Pieces] {
                assert_eq!(ranges(&days, kind), kind.layout(count), "{count}");
            }
            let days = judged(count, |kind, day| if day + 1 == count { day..count } else { closed(kind, day) });
            for kind in [Kind::Keys, Kind::Pieces] {
                let mut expected = kind.layout(count - 1);
                expected.push(count - 1..count);
                assert_eq!(ranges(&days, kind), expected, "{count}");
            }
            assert!(is_last_open(&days));
        }
        assert!(!is_last_open(&[]) && ranges(&[], Kind::Keys).is_empty());
    }

    #[test]
    fn a_day_is_a_number_and_an_invalid_date_is_the_first_day() {
        assert_eq!((numbered("1970-01-02"), numbered("2026-03-01"), numbered("x")), (1, 20_513, 0));
    }
}
