//! Seasons and level shifts of an indexed corpus with known truth: planted words among constant ones, and sites that join.

#[path = "common/documents.rs"]
mod documents;

use documents::document;
use std::path::Path;
use tidings_index::{Day, build};
use tidings_query::engine::{Engine, Limits};
use tidings_query::question::{
    Direction, Question, QuestionContext, Request, Seasons, SeasonsRequest, SeriesParams, Steps, StepsRequest,
};

const YEARS: i32 = 4;
/// 1 January 2021.
const FIRST: Day = Day(18_628);
const DAYS: i32 = 365 * YEARS + 1;
const CONSTANT_WORDS: usize = 300;

/// The probability of the planted words in a document. `skiing` has its peak in January, `advent` is a word of December,
/// `ministry` and `charger` triple in the middle of the third year, `landline` and `fax` fall to a third, `steady` rises all
/// the time, and `flood` is the event of one month.
fn planted(day: i32) -> [(&'static str, f64); 8] {
    let year = f64::from(day) / 365.25;
    let wave = (std::f64::consts::TAU * (year - 0.04)).cos();
    let is_december = year.fract() > 334.0 / 365.25;
    let is_behind = day >= 912;
    [
        ("skiing", 0.08 * (1.0 + 0.7 * wave)),
        ("advent", if is_december { 0.4 } else { 0.03 }),
        ("ministry", if is_behind { 0.15 } else { 0.05 }),
        ("charger", if is_behind { 0.3 } else { 0.1 }),
        ("landline", if is_behind { 0.05 } else { 0.15 }),
        ("fax", if is_behind { 0.1 } else { 0.3 }),
        ("steady", 0.04 + 0.04 * year),
        ("flood", if (400..430).contains(&day) { 0.6 } else { 0.03 }),
    ]
}

/// Five sites, of which two join after two years and write of `football` in every second document.
fn corpus(folder: &Path) -> Engine {
    let mut random = fastrand::Rng::with_seed(27);
    let mut documents = Vec::new();
    for day in 0..DAYS {
        for site in 0..if day < DAYS / 2 { 3 } else { 5 } {
            let mut words = vec!["the".to_owned(); 20];
            let mut add = |word: &str, probability: f64| {
                if random.f64() < probability {
                    words.push(word.to_owned());
                }
            };
            planted(day).iter().for_each(|(word, probability)| add(word, *probability));
            add("football", if site >= 3 { 0.5 } else { 0.03 });
            (0..CONSTANT_WORDS).for_each(|word| add(&format!("word{word}"), 0.02 + 0.0003 * word as f64));
            let name = format!("site{site}.example");
            documents.push(document(documents.len(), Day(FIRST.0 + day), &name, &words));
        }
    }
    Engine::new(build(folder, &documents).expect("an index"))
}

fn seasons(engine: &Engine, series: SeriesParams) -> Seasons {
    let request = SeasonsRequest { series, ..SeasonsRequest::example() };
    request.answer(&QuestionContext::new(engine, "en")).expect("an answer").body
}

fn steps(engine: &Engine, direction: Direction) -> Steps {
    let mut request = StepsRequest::example();
    request.test.direction = direction;
    request.answer(&QuestionContext::new(engine, "en")).expect("an answer").body
}

#[test]
fn planted_seasons_and_shifts_are_found_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = corpus(folder.path());

    let found = seasons(&engine, SeriesParams::default());
    let mut values: Vec<(&str, u64)> = found.rows.iter().map(|row| (row.value.as_str(), row.peak)).collect();
    values.sort_unstable();
    assert_eq!(values, [("advent", 12), ("skiing", 1)], "{found:?}");
    assert_eq!((found.bins.len(), found.sites, found.values), (48, 5, Some(2)));
    assert!(found.tested > CONSTANT_WORDS as u64 && found.notes.is_empty());
    let skiing = found.rows.iter().find(|row| row.value == "skiing").expect("listed");
    // Around January the rate is 1.6 of the mean, in the other months 0.8.
    assert!((skiing.log_ratio - 1.0).abs() < 0.3 && skiing.q < 1e-3, "{skiing:?}");
    assert!(skiing.months[0] > skiing.months[6] && skiing.per_million.len() == 48, "{skiing:?}");

    let found = steps(&engine, Direction::Both);
    let is_rise = |value: &str| ["ministry", "charger"].contains(&value);
    let is_planted = |value: &str| is_rise(value) || ["landline", "fax"].contains(&value);
    // One of four may be missed: neighbouring months can be alike by chance.
    assert!(found.rows.len() >= 3 && found.rows.iter().all(|row| is_planted(&row.value)), "{found:?}");
    for row in &found.rows {
        let factor = if is_rise(&row.value) { 3f64.log2() } else { -3f64.log2() };
        // Day 912 is 2 July 2023.
        assert!(["2023-06", "2023-07", "2023-08"].contains(&&*row.bin.to_string()), "{row:?}");
        assert!((row.log_ratio - factor).abs() < 0.4 && row.q <= 0.05, "{row:?}");
    }
    let rising = steps(&engine, Direction::Rising);
    assert!(!rising.rows.is_empty() && rising.rows.iter().all(|row| is_rise(&row.value)), "{rising:?}");
}

#[test]
fn a_corpus_of_less_than_two_years_has_no_seasons_and_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = corpus(folder.path());
    let mut series = SeriesParams::default();
    series.scope.filter = Some(tidings_query::question::Parsed::new("date<2022-06").expect("a filter"));
    let found = seasons(&engine, series);
    assert!(found.rows.is_empty() && found.notes[0].contains("two years"), "{found:?}");
    let series = SeriesParams { by: tidings_query::trend::Step::Year, ..SeriesParams::default() };
    let request = SeasonsRequest { series, ..SeasonsRequest::example() };
    let refused = request.answer(&QuestionContext::new(&engine, "en")).expect_err("years have no months");
    assert!(refused.to_string().contains("give month"), "{refused}");
}

#[test]
fn a_test_that_is_cut_off_lists_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = corpus(folder.path());
    let limits = Limits::within(std::time::Duration::ZERO);
    let context = QuestionContext { vocabulary_limits: limits.clone(), limits, ..QuestionContext::new(&engine, "en") };
    let found = StepsRequest::example().answer(&context).expect("an answer").body;
    assert!(found.rows.is_empty() && found.values.is_none() && found.tested == 0, "{found:?}");
}
