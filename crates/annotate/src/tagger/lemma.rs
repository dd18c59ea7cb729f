//! Lemma of a word whose part of speech is known.
//!
//! Words of the treebank are looked up first: those whose lemma depends on the tag in a list of
//! exceptions, then all others in a dictionary of forms, which also answers when the tag is one that
//! the form never had (*sind* is of *sein* even as a VERB). For the rest, a linear model ranks the
//! applicable edit scripts by the affixes they replace and by the lemma they produce: a lemma that
//! occurs in the treebank is more likely.

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

/// Longer words are returned as their own lemma.
const MAX_CHARS: usize = 64;
/// Maximum number of candidate scripts of a word.
const MAX_CANDIDATES: usize = 24;

/// Number of slots of the dictionary of forms as a power of two: twice those of features, because a
/// wrong hit here decides alone.
pub const FORM_BITS: u32 = 22;

/// What [`Lemmatiser::write`] serialises. Lists with slots are sorted by them.
#[derive(Debug, Default, Clone, Copy)]
pub struct LemmatiserParts<'p> {
    /// Scripts; the first `candidate_count` are candidates for unseen words.
    pub scripts: &'p [EditScript],
    /// Number of candidate scripts.
    pub candidate_count: usize,
    /// Number of feature slots as a power of two.
    pub bits: u32,
    /// Weights of script features.
    pub weights: &'p [(u32, i8)],
    /// Weights of case features.
    pub case_weights: &'p [(u32, i8)],
    /// Slot, script and case of words with a tag.
    pub exceptions: &'p [(u32, u16, LemmaCase)],
    /// Slot and script of words whatever their tag.
    pub forms: &'p [(u32, u16)],
    /// Slots of known lemmas.
    pub known: &'p [u32],
    /// Serialised compound parts.
    pub compound_marks: &'p [u8],
}

/// Edit scripts, their weights, exceptions and forms.
#[derive(Debug, Default)]
pub struct Lemmatiser {
    scripts: Vec<EditScript>,
    /// Index of the scripts that are candidates for unseen words.
    script_index: ScriptIndex,
    weights: ScriptWeights,
    case_weights: ScriptWeights,
    exceptions: FeatureIndex,
    exception_scripts: Vec<(u16, u8)>,
    /// Dictionary of forms, whatever their tag.
    forms: FeatureIndex,
    form_scripts: Vec<u16>,
    known: FeatureIndex,
    compound_marks: CompoundMarks,
}

/// Weights of hashed features.
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

    /// Serialises the weights; slots must ascend.
    pub fn write(bits: u32, pairs: &[(u32, i8)], out: &mut Vec<u8>) {
        let slots: Vec<u32> = pairs.iter().map(|pair| pair.0).collect();
        FeatureIndex::write(bits, &slots, out);
        out.extend(pairs.iter().map(|pair| pair.1 as u8));
    }

    /// Sum of the weights of features.
    #[inline]
    fn of<const COUNT: usize>(&self, features: &[Hash; COUNT]) -> i32 {
        let mut sum = 0;
        self.known.find_all(features, |number| sum += i32::from(self.weights[number]));
        sum
    }
}

/// Word to lemmatise.
#[derive(Debug)]
pub struct LemmaQuery<'w> {
    /// The lowercase word.
    pub lower: &'w str,
    /// Its hashed properties.
    pub word: HashedWord,
    /// Its tag.
    pub tag: u8,
}

/// Number of features of a script.
const FEATURES: usize = 30;
/// Number of features of a case.
const CASE_FEATURES: usize = 7;

/// Part of the features that all candidate scripts of a word share.
#[derive(Debug)]
pub struct SharedFeatures([Hash; FEATURES]);

impl SharedFeatures {
    /// Computes the shared part for a word.
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

    /// Features of a candidate; `known` comes from [`known_flags`].
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

/// Features of a lemma's case.
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

/// Key of a word in the list of exceptions.
pub fn exception_hash(word: &HashedWord, tag: u8) -> Hash {
    mix(mix(3, word.form), u64::from(tag))
}

/// Key of a word in the dictionary of forms.
pub fn form_hash(word: &HashedWord) -> Hash {
    mix(7, word.form)
}

/// Keys of a known lemma: alone, with its tag, and as a word form.
pub fn known_lemma(lemma: &str, tag: u8) -> [Hash; 3] {
    known_hash(of_str(lemma), tag)
}

/// Same as [`known_lemma`], from the hash of the lemma.
pub fn known_hash(lemma: Hash, tag: u8) -> [Hash; 3] {
    [mix(4, lemma), mix(mix(5, lemma), u64::from(tag)), mix(6, lemma)]
}

/// Packs the results of [`known_lemma`] lookups into a feature value.
pub fn known_flags([alone, with_tag, as_word]: [bool; 3]) -> u64 {
    u64::from(alone) + u64::from(with_tag) * 2 + u64::from(as_word) * 4
}

impl Lemmatiser {
    /// Reads the output of [`Lemmatiser::write`], of any format version; before version 3 there was
    /// no dictionary of forms.
    pub fn read(version: u8, reader: &mut Reader<'_>) -> Result<Lemmatiser, ModelError> {
        let count = reader.count()?;
        let scripts = (0..count).map(|_| EditScript::read(reader)).collect::<Result<Vec<EditScript>, _>>()?;
        // The first scripts are candidates for unseen words, the others only occur in exceptions.
        let candidate_count = reader.number()? as usize;
        let mut lemmatiser = Lemmatiser {
            weights: ScriptWeights::read(reader)?,
            case_weights: ScriptWeights::read(reader)?,
            exceptions: FeatureIndex::read(reader)?,
            ..Lemmatiser::default()
        };
        for _ in 0..lemmatiser.exceptions.len() {
            let number = reader.number()?;
            let (script, case) = (number / 4, (number % 4) as u8);
            lemmatiser.exception_scripts.push((script_number(script, &scripts)?, case));
        }
        if version >= 3 {
            lemmatiser.forms = FeatureIndex::read(reader)?;
            for _ in 0..lemmatiser.forms.len() {
                lemmatiser.form_scripts.push(script_number(reader.number()?, &scripts)?);
            }
        }
        lemmatiser.known = FeatureIndex::read(reader)?;
        lemmatiser.compound_marks = CompoundMarks::read(reader)?;
        lemmatiser.script_index = ScriptIndex::new(&scripts[..candidate_count.min(scripts.len())]);
        lemmatiser.scripts = scripts;
        Ok(lemmatiser)
    }

    /// Serialises a lemmatiser.
    pub fn write(parts: &LemmatiserParts<'_>, out: &mut Vec<u8>) {
        let LemmatiserParts { scripts, bits, exceptions, forms, .. } = *parts;
        put_number(scripts.len() as u32, out);
        scripts.iter().for_each(|script| script.write(out));
        put_number(parts.candidate_count as u32, out);
        ScriptWeights::write(bits, parts.weights, out);
        ScriptWeights::write(bits, parts.case_weights, out);
        let slots: Vec<u32> = exceptions.iter().map(|row| row.0).collect();
        FeatureIndex::write(bits, &slots, out);
        exceptions.iter().for_each(|(_, script, case)| put_number(u32::from(*script) * 4 + *case as u32, out));
        let slots: Vec<u32> = forms.iter().map(|row| row.0).collect();
        FeatureIndex::write(FORM_BITS, &slots, out);
        forms.iter().for_each(|(_, script)| put_number(u32::from(*script), out));
        FeatureIndex::write(bits, parts.known, out);
        out.extend(parts.compound_marks);
    }

    /// Returns the lemma of a word with a tag.
    pub fn lemma(&self, text: &str, word: &HashedWord, tag: u8, is_first: bool) -> String {
        if self.scripts.is_empty() || text.chars().nth(MAX_CHARS).is_some() {
            return text.to_owned();
        }
        let lower = lowercase(text);
        let query = LemmaQuery { lower: &lower, word: *word, tag };
        if let Some(number) = self.exceptions.find(exception_hash(word, tag)) {
            let (script, case) = self.exception_scripts[number];
            return apply_script(&self.scripts[usize::from(script)], LemmaCase::ALL[usize::from(case)], text, &lower)
                .unwrap_or_else(|| text.to_owned());
        }
        let case = self.case(&query, is_first);
        // Forms are found by hash, so the script may belong to another word and not apply.
        if let Some(number) = self.forms.find(form_hash(word)) {
            let script = &self.scripts[usize::from(self.form_scripts[number])];
            if let Some(lemma) = apply_script(script, case, text, &lower).filter(|lemma| !lemma.is_empty()) {
                return lemma;
            }
        }
        let Some(script) = self.choose(&query) else { return text.to_owned() };
        let lemma = apply_script(&script, case, text, &lower).unwrap_or_else(|| text.to_owned());
        let lower_lemma = script.apply(&lower).unwrap_or_default();
        self.compound_marks.mark(lemma, &lower_lemma)
    }

    /// Returns true if a lowercase word is a form or a lemma of the treebank, whatever its tag.
    pub fn knows(&self, lower: &str, tags: usize) -> bool {
        let word = HashedWord::new(lower);
        let is_exception = |tag: usize| self.exceptions.contains(exception_hash(&word, tag as u8));
        self.forms.contains(form_hash(&word))
            || self.known.contains(known_hash(of_str(lower), 0)[0])
            || (0..tags).any(is_exception)
    }

    /// Returns the best script.
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

/// Applies a script; `None` if it does not fit the word.
fn apply_script(script: &EditScript, case: LemmaCase, text: &str, lower: &str) -> Option<String> {
    match case {
        LemmaCase::Keep => script.apply_kept(text, lower),
        _ => script.apply(lower).map(|lemma| case.apply(&lemma, "")),
    }
}

/// Checks the number of a script.
fn script_number(number: u32, scripts: &[EditScript]) -> Result<u16, ModelError> {
    match u16::try_from(number) {
        Ok(script) if usize::from(script) < scripts.len() => Ok(script),
        _ => Err(ModelError::Damaged("a word refers to a missing script")),
    }
}

/// Script that can be applied to a word.
#[derive(Debug)]
pub struct Candidate {
    origin: Origin,
    /// The resulting lemma, lowercase.
    pub lemma: String,
    hashes: ScriptHashes,
}

/// Source of a candidate.
#[derive(Debug, Clone, Copy)]
enum Origin {
    /// Number of a script in the model.
    Listed(u16),
    /// Script not in the model: replaces the suffix from a byte offset by the addition with a
    /// number.
    Derived(usize, usize),
}

/// Hashes of a script for features.
#[derive(Debug, Clone, Copy)]
struct ScriptHashes {
    start: Hash,
    end: Hash,
    both: Hash,
    /// Text added at the end.
    added: Hash,
    /// First one, two and three characters of the removed suffix.
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

/// Hasher for keys that are hashes already.
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

/// Index of candidate scripts.
#[derive(Debug, Default)]
pub struct ScriptIndex {
    /// Scripts by the hash of the suffix they remove, last character first.
    by_suffix: HashMap<Hash, Vec<u16>, BuildIdentityHasher>,
    longest_suffix: usize,
    hashes: Vec<ScriptHashes>,
    /// Most frequent added suffixes.
    additions: Vec<String>,
}

/// Number of additions that are combined with unseen suffixes.
const ADDITIONS: usize = 8;
/// Maximum length of an unseen suffix, in characters.
const MAX_NEW_SUFFIX_CHARS: usize = 12;
/// Minimum length of the remaining stem; one more if something is added.
const MIN_STEM_CHARS: usize = 2;

impl ScriptIndex {
    /// Indexes scripts, sorted by descending frequency.
    pub fn new(scripts: &[EditScript]) -> ScriptIndex {
        let mut script_index = ScriptIndex::default();
        for (number, script) in scripts.iter().enumerate().take(usize::from(u16::MAX)) {
            script_index.hashes.push(ScriptHashes::new(script));
            let end = &script.end;
            script_index.longest_suffix = script_index.longest_suffix.max(end.0.chars().count());
            let hash = end.0.chars().rev().fold(0, |hash, c| mix(hash, c as u64));
            script_index.by_suffix.entry(hash).or_default().push(number as u16);
            if script_index.additions.len() < ADDITIONS
                && end.0.chars().count() > 1
                && !script_index.additions.contains(&end.1)
            {
                script_index.additions.push(end.1.clone());
            }
        }
        script_index
    }

    /// Candidates for a word: scripts that apply, and replacements of unseen suffixes that lead to
    /// a known lemma.
    pub fn candidates(&self, scripts: &[EditScript], lower: &str, is_known: impl Fn(Hash) -> bool) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        let mut ends: Vec<(usize, Hash)> = vec![(lower.len(), 0)];
        for (at, c) in lower.char_indices().rev().take(self.longest_suffix.max(MAX_NEW_SUFFIX_CHARS)) {
            ends.push((at, mix(ends[ends.len() - 1].1, c as u64)));
        }
        let fitting = ends.iter().take(self.longest_suffix + 1).filter_map(|(_, hash)| self.by_suffix.get(hash));
        let mut fitting: Vec<u16> = fitting.flatten().copied().collect();
        // More frequent scripts have lower numbers.
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
        let longest = ends[ends.len().min(MAX_NEW_SUFFIX_CHARS + 1) - 1].0;
        let mut stem = EMPTY;
        for (length, (at, c)) in lower.char_indices().enumerate() {
            let beginning = stem;
            stem = of_more(stem, std::iter::once(c));
            if length < MIN_STEM_CHARS || at < longest {
                continue;
            }
            for (number, addition) in self.additions.iter().enumerate() {
                if length == MIN_STEM_CHARS && !addition.is_empty() {
                    continue;
                }
                // Most are unknown; the check by hash avoids building the string.
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
