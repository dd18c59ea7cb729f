//! What a corpus knows about its tokens.

use super::Engine;
use std::collections::{BTreeMap, BTreeSet};
use tidings_index::lexicon::Layer;

/// Morphological features, each with its values.
pub type Features = BTreeMap<String, BTreeSet<String>>;

/// Universal Dependencies know about two hundred features, few of which have more than twenty values. Whoever has more has
/// something else, and is told about the first.
const MOST_NAMES: usize = 300;
const MOST_VALUES: usize = 100;

impl Engine {
    /// The attributes that say something: a layer that nobody has filled holds nothing but the empty string.
    pub fn attributes(&self) -> Vec<&'static str> {
        let layers = [Layer::Lemma, Layer::Tag, Layer::Feats].into_iter();
        let filled = layers.filter(|layer| self.lexicon().count(*layer) > 1).map(Layer::name);
        ["word", "lc"].into_iter().chain(filled).collect()
    }

    /// The morphological features that tokens have; collected when first asked for.
    pub fn features(&self) -> &Features {
        self.features.get_or_init(|| {
            let mut features = Features::new();
            for strings in self.lexicon().strings(Layer::Feats) {
                strings.each(|_, feats| note(feats, &mut features));
            }
            features
        })
    }
}

fn note(feats: &str, features: &mut Features) {
    for (name, values) in feats.split(['|', '+']).filter_map(|pair| pair.split_once('=')) {
        if !features.contains_key(name) {
            if features.len() == MOST_NAMES {
                continue;
            }
            features.insert(name.to_owned(), BTreeSet::new());
        }
        let known = features.get_mut(name).expect("it was put there");
        for value in values.split(',') {
            if known.len() < MOST_VALUES && !known.contains(value) {
                known.insert(value.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_collected_up_to_a_bound() {
        let mut features = Features::new();
        note("Case=Acc,Dat|Number=Sing+Case=Gen", &mut features);
        note("", &mut features);
        let values = |name: &str| features[name].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!((values("Case"), values("Number")), (vec!["Acc", "Dat", "Gen"], vec!["Sing"]));
        (0..1000).for_each(|number| note(&format!("F{number}=A|Case=C{number}"), &mut features));
        assert_eq!((features.len(), features["Case"].len()), (MOST_NAMES, MOST_VALUES));
    }
}
