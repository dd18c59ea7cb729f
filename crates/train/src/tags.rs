//! Training of the part-of-speech tagger: a linear-chain CRF (Lafferty, McCallum and Pereira 2001),
//! optimised by AdaGrad with dropout.
//!
//! Gradients come from the forward-backward algorithm. Lexical features are dropped more often, the
//! more the rarer a word is, so that the others learn to tag unknown words. The weights are
//! averaged over the second half of the epochs.

use std::collections::{BTreeMap, HashMap};

use tidings_annotate::tagger::bytes::Reader;
use tidings_annotate::tagger::crf::{LinearChainCrf, MAX_TAGS};
use tidings_annotate::tagger::features::{self, LEXICAL};
use tidings_annotate::tagger::word::{AmbiguityClasses, CLASSED_SUFFIXES, HashedWord};
use tidings_annotate::tagger::{FeatureIndex, Models};

use crate::adagrad::AdaGrad;
use crate::forward_backward::{Lattice, Scores};
use crate::model::TrainingData;
use crate::rng::Rng;
use crate::treebank::Sentence;

/// Training settings for part-of-speech tags.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Optimiser.
    pub adagrad: AdaGrad,
    /// Dropout rate of lexical features for words seen once; inversely proportional to frequency
    /// for others.
    pub lexical_dropout: f32,
    /// Dropout rate of the other features.
    pub dropout: f32,
    /// Minimum frequency of a feature.
    pub min_count: u32,
    /// Minimum frequency of a word to get an ambiguity class.
    pub min_class_count: u32,
    /// Weights below this are pruned.
    pub min_weight: f32,
    /// Size limit of the compressed weights; more weights are pruned until they fit.
    pub max_bytes: usize,
    /// Number of feature slots as a power of two.
    pub bits: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            adagrad: AdaGrad { epochs: 8, step: 0.15, initial_squares: 0.1, l1: 0.0005 },
            lexical_dropout: 0.5,
            dropout: 0.2,
            min_count: 2,
            min_class_count: 2,
            min_weight: 0.06,
            max_bytes: 330_000,
            bits: 21,
        }
    }
}

/// Minimum of the largest weight of a row, given the pruning threshold. Above the default threshold
/// the model is too large, and rows with small weights cost more than they are worth.
pub(crate) fn min_row_weight(min_weight: f32, usual: f32) -> f32 {
    if min_weight > usual { min_weight * 2.0 } else { min_weight }
}

/// Tags of a language by number.
pub fn tags(sentences: &[&Sentence]) -> Vec<String> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for gold in sentences.iter().copied().flatten() {
        *counts.entry(&gold.tag).or_default() += 1;
    }
    let (joined, mut simple): (Vec<_>, Vec<_>) = counts.into_iter().partition(|(tag, _)| tag.contains('+'));
    // Parts of joined tags are needed for tokens whose joined tag is too rare.
    for (tag, _) in &joined {
        for part in tag.split('+') {
            if !simple.iter().any(|(known, _)| *known == part) {
                simple.push((part, 0));
            }
        }
    }
    simple.truncate(MAX_TAGS);
    let mut joined: Vec<_> = joined.into_iter().filter(|(_, count)| *count >= 4).collect();
    joined.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    joined.truncate(MAX_TAGS - simple.len());
    simple.into_iter().chain(joined).map(|(tag, _)| tag.to_owned()).collect()
}

/// Number of a tag; a joined tag that is too rare is mapped to its main part.
pub fn number(tags: &[String], tag: &str) -> u8 {
    let find = |tag: &str| tags.iter().position(|known| known == tag);
    let weighty = ["VERB", "NOUN", "PROPN", "ADJ"];
    let part = || weighty.iter().copied().find(|part| tag.split('+').any(|one| one == *part)).or(tag.split('+').next());
    find(tag).or_else(|| part().and_then(find)).unwrap_or_default() as u8
}

/// Computes and serialises the ambiguity classes of words and suffixes.
fn classes(tags: &[String], data: &TrainingData<'_>, settings: &Settings) -> Vec<u8> {
    let mut of_words: HashMap<u64, Vec<u32>> = HashMap::new();
    let mut words: BTreeMap<u64, HashedWord> = BTreeMap::new();
    for gold in data.own.iter().chain(data.related).copied().flatten() {
        let word = HashedWord::new(&gold.form);
        words.insert(word.form, word);
        let counts = of_words.entry(word.form).or_insert_with(|| vec![0; tags.len()]);
        counts[usize::from(number(tags, &gold.tag))] += 1;
    }
    let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut of_ends: BTreeMap<u64, (u32, Vec<u32>)> = BTreeMap::new();
    for (whole, word) in &words {
        let counts = &of_words[whole];
        for length in CLASSED_SUFFIXES {
            let end = of_ends.entry(word.suffixes[length - 1]).or_insert_with(|| (0, vec![0; tags.len()]));
            end.0 += 1;
            // Suffixes are counted by word types, with little weight on frequency.
            end.1.iter_mut().zip(counts).for_each(|(sum, count)| *sum += (*count).min(2));
        }
        if counts.iter().sum::<u32>() >= settings.min_class_count {
            found.insert(FeatureIndex::slot(*whole, settings.bits), counts.clone());
        }
    }
    for (end, (types, counts)) in of_ends {
        if types >= 4 {
            found.entry(FeatureIndex::slot(end, settings.bits)).or_insert(counts);
        }
    }
    // Frequent sets of tags get a number; the others use a subset of their most frequent tags.
    let class = |counts: &[u32], most: usize| {
        let all: u32 = counts.iter().sum();
        let mut ranked: Vec<usize> =
            (0..counts.len()).filter(|tag| counts[*tag] * 20 >= all && counts[*tag] > 0).collect();
        ranked.sort_by_key(|tag| std::cmp::Reverse(counts[*tag]));
        ranked.truncate(most);
        ranked
    };
    let mut frequent: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
    for counts in found.values() {
        *frequent.entry(class(counts, 3)).or_default() += 1;
    }
    let singles: Vec<Vec<usize>> = (0..tags.len()).map(|tag| vec![tag]).collect();
    let mut frequent: Vec<(Vec<usize>, u32)> = frequent.into_iter().filter(|(class, _)| class.len() > 1).collect();
    frequent.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named: Vec<Vec<usize>> = singles.into_iter().chain(frequent.into_iter().map(|pair| pair.0)).take(240).collect();
    let numbers: HashMap<&Vec<usize>, u8> =
        named.iter().enumerate().map(|(index, class)| (class, index as u8)).collect();
    let of =
        |counts: &Vec<u32>| (1..=3).rev().find_map(|most| numbers.get(&class(counts, most)).copied()).unwrap_or(255);
    let slots: Vec<u32> = found.keys().copied().collect();
    let classes: Vec<u8> = found.values().map(of).collect();
    let mut out = Vec::new();
    AmbiguityClasses::write(settings.bits, &slots, &classes, &mut out);
    out
}

/// Above this number of tokens, features must occur three times; otherwise the model gets too
/// large.
const LARGE_TREEBANK_TOKENS: usize = 100_000;

/// Sentence as training example.
struct Example {
    /// Number of lexical rows and rows of each token's features; lexical rows come first.
    rows: Vec<(usize, Vec<u32>)>,
    tags: Vec<u8>,
    /// Dropout rate of lexical features by token.
    lexical_dropout: Vec<f32>,
    weight: f32,
    /// The sentence takes part in the first half of the epochs only: it is in a related language or
    /// has less weight than others.
    is_early: bool,
}

/// Trained CRF.
pub struct TrainedCrf {
    /// Serialised ambiguity classes.
    pub classes: Vec<u8>,
    trainer: CrfTrainer,
    slots: Vec<u32>,
    /// Weights below this are pruned.
    min_weight: f32,
    settings: Settings,
}

impl TrainedCrf {
    /// Serialises the CRF; a `strictness` above one prunes more weights.
    pub fn crf(&self, strictness: f32) -> Vec<u8> {
        self.trainer.write(&self.slots, self.min_weight * strictness, &self.settings)
    }
}

/// Trains on sentences of a language and, with less weight, of related languages.
pub fn train(tags: &[String], data: &TrainingData<'_>, settings: &Settings) -> TrainedCrf {
    let class_bytes = classes(tags, data, settings);
    let classes = AmbiguityClasses::read(&mut Reader::new(&class_bytes)).expect("it was just serialised");
    let (examples, slots) = examples(tags, data, &classes, settings);
    let trainer = CrfTrainer::train(tags.len(), slots.len(), &examples, settings);
    let mut trained =
        TrainedCrf { classes: class_bytes, trainer, slots, min_weight: settings.min_weight, settings: *settings };
    while Models::pack(&trained.crf(1.0)).len() > settings.max_bytes && trained.min_weight < 2.0 {
        trained.min_weight *= 1.3;
    }
    trained
}

pub(crate) fn words(sentence: &Sentence, classes: &AmbiguityClasses) -> Vec<HashedWord> {
    let word = |form: &str| {
        let mut word = HashedWord::new(form);
        classes.classify(&mut word);
        word
    };
    sentence.iter().map(|gold| word(&gold.form)).collect()
}

fn examples(
    tags: &[String],
    data: &TrainingData<'_>,
    classes: &AmbiguityClasses,
    settings: &Settings,
) -> (Vec<Example>, Vec<u32>) {
    let related = if data.related_weight > 0.0 { data.related } else { &[] };
    let own = data.own.len();
    let all = || data.own.iter().chain(related).copied();
    let mut counts: HashMap<u64, u32> = HashMap::new();
    let mut seen: HashMap<u64, u32> = HashMap::new();
    let tokens: usize = data.own.iter().map(|sentence| sentence.len()).sum();
    for sentence in all() {
        let words = words(sentence, classes);
        words.iter().for_each(|word| *seen.entry(word.form).or_default() += 1);
        features::of_sentence(&words, |found| found.iter().for_each(|hash| *counts.entry(*hash).or_default() += 1));
    }
    let mut slots: Vec<u32> = counts
        .iter()
        .filter(|(_, count)| **count >= settings.min_count.max(if tokens > LARGE_TREEBANK_TOKENS { 3 } else { 0 }))
        .map(|(hash, _)| FeatureIndex::slot(*hash, settings.bits))
        .collect();
    slots.sort_unstable();
    slots.dedup();
    let examples = all().enumerate().map(|(number_of, sentence)| {
        let own_weight = || data.weights.get(number_of).copied().unwrap_or(1.0);
        let weight = if number_of < own { own_weight() } else { data.related_weight };
        let words = words(sentence, classes);
        let mut rows = Vec::with_capacity(words.len());
        features::of_sentence(&words, |found| {
            let mut known = Vec::with_capacity(found.len());
            let mut lexical = 0;
            for (index, hash) in found.iter().enumerate() {
                if let Ok(row) = slots.binary_search(&FeatureIndex::slot(*hash, settings.bits)) {
                    known.push(row as u32);
                    lexical += usize::from(index < LEXICAL);
                }
            }
            rows.push((lexical, known));
        });
        Example {
            rows,
            tags: sentence.iter().map(|gold| number(tags, &gold.tag)).collect(),
            lexical_dropout: words.iter().map(|word| settings.lexical_dropout / seen[&word.form] as f32).collect(),
            weight,
            is_early: number_of >= own || weight < 1.0,
        }
    });
    (examples.collect(), slots)
}

/// Weights during training.
struct CrfTrainer {
    tags: usize,
    weights: Vec<[f32; MAX_TAGS]>,
    squares: Vec<[f32; MAX_TAGS]>,
    /// Transition weights by the tag before, then by tag; the last row holds the initial weights.
    transitions: [[f32; MAX_TAGS]; MAX_TAGS + 1],
    transition_squares: [[f32; MAX_TAGS]; MAX_TAGS + 1],
}

impl CrfTrainer {
    fn train(tags: usize, rows: usize, examples: &[Example], settings: &Settings) -> CrfTrainer {
        let blank = [0.0; MAX_TAGS];
        let mut trainer = CrfTrainer {
            tags,
            weights: vec![blank; rows],
            squares: vec![[settings.adagrad.initial_squares; MAX_TAGS]; rows],
            transitions: [blank; MAX_TAGS + 1],
            transition_squares: [[settings.adagrad.initial_squares; MAX_TAGS]; MAX_TAGS + 1],
        };
        let mut sums = vec![blank; rows];
        let mut transition_sums = trainer.transitions;
        let mut rng = Rng::new(11);
        let mut order: Vec<u32> = (0..examples.len() as u32).collect();
        let from = settings.adagrad.epochs / 2;
        for epoch in 0..settings.adagrad.epochs {
            rng.shuffle(&mut order);
            let with_early = epoch * 2 < settings.adagrad.epochs;
            for index in &order {
                let example = &examples[*index as usize];
                if with_early || !example.is_early {
                    trainer.step(example, settings, &mut rng);
                }
            }
            if epoch >= from {
                let add =
                    |sum: &mut Scores, weights: &Scores| sum.iter_mut().zip(weights).for_each(|(sum, one)| *sum += one);
                sums.iter_mut().zip(&trainer.weights).for_each(|(sum, weights)| add(sum, weights));
                transition_sums.iter_mut().zip(&trainer.transitions).for_each(|(sum, weights)| add(sum, weights));
            }
        }
        let factor = 1.0 / (settings.adagrad.epochs - from) as f32;
        sums.iter_mut().chain(&mut transition_sums).flatten().for_each(|sum| *sum *= factor);
        trainer.weights = sums;
        trainer.transitions = transition_sums;
        trainer
    }

    /// One training step on a sentence: dropout, forward-backward, then AdaGrad updates.
    fn step(&mut self, example: &Example, settings: &Settings, rng: &mut Rng) {
        if example.tags.is_empty() {
            return;
        }
        let mut active: Vec<Vec<u32>> = Vec::with_capacity(example.rows.len());
        for ((lexical, rows), lexical_dropout) in example.rows.iter().zip(&example.lexical_dropout) {
            let from = if rng.unit_f32() < *lexical_dropout { *lexical } else { 0 };
            active.push(rows[from..].iter().copied().filter(|_| rng.unit_f32() >= settings.dropout).collect());
        }
        let gradients = self.lattice(&active).gradients(&example.tags);
        for (index, rows) in active.iter().enumerate().rev() {
            // Confidently correct tokens are skipped, which saves most of the time.
            if gradients.emissions[index][usize::from(example.tags[index])] < -0.005 {
                self.update(rows, &gradients.emissions[index], example.weight, settings);
            }
        }
        let (by_tag, initial) = self.transitions.split_at_mut(MAX_TAGS);
        let (squares, initial_squares) = self.transition_squares.split_at_mut(MAX_TAGS);
        for ((weights, squares), gradients) in
            by_tag.iter_mut().zip(squares).zip(&gradients.transitions).take(self.tags)
        {
            settings.adagrad.update(weights, squares, gradients, example.weight);
        }
        settings.adagrad.update(&mut initial[0], &mut initial_squares[0], &gradients.emissions[0], example.weight);
    }

    /// Exponentiated scores of a sentence with these rows of features active.
    fn lattice(&self, active: &[Vec<u32>]) -> Lattice {
        let exp = |weights: &Scores| -> Scores {
            std::array::from_fn(|tag| if tag < self.tags { weights[tag].exp() } else { 0.0 })
        };
        let emissions = active.iter().map(|rows| {
            let mut sum = [0.0; MAX_TAGS];
            for row in rows {
                let weights = &self.weights[*row as usize];
                for tag in 0..MAX_TAGS {
                    sum[tag] += weights[tag];
                }
            }
            // Relative to the highest score, so that `exp` cannot overflow.
            let highest = sum[..self.tags].iter().copied().fold(f32::MIN, f32::max);
            sum.iter_mut().for_each(|score| *score -= highest);
            exp(&sum)
        });
        let mut transitions = [[0.0; MAX_TAGS]; MAX_TAGS];
        transitions.iter_mut().zip(&self.transitions).take(self.tags).for_each(|(row, weights)| *row = exp(weights));
        Lattice {
            tags: self.tags,
            emissions: emissions.collect(),
            initial: exp(&self.transitions[MAX_TAGS]),
            transitions,
        }
    }

    fn update(&mut self, rows: &[u32], gradients: &Scores, weight: f32, settings: &Settings) {
        for row in rows {
            let at = *row as usize;
            settings.adagrad.update(&mut self.weights[at], &mut self.squares[at], gradients, weight);
        }
    }

    /// Serialises the CRF with weights quantised to a byte and small ones pruned.
    fn write(&self, slots: &[u32], min_weight: f32, settings: &Settings) -> Vec<u8> {
        let largest = self.weights.iter().flatten().map(|weight| weight.abs()).fold(0.0, f32::max);
        let unit = (largest / 127.0).clamp(0.08, 0.12);
        let round = |weight: f32| if weight.abs() < min_weight { 0.0 } else { (weight / unit).round() };
        let least = min_row_weight(min_weight, settings.min_weight);
        let mut kept = Vec::new();
        let mut rows: Vec<Vec<i8>> = Vec::new();
        for (slot, weights) in slots.iter().zip(&self.weights) {
            let row: Vec<i8> = weights[..self.tags].iter().map(|one| round(*one).clamp(-127.0, 127.0) as i8).collect();
            if weights[..self.tags].iter().any(|weight| weight.abs() >= least) && row.iter().any(|weight| *weight != 0)
            {
                kept.push(*slot);
                rows.push(row);
            }
        }
        let wide = |weight: f32| (weight / unit).round().clamp(-32767.0, 32767.0) as i16;
        let initial: Vec<i16> = self.transitions[MAX_TAGS][..self.tags].iter().map(|one| wide(*one)).collect();
        let column = |tag: usize| (0..self.tags).map(|before| wide(self.transitions[before][tag])).collect();
        let transitions: Vec<Vec<i16>> = (0..self.tags).map(column).collect();
        let mut out = Vec::new();
        LinearChainCrf::write(settings.bits, &kept, &rows, &initial, &transitions, &mut out);
        out
    }
}
