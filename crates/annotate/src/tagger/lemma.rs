//! Chooses the lemma of a word whose part of speech is known.
//!
//! Words whose lemma no rule gives are remembered. For all others the scripts that fit compete: each
//! is weighed by the ends and beginnings it would replace, and by the lemma it would make, for a lemma
//! that has been seen is a better guess than one that has not.

use std::collections::HashMap;

use crate::hash::{Hash, mix, of_str};
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_number};
use crate::tagger::joints::Joints;
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
    /// Those of them that compete.
    ranks: Ranks,
    weights: Weights,
    case_weights: Weights,
    remembered: Sparse,
    memory: Vec<(u16, u8)>,
    known: Sparse,
    joints: Joints,
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

/// Scripts by what they do, as numbers: at the beginning, at the end, in all, and what they add at the end.
fn identity(script: &Script) -> [Hash; 4] {
    let start = mix(of_str(&script.start.0), of_str(&script.start.1));
    let end = mix(of_str(&script.end.0), of_str(&script.end.1));
    [start, end, mix(start, end), of_str(&script.end.1)]
}

/// What speaks for and against a script. `is_known` tells whether a lemma has been seen, alone or with a tag.
pub fn script_features(asked: &Asked<'_>, candidate: &Candidate, known: u64, out: &mut Vec<Hash>) {
    let [start, end, both, _] = candidate.identity;
    let lemma = candidate.lemma.as_str();
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
    let added = candidate.identity[3];
    let taken = Word::new(&candidate.script.end.0);
    feature(29, &[added, taken.starts[0], tag]);
    feature(30, &[added, taken.starts[1], tag]);
    feature(31, &[added, taken.starts[2]]);
    feature(32, &[added, known, tag]);
    feature(33, &[added, taken.length, tag]);
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
        lemmatiser.joints = Joints::read(reader)?;
        lemmatiser.ranks = Ranks::new(&scripts[..competing.min(scripts.len())]);
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
        joints: &[u8],
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
        out.extend(joints);
    }

    /// The lemma of a word, given the number of its tag.
    pub fn lemma(&self, text: &str, word: &Word, tag: u8, is_first: bool) -> String {
        if self.scripts.is_empty() || text.chars().nth(MOST_CHARS).is_some() {
            return text.to_owned();
        }
        let lower = lower(text);
        let asked = Asked { lower: &lower, word: *word, tag };
        if let Some(number) = self.remembered.find(remembered(word, tag)) {
            let (script, case) = self.memory[number];
            return made(&self.scripts[usize::from(script)], Case::ALL[usize::from(case)], text, &lower);
        }
        let case = self.case(&asked, is_first);
        let Some(script) = self.choose(&asked) else { return text.to_owned() };
        let lemma = made(&script, case, text, &lower);
        let small = script.apply(&lower).unwrap_or_default();
        self.joints.mark(lemma, &small)
    }

    /// The script that fits best.
    fn choose(&self, asked: &Asked<'_>) -> Option<Script> {
        let knows = |lemma: &str| known_lemma(lemma, asked.tag).map(|hash| self.known.find(hash).is_some());
        let mut candidates = self.ranks.candidates(&self.scripts, asked.lower, |lemma| knows(lemma)[1]);
        let mut features = Vec::with_capacity(40);
        let mut best = (i32::MIN, 0);
        for (place, candidate) in candidates.iter().enumerate() {
            let mut known = knows(&candidate.lemma);
            known[2] &= candidate.lemma != asked.lower;
            features.clear();
            script_features(asked, candidate, knowledge(known), &mut features);
            let score = features.iter().map(|feature| self.weights.of(*feature)).sum();
            if score > best.0 {
                best = (score, place);
            }
        }
        (!candidates.is_empty()).then(|| candidates.swap_remove(best.1).script)
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

/// What a script makes of a word; the word itself if it cannot be applied: remembered by its hash, it may be another word.
fn made(script: &Script, case: Case, text: &str, lower: &str) -> String {
    let lemma = match case {
        Case::Keep => script.apply_kept(text, lower),
        _ => script.apply(lower).map(|lemma| case.apply(&lemma, "")),
    };
    lemma.unwrap_or_else(|| text.to_owned())
}

/// A script that can be applied to a word.
#[derive(Debug)]
pub struct Candidate {
    /// What it does.
    pub script: Script,
    /// The lemma it makes, in small letters.
    pub lemma: String,
    identity: [Hash; 4],
}

/// Scripts that compete.
#[derive(Debug, Default)]
pub struct Ranks {
    /// By what they take from the end.
    by_end: HashMap<String, Vec<u16>>,
    longest_end: usize,
    identities: Vec<[Hash; 4]>,
    /// What is most often put at the end.
    additions: Vec<String>,
}

/// How many additions are tried with ends that were never seen.
const ADDITIONS: usize = 8;
/// How much of a word may be an end that was never seen, in characters.
const LONGEST_NEW_END: usize = 12;
/// How much of the word must be left then; one more if something is added.
const SHORTEST_STEM: usize = 2;

impl Ranks {
    /// Scripts that compete, in the order of how many words they serve.
    pub fn new(scripts: &[Script]) -> Ranks {
        let mut ranks = Ranks::default();
        for (number, script) in scripts.iter().enumerate().take(usize::from(u16::MAX)) {
            ranks.identities.push(identity(script));
            let end = &script.end;
            ranks.longest_end = ranks.longest_end.max(end.0.chars().count());
            ranks.by_end.entry(end.0.clone()).or_default().push(number as u16);
            if ranks.additions.len() < ADDITIONS && end.0.chars().count() > 1 && !ranks.additions.contains(&end.1) {
                ranks.additions.push(end.1.clone());
            }
        }
        ranks
    }

    /// The scripts that fit a word, and new ones that take another end from it if that leads to a known lemma.
    pub fn candidates(&self, scripts: &[Script], lower: &str, is_known: impl Fn(&str) -> bool) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        let starts = || std::iter::once(lower.len()).chain(lower.char_indices().rev().map(|(at, _)| at));
        for at in starts().take(self.longest_end + 1) {
            for number in self.by_end.get(&lower[at..]).into_iter().flatten() {
                let script = &scripts[usize::from(*number)];
                if let Some(lemma) = script.apply(lower).filter(|lemma| !lemma.is_empty()) {
                    let identity = self.identities[usize::from(*number)];
                    found.push(Candidate { identity, script: script.clone(), lemma });
                }
                if found.len() == MOST_CANDIDATES {
                    return found;
                }
            }
        }
        let shortest = lower.char_indices().nth(SHORTEST_STEM).map_or(lower.len(), |(at, _)| at);
        for at in starts().skip(1).take(LONGEST_NEW_END).take_while(|at| *at >= shortest) {
            for addition in self.additions.iter().filter(|addition| at > shortest || addition.is_empty()) {
                let lemma = [&lower[..at], addition].concat();
                if is_known(&lemma) && !found.iter().any(|one| one.lemma == lemma) {
                    let end = (lower[at..].to_owned(), addition.clone());
                    let script = Script { end, ..Script::default() };
                    found.push(Candidate { identity: identity(&script), script, lemma });
                }
            }
        }
        found
    }
}
