//! The user's feed list, and the stored state of each feed.

use std::collections::HashMap;
use std::io::BufRead as _;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tidings_model::{address, clock};

use crate::error::{Context, Result};
use crate::frames::open_any;
use crate::home::{Home, rfc3339};
use crate::table::{self, Field, columns};

/// The kind of document that lists articles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum SourceKind {
    /// RSS, Atom, RDF or JSON Feed.
    #[default]
    Feed,
    /// A sitemap, a sitemap index or a news sitemap.
    Sitemap,
    /// A front page or a section page, whose links lead to articles.
    Page,
}

impl SourceKind {
    const WORDS: [(SourceKind, &str); 3] =
        [(SourceKind::Feed, "feed"), (SourceKind::Sitemap, "sitemap"), (SourceKind::Page, "page")];

    /// The name in `feeds.txt`.
    pub fn word(self) -> &'static str {
        SourceKind::WORDS.iter().find(|row| row.0 == self).map_or("feed", |row| row.1)
    }

    /// The kind with a name. Other values of `kind=` are ordinary labels.
    fn from_word(word: &str) -> Option<SourceKind> {
        SourceKind::WORDS.iter().find(|row| row.1 == word).map(|row| row.0)
    }
}

/// A line of `feeds.txt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFeed {
    /// The feed's address.
    pub url: String,
    /// The kind of document, from `kind=`.
    pub kind: SourceKind,
    /// Labels from the list (topic, genre, country, lang, …).
    pub labels: Vec<(String, String)>,
}

/// The list, with the lines that could not be understood.
#[derive(Debug, Default)]
pub struct FeedList {
    /// The feeds, each once, in the order of the list.
    pub feeds: Vec<ListedFeed>,
    /// Line numbers with errors.
    pub faults: Vec<(usize, String)>,
}

/// Reads `feeds.txt`. A faulty line is skipped and reported.
pub fn list(home: &Home) -> Result<FeedList> {
    read_list(&home.feed_list())
}

/// Reads a file in the format of `feeds.txt`. A faulty line is skipped and reported.
pub fn read_list(path: &Path) -> Result<FeedList> {
    let mut list = FeedList::default();
    let mut known = HashMap::new();
    for (at, line) in open_any(path)?.split(b'\n').enumerate() {
        let line = line.context("read", path)?;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut fields = line.split('\t').map(str::trim);
        let given = fields.next().unwrap_or_default();
        // Some programs write feed URLs with `feed:`.
        let given = given.strip_prefix("feed:").map_or(given, |rest| rest.trim_start_matches("//"));
        // The query may matter to a feed, including tracking parameters: only the fragment is removed.
        let url = match url_of(given) {
            Some(url) => url,
            None => {
                list.faults.push((at + 1, format!("`{}` is not a valid http or https URL", shorten(given))));
                continue;
            }
        };
        let mut kind = SourceKind::Feed;
        let mut labels: Vec<(String, String)> = fields
            .filter(|field| !field.is_empty())
            .filter_map(|field| match field.split_once('=') {
                Some((key, value)) => Some((key.trim().to_owned(), value.trim().to_owned())),
                None => {
                    list.faults
                        .push((at + 1, format!("`{}` is not key=value; separate them with tabs", shorten(field))));
                    None
                }
            })
            .collect();
        labels.retain(|(key, value)| match SourceKind::from_word(value).filter(|_| key == "kind") {
            Some(given) => {
                kind = given;
                false
            }
            None => true,
        });
        match known.insert(url.clone(), at + 1) {
            Some(first) => list.faults.push((at + 1, format!("{url} is already in line {first}"))),
            None => list.feeds.push(ListedFeed { url, kind, labels }),
        }
    }
    Ok(list)
}

impl ListedFeed {
    /// Whether the address is that of a whole site, which is a home page and no feed.
    pub fn is_home_page(&self) -> bool {
        let rest = self.url.split_once("://").map_or("", |(_, rest)| rest);
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        self.kind == SourceKind::Feed && path.is_empty() && !rest.contains('?')
    }
}

fn url_of(given: &str) -> Option<String> {
    let url = if given.contains("://") { given.to_owned() } else { format!("http://{given}") };
    if given.contains(char::is_whitespace) || !given.contains('.') && !given.contains("://") {
        return None;
    }
    address::normalise(&url, None)?;
    Some(url.split('#').next().unwrap_or_default().to_owned())
}

fn shorten(text: &str) -> String {
    let head: String = text.chars().take(60).collect();
    if head.len() < text.len() { format!("{head}…") } else { head }
}

/// The result of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Polled {
    /// It gave its entries.
    Listed,
    /// It has not changed since the last time.
    Unchanged,
    /// It could not be reached or read.
    #[default]
    Failed,
    /// The server returned 410: it is not polled again.
    Gone,
}

impl Polled {
    const WORDS: [(Polled, &str); 4] = [
        (Polled::Listed, "listed"),
        (Polled::Unchanged, "unchanged"),
        (Polled::Failed, "failed"),
        (Polled::Gone, "gone"),
    ];

    /// The name in the table.
    pub fn word(self) -> &'static str {
        Polled::WORDS.iter().find(|row| row.0 == self).map_or("failed", |row| row.1)
    }
}

impl Field for Polled {
    fn to_text(&self) -> String {
        self.word().to_owned()
    }

    fn from_text(text: String) -> Polled {
        Polled::WORDS.iter().find(|row| row.1 == text).map(|row| row.0).unwrap_or_default()
    }
}

/// The health of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Health {
    /// Not polled yet.
    New,
    /// Responds and lists entries.
    Alive,
    /// Responds, but lists less than one entry per month.
    Slow,
    /// It did not answer the last time.
    Failing,
    /// Gone, or failing for long.
    Dead,
}

impl Health {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Health); 5] = [
        ("alive", Health::Alive),
        ("slow", Health::Slow),
        ("failing", Health::Failing),
        ("dead", Health::Dead),
        ("new", Health::New),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Health::ALL.iter().find(|row| row.1 == self).map_or("new", |row| row.0)
    }
}

/// The number of consecutive failures after which a feed counts as dead.
const DEAD_AFTER: u32 = 5;
/// The rate in entries per day below which a feed is slow.
const SLOW_BELOW: f64 = 1.0 / 30.0;

impl FeedState {
    /// The health of the feed.
    pub fn health(&self) -> Health {
        if self.checked.is_empty() {
            return Health::New;
        }
        match self.polled {
            Polled::Gone => Health::Dead,
            Polled::Failed if self.failures >= DEAD_AFTER => Health::Dead,
            Polled::Failed => Health::Failing,
            Polled::Listed | Polled::Unchanged => {
                // A feed polled once has no rate yet.
                let is_slow = self.rate.parse::<f64>().is_ok_and(|rate| rate < SLOW_BELOW);
                if is_slow { Health::Slow } else { Health::Alive }
            }
        }
    }
}

/// The state of a feed between polls.
///
/// Figures of the schedule are stored as text; the schedule itself parses and writes them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FeedState {
    /// The address in the list.
    pub feed: String,
    /// The result of the last poll.
    pub polled: Polled,
    /// The time of the last poll.
    pub checked: String,
    /// The time of the last successful poll.
    pub succeeded: String,
    /// Failed polls since then.
    pub failures: u32,
    /// The last error message.
    pub error: String,
    /// The ETag of the last successful response, unchanged.
    pub etag: String,
    /// The Last-Modified of the last successful response, unchanged.
    pub last_modified: String,
    /// The fingerprint of the last good answer's body.
    pub body: String,
    /// The target of a permanent redirect.
    pub moved_to: String,
    /// The number of polls in a row that confirmed it.
    pub moved_times: u32,
    /// The number of entries it listed last.
    pub entries: u32,
    /// The number of these without a link to a page, which cannot be fetched.
    pub without_link: u32,
    /// The number of entries it brought in all.
    pub brought: u64,
    /// Its title.
    pub title: String,
    /// The time of the next poll.
    pub due: String,
    /// It is not to be polled before this time, by any run.
    pub not_before: String,
    /// Minutes from the last poll to the next turn.
    pub interval_min: u32,
    /// Entries per day, for display; computed from the next two.
    pub rate: String,
    /// Entries that arrived, with exponentially decaying weights.
    pub arrived: String,
    /// Days of observation, with exponentially decaying weights.
    pub watched_days: String,
    /// The hours that its document reaches back.
    #[serde(rename = "reach_h")]
    pub window_age_h: String,
    /// Recent entries by hour of the day, in UTC: 24 numbers.
    pub hours: String,
    /// The weight of one of its entries compared with others; nothing is 1.
    #[serde(rename = "worth")]
    pub yield_weight: String,
    /// Its own hints for polling: `ttl=60 hours=0,1 days=sunday`.
    #[serde(rename = "wishes")]
    pub server_hints: String,
    /// Conditional polls since the last unconditional one.
    pub conditional: u32,
    /// The number of false 304 answers.
    #[serde(rename = "lies")]
    pub false_304s: u32,
    /// The entries it listed last, as short hashes.
    pub window: String,
    /// The number of entries of a sitemap that are too old to be polled.
    pub history: u32,
}

columns!(FeedState {
    feed,
    polled,
    checked,
    succeeded,
    failures,
    error,
    etag,
    last_modified,
    body,
    moved_to,
    moved_times,
    entries,
    brought,
    title,
    due,
    not_before,
    interval_min,
    rate,
    arrived,
    watched_days,
    "reach_h" = window_age_h,
    hours,
    "worth" = yield_weight,
    "wishes" = server_hints,
    conditional,
    "lies" = false_304s,
    window,
    without_link,
    history
});

/// The states of all feeds, by address.
pub fn states(home: &Home) -> Result<HashMap<String, FeedState>> {
    let mut states = HashMap::new();
    table::read(&home.state("feeds.tsv"), |state: FeedState| {
        states.insert(state.feed.clone(), state);
    })?;
    Ok(states)
}

impl FeedState {
    /// Returns true if its times come from a clock that was ahead of `now`: it was polled in the future, or is due
    /// later than the schedule allows.
    pub fn is_ahead_of(&self, now: Timestamp, longest_poll_wait: SignedDuration) -> bool {
        let is_after =
            |time: &str, slack| time.parse::<Timestamp>().is_ok_and(|time: Timestamp| time.duration_since(now) > slack);
        [&self.checked, &self.succeeded].into_iter().any(|time| is_after(time, clock::TOLERANCE))
            || [&self.due, &self.not_before].into_iter().any(|time| is_after(time, longest_poll_wait))
    }
}

/// Makes feeds with times in the future due now; their other columns stay.
pub(crate) fn forget_future(home: &Home, now: Timestamp, longest_poll_wait: SignedDuration) -> Result<()> {
    let mut rows: Vec<FeedState> = Vec::new();
    table::read(&home.state("feeds.tsv"), |state| rows.push(state))?;
    for state in rows.iter_mut().filter(|state| state.is_ahead_of(now, longest_poll_wait)) {
        (state.due, state.not_before) = (String::new(), String::new());
        for time in [&mut state.checked, &mut state.succeeded] {
            if time.parse::<Timestamp>().is_ok_and(|time| time > now) {
                *time = rfc3339(now);
            }
        }
    }
    table::write(&home.state("feeds.tsv"), rows.iter())
}

/// Makes the next poll of every feed unconditional, and due now.
pub(crate) fn forget_validators(home: &Home) -> Result<()> {
    let mut rows: Vec<FeedState> = Vec::new();
    table::read(&home.state("feeds.tsv"), |state| rows.push(state))?;
    for state in &mut rows {
        for text in [&mut state.etag, &mut state.last_modified, &mut state.body, &mut state.due] {
            text.clear();
        }
    }
    table::write(&home.state("feeds.tsv"), rows.iter())
}

/// Replaces the states of the feeds of a run. Feeds that left the list keep their state, because they may return.
pub(crate) fn merge_states(home: &Home, changed: HashMap<String, FeedState>) -> Result<()> {
    table::merge(&home.state("feeds.tsv"), changed, |state| state.feed.clone(), |_, new| new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_json_are_those_of_the_columns() {
        let json = serde_json::to_value(FeedState::default()).unwrap();
        let columns = <FeedState as table::Tabular>::COLUMNS;
        let missing: Vec<&&str> = columns.iter().filter(|column| json.get(column).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn the_health_of_a_feed_follows_from_its_last_polls() {
        let state = |polled, failures, rate: &str| FeedState {
            checked: "2026-03-01T00:00:00.000Z".into(),
            polled,
            failures,
            rate: rate.into(),
            ..FeedState::default()
        };
        assert_eq!(FeedState::default().health(), Health::New);
        assert_eq!(state(Polled::Listed, 0, "2.5").health(), Health::Alive);
        assert_eq!(state(Polled::Unchanged, 0, "").health(), Health::Alive);
        assert_eq!(state(Polled::Unchanged, 0, "0.01").health(), Health::Slow);
        assert_eq!(state(Polled::Failed, 1, "2.5").health(), Health::Failing);
        assert_eq!(state(Polled::Failed, DEAD_AFTER, "2.5").health(), Health::Dead);
        assert_eq!(state(Polled::Gone, 1, "").health(), Health::Dead);
    }

    #[test]
    fn a_line_names_the_kind_of_its_document() {
        let folder = tempfile::tempdir().unwrap();
        let text = "a.example/feed\nb.example/news.xml\tkind=sitemap\tlang=de\nc.example/\tkind=page\nd.example/rss\tkind=blog\n";
        Home::create(folder.path(), "", text).unwrap();
        let list = list(&Home::at(folder.path()).unwrap()).unwrap();
        let kinds: Vec<SourceKind> = list.feeds.iter().map(|feed| feed.kind).collect();
        assert_eq!(kinds, [SourceKind::Feed, SourceKind::Sitemap, SourceKind::Page, SourceKind::Feed]);
        assert_eq!(list.feeds[1].labels, [("lang".to_owned(), "de".to_owned())]);
        assert_eq!(list.feeds[3].labels, [("kind".to_owned(), "blog".to_owned())]);
    }

    #[test]
    fn a_faulty_line_of_the_list_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let text = "\u{feff}# mine\n\nhttp://a.example/feed\ttopic=food\tlang = de\nb.example/rss\nfeed:c.example/atom#top\n\
                    not a feed\nhttp://a.example/feed\nhttp://d.example/\tnonsense\n";
        Home::create(folder.path(), "", text).unwrap();
        let list = list(&Home::at(folder.path()).unwrap()).unwrap();
        let urls: Vec<&str> = list.feeds.iter().map(|feed| feed.url.as_str()).collect();
        assert_eq!(
            urls,
            ["http://a.example/feed", "http://b.example/rss", "http://c.example/atom", "http://d.example/"]
        );
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(list.feeds[0].labels, [label("topic", "food"), label("lang", "de")]);
        assert_eq!(list.faults.iter().map(|fault| fault.0).collect::<Vec<_>>(), [6, 7, 8]);
    }

    #[test]
    fn states_of_feeds_are_replaced_and_others_stay() {
        let (_folder, home) = crate::testing::home();
        let state =
            |feed: &str, title: &str| FeedState { feed: feed.into(), title: title.into(), ..FeedState::default() };
        let put = |rows: &[(&str, &str)]| {
            let rows = rows.iter().map(|(feed, title)| ((*feed).to_owned(), state(feed, title))).collect();
            merge_states(&home, rows).unwrap();
        };
        put(&[("a", "1"), ("b", "2")]);
        put(&[("b", "3")]);
        let states = states(&home).unwrap();
        assert_eq!((states.len(), states["a"].title.as_str(), states["b"].title.as_str()), (2, "1", "3"));
    }
}
