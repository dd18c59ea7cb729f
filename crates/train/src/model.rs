//! Makes a model of a language from sentences.

use std::collections::BTreeMap;

use tidings_annotate::Tagger;
use tidings_annotate::tagger::script::lower;

use crate::treebank::Sentence;
use crate::{lemmas, tags};

/// What to learn from.
#[derive(Debug, Default, Clone, Copy)]
pub struct Material<'m> {
    /// Sentences of the language.
    pub own: &'m [&'m Sentence],
    /// Sentences of related languages, which help with parts of speech.
    pub helping: &'m [&'m Sentence],
    /// What those weigh.
    pub help: f32,
}

/// How to learn.
#[derive(Debug, Default, Clone, Copy)]
pub struct Settings {
    /// Parts of speech.
    pub tags: tags::Settings,
    /// Lemmas.
    pub lemmas: lemmas::Settings,
}

/// Learns a model; its bytes, not packed.
pub fn make(material: Material<'_>, settings: &Settings) -> Vec<u8> {
    let names = tags::tags(material.own);
    let learned = tags::learn(&names, &material, &settings.tags);
    let lemmas = lemmas::learn(&names, material.own, &settings.lemmas);
    Tagger::write(&names, &learned.classes, &learned.chain, &lemmas, &parts(material.own))
}

/// Words that stand for several wherever they were seen at least twice: word, lemmas, tags.
fn parts(sentences: &[&Sentence]) -> Vec<[String; 3]> {
    let mut seen: BTreeMap<String, BTreeMap<(&str, &str), u32>> = BTreeMap::new();
    for gold in sentences.iter().copied().flatten() {
        let analysis = (gold.lemma.as_deref().unwrap_or_default(), gold.tag.as_str());
        *seen.entry(lower(&gold.form)).or_default().entry(analysis).or_default() += 1;
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
