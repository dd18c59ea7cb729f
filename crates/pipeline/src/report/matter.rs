//! The data of the charts: figures from the records of stages.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::Result;
use jiff::civil::Date;
use jiff::{Span, Timestamp};
use tidings_index::Snapshot;
use tidings_store::Home;
use tidings_store::feeds::{self, FeedState, SourceKind};
use tidings_store::runs::{self, LoggedRun};
use tidings_store::yields::{self, Yield};

use crate::health::days::{self, DayFigures};
use crate::health::feeds::Condition;
use crate::stage::{Data, StageId};

/// Days that the calendar shows.
const CALENDAR_DAYS: i64 = 371;
/// Documents published more than this many days before their download are not fresh.
const FRESH_DAYS: i32 = 7;

/// The days that a report is about, both of them with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// The first day.
    pub first: Date,
    /// The last day.
    pub last: Date,
}

impl Period {
    /// A period of this many days up to the last one.
    pub fn ending(last: Date, days: u32) -> Period {
        Period { first: last.saturating_sub(Span::new().days(i64::from(days.max(1)) - 1)), last }
    }

    fn holds(&self, day: Date) -> bool {
        (self.first..=self.last).contains(&day)
    }
}

/// A feed with its yield in the period.
pub struct FeedGain {
    /// Its address.
    pub feed: String,
    /// Its title.
    pub title: String,
    /// The kind of document.
    pub kind: SourceKind,
    /// Its current condition.
    pub condition: Condition,
    /// The yield of its pages.
    pub sum: Yield,
}

/// A host with its yield in the period.
pub type HostGain = (String, Yield);

/// Documents of a month by their own date.
#[derive(Debug, Clone, Copy, Default)]
pub struct Month {
    /// Downloaded within days.
    pub fresh: u64,
    /// Caught up on.
    pub older: u64,
}

/// Everything.
pub struct Matter {
    /// The name of the home.
    pub home: String,
    /// The days in question.
    pub period: Period,
    /// The time of the report.
    pub now: Timestamp,
    /// The days of the period that have pages.
    pub days: Vec<DayFigures>,
    /// Pages by day, for the calendar.
    pub pages_by_day: BTreeMap<Date, u64>,
    /// Days with a poll or a fetch.
    pub harvested: BTreeSet<Date>,
    /// The first day of the calendar.
    pub calendar_from: Date,
    /// Feeds, those with most text first.
    pub feeds: Vec<FeedGain>,
    /// Hosts, those with most text first.
    pub hosts: Vec<HostGain>,
    /// Searchable documents by the month they are dated to.
    pub months: BTreeMap<(i16, i8), Month>,
}

impl Matter {
    pub fn read(home: &Home, period: Period, now: Timestamp) -> Result<Matter> {
        let calendar_from = period.first.min(period.last.saturating_sub(Span::new().days(CALENDAR_DAYS - 1)));
        let indexes = days::indexes(home)?;
        let mut days = days::read(home, calendar_from, &indexes)?;
        let pages_by_day = days.iter().map(|day| (day.day, day.pages)).collect();
        days.retain(|day| period.holds(day.day));
        let asks_the_web =
            |run: &LoggedRun| run.verb().parse::<StageId>().is_ok_and(|id| id.stage().inputs().contains(&Data::Web));
        let logged = runs::all(home)?;
        let harvested = logged.iter().filter(|run| asks_the_web(run)).map(LoggedRun::day);
        let (feeds, hosts) = gains(home, period, now)?;
        let root = std::fs::canonicalize(home.root()).unwrap_or_else(|_| home.root().to_owned());
        Ok(Matter {
            home: root.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned()),
            period,
            now,
            days,
            pages_by_day,
            harvested: harvested.collect(),
            calendar_from,
            feeds,
            hosts,
            months: months(home)?,
        })
    }

    /// A sum over the days of the period.
    pub fn sum(&self, number: impl Fn(&DayFigures) -> u64) -> u64 {
        self.days.iter().map(number).sum()
    }
}

/// The yields of feeds and hosts, those with most text first.
fn gains(home: &Home, period: Period, now: Timestamp) -> Result<(Vec<FeedGain>, Vec<HostGain>)> {
    let mut by_feed: HashMap<String, Yield> = HashMap::new();
    let mut by_host: HashMap<String, Yield> = HashMap::new();
    yields::days_since(home, &period.first.to_string(), |day, row| {
        if day.parse().is_ok_and(|day| period.holds(day)) {
            *by_feed.entry(row.feed).or_default() += row.sum;
            *by_host.entry(row.host).or_default() += row.sum;
        }
    })?;
    let states: HashMap<String, FeedState> = feeds::states(home)?;
    // Feeds in the list without a yield are in the table too.
    let kinds: HashMap<String, SourceKind> =
        feeds::list(home)?.feeds.into_iter().map(|feed| (feed.url, feed.kind)).collect();
    let names: BTreeSet<String> =
        kinds.keys().cloned().chain(by_feed.keys().cloned()).filter(|name| !name.is_empty()).collect();
    let gain = |feed: String| {
        let state = states.get(&feed);
        let title = state.map(|state| state.title.clone()).unwrap_or_default();
        let sum = by_feed.get(&feed).copied().unwrap_or_default();
        let kind = kinds.get(&feed).copied().unwrap_or_default();
        FeedGain { condition: Condition::of(state, now), kind, title, sum, feed }
    };
    let mut feeds: Vec<FeedGain> = names.into_iter().map(gain).collect();
    feeds.sort_by(|a, b| (b.sum.clean, b.sum.pages).cmp(&(a.sum.clean, a.sum.pages)).then_with(|| a.feed.cmp(&b.feed)));
    let mut hosts: Vec<HostGain> = by_host.into_iter().collect();
    hosts.sort_by(|a, b| (b.1.clean, b.1.downloaded).cmp(&(a.1.clean, a.1.downloaded)).then_with(|| a.0.cmp(&b.0)));
    Ok((feeds, hosts))
}

/// Searchable documents by the month of their date, and whether they were fresh when downloaded.
fn months(home: &Home) -> Result<BTreeMap<(i16, i8), Month>> {
    let mut months: BTreeMap<(i16, i8), Month> = BTreeMap::new();
    for code in home.indexed()? {
        let snapshot = match Snapshot::open(&home.index_of(&code)) {
            Ok(snapshot) => snapshot,
            Err(tidings_index::Error::NoIndex { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        for live in snapshot.segments() {
            let segment = live.segment();
            for index in 0..segment.days() {
                let day = segment.day(index);
                let date = day.date();
                let month = months.entry((date.year(), date.month())).or_default();
                for document in segment.documents_of_day(index).filter(|document| !live.deleted().get(*document)) {
                    let is_fresh = segment.seen(document).0 - day.0 <= FRESH_DAYS;
                    *(if is_fresh { &mut month.fresh } else { &mut month.older }) += 1;
                }
            }
        }
        snapshot.intact()?;
    }
    months.retain(|_, month| month.fresh + month.older > 0);
    Ok(months)
}
