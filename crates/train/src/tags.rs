//! Learns to choose parts of speech: a conditional random field, by stochastic gradient descent.

use std::collections::{BTreeMap, HashMap};

use tidings_annotate::tagger::bytes::Reader;
use tidings_annotate::tagger::crf::{LinearChainCrf, MAX_TAGS};
use tidings_annotate::tagger::features::{self, LEXICAL};
use tidings_annotate::tagger::word::{AmbiguityClasses, CLASSED_SUFFIXES, HashedWord};
use tidings_annotate::tagger::{FeatureIndex, Models};

use crate::adagrad::AdaGrad;
use crate::model::TrainingData;
use crate::rng::Rng;
use crate::treebank::Sentence;

/// How to learn.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The optimiser.
    pub adagrad: AdaGrad,
    /// How often what is known of the word itself is left out: this share of words seen once, less of others.
    pub lexical_dropout: f32,
    /// How often any other feature is left out.
    pub dropout: f32,
    /// Features seen less often are not learned.
    pub min_count: u32,
    /// Words seen less often have no class.
    pub min_class_count: u32,
    /// Weights below this are left out.
    pub min_weight: f32,
    /// If the weights are larger than this when they are packed, more of them are left out.
    pub max_bytes: usize,
    /// Two to the power of this is the number of slots for features.
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

/// What the strongest weight of a row must be if weights below `keep` are left out. Where that is more than usual there are too
/// many, and a row costs more than its weights.
pub(crate) fn min_row_weight(min_weight: f32, usual: f32) -> f32 {
    if min_weight > usual { min_weight * 2.0 } else { min_weight }
}

/// The tags of a language, by their number.
pub fn tags(sentences: &[&Sentence]) -> Vec<String> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for gold in sentences.iter().copied().flatten() {
        *counts.entry(&gold.tag).or_default() += 1;
    }
    let (joined, mut simple): (Vec<_>, Vec<_>) = counts.into_iter().partition(|(tag, _)| tag.contains('+'));
    // Parts of tokens that stand for several words are needed when a rare joined tag is taken apart.
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

/// The number of a tag; a joined tag that is too rare counts as that of its weightiest part.
pub fn number(tags: &[String], tag: &str) -> u8 {
    let find = |tag: &str| tags.iter().position(|known| known == tag);
    let weighty = ["VERB", "NOUN", "PROPN", "ADJ"];
    let part = || weighty.iter().copied().find(|part| tag.split('+').any(|one| one == *part)).or(tag.split('+').next());
    find(tag).or_else(|| part().and_then(find)).unwrap_or_default() as u8
}

/// Origin tags words and ends had, as a part of a model.
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
            // An ending is judged by words, not by how often the most frequent of them occurs.
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
    // The most frequent sets of tags have a number of their own, all others that of their first tag.
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
        named.iter().enumerate().map(|(place, class)| (class, place as u8)).collect();
    let of =
        |counts: &Vec<u32>| (1..=3).rev().find_map(|most| numbers.get(&class(counts, most)).copied()).unwrap_or(255);
    let slots: Vec<u32> = found.keys().copied().collect();
    let classes: Vec<u8> = found.values().map(of).collect();
    let mut out = Vec::new();
    AmbiguityClasses::write(settings.bits, &slots, &classes, &mut out);
    out
}

/// Of more tokens than this, features must have been seen three times: there are too many for a small model.
const LARGE: usize = 100_000;

/// A sentence as numbers.
struct Example {
    /// The rows of each token's features; those that know the word first.
    rows: Vec<(usize, Vec<u32>)>,
    tags: Vec<u8>,
    /// How often each word is forgotten.
    lexical_dropout: Vec<f32>,
    weight: f32,
    /// Whether it is of a related language.
    is_related: bool,
}

/// What was learned.
pub struct Learned {
    /// AmbiguityClasses of words, as a part of a model.
    pub classes: Vec<u8>,
    field: CrfTrainer,
    slots: Vec<u32>,
    /// Weights below this are left out.
    min_weight: f32,
    settings: Settings,
}

impl Learned {
    /// Weights of the chain, as a part of a model: of the weakest more are left out, the higher `strictness` is above one.
    pub fn crf(&self, strictness: f32) -> Vec<u8> {
        self.field.write(&self.slots, self.min_weight * strictness, &self.settings)
    }
}

/// Learns from sentences of a language, with the help of others in related ones.
pub fn learn(tags: &[String], data: &TrainingData<'_>, settings: &Settings) -> Learned {
    let class_bytes = classes(tags, data, settings);
    let classes = AmbiguityClasses::read(&mut Reader::new(&class_bytes)).expect("it was just written");
    let (examples, slots) = examples(tags, data, &classes, settings);
    let field = CrfTrainer::learn(tags.len(), slots.len(), &examples, settings);
    let mut learned =
        Learned { classes: class_bytes, field, slots, min_weight: settings.min_weight, settings: *settings };
    while Models::pack(&learned.crf(1.0)).len() > settings.max_bytes && learned.min_weight < 2.0 {
        learned.min_weight *= 1.3;
    }
    learned
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
        .filter(|(_, count)| **count >= settings.min_count.max(if tokens > LARGE { 3 } else { 0 }))
        .map(|(hash, _)| FeatureIndex::slot(*hash, settings.bits))
        .collect();
    slots.sort_unstable();
    slots.dedup();
    let examples = all().enumerate().map(|(number_of, sentence)| {
        let words = words(sentence, classes);
        let mut rows = Vec::with_capacity(words.len());
        features::of_sentence(&words, |found| {
            let mut known = Vec::with_capacity(found.len());
            let mut lexical = 0;
            for (place, hash) in found.iter().enumerate() {
                if let Ok(row) = slots.binary_search(&FeatureIndex::slot(*hash, settings.bits)) {
                    known.push(row as u32);
                    lexical += usize::from(place < LEXICAL);
                }
            }
            rows.push((lexical, known));
        });
        Example {
            rows,
            tags: sentence.iter().map(|gold| number(tags, &gold.tag)).collect(),
            lexical_dropout: words.iter().map(|word| settings.lexical_dropout / seen[&word.form] as f32).collect(),
            weight: if number_of < own { 1.0 } else { data.related_weight },
            is_related: number_of >= own,
        }
    });
    (examples.collect(), slots)
}

/// Weights while they are learned.
struct CrfTrainer {
    tags: usize,
    weights: Vec<[f32; MAX_TAGS]>,
    squares: Vec<[f32; MAX_TAGS]>,
    /// By the tag before, then by the one that follows; the last row is the beginning of a sentence.
    transitions: [[f32; MAX_TAGS]; MAX_TAGS + 1],
    transition_squares: [[f32; MAX_TAGS]; MAX_TAGS + 1],
}

type Scores = [f32; MAX_TAGS];

impl CrfTrainer {
    fn learn(tags: usize, rows: usize, examples: &[Example], settings: &Settings) -> CrfTrainer {
        let blank = [0.0; MAX_TAGS];
        let mut field = CrfTrainer {
            tags,
            weights: vec![blank; rows],
            squares: vec![[settings.adagrad.initial_squares; MAX_TAGS]; rows],
            transitions: [blank; MAX_TAGS + 1],
            transition_squares: [[settings.adagrad.initial_squares; MAX_TAGS]; MAX_TAGS + 1],
        };
        let mut sums = vec![blank; rows];
        let mut transition_sums = field.transitions;
        let mut rng = Rng::new(11);
        let mut order: Vec<u32> = (0..examples.len() as u32).collect();
        let from = settings.adagrad.epochs / 2;
        for epoch in 0..settings.adagrad.epochs {
            rng.shuffle(&mut order);
            // In the end a language is alone with itself.
            let with_related = epoch * 2 < settings.adagrad.epochs;
            for place in &order {
                let example = &examples[*place as usize];
                if with_related || !example.is_related {
                    field.step(example, settings, &mut rng);
                }
            }
            if epoch >= from {
                let add =
                    |sum: &mut Scores, weights: &Scores| sum.iter_mut().zip(weights).for_each(|(sum, one)| *sum += one);
                sums.iter_mut().zip(&field.weights).for_each(|(sum, weights)| add(sum, weights));
                transition_sums.iter_mut().zip(&field.transitions).for_each(|(sum, weights)| add(sum, weights));
            }
        }
        let share = 1.0 / (settings.adagrad.epochs - from) as f32;
        sums.iter_mut().chain(&mut transition_sums).flatten().for_each(|sum| *sum *= share);
        field.weights = sums;
        field.transitions = transition_sums;
        field
    }

    /// Learns from one sentence.
    fn step(&mut self, example: &Example, settings: &Settings, rng: &mut Rng) {
        let count = example.tags.len();
        if count == 0 {
            return;
        }
        let tags = self.tags;
        // Origin features take part this time.
        let mut active: Vec<Vec<u32>> = Vec::with_capacity(count);
        for ((lexical, rows), lexical_dropout) in example.rows.iter().zip(&example.lexical_dropout) {
            let from = if rng.unit_f32() < *lexical_dropout { *lexical } else { 0 };
            active.push(rows[from..].iter().copied().filter(|_| rng.unit_f32() >= settings.dropout).collect());
        }
        let mut local: Vec<Scores> = Vec::with_capacity(count);
        for rows in &active {
            let mut sum = [0.0; MAX_TAGS];
            for row in rows {
                let weights = &self.weights[*row as usize];
                for tag in 0..MAX_TAGS {
                    sum[tag] += weights[tag];
                }
            }
            let highest = sum[..tags].iter().copied().fold(f32::MIN, f32::max);
            for score in &mut sum[..tags] {
                *score = (*score - highest).exp();
            }
            sum[tags..].fill(0.0);
            local.push(sum);
        }
        let mut exp_transitions = [[0.0; MAX_TAGS]; MAX_TAGS];
        for (row, weights) in exp_transitions.iter_mut().zip(&self.transitions).take(tags) {
            for (one, weight) in row.iter_mut().zip(weights).take(tags) {
                *one = weight.exp();
            }
        }
        // Forward and backward, each step scaled to one.
        let mut forward: Vec<Scores> = vec![[0.0; MAX_TAGS]; count];
        for tag in 0..tags {
            forward[0][tag] = local[0][tag] * self.transitions[MAX_TAGS][tag].exp();
        }
        scale(&mut forward[0]);
        for place in 1..count {
            let mut sum = [0.0; MAX_TAGS];
            for before in 0..tags {
                let weight = forward[place - 1][before];
                for tag in 0..MAX_TAGS {
                    sum[tag] += weight * exp_transitions[before][tag];
                }
            }
            for tag in 0..MAX_TAGS {
                sum[tag] *= local[place][tag];
            }
            scale(&mut sum);
            forward[place] = sum;
        }
        let mut backward = [1.0; MAX_TAGS];
        let mut transition_gradients = [[0.0f32; MAX_TAGS]; MAX_TAGS];
        let mut initial_gradients = [0.0f32; MAX_TAGS];
        for place in (0..count).rev() {
            let gold = usize::from(example.tags[place]);
            let mut share = [0.0; MAX_TAGS];
            for tag in 0..MAX_TAGS {
                share[tag] = forward[place][tag] * backward[tag];
            }
            scale(&mut share);
            let mut gradients = share;
            gradients[gold] -= 1.0;
            if gradients[gold] < -0.005 {
                self.update(&active[place], &gradients, example.weight, settings);
            }
            let mut ahead = [0.0; MAX_TAGS];
            for tag in 0..MAX_TAGS {
                ahead[tag] = backward[tag] * local[place][tag];
            }
            if place == 0 {
                initial_gradients = gradients;
                break;
            }
            let mut next = [0.0; MAX_TAGS];
            let mut all = 0.0;
            for before in 0..tags {
                let mut sum = 0.0;
                for tag in 0..MAX_TAGS {
                    sum += exp_transitions[before][tag] * ahead[tag];
                }
                next[before] = sum;
                all += sum * forward[place - 1][before];
            }
            let all = all.max(1e-30);
            for before in 0..tags {
                let weight = forward[place - 1][before] / all;
                for tag in 0..MAX_TAGS {
                    transition_gradients[before][tag] += weight * exp_transitions[before][tag] * ahead[tag];
                }
            }
            transition_gradients[usize::from(example.tags[place - 1])][gold] -= 1.0;
            scale(&mut next);
            backward = next;
        }
        let rows = self.transitions.iter_mut().zip(&mut self.transition_squares).zip(&transition_gradients);
        for ((weights, squares), gradients) in rows.take(tags) {
            settings.adagrad.update(weights, squares, gradients, example.weight);
        }
        settings.adagrad.update(
            &mut self.transitions[MAX_TAGS],
            &mut self.transition_squares[MAX_TAGS],
            &initial_gradients,
            example.weight,
        );
    }

    fn update(&mut self, rows: &[u32], gradients: &Scores, weight: f32, settings: &Settings) {
        for row in rows {
            let at = *row as usize;
            settings.adagrad.update(&mut self.weights[at], &mut self.squares[at], gradients, weight);
        }
    }

    /// The weights as a part of a model, rounded, without those that say little.
    fn write(&self, slots: &[u32], min_weight: f32, settings: &Settings) -> Vec<u8> {
        let largest = self.weights.iter().flatten().map(|weight| weight.abs()).fold(0.0, f32::max);
        let unit = (largest / 127.0).clamp(0.04, 0.08);
        let round = |weight: f32| if weight.abs() < min_weight { 0.0 } else { (weight / unit).round() };
        let least = min_row_weight(min_weight, settings.min_weight);
        let mut kept = Vec::new();
        let mut rows: Vec<Vec<i8>> = Vec::new();
        for (place, weights) in slots.iter().zip(&self.weights) {
            let row: Vec<i8> = weights[..self.tags].iter().map(|one| round(*one).clamp(-127.0, 127.0) as i8).collect();
            if weights[..self.tags].iter().any(|weight| weight.abs() >= least) && row.iter().any(|weight| *weight != 0)
            {
                kept.push(*place);
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

fn scale(scores: &mut Scores) {
    let sum: f32 = scores.iter().sum();
    let share = 1.0 / sum.max(1e-30);
    scores.iter_mut().for_each(|score| *score *= share);
}
