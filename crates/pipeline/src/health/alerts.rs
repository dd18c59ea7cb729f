//! What in a home needs a person.
//!
//! An alarm that comes for nothing teaches people to look away. So each rule names what is wrong, since when, and what to
//! do, and most hold a figure against the home's own past rather than against a number of ours.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::Health;
use super::days::DayFigures;
use crate::context::elapsed;
use crate::display::{count, grouped, span};
use crate::stage::{Data, StageId};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Look at it in the next days.
    Warning,
    /// Data is being lost, or will be soon.
    Critical,
}

/// The rule that raised an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlertRule {
    /// Nothing was ever crawled here.
    NeverRun,
    /// A stage did not do its work.
    StageFailed,
    /// A stage has not done its work for longer than usual.
    StageLate,
    /// Pages cannot be found long after they were downloaded.
    Unsearchable,
    /// Far fewer pages came than usual.
    HarvestLow,
    /// The disk has less space than the settings want.
    DiskFull,
    /// The disk will be full soon.
    DiskLow,
    /// Many feeds do not answer.
    FeedsLost,
    /// Many feeds are polled too late.
    FeedsLate,
    /// A feed is below its own baseline.
    FeedFell,
}

/// Something that needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alert {
    /// How bad it is.
    pub level: Level,
    /// The rule, for programs.
    pub rule: AlertRule,
    /// What is wrong and what to do, for people.
    pub text: String,
}

/// Feeds that are named each for itself; the others are counted.
const NAMED: usize = 10;
const HOUR: f64 = 3600.0;

/// Everything that needs a person, the worst first.
pub fn of(health: &Health, min_free_mib: u64) -> Vec<Alert> {
    let mut alerts = Vec::new();
    let mut raise = |level: Level, rule: AlertRule, text: String| alerts.push(Alert { level, rule, text });
    stages(health, &mut raise);
    harvest(health, &mut raise);
    disk(health, min_free_mib, &mut raise);
    feeds(health, &mut raise);
    alerts.sort_by_key(|alert| std::cmp::Reverse(alert.level));
    alerts
}

type Raise<'a> = &'a mut dyn FnMut(Level, AlertRule, String);

/// How long ago something was, for people.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    let gone = elapsed(then, now);
    match gone.as_secs() {
        0..60 => "just now".to_owned(),
        60..172_800 => format!("{} ago", span(gone)),
        s => format!("{} ago", count(s / 86_400, "day")),
    }
}

fn stages(health: &Health, raise: Raise<'_>) {
    let now = health.now;
    if health.stages.named().all(|(_, stage)| stage.last_try.is_none()) {
        return raise(
            Level::Warning,
            AlertRule::NeverRun,
            "nothing was ever harvested here; start with `tidings run`".into(),
        );
    }
    for (name, state) in health.stages.named() {
        if let Some(trouble) = &state.trouble {
            let since =
                state.last_success.map_or("it never did".to_owned(), |at| format!("it last did {}", ago(at, now)));
            raise(Level::Warning, AlertRule::StageFailed, format!("{name} did not do its work: {trouble} ({since})"));
        }
        let asks_the_web = name.parse::<StageId>().is_ok_and(|id| id.stage().inputs().contains(&Data::Web));
        if let (Some(last), true) = (state.last_success, asks_the_web) {
            // By its own rhythm: a weekly crawl is late after weeks.
            let every = state.every_s.unwrap_or(24.0 * HOUR);
            let gone = elapsed(last, now).as_secs_f64();
            let level = match gone {
                _ if gone > (8.0 * every).max(48.0 * HOUR) => Level::Critical,
                _ if gone > (3.0 * every).max(6.0 * HOUR) => Level::Warning,
                _ => continue,
            };
            let usual = span(Duration::from_secs_f64(every));
            raise(
                level,
                AlertRule::StageLate,
                format!(
                    "{name} last did its work {}, usually every {usual}; is the timer or service on?",
                    ago(last, now)
                ),
            );
        }
    }
    if let Some(oldest) = health.oldest_unfound {
        let rounds = [&health.stages.rounds, &health.stages[StageId::Compile]];
        let rhythm = rounds.iter().filter_map(|state| state.every_s).fold(0.0, f64::max);
        let gone = elapsed(oldest, now).as_secs_f64();
        let level = match gone {
            _ if gone > (8.0 * rhythm).max(7.0 * 24.0 * HOUR) => Level::Critical,
            _ if gone > (3.0 * rhythm).max(26.0 * HOUR) => Level::Warning,
            _ => return,
        };
        let waiting = health.days.iter().filter(|day| day.waits_for.is_some()).count() as u64;
        let first = health.days.iter().find_map(|day| day.waits_for).unwrap_or(StageId::Clean);
        raise(
            level,
            AlertRule::Unsearchable,
            format!(
                "pages downloaded {} cannot be found yet: {} for {first}; `tidings run --from clean` does it",
                ago(oldest, now),
                match waiting {
                    1 => "1 day waits".to_owned(),
                    more => format!("{} wait", count(more, "day")),
                },
            ),
        );
    }
}

/// A silent zero is the worst of all: everything seems to run, and nothing comes.
fn harvest(health: &Health, raise: Raise<'_>) {
    let today = super::day_of(health.now);
    let ago = |day: &&DayFigures| (today - day.day).get_days();
    let whole: Vec<&DayFigures> = health.days.iter().filter(|day| ago(day) >= 1).collect();
    let Some(since) = whole.iter().map(ago).max() else { return };
    let per_day = whole.iter().map(|day| day.pages).sum::<u64>() as f64 / f64::from(since);
    let usual = per_day * health.harvest.hours / 24.0;
    if since < 3 || usual < 20.0 || health.stages[StageId::Fetch].last_try.is_none() {
        return;
    }
    let came = health.harvest.pages as f64;
    let level = match came / usual {
        share if share < 0.1 => Level::Critical,
        share if share < 0.4 => Level::Warning,
        _ => return,
    };
    let said = format!(
        "{} came in {:.0} hours, usually {} do; the summaries in runs/ say why",
        count(health.harvest.pages, "page"),
        health.harvest.hours,
        grouped(usual as u64)
    );
    raise(level, AlertRule::HarvestLow, said);
}

fn disk(health: &Health, min_free_mib: u64, raise: Raise<'_>) {
    let Some(free) = health.disk.free else { return };
    if free < min_free_mib << 20 {
        let free = free >> 20;
        let text = format!(
            "the disk has {free} MiB free, less than store.min_free_mib = {min_free_mib}: nothing is harvested"
        );
        return raise(Level::Critical, AlertRule::DiskFull, text);
    }
    let Some(days) = health.disk.days_left else { return };
    let level = match days {
        ..3.0 => Level::Critical,
        ..21.0 => Level::Warning,
        _ => return,
    };
    raise(
        level,
        AlertRule::DiskLow,
        format!("the disk is full in {days:.0} days at the present growth; make room or move the home"),
    );
}

fn feeds(health: &Health, raise: Raise<'_>) {
    let feeds = &health.feeds;
    let lost = feeds.failing + feeds.dead;
    let asked = feeds.listed - feeds.unasked;
    if asked > 0 && lost == asked {
        let text = format!("none of {} answers; is the network up?", count(asked, "feed"));
        raise(Level::Critical, AlertRule::FeedsLost, text);
    } else if asked >= 20 && feeds.failing * 4 > asked {
        raise(Level::Warning, AlertRule::FeedsLost, format!("{} of {asked} feeds fail", feeds.failing));
    }
    if feeds.late * 5 > asked.max(5) {
        let text = format!(
            "the turn of {} came more than a day ago: give `update` more time (run.update), or poll less (feeds.polls_per_day)",
            count(feeds.late, "feed")
        );
        raise(Level::Warning, AlertRule::FeedsLate, text);
    }
    for fall in health.falls.iter().take(NAMED) {
        let days = if fall.days == 1 { "yesterday".to_owned() } else { format!("in the last {} days", fall.days) };
        let text = format!(
            "{} brought {} {days}, {:.0} were to be expected; `tidings feed {}` shows what it says",
            fall.feed,
            count(fall.came, "page"),
            fall.expected,
            fall.feed
        );
        raise(Level::Warning, AlertRule::FeedFell, text);
    }
    if let Some(more @ 1..) = health.falls.len().checked_sub(NAMED) {
        raise(
            Level::Warning,
            AlertRule::FeedFell,
            format!("… and {} more below their own baseline", count(more as u64, "feed")),
        );
    }
}
