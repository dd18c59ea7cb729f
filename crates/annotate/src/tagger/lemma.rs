//! Chooses the lemma of a word whose part of speech is known.
//!
//! Words whose lemma no rule gives are remembered. For all others the scripts that fit compete: each
//! is weighed by the ends and beginnings it would replace, and by the lemma it would make, for a lemma
//! that has been seen is a better guess than one that has not.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::hash::{EMPTY, Hash, mix, of_more, of_str};
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_number};
use crate::tagger::joints::Joints;
use crate::tagger::script::{Case, Script, lower};
use crate::tagger::sparse::Sparse;
use crate::tagger::words::{Word, ends};

/// Longer words are their own lemma.
const MOST_CHARS: usize = 64;
/// No word is compared in more ways than this.
const MOST_CANDIDATES: usize = 24;

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
pub struct Asked<'w> {
    /// The word in small letters.
    pub lower: &'w str,
    /// What is seen of it.
    pub word: Word,
    /// The number of its tag.
    pub tag: u8,
}

/// How many features a script has.
const FEATURES: usize = 30;
/// And how many a case has.
const CASE_FEATURES: usize = 7;

/// The part of a script's features that is the same for all scripts that compete for a word.
#[derive(Debug)]
pub struct Question([Hash; FEATURES]);

impl Question {
    /// What is asked about a word.
    pub fn new(asked: &Asked<'_>) -> Question {
        let (word, tag) = (&asked.word, u64::from(asked.tag));
        let [e1, e2, e3, e4, e5, e6] = word.ends;
        let mut number = 0;
        let mut part = |parts: &[u64]| {
            number += 1;
            parts.iter().fold(mix(1, number), |hash, part| mix(hash, *part))
        };
        Question([
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
            part(&[word.starts[0], tag]),
            part(&[word.starts[1], tag]),
            part(&[word.starts[2]]),
            part(&[word.starts[3]]),
            part(&[word.length, tag]),
            part(&[word.looks]),
            part(&[word.starts[3], e3]),
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
        let Traits { start, end, both, added, taken, taken_length } = candidate.traits;
        let made: [Hash; 4] = ends(&candidate.lemma);
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
pub fn case_features(asked: &Asked<'_>, case: Case, is_first: bool) -> [Hash; CASE_FEATURES] {
    let (tag, case, first) = (u64::from(asked.tag), case as u64, u64::from(is_first));
    let word = &asked.word;
    let looks = word.looks;
    let feature =
        |number: u64, parts: &[u64]| parts.iter().fold(mix(mix(2, number), case), |hash, part| mix(hash, *part));
    [
        feature(1, &[tag, looks]),
        feature(2, &[tag, looks, first]),
        feature(3, &[tag, looks, word.length]),
        feature(4, &[tag, word.ends[2], looks & 7]),
        feature(5, &[word.ends[1], looks & 7]),
        feature(6, &[word.whole]),
        feature(7, &[word.starts[3], looks & 7, tag]),
    ]
}

/// What a remembered word is found by.
pub fn remembered(word: &Word, tag: u8) -> Hash {
    mix(mix(3, word.whole), u64::from(tag))
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
    fn choose(&self, asked: &Asked<'_>) -> Option<Cow<'_, Script>> {
        let is_known = |lemma: Hash| self.known.has(known_hash(lemma, asked.tag)[1]);
        let candidates = self.ranks.candidates(&self.scripts, asked.lower, is_known);
        let question = Question::new(asked);
        let mut best = (i32::MIN, 0);
        for (place, candidate) in candidates.iter().enumerate() {
            let mut known = known_lemma(&candidate.lemma, asked.tag).map(|hash| self.known.has(hash));
            known[2] &= candidate.lemma != asked.lower;
            let features = question.features(candidate, knowledge(known));
            let score = self.weights.of(&features);
            if score > best.0 {
                best = (score, place);
            }
        }
        Some(match candidates.get(best.1)?.which {
            Which::Ranked(number) => Cow::Borrowed(&self.scripts[usize::from(number)]),
            Which::New(at, addition) => Cow::Owned(self.ranks.new_script(asked.lower, at, addition)),
        })
    }

    fn case(&self, asked: &Asked<'_>, is_first: bool) -> Case {
        let score = |case: &Case| self.case_weights.of(&case_features(asked, *case, is_first));
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
    which: Which,
    /// The lemma it makes, in small letters.
    pub lemma: String,
    traits: Traits,
}

/// Where a candidate comes from.
#[derive(Debug, Clone, Copy)]
enum Which {
    /// The number of a script that competes.
    Ranked(u16),
    /// Takes the end from this byte of the word on, and puts the addition with this number there.
    New(usize, usize),
}

/// What a script is to features.
#[derive(Debug, Clone, Copy)]
struct Traits {
    start: Hash,
    end: Hash,
    both: Hash,
    /// What is added at the end.
    added: Hash,
    /// The beginning of what is taken from the end: one, two, three characters.
    taken: [Hash; 3],
    taken_length: u64,
}

impl Traits {
    fn new(script: &Script) -> Traits {
        let start = mix(of_str(&script.start.0), of_str(&script.start.1));
        let added = of_str(&script.end.1);
        let end = mix(of_str(&script.end.0), added);
        let taken = Word::new(&script.end.0);
        Traits {
            start,
            end,
            both: mix(start, end),
            added,
            taken: [taken.starts[0], taken.starts[1], taken.starts[2]],
            taken_length: taken.length,
        }
    }
}

/// Hashes are hashed already.
#[derive(Debug, Default)]
struct Already(u64);

type Plain = BuildHasherDefault<Already>;

impl Hasher for Already {
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
pub struct Ranks {
    /// By the hash of what they take from the end, last character first.
    by_end: HashMap<Hash, Vec<u16>, Plain>,
    longest_end: usize,
    traits: Vec<Traits>,
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
            ranks.traits.push(Traits::new(script));
            let end = &script.end;
            ranks.longest_end = ranks.longest_end.max(end.0.chars().count());
            let hash = end.0.chars().rev().fold(0, |hash, c| mix(hash, c as u64));
            ranks.by_end.entry(hash).or_default().push(number as u16);
            if ranks.additions.len() < ADDITIONS && end.0.chars().count() > 1 && !ranks.additions.contains(&end.1) {
                ranks.additions.push(end.1.clone());
            }
        }
        ranks
    }

    /// The scripts that fit a word, and new ones that take another end from it if that leads to a known lemma.
    pub fn candidates(&self, scripts: &[Script], lower: &str, is_known: impl Fn(Hash) -> bool) -> Vec<Candidate> {
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
                found.push(Candidate { which: Which::Ranked(number), lemma, traits: self.traits[usize::from(number)] });
            }
            if found.len() == MOST_CANDIDATES {
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
                    let traits = Traits::new(&self.new_script(lower, at, number));
                    found.push(Candidate { which: Which::New(at, number), lemma, traits });
                }
            }
        }
        found
    }

    fn new_script(&self, lower: &str, at: usize, addition: usize) -> Script {
        Script { end: (lower[at..].to_owned(), self.additions[addition].clone()), ..Script::default() }
    }
}
