//! Minimum scores of code-switching on the texts of the repository.

use bench_layers::foreign::{gold, score};

/// Language; precision and recall of exact stretches, and of tokens, over both sets. Scores only rise.
const PINS: [(&str, [f64; 2], [f64; 2]); 5] = [
    ("en", [0.96, 0.83], [0.99, 0.87]),
    ("de", [0.96, 0.90], [0.99, 0.91]),
    ("es", [0.88, 0.70], [0.97, 0.77]),
    ("ru", [0.83, 0.83], [0.99, 0.98]),
    ("zh", [0.87, 0.87], [0.99, 0.98]),
];

#[test]
fn scores_of_code_switching_do_not_fall() {
    let mut stretches = 0;
    for (language, pinned_stretches, pinned_tokens) in PINS {
        let scores = score(language, &gold(language).expect("the texts are part of the repository"), false).all();
        stretches += scores.stretches.gold;
        for (what, counts, pins) in
            [("stretches", scores.stretches, pinned_stretches), ("tokens", scores.tokens, pinned_tokens)]
        {
            let found = [counts.precision(), counts.recall()];
            assert!(found[0] >= pins[0] && found[1] >= pins[1], "{language} {what}: {found:.3?}, pinned {pins:.3?}");
        }
    }
    assert!(stretches >= 150, "{stretches}");
}
