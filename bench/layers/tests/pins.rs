//! Pinned scores of annotation layers on texts that are part of the repository. A change that improves a score raises its
//! pin.

use bench_layers::quotations::{Half, Predictor, Score, read_own};

/// Minimum precision and recall in per cent of quotations (spans and kinds) and speakers, over both halves. Speakers are
/// names, pronouns or listed nouns of persons: some recall in German, Spanish and Chinese was given for precision.
const QUOTATIONS: [(&str, [f64; 2], [f64; 2]); 5] = [
    ("en", [95.9, 95.9], [94.6, 94.6]),
    ("de", [92.2, 92.2], [90.6, 84.4]),
    ("es", [95.0, 95.0], [99.9, 97.7]),
    ("ru", [94.9, 94.9], [97.8, 95.7]),
    // One speaker fewer than with the tagger of 2026-11-15, which knew fewer words and parts of speech.
    ("zh", [96.4, 96.4], [95.4, 91.2]),
];

#[test]
fn scores_of_quotations_do_not_fall() {
    let predictor = Predictor::new();
    for (language, quotations, speakers) in QUOTATIONS {
        let mut total = Score::default();
        let documents = read_own(language).unwrap();
        assert!(documents.iter().any(|document| document.half == Half::HeldOut), "{language}");
        for document in &documents {
            total.merge(&predictor.score(document).unwrap());
        }
        for (what, counts, pins) in
            [("quotations", &total.quotations, quotations), ("speakers", &total.speakers, speakers)]
        {
            let found = [counts.precision() * 100.0, counts.recall() * 100.0];
            println!("{language} {what}: {found:.1?}");
            assert!(found[0] >= pins[0] && found[1] >= pins[1], "{language} {what}: {found:.1?}, pinned {pins:.1?}");
        }
    }
}
