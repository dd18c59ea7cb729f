//! Pinned scores of trend detection. A change that improves a score raises its pin.

use bench_trends::churn::{self, FLAT, RISING};
use bench_trends::measure::measure;
use bench_trends::plant::Setting;

#[test]
fn planted_words_are_found_among_72_thousand() {
    let report = measure(&Setting::default());
    let (right, others) = report.trends_found();
    assert!(right >= 125, "{right} of 160 trends are found: {:?}", report.rises);
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
