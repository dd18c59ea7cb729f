//! Reads a text once and gathers what it says about its language.

use std::borrow::Cow;

use super::decide::{script, writers};
use super::grams::{GRAMS, Label, STEP, pair_hash, word_hash};
use super::letters::{Word, is_accent, letter};
use super::script::Script;
use crate::normalise::normalise;

/// Longer texts are judged by pieces from their whole length: more would not change the answer.
pub(super) const ENOUGH_BYTES: usize = 1280;
/// Most long texts are told by less.
pub(super) const GLANCE_BYTES: usize = 512;
const PIECES: usize = 4;

/// What a text says about its language, before anybody weighs it.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// What was read, in one spelling.
    pub(super) read: String,
    /// Log-probabilities per class of n-grams, above the floor of each class.
    pub(super) ngrams: Box<[f32; 256]>,
    /// What the floors are to be multiplied by.
    pub(super) mass: f32,
    /// Bytes that were read.
    pub(super) bytes: usize,
    /// Features found, repeats included.
    pub(super) found: usize,
    /// Points per label from groups of four letters, from words, and from words of close languages.
    pub(super) quads: Vec<u32>,
    pub(super) words: Vec<u32>,
    pub(super) marks: Vec<u32>,
    /// Groups of letters and words looked up, known or not.
    pub(super) quads_seen: usize,
    pub(super) quads_known: usize,
    pub(super) words_seen: usize,
    /// Letters per script.
    pub(super) scripts: [u32; Script::COUNT],
    /// How rare the text's frequent words are elsewhere, per label that has them.
    pub(super) frequent: Vec<f32>,
    /// Letters in words that were looked up.
    pub(super) letters: usize,
}

/// Keeps the counts between texts, so that a short one does not pay for a long array.
#[derive(Debug)]
pub(super) struct Scratch {
    counts: Vec<u16>,
    touched: Vec<u32>,
}

impl Scratch {
    pub(super) fn new() -> Scratch {
        Scratch { counts: vec![0; GRAMS.feature_count()], touched: Vec::new() }
    }
}

impl Evidence {
    pub(super) fn none() -> Evidence {
        let labels = GRAMS.codes.len();
        Evidence {
            read: String::new(),
            ngrams: Box::new([0.0; 256]),
            mass: 0.0,
            bytes: 0,
            found: 0,
            quads: vec![0; labels],
            words: vec![0; labels],
            marks: vec![0; labels],
            quads_seen: 0,
            quads_known: 0,
            words_seen: 0,
            scripts: [0; Script::COUNT],
            frequent: vec![0.0; labels],
            letters: 0,
        }
    }

    /// Gathers the evidence of a text, in time linear in the bytes that are read of it.
    pub(super) fn gather(text: &str, enough_bytes: usize, scratch: &mut Scratch) -> Evidence {
        let mut evidence = Evidence::none();
        let mut pieces = sample(text, enough_bytes).join("\n");
        if let Cow::Owned(normal) = normalise(&pieces) {
            pieces = normal;
        }
        if is_shouted(&pieces) {
            pieces = pieces.to_lowercase();
        }
        let mut speech = Vec::with_capacity(pieces.len());
        let mut letters = Letters::new();
        for word in pieces.split_inclusive([' ', '\n']) {
            if !is_address(word) {
                speech.extend_from_slice(word.as_bytes());
                letters.read(word, &mut evidence);
            }
        }
        letters.end_word(&mut evidence);
        evidence.bytes = speech.len();
        // Where one language alone uses the script, there is nothing left to ask.
        if script(&evidence.scripts).is_some_and(|script| writers(script).len() > 1) {
            evidence.read_ngrams(&speech, scratch);
        }
        evidence.read = pieces;
        evidence
    }

    fn read_ngrams(&mut self, bytes: &[u8], scratch: &mut Scratch) {
        let mut state = 0;
        for byte in bytes {
            let (next, feature) = GRAMS.step(state, *byte);
            state = next;
            if let Some(feature) = feature {
                let count = &mut scratch.counts[feature as usize];
                if *count == 0 {
                    scratch.touched.push(feature);
                }
                *count = count.saturating_add(1);
                self.found += 1;
            }
        }
        // The table is larger than a cache: asked for all at once, what is far arrives while what is
        // near is added up.
        let said: Vec<&[[u8; 2]]> = scratch.touched.iter().map(|feature| GRAMS.pairs(*feature)).collect();
        for (feature, pairs) in scratch.touched.drain(..).zip(said) {
            let count = std::mem::take(&mut scratch.counts[feature as usize]);
            // What is repeated counts less each time: a name in every sentence is no evidence.
            let times = f32::from(count).ln_1p();
            self.mass += times;
            let unit = times * STEP;
            for [class, weight] in pairs {
                self.ngrams[usize::from(*class)] += unit * f32::from(*weight);
            }
        }
    }
}

/// The text, or pieces from its whole length if it is long.
fn sample(text: &str, enough_bytes: usize) -> Vec<&str> {
    if text.len() <= enough_bytes {
        return vec![text];
    }
    let piece = enough_bytes / PIECES;
    let stride = (text.len() - piece) / (PIECES - 1);
    (0..PIECES)
        .map(|n| {
            let start = text.floor_char_boundary(n * stride);
            &text[start..text.floor_char_boundary(start + piece)]
        })
        .collect()
}

/// Whether the text is all in capitals, which n-grams would take for a foreign language.
fn is_shouted(text: &str) -> bool {
    let mut upper = false;
    for letter in text.chars().take(ENOUGH_BYTES) {
        if letter.is_lowercase() {
            return false;
        }
        upper |= letter.is_uppercase();
    }
    upper
}

/// Whether what stands between spaces is no word: the address of a page or a person, a number, a
/// stamp, a piece of code.
pub(super) fn is_address(word: &str) -> bool {
    let bytes = word.trim_ascii_end().as_bytes();
    // Where words are not parted by spaces a whole sentence may stand around a number.
    if bytes.is_ascii()
        && bytes
            .iter()
            .any(|byte| byte.is_ascii_digit() || matches!(byte, b'{' | b'}' | b'_' | b'=' | b'<' | b'>' | b'\\' | b'#'))
    {
        return true;
    }
    if bytes.len() < 4 {
        return false;
    }
    let within = |needle: &[u8]| bytes.len() < 2048 && memchr::memmem::find(bytes, needle).is_some();
    if bytes.starts_with(b"www.") || within(b"://") {
        return true;
    }
    match memchr::memchr(b'@', bytes) {
        Some(0) => true,
        Some(at) => memchr::memchr(b'.', &bytes[at..]).is_some(),
        None => false,
    }
}

/// Parts a text into words of one script, in lower case, and looks them up.
struct Letters {
    word: Word,
    script: Option<Script>,
    /// Hashes that were looked up a moment ago: repetitions are no evidence.
    recent_quads: [u32; 2],
    recent_words: [u64; 2],
    turn: usize,
}

impl Letters {
    fn new() -> Letters {
        Letters { word: Word::new(), script: None, recent_quads: [0; 2], recent_words: [0; 2], turn: 0 }
    }

    fn read(&mut self, text: &str, evidence: &mut Evidence) {
        for any in text.chars() {
            let (script, small) = letter(any);
            let Some(script) = script else {
                if is_accent(any) && self.script.is_some() {
                    self.word.push(any);
                } else {
                    self.end_word(evidence);
                }
                continue;
            };
            evidence.scripts[script as usize] += 1;
            if self.script != Some(script) || self.word.is_full() {
                self.end_word(evidence);
                self.script = Some(script);
            }
            self.word.push(small);
        }
    }

    fn end_word(&mut self, evidence: &mut Evidence) {
        let Some(script) = self.script.take() else { return };
        let telling = !matches!(script, Script::Kana | Script::Han | Script::Hangul);
        if telling && !self.word.is_empty() {
            evidence.letters += self.word.letters();
            self.look_up_quads(script == Script::Latin, evidence);
            self.look_up_word(script == Script::Latin, evidence);
        }
        self.word.clear();
    }

    fn look_up_quads(&mut self, latin: bool, evidence: &mut Evidence) {
        let recent = &mut self.recent_quads;
        self.word.quads(|hash| {
            evidence.quads_seen += 1;
            if !recent.contains(&hash) {
                let value = GRAMS.quads.by_quad(hash);
                if value != 0 {
                    *recent = [recent[1], hash];
                    evidence.quads_known += 1;
                    add(&mut evidence.quads, GRAMS.voices(value, latin));
                }
            }
        });
    }

    fn look_up_word(&mut self, latin: bool, evidence: &mut Evidence) {
        let (beginning, is_all) = self.word.beginning(8);
        let hash = word_hash(beginning, is_all);
        evidence.words_seen += 1;
        if self.recent_words.contains(&hash) {
            return;
        }
        self.recent_words[self.turn] = hash;
        self.turn = 1 - self.turn;
        let before = self.recent_words[self.turn];
        if before != 0 {
            add(&mut evidence.marks, GRAMS.voices(GRAMS.marks.by_word(pair_hash(before, hash)), latin));
        }
        add(&mut evidence.marks, GRAMS.voices(GRAMS.marks.by_word(hash), latin));
        add(&mut evidence.words, GRAMS.voices(GRAMS.words.by_word(hash), latin));
        let owners = GRAMS.owners(self.word.bytes());
        if !owners.is_empty() {
            let rarity = (LISTS / owners.len() as f32).ln();
            owners.iter().for_each(|label| evidence.frequent[usize::from(*label)] += rarity);
        }
    }
}

/// How many lists of frequent words there are, of which a word's owners are a share.
pub(super) const LISTS: f32 = 90.0;

fn add(points: &mut [u32], voices: impl Iterator<Item = (Label, u8)>) {
    for (label, point) in voices {
        points[usize::from(label)] += u32::from(point);
    }
}
