//! How much text comes of what is downloaded, by feed and by host.
//!
//! A megabyte of some sites holds a novel, of others a menu. `clean` counts both sides for every day
//! of pages in `docs/yield/DAY.tsv`, beside the documents and made again with them; the sums of the last
//! days are in `state/yield.tsv`, for the schedule and for people.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::path::PathBuf;

use crate::disk;
use crate::error::Result;
use crate::home::{Home, files_in};
use crate::table::{self, Tabular};

/// Days of pages that the sums are over: what a site was like last year says little.
pub const RECENT_DAYS: usize = 30;

/// What was downloaded, and what came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Yield {
    /// Pages that were downloaded.
    pub pages: u64,
    /// Documents that came of them.
    pub documents: u64,
    /// Bytes of the pages, unpacked.
    pub downloaded: u64,
    /// Bytes of the documents' text.
    pub clean: u64,
}

impl Yield {
    /// The rate: clean bytes of a downloaded one.
    pub fn rate(&self) -> f64 {
        self.clean as f64 / self.downloaded.max(1) as f64
    }
}

impl AddAssign for Yield {
    fn add_assign(&mut self, other: Yield) {
        self.pages += other.pages;
        self.documents += other.documents;
        self.downloaded += other.downloaded;
        self.clean += other.clean;
    }
}

/// A row of a day's table: what came of a feed's entries on a host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DayRow {
    /// The feed.
    pub feed: String,
    /// The host that the pages came from.
    pub host: String,
    /// What came of them.
    pub sum: Yield,
}

/// A row of the sums.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SumRow {
    /// `feed` or `host`.
    pub kind: String,
    /// Its address, or its name.
    pub name: String,
    /// What came of it.
    pub sum: Yield,
}

const NUMBERS: [&str; 4] = ["pages", "documents", "downloaded", "clean"];

fn numbers(sum: &Yield) -> [String; 4] {
    [sum.pages, sum.documents, sum.downloaded, sum.clean].map(|number| number.to_string())
}

fn sum_from(field: &dyn Fn(&str) -> String) -> Yield {
    let [pages, documents, downloaded, clean] = NUMBERS.map(|name| field(name).parse().unwrap_or(0));
    Yield { pages, documents, downloaded, clean }
}

impl Tabular for DayRow {
    const COLUMNS: &'static [&'static str] = &["feed", "host", NUMBERS[0], NUMBERS[1], NUMBERS[2], NUMBERS[3]];

    fn fields(&self) -> Vec<String> {
        [self.feed.clone(), self.host.clone()].into_iter().chain(numbers(&self.sum)).collect()
    }

    fn from_fields(field: &dyn Fn(&str) -> String) -> DayRow {
        DayRow { feed: field("feed"), host: field("host"), sum: sum_from(field) }
    }
}

impl Tabular for SumRow {
    const COLUMNS: &'static [&'static str] = &["kind", "name", NUMBERS[0], NUMBERS[1], NUMBERS[2], NUMBERS[3], "yield"];

    fn fields(&self) -> Vec<String> {
        let rate = format!("{:.4}", self.sum.rate());
        [self.kind.clone(), self.name.clone()].into_iter().chain(numbers(&self.sum)).chain([rate]).collect()
    }

    fn from_fields(field: &dyn Fn(&str) -> String) -> SumRow {
        SumRow { kind: field("kind"), name: field("name"), sum: sum_from(field) }
    }
}

/// The counts of a day while it is being made.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<(String, String), Yield>);

impl Tally {
    pub(crate) fn add(&mut self, feed: &str, host: &str, part: Yield) {
        *self.0.entry((feed.to_owned(), host.to_owned())).or_default() += part;
    }

    /// The table, as its file has it.
    pub(crate) fn table(&self) -> Vec<u8> {
        let rows =
            self.0.iter().map(|((feed, host), sum)| DayRow { feed: feed.clone(), host: host.clone(), sum: *sum });
        table::text(rows).into_bytes()
    }

    pub(crate) fn lines(&self) -> u64 {
        self.0.len() as u64 + 1
    }
}

/// Where the table of a day is.
pub(crate) fn day_path(home: &Home, day: &str) -> PathBuf {
    home.docs().join("yield").join(format!("{day}.tsv"))
}

/// Shows the table of every day to `see`, oldest first.
pub fn days(home: &Home, mut see: impl FnMut(&str, DayRow)) -> Result<()> {
    each_day(&files(home)?, &mut see)
}

/// Shows the table of every day from one on to `see`, oldest first.
pub fn days_since(home: &Home, first: &str, mut see: impl FnMut(&str, DayRow)) -> Result<()> {
    let mut files = files(home)?;
    files.retain(|path| path.file_stem().is_some_and(|day| day.to_string_lossy().as_ref() >= first));
    each_day(&files, &mut see)
}

/// Shows the table of one day to `see`.
pub fn of_day(home: &Home, day: &str, see: impl FnMut(DayRow)) -> Result<()> {
    table::read(&day_path(home, day), see)
}

fn files(home: &Home) -> Result<Vec<PathBuf>> {
    let mut files = files_in(&home.docs().join("yield"))?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "tsv"));
    Ok(files)
}

fn each_day(files: &[PathBuf], see: &mut impl FnMut(&str, DayRow)) -> Result<()> {
    for path in files {
        let day = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        table::read(path, |row| see(&day, row))?;
    }
    Ok(())
}

/// Sums up the last days into `state/yield.tsv`.
pub fn summarise(home: &Home) -> Result<()> {
    let files = files(home)?;
    let recent = &files[files.len().saturating_sub(RECENT_DAYS)..];
    let mut sums: BTreeMap<(&str, String), Yield> = BTreeMap::new();
    each_day(recent, &mut |_, row| {
        *sums.entry(("feed", row.feed)).or_default() += row.sum;
        *sums.entry(("host", row.host)).or_default() += row.sum;
    })?;
    let rows = sums.into_iter().map(|((kind, name), sum)| SumRow { kind: kind.to_owned(), name, sum });
    disk::write_whole(&home.state("yield.tsv"), table::text(rows).as_bytes())
}

/// Shows the sums of the last days to `see`.
pub fn read(home: &Home, see: impl FnMut(SumRow)) -> Result<()> {
    table::read(&home.state("yield.tsv"), see)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_summed_by_feed_and_by_host_and_old_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        let part = |pages: u64, clean: u64| Yield { pages, documents: pages - 1, downloaded: pages * 1000, clean };
        for day in 0..RECENT_DAYS + 1 {
            let mut tally = Tally::default();
            tally.add("http://a/feed", "a", part(2, 100));
            tally.add("http://b/feed", "a", part(1, 0));
            tally.add("http://a/feed", "a", part(2, 100));
            assert_eq!(tally.lines(), 3);
            disk::write_whole(&day_path(&home, &format!("2026-03-{:02}", day + 1)), &tally.table()).unwrap();
        }
        summarise(&home).unwrap();
        let mut rows = Vec::new();
        read(&home, |row| rows.push(row)).unwrap();
        let days = RECENT_DAYS as u64;
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["http://a/feed", "http://b/feed", "a"]);
        let sum = |pages, documents, clean| Yield { pages, documents, downloaded: pages * 1000, clean };
        assert_eq!(rows[0].sum, sum(4 * days, 2 * days, 200 * days));
        assert_eq!(rows[2].sum, sum(5 * days, 2 * days, 200 * days));
        assert!((rows[2].sum.rate() - 0.04).abs() < 1e-9);
    }
}
