//! Trend statistics compared with SciPy 1.17: the expected values were computed with `scipy.stats.theilslopes`, `kendalltau`
//! (asymptotic, which has no correction for continuity), `norm.sf` and `false_discovery_control`.

use tidings_stats::trend::{false_discovery, mann_kendall, theil_sen};

const SERIES: [f64; 16] = [3.1, 2.9, 4.0, 4.0, 3.7, 5.2, 4.8, 5.9, 5.9, 5.9, 6.4, 5.1, 7.7, 6.6, 8.0, 7.7];

fn assert_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-10, "{found} instead of {expected}");
}

#[test]
fn the_slope_equals_theilslopes() {
    let when: Vec<f64> = (0..16).map(f64::from).collect();
    assert_near(theil_sen(&when, &SERIES, &mut Vec::new()), 0.322_222_222_222_222_2);
}

#[test]
fn the_test_equals_kendalltau() {
    let found = mann_kendall(&SERIES, &mut Vec::new());
    assert_eq!(found.s, 93);
    assert_near(found.z, 4.166_067_398_235_881);
    assert_near(found.p(), 3.098_991_170_617_091e-5);
    let without_correction = tidings_stats::measure::special::normal_two_sided(93.0 / (1463.0f64 / 3.0).sqrt());
    assert_near(without_correction, 2.538_482_563_721_27e-5);
}

#[test]
fn q_values_equal_false_discovery_control() {
    let p = [0.001, 0.2, 0.03, 0.0004, 0.04, 0.9, 0.012];
    let expected = [0.0035, 0.233_333_333_333_333_36, 0.0525, 0.0028, 0.056, 0.9, 0.028];
    for (q, expected) in false_discovery(&p, 7).into_iter().zip(expected) {
        assert_near(q, expected);
    }
}
