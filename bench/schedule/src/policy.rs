//! Who decides when a feed is asked again.

use jiff::{SignedDuration, Timestamp};
use tidings_feeds::UpdateHints;
use tidings_feeds::schedule::{Budget, ServerHints, PublishingRate, EntrySighting, PollPolicy, NextPoll};

use crate::DAY;

const MIN: f64 = 900.0;
const MAX: f64 = 2.0 * DAY;

/// What a poll shows of a feed.
pub struct Shown<'a> {
    /// When the listed entries appeared, the oldest first.
    pub listed: &'a [f64],
    /// The number of the first of them, counted from the feed's beginning.
    pub first: usize,
    /// How many of them were not there last time.
    pub new: usize,
    /// Whether their dates can be seen.
    pub dated: bool,
}

/// A polling policy.
pub trait Policy {
    /// A feed was polled: when is it due again?
    fn next(&mut self, feed: usize, now: f64, shown: &Shown<'_>) -> f64;
    /// Some time has passed: the policy may look at all feeds together.
    fn look_around(&mut self) {}
    /// Whether a run that comes every so many seconds should poll this feed now.
    fn wants(&self, _feed: usize, due: f64, now: f64, _cadence: f64) -> bool {
        due <= now
    }
}

/// The same interval for all.
pub struct Fixed(pub f64);

impl Policy for Fixed {
    fn next(&mut self, feed: usize, now: f64, _: &Shown<'_>) -> f64 {
        // Feeds are not asked all at once: the first interval is cut short for most.
        let golden = (feed as f64 * 0.618_034).fract();
        now + self.0 * if now <= 0.0 { golden } else { 1.0 }
    }
}

/// The paper's rule: the interval is the mean gap of the ten newest entries, and after each poll
/// the weighted mean of what it was and what that gap is now.
pub struct WeightedMean {
    scale: f64,
    mean: Vec<Option<f64>>,
    last: Vec<f64>,
}

impl WeightedMean {
    /// The rule with its intervals scaled to a budget.
    pub fn new(scale: f64, feeds: usize) -> WeightedMean {
        WeightedMean { scale, mean: vec![None; feeds], last: vec![0.0; feeds] }
    }
}

impl Policy for WeightedMean {
    fn next(&mut self, feed: usize, now: f64, shown: &Shown<'_>) -> f64 {
        let newest = &shown.listed[shown.listed.len().saturating_sub(10)..];
        let gap = match newest {
            [oldest, .., newest] if shown.dated => (newest - oldest) / 9.0,
            _ => (now - self.last[feed]) / (shown.new.max(1) as f64),
        };
        // Silence since the newest entry is a gap as well, or the dead would be asked for ever.
        let silence = newest.last().map_or(DAY, |newest| now - newest);
        let gap = gap.max(silence);
        let mean = self.mean[feed].map_or(gap, |mean| 0.5 * mean + 0.5 * gap);
        self.mean[feed] = Some(mean);
        self.last[feed] = now;
        now + (mean * self.scale).clamp(MIN, MAX)
    }
}

/// As miniflux does: the week divided by the entries of the last week.
pub struct EntryFrequency(pub f64);

impl Policy for EntryFrequency {
    fn next(&mut self, _: usize, now: f64, shown: &Shown<'_>) -> f64 {
        let week = shown.listed.iter().filter(|time| **time > now - 7.0 * DAY).count();
        now + (7.0 * DAY / week.max(1) as f64 * self.0).clamp(300.0, DAY)
    }
}

/// What `tidings update` does.
pub struct Ours {
    budget: Budget,
    policy: PollPolicy,
    feeds: Vec<(PublishingRate, Option<Timestamp>, Option<NextPoll>)>,
}

impl Ours {
    /// Our policy with so many polls per feed and day.
    pub fn new(polls_per_day: f64, feeds: usize) -> Ours {
        Ours::in_runs(polls_per_day, feeds, 0.0)
    }

    /// The same for runs that come by every so many seconds.
    pub fn in_runs(polls_per_day: f64, feeds: usize, cadence_s: f64) -> Ours {
        let budget = Budget { polls_per_day, cadence_s, ..Budget::default() };
        let feeds = vec![(PublishingRate::default(), None, None); feeds];
        Ours { policy: PollPolicy::fit(budget, &[&PublishingRate::default()]), budget, feeds }
    }

    fn moment(seconds: f64) -> Timestamp {
        // A Monday at midnight.
        let began = Timestamp::from_second(1_772_409_600).expect("a time of this century");
        began.checked_add(SignedDuration::from_secs_f64(seconds)).expect("a time of this century")
    }
}

impl Policy for Ours {
    fn next(&mut self, feed: usize, now: f64, shown: &Shown<'_>) -> f64 {
        let at = Ours::moment(now);
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
                    date: shown.dated.then(|| Ours::moment(*time)),
                })
                .collect();
            publishing.observe_entries(at, *since, &entries, &UpdateHints::default());
        }
        *since = Some(at);
        let next = self.policy.next_poll(publishing, at, feed as u64, &ServerHints::default());
        *poll = Some(next);
        now + next.due.duration_since(at).as_secs_f64()
    }

    fn look_around(&mut self) {
        let rates: Vec<&PublishingRate> = self.feeds.iter().map(|feed| &feed.0).collect();
        self.policy = PollPolicy::fit(self.budget, &rates);
    }

    fn wants(&self, feed: usize, _: f64, now: f64, cadence: f64) -> bool {
        match &self.feeds[feed] {
            (publishing, Some(since), Some(poll)) => {
                let poll = self.policy.revised(*poll, publishing, *since, feed as u64, &ServerHints::default());
                poll.is_due(*since, Ours::moment(now), cadence)
            }
            _ => true,
        }
    }
}
