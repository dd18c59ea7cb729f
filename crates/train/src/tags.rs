//! Learns to choose parts of speech: a conditional random field, by stochastic gradient descent.

use std::collections::{BTreeMap, HashMap};

use tidings_annotate::tagger::bytes::Reader;
use tidings_annotate::tagger::chain::{Chain, MOST_TAGS};
use tidings_annotate::tagger::features::{self, LEXICAL};
use tidings_annotate::tagger::words::{CLASSED_ENDS, Classes, Word};
use tidings_annotate::tagger::{Models, Sparse};

use crate::adagrad::AdaGrad;
use crate::dice::Dice;
use crate::model::Material;
use crate::treebank::Sentence;

/// How to learn.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The optimiser.
    pub adagrad: AdaGrad,
    /// How often what is known of the word itself is left out: this share of words seen once, less of others.
    pub forget: f32,
    /// How often any other feature is left out.
    pub noise: f32,
    /// Features seen less often are not learned.
    pub least: u32,
    /// Words seen less often have no class.
    pub class_least: u32,
    /// Weights below this are left out.
    pub keep: f32,
    /// If the weights are larger than this when they are packed, more of them are left out.
    pub most_bytes: usize,
    /// Two to the power of this is the number of places for features.
    pub bits: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            adagrad: AdaGrad { epochs: 8, step: 0.15, initial_squares: 0.1, l1: 0.0005 },
            forget: 0.5,
            noise: 0.2,
            least: 2,
            class_least: 2,
            keep: 0.06,
            most_bytes: 330_000,
            bits: 21,
        }
    }
}

/// What the strongest weight of a row must be if weights below `keep` are left out. Where that is more than usual there are too
/// many, and a row costs more than its weights.
pub(crate) fn least_of_row(keep: f32, usual: f32) -> f32 {
    if keep > usual { keep * 2.0 } else { keep }
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
    simple.truncate(MOST_TAGS);
    let mut joined: Vec<_> = joined.into_iter().filter(|(_, count)| *count >= 4).collect();
    joined.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    joined.truncate(MOST_TAGS - simple.len());
    simple.into_iter().chain(joined).map(|(tag, _)| tag.to_owned()).collect()
}

/// The number of a tag; a joined tag that is too rare counts as that of its weightiest part.
pub fn number(tags: &[String], tag: &str) -> u8 {
    let find = |tag: &str| tags.iter().position(|known| known == tag);
    let weighty = ["VERB", "NOUN", "PROPN", "ADJ"];
    let part = || weighty.iter().copied().find(|part| tag.split('+').any(|one| one == *part)).or(tag.split('+').next());
    find(tag).or_else(|| part().and_then(find)).unwrap_or_default() as u8
}

/// Which tags words and ends had, as a part of a model.
fn classes(tags: &[String], material: &Material<'_>, settings: &Settings) -> Vec<u8> {
    let mut of_words: HashMap<u64, Vec<u32>> = HashMap::new();
    let mut words: BTreeMap<u64, Word> = BTreeMap::new();
    for gold in material.own.iter().chain(material.helping).copied().flatten() {
        let word = Word::new(&gold.form);
        words.insert(word.whole, word);
        let counts = of_words.entry(word.whole).or_insert_with(|| vec![0; tags.len()]);
        counts[usize::from(number(tags, &gold.tag))] += 1;
    }
    let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut of_ends: BTreeMap<u64, (u32, Vec<u32>)> = BTreeMap::new();
    for (whole, word) in &words {
        let counts = &of_words[whole];
        for length in CLASSED_ENDS {
            let end = of_ends.entry(word.ends[length - 1]).or_insert_with(|| (0, vec![0; tags.len()]));
            end.0 += 1;
            // An ending is judged by words, not by how often the most frequent of them occurs.
            end.1.iter_mut().zip(counts).for_each(|(sum, count)| *sum += (*count).min(2));
        }
        if counts.iter().sum::<u32>() >= settings.class_least {
            found.insert(Sparse::place(*whole, settings.bits), counts.clone());
        }
    }
    for (end, (types, counts)) in of_ends {
        if types >= 4 {
            found.entry(Sparse::place(end, settings.bits)).or_insert(counts);
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
    let places: Vec<u32> = found.keys().copied().collect();
    let classes: Vec<u8> = found.values().map(of).collect();
    let mut out = Vec::new();
    Classes::write(settings.bits, &places, &classes, &mut out);
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
    forget: Vec<f32>,
    weight: f32,
    /// Whether it is of a related language.
    is_helping: bool,
}

/// What was learned.
pub struct Learned {
    /// Classes of words, as a part of a model.
    pub classes: Vec<u8>,
    field: Field,
    places: Vec<u32>,
    /// Weights below this are left out.
    keep: f32,
    settings: Settings,
}

impl Learned {
    /// Weights of the chain, as a part of a model: of the weakest more are left out, the higher `strictness` is above one.
    pub fn chain(&self, strictness: f32) -> Vec<u8> {
        self.field.write(&self.places, self.keep * strictness, &self.settings)
    }
}

/// Learns from sentences of a language, with the help of others in related ones.
pub fn learn(tags: &[String], material: &Material<'_>, settings: &Settings) -> Learned {
    let packed_classes = classes(tags, material, settings);
    let classes = Classes::read(&mut Reader::new(&packed_classes)).expect("it was just written");
    let (examples, places) = examples(tags, material, &classes, settings);
    let field = Field::learn(tags.len(), places.len(), &examples, settings);
    let mut learned = Learned { classes: packed_classes, field, places, keep: settings.keep, settings: *settings };
    while Models::pack(&learned.chain(1.0)).len() > settings.most_bytes && learned.keep < 2.0 {
        learned.keep *= 1.3;
    }
    learned
}

pub(crate) fn words(sentence: &Sentence, classes: &Classes) -> Vec<Word> {
    let word = |form: &str| {
        let mut word = Word::new(form);
        classes.classify(&mut word);
        word
    };
    sentence.iter().map(|gold| word(&gold.form)).collect()
}

fn examples(
    tags: &[String],
    material: &Material<'_>,
    classes: &Classes,
    settings: &Settings,
) -> (Vec<Example>, Vec<u32>) {
    let helping = if material.help > 0.0 { material.helping } else { &[] };
    let own = material.own.len();
    let all = || material.own.iter().chain(helping).copied();
    let mut counts: HashMap<u64, u32> = HashMap::new();
    let mut seen: HashMap<u64, u32> = HashMap::new();
    let tokens: usize = material.own.iter().map(|sentence| sentence.len()).sum();
    for sentence in all() {
        let words = words(sentence, classes);
        words.iter().for_each(|word| *seen.entry(word.whole).or_default() += 1);
        features::of_sentence(&words, |found| found.iter().for_each(|hash| *counts.entry(*hash).or_default() += 1));
    }
    let mut places: Vec<u32> = counts
        .iter()
        .filter(|(_, count)| **count >= settings.least.max(if tokens > LARGE { 3 } else { 0 }))
        .map(|(hash, _)| Sparse::place(*hash, settings.bits))
        .collect();
    places.sort_unstable();
    places.dedup();
    let examples = all().enumerate().map(|(number_of, sentence)| {
        let words = words(sentence, classes);
        let mut rows = Vec::with_capacity(words.len());
        features::of_sentence(&words, |found| {
            let mut known = Vec::with_capacity(found.len());
            let mut lexical = 0;
            for (place, hash) in found.iter().enumerate() {
                if let Ok(row) = places.binary_search(&Sparse::place(*hash, settings.bits)) {
                    known.push(row as u32);
                    lexical += usize::from(place < LEXICAL);
                }
            }
            rows.push((lexical, known));
        });
        Example {
            rows,
            tags: sentence.iter().map(|gold| number(tags, &gold.tag)).collect(),
            forget: words.iter().map(|word| settings.forget / seen[&word.whole] as f32).collect(),
            weight: if number_of < own { 1.0 } else { material.help },
            is_helping: number_of >= own,
        }
    });
    (examples.collect(), places)
}

/// Weights while they are learned.
struct Field {
    tags: usize,
    weights: Vec<[f32; MOST_TAGS]>,
    steps: Vec<[f32; MOST_TAGS]>,
    /// By the tag before, then by the one that follows; the last row is the beginning of a sentence.
    after: [[f32; MOST_TAGS]; MOST_TAGS + 1],
    after_steps: [[f32; MOST_TAGS]; MOST_TAGS + 1],
}

type Scores = [f32; MOST_TAGS];

impl Field {
    fn learn(tags: usize, rows: usize, examples: &[Example], settings: &Settings) -> Field {
        let blank = [0.0; MOST_TAGS];
        let mut field = Field {
            tags,
            weights: vec![blank; rows],
            steps: vec![[settings.adagrad.initial_squares; MOST_TAGS]; rows],
            after: [blank; MOST_TAGS + 1],
            after_steps: [[settings.adagrad.initial_squares; MOST_TAGS]; MOST_TAGS + 1],
        };
        let mut sums = vec![blank; rows];
        let mut after_sums = field.after;
        let mut dice = Dice::new(11);
        let mut order: Vec<u32> = (0..examples.len() as u32).collect();
        let from = settings.adagrad.epochs / 2;
        for round in 0..settings.adagrad.epochs {
            dice.shuffle(&mut order);
            // In the end a language is alone with itself.
            let helped = round * 2 < settings.adagrad.epochs;
            for place in &order {
                let example = &examples[*place as usize];
                if helped || !example.is_helping {
                    field.step(example, settings, &mut dice);
                }
            }
            if round >= from {
                let add =
                    |sum: &mut Scores, weights: &Scores| sum.iter_mut().zip(weights).for_each(|(sum, one)| *sum += one);
                sums.iter_mut().zip(&field.weights).for_each(|(sum, weights)| add(sum, weights));
                after_sums.iter_mut().zip(&field.after).for_each(|(sum, weights)| add(sum, weights));
            }
        }
        let share = 1.0 / (settings.adagrad.epochs - from) as f32;
        sums.iter_mut().chain(&mut after_sums).flatten().for_each(|sum| *sum *= share);
        field.weights = sums;
        field.after = after_sums;
        field
    }

    /// Learns from one sentence.
    fn step(&mut self, example: &Example, settings: &Settings, dice: &mut Dice) {
        let count = example.tags.len();
        if count == 0 {
            return;
        }
        let tags = self.tags;
        // Which features take part this time.
        let mut active: Vec<Vec<u32>> = Vec::with_capacity(count);
        for ((lexical, rows), forget) in example.rows.iter().zip(&example.forget) {
            let from = if dice.share() < *forget { *lexical } else { 0 };
            active.push(rows[from..].iter().copied().filter(|_| dice.share() >= settings.noise).collect());
        }
        let mut local: Vec<Scores> = Vec::with_capacity(count);
        for rows in &active {
            let mut sum = [0.0; MOST_TAGS];
            for row in rows {
                let weights = &self.weights[*row as usize];
                for tag in 0..MOST_TAGS {
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
        let mut follow = [[0.0; MOST_TAGS]; MOST_TAGS];
        for (row, weights) in follow.iter_mut().zip(&self.after).take(tags) {
            for (one, weight) in row.iter_mut().zip(weights).take(tags) {
                *one = weight.exp();
            }
        }
        // Forward and backward, each step scaled to one.
        let mut forward: Vec<Scores> = vec![[0.0; MOST_TAGS]; count];
        for tag in 0..tags {
            forward[0][tag] = local[0][tag] * self.after[MOST_TAGS][tag].exp();
        }
        scale(&mut forward[0]);
        for place in 1..count {
            let mut sum = [0.0; MOST_TAGS];
            for before in 0..tags {
                let weight = forward[place - 1][before];
                for tag in 0..MOST_TAGS {
                    sum[tag] += weight * follow[before][tag];
                }
            }
            for tag in 0..MOST_TAGS {
                sum[tag] *= local[place][tag];
            }
            scale(&mut sum);
            forward[place] = sum;
        }
        let mut backward = [1.0; MOST_TAGS];
        let mut follow_slopes = [[0.0f32; MOST_TAGS]; MOST_TAGS];
        let mut first_slopes = [0.0f32; MOST_TAGS];
        for place in (0..count).rev() {
            let gold = usize::from(example.tags[place]);
            let mut share = [0.0; MOST_TAGS];
            for tag in 0..MOST_TAGS {
                share[tag] = forward[place][tag] * backward[tag];
            }
            scale(&mut share);
            let mut slopes = share;
            slopes[gold] -= 1.0;
            if slopes[gold] < -0.005 {
                self.update(&active[place], &slopes, example.weight, settings);
            }
            let mut ahead = [0.0; MOST_TAGS];
            for tag in 0..MOST_TAGS {
                ahead[tag] = backward[tag] * local[place][tag];
            }
            if place == 0 {
                first_slopes = slopes;
                break;
            }
            let mut next = [0.0; MOST_TAGS];
            let mut all = 0.0;
            for before in 0..tags {
                let mut sum = 0.0;
                for tag in 0..MOST_TAGS {
                    sum += follow[before][tag] * ahead[tag];
                }
                next[before] = sum;
                all += sum * forward[place - 1][before];
            }
            let all = all.max(1e-30);
            for before in 0..tags {
                let weight = forward[place - 1][before] / all;
                for tag in 0..MOST_TAGS {
                    follow_slopes[before][tag] += weight * follow[before][tag] * ahead[tag];
                }
            }
            follow_slopes[usize::from(example.tags[place - 1])][gold] -= 1.0;
            scale(&mut next);
            backward = next;
        }
        let rows = self.after.iter_mut().zip(&mut self.after_steps).zip(&follow_slopes);
        for ((weights, steps), slopes) in rows.take(tags) {
            settings.adagrad.update(weights, steps, slopes, example.weight);
        }
        settings.adagrad.update(
            &mut self.after[MOST_TAGS],
            &mut self.after_steps[MOST_TAGS],
            &first_slopes,
            example.weight,
        );
    }

    fn update(&mut self, rows: &[u32], slopes: &Scores, weight: f32, settings: &Settings) {
        for row in rows {
            let at = *row as usize;
            settings.adagrad.update(&mut self.weights[at], &mut self.steps[at], slopes, weight);
        }
    }

    /// The weights as a part of a model, rounded, without those that say little.
    fn write(&self, places: &[u32], keep: f32, settings: &Settings) -> Vec<u8> {
        let largest = self.weights.iter().flatten().map(|weight| weight.abs()).fold(0.0, f32::max);
        let unit = (largest / 127.0).clamp(0.04, 0.08);
        let round = |weight: f32| if weight.abs() < keep { 0.0 } else { (weight / unit).round() };
        let least = least_of_row(keep, settings.keep);
        let mut kept = Vec::new();
        let mut rows: Vec<Vec<i8>> = Vec::new();
        for (place, weights) in places.iter().zip(&self.weights) {
            let row: Vec<i8> = weights[..self.tags].iter().map(|one| round(*one).clamp(-127.0, 127.0) as i8).collect();
            if weights[..self.tags].iter().any(|weight| weight.abs() >= least) && row.iter().any(|weight| *weight != 0)
            {
                kept.push(*place);
                rows.push(row);
            }
        }
        let wide = |weight: f32| (weight / unit).round().clamp(-32767.0, 32767.0) as i16;
        let first: Vec<i16> = self.after[MOST_TAGS][..self.tags].iter().map(|one| wide(*one)).collect();
        let follow = |tag: usize| (0..self.tags).map(|before| wide(self.after[before][tag])).collect();
        let after: Vec<Vec<i16>> = (0..self.tags).map(follow).collect();
        let mut out = Vec::new();
        Chain::write(settings.bits, &kept, &rows, &first, &after, &mut out);
        out
    }
}

fn scale(scores: &mut Scores) {
    let sum: f32 = scores.iter().sum();
    let share = 1.0 / sum.max(1e-30);
    scores.iter_mut().for_each(|score| *score *= share);
}
