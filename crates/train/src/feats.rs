//! Training of the model for morphological features: a conditional random field over the candidate
//! bundles of each word, optimised by AdaGrad with dropout.
//!
//! Values of features have weights, so that rare bundles profit from frequent ones with the same
//! values. Pairs of words that can agree are linked; gradients come from the forward-backward
//! algorithm over those links.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tidings_annotate::tagger::bytes::Reader;
use tidings_annotate::tagger::feats::{
    self, ATTRIBUTES, Agreement, FeatsModel, HashedLemma, LEXICAL, MAX_BUNDLES, MAX_CANDIDATES, MAX_VALUES, RELATIONS,
    WrittenBundles, agreement, pairs, relations, roles, unambiguous, union_of_values, word_features,
};
use tidings_annotate::tagger::word::AmbiguityClasses;
use tidings_annotate::tagger::{FeatureIndex, Models};

use crate::adagrad::AdaGrad;
use crate::rng::Rng;
use crate::tags::{self, min_row_weight};
use crate::treebank::{GoldToken, Sentence};

/// Training settings for morphological features.
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
    /// Minimum frequency of an attribute, per thousand tokens.
    pub min_per_mille: f32,
    /// Words seen this often with a tag, and always with the same bundle, are stored as
    /// unambiguous.
    pub unambiguous_count: u32,
    /// Maximum number of wrong bundles of a word that take part in training.
    pub candidates: usize,
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
            adagrad: AdaGrad { epochs: 10, step: 0.1, initial_squares: 0.1, l1: 0.0005 },
            lexical_dropout: 0.25,
            dropout: 0.3,
            min_count: 2,
            min_per_mille: 0.5,
            unambiguous_count: 10,
            candidates: 2 * MAX_CANDIDATES,
            min_weight: 0.06,
            max_bytes: 150_000,
            bits: 21,
        }
    }
}

type Scores = [f32; MAX_VALUES];

/// Values of each syntactic word of a token.
type Parts = Vec<Vec<u8>>;

/// Values and bundles of the training data.
struct Inventory {
    /// Texts such as `Case=Gen`, in output order.
    values: Vec<String>,
    /// Bundles by tag, sorted by their merged values.
    bundles: Vec<Vec<Parts>>,
    /// Merged values of the same bundles.
    lists: Vec<Vec<Vec<u8>>>,
    /// Agreeing values of the same bundles.
    agreements: Vec<Vec<Agreement>>,
}

impl Inventory {
    fn new(tags: &[String], sentences: &[&Sentence], settings: &Settings) -> Inventory {
        let mut counts: BTreeMap<&str, BTreeMap<&str, u32>> = BTreeMap::new();
        let mut tokens = 0;
        for gold in sentences.iter().copied().flatten() {
            let Some(feats) = &gold.feats else { continue };
            tokens += 1;
            for pair in feats.split(['+', '|']) {
                let Some((attribute, _)) = pair.split_once('=') else { continue };
                *counts.entry(attribute).or_default().entry(pair).or_default() += 1;
            }
        }
        counts
            .retain(|_, values| values.values().sum::<u32>() as f32 >= settings.min_per_mille * tokens as f32 / 1000.0);
        let mut ranked: Vec<(&str, u32)> = counts.into_values().flatten().collect();
        ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        ranked.truncate(MAX_VALUES);
        let position = |value: &str| {
            let name = value.split('=').next().unwrap_or_default();
            ATTRIBUTES.iter().position(|attribute| *attribute == name)
        };
        ranked.sort_by_key(|(value, _)| (position(value), *value));
        let values: Vec<String> = ranked.into_iter().map(|(value, _)| value.to_owned()).collect();
        let mut found = Inventory {
            values,
            bundles: vec![Vec::new(); tags.len()],
            lists: vec![Vec::new(); tags.len()],
            agreements: vec![Vec::new(); tags.len()],
        };
        let mut bundles: Vec<BTreeSet<(Vec<u8>, Parts)>> = vec![BTreeSet::new(); tags.len()];
        for gold in sentences.iter().copied().flatten() {
            let tag = usize::from(tags::number(tags, &gold.tag));
            if let Some(parts) = found.parts(gold).filter(|_| tags[tag] == gold.tag) {
                bundles[tag].insert((union_of_values(&parts), parts));
            }
        }
        for (tag, bundles) in bundles.into_iter().enumerate() {
            for (list, parts) in bundles.into_iter().take(MAX_BUNDLES) {
                found.agreements[tag].push(agreement(&parts, &found.values));
                found.bundles[tag].push(parts);
                found.lists[tag].push(list);
            }
        }
        found
    }

    /// Returns true if words with this tag can agree with others.
    fn agrees(&self, tag: u8) -> bool {
        self.agreements[usize::from(tag)].iter().any(|one| *one != Agreement::default())
    }

    /// Values of a token by syntactic word; unsupported values are dropped.
    fn parts(&self, gold: &GoldToken) -> Option<Parts> {
        let number = |pair: &str| self.values.iter().position(|value| value == pair).map(|index| index as u8);
        let feats = gold.feats.as_ref()?;
        Some(feats.split('+').map(|part| part.split('|').filter_map(number).collect()).collect())
    }

    /// Number of a token's bundle among those of its tag.
    fn bundle(&self, tag: u8, gold: &GoldToken) -> Option<usize> {
        let parts = self.parts(gold)?;
        self.bundles[usize::from(tag)].iter().position(|bundle| *bundle == parts)
    }
}

/// Token as training example.
struct Example {
    tag: u8,
    bundle: usize,
    /// Rows and dropout rates of lexical features.
    lexical: Vec<(u32, f32)>,
    /// Rows of the other features.
    rows: Vec<u32>,
    /// The earlier example that it can agree with, and the rows of their tag pair.
    link: Option<(usize, [u32; 2])>,
}

/// Example before its features are numbered: feature hashes, and the hashes of word and lemma.
type HashedExample = (Example, Vec<u64>, [u64; LEXICAL]);

/// Numbered training data.
struct TrainingSet {
    sentences: Vec<Vec<Example>>,
    /// Slot of each feature row.
    slots: Vec<u32>,
    /// Slot of each tag pair row.
    pair_slots: Vec<u32>,
    /// Unambiguous words: slot and bundle.
    unambiguous: Vec<(u32, u16)>,
}

/// Trained model of morphological features.
pub struct TrainedFeats {
    inventory: Inventory,
    training: TrainingSet,
    trainer: FeatsTrainer,
    /// Weights below this are pruned.
    min_weight: f32,
    settings: Settings,
}

impl TrainedFeats {
    /// Serialises the model; a `strictness` above one prunes more weights.
    pub fn write(&self, strictness: f32) -> Vec<u8> {
        self.trainer.write(&self.inventory, &self.training, self.min_weight * strictness, &self.settings)
    }
}

/// Trains on sentences of a language, given its ambiguity classes.
pub fn train(tags: &[String], own: &[&Sentence], classes: &[u8], settings: &Settings) -> TrainedFeats {
    let classes = AmbiguityClasses::read(&mut Reader::new(classes)).expect("it was just serialised");
    let inventory = Inventory::new(tags, own, settings);
    let training = TrainingSet::new(tags, own, &classes, &inventory, settings);
    let trainer = FeatsTrainer::train(&inventory, &training, settings);
    let mut trained =
        TrainedFeats { inventory, training, trainer, min_weight: settings.min_weight, settings: *settings };
    while Models::pack(&trained.write(1.0)).len() > settings.max_bytes && trained.min_weight < 2.0 {
        trained.min_weight *= 1.3;
    }
    trained
}

impl TrainingSet {
    fn new(
        tags: &[String],
        sentences: &[&Sentence],
        classes: &AmbiguityClasses,
        inventory: &Inventory,
        settings: &Settings,
    ) -> TrainingSet {
        let mut seen: HashMap<u64, u32> = HashMap::new();
        let mut counts: HashMap<u64, u32> = HashMap::new();
        let mut pair_counts: BTreeMap<u32, u32> = BTreeMap::new();
        let mut bundles: BTreeMap<u64, BTreeMap<usize, u32>> = BTreeMap::new();
        let roles = roles(tags);
        let mut hashed: Vec<Vec<HashedExample>> = Vec::new();
        for sentence in sentences {
            let words = tags::words(sentence, classes);
            let numbers: Vec<u8> = sentence.iter().map(|gold| tags::number(tags, &gold.tag)).collect();
            let mut examples = Vec::new();
            // The last word that can agree: its index in the sentence, and among the examples.
            let mut last: Option<(usize, usize)> = None;
            let lemma = |gold: &GoldToken| HashedLemma::new(gold.lemma.as_ref().unwrap_or(&gold.form));
            let lemmas: Vec<HashedLemma> = sentence.iter().map(lemma).collect();
            feats::of_sentence(&roles, &words, &numbers, |index, around| {
                let (gold, tag, word) = (&sentence[index], numbers[index], &words[index]);
                *seen.entry(word.form).or_default() += 1;
                *seen.entry(lemmas[index].form).or_default() += 1;
                // Words with a rare joined tag are tagged as one of its parts, which never has
                // their bundle.
                let bundle = inventory.bundle(tag, gold).filter(|_| tags[usize::from(tag)] == gold.tag);
                let Some(bundle) = bundle else { return };
                *bundles.entry(unambiguous(word, tag)).or_default().entry(bundle).or_default() += 1;
                let mut hashes: Vec<u64> = Vec::new();
                if inventory.bundles[usize::from(tag)].len() > 1 {
                    hashes.extend(word_features(word, &lemmas[index], tag).into_iter().chain(around()));
                }
                hashes.iter().for_each(|hash| *counts.entry(*hash).or_default() += 1);
                let mut example = Example { tag, bundle, rows: Vec::new(), lexical: Vec::new(), link: None };
                if inventory.agrees(tag) {
                    if let Some((before, number)) = last {
                        let between = (before + 1 < index).then(|| numbers[index - 1]);
                        let slots = pairs(numbers[before], tag, between);
                        slots.iter().for_each(|slot| *pair_counts.entry(*slot).or_default() += 1);
                        example.link = Some((number, slots));
                    }
                    last = Some((index, examples.len()));
                }
                examples.push((example, hashes, [word.form, lemmas[index].form]));
            });
            hashed.push(examples);
        }
        let often = counts.iter().filter(|(_, count)| **count >= settings.min_count);
        let mut slots: Vec<u32> = often.map(|(hash, _)| FeatureIndex::slot(*hash, settings.bits)).collect();
        slots.sort_unstable();
        slots.dedup();
        let pair_slots: Vec<u32> = pair_counts.into_keys().collect();
        let numbered = |(mut example, hashes, lexical): HashedExample| {
            let row =
                |hash: &u64| slots.binary_search(&FeatureIndex::slot(*hash, settings.bits)).ok().map(|row| row as u32);
            for (hash, whole) in hashes.iter().zip(lexical) {
                example.lexical.extend(row(hash).map(|row| (row, settings.lexical_dropout / seen[&whole] as f32)));
            }
            example.rows = hashes.iter().skip(LEXICAL).filter_map(row).collect();
            if let Some((_, pairs)) = &mut example.link {
                *pairs = pairs.map(|slot| pair_slots.binary_search(&slot).expect("every pair was counted") as u32);
            }
            example
        };
        let sentences = hashed.into_iter().map(|examples| examples.into_iter().map(numbered).collect()).collect();
        let only = |(hash, found): (&u64, &BTreeMap<usize, u32>)| {
            let (bundle, count) = found.first_key_value()?;
            (found.len() == 1 && *count >= settings.unambiguous_count)
                .then(|| (FeatureIndex::slot(*hash, settings.bits), *bundle as u16))
        };
        let unambiguous: BTreeMap<u32, u16> = bundles.iter().filter_map(only).collect();
        TrainingSet { sentences, slots, pair_slots, unambiguous: unambiguous.into_iter().collect() }
    }
}

/// Weights during training.
#[derive(Clone)]
struct FeatsTrainer {
    weights: Vec<Scores>,
    squares: Vec<Scores>,
    relations: Vec<[f32; RELATIONS]>,
    relation_squares: Vec<[f32; RELATIONS]>,
    /// Bias and sum of squared gradients, by tag and bundle.
    biases: Vec<Vec<(f32, f32)>>,
}

/// Candidates of a word in a training step: a column of the lattice.
struct CandidateColumn {
    /// Bundles; the correct one is first.
    bundles: Vec<usize>,
    /// Exponentiated scores without agreement.
    local: Vec<f32>,
    /// Scaled forward probabilities.
    forward: Vec<f32>,
    /// Scaled backward probabilities.
    backward: Vec<f32>,
    rows: Vec<u32>,
}

impl FeatsTrainer {
    fn train(inventory: &Inventory, training: &TrainingSet, settings: &Settings) -> FeatsTrainer {
        let (rows, pairs) = (training.slots.len(), training.pair_slots.len());
        let biases =
            inventory.lists.iter().map(|lists| vec![(0.0, settings.adagrad.initial_squares); lists.len()]).collect();
        let mut trainer = FeatsTrainer {
            weights: vec![[0.0; MAX_VALUES]; rows],
            squares: vec![[settings.adagrad.initial_squares; MAX_VALUES]; rows],
            relations: vec![[0.0; RELATIONS]; pairs],
            relation_squares: vec![[settings.adagrad.initial_squares; RELATIONS]; pairs],
            biases,
        };
        let mut sums = FeatsTrainer { squares: Vec::new(), relation_squares: Vec::new(), ..trainer.clone() };
        let mut order: Vec<u32> = (0..training.sentences.len() as u32).collect();
        let mut rng = Rng::new(11);
        let from = settings.adagrad.epochs / 2;
        for epoch in 0..settings.adagrad.epochs {
            rng.shuffle(&mut order);
            for index in &order {
                trainer.step(&training.sentences[*index as usize], inventory, settings, &mut rng);
            }
            if epoch >= from {
                sums.add(&trainer, 1.0 / (settings.adagrad.epochs - from) as f32);
            }
        }
        sums
    }

    /// Adds the weights of `other` times `factor`, for averaging over epochs.
    fn add(&mut self, other: &FeatsTrainer, factor: f32) {
        let add = |sum: &mut f32, weight: &f32| *sum += weight * factor;
        let weights = self.weights.iter_mut().flatten().zip(other.weights.iter().flatten());
        let relations = self.relations.iter_mut().flatten().zip(other.relations.iter().flatten());
        weights.chain(relations).for_each(|(sum, weight)| add(sum, weight));
        let biases = self.biases.iter_mut().flatten().zip(other.biases.iter().flatten());
        biases.for_each(|(sum, bias)| add(&mut sum.0, &bias.0));
    }

    /// One training step on a sentence: forward-backward, then AdaGrad updates.
    fn step(&mut self, examples: &[Example], inventory: &Inventory, settings: &Settings, rng: &mut Rng) {
        let mut columns: Vec<CandidateColumn> =
            examples.iter().map(|example| self.column(example, inventory, settings, rng)).collect();
        let fits = self.forward(examples, inventory, &mut columns);
        for index in (0..examples.len()).rev() {
            let example = &examples[index];
            let column = &columns[index];
            let mut marginals: Vec<f32> =
                column.forward.iter().zip(&column.backward).map(|(one, other)| one * other).collect();
            scale(&mut marginals);
            if let Some((before, pairs)) = example.link {
                let count = marginals.len();
                let ahead: Vec<f32> =
                    column.local.iter().zip(&column.backward).map(|(one, other)| one * other).collect();
                let fit = &fits[index];
                let mut backward: Vec<f32> = (0..columns[before].local.len())
                    .map(|one| ahead.iter().zip(&fit[one * count..]).map(|(ahead, fit)| ahead * fit).sum())
                    .collect();
                let all: f32 = backward.iter().zip(&columns[before].forward).map(|(one, other)| one * other).sum();
                let mut gradients = [0.0; RELATIONS];
                let theirs = self.agreements(inventory, examples, &columns, before);
                let mine = self.agreements(inventory, examples, &columns, index);
                for (one, theirs) in theirs.iter().enumerate() {
                    for (other, mine) in mine.iter().enumerate() {
                        let share =
                            columns[before].forward[one] * fit[one * count + other] * ahead[other] / all.max(1e-30);
                        // The correct candidates are first.
                        let gradient = if one == 0 && other == 0 { share - 1.0 } else { share };
                        relations(*theirs, *mine).for_each(|relation| gradients[relation] += gradient);
                    }
                }
                for pair in pairs {
                    let (weights, squares) =
                        (&mut self.relations[pair as usize], &mut self.relation_squares[pair as usize]);
                    settings.adagrad.update(weights, squares, &gradients, 1.0);
                }
                scale(&mut backward);
                columns[before].backward = backward;
            }
            self.update(example, &columns[index], &marginals, inventory, settings);
        }
    }

    /// Forward pass over linked words; returns the exponentiated agreement scores between the
    /// candidates of each word and those of the word that it is linked to.
    fn forward(&self, examples: &[Example], inventory: &Inventory, columns: &mut [CandidateColumn]) -> Vec<Vec<f32>> {
        let mut fits: Vec<Vec<f32>> = Vec::with_capacity(examples.len());
        for (index, example) in examples.iter().enumerate() {
            let mut fit = Vec::new();
            if let Some((before, pairs)) = example.link {
                for theirs in self.agreements(inventory, examples, columns, before) {
                    for mine in self.agreements(inventory, examples, columns, index) {
                        let weight =
                            |relation| pairs.iter().map(|pair| self.relations[*pair as usize][relation]).sum::<f32>();
                        fit.push(relations(theirs, mine).map(weight).sum::<f32>().exp());
                    }
                }
                let sums = columns[before].forward.clone();
                let column = &mut columns[index];
                let count = column.local.len();
                for (number, forward) in column.forward.iter_mut().enumerate() {
                    let sum: f32 = sums.iter().enumerate().map(|(one, share)| share * fit[one * count + number]).sum();
                    *forward = column.local[number] * sum;
                }
                scale(&mut column.forward);
            }
            fits.push(fit);
        }
        fits
    }

    fn agreements(
        &self,
        inventory: &Inventory,
        examples: &[Example],
        columns: &[CandidateColumn],
        index: usize,
    ) -> Vec<Agreement> {
        let agreements = &inventory.agreements[usize::from(examples[index].tag)];
        columns[index].bundles.iter().map(|bundle| agreements[*bundle]).collect()
    }

    /// Samples the features by dropout and returns the best candidates of a word, including the
    /// correct one.
    fn column(&self, example: &Example, inventory: &Inventory, settings: &Settings, rng: &mut Rng) -> CandidateColumn {
        let lexical =
            example.lexical.iter().map(|(row, lexical_dropout)| (*row, lexical_dropout.max(settings.dropout)));
        let all = lexical.chain(example.rows.iter().map(|row| (*row, settings.dropout)));
        let rows: Vec<u32> =
            all.filter(|(_, lexical_dropout)| rng.unit_f32() >= *lexical_dropout).map(|(row, _)| row).collect();
        let mut values = [0.0; MAX_VALUES];
        for row in &rows {
            values.iter_mut().zip(&self.weights[*row as usize]).for_each(|(score, weight)| *score += weight);
        }
        let tag = usize::from(example.tag);
        let sum = |(list, bias): (&Vec<u8>, &(f32, f32))| {
            list.iter().map(|value| values[usize::from(*value)]).sum::<f32>() + bias.0
        };
        let scores: Vec<f32> = inventory.lists[tag].iter().zip(&self.biases[tag]).map(sum).collect();
        let mut others: Vec<usize> = (0..scores.len()).filter(|one| *one != example.bundle).collect();
        let most = settings.candidates.min(others.len());
        if most < others.len() {
            others.select_nth_unstable_by(most, |one, other| {
                scores[*other].total_cmp(&scores[*one]).then(one.cmp(other))
            });
            others.truncate(most);
        }
        let bundles: Vec<usize> = std::iter::once(example.bundle).chain(others).collect();
        let highest = bundles.iter().map(|one| scores[*one]).fold(f32::MIN, f32::max);
        let local: Vec<f32> = bundles.iter().map(|one| (scores[*one] - highest).exp()).collect();
        let mut forward = local.clone();
        scale(&mut forward);
        CandidateColumn { backward: vec![1.0; local.len()], bundles, local, forward, rows }
    }

    /// Updates the weights of a word from the marginal probabilities of its candidates.
    fn update(
        &mut self,
        example: &Example,
        column: &CandidateColumn,
        shares: &[f32],
        inventory: &Inventory,
        settings: &Settings,
    ) {
        if shares[0] > 0.995 || column.rows.is_empty() {
            return;
        }
        let tag = usize::from(example.tag);
        let mut gradients = [0.0; MAX_VALUES];
        for (number, (bundle, share)) in column.bundles.iter().zip(shares).enumerate() {
            let gradient = if number == 0 { share - 1.0 } else { *share };
            inventory.lists[tag][*bundle].iter().for_each(|value| gradients[usize::from(*value)] += gradient);
            let bias = &mut self.biases[tag][*bundle];
            bias.1 += gradient * gradient;
            bias.0 -= settings.adagrad.step / bias.1.sqrt() * gradient;
        }
        for row in &column.rows {
            let at = *row as usize;
            settings.adagrad.update(&mut self.weights[at], &mut self.squares[at], &gradients, 1.0);
        }
    }

    /// Serialises the model with weights quantised to a byte and small ones pruned.
    fn write(&self, inventory: &Inventory, training: &TrainingSet, min_weight: f32, settings: &Settings) -> Vec<u8> {
        let largest = self.weights.iter().flatten().map(|weight| weight.abs()).fold(0.0, f32::max);
        let unit = (largest / 127.0).clamp(0.04, 0.08);
        let round = |weight: &f32| (weight / unit).round().clamp(-127.0, 127.0) as i8;
        let strong = |weight: &f32| if weight.abs() < min_weight { 0 } else { round(weight) };
        let columns = inventory.values.len();
        let is_something = |row: &(u32, Vec<i8>)| row.1.iter().any(|weight| *weight != 0);
        let least = min_row_weight(min_weight, settings.min_weight);
        let is_strong = |(_, row): &(&u32, &Scores)| row.iter().any(|weight| weight.abs() >= least);
        let weights = training.slots.iter().zip(&self.weights).filter(is_strong);
        let weights = weights.map(|(slot, row)| (*slot, row[..columns].iter().map(strong).collect()));
        let relations = training.pair_slots.iter().zip(&self.relations);
        let relations = relations.map(|(slot, row)| (*slot, row.iter().map(round).collect()));
        let wide = |bias: &(f32, f32)| (bias.0 / unit).round().clamp(-32767.0, 32767.0) as i16;
        let bundles: Vec<WrittenBundles> = (inventory.bundles.iter().zip(&self.biases))
            .map(|(bundles, biases)| bundles.iter().cloned().zip(biases.iter().map(wide)).collect())
            .collect();
        let mut out = Vec::new();
        FeatsModel::write(
            &inventory.values,
            &bundles,
            settings.bits,
            &weights.filter(is_something).collect::<Vec<_>>(),
            &relations.filter(is_something).collect::<Vec<_>>(),
            &training.unambiguous,
            &mut out,
        );
        out
    }
}

fn scale(shares: &mut [f32]) {
    let sum: f32 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum.max(1e-30));
}
