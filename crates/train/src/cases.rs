//! Training of the model for the case of lemmas.

use std::collections::BTreeMap;

use tidings_annotate::tagger::edit_script::{EditScript, LemmaCase, lowercase};
use tidings_annotate::tagger::lemma::{LemmaQuery, case_features};
use tidings_annotate::tagger::word::HashedWord;

use crate::adagrad::AdaGrad;
use crate::linear::{self, Choice, FeatureNumbers};
use crate::tags;
use crate::treebank::Sentence;

/// Cases that give the lemma of a word when its edit script is applied.
pub fn right(form: &str, lemma: &str) -> [bool; 4] {
    let small = lowercase(form);
    let script = EditScript::between(&small, &lowercase(lemma));
    let made = script.apply(&small).unwrap_or_default();
    let kept = script.apply_kept(form, &small).unwrap_or_default();
    LemmaCase::ALL.map(|case| case.apply(&made, &kept) == lemma)
}

/// Trains on all words whose lemma some case gives.
pub fn train(tags: &[String], sentences: &[&Sentence], bits: u32) -> Vec<(u32, f32)> {
    let mut seen: BTreeMap<(&str, u8, bool, &str), u32> = BTreeMap::new();
    for sentence in sentences {
        for (index, gold) in sentence.iter().enumerate() {
            if let Some(lemma) = &gold.lemma {
                *seen.entry((&gold.form, tags::number(tags, &gold.tag), index == 0, lemma)).or_default() += 1;
            }
        }
    }
    let mut numbers = FeatureNumbers::new(bits);
    let mut choices = Vec::new();
    for ((form, tag, is_first, lemma), count) in seen {
        // Only the simplest case counts as correct: several that give the same lemma would share
        // its probability and lose to others.
        let all_right = right(form, lemma);
        let Some(simplest) = all_right.iter().position(|right| *right) else { continue };
        if all_right.iter().all(|right| *right) {
            continue;
        }
        let right = LemmaCase::ALL.map(|case| case as usize == simplest);
        let small = lowercase(form);
        let query = LemmaQuery { lower: &small, word: HashedWord::new(form), tag };
        let candidates = LemmaCase::ALL.map(|case| numbers.of(&case_features(&query, case, is_first)));
        let weight = 1.0 + (count as f32).ln();
        choices.push(Choice { candidates: candidates.to_vec(), right: right.to_vec(), weight });
    }
    linear::train(&choices, &numbers, AdaGrad { epochs: 8, step: 0.2, initial_squares: 0.1, l1: 0.001 })
}
