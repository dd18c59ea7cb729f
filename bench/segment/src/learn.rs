//! Learns weights from treebanks: logistic regression, follow-the-regularised-leader.
//!
//! The rules' verdicts are given; what is learned is when to overrule them. Weights that earn
//! little stay at nothing, which keeps models small and what they say about other text cautious.

use std::collections::{HashMap, HashSet};

use tidings_annotate::{BoundaryModel, DecisionHook, RULE_WEIGHT, Segmenter};

use crate::treebank::{Document, Treebank};

/// How to learn.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How often the examples are gone through.
    pub epochs: usize,
    /// What a weight must earn to be kept, for tokens and for sentences.
    pub l1: [f32; 2],
    /// How far one example moves a weight.
    pub step: f32,
    /// What draws weights back to nothing.
    pub l2: f32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { epochs: 10, l1: [0.5, 0.8], step: 0.15, l2: 1.0 }
    }
}

/// A decision and how it should have been.
struct Example {
    verdict: bool,
    right: bool,
    features: Vec<u32>,
}

/// Follows the treebank's decisions and takes notes.
struct ExampleCollector<'d> {
    ends: &'d (HashSet<usize>, HashSet<usize>),
    tokens: Vec<Example>,
    sentences: Vec<Example>,
}

impl DecisionHook for ExampleCollector<'_> {
    fn token(&mut self, place: usize, verdict: bool, features: &[u32]) -> bool {
        let right = self.ends.0.contains(&place);
        self.tokens.push(Example { verdict, right, features: features.to_vec() });
        right
    }

    fn sentence(&mut self, place: usize, verdict: bool, _: f32, features: &[u32]) -> bool {
        let right = self.ends.1.contains(&place);
        self.sentences.push(Example { verdict, right, features: features.to_vec() });
        right
    }
}

/// Learns a language from treebanks; the model as a file.
pub fn learn<'t>(code: &str, treebanks: impl IntoIterator<Item = &'t Treebank>, settings: Settings) -> Vec<u8> {
    let segmenter = Segmenter::by_rules(code);
    let (mut tokens, mut sentences) = (Vec::new(), Vec::new());
    let mut read = |document: &Document| {
        let ends = document.ends();
        let mut collector = ExampleCollector { ends: &ends, tokens: Vec::new(), sentences: Vec::new() };
        segmenter.segment_with(&document.text, &mut collector);
        tokens.append(&mut collector.tokens);
        sentences.append(&mut collector.sentences);
    };
    for treebank in treebanks {
        treebank.documents.iter().for_each(&mut read);
        // Nobody but a treebank writes a blank before a full stop.
        if treebank.is_spaced_out() {
            treebank.documents.iter().map(Document::closed_up).for_each(|document| read(&document));
        }
    }
    BoundaryModel::write(&fit(&tokens, settings, settings.l1[0]), &fit(&sentences, settings, settings.l1[1]))
}

#[derive(Clone, Copy, Default)]
struct Weight {
    z: f32,
    n: f32,
    value: f32,
}

fn fit(examples: &[Example], settings: Settings, l1: f32) -> Vec<(u32, f32)> {
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut names = Vec::new();
    let indexed: Vec<Vec<u32>> = examples
        .iter()
        .map(|example| {
            let place = |feature: &u32| {
                *numbers.entry(*feature).or_insert_with(|| {
                    names.push(*feature);
                    names.len() as u32 - 1
                })
            };
            example.features.iter().map(place).collect()
        })
        .collect();
    let mut weights = vec![Weight::default(); names.len()];
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut rng = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..settings.epochs {
        shuffle(&mut order, &mut rng);
        for &place in &order {
            let example = &examples[place];
            let rule_weight = if example.verdict { RULE_WEIGHT } else { -RULE_WEIGHT };
            let score = indexed[place].iter().fold(rule_weight, |score, at| score + weights[*at as usize].value);
            let gradient = 1.0 / (1.0 + (-score).exp()) - f32::from(u8::from(example.right));
            if gradient.abs() < 0.001 {
                continue;
            }
            for at in &indexed[place] {
                let weight = &mut weights[*at as usize];
                let sigma = ((weight.n + gradient * gradient).sqrt() - weight.n.sqrt()) / settings.step;
                weight.z += gradient - sigma * weight.value;
                weight.n += gradient * gradient;
                let excess = weight.z.abs() - l1;
                weight.value = if excess <= 0.0 {
                    0.0
                } else {
                    -weight.z.signum() * excess / (weight.n.sqrt() / settings.step + settings.l2)
                };
            }
        }
    }
    names
        .into_iter()
        .zip(weights)
        .filter(|(_, weight)| weight.value != 0.0)
        .map(|(name, weight)| (name, weight.value))
        .collect()
}

/// The same order on every machine.
fn shuffle(order: &mut [usize], rng: &mut u64) {
    for place in (1..order.len()).rev() {
        *rng ^= *rng << 13;
        *rng ^= *rng >> 7;
        *rng ^= *rng << 17;
        order.swap(place, (*rng % (place as u64 + 1)) as usize);
    }
}
