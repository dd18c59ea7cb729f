//! Properties of the poll schedule. Its overall quality is pinned in `bench/schedule`.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use tidings_feeds::schedule::{
    Budget, EntrySighting, NextPoll, PollFailure, PollPolicy, PublishingRate, ServerHints, server_hints,
};
use tidings_feeds::{UpdateHints, UpdatePeriod, Weekday};

const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;

/// A Monday at noon.
fn noon() -> Timestamp {
    "2026-03-02T12:00:00Z".parse().unwrap()
}

fn after(from: Timestamp, seconds: f64) -> Timestamp {
    from + SignedDuration::from_secs_f64(seconds)
}

fn wait(from: Timestamp, poll: NextPoll) -> f64 {
    poll.due.duration_since(from).as_secs_f64()
}

/// Entries with these ages, in hours.
fn aged(now: Timestamp, ages: impl IntoIterator<Item = f64>) -> Vec<EntrySighting> {
    let sighting = |(n, age): (usize, f64)| EntrySighting { key: n as u32 + 1, date: Some(after(now, -age * HOUR)) };
    ages.into_iter().enumerate().map(sighting).collect()
}

/// The rate of a feed first seen with `listed` entries, evenly spread over `hours` hours.
fn even(listed: u32, hours: f64) -> PublishingRate {
    let mut publishing = PublishingRate::default();
    let gap = hours / f64::from(listed);
    publishing.observe_entries(
        noon(),
        None,
        &aged(noon(), (1..=listed).map(|n| f64::from(n) * gap)),
        &UpdateHints::default(),
    );
    publishing
}

/// A policy fitted to ordinary feeds.
fn usual() -> PollPolicy {
    let feeds = [even(20, 2000.0), even(20, 500.0), even(20, 100.0), even(40, 40.0)];
    PollPolicy::fit(Budget { polls_per_day: 4.0, ..Budget::default() }, &feeds.iter().collect::<Vec<_>>())
}

#[test]
fn the_first_listing_gives_a_history() {
    let rate = even(48, 48.0).rate();
    assert!((14.0..26.0).contains(&rate), "one per hour for two days, estimated {rate} per day");
    let rate = even(20, 24.0 * 100.0).rate();
    assert!((0.1..0.35).contains(&rate), "one in five days, estimated {rate} per day");
}

#[test]
fn polls_are_proportional_to_the_square_root_of_the_rate() {
    // Wide windows, so that no entries are at risk; the same hours, so that only the rate differs.
    let (slow, fast) = (even(480, 24.0 * 60.0), even(480, 24.0 * 15.0));
    let policy = PollPolicy::fit(Budget { polls_per_day: 4.0, ..Budget::default() }, &[&slow, &fast]);
    let ratio = (policy.polls_per_day(&fast) / policy.polls_per_day(&slow)) / (fast.rate() / slow.rate()).sqrt();
    assert!((0.97..1.03).contains(&ratio), "{ratio}");
}

#[test]
fn all_feeds_together_meet_the_budget() {
    let feeds: Vec<PublishingRate> = (1..200).map(|n| even(30, 12.0 * f64::from(n))).collect();
    for polls_per_day in [1.0, 4.0, 12.0] {
        let policy = PollPolicy::fit(Budget { polls_per_day, ..Budget::default() }, &feeds.iter().collect::<Vec<_>>());
        let mean = feeds.iter().map(|feed| policy.polls_per_day(feed)).sum::<f64>() / feeds.len() as f64;
        assert!((mean / polls_per_day - 1.0).abs() < 0.01, "{mean} instead of {polls_per_day}");
    }
}

#[test]
fn a_fast_window_is_polled_twice_per_turnover() {
    // Ten entries in two hours, and a tight budget.
    let busy = even(10, 2.0);
    let policy = PollPolicy::fit(Budget { polls_per_day: 0.5, ..Budget::default() }, &[&busy, &even(20, 2000.0)]);
    let wait = wait(noon(), policy.next_poll(&busy, noon(), 1, &ServerHints::default()));
    assert!(wait <= 1.1 * HOUR, "{} min", wait / 60.0);
}

#[test]
fn a_feed_without_dates_is_estimated_from_its_entries() {
    let list = |from: u32| (from..from + 10).map(|key| EntrySighting { key, date: None }).collect::<Vec<_>>();
    let mut publishing = PublishingRate::default();
    publishing.observe_entries(noon(), None, &list(0), &UpdateHints::default());
    let mut now = noon();
    // Half of the list is new every two hours.
    for round in 1..10 {
        let since = now;
        now = after(now, 2.0 * HOUR);
        assert_eq!(publishing.observe_entries(now, Some(since), &list(5 * round), &UpdateHints::default()), 5);
    }
    assert!((40.0..70.0).contains(&publishing.rate()), "60 per day, estimated {}", publishing.rate());
    assert_eq!(publishing.window_age_s, Some(4.0 * HOUR));
}

#[test]
fn a_pinned_old_entry_does_not_increase_the_window_age() {
    let mut ages: Vec<f64> = (1..=19).map(f64::from).collect();
    ages.push(24.0 * 1000.0);
    let mut publishing = PublishingRate::default();
    publishing.observe_entries(noon(), None, &aged(noon(), ages), &UpdateHints::default());
    assert!(publishing.window_age_s.unwrap() < 24.0 * HOUR, "{:?}", publishing.window_age_s);
}

#[test]
fn a_feed_that_pauses_at_night_is_polled_less_at_night() {
    // Ten days of hourly entries from eight to eighteen.
    let midnight = after(noon(), -12.0 * HOUR);
    let ages = (0..10).flat_map(|day| (6..16).map(move |hour| f64::from(24 * day + hour)));
    let mut publishing = PublishingRate::default();
    publishing.observe_entries(midnight, None, &aged(midnight, ages), &UpdateHints::default());
    let policy = usual();
    let by_day = wait(noon(), policy.next_poll(&publishing, noon(), 1, &ServerHints::default()));
    let by_night = wait(midnight, policy.next_poll(&publishing, midnight, 1, &ServerHints::default()));
    assert!(by_night > 2.0 * by_day, "{} min by day, {} by night", by_day / 60.0, by_night / 60.0);
}

#[test]
fn a_silent_feed_is_polled_less_and_less_but_never_dropped() {
    let mut publishing = even(50, 50.0);
    let policy = usual();
    let mut now = noon();
    let first = wait(now, policy.next_poll(&publishing, now, 1, &ServerHints::default()));
    let mut last = first;
    while now < after(noon(), 90.0 * DAY) {
        let since = now;
        now = after(now, last);
        publishing.observe_unchanged(now, Some(since));
        last = wait(now, policy.next_poll(&publishing, now, 1, &ServerHints::default()));
    }
    assert!(last > 10.0 * first && last <= 2.0 * DAY, "{} h", last / HOUR);
}

#[test]
fn an_abrupt_change_of_rate_is_followed_within_a_day() {
    let mut publishing = even(50, 24.0 * 50.0);
    let mut now = noon();
    let list = |now: Timestamp, first: u32| -> Vec<EntrySighting> {
        (first..first + 50)
            .map(|key| EntrySighting { key, date: Some(after(now, f64::from(key % 50) * -400.0)) })
            .collect()
    };
    for round in 1..=3 {
        let since = now;
        now = after(now, 6.0 * HOUR);
        publishing.observe_entries(now, Some(since), &list(now, 1000 * round), &UpdateHints::default());
    }
    assert!(publishing.rate() > 30.0, "1 per day before, 200 now, estimated {}", publishing.rate());
    let poll = usual().next_poll(&publishing, now, 1, &ServerHints::default());
    assert!(wait(now, poll) < 3.0 * HOUR, "the window age is five hours, interval {} h", wait(now, poll) / HOUR);
}

#[test]
fn a_declared_update_period_is_only_a_first_guess() {
    let promising = |period| {
        let pace = UpdateHints { update_period: Some(period), update_frequency: Some(2), ..UpdateHints::default() };
        let mut publishing = PublishingRate::default();
        publishing.observe_entries(noon(), None, &[EntrySighting { key: 1, date: None }], &pace);
        publishing
    };
    let (hourly, yearly) = (promising(UpdatePeriod::Hourly), promising(UpdatePeriod::Yearly));
    assert!(hourly.rate() > PublishingRate::default().rate() && yearly.rate() < PublishingRate::default().rate());
    let mut silent = hourly;
    silent.observe_unchanged(after(noon(), 10.0 * DAY), Some(noon()));
    assert!(silent.rate() < 0.3, "{}", silent.rate());
}

#[test]
fn a_hint_is_respected_unless_entries_would_be_lost() {
    let policy = usual();
    let hints = ServerHints { fresh_s: Some(7.0 * DAY), ..ServerHints::default() };
    let poll = policy.next_poll(&even(20, 24.0 * 20.0), noon(), 1, &hints);
    assert!((poll.not_before.duration_since(noon()).as_secs_f64() - DAY).abs() < 1.0, "a day at most");
    let poll = policy.next_poll(&even(10, 4.0), noon(), 1, &hints);
    assert!(wait(noon(), poll) <= 2.1 * HOUR, "{poll:?}");
}

#[test]
fn retry_after_is_respected() {
    let hints = ServerHints { retry_after_s: Some(5.0 * HOUR), ..ServerHints::default() };
    let failure = PollFailure { times: 1, hard: false };
    let poll = usual().after_failure(&even(10, 1.0), noon(), 1, &hints, failure);
    assert!(poll.not_before >= after(noon(), 5.0 * HOUR) && poll.due >= poll.not_before);
    assert!(!poll.is_due(noon(), after(noon(), 4.9 * HOUR), 4.0 * HOUR), "not even for an early run");
}

#[test]
fn skipped_hours_and_days_are_avoided() {
    let publishing = even(20, 24.0 * 10.0);
    let planned = usual().next_poll(&publishing, noon(), 1, &ServerHints::default()).due;
    let hour = planned.as_second().div_euclid(3600).rem_euclid(24) as u8;
    let skipping = ServerHints { skip_hours: vec![hour], ..ServerHints::default() };
    let moved = usual().next_poll(&publishing, noon(), 1, &skipping).due;
    assert!(moved > planned && moved.duration_since(planned).as_secs() <= 3600);
    let skipping = ServerHints { skip_days: vec![Weekday::Monday], ..ServerHints::default() };
    let tuesday = wait(noon(), usual().next_poll(&publishing, noon(), 1, &skipping));
    assert!((12.0 * HOUR..12.0 * HOUR + 2.0).contains(&tuesday), "{tuesday}");
    let always = ServerHints { skip_hours: (0..24).collect(), ..ServerHints::default() };
    assert_eq!(usual().next_poll(&publishing, noon(), 1, &always).due, planned);
}

#[test]
fn the_backoff_grows_with_failures_up_to_a_month() {
    let (policy, publishing) = (usual(), even(20, 24.0 * 20.0));
    let wait = |times, hard| {
        wait(noon(), policy.after_failure(&publishing, noon(), 1, &ServerHints::default(), PollFailure { times, hard }))
    };
    assert!(wait(1, false) < 14.0 * HOUR);
    assert!(wait(10, true) > 4.0 * wait(10, false) / 2.0);
    for times in 1..2000 {
        assert!(wait(times + 1, true) >= wait(times, true) && wait(times, true) <= 33.0 * DAY);
    }
    assert!(wait(2000, false) > 27.0 * DAY);
}

#[test]
fn transient_failures_do_not_lose_entries_of_a_busy_feed() {
    let failure = PollFailure { times: 1, hard: true };
    let poll = usual().after_failure(&even(10, 2.0), noon(), 1, &ServerHints::default(), failure);
    assert!(wait(noon(), poll) <= 1.2 * HOUR, "{poll:?}");
}

#[test]
fn a_run_polls_feeds_that_are_nearer_to_it_than_to_the_next() {
    let poll = NextPoll { due: after(noon(), 6.0 * HOUR), not_before: after(noon(), 0.25 * HOUR) };
    let is_due = |hours: f64, cadence: f64| poll.is_due(noon(), after(noon(), hours * HOUR), cadence * HOUR);
    assert!(is_due(6.0, 0.0) && !is_due(5.9, 0.0));
    assert!(is_due(4.1, 4.0) && !is_due(3.9, 4.0));
    assert!(!is_due(2.9, 1000.0), "never before half the interval");
    assert!(poll.is_due(after(noon(), DAY), noon(), 0.0), "a last poll in the future is due");
}

#[test]
fn a_poll_is_advanced_when_the_budget_grows() {
    let publishing = even(20, 24.0 * 20.0);
    let poor = PollPolicy::fit(Budget { polls_per_day: 1.0, ..Budget::default() }, &[&publishing]);
    let rich = PollPolicy::fit(Budget { polls_per_day: 8.0, ..Budget::default() }, &[&publishing]);
    let planned = poor.next_poll(&publishing, noon(), 1, &ServerHints::default());
    assert!(rich.revised(planned, &publishing, noon(), 1, &ServerHints::default()).due < after(noon(), 4.0 * HOUR));
    assert_eq!(poor.revised(planned, &publishing, noon(), 1, &ServerHints::default()), planned);
}

#[test]
fn poll_times_have_jitter() {
    let publishing = even(20, 24.0 * 20.0);
    let due = |seed| usual().next_poll(&publishing, noon(), seed, &ServerHints::default()).due;
    assert_eq!(due(1), due(1));
    let different: std::collections::HashSet<Timestamp> = (0..100).map(due).collect();
    assert!(different.len() > 90);
}

#[test]
fn the_yield_weight_scales_polls() {
    let plain = even(200, 24.0 * 20.0);
    let rich = PublishingRate { yield_weight: 4.0, ..plain.clone() };
    let policy = PollPolicy::fit(Budget { polls_per_day: 4.0, ..Budget::default() }, &[&plain, &rich]);
    let ratio = policy.polls_per_day(&rich) / policy.polls_per_day(&plain);
    assert!((1.9..2.1).contains(&ratio), "{ratio}");
}

#[test]
fn cache_headers_are_parsed() {
    let fresh = |control, age, expires| server_hints::fresh_s(control, age, expires, noon());
    assert_eq!(fresh(Some("public, max-age=600"), None, None), Some(600.0));
    assert_eq!(fresh(Some("max-age=\"600\""), Some("500"), None), Some(100.0));
    assert_eq!(fresh(Some("max-age=600, no-cache"), None, None), None);
    assert_eq!(fresh(Some("max-age=0"), None, Some("Tue, 03 Mar 2026 12:00:00 GMT")), None);
    assert_eq!(fresh(None, None, Some("Mon, 02 Mar 2026 13:00:00 GMT")), Some(HOUR));
    assert_eq!(fresh(None, None, Some("0")), None);
    assert_eq!(fresh(None, None, Some("Thu, 01 Jan 1970 00:00:00 GMT")), None);
    assert_eq!(fresh(Some("max-age=99999999999999999999999"), None, None), None);
    let retry = |value| server_hints::retry_after_s(Some(value), noon());
    assert_eq!(retry("120"), Some(120.0));
    assert_eq!(retry("Mon, 02 Mar 2026 12:01:00 GMT"), Some(60.0));
    assert_eq!((retry("soon"), retry("-5"), retry("Mon, 02 Mar 2020 12:01:00 GMT")), (None, None, None));
}

proptest! {
    #[test]
    fn every_feed_gets_a_finite_next_poll(
        looks in prop::collection::vec(
            (0.0..1e7f64, prop::collection::vec((any::<u32>(), prop::option::of(-1e9..1e9f64)), 0..30), any::<bool>()),
            1..12,
        ),
        fresh in prop::option::of(0.0..1e12f64),
    ) {
        let policy = usual();
        let mut publishing = PublishingRate::default();
        let (mut now, mut since) = (noon(), None);
        for (pause, entries, unchanged) in looks {
            now = after(now, pause);
            if unchanged {
                publishing.observe_unchanged(now, since);
            } else {
                let entries: Vec<EntrySighting> = entries
                    .into_iter()
                    .map(|(key, at)| EntrySighting { key, date: at.map(|at| after(noon(), at)) })
                    .collect();
                publishing.observe_entries(now, since, &entries, &UpdateHints::default());
            }
            since = Some(now);
            prop_assert!(publishing.rate().is_finite() && publishing.rate() >= 0.0);
            prop_assert!(publishing.hours.iter().all(|hour| hour.is_finite() && *hour >= 0.0));
            prop_assert!(publishing.window_age_s.is_none_or(|age| age.is_finite() && age >= 0.0));
            let wait = wait(now, policy.next_poll(&publishing, now, 7, &ServerHints { fresh_s: fresh, ..ServerHints::default() }));
            prop_assert!((899.0..=2.0 * DAY + 1.0).contains(&wait), "{} s", wait);
        }
    }
}

#[test]
fn a_link_that_returns_to_a_page_is_not_new() {
    let mut publishing = PublishingRate::default();
    assert_eq!(publishing.observe_links(noon(), None, &[1, 2, 3, 3]), 3);
    let six = after(noon(), 6.0 * HOUR);
    assert_eq!(publishing.observe_links(six, Some(noon()), &[4, 1]), 1);
    assert_eq!(publishing.window, [4, 1, 2, 3]);
    assert_eq!(publishing.window_age_s, Some(12.0 * HOUR), "half of the list in six hours");
    let seven = after(noon(), 7.0 * HOUR);
    assert_eq!(publishing.observe_links(seven, Some(six), &[2, 3]), 0);
    let many: Vec<u32> = (10..1000).collect();
    publishing.observe_links(after(noon(), 8.0 * HOUR), Some(seven), &many);
    assert_eq!(publishing.window.len(), 500);
}
