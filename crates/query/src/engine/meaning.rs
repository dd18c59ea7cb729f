//! Change of meaning: words whose collocates differ between two parts of a corpus beyond chance.
//!
//! The contexts of a hit are the content words in its window. Both parts have the same number of contexts of each site, in
//! whole documents that are drawn at random, and the same mixture of topics ([`super::topic_mix`]). The test exchanges these
//! documents ([`crate::measure::context_shift`]); samples are drawn by the
//! documents' ids, so that the same corpus gives the same answer however it is stored.

use super::difference::{Documents, smaller_part};
use super::set::layer_of;
use super::topic_mix::{balanced, each_document};
use super::words::is_wordlike;
use super::{ContentWords, Deadline, Engine, Limit, Limits, Subcorpus, WordKind, parallel};
use crate::cql::Attribute;
use crate::measure::context_shift::{ContextSamples, ContextShift, first_with};
use crate::question::{ContrastBasis, MeaningCollocate, MeaningRow};
use crate::trend::false_discovery;
use hashbrown::HashMap;
use std::collections::{BTreeMap, BinaryHeap};
use tidings_index::Segment;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The parameters of a search for changes of meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeaningConfig {
    /// The least hits of a word in each part.
    pub at_least: u64,
    /// The tokens on each side that are contexts.
    pub window: u32,
    /// Whether names are tested, too.
    pub names: bool,
    /// The most collocates on each side of a row.
    pub collocates: usize,
    /// The least hits, and documents, of a collocate.
    pub of_collocate: (u64, u64),
    /// The share of false ones that is admitted among the rows.
    pub false_discovery_rate: f64,
    /// The most rows.
    pub rows: usize,
}

/// The words that changed.
#[derive(Debug, Clone, PartialEq)]
pub struct MeaningChanges {
    /// What the test rests on.
    pub basis: ContrastBasis,
    /// The words tested.
    pub tested: u64,
    /// Words that are frequent enough and beyond the number that one question tests.
    pub untested: u64,
    /// The words that changed.
    pub values: u64,
    /// The first of them, by distance.
    pub rows: Vec<MeaningRow>,
}

/// The most words that one question tests.
const MOST_WORDS: usize = 1000;
/// The most documents of a part that are drawn for a word.
const MOST_DOCUMENTS: usize = 600;
/// The least documents of each part.
const LEAST_DOCUMENTS: usize = 10;
/// The least difference of the hits with a collocate that is shown, in chi-squared.
const LEAST_CHI_SQUARED: f64 = 3.84;
/// Words that are rarer in both parts together are no contexts.
const LEAST_CONTEXT: u64 = 3;

/// A document with a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Drawn {
    /// The lot that draws the document: the lowest are taken.
    lot: u64,
    stratum: u32,
    segment: u32,
    document: u32,
}

/// What words are, by number.
struct Vocabulary {
    /// The number of the word of each lexeme.
    word_of: Vec<u32>,
    /// The hits of each word in each part.
    hits: [Vec<u64>; 2],
    is_context: Vec<bool>,
}

/// A word that is tested.
struct Candidate {
    word: u32,
    value: String,
    /// The lexemes that are the word.
    lexemes: Vec<u32>,
}

impl Engine {
    /// Words whose collocates differ between two subcorpora, with the collocates that tell. A document of both belongs to the
    /// smaller one. Check [`super::Limits::cut_off`] of the second subcorpus: the answer is wrong then.
    pub fn meaning_changes(
        &self,
        before: &Subcorpus,
        after: &Subcorpus,
        attribute: Attribute,
        content: &ContentWords<'_>,
        config: &MeaningConfig,
    ) -> MeaningChanges {
        let limits = after.limits();
        let tokens = (self.tokens(before), self.tokens(after));
        limits.begin_pass(tokens.0 + tokens.1);
        let layer = layer_of(attribute, self.lexicon());
        let hits = [before, after].map(|part| self.joined(attribute, self.string_counts(part, layer)).into_owned());
        let kinds: Vec<Option<WordKind>> = (0..)
            .zip(hits[0].iter().zip(&hits[1]))
            .map(|(word, (before, after))| (before + after >= LEAST_CONTEXT).then(|| content.kind(word)))
            .collect();
        let is_context = kinds.iter().map(|kind| kind.is_some_and(WordKind::is_content)).collect();
        let vocabulary = Vocabulary { word_of: self.words_of_lexemes(attribute), hits, is_context };
        let documents = self.documents_of_parts(before, after, smaller_part(tokens.0, tokens.1));
        let basis = documents.text().basis();
        let is_tested = |word: u32| {
            kinds[word as usize].is_some_and(|kind| kind == WordKind::Content || config.names && kind.is_content())
        };
        let (candidates, untested) = self.candidates(attribute, &vocabulary, is_tested, config.at_least);
        let mut found = MeaningChanges { basis, tested: 0, untested, values: 0, rows: Vec::new() };
        let Some(drawn) = self.draw(&documents, &vocabulary, &candidates, basis.within_sites, after) else {
            return found;
        };
        let work =
            || |number: usize| self.test_word(&vocabulary, &candidates[number], &drawn[number], config.window, limits);
        let tests: Vec<Option<WordTest>> = parallel::map(limits, candidates.len(), work);
        if limits.cut_off().is_some() {
            return found;
        }
        let mut tests: Vec<(&Candidate, WordTest)> =
            candidates.iter().zip(tests).filter_map(|(candidate, test)| Some((candidate, test?))).collect();
        found.tested = tests.len() as u64;
        let p: Vec<f64> = tests.iter().map(|(_, test)| test.shift.p).collect();
        let q = false_discovery(&p, p.len());
        tests.iter_mut().zip(q).for_each(|((_, test), q)| test.q = q);
        tests.retain(|(_, test)| test.q <= config.false_discovery_rate && test.shift.distance > 0.0);
        tests.sort_by(|a, b| b.1.shift.distance.total_cmp(&a.1.shift.distance).then_with(|| a.0.value.cmp(&b.0.value)));
        found.values = tests.len() as u64;
        tests.truncate(config.rows);
        found.rows = self.explain(&tests, &vocabulary, attribute, [before, after], config);
        found
    }

    /// The most frequent words that are tested, and how many more there are.
    fn candidates(
        &self,
        attribute: Attribute,
        vocabulary: &Vocabulary,
        is_tested: impl Fn(u32) -> bool,
        at_least: u64,
    ) -> (Vec<Candidate>, u64) {
        let [before, after] = &vocabulary.hits;
        let rarer = |word: u32| before[word as usize].min(after[word as usize]);
        let mut words: Vec<Candidate> = (0..before.len() as u32)
            .filter(|word| rarer(*word) >= at_least.max(1) && is_tested(*word))
            .map(|word| Candidate { word, value: self.name(attribute, word), lexemes: Vec::new() })
            .filter(|candidate| is_wordlike(&candidate.value))
            .collect();
        // By value, and not by number, which depends on the order in which documents were added.
        words.sort_by(|a, b| rarer(b.word).cmp(&rarer(a.word)).then_with(|| a.value.cmp(&b.value)));
        let untested = words.len().saturating_sub(MOST_WORDS) as u64;
        words.truncate(MOST_WORDS);
        let numbers: HashMap<u32, usize> =
            words.iter().enumerate().map(|(number, found)| (found.word, number)).collect();
        for (lexeme, word) in (0..).zip(&vocabulary.word_of) {
            if let Some(number) = numbers.get(word) {
                words[*number].lexemes.push(lexeme);
            }
        }
        (words, untested)
    }

    /// Draws documents with each candidate in each part, in the order of their lots. Nothing if a limit is reached.
    fn draw(
        &self,
        documents: &Documents<'_>,
        vocabulary: &Vocabulary,
        candidates: &[Candidate],
        within_sites: bool,
        of: &Subcorpus,
    ) -> Option<Vec<[Vec<Drawn>; 2]>> {
        let limits = of.limits();
        let stratum_of = |site: u32| if within_sites { site } else { 0 };
        let chosen = balanced(documents, stratum_of, &vocabulary.word_of, &vocabulary.is_context, limits)?;
        let mut memory = limits.memory();
        let bytes =
            (candidates.len() * 2 * MOST_DOCUMENTS * size_of::<Drawn>() + vocabulary.is_context.len() * 4) as u64;
        if !memory.grow(bytes) {
            limits.strike(Limit::Memory);
            return None;
        }
        let mut number_of = vec![u32::MAX; vocabulary.is_context.len()];
        (0..).zip(candidates).for_each(|(number, candidate)| number_of[candidate.word as usize] = number);
        let seeds: Vec<u64> = candidates.iter().map(|candidate| xxh3_64(candidate.value.as_bytes())).collect();
        let mut heaps: Vec<[BinaryHeap<Drawn>; 2]> = candidates.iter().map(|_| Default::default()).collect();
        let mut is_met = vec![false; candidates.len()];
        let mut met: Vec<u32> = Vec::new();
        let is_complete = each_document(documents, &vocabulary.word_of, limits, |read| {
            if !chosen[read.index].get(read.document) {
                return;
            }
            read.tokens(|word| {
                let number = number_of.get(word as usize).copied().unwrap_or(u32::MAX);
                if is_met.get_mut(number as usize).is_some_and(|known| !std::mem::replace(known, true)) {
                    met.push(number);
                }
            });
            let id = read.id();
            for number in met.drain(..) {
                is_met[number as usize] = false;
                let heap = &mut heaps[number as usize][read.part as usize];
                heap.push(Drawn {
                    lot: xxh3_64_with_seed(&id, seeds[number as usize]),
                    stratum: stratum_of(read.site),
                    segment: read.index as u32,
                    document: read.document,
                });
                if heap.len() > MOST_DOCUMENTS {
                    heap.pop();
                }
            }
        });
        is_complete.then(|| heaps.into_iter().map(|parts| parts.map(BinaryHeap::into_sorted_vec)).collect())
    }

    /// Tests a word by documents of both parts; nothing if there are too few, or a limit is reached.
    fn test_word(
        &self,
        vocabulary: &Vocabulary,
        candidate: &Candidate,
        drawn: &[Vec<Drawn>; 2],
        window: u32,
        limits: &Limits,
    ) -> Option<WordTest> {
        let mut strata: BTreeMap<u32, [Vec<&Drawn>; 2]> = BTreeMap::new();
        for (part, drawn) in drawn.iter().enumerate() {
            drawn.iter().for_each(|drawn| strata.entry(drawn.stratum).or_default()[part].push(drawn));
        }
        let mut contexts = Contexts::default();
        let mut samples = ContextSamples::default();
        let (mut compared, mut steps) = ([0; 2], 0);
        let mut deadline = Deadline::new(limits);
        for parts in strata.into_values().filter(|parts| parts.iter().all(|part| !part.is_empty())) {
            let mut read: [Vec<Vec<u32>>; 2] = Default::default();
            for (part, documents) in parts.into_iter().enumerate() {
                for drawn in documents {
                    let segment = self.snapshot().segments()[drawn.segment as usize].segment();
                    if !deadline.tick_by(segment.tokens_of(drawn.document).len() as u32) {
                        return None;
                    }
                    read[part].push(vocabulary.contexts_in(segment, drawn.document, candidate, window, &mut contexts));
                }
            }
            let number = |part: &[Vec<u32>]| part.iter().map(Vec::len).sum::<usize>();
            let least = number(&read[0]).min(number(&read[1]));
            for (part, compared) in read.iter_mut().zip(&mut compared) {
                part.truncate(first_with(part.iter().map(Vec::len), least));
                *compared += part.len();
            }
            steps += 2 * least as u32;
            samples.add_stratum(&read[0], &read[1]);
        }
        if compared[0].min(compared[1]) < LEAST_DOCUMENTS {
            return None;
        }
        let seed = xxh3_64(candidate.value.as_bytes());
        let shift = samples.test(contexts.words.len(), seed, || deadline.tick_by(steps))?;
        Some(WordTest { shift, compared, contexts: contexts.words, q: 1.0 })
    }

    /// The rows of words that changed, with the collocates that tell and their hits in all documents.
    fn explain(
        &self,
        tests: &[(&Candidate, WordTest)],
        vocabulary: &Vocabulary,
        attribute: Attribute,
        parts: [&Subcorpus; 2],
        config: &MeaningConfig,
    ) -> Vec<MeaningRow> {
        let mut pairs: HashMap<(u32, u32), PairCounts> = HashMap::new();
        let name = |word: u32| self.name(attribute, word);
        let told: Vec<[Vec<u32>; 2]> =
            tests.iter().map(|(_, test)| test.telling(2 * config.collocates, name)).collect();
        for ((candidate, _), sides) in tests.iter().zip(&told) {
            pairs.extend(sides.iter().flatten().map(|word| ((candidate.word, *word), PairCounts::default())));
        }
        let mut is_row = vec![false; vocabulary.is_context.len()];
        tests.iter().for_each(|(candidate, _)| is_row[candidate.word as usize] = true);
        for (part, subcorpus) in parts.into_iter().enumerate() {
            if !self.count_pairs(subcorpus, part, vocabulary, &is_row, config.window, &mut pairs) {
                return Vec::new();
            }
        }
        let rows = tests.iter().zip(told).map(|((candidate, test), told)| {
            let collocates = |side: usize, words: &[u32]| -> Vec<MeaningCollocate> {
                let counted = words.iter().filter_map(|word| Some((*word, pairs.get(&(candidate.word, *word))?)));
                let (hits, documents) = config.of_collocate;
                let often = counted.filter(|(_, pair)| pair.hits[side] >= hits && pair.documents[side] >= documents);
                often.take(config.collocates).map(|(word, pair)| pair.row(name(word))).collect()
            };
            let [lost, gained] = &told;
            MeaningRow {
                value: candidate.value.clone(),
                before: vocabulary.hits[0][candidate.word as usize],
                after: vocabulary.hits[1][candidate.word as usize],
                before_compared: test.compared[0] as u64,
                after_compared: test.compared[1] as u64,
                distance: test.shift.distance,
                gained: collocates(1, gained),
                lost: collocates(0, lost),
                p: test.shift.p,
                q: test.q,
            }
        });
        rows.collect()
    }

    /// Counts pairs of words and collocates in a part; false if a limit is reached.
    fn count_pairs(
        &self,
        subcorpus: &Subcorpus,
        part: usize,
        vocabulary: &Vocabulary,
        is_row: &[bool],
        window: u32,
        pairs: &mut HashMap<(u32, u32), PairCounts>,
    ) -> bool {
        let limits = subcorpus.limits();
        limits.begin_pass(self.tokens(subcorpus));
        let mut deadline = Deadline::new(limits);
        // Documents are numbered from 1 in each part.
        let (mut words, mut number) = (Vec::new(), (part as u64) << 32);
        for (segment, scope) in self.scopes(subcorpus) {
            let is_row: Vec<bool> = segment
                .lexemes()
                .all()
                .iter()
                .map(|lexeme| is_row.get(vocabulary.word(*lexeme) as usize).is_some_and(|is_row| *is_row))
                .collect();
            let mut hits = Vec::new();
            for document in scope.documents().filter(|document| scope.contains(*document)) {
                let tokens = segment.tokens_of(document);
                if !deadline.tick_by(tokens.len() as u32) {
                    return false;
                }
                number += 1;
                segment.column().scan(tokens.start, tokens.end, |from, local_ids| {
                    let found =
                        (from..).zip(local_ids).filter(|(_, local_id)| is_row.get(**local_id as usize) == Some(&true));
                    hits.extend(found.map(|(position, _)| position));
                });
                for position in hits.drain(..) {
                    let word = vocabulary.word(segment.lexeme_at(position));
                    vocabulary.contexts_of(segment, word, position, window, &mut words);
                    for collocate in &words {
                        if let Some(pair) = pairs.get_mut(&(word, *collocate)) {
                            pair.add(part, number);
                        }
                    }
                }
                limits.saw(tokens.len() as u64);
            }
        }
        limits.cut_off().is_none()
    }
}

/// The contexts of a word, numbered as they are met.
#[derive(Default)]
struct Contexts {
    numbers: HashMap<u32, u32>,
    words: Vec<u32>,
}

impl Contexts {
    fn number(&mut self, word: u32) -> u32 {
        *self.numbers.entry(word).or_insert_with(|| {
            self.words.push(word);
            self.words.len() as u32 - 1
        })
    }
}

impl Vocabulary {
    /// The word of a lexeme.
    fn word(&self, lexeme: u32) -> u32 {
        self.word_of.get(lexeme as usize).copied().unwrap_or(u32::MAX)
    }

    /// The contexts of all hits of a word in a document: each once for each hit that has it.
    fn contexts_in(
        &self,
        segment: &Segment,
        document: u32,
        candidate: &Candidate,
        window: u32,
        contexts: &mut Contexts,
    ) -> Vec<u32> {
        let tokens = segment.tokens_of(document);
        let local_ids: Vec<u32> = candidate.lexemes.iter().filter_map(|lexeme| segment.local_id(*lexeme)).collect();
        let mut hits = Vec::new();
        segment.column().scan(tokens.start, tokens.end, |from, all| {
            hits.extend((from..).zip(all).filter(|(_, local_id)| local_ids.contains(local_id)).map(|(at, _)| at));
        });
        let (mut words, mut found) = (Vec::new(), Vec::new());
        for position in hits {
            self.contexts_of(segment, candidate.word, position, window, &mut words);
            found.extend(words.iter().map(|word| contexts.number(*word)));
        }
        found
    }

    /// The content words in the window of a token of a word, each once.
    fn contexts_of(&self, segment: &Segment, word: u32, position: u32, window: u32, words: &mut Vec<u32>) {
        let document = segment.tokens_of(segment.document_at(position));
        let before = position.saturating_sub(window).max(document.start)..position;
        let behind = position + 1..(position + 1).saturating_add(window).min(document.end);
        words.clear();
        words.extend(before.chain(behind).map(|at| self.word(segment.lexeme_at(at))));
        words.retain(|other| *other != word && self.is_context.get(*other as usize) == Some(&true));
        words.sort_unstable();
        words.dedup();
    }
}

/// The test of a word.
struct WordTest {
    shift: ContextShift,
    /// The documents of each part that are compared.
    compared: [usize; 2],
    /// The words of the contexts, by number.
    contexts: Vec<u32>,
    q: f64,
}

impl WordTest {
    /// The contexts that make the greatest difference, of each side at most `most`: those lost and those gained.
    fn telling(&self, most: usize, name: impl Fn(u32) -> String) -> [Vec<u32>; 2] {
        [0, 1].map(|side| {
            let mut told: Vec<(f64, u32)> = Vec::new();
            for (word, (before, after)) in self.contexts.iter().zip(&self.shift.counts) {
                let (before, after) = (f64::from(*before), f64::from(*after));
                let difference = if side == 0 { before - after } else { after - before };
                let chi_squared = difference * difference / (before + after).max(1.0);
                if difference > 0.0 && chi_squared >= LEAST_CHI_SQUARED {
                    told.push((chi_squared, *word));
                }
            }
            told.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| name(a.1).cmp(&name(b.1))));
            told.truncate(most);
            told.into_iter().map(|(_, word)| word).collect()
        })
    }
}

/// The hits of a word with a collocate in the window, and the documents with one, in each part.
#[derive(Default)]
struct PairCounts {
    hits: [u64; 2],
    documents: [u64; 2],
    last: u64,
}

impl PairCounts {
    fn add(&mut self, part: usize, document: u64) {
        self.hits[part] += 1;
        self.documents[part] += u64::from(self.last != document);
        self.last = document;
    }

    fn row(&self, value: String) -> MeaningCollocate {
        let ([before, after], [before_documents, after_documents]) = (self.hits, self.documents);
        MeaningCollocate { value, before, after, before_documents, after_documents }
    }
}
