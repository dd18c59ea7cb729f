//! What a corpus knows about its tokens.

use super::Engine;
use std::collections::{BTreeMap, BTreeSet};
use tidings_index::lexicon::Layer;

impl Engine {
    /// The attributes that say something: a layer that nobody has filled holds nothing but the empty string.
    pub fn attributes(&self) -> Vec<&'static str> {
        let layers = [Layer::Lemma, Layer::Tag, Layer::Feats].into_iter();
        let filled = layers.filter(|layer| self.lexicon().count(*layer) > 1).map(Layer::name);
        ["word", "lc"].into_iter().chain(filled).collect()
    }

    /// The morphological features that tokens have, each with its values.
    pub fn features(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut features: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for strings in self.lexicon().strings(Layer::Feats) {
            strings.each(|_, feats| {
                let pairs = feats.split(['|', '+']).filter_map(|pair| pair.split_once('='));
                pairs.for_each(|(name, values)| features.entry(name).or_default().extend(values.split(',')));
            });
        }
        features
    }
}
