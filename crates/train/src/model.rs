//! Trains and serialises the model of a language.

use std::collections::BTreeMap;

use tidings_annotate::Tagger;
use tidings_annotate::tagger::Models;
use tidings_annotate::tagger::edit_script::lowercase;

use crate::treebank::Sentence;
use crate::{feats, lemmas, tags};

/// Training data of a language.
#[derive(Debug, Default, Clone, Copy)]
pub struct TrainingData<'m> {
    /// Sentences of the language.
    pub own: &'m [&'m Sentence],
    /// Sentences of related languages; used for tags only.
    pub related: &'m [&'m Sentence],
    /// Weight of the related sentences.
    pub related_weight: f32,
}

/// Training settings.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Settings for part-of-speech tags.
    pub tags: tags::Settings,
    /// Settings for lemmas.
    pub lemmas: lemmas::Settings,
    /// Settings for morphological features.
    pub feats: feats::Settings,
    /// Size limit of the compressed model; weights are pruned until it fits.
    pub max_bytes: usize,
    /// Size of the features below which weights of tags are pruned instead.
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

/// Trains a model; returns it uncompressed.
pub fn train(data: TrainingData<'_>, settings: &Settings) -> Vec<u8> {
    let names = tags::tags(data.own);
    let trained = tags::train(&names, &data, &settings.tags);
    let lemmas = lemmas::train(&names, data.own, &settings.lemmas);
    let feats = feats::train(&names, data.own, &trained.classes, &settings.feats);
    let parts = parts(data.own);
    // Factors on the pruning thresholds of tags and features.
    let (mut tag_strictness, mut feats_strictness) = (1.0, 1.0);
    loop {
        let feats = feats.write(feats_strictness);
        let trained = [&trained.classes, &trained.crf(tag_strictness), &lemmas, &feats];
        let model = Tagger::write(&names, trained.map(Vec::as_slice), &parts);
        // Give up when almost no weights are left.
        if tag_strictness > 20.0 || Models::pack(&model).len() <= settings.max_bytes {
            return model;
        }
        // Features are pruned first: lemmas and features depend on correct tags.
        let step = if Models::pack(&feats).len() > settings.min_feats_bytes {
            &mut feats_strictness
        } else {
            &mut tag_strictness
        };
        *step *= 1.08;
    }
}

/// Multi-word tokens that occur at least twice and mostly with this analysis: word, lemmas, tags.
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
