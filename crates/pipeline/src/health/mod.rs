//! The health of a home: figures of days, stages, feeds and disk space.
//!
//! Everything is read from the records of stages (run logs, recipes, tables) and never from the plan or the pages, so
//! that it is fast for large homes.

pub mod alerts;
pub mod baseline;
pub mod days;
pub mod disk;
pub mod feeds;
pub mod metrics;
pub mod stages;
pub mod status;
pub mod upgrade;

use std::collections::BTreeMap;

use anyhow::Result;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use tidings_store::archive::BackfillOrder;
use tidings_store::clock_jump::ClockJump;
use tidings_store::future::FutureTimes;
use tidings_store::runs::RunName;
use tidings_store::saved_searches::{WebhookState, read_webhooks};
use tidings_store::scrub::{self, DamagedFile};
use tidings_store::yields::{self, Yield};
use tidings_store::{FaultyPages, Home};

use crate::config::Config;
use crate::stage::StageId;
use baseline::Fall;
use days::{DayFigures, IndexFigures};
use disk::DiskFigures;
use feeds::FeedFigures;
use stages::{Harvest, StageStates};
use upgrade::Upgrade;

/// The number of days covered.
const LOOK_BACK: i64 = 30;

/// The health of a home. Its JSON is the output of `tidings --json status`.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Health {
    /// The time of the check; the end of the collection if that is earlier.
    pub now: Timestamp,
    /// The last day of the collection, if it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Date>,
    /// The feeds.
    pub feeds: FeedFigures,
    /// The stages.
    pub stages: StageStates,
    /// The last day of harvesting.
    pub harvest: Harvest,
    /// The last days, oldest first.
    pub days: Vec<DayFigures>,
    /// The indexes by language.
    #[serde(rename = "languages")]
    pub indexes: BTreeMap<String, IndexFigures>,
    /// The disk.
    pub disk: DiskFigures,
    /// The yield of the pages of the last days.
    #[serde(rename = "yield", serialize_with = "status::yield_figures")]
    pub yielded: Yield,
    /// Feeds below their own baseline.
    #[serde(rename = "fallen")]
    pub falls: Vec<Fall>,
    /// The units that the next run rebuilds because a stage has a new version; `None` if unknown.
    #[serde(rename = "remakes")]
    pub upgrade: Option<Upgrade>,
    /// Remembered times in the future, from a clock that was ahead.
    pub clock: FutureTimes,
    /// A jump of the clock ahead that is not confirmed yet.
    #[serde(skip)]
    pub clock_jump: Option<ClockJump>,
    /// Files of pages that are missing, changed or damaged.
    pub faulty_pages: Vec<FaultyPages>,
    /// Damaged files that the scrub found.
    pub damaged_files: Vec<DamagedFile>,
    /// The start of the run that downloaded the oldest page that is not searchable yet.
    pub oldest_unfound: Option<Timestamp>,
    /// The backfills of sites, by site.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub backfills: Vec<BackfillOrder>,
    /// Webhooks of saved searches whose last notification failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failing_webhooks: Vec<FailingWebhook>,
}

/// A webhook whose last notification failed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct FailingWebhook {
    /// The name of the saved search.
    pub search: String,
    /// The time since which notifications fail.
    pub since: String,
    /// The reason.
    pub failure: String,
}

fn failing_webhooks(home: &Home) -> Result<Vec<FailingWebhook>> {
    let failing = read_webhooks(home)?.into_iter().filter(|state| !state.failing_since.is_empty());
    let row =
        |state: WebhookState| FailingWebhook { search: state.name, since: state.failing_since, failure: state.failure };
    Ok(failing.map(row).collect())
}

impl Health {
    /// Reads the health of a home.
    pub fn of(home: &Home, config: &Config, clock_time: Timestamp) -> Result<Health> {
        let now = config.run.as_of(clock_time);
        let today = day_of(now);
        let indexes = days::indexes(home)?;
        let days = days::read(home, today.saturating_sub(Span::new().days(LOOK_BACK)), &indexes)?;
        let (mut stages, harvest) = stages::read(home, now)?;
        stages.off = StageId::ALL.iter().copied().filter(|stage| !stage.stage().is_on(config)).collect();
        let mut yielded = Yield::default();
        yields::read(home, |row| {
            if row.kind == "host" {
                yielded += row.sum;
            }
        })?;
        let unfound = days.iter().filter(|day| day.waits_for.is_some());
        let unfound = unfound.flat_map(|day| if day.unread_files.is_empty() { &day.files } else { &day.unread_files });
        let oldest_unfound = unfound.filter_map(|file| began(file)).min();
        let upgrade = Upgrade::of(home, config).map_err(|error| log::warn!("{error:#}")).ok();
        Ok(Health {
            now,
            ended: config.run.until.0.filter(|_| config.run.has_ended(clock_time)),
            feeds: feeds::read(home, now, stages[StageId::Update].every_s.unwrap_or(0.0))?,
            stages,
            harvest,
            disk: disk::read(home, &days, &indexes, today, config.store.min_free_mib),
            days,
            indexes,
            yielded,
            falls: feeds::falls(home, now)?,
            clock: FutureTimes::count(home, clock_time, config.feeds.longest_poll_wait())?,
            clock_jump: ClockJump::pending(home, clock_time)?,
            oldest_unfound,
            backfills: tidings_store::archive::orders(home)?,
            upgrade,
            faulty_pages: tidings_store::faulty_pages(home)?,
            damaged_files: scrub::damaged_files(home)?,
            failing_webhooks: failing_webhooks(home)?,
        })
    }
}

/// The day of a timestamp, as in partition names.
pub fn day_of(now: Timestamp) -> Date {
    now.to_zoned(TimeZone::UTC).date()
}

/// The start of the run that wrote a file of pages, by its name; other files are as old as their day.
fn began(file: &str) -> Option<Timestamp> {
    let mut parts = file.rsplit('/');
    let (name, day) = (parts.next()?, parts.next()?);
    let midnight = || Some(day.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
    RunName::parse(name.split('.').next()?).map(|run| run.began).or_else(midnight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_file_of_pages_has_the_age_of_its_run_or_its_day() {
        assert_eq!(began("pages/2026-03-02/a.0.jsonl.zst"), Some(at("2026-03-02T00:00:00Z")));
        assert_eq!(began("pages/notes/a.0.jsonl.zst"), None);
        assert_eq!(began("a.jsonl.zst"), None);
        let now = at("2026-03-02T10:20:30Z");
        let file = format!("pages/2026-03-02/{}-fetch.0.jsonl.zst", tidings_store::stamp(now));
        assert_eq!(began(&file), Some(now));
    }

    #[test]
    fn the_oldest_unsearchable_page_is_of_the_first_waiting_day() {
        let (_folder, pipeline) = test_home::built();
        let look = || Health::of(pipeline.home(), pipeline.config(), at("2026-03-03T12:00:00Z")).unwrap();
        assert_eq!(look().oldest_unfound, None);
        test_home::put_pages(pipeline.home().root(), test_home::SECOND_DAY, "b.0", &test_home::articles()[..1]);
        assert_eq!(look().oldest_unfound, Some(at("2026-03-02T00:00:00Z")));
        assert_eq!((look().yielded.pages, look().yielded.documents), (4, 4));
    }

    #[test]
    fn a_collection_that_has_ended_is_judged_as_of_its_last_day() {
        let (_folder, pipeline) = test_home::built();
        let mut config = pipeline.config().clone();
        let look = |config: &Config| Health::of(pipeline.home(), config, at("2031-01-01T00:00:00Z")).unwrap();
        assert_eq!((look(&config).ended, look(&config).days.len()), (None, 0));
        config.run.until = crate::config::LastDay(Some(Date::constant(2026, 3, 2)));
        let ended = look(&config);
        assert_eq!((ended.now, ended.ended), (at("2026-03-03T00:00:00Z"), config.run.until.0));
        assert_eq!(ended.days.len(), 2);
        assert!(ended.stages.off.contains(&StageId::Update) && ended.stages.off.contains(&StageId::Fetch));
    }

    #[test]
    fn days_outside_the_period_are_not_included() {
        let (_folder, pipeline) = test_home::built();
        let days = |now| Health::of(pipeline.home(), pipeline.config(), at(now)).unwrap().days.len();
        assert_eq!(days("2026-03-31T12:00:00Z"), 2);
        assert_eq!(days("2026-04-01T12:00:00Z"), 1);
        assert_eq!(days("2026-04-02T12:00:00Z"), 0);
    }
}
