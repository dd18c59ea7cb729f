//! Scores that may only rise. They need the treebanks, which are not part of the repository.

use tidings_annotate::tagger::{About, Models, Tagger};
use tidings_train::model::{Material, Settings, make};
use tidings_train::score::score;
use tidings_train::shelf;
use tidings_train::treebank::Sentence;

/// Languages that are learned in a moment: treebank; UPOS, lemma, whole bundles of features, F1 of features; and the most bytes.
const PINS: &[(&str, &str, [f32; 4], usize)] = &[
    ("de", "de_gsd", [0.920, 0.930, 0.766, 0.866], 400_000),
    ("tr", "tr_boun", [0.875, 0.855, 0.796, 0.872], 500_000),
];

#[test]
fn scores_do_not_fall() {
    let Some(treebanks) = tidings_testing::data("text-dev/ud") else { return };
    let shared = treebanks.join("../..");
    let shelves = shelf::shelves(&shared, &["de", "tr"]).unwrap();
    for (code, name, pins, bytes) in PINS {
        let trials = shelves[*code].trials(5, true);
        let trial = trials.iter().find(|trial| trial.name == *name).unwrap();
        let sentences: Vec<&Sentence> = trial.learn.iter().collect();
        let model = make(Material { own: &sentences, ..Material::default() }, &Settings::default());
        let tagger = Tagger::read(About::default(), &model).unwrap();
        let found = score(&tagger, &trial.test).shares().map(Option::unwrap);
        assert!(found.iter().zip(pins).all(|(found, pin)| found >= pin), "{name}: {found:?}");
        assert!(Models::pack(&model).len() <= *bytes, "{name} is large");
    }
}
