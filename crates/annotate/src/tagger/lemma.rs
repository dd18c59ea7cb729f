//! Chooses the lemma of a word whose part of speech is known.
//!
//! Words whose lemma no rule gives are remembered. For all others the scripts that fit compete: each
//! is weighed by the ends and beginnings it would replace, and by the lemma it would make, for a lemma
//! that has been seen is a better guess than one that has not.

use std::collections::HashMap;

use crate::hash::{Hash, mix, of_str};
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_number};
use crate::tagger::script::{Case, Script, lower};
use crate::tagger::sparse::Sparse;
use crate::tagger::words::Word;

/// Longer words are their own lemma.
const MOST_CHARS: usize = 64;
/// No word is compared in more ways than this.
const MOST_CANDIDATES: usize = 48;

/// The scripts, their weights, and what is remembered.
#[derive(Debug, Default)]
pub struct Lemmatiser {
    scripts: Vec<Script>,
    /// Scripts that compete, by what they take from the end.
    by_end: HashMap<String, Vec<u16>>,
    longest_end: usize,
    identities: Vec<[Hash; 3]>,
    weights: Weights,
    case_weights: Weights,
    remembered: Sparse,
    memory: Vec<(u16, u8)>,
    known: Sparse,
}

/// Single weights of features.
#[derive(Debug, Default)]
pub struct Weights {
    known: Sparse,
    weights: Vec<i8>,
}

impl Weights {
    fn read(reader: &mut Reader<'_>) -> Result<Weights, ModelError> {
        let known = Sparse::read(reader)?;
        let weights = reader.take(known.len())?.iter().map(|byte| *byte as i8).collect();
        Ok(Weights { known, weights })
    }

    /// Places and weights as a part of a model; places must ascend.
    pub fn write(bits: u32, pairs: &[(u32, i8)], out: &mut Vec<u8>) {
        let places: Vec<u32> = pairs.iter().map(|pair| pair.0).collect();
        Sparse::write(bits, &places, out);
        out.extend(pairs.iter().map(|pair| pair.1 as u8));
    }

    #[inline]
    fn of(&self, feature: Hash) -> i32 {
        self.known.find(feature).map_or(0, |number| i32::from(self.weights[number]))
    }
}

/// A word on its way to its lemma.
#[derive(Debug)]
pub struct Asked<'w> {
    /// The word in small letters.
    pub lower: &'w str,
    /// What is seen of it.
    pub word: Word,
    /// The number of its tag.
    pub tag: u8,
}

/// Scripts by what they do, as numbers: at the beginning, at the end, in all.
pub fn identity(script: &Script) -> [Hash; 3] {
    let start = mix(of_str(&script.start.0), of_str(&script.start.1));
    let end = mix(of_str(&script.end.0), of_str(&script.end.1));
    [start, end, mix(start, end)]
}

/// What speaks for and against a script. `is_known` tells whether a lemma has been seen, alone or with a tag.
pub fn script_features(asked: &Asked<'_>, [start, end, both]: [Hash; 3], lemma: &str, known: u64, out: &mut Vec<Hash>) {
    let tag = u64::from(asked.tag);
    let word = &asked.word;
    let mut feature = |number: u64, parts: &[u64]| {
        out.push(parts.iter().fold(mix(1, number), |hash, part| mix(hash, *part)));
    };
    feature(1, &[both]);
    feature(2, &[both, tag]);
    feature(3, &[end, word.ends[0]]);
    feature(4, &[end, word.ends[1]]);
    feature(5, &[end, word.ends[2]]);
    feature(6, &[end, word.ends[3]]);
    feature(7, &[end, word.ends[4]]);
    feature(8, &[end, word.ends[5]]);
    feature(9, &[end, word.ends[1], tag]);
    feature(10, &[end, word.ends[2], tag]);
    feature(11, &[end, word.ends[3], tag]);
    feature(12, &[end, word.ends[4], tag]);
    feature(13, &[start, word.starts[0], tag]);
    feature(14, &[start, word.starts[1], tag]);
    feature(15, &[start, word.starts[2]]);
    feature(16, &[start, word.starts[3]]);
    feature(17, &[start, end, word.starts[1]]);
    feature(18, &[end, word.length, tag]);
    feature(19, &[end, word.looks]);
    let made = Word::new(lemma);
    feature(20, &[made.ends[0], tag]);
    feature(21, &[made.ends[1], tag]);
    feature(22, &[made.ends[2], tag]);
    feature(23, &[made.ends[3], tag]);
    feature(24, &[made.starts[1], tag, start]);
    feature(25, &[known, tag]);
    feature(26, &[known, end]);
    feature(27, &[known, made.length.min(4)]);
    feature(28, &[end, word.starts[3], word.ends[2]]);
}

/// What speaks for and against a case.
pub fn case_features(asked: &Asked<'_>, case: Case, is_first: bool, out: &mut Vec<Hash>) {
    let (tag, case, first) = (u64::from(asked.tag), case as u64, u64::from(is_first));
    let word = &asked.word;
    let looks = word.looks;
    let mut feature = |number: u64, parts: &[u64]| {
        out.push(parts.iter().fold(mix(mix(2, number), case), |hash, part| mix(hash, *part)));
    };
    feature(1, &[tag, looks]);
    feature(2, &[tag, looks, first]);
    feature(3, &[tag, looks, word.length]);
    feature(4, &[tag, word.ends[2], looks & 7]);
    feature(5, &[word.ends[1], looks & 7]);
    feature(6, &[word.whole]);
    feature(7, &[word.starts[3], looks & 7, tag]);
}

/// What a remembered word is found by.
pub fn remembered(word: &Word, tag: u8) -> Hash {
    mix(mix(3, word.whole), u64::from(tag))
}

/// What a known lemma is found by: alone, with its tag, and as a word of a text.
pub fn known_lemma(lemma: &str, tag: u8) -> [Hash; 3] {
    let lemma = of_str(lemma);
    [mix(4, lemma), mix(mix(5, lemma), u64::from(tag)), mix(6, lemma)]
}

/// What is known about a lemma, as a number for features.
pub fn knowledge([alone, with_tag, as_word]: [bool; 3]) -> u64 {
    u64::from(alone) + u64::from(with_tag) * 2 + u64::from(as_word) * 4
}

impl Lemmatiser {
    /// Reads what [`Lemmatiser::write`] wrote.
    pub fn read(reader: &mut Reader<'_>) -> Result<Lemmatiser, ModelError> {
        let count = reader.count()?;
        let scripts = (0..count).map(|_| Script::read(reader)).collect::<Result<Vec<Script>, _>>()?;
        // The first ones compete, the others are only remembered.
        let competing = reader.number()? as usize;
        let mut lemmatiser = Lemmatiser {
            weights: Weights::read(reader)?,
            case_weights: Weights::read(reader)?,
            remembered: Sparse::read(reader)?,
            ..Lemmatiser::default()
        };
        for _ in 0..lemmatiser.remembered.len() {
            let number = reader.number()?;
            let (script, case) = (number / 4, (number % 4) as u8);
            if script as usize >= scripts.len() || script > u32::from(u16::MAX) {
                return Err(ModelError::Odd("a lemma has a script that is not there"));
            }
            lemmatiser.memory.push((script as u16, case));
        }
        lemmatiser.known = Sparse::read(reader)?;
        for (number, script) in scripts.iter().enumerate().take(competing.min(usize::from(u16::MAX))) {
            lemmatiser.longest_end = lemmatiser.longest_end.max(script.end.0.chars().count());
            lemmatiser.by_end.entry(script.end.0.clone()).or_default().push(number as u16);
        }
        lemmatiser.identities = scripts.iter().map(identity).collect();
        lemmatiser.scripts = scripts;
        Ok(lemmatiser)
    }

    /// The parts of a lemmatiser as a part of a model. `memory` is sorted by place.
    #[allow(clippy::too_many_arguments)]
    pub fn write(
        scripts: &[Script],
        competing: usize,
        bits: u32,
        weights: &[(u32, i8)],
        case_weights: &[(u32, i8)],
        memory: &[(u32, u16, Case)],
        known: &[u32],
        out: &mut Vec<u8>,
    ) {
        put_number(scripts.len() as u32, out);
        scripts.iter().for_each(|script| script.write(out));
        put_number(competing as u32, out);
        Weights::write(bits, weights, out);
        Weights::write(bits, case_weights, out);
        let places: Vec<u32> = memory.iter().map(|row| row.0).collect();
        Sparse::write(bits, &places, out);
        memory.iter().for_each(|(_, script, case)| put_number(u32::from(*script) * 4 + *case as u32, out));
        Sparse::write(bits, known, out);
    }

    /// The lemma of a word, given the number of its tag.
    pub fn lemma(&self, text: &str, word: &Word, tag: u8, is_first: bool) -> String {
        if self.scripts.is_empty() || text.chars().nth(MOST_CHARS).is_some() {
            return text.to_owned();
        }
        let lower = lower(text);
        let asked = Asked { lower: &lower, word: *word, tag };
        let (script, case) = match self.remembered.find(remembered(word, tag)) {
            Some(number) => (usize::from(self.memory[number].0), Case::ALL[usize::from(self.memory[number].1)]),
            None => (self.choose(&asked), self.case(&asked, is_first)),
        };
        let script = &self.scripts[script];
        match (script.apply(&lower), case) {
            // Remembered by its hash, it may be another word.
            (None, _) => text.to_owned(),
            (Some(_), Case::Keep) => script.apply_kept(text, &lower).unwrap_or_default(),
            (Some(lemma), _) => case.apply(&lemma, ""),
        }
    }

    /// The script that fits best; the lemma must not be empty.
    pub fn choose(&self, asked: &Asked<'_>) -> usize {
        let mut features = Vec::with_capacity(32);
        let mut best = (i32::MIN, 0);
        for (number, lemma) in self.candidates(asked.lower) {
            let mut known = known_lemma(&lemma, asked.tag).map(|hash| self.known.find(hash).is_some());
            known[2] &= lemma != asked.lower;
            let known = knowledge(known);
            features.clear();
            script_features(asked, self.identities[usize::from(number)], &lemma, known, &mut features);
            let score = features.iter().map(|feature| self.weights.of(*feature)).sum();
            if score > best.0 {
                best = (score, usize::from(number));
            }
        }
        best.1
    }

    /// Scripts that can be applied, with the lemmas they make.
    pub fn candidates(&self, lower: &str) -> Vec<(u16, String)> {
        candidates(&self.scripts, &self.by_end, self.longest_end, lower)
    }

    fn case(&self, asked: &Asked<'_>, is_first: bool) -> Case {
        let mut features = Vec::with_capacity(8);
        let score = |case: &Case| {
            features.clear();
            case_features(asked, *case, is_first, &mut features);
            features.iter().map(|feature| self.case_weights.of(*feature)).sum::<i32>()
        };
        let scores = Case::ALL.each_ref().map(score);
        let highest = scores.iter().copied().max().unwrap_or_default();
        Case::ALL[scores.iter().position(|score| *score == highest).unwrap_or_default()]
    }
}

/// Scripts that can be applied to a word, with the lemmas they make. `by_end` lists scripts by what they take from the end.
pub fn candidates(
    scripts: &[Script],
    by_end: &HashMap<String, Vec<u16>>,
    longest_end: usize,
    lower: &str,
) -> Vec<(u16, String)> {
    let mut found = Vec::new();
    let starts = lower.char_indices().rev().map(|(at, _)| at);
    for at in std::iter::once(lower.len()).chain(starts).take(longest_end + 1) {
        for number in by_end.get(&lower[at..]).into_iter().flatten() {
            let lemma = scripts[usize::from(*number)].apply(lower).filter(|lemma| !lemma.is_empty());
            found.extend(lemma.map(|lemma| (*number, lemma)));
            if found.len() == MOST_CANDIDATES {
                return found;
            }
        }
    }
    found
}
