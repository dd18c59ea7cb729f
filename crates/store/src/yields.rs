//! Yield: clean text per downloaded byte, by feed and by host.
//!
//! Some sites have much text per megabyte, others little. `clean` counts both for every day of pages in
//! `docs/yield/DAY.tsv`, which is rebuilt with the documents; the sums of the last days are in `state/yield.tsv`, for
//! the schedule and for users.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use tidings_storage::write_atomic;

use crate::error::Result;
use crate::home::Home;
use crate::table::{self, columns};

/// The number of days in the sums: older data says little about a site.
pub const RECENT_DAYS: usize = 30;

/// The folder of the tables of days.
const FOLDER: &str = "docs/yield";

/// Pages and bytes downloaded, and documents and clean bytes extracted from them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Yield {
    /// Pages that were downloaded.
    pub pages: u64,
    /// Documents extracted from them.
    pub documents: u64,
    /// Bytes of the pages, unpacked.
    pub downloaded: u64,
    /// Bytes of the documents' text.
    pub clean: u64,
}

impl Yield {
    /// Clean bytes per downloaded byte.
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

/// A row of the table of a day: the yield of the entries of a feed on a host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DayRow {
    /// The feed.
    pub feed: String,
    /// The host of the pages.
    pub host: String,
    /// Their yield.
    pub sum: Yield,
}

/// A row of the sums.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SumRow {
    /// `feed` or `host`.
    pub kind: String,
    /// Its address, or its name.
    pub name: String,
    /// Its yield.
    pub sum: Yield,
}

columns!(DayRow {
    feed, host, "pages" = sum.pages, "documents" = sum.documents, "downloaded" = sum.downloaded,
    "clean" = sum.clean
});

columns!(SumRow {
    kind, name, "pages" = sum.pages, "documents" = sum.documents, "downloaded" = sum.downloaded,
    "clean" = sum.clean, "yield" : SumRow::rate
});

impl SumRow {
    fn rate(&self) -> String {
        format!("{:.4}", self.sum.rate())
    }
}

/// The counts of a day in progress.
#[derive(Debug, Default)]
pub(crate) struct YieldCounters(BTreeMap<(String, String), Yield>);

impl YieldCounters {
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

/// The key of the table of a day.
pub(crate) fn day_key(day: &str) -> String {
    format!("{FOLDER}/{day}.tsv")
}

/// Shows the table of every day to `see`, oldest first.
pub fn days(home: &Home, see: impl FnMut(&str, DayRow)) -> Result<()> {
    days_since(home, "", see)
}

/// Calls `see` with the rows of every day from one on, oldest first.
pub fn days_since(home: &Home, first: &str, mut see: impl FnMut(&str, DayRow)) -> Result<()> {
    let mut days = tables(home)?;
    days.retain(|day| &**day >= first);
    each_day(home, &days, &mut see)
}

/// Calls `see` with the rows of one day.
pub fn of_day(home: &Home, day: &str, see: impl FnMut(DayRow)) -> Result<()> {
    match home.file_bytes(&day_key(day))? {
        Some(_) => table::read_from(home.open_file(&day_key(day))?, &home.storage().path(&day_key(day)), see),
        None => Ok(()),
    }
}

/// The days that have a table, oldest first.
fn tables(home: &Home) -> Result<Vec<String>> {
    let day = |key: &String| Some(key.strip_prefix(FOLDER)?.strip_prefix('/')?.strip_suffix(".tsv")?.to_owned());
    Ok(home.storage().list(FOLDER)?.iter().filter_map(day).collect())
}

fn each_day(home: &Home, days: &[String], see: &mut impl FnMut(&str, DayRow)) -> Result<()> {
    days.iter().try_for_each(|day| of_day(home, day, |row| see(day, row)))
}

/// Sums up the last days into `state/yield.tsv`.
pub fn summarise(home: &Home) -> Result<()> {
    let days = tables(home)?;
    let recent = &days[days.len().saturating_sub(RECENT_DAYS)..];
    let mut sums: BTreeMap<(&str, String), Yield> = BTreeMap::new();
    each_day(home, recent, &mut |_, row| {
        *sums.entry(("feed", row.feed)).or_default() += row.sum;
        *sums.entry(("host", row.host)).or_default() += row.sum;
    })?;
    let rows = sums.into_iter().map(|((kind, name), sum)| SumRow { kind: kind.to_owned(), name, sum });
    Ok(write_atomic(&home.state("yield.tsv"), table::text(rows).as_bytes())?)
}

/// Shows the sums of the last days to `see`.
pub fn read(home: &Home, see: impl FnMut(SumRow)) -> Result<()> {
    table::read(&home.state("yield.tsv"), see)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_days_are_summed_by_feed_and_host() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        let part = |pages: u64, clean: u64| Yield { pages, documents: pages - 1, downloaded: pages * 1000, clean };
        for day in 0..RECENT_DAYS + 1 {
            let mut counters = YieldCounters::default();
            counters.add("http://a/feed", "a", part(2, 100));
            counters.add("http://b/feed", "a", part(1, 0));
            counters.add("http://a/feed", "a", part(2, 100));
            assert_eq!(counters.lines(), 3);
            home.storage().put_atomic(&day_key(&format!("2026-03-{:02}", day + 1)), &counters.table()).unwrap();
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
