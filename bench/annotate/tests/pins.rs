//! Minimum scores. The treebanks are not part of the repository.

use tidings_annotate::tagger::{ModelInfo, Models, Tagger};
use tidings_train::model::{Settings, TrainingData, train};
use tidings_train::score::score;
use tidings_train::treebank::Sentence;
use tidings_train::treebank_list;

/// Languages that train within seconds: treebank; minimum UPOS, lemma, caseless lemma and bundle
/// accuracy and feature F1; maximum size in bytes.
const PINS: &[(&str, &str, [f32; 5], usize)] = &[
    ("de", "de_gsd", [0.920, 0.930, 0.930, 0.766, 0.866], 400_000),
    ("tr", "tr_boun", [0.875, 0.855, 0.880, 0.796, 0.872], 500_000),
];

#[test]
fn scores_do_not_fall() {
    let Some(treebanks) = tidings_testing::data("text-dev/ud") else { return };
    let shared = treebanks.join("../..");
    let mut list = treebank_list::read(&shared, &["de", "tr"]).unwrap();
    for (code, name, pins, bytes) in PINS {
        // Only the pinned treebank: others of the language follow other guidelines and may be added
        // or removed.
        let treebanks = list.get_mut(*code).unwrap();
        [&mut treebanks.train, &mut treebanks.dev].into_iter().for_each(|files| files.retain(|one| one.name == *name));
        let trials = list[*code].trials(5, true, false);
        let trial = trials.iter().find(|trial| trial.name == *name).unwrap();
        let sentences: Vec<&Sentence> = trial.train.sentences.iter().collect();
        let model = train(TrainingData { own: &sentences, ..TrainingData::default() }, &Settings::default());
        let tagger = Tagger::read(ModelInfo::default(), &model).unwrap();
        let found = score(&tagger, &trial.test).shares().map(Option::unwrap);
        assert!(found.iter().zip(pins).all(|(found, pin)| found >= pin), "{name}: {found:?}");
        assert!(Models::pack(&model).len() <= *bytes, "{name} is larger than {bytes} bytes");
    }
}
