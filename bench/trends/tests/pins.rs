//! Pinned scores of trend detection. A change that improves a score raises its pin.

use bench_trends::churn::{self, FLAT, RISING};
use bench_trends::drift::{self, Drift};
use bench_trends::measure::measure;
use bench_trends::plant::Setting;
use bench_trends::product::{self, Answers, NEW, SMALL};
use bench_trends::scenario::{BURSTING, CHANGING, SCENARIOS, STEADY};

#[test]
fn planted_words_are_found_among_72_thousand() {
    let report = measure(&Setting::default());
    let (right, others) = report.trends_found();
    assert!(right >= 129, "{right} of 160 trends are found: {:?}", report.rises);
    assert!(others <= 0.10, "false discovery rate {others}: {:?}", report.rises);
    assert!(report.bursts_found() >= 27, "{} of 40 bursts are among the first 60", report.bursts_found());
    assert!(report.seasons_found() >= 36, "{} of 40 seasons are found", report.seasons_found());
}

#[test]
fn a_fixed_panel_removes_false_trends_of_a_changing_list_of_sites() {
    let outcome = churn::measure(Setting::default().seed);
    assert!(outcome.all_sites.flat > FLAT / 20, "without a panel there are no false trends to remove: {outcome:?}");
    assert!(outcome.panel.flat * 10 <= outcome.panel.rising, "{outcome:?}");
    assert!(outcome.panel.rising >= RISING * 95 / 100, "{outcome:?}");
}

#[test]
fn drift_churn_outages_and_events_of_sites_are_no_trends_and_no_bursts() {
    let measured: Vec<Drift> = SCENARIOS.iter().map(|scenario| drift::measure(scenario, 0..8)).collect();
    println!("{measured:#?}");
    let steady = measured[0];
    assert_eq!(steady.name, STEADY.name);
    assert!(steady.trends.planted >= CHANGING * 8 * 95 / 100, "{steady:?}");
    assert!(steady.bursts.planted >= BURSTING * 8 / 3, "{steady:?}");
    for drift in &measured {
        assert!(drift.trends.false_share() <= 0.05, "false trends: {drift:?}");
        assert!(drift.bursts.false_share() <= 0.05, "false bursts: {drift:?}");
        // 2.7 to 4.3 % with 32 seeds; eight vary by two per cent.
        assert!(drift.contrasts.false_share() <= 0.07, "false differences: {drift:?}");
        assert!(drift.trends.planted * 100 >= steady.trends.planted * 95, "trends: {drift:?}");
        assert!(drift.contrasts.planted * 100 >= steady.contrasts.planted * 95, "halves: {drift:?}");
    }
}

#[test]
fn scenarios_hold_through_the_index_and_the_questions() {
    let mut all = Answers::default();
    let mut steady = Answers::default();
    for scenario in &SCENARIOS {
        let answers = product::measure(scenario, &SMALL, 0..1);
        println!("{}: {answers:?}", scenario.name);
        if *scenario == STEADY {
            steady = answers;
        }
        assert!(answers.trends.planted * 100 >= steady.trends.planted * 80, "{}: {answers:?}", scenario.name);
        all.add(&answers);
    }
    // One seed of twenty words is too few for a share by scenario; `bench-trends product` has eight of sixty.
    // New words are not bounded: of 200,000 words of a few hits each, some are in the last quarter by chance, and the
    // evidence for a new word is taken from its rate there, which is then too high.
    for (question, found) in all.each().into_iter().filter(|(question, _)| *question != "new-words") {
        assert!(found.false_share() <= 0.10, "{question}: {found:?}");
    }
    let scenarios = SCENARIOS.len();
    assert!(all.trends.planted * 100 >= SMALL.changing * scenarios * 80, "{all:?}");
    assert!(all.compare.planted * 100 >= SMALL.changing * scenarios * 70, "{all:?}");
    assert!(all.new_words.planted * 100 >= NEW * scenarios * 60, "{all:?}");
}

#[test]
fn documents_pooled_over_sites_report_article_length_and_new_sites_as_trends() {
    for name in ["length", "churn", "all"] {
        let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name).expect("a scenario");
        let drift = drift::measure(scenario, 0..1);
        assert!(drift.pooled.false_share() > 0.3, "the scenario has nothing to find: {drift:?}");
    }
}
