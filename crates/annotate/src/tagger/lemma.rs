//! Chooses the lemma of a word whose part of speech is known.
//!
//! Words whose lemma no rule gives are exceptions. For all others the scripts that fit compete: each
//! is weighed by the ends and beginnings it would replace, and by the lemma it would make, for a lemma
//! that has been seen is a better guess than one that has not.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::hash::{EMPTY, Hash, mix, of_more, of_str};
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_number};
use crate::tagger::compound_marks::CompoundMarks;
use crate::tagger::edit_script::{EditScript, LemmaCase, lowercase};
use crate::tagger::feature_index::FeatureIndex;
use crate::tagger::word::{HashedWord, suffixes};

/// Longer words are their own lemma.
const MAX_CHARS: usize = 64;
/// No word is compared in more ways than this.
const MAX_CANDIDATES: usize = 24;

/// The scripts, their weights, and what is exceptions.
#[derive(Debug, Default)]
pub struct Lemmatiser {
    scripts: Vec<EditScript>,
    /// Those of them that compete.
    script_index: ScriptIndex,
    weights: ScriptWeights,
    case_weights: ScriptWeights,
    exceptions: FeatureIndex,
    exception_scripts: Vec<(u16, u8)>,
    known: FeatureIndex,
    compound_marks: CompoundMarks,
}

/// Single weights of features.
#[derive(Debug, Default)]
pub struct ScriptWeights {
    known: FeatureIndex,
    weights: Vec<i8>,
}

impl ScriptWeights {
    fn read(reader: &mut Reader<'_>) -> Result<ScriptWeights, ModelError> {
        let known = FeatureIndex::read(reader)?;
        let weights = reader.take(known.len())?.iter().map(|byte| *byte as i8).collect();
        Ok(ScriptWeights { known, weights })
    }

    /// Places and weights as a part of a model; slots must ascend.
    pub fn write(bits: u32, pairs: &[(u32, i8)], out: &mut Vec<u8>) {
        let slots: Vec<u32> = pairs.iter().map(|pair| pair.0).collect();
        FeatureIndex::write(bits, &slots, out);
        out.extend(pairs.iter().map(|pair| pair.1 as u8));
    }

    /// What features weigh together.
    #[inline]
    fn of<const COUNT: usize>(&self, features: &[Hash; COUNT]) -> i32 {
        let mut sum = 0;
        self.known.find_all(features, |number| sum += i32::from(self.weights[number]));
        sum
    }
}

/// A word on its way to its lemma.
#[derive(Debug)]
pub struct LemmaQuery<'w> {
    /// The word in small letters.
    pub lower: &'w str,
    /// What is seen of it.
    pub word: HashedWord,
    /// The number of its tag.
    pub tag: u8,
}

/// How many features a script has.
const FEATURES: usize = 30;
/// And how many a case has.
const CASE_FEATURES: usize = 7;

/// The part of a script's features that is the same for all scripts that compete for a word.
#[derive(Debug)]
pub struct SharedFeatures([Hash; FEATURES]);

impl SharedFeatures {
    /// What is query about a word.
    pub fn new(query: &LemmaQuery<'_>) -> SharedFeatures {
        let (word, tag) = (&query.word, u64::from(query.tag));
        let [e1, e2, e3, e4, e5, e6] = word.suffixes;
        let mut number = 0;
        let mut part = |parts: &[u64]| {
            number += 1;
            parts.iter().fold(mix(1, number), |hash, part| mix(hash, *part))
        };
        SharedFeatures([
            part(&[]),
            part(&[tag]),
            part(&[e1]),
            part(&[e2]),
            part(&[e3]),
            part(&[e4]),
            part(&[e5]),
            part(&[e6]),
            part(&[e2, tag]),
            part(&[e3, tag]),
            part(&[e4, tag]),
            part(&[e5, tag]),
            part(&[word.prefixes[0], tag]),
            part(&[word.prefixes[1], tag]),
            part(&[word.prefixes[2]]),
            part(&[word.prefixes[3]]),
            part(&[word.length, tag]),
            part(&[word.shape]),
            part(&[word.prefixes[3], e3]),
            part(&[]),
            part(&[tag]),
            part(&[tag]),
            part(&[tag]),
            part(&[tag]),
            part(&[tag]),
            part(&[]),
            part(&[tag]),
            part(&[tag]),
            part(&[tag]),
            part(&[tag]),
        ])
    }

    /// What speaks for and against a script; `known` is what is known about the lemma it makes.
    pub fn features(&self, candidate: &Candidate, known: u64) -> [Hash; FEATURES] {
        let ScriptHashes { start, end, both, added, taken, taken_length } = candidate.hashes;
        let made: [Hash; 4] = suffixes(&candidate.lemma);
        let added_known = mix(added, known);
        let values = [
            both,
            both,
            end,
            end,
            end,
            end,
            end,
            end,
            end,
            end,
            end,
            end,
            start,
            start,
            start,
            start,
            end,
            end,
            end,
            mix(added, taken[2]),
            made[0],
            made[1],
            made[2],
            made[3],
            known,
            mix(end, known),
            added_known,
            mix(added, taken[0]),
            mix(added, taken[1]),
            mix(added, taken_length),
        ];
        std::array::from_fn(|number| mix(self.0[number], values[number]))
    }
}

/// What speaks for and against a case.
pub fn case_features(query: &LemmaQuery<'_>, case: LemmaCase, is_first: bool) -> [Hash; CASE_FEATURES] {
    let (tag, case, first) = (u64::from(query.tag), case as u64, u64::from(is_first));
    let word = &query.word;
    let shape = word.shape;
    let feature =
        |number: u64, parts: &[u64]| parts.iter().fold(mix(mix(2, number), case), |hash, part| mix(hash, *part));
    [
        feature(1, &[tag, shape]),
        feature(2, &[tag, shape, first]),
        feature(3, &[tag, shape, word.length]),
        feature(4, &[tag, word.suffixes[2], shape & 7]),
        feature(5, &[word.suffixes[1], shape & 7]),
        feature(6, &[word.form]),
        feature(7, &[word.prefixes[3], shape & 7, tag]),
    ]
}

/// What a exceptions word is found by.
pub fn exception_hash(word: &HashedWord, tag: u8) -> Hash {
    mix(mix(3, word.form), u64::from(tag))
}

/// What a known lemma is found by: alone, with its tag, and as a word of a text.
pub fn known_lemma(lemma: &str, tag: u8) -> [Hash; 3] {
    known_hash(of_str(lemma), tag)
}

/// The same of a lemma's hash.
pub fn known_hash(lemma: Hash, tag: u8) -> [Hash; 3] {
    [mix(4, lemma), mix(mix(5, lemma), u64::from(tag)), mix(6, lemma)]
}

/// What is known about a lemma, as a number for features.
pub fn known_flags([alone, with_tag, as_word]: [bool; 3]) -> u64 {
    u64::from(alone) + u64::from(with_tag) * 2 + u64::from(as_word) * 4
}

impl Lemmatiser {
    /// Reads what [`Lemmatiser::write`] wrote.
    pub fn read(reader: &mut Reader<'_>) -> Result<Lemmatiser, ModelError> {
        let count = reader.count()?;
        let scripts = (0..count).map(|_| EditScript::read(reader)).collect::<Result<Vec<EditScript>, _>>()?;
        // The first ones compete, the others are only exceptions.
        let competing = reader.number()? as usize;
        let mut lemmatiser = Lemmatiser {
            weights: ScriptWeights::read(reader)?,
            case_weights: ScriptWeights::read(reader)?,
            exceptions: FeatureIndex::read(reader)?,
            ..Lemmatiser::default()
        };
        for _ in 0..lemmatiser.exceptions.len() {
            let number = reader.number()?;
            let (script, case) = (number / 4, (number % 4) as u8);
            if script as usize >= scripts.len() || script > u32::from(u16::MAX) {
                return Err(ModelError::Damaged("a lemma has a script that is not there"));
            }
            lemmatiser.exception_scripts.push((script as u16, case));
        }
        lemmatiser.known = FeatureIndex::read(reader)?;
        lemmatiser.compound_marks = CompoundMarks::read(reader)?;
        lemmatiser.script_index = ScriptIndex::new(&scripts[..competing.min(scripts.len())]);
        lemmatiser.scripts = scripts;
        Ok(lemmatiser)
    }

    /// The parts of a lemmatiser as a part of a model. `exception_scripts` is sorted by index.
    #[allow(clippy::too_many_arguments)]
    pub fn write(
        scripts: &[EditScript],
        competing: usize,
        bits: u32,
        weights: &[(u32, i8)],
        case_weights: &[(u32, i8)],
        exception_scripts: &[(u32, u16, LemmaCase)],
        known: &[u32],
        compound_marks: &[u8],
        out: &mut Vec<u8>,
    ) {
        put_number(scripts.len() as u32, out);
        scripts.iter().for_each(|script| script.write(out));
        put_number(competing as u32, out);
        ScriptWeights::write(bits, weights, out);
        ScriptWeights::write(bits, case_weights, out);
        let slots: Vec<u32> = exception_scripts.iter().map(|row| row.0).collect();
        FeatureIndex::write(bits, &slots, out);
        exception_scripts.iter().for_each(|(_, script, case)| put_number(u32::from(*script) * 4 + *case as u32, out));
        FeatureIndex::write(bits, known, out);
        out.extend(compound_marks);
    }

    /// The lemma of a word, given the number of its tag.
    pub fn lemma(&self, text: &str, word: &HashedWord, tag: u8, is_first: bool) -> String {
        if self.scripts.is_empty() || text.chars().nth(MAX_CHARS).is_some() {
            return text.to_owned();
        }
        let lower = lowercase(text);
        let query = LemmaQuery { lower: &lower, word: *word, tag };
        if let Some(number) = self.exceptions.find(exception_hash(word, tag)) {
            let (script, case) = self.exception_scripts[number];
            return apply_script(&self.scripts[usize::from(script)], LemmaCase::ALL[usize::from(case)], text, &lower);
        }
        let case = self.case(&query, is_first);
        let Some(script) = self.choose(&query) else { return text.to_owned() };
        let lemma = apply_script(&script, case, text, &lower);
        let small = script.apply(&lower).unwrap_or_default();
        self.compound_marks.mark(lemma, &small)
    }

    /// The script that fits best.
    fn choose(&self, query: &LemmaQuery<'_>) -> Option<Cow<'_, EditScript>> {
        let is_known = |lemma: Hash| self.known.contains(known_hash(lemma, query.tag)[1]);
        let candidates = self.script_index.candidates(&self.scripts, query.lower, is_known);
        let shared = SharedFeatures::new(query);
        let mut best = (i32::MIN, 0);
        for (index, candidate) in candidates.iter().enumerate() {
            let mut known = known_lemma(&candidate.lemma, query.tag).map(|hash| self.known.contains(hash));
            known[2] &= candidate.lemma != query.lower;
            let features = shared.features(candidate, known_flags(known));
            let score = self.weights.of(&features);
            if score > best.0 {
                best = (score, index);
            }
        }
        Some(match candidates.get(best.1)?.origin {
            Origin::Listed(number) => Cow::Borrowed(&self.scripts[usize::from(number)]),
            Origin::Derived(at, addition) => Cow::Owned(self.script_index.new_script(query.lower, at, addition)),
        })
    }

    fn case(&self, query: &LemmaQuery<'_>, is_first: bool) -> LemmaCase {
        let score = |case: &LemmaCase| self.case_weights.of(&case_features(query, *case, is_first));
        let scores = LemmaCase::ALL.each_ref().map(score);
        let highest = scores.iter().copied().max().unwrap_or_default();
        LemmaCase::ALL[scores.iter().position(|score| *score == highest).unwrap_or_default()]
    }
}

/// What a script makes of a word; the word itself if it cannot be applied: exceptions by its hash, it may be another word.
fn apply_script(script: &EditScript, case: LemmaCase, text: &str, lower: &str) -> String {
    let lemma = match case {
        LemmaCase::Keep => script.apply_kept(text, lower),
        _ => script.apply(lower).map(|lemma| case.apply(&lemma, "")),
    };
    lemma.unwrap_or_else(|| text.to_owned())
}

/// A script that can be applied to a word.
#[derive(Debug)]
pub struct Candidate {
    origin: Origin,
    /// The lemma it makes, in small letters.
    pub lemma: String,
    hashes: ScriptHashes,
}

/// Where a candidate comes from.
#[derive(Debug, Clone, Copy)]
enum Origin {
    /// The number of a script that competes.
    Listed(u16),
    /// Takes the end from this byte of the word on, and puts the addition with this number there.
    Derived(usize, usize),
}

/// What a script is to features.
#[derive(Debug, Clone, Copy)]
struct ScriptHashes {
    start: Hash,
    end: Hash,
    both: Hash,
    /// What is added at the end.
    added: Hash,
    /// The beginning of what is taken from the end: one, two, three characters.
    taken: [Hash; 3],
    taken_length: u64,
}

impl ScriptHashes {
    fn new(script: &EditScript) -> ScriptHashes {
        let start = mix(of_str(&script.start.0), of_str(&script.start.1));
        let added = of_str(&script.end.1);
        let end = mix(of_str(&script.end.0), added);
        let taken = HashedWord::new(&script.end.0);
        ScriptHashes {
            start,
            end,
            both: mix(start, end),
            added,
            taken: [taken.prefixes[0], taken.prefixes[1], taken.prefixes[2]],
            taken_length: taken.length,
        }
    }
}

/// Hashes are hashed already.
#[derive(Debug, Default)]
struct IdentityHasher(u64);

type BuildIdentityHasher = BuildHasherDefault<IdentityHasher>;

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = mix(self.0, u64::from(*byte)));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Scripts that compete.
#[derive(Debug, Default)]
pub struct ScriptIndex {
    /// By the hash of what they take from the end, last character first.
    by_end: HashMap<Hash, Vec<u16>, BuildIdentityHasher>,
    longest_end: usize,
    hashes: Vec<ScriptHashes>,
    /// What is most often put at the end.
    additions: Vec<String>,
}

/// How many additions are tried with ends that were never seen.
const ADDITIONS: usize = 8;
/// How much of a word may be an end that was never seen, in characters.
const LONGEST_NEW_END: usize = 12;
/// How much of the word must be left then; one more if something is added.
const SHORTEST_STEM: usize = 2;

impl ScriptIndex {
    /// Scripts that compete, in the order of how many words they serve.
    pub fn new(scripts: &[EditScript]) -> ScriptIndex {
        let mut script_index = ScriptIndex::default();
        for (number, script) in scripts.iter().enumerate().take(usize::from(u16::MAX)) {
            script_index.hashes.push(ScriptHashes::new(script));
            let end = &script.end;
            script_index.longest_end = script_index.longest_end.max(end.0.chars().count());
            let hash = end.0.chars().rev().fold(0, |hash, c| mix(hash, c as u64));
            script_index.by_end.entry(hash).or_default().push(number as u16);
            if script_index.additions.len() < ADDITIONS
                && end.0.chars().count() > 1
                && !script_index.additions.contains(&end.1)
            {
                script_index.additions.push(end.1.clone());
            }
        }
        script_index
    }

    /// The scripts that fit a word, and new ones that take another end from it if that leads to a known lemma.
    pub fn candidates(&self, scripts: &[EditScript], lower: &str, is_known: impl Fn(Hash) -> bool) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        let mut ends: Vec<(usize, Hash)> = vec![(lower.len(), 0)];
        for (at, c) in lower.char_indices().rev().take(self.longest_end.max(LONGEST_NEW_END)) {
            ends.push((at, mix(ends[ends.len() - 1].1, c as u64)));
        }
        let fitting = ends.iter().take(self.longest_end + 1).filter_map(|(_, hash)| self.by_end.get(hash));
        let mut fitting: Vec<u16> = fitting.flatten().copied().collect();
        // Those that serve most words come first.
        fitting.sort_unstable();
        for number in fitting {
            if let Some(lemma) = scripts[usize::from(number)].apply(lower).filter(|lemma| !lemma.is_empty()) {
                found.push(Candidate {
                    origin: Origin::Listed(number),
                    lemma,
                    hashes: self.hashes[usize::from(number)],
                });
            }
            if found.len() == MAX_CANDIDATES {
                break;
            }
        }
        let longest = ends[ends.len().min(LONGEST_NEW_END + 1) - 1].0;
        let mut stem = EMPTY;
        for (length, (at, c)) in lower.char_indices().enumerate() {
            let beginning = stem;
            stem = of_more(stem, std::iter::once(c));
            if length < SHORTEST_STEM || at < longest {
                continue;
            }
            for (number, addition) in self.additions.iter().enumerate() {
                if length == SHORTEST_STEM && !addition.is_empty() {
                    continue;
                }
                // Most are unknown, and need not be written out to be told so.
                if !is_known(of_more(beginning, addition.chars())) {
                    continue;
                }
                let lemma = [&lower[..at], addition].concat();
                if !found.iter().any(|one| one.lemma == lemma) {
                    let hashes = ScriptHashes::new(&self.new_script(lower, at, number));
                    found.push(Candidate { origin: Origin::Derived(at, number), lemma, hashes });
                }
            }
        }
        found
    }

    fn new_script(&self, lower: &str, at: usize, addition: usize) -> EditScript {
        EditScript { end: (lower[at..].to_owned(), self.additions[addition].clone()), ..EditScript::default() }
    }
}
