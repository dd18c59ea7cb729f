//! The state of backfills: which listings of a site were read, and which articles they list.
//!
//! A backfill reads sitemaps and archive pages of a site for days. Its state is written after each round of requests,
//! after the journal of the round was applied to the plan: a crash repeats at most one round, and entries that are in
//! the plan already are not added again. There are three files for each site in `state/archive`: the order, the
//! listings, and the fingerprints of the articles found, eight bytes each and sorted.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_model::{Fingerprint, FingerprintSet};
use tidings_storage::file;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Context, Error, Result};
use crate::home::Home;
use crate::table::{self, Field, columns};

/// The start of a file of fingerprints.
const MAGIC: &[u8; 16] = b"tidings archive1";

/// What a backfill of a site is to do, and how far it came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackfillOrder {
    /// The site: host without `www.`, with the port if it is not the default.
    pub site: String,
    /// The address of the site: scheme and host.
    pub origin: String,
    /// The first day of the history, or empty.
    pub since: String,
    /// The last day of the history, or empty.
    pub until: String,
    /// The start of the first run.
    pub started: String,
    /// The end of the last round.
    pub updated: String,
    /// Requests for listings so far, robots.txt included.
    pub requests: u64,
    /// Why nothing is left to read, or empty.
    pub ended: String,
    /// Articles found so far.
    pub found: u64,
    /// Articles of the site that feeds brought, at the end of the last run.
    pub known: u64,
    /// Of these, articles that the backfill found too.
    pub found_too: u64,
}

/// The way by which a listing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ListingSource {
    /// A sitemap that robots.txt names.
    Robots,
    /// A sitemap at a common path.
    Guess,
    /// A sitemap of an index.
    Index,
    /// The front page.
    #[default]
    Front,
    /// A page of a day or month.
    Dated,
    /// A further page of a list.
    Page,
    /// A section page.
    Hub,
    /// A tag page.
    Tag,
}

impl ListingSource {
    const WORDS: [(ListingSource, &str); 8] = [
        (ListingSource::Robots, "robots"),
        (ListingSource::Guess, "guess"),
        (ListingSource::Index, "index"),
        (ListingSource::Front, "front"),
        (ListingSource::Dated, "dated"),
        (ListingSource::Page, "page"),
        (ListingSource::Hub, "hub"),
        (ListingSource::Tag, "tag"),
    ];

    /// The name in the table.
    pub fn word(self) -> &'static str {
        ListingSource::WORDS.iter().find(|row| row.0 == self).map_or("front", |row| row.1)
    }

    /// Whether it is a sitemap.
    pub fn is_sitemap(self) -> bool {
        matches!(self, ListingSource::Robots | ListingSource::Guess | ListingSource::Index)
    }
}

impl Field for ListingSource {
    fn to_text(&self) -> String {
        self.word().to_owned()
    }

    fn from_text(text: String) -> ListingSource {
        ListingSource::WORDS.iter().find(|row| row.1 == text).map(|row| row.0).unwrap_or_default()
    }
}

/// The state of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListingState {
    /// It is to be read.
    #[default]
    Waiting,
    /// It was read.
    Read,
    /// It could not be read.
    Failed,
}

impl ListingState {
    const WORDS: [(ListingState, &str); 3] =
        [(ListingState::Waiting, "waiting"), (ListingState::Read, "read"), (ListingState::Failed, "failed")];
}

impl Field for ListingState {
    fn to_text(&self) -> String {
        ListingState::WORDS.iter().find(|row| row.0 == *self).map_or("waiting", |row| row.1).to_owned()
    }

    fn from_text(text: String) -> ListingState {
        ListingState::WORDS.iter().find(|row| row.1 == text).map(|row| row.0).unwrap_or_default()
    }
}

/// A sitemap or page that lists articles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Its address.
    pub url: String,
    /// The way by which it was found.
    pub source: ListingSource,
    /// Whether it was read.
    pub state: ListingState,
    /// Its date in seconds since 1970, or 0; later ones are read first.
    pub rank: u64,
    /// The number of the page in a list, from 1.
    pub page: u32,
    /// Articles that it lists.
    pub found: u32,
    /// Of these, articles that no listing before it had.
    pub new: u32,
    /// Listings before it in its sequence, and itself, without articles or without new ones, in a row.
    pub dry: u32,
    /// A digest of its articles, in hexadecimal, to notice a page that repeats the one before.
    pub digest: String,
    /// The time when it was asked for.
    pub checked: String,
    /// The reason why it could not be read.
    pub error: String,
}

columns!(Listing { url, source, state, rank, page, found, new, dry, digest, checked, error });

/// The fingerprints of the articles that a backfill found.
#[derive(Debug, Clone, Default)]
pub struct FoundArticles {
    sorted: Vec<Fingerprint>,
    fresh: FingerprintSet,
}

impl FoundArticles {
    /// Adds an article; returns false if it was found before.
    pub fn insert(&mut self, article: Fingerprint) -> bool {
        self.sorted.binary_search(&article).is_err() && self.fresh.insert(article)
    }

    /// Whether an article was found.
    pub fn contains(&self, article: Fingerprint) -> bool {
        self.sorted.binary_search(&article).is_ok() || self.fresh.contains(&article)
    }

    /// The number of articles.
    pub fn len(&self) -> usize {
        self.sorted.len() + self.fresh.len()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn sort(&mut self) {
        if !self.fresh.is_empty() {
            self.sorted.extend(self.fresh.drain());
            self.sorted.sort_unstable();
        }
    }
}

/// The state of the backfill of one site.
#[derive(Debug, Clone, Default)]
pub struct Backfill {
    /// What it is to do.
    pub order: BackfillOrder,
    /// Its listings.
    pub listings: Vec<Listing>,
    /// The articles found.
    pub found: FoundArticles,
}

/// The path of a file of a site. Names of hosts are safe in file names but for the colon of a port.
fn path(home: &Home, site: &str, extension: &str) -> PathBuf {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' };
    let name: String = site.trim_start_matches('.').chars().map(safe).collect();
    home.state("archive").join(format!("{name}.{extension}"))
}

/// The orders of all backfills, by site.
pub fn orders(home: &Home) -> Result<Vec<BackfillOrder>> {
    let mut orders = Vec::new();
    for file in file::files_in(&home.state("archive"))? {
        if file.extension().is_some_and(|extension| extension == "json") {
            orders.push(read_order(&file)?);
        }
    }
    orders.sort_by(|a: &BackfillOrder, b| a.site.cmp(&b.site));
    Ok(orders)
}

fn read_order(path: &Path) -> Result<BackfillOrder> {
    let text = std::fs::read(path).context("read", path)?;
    serde_json::from_slice(&text).map_err(|error| Error::Line {
        path: path.to_owned(),
        line: error.line() as u64,
        fault: format!("is not the order of a backfill ({error}); delete the file to start it again"),
    })
}

/// The state of the backfill of a site; `None` if there is none.
pub fn read(home: &Home, site: &str) -> Result<Option<Backfill>> {
    let file = path(home, site, "json");
    if !file.exists() {
        return Ok(None);
    }
    let order = read_order(&file)?;
    let mut listings = Vec::new();
    table::read(&path(home, site, "tsv"), |row: Listing| listings.push(row))?;
    let found = found(home, site)?;
    Ok(Some(Backfill { order, listings, found }))
}

/// The articles that the backfill of a site found.
pub fn found(home: &Home, site: &str) -> Result<FoundArticles> {
    let path = path(home, site, "u64");
    if !path.exists() {
        return Ok(FoundArticles::default());
    }
    let bytes = std::fs::read(&path).context("read", &path)?;
    let damaged = || Error::Line {
        path: path.clone(),
        line: 1,
        fault: "is damaged; delete it and run `tidings crawl --archive --again`".to_owned(),
    };
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
    let (body, checksum) = rest.split_last_chunk::<8>().ok_or_else(damaged)?;
    if xxh3_64(body) != u64::from_be_bytes(*checksum) || !body.len().is_multiple_of(8) {
        return Err(damaged());
    }
    let number = |eight: &[u8]| Fingerprint(u64::from_be_bytes(eight.try_into().expect("eight bytes")));
    Ok(FoundArticles { sorted: body.chunks_exact(8).map(number).collect(), fresh: FingerprintSet::default() })
}

/// Writes the state of a backfill: articles, then listings, then the order, so that a crash in between repeats a round.
pub fn write(home: &Home, backfill: &mut Backfill) -> Result<()> {
    let site = &backfill.order.site;
    file::make_folder(&home.state("archive"))?;
    backfill.found.sort();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(backfill.found.sorted.iter().flat_map(|article| article.0.to_be_bytes()));
    let checksum = xxh3_64(&bytes[MAGIC.len()..]);
    bytes.extend(checksum.to_be_bytes());
    file::write_atomic(&path(home, site, "u64"), &bytes)?;
    table::write(&path(home, site, "tsv"), backfill.listings.iter())?;
    backfill.order.found = backfill.found.len() as u64;
    write_order(home, &backfill.order)
}

/// Writes the order of a backfill alone.
pub fn write_order(home: &Home, order: &BackfillOrder) -> Result<()> {
    let text = serde_json::to_vec_pretty(order).expect("strings and numbers serialise");
    Ok(file::write_atomic(&path(home, &order.site, "json"), &text)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply_journal::{apply_journal, prune};
    use crate::failures::Retries;
    use crate::journal::Record;
    use crate::plan;
    use crate::testing::{fill_plan, home, listed, outcome, write_journal};
    use jiff::{SignedDuration, Timestamp};
    use proptest::prelude::*;
    use tidings_model::{Prospect, RetryPolicy};

    const FEED: &str = "http://e.org/feed";
    const POLICY: RetryPolicy = RetryPolicy { give_up_after: SignedDuration::from_hours(72), min_attempts: 5 };

    fn backfill(site: &str) -> Backfill {
        let order =
            BackfillOrder { site: site.to_owned(), origin: format!("https://{site}"), ..BackfillOrder::default() };
        Backfill { order, ..Backfill::default() }
    }

    #[test]
    fn a_backfill_is_read_as_written() {
        let (_folder, home) = crate::testing::home();
        assert!(read(&home, "gazette.example").unwrap().is_none() && orders(&home).unwrap().is_empty());
        let mut first = backfill("gazette.example:8080");
        first.listings.push(Listing {
            url: "https://gazette.example:8080/sitemap.xml".into(),
            source: ListingSource::Index,
            state: ListingState::Read,
            rank: 7,
            ..Listing::default()
        });
        assert!(first.found.insert(Fingerprint(9)) && first.found.insert(Fingerprint(3)));
        assert!(!first.found.insert(Fingerprint(9)));
        write(&home, &mut first).unwrap();
        write(&home, &mut backfill("other.example")).unwrap();
        let mut again = read(&home, "gazette.example:8080").unwrap().unwrap();
        assert_eq!((&again.order, &again.listings, again.found.len()), (&first.order, &first.listings, 2));
        assert!(again.found.contains(Fingerprint(3)) && !again.found.insert(Fingerprint(3)));
        assert_eq!(orders(&home).unwrap().len(), 2);
    }

    #[test]
    fn entries_of_a_backfill_are_added_without_a_poll_and_known_ones_stay_with_their_feed() {
        let (_folder, home) = home();
        fill_plan(&home, FEED, &["a"]);
        write_journal(&home, "run", &[vec![listed("archive:e.org", "a"), listed("archive:e.org", "b")]]);
        assert_eq!(apply_journal(&home).unwrap().unwrap().added, 1);
        let mut feeds = Vec::new();
        plan::read(&home, |row| feeds.push(row.feed.to_owned())).unwrap();
        assert_eq!(feeds, [FEED, "archive:e.org"]);
        assert!(!home.state("revisits.tsv").exists(), "a backfill announces no changes of pages");
    }

    #[test]
    fn finished_entries_of_a_backfill_are_pruned_after_a_month_and_a_verdict_on_one_is_final() {
        let (_folder, home) = home();
        let seen = "2026-03-01T10:00:00.000Z";
        let entry = |url: &'static str| Record::Listed {
            feed: "archive:e.org".into(),
            seen: seen.into(),
            published: "2019-03-01T00:00:00Z".into(),
            url: url.into(),
            title: "".into(),
            updated: "".into(),
            text: None,
        };
        write_journal(&home, "1", &[vec![entry("a"), entry("b"), entry("c")]]);
        apply_journal(&home).unwrap();
        write_journal(&home, "2", &[vec![outcome("a", "ok", 1), outcome("b", "robots", 1)]]);
        apply_journal(&home).unwrap();
        let at = |days: i64| seen.parse::<Timestamp>().unwrap() + SignedDuration::from_hours(24 * days);
        let retries = Retries::load(&home, POLICY, at(9)).unwrap();
        let mut prospects = Vec::new();
        plan::read(&home, |row| prospects.push(retries.prospect(row))).unwrap();
        assert_eq!(prospects, [Prospect::Settled, Prospect::Settled, Prospect::Due]);
        assert_eq!(prune(&home, at(29), 1, POLICY, false).unwrap(), (3, 0));
        assert_eq!(prune(&home, at(30), 1, POLICY, false).unwrap(), (1, 2));
        write_journal(&home, "3", &[vec![entry("a")]]);
        assert_eq!(apply_journal(&home).unwrap().unwrap().added, 0, "it is never fetched twice");
    }

    #[test]
    fn damage_is_an_error_with_the_remedy() {
        let (_folder, home) = crate::testing::home();
        let mut state = backfill("a.example");
        state.found.insert(Fingerprint(1));
        write(&home, &mut state).unwrap();
        let file = path(&home, "a.example", "u64");
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[20] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let error = read(&home, "a.example").unwrap_err().to_string();
        assert!(error.contains("damaged") && error.contains("--again"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn found_articles_are_a_set(batches in prop::collection::vec(prop::collection::vec(0u64..30, 0..9), 0..5)) {
            let (_folder, home) = crate::testing::home();
            let mut state = backfill("a.example");
            let mut model = std::collections::BTreeSet::new();
            for batch in batches {
                for number in batch {
                    prop_assert_eq!(state.found.insert(Fingerprint(number)), model.insert(number));
                }
                write(&home, &mut state).unwrap();
                state = read(&home, "a.example").unwrap().unwrap();
                prop_assert_eq!(state.found.len(), model.len());
            }
        }
    }
}
