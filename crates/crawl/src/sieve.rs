//! The seen-set: a sieve (Mercator, BUbiNG) instead of a database.
//!
//! Most links of a page are known. A table of hot fingerprints drops nearly all of them at once. The others wait in the
//! buffer of their shard until a sift compares the buffer, sorted, with the sorted runs of the shard: a sequential read
//! instead of a lookup per link. What is new stays in memory until the next checkpoint writes it as a run. At most
//! [`MAX_RUNS`] runs per shard are kept, in sizes of about 1:8:64.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::fingerprint::{SHARDS, shard_name};
use crate::rank;
use crate::record::Link;
use crate::u64_run::{self, U64Reader};

/// The most runs of a shard.
pub(crate) const MAX_RUNS: usize = 3;
/// The least ratio of the sizes of neighbouring runs.
pub(crate) const RUN_RATIO: u64 = 8;
/// Entries of the table of hot fingerprints, a power of two.
const HOT: usize = 1 << 19;

/// A run of a shard: its number, by which its file is named, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) id: u64,
    pub(crate) len: u64,
}

/// A link that may be new. Without a URL it is only an alias of a known page.
type Candidate = Option<Box<Link>>;

#[derive(Default)]
struct SeenShard {
    runs: Vec<Run>,
    /// Links since the last sift.
    buffer: Vec<(u64, Candidate)>,
    /// Fingerprints that were new since the last checkpoint.
    recent: HashSet<u64>,
}

/// The set of all URLs that were ever met.
pub struct Sieve {
    folder: PathBuf,
    shards: Vec<SeenShard>,
    /// Fingerprints met lately, in the slot of their low bits.
    hot: Vec<u64>,
    buffered: usize,
    recent: usize,
}

impl Sieve {
    /// The seen-set in a folder, with the runs of its last checkpoint by shard.
    pub(crate) fn open(folder: &Path, runs: &HashMap<String, Vec<Run>>) -> Sieve {
        let shard = |at: usize| SeenShard {
            runs: runs.get(&shard_name(at as u8)).cloned().unwrap_or_default(),
            ..SeenShard::default()
        };
        Sieve {
            folder: folder.to_owned(),
            shards: (0..SHARDS).map(shard).collect(),
            hot: vec![0; HOT],
            buffered: 0,
            recent: 0,
        }
    }

    /// Puts a link into the buffer of its shard, unless it was met lately; returns whether it waits there.
    pub fn offer(&mut self, shard: u8, fingerprint: u64, link: Option<Link>) -> bool {
        let slot = &mut self.hot[fingerprint as usize & (HOT - 1)];
        if *slot == fingerprint {
            return false;
        }
        *slot = fingerprint;
        self.buffered += 1;
        self.shards[shard as usize].buffer.push((fingerprint, link.map(Box::new)));
        true
    }

    /// Whether a URL was met lately: its links need not be journaled. A negative answer says nothing.
    pub fn is_hot(&self, fingerprint: u64) -> bool {
        self.hot[fingerprint as usize & (HOT - 1)] == fingerprint
    }

    /// The number of links in the buffers.
    pub fn buffered(&self) -> usize {
        self.buffered
    }

    /// The number of URLs that are new since the last checkpoint.
    pub fn recent(&self) -> usize {
        self.recent
    }

    /// The number of URLs in runs and in memory.
    pub fn len(&self) -> u64 {
        let in_runs: u64 = self.shards.iter().flat_map(|shard| &shard.runs).map(|run| run.len).sum();
        in_runs + self.recent as u64
    }

    /// Whether no URL is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Compares all buffers with what is known; returns the links that are new.
    pub fn sift(&mut self) -> Result<Vec<Link>> {
        let mut new = Vec::new();
        for shard in 0..SHARDS {
            if !self.shards[shard].buffer.is_empty() {
                self.sift_shard(shard, &mut new)?;
            }
        }
        self.buffered = 0;
        Ok(new)
    }

    fn sift_shard(&mut self, at: usize, new: &mut Vec<Link>) -> Result<()> {
        let paths: Vec<PathBuf> = self.shards[at].runs.iter().map(|run| self.path(at, run.id)).collect();
        let shard = &mut self.shards[at];
        let mut batch = std::mem::take(&mut shard.buffer);
        // Of several links to a URL the best counts, whatever their order.
        batch.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| order(&a.1).cmp(&order(&b.1))));
        batch.dedup_by_key(|(fingerprint, _)| *fingerprint);
        batch.retain(|(fingerprint, _)| !shard.recent.contains(fingerprint));
        for path in paths {
            subtract(&mut batch, &path)?;
        }
        for (fingerprint, candidate) in batch {
            self.recent += usize::from(shard.recent.insert(fingerprint));
            new.extend(candidate.map(|link| *link));
        }
        Ok(())
    }

    /// Whether a URL is known, by a search of its shard.
    pub fn holds(&self, shard: u8, fingerprint: u64) -> Result<bool> {
        let at = shard as usize;
        let known = &self.shards[at];
        if known.recent.contains(&fingerprint) || known.buffer.iter().any(|(other, _)| *other == fingerprint) {
            return Ok(true);
        }
        for run in &known.runs {
            let mut reader = U64Reader::open(&self.path(at, run.id))?;
            while let Some(number) = reader.next()? {
                if number >= fingerprint {
                    if number == fingerprint {
                        return Ok(true);
                    }
                    break;
                }
            }
        }
        Ok(false)
    }

    /// Writes what is new as runs. Files that are no longer needed are added to `obsolete`; they may be deleted when the
    /// manifest no longer names them.
    pub(crate) fn write(
        &mut self,
        next_run: &mut u64,
        obsolete: &mut Vec<PathBuf>,
    ) -> Result<HashMap<String, Vec<Run>>> {
        debug_assert_eq!(self.buffered, 0, "a sift comes before a checkpoint");
        for at in 0..SHARDS {
            let recent = std::mem::take(&mut self.shards[at].recent);
            if recent.is_empty() {
                continue;
            }
            let id = take_number(next_run);
            let len = u64_run::write(&self.path(at, id), recent.into_iter().collect())?;
            self.shards[at].runs.push(Run { id, len });
            while let Some(first) = merge_from(&self.shards[at].runs) {
                let merged: Vec<Run> = self.shards[at].runs.drain(first..).collect();
                let paths: Vec<PathBuf> = merged.iter().map(|run| self.path(at, run.id)).collect();
                let id = take_number(next_run);
                let len = u64_run::merge(&paths, &self.path(at, id))?;
                self.shards[at].runs.push(Run { id, len });
                obsolete.extend(paths);
            }
        }
        self.recent = 0;
        let named = |(at, shard): (usize, &SeenShard)| (shard_name(at as u8), shard.runs.clone());
        Ok(self.shards.iter().enumerate().filter(|(_, shard)| !shard.runs.is_empty()).map(named).collect())
    }

    fn path(&self, shard: usize, id: u64) -> PathBuf {
        self.folder.join(shard_name(shard as u8)).join(format!("{id}.u64"))
    }
}

/// The first of the newest runs that must be merged: there are too many, or one is too large for its neighbour.
pub(crate) fn merge_from(runs: &[Run]) -> Option<usize> {
    let last = runs.len().checked_sub(2)?;
    (runs.len() > MAX_RUNS || runs[last].len < RUN_RATIO * runs[last + 1].len).then_some(last)
}

pub(crate) fn take_number(next: &mut u64) -> u64 {
    *next += 1;
    *next
}

/// The order of links to one URL; an alias is known already and comes first.
fn order(candidate: &Candidate) -> (u64, &str, &str) {
    candidate.as_ref().map_or((0, "", ""), |link| (rank::of(&link.url), link.url.url.as_str(), &*link.source))
}

/// Removes the fingerprints of a run from a sorted batch.
fn subtract(batch: &mut Vec<(u64, Candidate)>, path: &Path) -> Result<()> {
    if batch.is_empty() {
        return Ok(());
    }
    let mut reader = U64Reader::open(path)?;
    let mut head = reader.next()?;
    let mut failed = None;
    batch.retain(|(fingerprint, _)| {
        while head.is_some_and(|known| known < *fingerprint) {
            match reader.next() {
                Ok(next) => head = next,
                Err(error) => {
                    failed = Some(error);
                    head = None;
                }
            }
        }
        head != Some(*fingerprint)
    });
    failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::{fingerprint, shard};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn offer(sieve: &mut Sieve, number: u32) {
        let domain = format!("site{}.example", number % 7);
        let url = format!("http://{domain}/{number}");
        sieve.offer(shard(&domain), fingerprint(&url), Some(crate::testing::link(&url)));
    }

    fn numbers(new: Vec<Link>) -> Vec<u32> {
        new.into_iter().map(|link| link.url.url.rsplit('/').next().unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn runs_are_merged_when_they_are_too_many_or_too_alike() {
        let run = |len| Run { id: len, len };
        assert_eq!(merge_from(&[run(5)]), None);
        assert_eq!(merge_from(&[run(64), run(8)]), None);
        assert_eq!(merge_from(&[run(64), run(9)]), Some(0));
        assert_eq!(merge_from(&[run(6400), run(64), run(8), run(1)]), Some(2));
    }

    #[test]
    fn an_alias_is_known_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let mut sieve = Sieve::open(folder.path(), &HashMap::new());
        sieve.offer(3, 42, None);
        assert!(sieve.sift().unwrap().is_empty());
        assert!(sieve.holds(3, 42).unwrap() && !sieve.holds(3, 43).unwrap());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn the_sieve_is_a_set_across_sifts_checkpoints_and_reopening(
            batches in prop::collection::vec((prop::collection::vec(0u32..400, 0..60), 0u8..4), 1..12)
        ) {
            let folder = tempfile::tempdir().unwrap();
            let (mut next, mut obsolete) = (0, Vec::new());
            let mut sieve = Sieve::open(folder.path(), &HashMap::new());
            let (mut model, mut found) = (BTreeSet::new(), Vec::new());
            for (batch, then) in batches {
                model.extend(batch.iter().copied());
                batch.into_iter().for_each(|number| offer(&mut sieve, number));
                if then > 0 {
                    found.extend(numbers(sieve.sift().unwrap()));
                }
                if then > 1 {
                    let runs = sieve.write(&mut next, &mut obsolete).unwrap();
                    prop_assert!(runs.values().all(|runs| runs.len() <= MAX_RUNS));
                    if then > 2 {
                        sieve = Sieve::open(folder.path(), &runs);
                    }
                }
            }
            found.extend(numbers(sieve.sift().unwrap()));
            prop_assert_eq!(found.len(), model.len(), "each URL is new once");
            prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), model.clone());
            prop_assert_eq!(sieve.len(), model.len() as u64);
        }

        #[test]
        fn links_in_any_order_give_the_same_files(numbers in prop::collection::vec(0u32..200, 0..80), split in 0usize..80) {
            let bytes = |numbers: &[u32]| {
                let folder = tempfile::tempdir().unwrap();
                let mut sieve = Sieve::open(folder.path(), &HashMap::new());
                let (first, rest) = numbers.split_at(split.min(numbers.len()));
                for part in [first, rest] {
                    part.iter().for_each(|number| offer(&mut sieve, *number));
                    sieve.sift().unwrap();
                }
                let runs = sieve.write(&mut 0, &mut Vec::new()).unwrap();
                let mut shards: Vec<_> = runs.into_iter().collect();
                shards.sort_by(|a, b| a.0.cmp(&b.0));
                shards.into_iter().map(|(shard, runs)| {
                    let path = folder.path().join(shard).join(format!("{}.u64", runs[0].id));
                    std::fs::read(path).unwrap()
                }).collect::<Vec<_>>()
            };
            let mut reversed = numbers.clone();
            reversed.reverse();
            prop_assert_eq!(bytes(&numbers), bytes(&reversed));
        }
    }
}
