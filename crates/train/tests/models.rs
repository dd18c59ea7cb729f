//! Small models trained on a few sentences, and damaged model files.

use tidings_annotate::Tagger;
use tidings_annotate::tagger::{ModelError, ModelInfo, Models};
use tidings_model::Token;
use tidings_train::model::{Settings, TrainingData, train};
use tidings_train::treebank::{GoldToken, Sentence};

/// Sentence from words as `form/lemma/tag` or `form/lemma/tag/features`, separated by spaces.
fn sentence(text: &str) -> Sentence {
    let gold = |word: &str| {
        let mut parts = word.split('/').map(str::to_owned);
        let mut part = || parts.next().expect("a word has three parts");
        let (form, lemma, tag) = (part(), Some(part()), part());
        GoldToken { form, lemma, tag, feats: Some(parts.next().unwrap_or_default()) }
    };
    text.split_whitespace().map(gold).collect()
}

fn model() -> Vec<u8> {
    let mut sentences = Vec::new();
    let nouns = ["house", "tree", "river", "street", "garden", "window", "table", "road"];
    let verbs = ["want", "paint", "need", "follow"];
    for (index, noun) in nouns.iter().enumerate() {
        let verb = verbs[index % verbs.len()];
        sentences.push(sentence(&format!(
            "The/the/DET {noun}s/{noun}/NOUN/Case=Nom|Number=Plur {verb}ed/{verb}/VERB/Tense=Past \
             a/a/DET/Number=Sing {noun}/{noun}/NOUN/Case=Acc|Number=Sing ././PUNCT"
        )));
        sentences.push(sentence(&format!(
            "She/she/PRON {verb}s/{verb}/VERB/Tense=Pres du/de+le/ADP+DET/+Number=Sing \
             {noun}/{noun}/NOUN/Case=Acc|Number=Sing"
        )));
    }
    let own: Vec<&Sentence> = sentences.iter().collect();
    train(TrainingData { own: &own, ..TrainingData::default() }, &Settings::default())
}

fn tagged(tagger: &Tagger, words: &str) -> Vec<(String, String)> {
    let mut tokens: Vec<Token> = words.split(' ').map(|word| Token { word: word.into(), ..Token::default() }).collect();
    tagger.tag(&mut tokens);
    tokens.into_iter().map(|token| (token.lemma.into(), token.tag.into())).collect()
}

#[test]
fn unknown_words_are_tagged_by_their_affixes() {
    let tagger = Tagger::read(ModelInfo::default(), &model()).unwrap();
    let found = tagged(&tagger, "The forests wanted du garden .");
    let pair = |lemma: &str, tag: &str| (lemma.to_owned(), tag.to_owned());
    assert_eq!(found[1], pair("forest", "NOUN"));
    assert_eq!(found[2], pair("want", "VERB"));
    assert_eq!(found[3], pair("de+le", "ADP+DET"));
    let parts = tagger.parts("Du").unwrap();
    assert_eq!((parts[0].lemma.as_str(), parts[1].tag.as_str()), ("de", "DET"));
    assert_eq!(tagger.parts("garden"), None);
}

#[test]
fn features_of_unknown_words_follow_from_affixes_and_neighbours() {
    let tagger = Tagger::read(ModelInfo::default(), &model()).unwrap();
    let words = ["The", "forests", "waited", "du", "forest", "."];
    let mut tokens = words.map(|word| Token { word: word.into(), ..Token::default() });
    tagger.tag(&mut tokens);
    let feats = tokens.map(|token| token.feats);
    assert_eq!(feats[1..], ["Case=Nom|Number=Plur", "Tense=Past", "+Number=Sing", "Case=Acc|Number=Sing", ""]);
}

#[test]
fn training_is_reproducible() {
    assert_eq!(model(), model());
}

#[test]
fn unusual_words_and_very_long_sentences_are_tagged() {
    let tagger = Tagger::read(ModelInfo::default(), &model()).unwrap();
    let long = "x".repeat(100_000);
    for words in ["", " ", "İ", "ẞ ﬁ ǅ", "\u{301}", "a b", "-", long.as_str()] {
        assert_eq!(tagged(&tagger, words).len(), words.split(' ').count());
    }
    let long_sentence = "the house ".repeat(5_000);
    assert!(tagged(&tagger, long_sentence.trim_end()).iter().all(|(lemma, tag)| !lemma.is_empty() && !tag.is_empty()));
    tagger.tag(&mut []);
}

#[test]
fn a_damaged_model_never_panics() {
    let whole = model();
    let mut state = 0x9e37_79b9_u64;
    let mut random_below = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..800 {
        let mut bytes = whole.clone();
        for _ in 0..=random_below(4) {
            // Half of the time in the last part, which holds the features.
            let from = random_below(2) * (bytes.len() - bytes.len() / 4);
            let index = from + random_below(bytes.len() - from);
            bytes[index] = random_below(256) as u8;
        }
        bytes.truncate(if random_below(3) == 0 { random_below(bytes.len()) } else { bytes.len() });
        if let Ok(tagger) = Tagger::read(ModelInfo::default(), &bytes) {
            tagged(&tagger, "The forests wanted du garden , 1984 Übung");
        }
    }
}

#[test]
fn a_model_file_round_trips() {
    let info = ModelInfo { language: "xx".into(), measured: "-".into(), ..ModelInfo::default() };
    let packed = Models::pack(&model());
    let file = Models::write(&[(&info, packed.as_slice())]);
    let models = Models::from_bytes(file.clone().into()).unwrap();
    models.check().unwrap();
    assert_eq!(tagged(&models.tagger("xx").unwrap(), "The houses")[1].0, "house");
    assert!(models.tagger("yy").is_none());
    assert_eq!(models.languages().next().unwrap().bytes, packed.len());
    assert_eq!(Models::from_bytes(b"something else".as_slice().into()).unwrap_err(), ModelError::NotAModel);
    for length in 0..file.len().min(200) {
        assert!(Models::from_bytes(file[..length].to_vec().into()).is_err());
    }
    let mut damaged = file;
    let last = damaged.len() - 20;
    damaged[last..].fill(7);
    let models = Models::from_bytes(damaged.into()).unwrap();
    assert!(models.check().is_err());
    assert!(models.tagger("xx").is_none());
}
