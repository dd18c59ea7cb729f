//! Sitemaps that are polled like feeds: the recent entries of a sitemap, and the sitemaps of an index that changed.
//!
//! A sitemap lists the whole site, so a first poll would plan years of articles and start a backfill that was not asked
//! for. Only entries of the last days (`feeds.sitemap_days`) are taken; older ones are counted as history, which
//! `tidings crawl --archive` fetches.

use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use tidings_crawl::trap::date_in_path;
use tidings_feeds::schedule::EntrySighting;
use tidings_feeds::sitemap::{self, NotASitemap, Scope, Sitemap, SitemapEntry};
use tidings_model::{Feed, FeedEntry};
use tidings_store::feeds::{FeedState, SourceKind};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// The most sitemaps of an index that one poll of it asks for.
pub const MAPS_PER_POLL: usize = 10;
/// The most entries without a date that are taken for recent ones, as in a feed.
const MAX_UNDATED: usize = 1000;
/// A sitemap without `lastmod` that gave nothing recent is not asked for again before this time.
const QUIET_WAIT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A source that is polled: its kind, and the line of `feeds.txt` that its entries belong to.
#[derive(Debug, Clone, Default)]
pub struct PollSource {
    /// The kind of document.
    pub kind: SourceKind,
    /// The index that led to it, if it is a sitemap of an index.
    pub index: Option<String>,
}

/// A sitemap that an index lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedMap {
    /// The index in `feeds.txt`.
    pub index: String,
    /// The URL of the sitemap.
    pub url: String,
    /// The time of its last change, by the index.
    pub modified: Option<Timestamp>,
}

/// Sitemaps that were found in this run.
pub type FoundMaps = Arc<Mutex<Vec<IndexedMap>>>;

/// How sitemaps are read.
#[derive(Debug, Clone, Default)]
pub struct SitemapRules {
    /// The age from which entries are history.
    pub max_age: SignedDuration,
    /// Receives the sitemaps of an index.
    pub found: FoundMaps,
}

/// A sitemap as a feed.
#[derive(Debug, Default)]
pub struct PolledSitemap {
    /// The recent entries.
    pub feed: Feed,
    /// The number of older entries.
    pub history: u32,
    /// What the schedule observes: the recent entries, or the sitemaps of an index with their dates.
    pub sightings: Vec<EntrySighting>,
}

impl SitemapRules {
    /// Reads a sitemap at `now`. `feed` is its line in `feeds.txt`.
    pub fn read(
        &self,
        body: &[u8],
        content_type: Option<&str>,
        url: &str,
        feed: &str,
        now: Timestamp,
    ) -> Result<PolledSitemap, NotASitemap> {
        // The line in feeds.txt is the user's word for the map, as robots.txt is the site's.
        let map = sitemap::read(body, content_type, url, Scope::NamedBy(feed))?;
        let is_index = !map.maps.is_empty();
        let mut sightings = map_sightings(&map);
        self.found.lock().expect("no panic while held").extend(map.maps.iter().map(|map| IndexedMap {
            index: feed.to_owned(),
            url: map.url.clone(),
            modified: map.modified,
        }));
        let repairs = map.repairs.clone();
        let oldest = now.checked_sub(self.max_age).unwrap_or(Timestamp::MIN);
        let (recent, history) = split_by_age(map.entries, oldest);
        let entries: Vec<FeedEntry> = recent.into_iter().map(entry_of).collect();
        if !is_index {
            sightings = entries.iter().map(sighting).collect();
        }
        Ok(PolledSitemap { feed: Feed { entries, repairs, ..Feed::default() }, history, sightings })
    }
}

/// The entry of a feed. A sitemap's `lastmod` changes with every comment and every redesign, so it dates an entry but
/// does not announce a new version of it.
fn entry_of(entry: SitemapEntry) -> FeedEntry {
    let date = entry.date();
    FeedEntry { published: date, updated: None, ..FeedEntry::from(entry) }
}

fn sighting(entry: &FeedEntry) -> EntrySighting {
    let key = xxh3_64(entry.link.as_deref().unwrap_or_default().as_bytes()) as u32;
    EntrySighting { key, date: entry.date() }
}

/// The sitemaps of an index as the schedule sees them: one that changed counts as new.
fn map_sightings(map: &Sitemap) -> Vec<EntrySighting> {
    let key = |url: &str, modified: Option<Timestamp>| {
        xxh3_64(format!("{url} {}", modified.map_or(0, Timestamp::as_second)).as_bytes()) as u32
    };
    map.maps.iter().map(|map| EntrySighting { key: key(&map.url, map.modified), date: map.modified }).collect()
}

/// The entries since `oldest`, and the number of older ones. Dates in paths count where the sitemap gives none; entries
/// without any date are recent only if they are few.
fn split_by_age(entries: Vec<SitemapEntry>, oldest: Timestamp) -> (Vec<SitemapEntry>, u32) {
    let total = entries.len();
    let mut undated = 0;
    let recent: Vec<SitemapEntry> = entries
        .into_iter()
        .filter(|entry| match entry.date().or_else(|| path_date(&entry.url)) {
            Some(date) => date >= oldest,
            None => {
                undated += 1;
                undated <= MAX_UNDATED
            }
        })
        .collect();
    let recent = match undated > MAX_UNDATED {
        true => recent.into_iter().filter(|entry| entry.date().or_else(|| path_date(&entry.url)).is_some()).collect(),
        false => recent,
    };
    let history = (total - recent.len()) as u32;
    (recent, history)
}

/// The end of the day in the path of a URL.
fn path_date(url: &str) -> Option<Timestamp> {
    let day = date_in_path(&Url::parse(url).ok()?)?;
    Some(day.tomorrow().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}

/// The sitemaps to ask for now, the newest first, with their states: those that changed since they were read, and of
/// those without dates the ones that were not read yet or gave recent entries.
pub fn maps_to_poll(
    mut found: Vec<IndexedMap>,
    mut known: impl FnMut(&str) -> Option<FeedState>,
    oldest: Timestamp,
    now: Timestamp,
) -> Vec<(IndexedMap, FeedState)> {
    found.sort_by(|a, b| (&a.index, b.modified, &b.url).cmp(&(&b.index, a.modified, &a.url)));
    found.dedup();
    let mut taken: Vec<(IndexedMap, FeedState)> = Vec::new();
    let mut of_index = 0;
    for map in found {
        if taken.last().is_none_or(|last| last.0.index != map.index) {
            of_index = 0;
        }
        let state = known(&map.url).unwrap_or_else(|| FeedState { feed: map.url.clone(), ..FeedState::default() });
        if of_index < MAPS_PER_POLL && is_worth_polling(&map, &state, oldest, now) {
            of_index += 1;
            taken.push((map, state));
        }
    }
    taken
}

fn is_worth_polling(map: &IndexedMap, state: &FeedState, oldest: Timestamp, now: Timestamp) -> bool {
    let read: Option<Timestamp> = state.succeeded.parse().ok();
    let waits = state.not_before.parse().is_ok_and(|until: Timestamp| until > now) && state.failures > 0;
    let is_due = match (map.modified, read) {
        (Some(modified), Some(read)) => modified > read && modified >= oldest,
        (Some(modified), None) => modified >= oldest,
        (None, None) => true,
        (None, Some(read)) => state.entries > 0 || now.duration_since(read) > QUIET_WAIT,
    };
    is_due && !waits
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "https://gazette.example/sitemap.xml";

    fn now() -> Timestamp {
        "2026-03-15T12:00:00Z".parse().unwrap()
    }

    fn oldest() -> Timestamp {
        now() - SignedDuration::from_hours(30 * 24)
    }

    fn polled(text: &str) -> (PolledSitemap, Vec<IndexedMap>) {
        let rules = SitemapRules { max_age: SignedDuration::from_hours(30 * 24), ..SitemapRules::default() };
        let polled = rules.read(text.as_bytes(), None, INDEX, INDEX, now()).unwrap();
        let found = rules.found.lock().unwrap().clone();
        (polled, found)
    }

    #[test]
    fn a_poll_takes_recent_entries_and_counts_older_ones_as_history() {
        let (polled, _) = polled(
            "<urlset><url><loc>/new</loc><lastmod>2026-03-14</lastmod></url>\
             <url><loc>/old</loc><lastmod>2019-03-14</lastmod></url><url><loc>/2026/03/10/a</loc></url>\
             <url><loc>/2016/03/10/a</loc></url><url><loc>/undated</loc></url></urlset>",
        );
        let links: Vec<&str> = polled.feed.entries.iter().filter_map(|entry| entry.link.as_deref()).collect();
        let expected = ["new", "2026/03/10/a", "undated"].map(|path| format!("https://gazette.example/{path}"));
        assert_eq!((links, polled.history), (expected.iter().map(String::as_str).collect(), 2));
        assert!(polled.feed.entries[0].published.is_some() && polled.feed.entries[0].updated.is_none());
    }

    #[test]
    fn a_large_sitemap_without_dates_is_history() {
        let rows: String = (0..=MAX_UNDATED).map(|at| format!("<url><loc>/a/{at}</loc></url>")).collect();
        let (polled, _) = polled(&format!("<urlset>{rows}<url><loc>/2026/03/10/a</loc></url></urlset>"));
        assert_eq!((polled.feed.entries.len(), polled.history as usize), (1, MAX_UNDATED + 1));
    }

    #[test]
    fn the_sitemaps_of_an_index_are_polled_if_they_changed_the_newest_first() {
        let map = |name: &str, modified: &str| IndexedMap {
            index: INDEX.to_owned(),
            url: format!("https://gazette.example/{name}.xml"),
            modified: modified.parse().ok(),
        };
        let found = vec![
            map("2019", "2019-03-31T00:00:00Z"),
            map("read", "2026-03-01T00:00:00Z"),
            map("changed", "2026-03-14T00:00:00Z"),
            map("new", "2026-03-15T00:00:00Z"),
            map("undated", ""),
        ];
        let known = |url: &str| {
            let succeeded = "2026-03-10T00:00:00Z".to_owned();
            (url.contains("read") || url.contains("changed")).then(|| FeedState {
                feed: url.to_owned(),
                succeeded,
                ..FeedState::default()
            })
        };
        let names = |found: Vec<IndexedMap>| -> Vec<String> {
            let polled = maps_to_poll(found, known, oldest(), now());
            polled.into_iter().map(|(map, _)| map.url.rsplit('/').next().unwrap().to_owned()).collect()
        };
        assert_eq!(names(found), ["new.xml", "changed.xml", "undated.xml"]);
        let many = (0..40).map(|at| map(&format!("{at:02}"), "2026-03-15T00:00:00Z")).collect();
        assert_eq!(names(many).len(), MAPS_PER_POLL);
    }

    #[test]
    fn an_index_gives_its_sitemaps_and_the_schedule_sees_their_changes() {
        let index = |date: &str| {
            polled(&format!(
                "<sitemapindex><sitemap><loc>/1.xml</loc><lastmod>{date}</lastmod></sitemap></sitemapindex>"
            ))
        };
        let ((first, found), (second, _)) = (index("2026-03-14"), index("2026-03-15"));
        assert_eq!((found.len(), found[0].index.as_str()), (1, INDEX));
        assert_ne!(first.sightings[0].key, second.sightings[0].key);
        assert!(first.feed.entries.is_empty());
    }
}
