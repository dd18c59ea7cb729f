//! Small models from a few sentences: what they say, and what becomes of them when they are damaged.

use tidings_annotate::Tagger;
use tidings_annotate::tagger::{ModelError, ModelInfo, Models};
use tidings_model::Token;
use tidings_train::model::{Settings, TrainingData, train};
use tidings_train::treebank::{GoldToken, Sentence};

/// Words as `form/lemma/tag` or `form/lemma/tag/features`, parted by blanks.
fn sentence(text: &str) -> Sentence {
    let gold = |word: &str| {
        let mut parts = word.split('/').map(str::to_owned);
        let mut part = || parts.next().expect("three parts");
        let (form, lemma, tag) = (part(), Some(part()), part());
        GoldToken { form, lemma, tag, feats: Some(parts.next().unwrap_or_default()) }
    };
    text.split_whitespace().map(gold).collect()
}

fn model() -> Vec<u8> {
    let mut sentences = Vec::new();
    let nouns = ["house", "tree", "river", "street", "garden", "window", "table", "road"];
    let verbs = ["want", "paint", "need", "follow"];
    for (place, noun) in nouns.iter().enumerate() {
        let verb = verbs[place % verbs.len()];
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
    let mut tokens: Vec<Token> =
        words.split(' ').map(|word| Token { word: word.to_owned(), ..Token::default() }).collect();
    tagger.tag(&mut tokens);
    tokens.into_iter().map(|token| (token.lemma, token.tag)).collect()
}

#[test]
fn words_that_were_never_seen_follow_those_that_were() {
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
fn features_of_new_words_follow_their_ends_and_neighbours() {
    let tagger = Tagger::read(ModelInfo::default(), &model()).unwrap();
    let words = ["The", "forests", "waited", "du", "forest", "."];
    let mut tokens = words.map(|word| Token { word: word.to_owned(), ..Token::default() });
    tagger.tag(&mut tokens);
    let feats = tokens.map(|token| token.feats);
    assert_eq!(
        feats[1..],
        ["Case=Nom|Number=Plur", "Tense=Past", "+Number=Sing", "Case=Acc|Number=Sing", ""]
    );
}

#[test]
fn the_same_sentences_give_the_same_bytes() {
    assert_eq!(model(), model());
}

#[test]
fn odd_words_and_endless_sentences_are_tagged() {
    let tagger = Tagger::read(ModelInfo::default(), &model()).unwrap();
    let long = "x".repeat(100_000);
    for words in ["", " ", "İ", "ẞ ﬁ ǅ", "\u{301}", "a b", "-", long.as_str()] {
        assert_eq!(tagged(&tagger, words).len(), words.split(' ').count());
    }
    let endless = "the house ".repeat(5_000);
    assert!(tagged(&tagger, endless.trim_end()).iter().all(|(lemma, tag)| !lemma.is_empty() && !tag.is_empty()));
    tagger.tag(&mut []);
}

#[test]
fn a_damaged_model_is_an_error_or_another_model_but_no_panic() {
    let whole = model();
    let mut state = 0x9e37_79b9_u64;
    let mut random_below = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..800 {
        let mut bytes = whole.clone();
        for _ in 0..=random_below(4) {
            // Every other time in its last part, where the features are.
            let from = random_below(2) * (bytes.len() - bytes.len() / 4);
            let place = from + random_below(bytes.len() - from);
            bytes[place] = random_below(256) as u8;
        }
        bytes.truncate(if random_below(3) == 0 { random_below(bytes.len()) } else { bytes.len() });
        if let Ok(tagger) = Tagger::read(ModelInfo::default(), &bytes) {
            tagged(&tagger, "The forests wanted du garden , 1984 Übung");
        }
    }
}

#[test]
fn a_file_of_models_is_read_as_it_was_written() {
    let about = ModelInfo { language: "xx".into(), measured: "-".into(), ..ModelInfo::default() };
    let packed = Models::pack(&model());
    let file = Models::write(&[(&about, packed.as_slice())]);
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
