//! Accuracy of tags, lemmas and features.

use tidings_annotate::Tagger;
use tidings_annotate::tagger::edit_script::lowercase;
use tidings_model::Token;

use crate::treebank::{GoldToken, Sentence};

/// Counts of correct annotations. Multi-word tokens are not counted.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Score {
    /// Tags: total, correct.
    pub tags: (u32, u32),
    /// Lemmas: total, correct.
    pub lemmas: (u32, u32),
    /// Lemmas whatever their case: total, correct. Treebanks differ in the case of names and of words in capitals.
    pub caseless_lemmas: (u32, u32),
    /// Bundles of features: total, correct.
    pub bundles: (u32, u32),
    /// Single features such as `Case=Gen`: expected, predicted, correct.
    pub feats: (u32, u32, u32),
}

impl Score {
    /// Accuracy of tags.
    pub fn upos(&self) -> Option<f32> {
        accuracy(self.tags)
    }

    /// Accuracy of lemmas.
    pub fn lemma(&self) -> Option<f32> {
        accuracy(self.lemmas)
    }

    /// Accuracy of lemmas whatever their case.
    pub fn caseless_lemma(&self) -> Option<f32> {
        accuracy(self.caseless_lemmas)
    }

    /// Accuracy of bundles; `None` if hardly any word has features.
    pub fn bundle(&self) -> Option<f32> {
        accuracy(self.bundles).filter(|_| self.has_feats())
    }

    /// F1 of single features; `None` if hardly any word has features.
    pub fn feat(&self) -> Option<f32> {
        let (expected, predicted, right) = self.feats;
        self.has_feats().then(|| 2.0 * right as f32 / (expected + predicted) as f32)
    }

    /// Returns true if at least one word in a hundred has features. Some treebanks annotate only a
    /// handful, too few to learn.
    fn has_feats(&self) -> bool {
        self.feats.0 > 0 && self.feats.0 * 100 >= self.bundles.0
    }

    /// All five scores: tags, lemmas, caseless lemmas, bundles, features.
    pub fn shares(&self) -> [Option<f32>; 5] {
        [self.upos(), self.lemma(), self.caseless_lemma(), self.bundle(), self.feat()]
    }

    /// Counts a word; annotations that are `None` are not counted.
    pub fn add(&mut self, gold: &GoldToken, tag: Option<&str>, lemma: Option<&str>, feats: Option<&str>) {
        if gold.is_joined() {
            return;
        }
        let count = |counts: &mut (u32, u32), expected: &str, found: Option<&str>| {
            if let Some(found) = found {
                *counts = (counts.0 + 1, counts.1 + u32::from(found == expected));
            }
        };
        count(&mut self.tags, &gold.tag, tag);
        if let Some(expected) = &gold.lemma {
            count(&mut self.lemmas, expected, lemma);
            count(&mut self.caseless_lemmas, &lowercase(expected), lemma.map(lowercase).as_deref());
        }
        if let (Some(expected), Some(feats)) = (&gold.feats, feats) {
            count(&mut self.bundles, expected, Some(feats));
            let pairs = |feats| str::split(feats, '|').filter(|pair| !pair.is_empty());
            let right = pairs(feats).filter(|pair| pairs(expected).any(|expected| expected == *pair)).count();
            let (expected, predicted) = (pairs(expected).count(), pairs(feats).count());
            add3(&mut self.feats, (expected as u32, predicted as u32, right as u32));
        }
    }

    /// Adds the counts of another score.
    pub fn merge(&mut self, other: &Score) {
        let add = |one: &mut (u32, u32), other: (u32, u32)| *one = (one.0 + other.0, one.1 + other.1);
        add(&mut self.tags, other.tags);
        add(&mut self.lemmas, other.lemmas);
        add(&mut self.caseless_lemmas, other.caseless_lemmas);
        add(&mut self.bundles, other.bundles);
        add3(&mut self.feats, other.feats);
    }
}

fn add3(one: &mut (u32, u32, u32), other: (u32, u32, u32)) {
    *one = (one.0 + other.0, one.1 + other.1, one.2 + other.2);
}

fn accuracy((total, right): (u32, u32)) -> Option<f32> {
    (total > 0).then(|| right as f32 / total as f32)
}

/// Tokens of a sentence without annotation.
pub fn tokens(sentence: &Sentence) -> Vec<Token> {
    sentence.iter().map(|gold| Token { word: gold.form.as_str().into(), ..Token::default() }).collect()
}

/// Scores a tagger on annotated sentences.
pub fn score<'s>(tagger: &Tagger, sentences: impl IntoIterator<Item = &'s Sentence>) -> Score {
    let mut score = Score::default();
    for sentence in sentences {
        let mut tokens = tokens(sentence);
        tagger.tag(&mut tokens);
        for (gold, token) in sentence.iter().zip(&tokens) {
            score.add(gold, Some(&token.tag), Some(&token.lemma), Some(&token.feats));
        }
    }
    score
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lemma_in_the_wrong_case_is_right_only_caseless() {
        let gold = |lemma: &str, tag: &str| GoldToken {
            form: "Ministers".into(),
            lemma: Some(lemma.into()),
            tag: tag.into(),
            feats: None,
        };
        let mut score = Score::default();
        score.add(&gold("minister", "NOUN"), Some("NOUN"), Some("Minister"), None);
        score.add(&gold("Minister", "PROPN"), Some("NOUN"), Some("Minister"), None);
        score.add(&gold("minister", "NOUN"), Some("NOUN"), Some("ministers"), None);
        // Contractions are not counted.
        score.add(&gold("de+le", "ADP+DET"), Some("ADP+DET"), Some("de+le"), None);
        assert_eq!((score.tags, score.lemmas, score.caseless_lemmas), ((3, 2), (3, 1), (3, 2)));
    }
}
