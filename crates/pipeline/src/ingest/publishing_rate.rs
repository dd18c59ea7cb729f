//! Conversion between the columns of `state/feeds.tsv` and the types of the poll schedule. The columns are
//! readable and editable.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use jiff::Timestamp;
use tidings_feeds::schedule::{NextPoll, PollPolicy, PublishingRate, ServerHints, yield_weight};
use tidings_feeds::{UpdateHints, Weekday};
use tidings_store::feeds::FeedState;
use tidings_store::yields::{self, Yield};
use tidings_store::{Home, Result, rfc3339};
use xxhash_rust::xxh3::xxh3_64;

/// After this many conditional requests a feed is requested in full, because some servers return 304 even after
/// a change.
const MOST_CONDITIONAL: u32 = 20;

const DAYS: [(Weekday, &str); 7] = [
    (Weekday::Monday, "monday"),
    (Weekday::Tuesday, "tuesday"),
    (Weekday::Wednesday, "wednesday"),
    (Weekday::Thursday, "thursday"),
    (Weekday::Friday, "friday"),
    (Weekday::Saturday, "saturday"),
    (Weekday::Sunday, "sunday"),
];

/// The publishing rate in a feed's columns. Invalid values count as empty.
pub fn publishing_rate_of(state: &FeedState) -> PublishingRate {
    let usual = PublishingRate::default();
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| (0.0..1e12).contains(number));
    let mut hours = [0.0; 24];
    for (hour, text) in hours.iter_mut().zip(state.hours.split(',')) {
        *hour = number(text).unwrap_or(0.0);
    }
    let window = STANDARD_NO_PAD.decode(&state.window).unwrap_or_default();
    PublishingRate {
        arrived: number(&state.arrived).unwrap_or(usual.arrived),
        watched_days: number(&state.watched_days).filter(|days| *days > 0.0).unwrap_or(usual.watched_days),
        hours,
        window_age_s: number(&state.window_age_h).map(|hours| hours * 3600.0),
        window: window.chunks_exact(3).map(|key| u32::from_be_bytes([0, key[0], key[1], key[2]])).collect(),
        yield_weight: number(&state.yield_weight).unwrap_or(usual.yield_weight),
    }
}

/// Stores the publishing rate in a feed's columns.
pub fn store_publishing_rate(state: &mut FeedState, publishing: &PublishingRate) {
    state.rate = short(publishing.rate(), 3);
    state.arrived = short(publishing.arrived, 6);
    state.watched_days = short(publishing.watched_days, 6);
    state.window_age_h = publishing.window_age_s.map(|age| short(age / 3600.0, 3)).unwrap_or_default();
    state.hours = if publishing.hours.iter().all(|hour| *hour == 0.0) {
        String::new()
    } else {
        publishing.hours.map(|hour| short(hour, 3)).join(",")
    };
    let keys: Vec<u8> = publishing.window.iter().flat_map(|key| key.to_be_bytes()[1..].to_vec()).collect();
    state.window = STANDARD_NO_PAD.encode(keys);
}

/// Stores the yield weight of each feed, computed from the pages of the last days.
pub fn store_yield_weights(states: &mut [FeedState], home: &Home) -> Result<()> {
    let mut sums: HashMap<String, Yield> = HashMap::new();
    let mut all = Yield::default();
    yields::read(home, |row| {
        if row.kind == "feed" {
            all += row.sum;
            sums.insert(row.name, row.sum);
        }
    })?;
    let usual = all.clean as f64 / all.pages.max(1) as f64;
    for state in states {
        if let Some(sum) = sums.get(&state.feed) {
            state.yield_weight = short(yield_weight(sum.clean, sum.pages, usual), 3);
        }
    }
    Ok(())
}

/// Stores the next poll of a feed.
pub fn store_next_poll(state: &mut FeedState, poll: NextPoll, now: Timestamp) {
    state.due = rfc3339(poll.due);
    state.not_before = rfc3339(poll.not_before);
    state.interval_min = (poll.due.duration_since(now).as_secs().max(0) / 60) as u32;
}

/// The next poll of a feed, bounded from now, and its last poll; `None` if it was never polled under a schedule.
pub fn next_poll_of(state: &FeedState, policy: &PollPolicy, now: Timestamp) -> Option<(NextPoll, Timestamp)> {
    let due = state.due.parse().ok()?;
    let asked = state.checked.parse().ok()?;
    let planned = NextPoll { due, not_before: state.not_before.parse().unwrap_or(due) };
    let planned = policy.bounded(planned, asked, now, state.failures);
    if state.failures > 0 || asked > now {
        return Some((planned, asked));
    }
    let hints = hints_of(state, ServerHints::default());
    Some((policy.revised(planned, &publishing_rate_of(state), asked, seed_of(state), &hints), asked))
}

/// The seed of a feed's jitter.
pub fn seed_of(state: &FeedState) -> u64 {
    xxh3_64(state.feed.as_bytes())
}

/// Formats the hints declared by a feed as one column.
pub fn format_server_hints(hints: &UpdateHints) -> String {
    let mut parts = Vec::new();
    if let Some(ttl) = hints.ttl_minutes {
        parts.push(format!("ttl={ttl}"));
    }
    if !hints.skip_hours.is_empty() {
        let hours: Vec<String> = hints.skip_hours.iter().map(u8::to_string).collect();
        parts.push(format!("hours={}", hours.join(",")));
    }
    if !hints.skip_days.is_empty() {
        let name = |day: &Weekday| DAYS.iter().find(|row| row.0 == *day).map_or("", |row| row.1);
        parts.push(format!("days={}", hints.skip_days.iter().map(name).collect::<Vec<_>>().join(",")));
    }
    parts.join(" ")
}

/// Adds the hints in a feed's column to those in its response headers.
pub fn hints_of(state: &FeedState, hints: ServerHints) -> ServerHints {
    let mut pace = UpdateHints::default();
    for (name, value) in state.server_hints.split(' ').filter_map(|wish| wish.split_once('=')) {
        match name {
            "ttl" => pace.ttl_minutes = value.parse().ok(),
            "hours" => pace.skip_hours = value.split(',').filter_map(|hour| hour.parse().ok()).collect(),
            "days" => {
                let day = |name: &str| DAYS.iter().find(|row| row.1 == name).map(|row| row.0);
                pace.skip_days = value.split(',').filter_map(day).collect();
            }
            _ => {}
        }
    }
    hints.with_update_hints(&pace)
}

/// Returns true if the feed is requested conditionally, with its validators.
pub fn is_conditional(state: &FeedState) -> bool {
    state.false_304s == 0 && state.conditional < MOST_CONDITIONAL
}

/// Formats a number with at most this many decimals.
fn short(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use tidings_model::Page;

    use super::*;
    use crate::stage::StageId;
    use crate::testing::{article, home, page, store_pages};

    #[test]
    fn a_publishing_rate_round_trips_through_its_columns() {
        let mut hours = [0.0; 24];
        hours[7] = 3.25;
        let publishing = PublishingRate {
            arrived: 12.5,
            watched_days: 4.0,
            hours,
            window_age_s: Some(7200.0),
            window: vec![1, 0xff_ffff, 77],
            yield_weight: 1.0,
        };
        let mut state = FeedState::default();
        store_publishing_rate(&mut state, &publishing);
        assert_eq!((state.rate.as_str(), state.window_age_h.as_str()), ("3.125", "2"));
        assert_eq!(publishing_rate_of(&state), publishing);
    }

    #[test]
    fn empty_and_invalid_columns_give_the_default() {
        assert_eq!(publishing_rate_of(&FeedState::default()), PublishingRate::default());
        let spoilt = FeedState {
            arrived: "many".into(),
            watched_days: "0".into(),
            hours: "1,x,NaN,-3".into(),
            window: "*".into(),
            window_age_h: "inf".into(),
            ..FeedState::default()
        };
        let publishing = publishing_rate_of(&spoilt);
        assert_eq!(
            (publishing.rate(), publishing.window_age_s, publishing.window.len()),
            (PublishingRate::default().rate(), None, 0)
        );
        assert_eq!(publishing.hours.iter().sum::<f64>(), 1.0);
        let policy = PollPolicy::fit(Default::default(), &[&publishing]);
        assert_eq!(next_poll_of(&spoilt, &policy, Timestamp::UNIX_EPOCH), None);
    }

    #[test]
    fn server_hints_round_trip_through_their_column() {
        let pace = UpdateHints {
            ttl_minutes: Some(60),
            skip_hours: vec![0, 5],
            skip_days: vec![Weekday::Sunday],
            ..UpdateHints::default()
        };
        let state = FeedState { server_hints: format_server_hints(&pace), ..FeedState::default() };
        assert_eq!(state.server_hints, "ttl=60 hours=0,5 days=sunday");
        let hints = hints_of(&state, ServerHints::default());
        assert_eq!(
            (hints.fresh_s, hints.skip_hours, hints.skip_days),
            (Some(3600.0), vec![0, 5], vec![Weekday::Sunday])
        );
    }

    #[test]
    fn the_next_poll_is_stored_with_the_minutes_until_it() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let mut state = FeedState::default();
        let poll = NextPoll {
            due: "2026-03-01T13:30:59Z".parse().unwrap(),
            not_before: "2026-03-01T12:15:00Z".parse().unwrap(),
        };
        store_next_poll(&mut state, poll, now);
        assert_eq!((state.due.as_str(), state.interval_min), ("2026-03-01T13:30:59.000Z", 90));
        assert_eq!(state.not_before, "2026-03-01T12:15:00.000Z");
        store_next_poll(&mut state, poll, "2026-03-02T00:00:00Z".parse().unwrap());
        assert_eq!(state.interval_min, 0);
    }

    #[test]
    fn a_failing_feed_keeps_its_planned_poll() {
        let state = FeedState {
            due: "2026-03-01T13:00:00Z".into(),
            checked: "2026-03-01T12:00:00Z".into(),
            failures: 2,
            ..FeedState::default()
        };
        let policy = PollPolicy::fit(Default::default(), &[]);
        let (poll, asked) = next_poll_of(&state, &policy, "2026-03-01T12:30:00Z".parse().unwrap()).unwrap();
        assert_eq!((poll.due, poll.not_before), (state.due.parse().unwrap(), state.due.parse().unwrap()));
        assert_eq!(asked, state.checked.parse().unwrap());
    }

    #[test]
    fn a_poll_planned_under_a_clock_that_was_ahead_is_due_now() {
        let policy = PollPolicy::fit(Default::default(), &[]);
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let due = |checked: &str, due: &str, failures| {
            let state = FeedState { due: due.into(), checked: checked.into(), failures, ..FeedState::default() };
            let (poll, asked) = next_poll_of(&state, &policy, now).unwrap();
            assert!(poll.due.duration_since(now).as_secs_f64() <= policy.longest_wait_s());
            poll.is_due(asked, now, 0.0)
        };
        assert!(due("2027-03-01T12:00:00Z", "2027-03-01T13:00:00Z", 0), "it was polled in the future");
        assert!(due("2027-03-01T12:00:00Z", "2027-03-01T13:00:00Z", 5));
        assert!(due("2026-03-01T11:00:00Z", "2027-03-01T13:00:00Z", 5), "it is due later than any rule allows");
        assert!(!due("2026-03-01T11:00:00Z", "2026-03-20T13:00:00Z", 5), "a failing feed may wait for weeks");
    }

    #[test]
    fn validators_are_omitted_periodically_and_after_a_false_304() {
        let state = |conditional, false_304s| FeedState { conditional, false_304s, ..FeedState::default() };
        assert!(is_conditional(&state(0, 0)) && is_conditional(&state(MOST_CONDITIONAL - 1, 0)));
        assert!(!is_conditional(&state(MOST_CONDITIONAL, 0)) && !is_conditional(&state(0, 1)));
    }

    #[test]
    fn the_yield_weight_of_a_feed_follows_from_the_text_of_its_pages() {
        let (_folder, pipeline) = home();
        let mut states = ["https://gazette.example/feed", "https://shop.example/feed", "https://new.example/feed"]
            .map(|feed| FeedState { feed: feed.to_owned(), ..FeedState::default() });
        store_yield_weights(&mut states, pipeline.home()).unwrap();
        assert_eq!(states[0].yield_weight, "", "nothing is known yet");
        let shop = |at| Page {
            feed: "https://shop.example/feed".into(),
            ..page(&format!("https://shop.example/{at}"), "<p>")
        };
        let gazette = |at| page(&format!("https://gazette.example/{at}"), &article(&format!("ferry {at}")));
        let pages: Vec<Page> = (0..20).flat_map(|at| [gazette(at), shop(at)]).collect();
        store_pages(&pipeline, "2026-03-01", &pages);
        pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
        yields::summarise(pipeline.home()).unwrap();
        store_yield_weights(&mut states, pipeline.home()).unwrap();
        let weight = |state: &FeedState| state.yield_weight.parse::<f64>().ok();
        assert!(weight(&states[0]) > weight(&states[1]), "{:?}", states.each_ref().map(|state| &state.yield_weight));
        assert_eq!(weight(&states[2]), None);
    }

    proptest::proptest! {
        #[test]
        fn any_publishing_rate_round_trips_through_its_columns(
            arrived in 0.0f64..1e6,
            watched_days in 0.001f64..1e4,
            keys in proptest::collection::vec(0u32..1 << 24, 0..40),
        ) {
            let publishing = PublishingRate { arrived, watched_days, window: keys, ..PublishingRate::default() };
            let mut state = FeedState::default();
            store_publishing_rate(&mut state, &publishing);
            let read = publishing_rate_of(&state);
            proptest::prop_assert_eq!(&read.window, &publishing.window);
            proptest::prop_assert!((read.arrived - arrived).abs() < 1e-5);
            proptest::prop_assert!((read.watched_days - watched_days).abs() < 1e-5);
        }

        #[test]
        fn arbitrary_column_values_do_not_panic(text in "\\PC{0,40}") {
            let state = FeedState {
                arrived: text.clone(),
                watched_days: text.clone(),
                hours: text.clone(),
                window: text.clone(),
                server_hints: text.clone(),
                due: text.clone(),
                ..FeedState::default()
            };
            proptest::prop_assert!(publishing_rate_of(&state).rate() >= 0.0);
            hints_of(&state, ServerHints::default());
        }
    }
}
