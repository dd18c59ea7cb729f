//! Pinned scores: a change must not make them worse.

use std::process::Command;

use bench_dedup::generate::Generator;
use bench_dedup::judged;
use bench_dedup::score::Score;
use bench_dedup::sets::{self, LabelledDocument};
use tidings_dedup::Rule;

/// Recall of copies with up to 5 % edits, precision, and the share of quotations that are kept.
fn holds(score: &Score, recall: f64, precision: f64, quotations: f64) {
    assert!(score.recall() >= recall, "recall {:.5}", score.recall());
    assert!(score.precision() >= precision, "precision {:.5}", score.precision());
    assert!(1.0 - score.removed("q") >= quotations, "quotations {:.5}", 1.0 - score.removed("q"));
    for label in ["e", "p", "b"] {
        let [_, _, paragraphs, removed] = score.labels[label];
        assert_eq!(paragraphs, removed, "an exact copy was missed: {label}");
    }
}

#[test]
fn planted_duplicates_are_found_and_fresh_text_stays() {
    let cases: Vec<LabelledDocument> = Generator::new(4, usize::MAX).take(2500).collect();
    holds(&judged(&cases, Rule::default()).unwrap(), 0.9985, 0.998, 0.995);
}

#[test]
fn the_development_set_is_scored_as_before() {
    let Some(folder) = tidings_testing::data("text-dev/dedup") else { return };
    let folder = folder.display();
    let out = tempfile::tempdir().unwrap();
    let made = Command::new("python3")
        .arg(format!("{folder}/gen_dedup.py"))
        .args([
            "--pool",
            &format!("{folder}/pool-dev.txt.xz"),
            "--seed",
            "31",
            "--tokens",
            "1500000",
            "--months",
            "6",
            "--out",
        ])
        .arg(out.path())
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        tidings_testing::skip("Python does not run the generator of duplicates");
        return;
    }
    let cases: Vec<LabelledDocument> = sets::read(out.path()).unwrap().map(|case| case.unwrap()).collect();
    // One of its quotations stands between dashes and has no other words around it.
    holds(&judged(&cases, Rule::default()).unwrap(), 0.9985, 0.997, 0.994);
}
