//! Trains boundary models on treebanks: logistic regression by FTRL-Proximal (McMahan et al. 2013).
//!
//! The verdict of the rules is a fixed offset; the weights learn when to overrule it. L1
//! regularisation keeps most weights at zero, so that models are small and conservative on text
//! unlike the treebanks.

use std::collections::{HashMap, HashSet};

use tidings_annotate::{BoundaryModel, DecisionHook, RULE_WEIGHT, Segmenter};

use crate::treebank::{Document, Treebank};

/// Training settings.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Passes over the examples.
    pub epochs: usize,
    /// L1 penalty, for token and sentence boundaries.
    pub l1: [f32; 2],
    /// Learning rate.
    pub step: f32,
    /// L2 penalty.
    pub l2: f32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { epochs: 10, l1: [0.5, 0.8], step: 0.15, l2: 1.0 }
    }
}

/// Size limit of a model; above it, more weights of tokens are drawn to zero.
const MAX_BYTES: usize = 500_000;

/// Decision of the rules with the correct one.
struct Example {
    verdict: bool,
    right: bool,
    features: Vec<u32>,
}

/// Decides as the treebank does and collects examples.
struct ExampleCollector<'d> {
    ends: &'d (HashSet<usize>, HashSet<usize>),
    tokens: Vec<Example>,
    sentences: Vec<Example>,
}

impl DecisionHook for ExampleCollector<'_> {
    fn token(&mut self, offset: usize, verdict: bool, features: &[u32]) -> bool {
        let right = self.ends.0.contains(&offset);
        self.tokens.push(Example { verdict, right, features: features.to_vec() });
        right
    }

    fn sentence(&mut self, offset: usize, verdict: bool, _: f32, features: &[u32]) -> bool {
        let right = self.ends.1.contains(&offset);
        self.sentences.push(Example { verdict, right, features: features.to_vec() });
        right
    }
}

/// Trains on treebanks of a language; returns the model file.
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
        // Spaces before punctuation are an artefact of treebanks: train on the natural spelling as
        // well.
        if treebank.has_spaced_punctuation() {
            treebank.documents.iter().map(Document::with_natural_spacing).for_each(|document| read(&document));
        }
    }
    let sentences = fit(&sentences, settings, settings.l1[1]);
    let mut l1 = settings.l1[0];
    loop {
        let tokens = fit(&tokens, settings, l1);
        let model = BoundaryModel::write(&tokens, &sentences);
        if model.len() <= MAX_BYTES || tokens.is_empty() {
            return model;
        }
        l1 *= 1.5;
    }
}

/// Weight with the state of FTRL-Proximal.
#[derive(Clone, Copy, Default)]
struct Weight {
    /// Accumulated gradients, adjusted for the change of the learning rate.
    z: f32,
    /// Sum of squared gradients.
    n: f32,
    value: f32,
}

fn fit(examples: &[Example], settings: Settings, l1: f32) -> Vec<(u32, f32)> {
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut names = Vec::new();
    let indexed: Vec<Vec<u32>> = examples
        .iter()
        .map(|example| {
            let number = |feature: &u32| {
                *numbers.entry(*feature).or_insert_with(|| {
                    names.push(*feature);
                    names.len() as u32 - 1
                })
            };
            example.features.iter().map(number).collect()
        })
        .collect();
    let mut weights = vec![Weight::default(); names.len()];
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut rng = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..settings.epochs {
        shuffle(&mut order, &mut rng);
        for &index in &order {
            let example = &examples[index];
            let rule_weight = if example.verdict { RULE_WEIGHT } else { -RULE_WEIGHT };
            let score = indexed[index].iter().fold(rule_weight, |score, at| score + weights[*at as usize].value);
            let gradient = 1.0 / (1.0 + (-score).exp()) - f32::from(u8::from(example.right));
            if gradient.abs() < 0.001 {
                continue;
            }
            for at in &indexed[index] {
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

/// Fisher-Yates shuffle with a xorshift generator; the same order on every machine.
fn shuffle(order: &mut [usize], rng: &mut u64) {
    for index in (1..order.len()).rev() {
        *rng ^= *rng << 13;
        *rng ^= *rng >> 7;
        *rng ^= *rng << 17;
        order.swap(index, (*rng % (index as u64 + 1)) as usize);
    }
}
