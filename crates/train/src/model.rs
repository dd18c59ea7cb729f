//! Trains and serialises the model of a language.

use std::collections::BTreeMap;

use tidings_annotate::Tagger;
use tidings_annotate::tagger::Models;
use tidings_annotate::tagger::edit_script::lowercase;

use crate::treebank::{GoldToken, Sentence};
use crate::{feats, lemmas, tags};

/// Training data of a language.
#[derive(Debug, Default, Clone, Copy)]
pub struct TrainingData<'m> {
    /// Sentences of the language.
    pub own: &'m [&'m Sentence],
    /// Weight of each of them in the tagger; without weights all count fully. Sentences with less take
    /// part in the first half of the epochs only, those without any teach lemmas alone.
    pub weights: &'m [f32],
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
    let corrected = corrected(data.own);
    let all: Vec<&Sentence> = corrected.iter().collect();
    let weight = |index: usize| data.weights.get(index).copied().unwrap_or(1.0);
    let (own, weights): (Vec<&Sentence>, Vec<f32>) =
        all.iter().enumerate().map(|(index, one)| (*one, weight(index))).filter(|one| one.1 > 0.0).unzip();
    let tagged = TrainingData { own: &own, weights: &weights, ..data };
    let names = tags::tags(&own);
    let trained = tags::train(&names, &tagged, &settings.tags);
    let lemmas = lemmas::train(&names, &all, &settings.lemmas);
    let feats = feats::train(&names, &own, &trained.classes, &settings.feats);
    let parts = parts(&all);
    // Factors on the pruning thresholds of tags and features.
    let (mut tag_strictness, mut feats_strictness) = (1.0, 1.0);
    loop {
        let feats = feats.write(feats_strictness);
        let trained = [&trained.classes, &trained.crf(tag_strictness), &lemmas, &feats];
        let model = Tagger::write(&names, trained.map(Vec::as_slice), &parts);
        let excess = Models::pack(&model).len() as f32 / settings.max_bytes as f32;
        // Give up when almost no weights are left.
        if tag_strictness > 20.0 || excess <= 1.0 {
            return model;
        }
        // Features are pruned first: lemmas and features depend on correct tags.
        let step = if Models::pack(&feats).len() > settings.min_feats_bytes {
            &mut feats_strictness
        } else {
            &mut tag_strictness
        };
        *step *= 1.0 + (excess - 1.0).clamp(0.04, 0.3);
    }
}

/// Sentences without contractions that are misspellings: a form that is nearly always one word (*its*)
/// is it everywhere, also where the treebank reads *it's*.
fn corrected(sentences: &[&Sentence]) -> Vec<Sentence> {
    /// A form has this share of contractions at most, in one of so many, and so many occurrences.
    const ONE_OF: u32 = 5;
    const MIN_COUNT: u32 = 10;
    let mut seen: BTreeMap<String, (u32, BTreeMap<&GoldToken, u32>)> = BTreeMap::new();
    for gold in sentences.iter().copied().flatten() {
        let (joined, simple) = seen.entry(lowercase(&gold.form)).or_default();
        if gold.is_joined() { *joined += 1 } else { *simple.entry(gold).or_default() += 1 }
    }
    let mut right: BTreeMap<String, GoldToken> = BTreeMap::new();
    for (form, (joined, simple)) in seen {
        let count: u32 = simple.values().sum();
        if joined > 0 && count >= MIN_COUNT && joined * ONE_OF <= count {
            right.extend(simple.iter().max_by_key(|one| one.1).map(|one| (form, (*one.0).clone())));
        }
    }
    let correct = |gold: &GoldToken| match right.get(&lowercase(&gold.form)) {
        Some(right) if gold.is_joined() => GoldToken { form: gold.form.clone(), ..right.clone() },
        _ => gold.clone(),
    };
    sentences.iter().map(|sentence| sentence.iter().map(correct).collect()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_contraction_is_the_word_that_the_form_nearly_always_is() {
        let gold = |form: &str, lemma: &str, tag: &str| GoldToken {
            form: form.into(),
            lemma: Some(lemma.into()),
            tag: tag.into(),
            feats: Some(String::new()),
        };
        let mut sentences: Vec<Sentence> = vec![vec![gold("its", "its", "PRON")]; 12];
        sentences.push(vec![gold("Its", "it+be", "PRON+AUX"), gold("du", "de+le", "ADP+DET")]);
        let corrected = corrected(&sentences.iter().collect::<Vec<_>>());
        assert_eq!(corrected[12], [gold("Its", "its", "PRON"), gold("du", "de+le", "ADP+DET")]);
    }
}
