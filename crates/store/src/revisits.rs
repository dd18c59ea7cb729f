//! Pages that feeds list, with the state of their last download, so that changed pages are fetched again.
//!
//! The plan has the columns of FeedFetcher and no place for them. `state/revisits.tsv` has a row for each page that a
//! feed listed in the last days, under the fingerprint of its URL. A change is a later `updated` or another title in
//! the feed that listed the page first: feeds of one site often give the same page different titles.
//!
//! Some feeds stamp every entry with the current time, or rotate titles. Further downloads are therefore limited in
//! number, and each waits twice as long as the one before.

use jiff::{SignedDuration, Timestamp};
use tidings_model::{Fingerprint, FingerprintMap, FingerprintSet, clock};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::home::{Home, rfc3339};
use crate::journal::{Validators, Visit};
use crate::table::{self, TableRow, columns};

/// The wait between a first download and a second one; it doubles with each further one.
const FIRST_WAIT: SignedDuration = SignedDuration::from_hours(1);
/// A change that could not be followed for so long is forgotten.
const PATIENCE: SignedDuration = SignedDuration::from_hours(3 * 24);
/// The time of a listing is written again after this time, so that most rows stay as they are from poll to poll.
const LISTED_STEP: SignedDuration = SignedDuration::from_hours(6);
/// Rows are kept so long after the page was last listed.
const KEPT_UNLISTED: SignedDuration = SignedDuration::from_hours(3 * 24);
/// Rows of pages that were downloaded again are kept longer, because they count against the limit.
const KEPT_REVISED: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A page that was listed or downloaded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VisitedPage {
    /// The fingerprint of its URL, in hexadecimal.
    pub page: String,
    /// The fingerprint of the feed whose changes count, in hexadecimal.
    pub feed: String,
    /// The time when a feed last listed it, give or take a few hours.
    pub listed: String,
    /// The time of the last change by the feed, or empty.
    pub updated: String,
    /// The key of the title in the feed, in hexadecimal; see [`title_key`].
    pub title: String,
    /// The time when a change was noticed that no download followed yet, or empty.
    pub changed: String,
    /// The title after that change.
    pub new_title: String,
    /// The times of the downloads that were stored, separated by spaces.
    pub fetched: String,
    /// The time of the last download, stored or not.
    pub checked: String,
    /// The number of downloads after the first.
    pub checks: u32,
    /// The `ETag` of the stored page.
    pub etag: String,
    /// The `Last-Modified` date of the stored page.
    pub last_modified: String,
    /// The digest of the body of the stored page, in hexadecimal.
    pub body: String,
}

columns!(VisitedPage {
    page,
    feed,
    listed,
    updated,
    title,
    changed,
    new_title,
    fetched,
    checked,
    checks,
    etag,
    last_modified,
    body
});

/// A key that is equal for titles that differ in case and white space only; 0 for an empty title.
pub fn title_key(title: &str) -> u64 {
    let words: Vec<String> = title.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() { 0 } else { xxh3_64(words.join(" ").as_bytes()).max(1) }
}

/// The digest of a body, as in [`Validators::body`].
pub fn body_digest(body: &[u8]) -> String {
    format!("{:016x}", xxh3_64(body))
}

/// The title and date that a feed gives a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Listing {
    title: u64,
    updated: Option<Timestamp>,
}

impl Listing {
    /// Whether it tells nothing new about a page with this key of its title and this time of its last change.
    fn repeats(&self, title: &str, updated: &str) -> bool {
        let has_title = || u64::from_str_radix(title, 16).is_ok_and(|known| known == self.title);
        let is_later = |now: Timestamp| updated.parse().is_ok_and(|known: Timestamp| known >= now);
        (self.title == 0 || has_title()) && self.updated.is_none_or(is_later)
    }
}

/// The downloads and listings of a run.
#[derive(Debug, Default)]
pub(crate) struct RunVisits {
    /// The feed that lists each page, the first of the run.
    feeds: FingerprintMap<Fingerprint>,
    /// Listings by page and feed.
    listings: FingerprintMap<Listing>,
    visits: FingerprintMap<(String, bool, Option<Validators>)>,
    /// The latest time in the run.
    latest: String,
}

/// The key of a page in a feed.
fn listing_key(page: Fingerprint, feed: Fingerprint) -> Fingerprint {
    Fingerprint(page.0 ^ feed.0.rotate_left(23))
}

impl RunVisits {
    /// Adds an entry of a feed.
    pub(crate) fn list(&mut self, feed: &str, seen: &str, url: &str, title: &str, updated: &str) {
        let (page, feed) = (Fingerprint::of(url), Fingerprint::of(feed));
        let listing = Listing { title: title_key(title), updated: updated.parse().ok() };
        self.feeds.entry(page).or_insert(feed);
        self.listings.insert(listing_key(page, feed), listing);
        self.is_at(seen);
    }

    /// Adds a download.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        self.is_at(&visit.at);
        self.visits.insert(Fingerprint::of(&visit.url), (visit.at.into_owned(), visit.again, visit.stored));
    }

    fn is_at(&mut self, time: &str) {
        if self.latest.as_str() < time {
            time.clone_into(&mut self.latest);
        }
    }

    fn is_empty(&self) -> bool {
        self.listings.is_empty() && self.visits.is_empty()
    }
}

impl VisitedPage {
    fn new(page: Fingerprint, at: &str) -> VisitedPage {
        VisitedPage { page: hex(page), listed: at.to_owned(), ..VisitedPage::default() }
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        u64::from_str_radix(&self.page, 16).ok().map(Fingerprint)
    }

    /// Takes over what the feed says; returns whether that is a change of a known page.
    fn take_listing(&mut self, listing: Listing, at: &str) -> bool {
        let known = u64::from_str_radix(&self.title, 16).unwrap_or_default();
        let is_retitled = known != 0 && listing.title != 0 && known != listing.title;
        let before = self.updated.parse::<Timestamp>().ok();
        let is_updated = matches!((before, listing.updated), (Some(before), Some(now)) if now > before);
        if listing.title != 0 {
            self.title = format!("{:016x}", listing.title);
        }
        if let Some(updated) = listing.updated.filter(|updated| before.is_none_or(|before| *updated > before)) {
            self.updated = rfc3339(updated);
        }
        let is_changed = is_retitled || is_updated;
        if is_changed && self.changed.is_empty() {
            at.clone_into(&mut self.changed);
        }
        is_changed
    }

    /// Records a download. The same one twice, if a journal is applied again, counts once.
    fn take_visit(&mut self, at: String, again: bool, stored: Option<Validators>) {
        if self.checked == at {
            return;
        }
        self.changed.clear();
        self.new_title.clear();
        self.checks = if again { self.checks.saturating_add(1) } else { 0 };
        if let Some(validators) = stored {
            match again && !self.fetched.is_empty() {
                true => self.fetched = format!("{} {at}", self.fetched),
                false => self.fetched.clone_from(&at),
            }
            Validators { etag: self.etag, last_modified: self.last_modified, body: self.body } = validators;
        }
        self.checked = at;
    }

    /// The time for which the row is kept after the page was last listed.
    fn kept_for(&self) -> SignedDuration {
        if self.checks > 0 { KEPT_REVISED } else { KEPT_UNLISTED }
    }

    /// The validators of the stored page.
    pub fn validators(&self) -> Validators {
        let VisitedPage { etag, last_modified, body, .. } = self.clone();
        Validators { etag, last_modified, body }
    }

    /// The time from which the page may be fetched again; `None` if no change is known, or it is too old, or the page
    /// was fetched often enough.
    pub fn due(&self, limit: u32, now: Timestamp) -> Option<Timestamp> {
        if self.fetched.is_empty() || self.checks >= limit {
            return None;
        }
        let changed: Timestamp = self.changed.parse().ok()?;
        // A time in the future comes from a clock that was ahead and counts for nothing.
        let is_past = |time: &Timestamp| time.duration_since(now) <= clock::TOLERANCE;
        if is_past(&changed) && now.duration_since(changed) > PATIENCE {
            return None;
        }
        let checked = self.checked.parse::<Timestamp>().ok().filter(is_past);
        let wait = FIRST_WAIT.saturating_mul(1 << self.checks.min(16));
        checked.map_or(Some(now), |checked| checked.checked_add(wait).ok())
    }
}

fn hex(fingerprint: Fingerprint) -> String {
    format!("{:016x}", fingerprint.0)
}

fn path(home: &Home) -> std::path::PathBuf {
    home.state("revisits.tsv")
}

/// Updates the table with the listings and downloads of a run. `titles` returns the titles that the run's feeds give
/// some pages, by page and feed as [`titles_key`] joins them. Applying a run twice changes nothing more.
pub(crate) fn merge(
    home: &Home,
    mut run: RunVisits,
    titles: impl FnOnce(&FingerprintSet) -> Result<FingerprintMap<String>>,
) -> Result<()> {
    if run.is_empty() {
        return Ok(());
    }
    let mut rows = Vec::new();
    let mut changed = FingerprintMap::default();
    let mut times = ListedTimes::new(&run.latest);
    let text = table::read_text(&path(home))?.unwrap_or_default();
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let is_current = header == table::header::<VisitedPage>();
    let header: Vec<&str> = header.split('\t').collect();
    for line in lines {
        if is_current && is_untouched(line, &mut run, &mut times) {
            rows.push(TableRow::Same(line));
            continue;
        }
        let mut row: VisitedPage = table::from_line(&header, line);
        let Some(page) = row.fingerprint() else { continue };
        let listed_by = run.feeds.remove(&page);
        if listed_by.is_some() || row.listed > run.latest {
            row.listed.clone_from(&run.latest);
        }
        if let (Some(feed), true) = (listed_by, row.feed.is_empty()) {
            row.feed = hex(feed);
        }
        let feed = Fingerprint(u64::from_str_radix(&row.feed, 16).unwrap_or_default());
        if let Some(listing) = run.listings.get(&listing_key(page, feed))
            && row.take_listing(*listing, &run.latest)
        {
            changed.insert(listing_key(page, feed), rows.len());
        }
        let visit = run.visits.remove(&page);
        let is_visited = visit.is_some();
        if let Some((at, again, stored)) = visit {
            row.take_visit(at, again, stored);
        }
        if is_visited || times.age(&row.listed).is_none_or(|age| age <= row.kept_for()) {
            rows.push(TableRow::Changed(row));
        }
    }
    rows.extend(new_rows(&mut run).into_iter().map(TableRow::Changed));
    let titles = titles(&changed.keys().copied().collect())?;
    for (key, title) in titles {
        if let Some(TableRow::Changed(row)) = changed.get(&key).and_then(|at| rows.get_mut(*at)) {
            row.new_title = title;
        }
    }
    let is_same = is_current && rows.iter().all(|row| matches!(row, TableRow::Same(_)));
    if is_same && rows.len() + 1 == text.lines().count() {
        return Ok(());
    }
    table::write_rows(&path(home), &rows)
}

/// Whether a run leaves a row as it is, by its line. Most rows of a run are, and need not be parsed. The listing of such
/// a page is taken out of the run.
fn is_untouched(line: &str, run: &mut RunVisits, times: &mut ListedTimes) -> bool {
    let mut fields = line.split('\t');
    let [page, feed, listed, updated, title] = [(); 5].map(|()| fields.next().unwrap_or_default());
    let Ok(page) = u64::from_str_radix(page, 16).map(Fingerprint) else { return false };
    if run.visits.contains_key(&page) || *listed > *run.latest {
        return false;
    }
    let Some(age) = times.age(listed) else { return false };
    if !run.feeds.contains_key(&page) {
        return age <= KEPT_UNLISTED;
    }
    let Ok(feed) = u64::from_str_radix(feed, 16).map(Fingerprint) else { return false };
    let listing = run.listings.get(&listing_key(page, feed));
    let is_same = age < LISTED_STEP && listing.is_none_or(|listing| listing.repeats(title, updated));
    if is_same {
        run.feeds.remove(&page);
    }
    is_same
}

/// The times since pages were listed. Those that were listed in one run have the same time, which is parsed once.
struct ListedTimes {
    latest: Option<Timestamp>,
    last: (String, Option<Timestamp>),
}

impl ListedTimes {
    fn new(latest: &str) -> ListedTimes {
        ListedTimes { latest: latest.parse().ok(), last: (String::new(), None) }
    }

    /// The time since a page was listed, if both times are known.
    fn age(&mut self, listed: &str) -> Option<SignedDuration> {
        if self.last.0 != listed {
            self.last = (listed.to_owned(), listed.parse().ok());
        }
        Some(self.latest?.duration_since(self.last.1?))
    }
}

/// The pages of a run that have no row yet, in the order of their fingerprints.
fn new_rows(run: &mut RunVisits) -> Vec<VisitedPage> {
    let mut rows = Vec::new();
    let mut new: Vec<Fingerprint> = run.feeds.keys().chain(run.visits.keys()).copied().collect();
    new.sort_unstable();
    new.dedup();
    for page in new {
        let mut row = VisitedPage::new(page, &run.latest);
        if let Some(feed) = run.feeds.get(&page) {
            row.feed = hex(*feed);
            if let Some(listing) = run.listings.get(&listing_key(page, *feed)) {
                row.take_listing(*listing, &run.latest);
            }
        }
        if let Some((at, again, stored)) = run.visits.remove(&page) {
            row.take_visit(at, again, stored);
        }
        rows.push(row);
    }
    rows
}

/// The key of a page in a feed, by which [`merge`] asks for titles.
pub(crate) fn titles_key(feed: &str, url: &str) -> Fingerprint {
    listing_key(Fingerprint::of(url), Fingerprint::of(feed))
}

/// The row of a page.
pub fn of_page(home: &Home, url: &str) -> Result<Option<VisitedPage>> {
    let wanted = hex(Fingerprint::of(url));
    let mut found = None;
    table::read(&path(home), |row: VisitedPage| {
        if row.page == wanted {
            found = Some(row);
        }
    })?;
    Ok(found)
}

/// Deletes the rows of some pages.
pub(crate) fn forget(home: &Home, pages: &FingerprintSet) -> Result<()> {
    let mut rows = Vec::new();
    let mut forgotten = false;
    table::read(&path(home), |row: VisitedPage| match row.fingerprint() {
        Some(page) if !pages.contains(&page) => rows.push(row),
        _ => forgotten = true,
    })?;
    if forgotten { table::write(&path(home), rows.iter()) } else { Ok(()) }
}

/// Pages that are to be fetched again.
#[derive(Debug, Default)]
pub struct Revisits {
    due: FingerprintMap<VisitedPage>,
}

impl Revisits {
    /// The changed pages whose time has come, each fetched again at most `limit` times.
    pub fn load(home: &Home, limit: u32, now: Timestamp) -> Result<Revisits> {
        let mut revisits = Revisits::default();
        if limit == 0 {
            return Ok(revisits);
        }
        table::read(&path(home), |row: VisitedPage| {
            if let (Some(page), true) = (row.fingerprint(), row.due(limit, now).is_some_and(|due| due <= now)) {
                revisits.due.insert(page, row);
            }
        })?;
        Ok(revisits)
    }

    /// Returns true if no page is due.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// The row of a page that is due.
    pub fn of(&self, url: &str) -> Option<&VisitedPage> {
        if self.due.is_empty() { None } else { self.due.get(&Fingerprint::of(url)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;
    use proptest::prelude::*;

    const FEED: &str = "http://e.org/feed";
    const URL: &str = "http://e.org/a";

    fn time(hour: i64) -> Timestamp {
        "2026-03-01T00:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_hours(hour)
    }

    fn list(home: &Home, hour: i64, feed: &str, title: &str, updated: &str) {
        let mut run = RunVisits::default();
        run.list(feed, &rfc3339(time(hour)), URL, title, updated);
        let titles = |wanted: &FingerprintSet| {
            let key = titles_key(feed, URL);
            Ok(wanted.contains(&key).then(|| (key, title.to_owned())).into_iter().collect())
        };
        merge(home, run, titles).unwrap();
    }

    fn visit(home: &Home, hour: i64, again: bool, etag: Option<&str>) {
        let mut run = RunVisits::default();
        let stored = etag.map(|etag| Validators { etag: etag.to_owned(), ..Validators::default() });
        run.visit(Visit { url: URL.into(), at: rfc3339(time(hour)).into(), again, stored });
        merge(home, run, |_| Ok(FingerprintMap::default())).unwrap();
    }

    fn is_due(home: &Home, hour: i64) -> bool {
        Revisits::load(home, 5, time(hour)).unwrap().of(URL).is_some()
    }

    #[test]
    fn a_page_is_due_once_for_each_change() {
        let (_folder, home) = home();
        list(&home, 0, FEED, "Rain", "2026-03-01T00:00:00Z");
        visit(&home, 0, false, Some("\"1\""));
        list(&home, 2, FEED, "Rain", "2026-03-01T00:00:00Z");
        assert!(!is_due(&home, 2), "nothing changed");
        list(&home, 3, FEED, "Heavy rain", "2026-03-01T02:30:00Z");
        let due = Revisits::load(&home, 5, time(3)).unwrap();
        let row = due.of(URL).unwrap();
        assert_eq!((row.new_title.as_str(), row.etag.as_str()), ("Heavy rain", "\"1\""));
        visit(&home, 3, true, Some("\"2\""));
        list(&home, 6, FEED, "Heavy rain", "2026-03-01T02:30:00Z");
        assert!(!is_due(&home, 6));
        let row = of_page(&home, URL).unwrap().unwrap();
        assert_eq!((row.checks, row.fetched.split(' ').count(), row.etag.as_str()), (1, 2, "\"2\""));
    }

    #[test]
    fn rows_that_a_run_does_not_touch_are_copied_without_parsing() {
        let (_folder, home) = home();
        list(&home, 0, FEED, "Rain", "2026-03-01T00:00:00Z");
        let table = std::fs::read_to_string(path(&home)).unwrap();
        // Parsing would drop a field without a column.
        let other = table.lines().nth(1).unwrap().replace(&hex(Fingerprint::of(URL)), "00000000000000ff") + "\textra";
        std::fs::write(path(&home), format!("{table}{other}\n")).unwrap();
        list(&home, 1, FEED, "Rain", "2026-03-01T00:00:00Z");
        let table = std::fs::read_to_string(path(&home)).unwrap();
        assert_eq!((table.lines().count(), table.lines().nth(2)), (3, Some(other.as_str())));
        list(&home, 100, FEED, "Rain", "2026-03-01T00:00:00Z");
        assert_eq!(std::fs::read_to_string(path(&home)).unwrap().lines().count(), 2, "rows go after three days");
    }

    #[test]
    fn a_page_that_is_listed_again_as_it_was_is_written_again_after_some_hours() {
        let (_folder, home) = home();
        let listed_at = |hour: i64, title: &str, updated: &str| {
            list(&home, hour, FEED, title, updated);
            let row = of_page(&home, URL).unwrap().unwrap();
            (row.listed == rfc3339(time(hour)), std::fs::metadata(path(&home)).unwrap().len())
        };
        let (_, bytes) = listed_at(0, "Rain", "2026-03-01T00:00:00Z");
        visit(&home, 0, false, Some(""));
        for hour in 1..6 {
            assert!(!listed_at(hour, " rain", "2026-02-28T00:00:00Z").0, "hour {hour}");
        }
        assert!(listed_at(6, "Rain", "").0);
        assert!(listed_at(7, "Rain", "2026-03-01T07:00:00Z").0, "a later date is a change");
        assert!(listed_at(8, "Sun", "").0, "another title is a change");
        assert!(listed_at(8, "Sun", "").1 >= bytes);
        // It is not forgotten while it is listed.
        for hour in (9..200).step_by(5) {
            list(&home, hour, FEED, "Sun", "");
        }
        assert!(of_page(&home, URL).unwrap().is_some());
    }

    #[test]
    fn changes_before_the_first_download_are_no_revisions() {
        let (_folder, home) = home();
        list(&home, 0, FEED, "Rain", "2026-03-01T00:00:00Z");
        list(&home, 1, FEED, "Heavy rain", "2026-03-01T01:00:00Z");
        assert!(!is_due(&home, 1), "it is in the plan as a new page");
        visit(&home, 2, false, Some(""));
        list(&home, 4, FEED, "Heavy rain", "2026-03-01T01:00:00Z");
        assert!(!is_due(&home, 4));
    }

    #[test]
    fn white_space_case_an_earlier_date_and_another_feed_are_no_changes() {
        let (_folder, home) = home();
        list(&home, 0, FEED, "Heavy Rain", "2026-03-01T00:00:00Z");
        visit(&home, 0, false, Some(""));
        list(&home, 2, FEED, " HEAVY  rain", "2026-02-28T00:00:00Z");
        list(&home, 3, "http://e.org/other", "Heavy rain - Gazette", "2026-03-01T03:00:00Z");
        list(&home, 4, FEED, "", "");
        assert!(!is_due(&home, 4));
    }

    #[test]
    fn a_feed_that_always_changes_is_followed_ever_more_seldom_and_not_for_ever() {
        let (_folder, home) = home();
        list(&home, 0, FEED, "Rain", &rfc3339(time(0)));
        visit(&home, 0, false, Some(""));
        let mut visits = Vec::new();
        for hour in 1..200 {
            list(&home, hour, FEED, "Rain", &rfc3339(time(hour)));
            if is_due(&home, hour) {
                visit(&home, hour, true, None);
                visits.push(hour);
            }
        }
        assert_eq!(visits, [1, 3, 7, 15, 31]);
        assert!(Revisits::load(&home, 0, time(1)).unwrap().is_empty(), "a limit of 0 switches it off");
    }

    #[test]
    fn pages_that_left_their_feeds_are_forgotten() {
        let (_folder, home) = home();
        list(&home, 0, FEED, "Rain", "");
        visit(&home, 0, false, Some(""));
        let mut run = RunVisits::default();
        run.list(FEED, &rfc3339(time(24 * 4)), "http://e.org/b", "Sun", "");
        merge(&home, run, |_| Ok(FingerprintMap::default())).unwrap();
        assert!(of_page(&home, URL).unwrap().is_none());
        assert!(of_page(&home, "http://e.org/b").unwrap().is_some());
        forget(&home, &[Fingerprint::of("http://e.org/b")].into_iter().collect()).unwrap();
        assert!(of_page(&home, "http://e.org/b").unwrap().is_none());
    }

    #[test]
    fn times_of_a_clock_that_was_ahead_delay_nothing() {
        let (_folder, home) = home();
        list(&home, 0, FEED, "Rain", "");
        visit(&home, 24 * 365, false, Some(""));
        list(&home, 2, FEED, "Sun", "");
        assert!(is_due(&home, 2));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn applying_a_run_twice_changes_nothing_more(
            runs in prop::collection::vec((any::<bool>(), "[ab]", 0i64..5), 1..8),
        ) {
            let play = |times: usize| {
                let (_folder, home) = home();
                list(&home, 0, FEED, "a", "");
                visit(&home, 0, false, Some("x"));
                for (hour, (visits, title, updated)) in (1..).zip(&runs) {
                    for _ in 0..times {
                        match visits {
                            true => visit(&home, hour, true, Some(title)),
                            false => list(&home, hour, FEED, title, &rfc3339(time(*updated))),
                        }
                    }
                }
                of_page(&home, URL).unwrap()
            };
            prop_assert_eq!(play(1), play(2));
        }
    }
}
