//! The schedule's memory, as the table of feeds keeps it: every column can be read, and edited.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use jiff::Timestamp;
use tidings_feeds::schedule::{Hints, Pulse, Tempo, Turn, worth};
use tidings_feeds::{Pace, Weekday};
use tidings_store::feeds::FeedState;
use tidings_store::yields::{self, Yield};
use tidings_store::{Home, Result, rfc3339};
use xxhash_rust::xxh3::xxh3_64;

/// After so many polls with validators a feed is asked for all it has: some servers say that
/// nothing has changed whatever happens.
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

/// What is known about how a feed publishes. A column that makes no sense counts as empty.
pub fn pulse_of(state: &FeedState) -> Pulse {
    let usual = Pulse::default();
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| (0.0..1e12).contains(number));
    let mut hours = [0.0; 24];
    for (hour, text) in hours.iter_mut().zip(state.hours.split(',')) {
        *hour = number(text).unwrap_or(0.0);
    }
    let window = STANDARD_NO_PAD.decode(&state.window).unwrap_or_default();
    Pulse {
        arrived: number(&state.arrived).unwrap_or(usual.arrived),
        watched_days: number(&state.watched_days).filter(|days| *days > 0.0).unwrap_or(usual.watched_days),
        hours,
        reach_s: number(&state.reach_h).map(|hours| hours * 3600.0),
        window: window.chunks_exact(3).map(|key| u32::from_be_bytes([0, key[0], key[1], key[2]])).collect(),
        worth: number(&state.worth).unwrap_or(usual.worth),
    }
}

/// Writes down what was learned.
pub fn keep_pulse(state: &mut FeedState, pulse: &Pulse) {
    state.rate = short(pulse.rate(), 3);
    state.arrived = short(pulse.arrived, 6);
    state.watched_days = short(pulse.watched_days, 6);
    state.reach_h = pulse.reach_s.map(|reach| short(reach / 3600.0, 3)).unwrap_or_default();
    state.hours = if pulse.hours.iter().all(|hour| *hour == 0.0) {
        String::new()
    } else {
        pulse.hours.map(|hour| short(hour, 3)).join(",")
    };
    let keys: Vec<u8> = pulse.window.iter().flat_map(|key| key.to_be_bytes()[1..].to_vec()).collect();
    state.window = STANDARD_NO_PAD.encode(keys);
}

/// Writes down what entries of feeds are worth, by what came of the pages of the last days.
pub fn keep_worth(states: &mut [FeedState], home: &Home) -> Result<()> {
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
            state.worth = short(worth(sum.clean, sum.pages, usual), 3);
        }
    }
    Ok(())
}

/// Writes down when the next turn is.
pub fn keep_turn(state: &mut FeedState, turn: Turn, now: Timestamp) {
    state.due = rfc3339(turn.due);
    state.not_before = rfc3339(turn.not_before);
    state.interval_min = (turn.due.duration_since(now).as_secs().max(0) / 60) as u32;
}

/// When a feed's turn is, and when it was asked last; nothing if it never was, or if that was
/// before there was a schedule.
pub fn turn_of(state: &FeedState, tempo: &Tempo) -> Option<(Turn, Timestamp)> {
    let due = state.due.parse().ok()?;
    let asked = state.checked.parse().ok()?;
    let planned = Turn { due, not_before: state.not_before.parse().unwrap_or(due) };
    if state.failures > 0 {
        return Some((planned, asked));
    }
    let hints = hints_of(state, Hints::default());
    Some((tempo.revised(planned, &pulse_of(state), asked, seed_of(state), &hints), asked))
}

/// What makes a feed's jitter its own.
pub fn seed_of(state: &FeedState) -> u64 {
    xxh3_64(state.feed.as_bytes())
}

/// What a feed says about being asked, as one column.
pub fn wishes(pace: &Pace) -> String {
    let mut wishes = Vec::new();
    if let Some(ttl) = pace.ttl_minutes {
        wishes.push(format!("ttl={ttl}"));
    }
    if !pace.skip_hours.is_empty() {
        let hours: Vec<String> = pace.skip_hours.iter().map(u8::to_string).collect();
        wishes.push(format!("hours={}", hours.join(",")));
    }
    if !pace.skip_days.is_empty() {
        let name = |day: &Weekday| DAYS.iter().find(|row| row.0 == *day).map_or("", |row| row.1);
        wishes.push(format!("days={}", pace.skip_days.iter().map(name).collect::<Vec<_>>().join(",")));
    }
    wishes.join(" ")
}

/// Adds the wishes in a feed's column to what its server said in headers.
pub fn hints_of(state: &FeedState, hints: Hints) -> Hints {
    let mut pace = Pace::default();
    for (name, value) in state.wishes.split(' ').filter_map(|wish| wish.split_once('=')) {
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
    hints.with_pace(&pace)
}

/// Whether a feed is asked with its validators this time.
pub fn is_conditional(state: &FeedState) -> bool {
    state.lies == 0 && state.conditional < MOST_CONDITIONAL
}

/// A number with so many decimals at most.
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
    fn what_was_learned_comes_back_from_the_table() {
        let mut hours = [0.0; 24];
        hours[7] = 3.25;
        let pulse = Pulse {
            arrived: 12.5,
            watched_days: 4.0,
            hours,
            reach_s: Some(7200.0),
            window: vec![1, 0xff_ffff, 77],
            worth: 1.0,
        };
        let mut state = FeedState::default();
        keep_pulse(&mut state, &pulse);
        assert_eq!((state.rate.as_str(), state.reach_h.as_str()), ("3.125", "2"));
        assert_eq!(pulse_of(&state), pulse);
    }

    #[test]
    fn an_old_table_and_a_spoilt_one_start_from_nothing() {
        assert_eq!(pulse_of(&FeedState::default()), Pulse::default());
        let spoilt = FeedState {
            arrived: "many".into(),
            watched_days: "0".into(),
            hours: "1,x,NaN,-3".into(),
            window: "*".into(),
            reach_h: "inf".into(),
            ..FeedState::default()
        };
        let pulse = pulse_of(&spoilt);
        assert_eq!((pulse.rate(), pulse.reach_s, pulse.window.len()), (Pulse::default().rate(), None, 0));
        assert_eq!(pulse.hours.iter().sum::<f64>(), 1.0);
        let tempo = Tempo::fit(Default::default(), &[&pulse]);
        assert_eq!(turn_of(&spoilt, &tempo), None);
    }

    #[test]
    fn wishes_come_back_from_their_column() {
        let pace =
            Pace { ttl_minutes: Some(60), skip_hours: vec![0, 5], skip_days: vec![Weekday::Sunday], ..Pace::default() };
        let state = FeedState { wishes: wishes(&pace), ..FeedState::default() };
        assert_eq!(state.wishes, "ttl=60 hours=0,5 days=sunday");
        let hints = hints_of(&state, Hints::default());
        assert_eq!(
            (hints.fresh_s, hints.skip_hours, hints.skip_days),
            (Some(3600.0), vec![0, 5], vec![Weekday::Sunday])
        );
    }

    #[test]
    fn a_turn_is_kept_with_the_minutes_until_it() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let mut state = FeedState::default();
        let turn =
            Turn { due: "2026-03-01T13:30:59Z".parse().unwrap(), not_before: "2026-03-01T12:15:00Z".parse().unwrap() };
        keep_turn(&mut state, turn, now);
        assert_eq!((state.due.as_str(), state.interval_min), ("2026-03-01T13:30:59.000Z", 90));
        assert_eq!(state.not_before, "2026-03-01T12:15:00.000Z");
        keep_turn(&mut state, turn, "2026-03-02T00:00:00Z".parse().unwrap());
        assert_eq!(state.interval_min, 0);
    }

    #[test]
    fn a_feed_that_fails_keeps_the_turn_that_was_planned() {
        let state = FeedState {
            due: "2026-03-01T13:00:00Z".into(),
            checked: "2026-03-01T12:00:00Z".into(),
            failures: 2,
            ..FeedState::default()
        };
        let tempo = Tempo::fit(Default::default(), &[]);
        let (turn, asked) = turn_of(&state, &tempo).unwrap();
        assert_eq!((turn.due, turn.not_before), (state.due.parse().unwrap(), state.due.parse().unwrap()));
        assert_eq!(asked, state.checked.parse().unwrap());
    }

    #[test]
    fn validators_are_left_out_now_and_then_and_for_a_server_that_lies() {
        let state = |conditional, lies| FeedState { conditional, lies, ..FeedState::default() };
        assert!(is_conditional(&state(0, 0)) && is_conditional(&state(MOST_CONDITIONAL - 1, 0)));
        assert!(!is_conditional(&state(MOST_CONDITIONAL, 0)) && !is_conditional(&state(0, 1)));
    }

    #[test]
    fn the_worth_of_a_feed_follows_what_came_of_its_pages() {
        let (_folder, pipeline) = home();
        let mut states = ["https://gazette.example/feed", "https://shop.example/feed", "https://new.example/feed"]
            .map(|feed| FeedState { feed: feed.to_owned(), ..FeedState::default() });
        keep_worth(&mut states, pipeline.home()).unwrap();
        assert_eq!(states[0].worth, "", "nothing is known yet");
        let shop = |at| Page {
            feed: "https://shop.example/feed".into(),
            ..page(&format!("https://shop.example/{at}"), "<p>")
        };
        let gazette = |at| page(&format!("https://gazette.example/{at}"), &article(&format!("ferry {at}")));
        let pages: Vec<Page> = (0..20).flat_map(|at| [gazette(at), shop(at)]).collect();
        store_pages(&pipeline, "2026-03-01", &pages);
        pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
        yields::summarise(pipeline.home()).unwrap();
        keep_worth(&mut states, pipeline.home()).unwrap();
        let worth = |state: &FeedState| state.worth.parse::<f64>().ok();
        assert!(worth(&states[0]) > worth(&states[1]), "{:?}", states.each_ref().map(|state| &state.worth));
        assert_eq!(worth(&states[2]), None);
    }

    proptest::proptest! {
        #[test]
        fn a_pulse_survives_its_columns(
            arrived in 0.0f64..1e6,
            watched_days in 0.001f64..1e4,
            keys in proptest::collection::vec(0u32..1 << 24, 0..40),
        ) {
            let pulse = Pulse { arrived, watched_days, window: keys, ..Pulse::default() };
            let mut state = FeedState::default();
            keep_pulse(&mut state, &pulse);
            let read = pulse_of(&state);
            proptest::prop_assert_eq!(&read.window, &pulse.window);
            proptest::prop_assert!((read.arrived - arrived).abs() < 1e-5);
            proptest::prop_assert!((read.watched_days - watched_days).abs() < 1e-5);
        }

        #[test]
        fn columns_that_people_have_edited_never_break_a_run(text in "\\PC{0,40}") {
            let state = FeedState {
                arrived: text.clone(),
                watched_days: text.clone(),
                hours: text.clone(),
                window: text.clone(),
                wishes: text.clone(),
                due: text.clone(),
                ..FeedState::default()
            };
            proptest::prop_assert!(pulse_of(&state).rate() >= 0.0);
            hints_of(&state, Hints::default());
        }
    }
}
