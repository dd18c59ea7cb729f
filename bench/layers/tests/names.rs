//! Minimum scores of names on the texts of the repository.

use bench_layers::names::{gold, score};

/// Language; F1 of spans on development and held-out documents. Scores only rise.
const PINS: [(&str, f64, f64); 5] =
    [("en", 0.96, 0.96), ("de", 0.92, 0.85), ("es", 0.97, 0.96), ("ru", 0.97, 0.93), ("zh", 0.84, 0.76)];

#[test]
fn scores_do_not_fall() {
    for (language, development, held_out) in PINS {
        let documents = gold(language, None).expect("the texts are part of the repository");
        let scores = score(language, &documents, false);
        let found = [scores.development.spans()[2], scores.held_out.spans()[2]];
        assert!(found[0] >= development && found[1] >= held_out, "{language}: {found:.3?}");
    }
}
