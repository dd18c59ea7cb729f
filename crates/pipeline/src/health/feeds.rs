//! Conditions of feeds: active, quiet, failing, dead.

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use tidings_store::Home;
use tidings_store::feeds::{self, FeedState, Polled, SourceKind};

use super::baseline::{Fall, PAST_DAYS, Past};
use crate::context::elapsed;

/// A feed that fails for longer than this is dead until it responds again.
const DEAD_AFTER: SignedDuration = SignedDuration::from_hours(7 * 24);
/// A feed is quiet if it lists less than one entry in this many days.
const QUIET_DAYS: f64 = 30.0;
/// The minimum observation time before a feed is called quiet.
const WATCHED_DAYS: f64 = 14.0;

/// Counts of the feeds of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct FeedFigures {
    /// In the list.
    pub listed: u64,
    /// Answered, and publish.
    pub alive: u64,
    /// Answered, and have brought less than an entry a month.
    pub quiet: u64,
    /// The last polls failed.
    pub failing: u64,
    /// Gone (410), or failing for a week.
    pub dead: u64,
    /// Not polled yet.
    pub unasked: u64,
    /// Overdue by a day, or by two usual update intervals.
    pub late: u64,
    /// Front and section pages among them.
    pub pages: u64,
    /// Sitemaps among them.
    pub sitemaps: u64,
    /// Pages that forbid following their links.
    pub nofollow: u64,
    /// Lines of the list that cannot be understood.
    pub faults: u64,
}

/// The condition of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Answered, and publishes.
    Alive,
    /// Answered, and hardly publishes.
    Quiet,
    /// The last polls failed.
    Failing,
    /// Gone (410), or failing for a week.
    Dead,
    /// Not polled yet.
    Unasked,
}

impl Condition {
    /// The condition of a feed with this state.
    pub fn of(state: Option<&FeedState>, now: Timestamp) -> Condition {
        let Some(state) = state.filter(|state| !state.checked.is_empty()) else { return Condition::Unasked };
        let number = |text: &str| text.parse::<f64>().ok();
        let is_long_ago =
            |time: &str| time.parse::<Timestamp>().is_ok_and(|time| now.duration_since(time) > DEAD_AFTER);
        match state.polled {
            Polled::Gone => Condition::Dead,
            Polled::Failed if is_long_ago(&state.succeeded) => Condition::Dead,
            Polled::Failed if state.succeeded.is_empty() && state.failures >= 5 => Condition::Dead,
            Polled::Failed => Condition::Failing,
            _ if number(&state.watched_days).is_some_and(|days| days >= WATCHED_DAYS)
                && number(&state.rate).is_some_and(|rate| rate < 1.0 / QUIET_DAYS) =>
            {
                Condition::Quiet
            }
            _ => Condition::Alive,
        }
    }

    /// The name in output.
    pub fn word(self) -> &'static str {
        match self {
            Condition::Alive => "alive",
            Condition::Quiet => "quiet",
            Condition::Failing => "failing",
            Condition::Dead => "dead",
            Condition::Unasked => "not polled yet",
        }
    }
}

/// Returns true if the last poll found that the page forbids following its links.
fn forbids_following(state: &FeedState) -> bool {
    state.polled == Polled::Failed && state.error.starts_with("nofollow:")
}

/// Counts the conditions of all feeds in the list; `every_s` is the interval between updates in seconds.
pub fn read(home: &Home, now: Timestamp, every_s: f64) -> Result<FeedFigures> {
    let late_s = (2.0 * every_s).max(24.0 * 3600.0);
    let list = feeds::list(home)?;
    let states = feeds::states(home)?;
    let mut figures = FeedFigures { faults: list.faults.len() as u64, ..FeedFigures::default() };
    for feed in &list.feeds {
        let state = states.get(&feed.url);
        figures.listed += 1;
        figures.pages += u64::from(feed.kind == SourceKind::Page);
        figures.sitemaps += u64::from(feed.kind == SourceKind::Sitemap);
        figures.nofollow += u64::from(state.is_some_and(forbids_following));
        *match Condition::of(state, now) {
            Condition::Alive => &mut figures.alive,
            Condition::Quiet => &mut figures.quiet,
            Condition::Failing => &mut figures.failing,
            Condition::Dead => &mut figures.dead,
            Condition::Unasked => &mut figures.unasked,
        } += 1;
        let due = state.and_then(|state| state.due.parse::<Timestamp>().ok());
        figures.late += u64::from(due.is_some_and(|due| elapsed(due, now).as_secs_f64() > late_s));
    }
    Ok(figures)
}

/// Feeds in the list that are below their own baseline.
pub fn falls(home: &Home, now: Timestamp) -> Result<Vec<Fall>> {
    // Today is incomplete and therefore ignored.
    let last = now.to_zoned(jiff::tz::TimeZone::UTC).date().yesterday()?;
    let mut past = Past::ending(last, PAST_DAYS);
    let listed: std::collections::HashSet<String> = feeds::list(home)?.feeds.into_iter().map(|feed| feed.url).collect();
    tidings_store::yields::days_since(home, &past.first().to_string(), |day, row| {
        if let (Ok(day), true) = (day.parse(), listed.contains(&row.feed)) {
            past.add(day, &row.feed, row.sum.pages);
        }
    })?;
    Ok(past.falls())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_condition_of_a_feed_follows_from_its_polls() {
        let now: Timestamp = "2026-03-15T12:00:00Z".parse().unwrap();
        let state = FeedState {
            checked: "2026-03-15T11:00:00.000Z".into(),
            succeeded: "2026-03-15T11:00:00.000Z".into(),
            polled: Polled::Listed,
            ..FeedState::default()
        };
        let of = |state: FeedState| Condition::of(Some(&state), now);
        assert_eq!(of(state.clone()), Condition::Alive);
        let quiet = FeedState { rate: "0.01".into(), watched_days: "20".into(), ..state.clone() };
        assert_eq!(of(FeedState { watched_days: "3".into(), ..quiet.clone() }), Condition::Alive);
        assert_eq!(of(quiet), Condition::Quiet);
        let failing = FeedState { polled: Polled::Failed, failures: 2, ..state.clone() };
        assert_eq!(of(failing.clone()), Condition::Failing);
        assert_eq!(of(FeedState { succeeded: "2026-03-01T11:00:00.000Z".into(), ..failing.clone() }), Condition::Dead);
        assert_eq!(of(FeedState { succeeded: String::new(), failures: 5, ..failing }), Condition::Dead);
        assert_eq!(of(FeedState { polled: Polled::Gone, ..state }), Condition::Dead);
        assert_eq!(Condition::of(None, now), Condition::Unasked);
    }
}
