//! Levels of the log-structured merge tree (O'Neil et al. 1996) that holds the fingerprints.
//!
//! Each lookup costs one read per run, so there are at most three runs, one per level: multiples of 256 days, of
//! 16 days, and the days since. Blocks are read by id, so their files need not be merged into one, but few enough
//! files must remain to keep them open: files of 256 days, of 16 days and of one day. The assignment of days to
//! files depends only on the number of days, so the same days give the same files however often a run was
//! interrupted.

use std::ops::Range;
use std::path::PathBuf;

use crate::error::Result;
use crate::fingerprint_index::{BlockId, FingerprintRun, merge};

/// Days per run of a level, as a multiple of the level below.
const FAN: u64 = 16;

/// The fingerprint run of a range of days, counted from the first day of the store.
pub struct LevelRun {
    /// The days it covers.
    pub days: Range<u64>,
    /// The run on disk.
    pub run: FingerprintRun,
}

/// The ranges of days that the runs cover when the store holds `days` days.
pub fn layout(days: u64) -> Vec<Range<u64>> {
    let marks = [0, days / (FAN * FAN) * (FAN * FAN), days / FAN * FAN, days];
    marks.windows(2).map(|pair| pair[0]..pair[1]).filter(|range| !range.is_empty()).collect()
}

/// The ranges of days that the block files cover when the store holds `days` days.
pub fn block_layout(days: u64) -> Vec<Range<u64>> {
    let mut layout = Vec::new();
    let mut at = 0;
    for size in [FAN * FAN, FAN, 1] {
        while days - at >= size {
            layout.push(at..at + size);
            at += size;
        }
    }
    layout
}

/// Merges the runs of a new day with those of its level. The result replaces these runs and is the last of the new
/// layout; older runs stay.
pub fn merge_day(
    past: &[LevelRun],
    fresh: &[FingerprintRun],
    path: impl Fn(&Range<u64>) -> PathBuf,
) -> Result<LevelRun> {
    let day = past.last().map_or(0, |level| level.days.end);
    let days = layout(day + 1).pop().expect("a day is in some run");
    let older = past.iter().filter(|level| level.days.start >= days.start).map(|level| &level.run);
    let runs: Vec<&FingerprintRun> = older.chain(fresh).collect();
    Ok(LevelRun { run: merge(&runs, &path(&days), None)?, days })
}

/// Rebuilds the run of a range of days from runs that cover more, to truncate the store. `first_block` gives the
/// first block of a day.
pub fn truncate(
    past: &[LevelRun],
    days: &Range<u64>,
    first_block: impl Fn(u64) -> BlockId,
    path: impl Fn(&Range<u64>) -> PathBuf,
) -> Result<LevelRun> {
    let holding = past.iter().filter(|level| level.days.start < days.end && days.start < level.days.end);
    let runs: Vec<&FingerprintRun> = holding.map(|level| &level.run).collect();
    let blocks = first_block(days.start)..first_block(days.end);
    let run = merge(&runs, &path(days), Some(&|block| blocks.contains(&block)))?;
    Ok(LevelRun { days: days.clone(), run })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_never_more_than_three_runs_and_one_is_written_a_day() {
        let mut rewritten = 0;
        for days in 1..4000 {
            let [before, after] = [layout(days - 1), layout(days)];
            assert!(after.len() <= 3);
            assert_eq!(after.iter().map(|range| range.end - range.start).sum::<u64>(), days);
            let (last, others) = after.split_last().unwrap();
            assert!(others.iter().all(|range| before.contains(range)));
            assert!(before.iter().all(|range| others.contains(range) || range.start >= last.start));
            rewritten += last.end - last.start;
            let [before, after] = [block_layout(days - 1), block_layout(days)];
            let (last, others) = after.split_last().unwrap();
            assert!(after.len() < 64 && last.end == days && others.iter().all(|range| before.contains(range)));
        }
        assert!(rewritten / 4000 < 30, "each day is rewritten about twenty times in ten years");
    }
}
