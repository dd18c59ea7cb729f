//! Makes a model of a language from sentences.

use std::collections::BTreeMap;

use tidings_annotate::Tagger;
use tidings_annotate::tagger::Models;
use tidings_annotate::tagger::edit_script::lowercase;

use crate::treebank::Sentence;
use crate::{feats, lemmas, tags};

/// What to learn from.
#[derive(Debug, Default, Clone, Copy)]
pub struct TrainingData<'m> {
    /// Sentences of the language.
    pub own: &'m [&'m Sentence],
    /// Sentences of related languages, which help with parts of speech.
    pub related: &'m [&'m Sentence],
    /// What those weigh.
    pub related_weight: f32,
}

/// How to learn.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Parts of speech.
    pub tags: tags::Settings,
    /// Lemmas.
    pub lemmas: lemmas::Settings,
    /// Morphological features.
    pub feats: feats::Settings,
    /// If a model is larger than this when it is packed, the weakest weights are left out until it is not.
    pub max_bytes: usize,
    /// Weights of tags are only left out when those of features are down to this.
    pub min_feats_bytes: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            tags: Default::default(),
            lemmas: Default::default(),
            feats: Default::default(),
            max_bytes: 500_000,
            min_feats_bytes: 50_000,
        }
    }
}

/// Learns a model; its bytes, not packed.
pub fn train(data: TrainingData<'_>, settings: &Settings) -> Vec<u8> {
    let names = tags::tags(data.own);
    let learned = tags::learn(&names, &data, &settings.tags);
    let lemmas = lemmas::learn(&names, data.own, &settings.lemmas);
    let feats = feats::learn(&names, data.own, &learned.classes, &settings.feats);
    let parts = parts(data.own);
    // How much stronger weights of tags and of features must be than usual.
    let (mut of_tags, mut of_feats) = (1.0, 1.0);
    loop {
        let feats = feats.write(of_feats);
        let learned = [&learned.classes, &learned.crf(of_tags), &lemmas, &feats];
        let model = Tagger::write(&names, learned.map(Vec::as_slice), &parts);
        // What is too large although hardly a weight is left would stay so.
        if of_tags > 20.0 || Models::pack(&model).len() <= settings.max_bytes {
            return model;
        }
        // Lemmas and features need the tags: those are left alone as long as features can do with less.
        let step = if Models::pack(&feats).len() > settings.min_feats_bytes { &mut of_feats } else { &mut of_tags };
        *step *= 1.08;
    }
}

/// Words that stand for several wherever they were seen at least twice: word, lemmas, tags.
fn parts(sentences: &[&Sentence]) -> Vec<[String; 3]> {
    let mut seen: BTreeMap<String, BTreeMap<(&str, &str), u32>> = BTreeMap::new();
    for gold in sentences.iter().copied().flatten() {
        let analysis = (gold.lemma.as_deref().unwrap_or_default(), gold.tag.as_str());
        *seen.entry(lowercase(&gold.form)).or_default().entry(analysis).or_default() += 1;
    }
    let parts = seen.into_iter().filter_map(|(word, analyses)| {
        let all: u32 = analyses.values().sum();
        let ((lemmas, tags), most) = analyses.into_iter().max_by_key(|(_, count)| *count)?;
        let is_sure = most >= 2 && most * 2 > all && tags.contains('+');
        let fits = lemmas.split('+').count() == tags.split('+').count();
        (is_sure && fits).then(|| [word, lemmas.to_owned(), tags.to_owned()])
    });
    parts.collect()
}
