//! How many tags, lemmas and features are right.

use tidings_annotate::Tagger;
use tidings_model::Token;

use crate::treebank::{GoldToken, Sentence};

/// Counts of what was right. Tokens that stand for several words do not count.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Score {
    /// Tags that were query for, and right.
    pub tags: (u32, u32),
    /// Lemmas that were query for, and right.
    pub lemmas: (u32, u32),
    /// Bundles of features that were query for, and right as a whole.
    pub bundles: (u32, u32),
    /// Features such as `Case=Gen` that were wanted, given, and right.
    pub feats: (u32, u32, u32),
}

impl Score {
    /// The share of tags that were right.
    pub fn upos(&self) -> Option<f32> {
        share(self.tags)
    }

    /// The share of lemmas that were right.
    pub fn lemma(&self) -> Option<f32> {
        share(self.lemmas)
    }

    /// The share of words all of whose features were right; none if hardly any word has one.
    pub fn bundle(&self) -> Option<f32> {
        share(self.bundles).filter(|_| self.has_feats())
    }

    /// The harmonic mean of how many features that were wanted were given, and how many given were wanted.
    pub fn feat(&self) -> Option<f32> {
        let (wanted, given, right) = self.feats;
        self.has_feats().then(|| 2.0 * right as f32 / (wanted + given) as f32)
    }

    /// Whether one word of a hundred has a feature. Treebanks of some languages mark a handful, which nobody can learn or miss.
    fn has_feats(&self) -> bool {
        self.feats.0 > 0 && self.feats.0 * 100 >= self.bundles.0
    }

    /// All four: tags, lemmas, bundles, features.
    pub fn shares(&self) -> [Option<f32>; 4] {
        [self.upos(), self.lemma(), self.bundle(), self.feat()]
    }

    /// Counts a word; what is not given does not count.
    pub fn add(&mut self, gold: &GoldToken, tag: Option<&str>, lemma: Option<&str>, feats: Option<&str>) {
        if gold.is_joined() {
            return;
        }
        let count = |counts: &mut (u32, u32), wanted: &str, found: Option<&str>| {
            if let Some(found) = found {
                *counts = (counts.0 + 1, counts.1 + u32::from(found == wanted));
            }
        };
        count(&mut self.tags, &gold.tag, tag);
        if let Some(wanted) = &gold.lemma {
            count(&mut self.lemmas, wanted, lemma);
        }
        if let (Some(wanted), Some(feats)) = (&gold.feats, feats) {
            count(&mut self.bundles, wanted, Some(feats));
            let pairs = |feats| str::split(feats, '|').filter(|pair| !pair.is_empty());
            let right = pairs(feats).filter(|pair| pairs(wanted).any(|wanted| wanted == *pair)).count();
            let (wanted, given) = (pairs(wanted).count(), pairs(feats).count());
            add3(&mut self.feats, (wanted as u32, given as u32, right as u32));
        }
    }

    /// Adds another count.
    pub fn merge(&mut self, other: &Score) {
        let add = |one: &mut (u32, u32), other: (u32, u32)| *one = (one.0 + other.0, one.1 + other.1);
        add(&mut self.tags, other.tags);
        add(&mut self.lemmas, other.lemmas);
        add(&mut self.bundles, other.bundles);
        add3(&mut self.feats, other.feats);
    }
}

fn add3(one: &mut (u32, u32, u32), other: (u32, u32, u32)) {
    *one = (one.0 + other.0, one.1 + other.1, one.2 + other.2);
}

fn share((query, right): (u32, u32)) -> Option<f32> {
    (query > 0).then(|| right as f32 / query as f32)
}

/// The words of a sentence, not yet tagged.
pub fn tokens(sentence: &Sentence) -> Vec<Token> {
    sentence.iter().map(|gold| Token { word: gold.form.clone(), ..Token::default() }).collect()
}

/// Compares what a tagger says with what people said.
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
