//! Feature extraction: one pass over a sample of the text.

use std::borrow::Cow;

use super::decide::{languages_of_script, script};
use super::grams::{GRAMS, Label, STEP, pair_hash, word_hash};
use super::letters::{WordBuffer, is_accent, letter};
use super::script::Script;
use crate::normalise::normalise;

/// Longer texts are sampled: more text would not change the result.
pub(super) const ENOUGH_BYTES: usize = 1280;
/// The size of the first sample of a long text, which suffices for most.
pub(super) const FIRST_TRY_BYTES: usize = 512;
const PIECES: usize = 4;

/// The features of a text, before they are weighted.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The sample, normalised.
    pub(super) read: String,
    /// Log-probabilities of the n-grams by class, above the floor of each class.
    pub(super) ngrams: Box<[f32; 256]>,
    /// The factor of the floors.
    pub(super) mass: f32,
    /// Bytes of the sample without non-words.
    pub(super) bytes: usize,
    /// N-grams found, repetitions included.
    pub(super) found: usize,
    /// Points by label: from quadgrams, words, and words and word pairs of close languages.
    pub(super) quadgrams: Vec<u32>,
    pub(super) words: Vec<u32>,
    pub(super) marks: Vec<u32>,
    /// Quadgrams and words looked up, whether found or not.
    pub(super) quadgrams_seen: usize,
    pub(super) quadgrams_known: usize,
    pub(super) words_seen: usize,
    /// Letters by script.
    pub(super) scripts: [u32; Script::COUNT],
    /// Sum of the inverse document frequency of frequent words, by label.
    pub(super) frequent: Vec<f32>,
    /// Letters of the words that were looked up.
    pub(super) letters: usize,
}

/// Counters that are reused between texts, because clearing them costs more than a short text.
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
            quadgrams: vec![0; labels],
            words: vec![0; labels],
            marks: vec![0; labels],
            quadgrams_seen: 0,
            quadgrams_known: 0,
            words_seen: 0,
            scripts: [0; Script::COUNT],
            frequent: vec![0.0; labels],
            letters: 0,
        }
    }

    /// Extracts the features of a text, in time linear in the sample.
    pub(super) fn gather(text: &str, enough_bytes: usize, scratch: &mut Scratch) -> Evidence {
        let mut evidence = Evidence::none();
        let mut pieces = sample(text, enough_bytes).join("\n");
        if let Cow::Owned(normal) = normalise(&pieces) {
            pieces = normal;
        }
        if is_all_caps(&pieces) {
            pieces = pieces.to_lowercase();
        }
        let mut speech = Vec::with_capacity(pieces.len());
        let mut letters = Letters::new();
        for word in pieces.split_inclusive([' ', '\n']) {
            if !is_non_word(word) {
                speech.extend_from_slice(word.as_bytes());
                letters.read(word, &mut evidence);
            }
        }
        letters.end_word(&mut evidence);
        evidence.bytes = speech.len();
        // N-grams are not needed for scripts with one language.
        if script(&evidence.scripts).is_some_and(|script| languages_of_script(script).len() > 1) {
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
        // All slices are looked up before any is read, so that cache misses overlap.
        let weights: Vec<&[[u8; 2]]> = scratch.touched.iter().map(|feature| GRAMS.pairs(*feature)).collect();
        for (feature, pairs) in scratch.touched.drain(..).zip(weights) {
            let count = std::mem::take(&mut scratch.counts[feature as usize]);
            // Sublinear term frequency: a name in every sentence is weak evidence.
            let times = f32::from(count).ln_1p();
            self.mass += times;
            let unit = times * STEP;
            for [class, weight] in pairs {
                self.ngrams[usize::from(*class)] += unit * f32::from(*weight);
            }
        }
    }
}

/// The text, or evenly spaced pieces of it if it is long.
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

/// Returns true for text in capitals, which the n-grams do not cover.
fn is_all_caps(text: &str) -> bool {
    let mut upper = false;
    for letter in text.chars().take(ENOUGH_BYTES) {
        if letter.is_lowercase() {
            return false;
        }
        upper |= letter.is_uppercase();
    }
    upper
}

/// Returns true for tokens that are not words: URLs, e-mail addresses, numbers, timestamps, code.
pub(super) fn is_non_word(word: &str) -> bool {
    let bytes = word.trim_ascii_end().as_bytes();
    // Not in scripts without spaces, where a token may be a sentence with a number in it.
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

/// Splits a text into words of one script, in lower case, and looks them up.
struct Letters {
    word: WordBuffer,
    script: Option<Script>,
    /// The last two hashes: immediate repetitions are not counted.
    recent_quadgrams: [u32; 2],
    recent_words: [u64; 2],
    turn: usize,
}

impl Letters {
    fn new() -> Letters {
        Letters { word: WordBuffer::new(), script: None, recent_quadgrams: [0; 2], recent_words: [0; 2], turn: 0 }
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
        let has_words = !matches!(script, Script::Kana | Script::Han | Script::Hangul);
        if has_words && !self.word.is_empty() {
            evidence.letters += self.word.letters();
            self.look_up_quadgrams(script == Script::Latin, evidence);
            self.look_up_word(script == Script::Latin, evidence);
        }
        self.word.clear();
    }

    fn look_up_quadgrams(&mut self, latin: bool, evidence: &mut Evidence) {
        let recent = &mut self.recent_quadgrams;
        self.word.quadgrams(|hash| {
            evidence.quadgrams_seen += 1;
            if !recent.contains(&hash) {
                let value = GRAMS.quadgrams.by_quadgram(hash);
                if value != 0 {
                    *recent = [recent[1], hash];
                    evidence.quadgrams_known += 1;
                    add(&mut evidence.quadgrams, GRAMS.scored_labels(value, latin));
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
            add(&mut evidence.marks, GRAMS.scored_labels(GRAMS.marks.by_word(pair_hash(before, hash)), latin));
        }
        add(&mut evidence.marks, GRAMS.scored_labels(GRAMS.marks.by_word(hash), latin));
        add(&mut evidence.words, GRAMS.scored_labels(GRAMS.words.by_word(hash), latin));
        let owners = GRAMS.owners(self.word.bytes());
        if !owners.is_empty() {
            let rarity = (WORD_LISTS / owners.len() as f32).ln();
            owners.iter().for_each(|label| evidence.frequent[usize::from(*label)] += rarity);
        }
    }
}

/// The number of lists of frequent words, for the inverse document frequency.
pub(super) const WORD_LISTS: f32 = 90.0;

fn add(points: &mut [u32], scored_labels: impl Iterator<Item = (Label, u8)>) {
    for (label, point) in scored_labels {
        points[usize::from(label)] += u32::from(point);
    }
}
