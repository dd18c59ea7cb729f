//! How runs of keys grow old: days become fortnights, fortnights become years.
//!
//! Looking a key up costs a read in every run, so that there are never more than three: the years, the
//! fortnights since, the days since. Pieces are read by their number, so that files of them need not become
//! one; but few enough to stay open they must be: files of 256 days, of 16, and of one. Which days are in
//! which file depends on their number and on nothing else, so that the same days leave the same files,
//! however often somebody stopped on the way.

use std::ops::Range;
use std::path::PathBuf;

use crate::error::Result;
use crate::keys::{KeyRun, PieceNumber, merge};

/// Days of a young run, and young runs of a middle one.
const FAN: u64 = 16;

/// A run of the keys of some days, counted from the first day of the memory.
pub struct Aged {
    /// Its days.
    pub days: Range<u64>,
    /// The run.
    pub run: KeyRun,
}

/// Which days are in which run when there are so many.
pub fn layout(days: u64) -> Vec<Range<u64>> {
    let marks = [0, days / (FAN * FAN) * (FAN * FAN), days / FAN * FAN, days];
    marks.windows(2).map(|pair| pair[0]..pair[1]).filter(|range| !range.is_empty()).collect()
}

/// Which days are in which file of pieces when there are so many.
pub fn piece_layout(days: u64) -> Vec<Range<u64>> {
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

/// Adds the runs of a new day: gives the run that takes the place of the youngest ones. It is the last of
/// the new layout; all before it stay.
pub fn grow(past: &[Aged], fresh: &[KeyRun], path: impl Fn(&Range<u64>) -> PathBuf) -> Result<Aged> {
    let day = past.last().map_or(0, |aged| aged.days.end);
    let days = layout(day + 1).pop().expect("a day is in some run");
    let older = past.iter().filter(|aged| aged.days.start >= days.start).map(|aged| &aged.run);
    let runs: Vec<&KeyRun> = older.chain(fresh).collect();
    Ok(Aged { run: merge(&runs, &path(&days), None)?, days })
}

/// Takes days back: gives the run of these days, out of runs that hold them among others. `first_piece` tells
/// with which piece a day began.
pub fn cut(
    past: &[Aged],
    days: &Range<u64>,
    first_piece: impl Fn(u64) -> PieceNumber,
    path: impl Fn(&Range<u64>) -> PathBuf,
) -> Result<Aged> {
    let holding = past.iter().filter(|aged| aged.days.start < days.end && days.start < aged.days.end);
    let runs: Vec<&KeyRun> = holding.map(|aged| &aged.run).collect();
    let pieces = first_piece(days.start)..first_piece(days.end);
    let run = merge(&runs, &path(days), Some(&|piece| pieces.contains(&piece)))?;
    Ok(Aged { days: days.clone(), run })
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
            let [before, after] = [piece_layout(days - 1), piece_layout(days)];
            let (last, others) = after.split_last().unwrap();
            assert!(after.len() < 64 && last.end == days && others.iter().all(|range| before.contains(range)));
        }
        assert!(rewritten / 4000 < 30, "each day is written some twenty times in ten years");
    }
}
