//! Polling policies: Tidings and its competitors.

use jiff::{SignedDuration, Timestamp};
use tidings_feeds::UpdateHints;
use tidings_feeds::schedule::{Budget, EntrySighting, NextPoll, PollPolicy, PublishingRate, ServerHints};

use crate::DAY;

const MIN: f64 = 900.0;
const MAX: f64 = 2.0 * DAY;

/// The entries that a poll lists.
pub struct ListedEntries<'a> {
    /// The times of the listed entries, oldest first.
    pub listed: &'a [f64],
    /// The index of the first of them in the history of the feed.
    pub first: usize,
    /// The number of entries that are new since the last poll.
    pub new: usize,
    /// True if entries have dates.
    pub dated: bool,
}

/// A polling policy.
pub trait Policy {
    /// The time of the next poll of a feed that was just polled.
    fn next(&mut self, feed: usize, now: f64, shown: &ListedEntries<'_>) -> f64;
    /// Fits the policy to all feeds.
    fn refit(&mut self) {}
    /// Returns true if a run should poll this feed now; runs come every `cadence` seconds.
    fn is_due(&self, _feed: usize, due: f64, now: f64, _cadence: f64) -> bool {
        due <= now
    }
}

/// A fixed interval.
pub struct Fixed(pub f64);

impl Policy for Fixed {
    fn next(&mut self, feed: usize, now: f64, _: &ListedEntries<'_>) -> f64 {
        // Shorten the first interval, so that feeds are not polled all at once.
        let golden = (feed as f64 * 0.618_034).fract();
        now + self.0 * if now <= 0.0 { golden } else { 1.0 }
    }
}

/// The rule of the paper: the interval is the mean gap of the ten newest entries, updated after each
/// poll by a weighted mean.
pub struct WeightedMean {
    scale: f64,
    mean: Vec<Option<f64>>,
    last: Vec<f64>,
}

impl WeightedMean {
    /// Creates the rule with intervals scaled to a budget.
    pub fn new(scale: f64, feeds: usize) -> WeightedMean {
        WeightedMean { scale, mean: vec![None; feeds], last: vec![0.0; feeds] }
    }
}

impl Policy for WeightedMean {
    fn next(&mut self, feed: usize, now: f64, shown: &ListedEntries<'_>) -> f64 {
        let newest = &shown.listed[shown.listed.len().saturating_sub(10)..];
        let gap = match newest {
            [oldest, .., newest] if shown.dated => (newest - oldest) / 9.0,
            _ => (now - self.last[feed]) / (shown.new.max(1) as f64),
        };
        // The silence since the newest entry counts as a gap, or dead feeds would be polled for ever.
        let silence = newest.last().map_or(DAY, |newest| now - newest);
        let gap = gap.max(silence);
        let mean = self.mean[feed].map_or(gap, |mean| 0.5 * mean + 0.5 * gap);
        self.mean[feed] = Some(mean);
        self.last[feed] = now;
        now + (mean * self.scale).clamp(MIN, MAX)
    }
}

/// The rule of miniflux: a week divided by the entries of the last week.
pub struct EntryFrequency(pub f64);

impl Policy for EntryFrequency {
    fn next(&mut self, _: usize, now: f64, shown: &ListedEntries<'_>) -> f64 {
        let week = shown.listed.iter().filter(|time| **time > now - 7.0 * DAY).count();
        now + (7.0 * DAY / week.max(1) as f64 * self.0).clamp(300.0, DAY)
    }
}

/// The policy of `tidings update`.
pub struct Tidings {
    budget: Budget,
    policy: PollPolicy,
    feeds: Vec<(PublishingRate, Option<Timestamp>, Option<NextPoll>)>,
}

impl Tidings {
    /// Creates the policy with a budget of polls per feed and day.
    pub fn new(polls_per_day: f64, feeds: usize) -> Tidings {
        Tidings::in_runs(polls_per_day, feeds, 0.0)
    }

    /// Creates the policy for runs every `cadence_s` seconds.
    pub fn in_runs(polls_per_day: f64, feeds: usize, cadence_s: f64) -> Tidings {
        let budget = Budget { polls_per_day, cadence_s, ..Budget::default() };
        let feeds = vec![(PublishingRate::default(), None, None); feeds];
        Tidings { policy: PollPolicy::fit(budget, &[&PublishingRate::default()]), budget, feeds }
    }

    pub(crate) fn moment(seconds: f64) -> Timestamp {
        // A Monday at midnight.
        let began = Timestamp::from_second(1_772_409_600).expect("the replay is in this century");
        began.checked_add(SignedDuration::from_secs_f64(seconds)).expect("the replay is in this century")
    }
}

impl Policy for Tidings {
    fn next(&mut self, feed: usize, now: f64, shown: &ListedEntries<'_>) -> f64 {
        let at = Tidings::moment(now);
        let (publishing, since, poll) = &mut self.feeds[feed];
        if shown.new == 0 && since.is_some() {
            publishing.observe_unchanged(at, *since);
        } else {
            let entries: Vec<EntrySighting> = shown
                .listed
                .iter()
                .enumerate()
                .map(|(n, time)| EntrySighting {
                    key: (shown.first + n) as u32,
                    date: shown.dated.then(|| Tidings::moment(*time)),
                })
                .collect();
            publishing.observe_entries(at, *since, &entries, &UpdateHints::default());
        }
        *since = Some(at);
        let next = self.policy.next_poll(publishing, at, feed as u64, &ServerHints::default());
        *poll = Some(next);
        now + next.due.duration_since(at).as_secs_f64()
    }

    fn refit(&mut self) {
        let rates: Vec<&PublishingRate> = self.feeds.iter().map(|feed| &feed.0).collect();
        self.policy = PollPolicy::fit(self.budget, &rates);
    }

    fn is_due(&self, feed: usize, _: f64, now: f64, cadence: f64) -> bool {
        match &self.feeds[feed] {
            (publishing, Some(since), Some(poll)) => {
                let poll = self.policy.revised(*poll, publishing, *since, feed as u64, &ServerHints::default());
                poll.is_due(*since, Tidings::moment(now), cadence)
            }
            _ => true,
        }
    }
}
