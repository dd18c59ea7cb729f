//! What the gate measures of a document, in one walk over its words.

use std::collections::HashMap;

use tidings_model::{Document, Kind};

use crate::article::evidence::IdentityState;
use crate::article::words::{WordSet, each_word, is_unspaced, stop_words};

/// What can be said of a text in numbers. Shares are between 0 and 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measures {
    /// Words; a character of a script without spaces is half a word.
    pub words: f64,
    /// Ends of sentences.
    pub sentences: f64,
    /// The share of characters that are none: replacements, private ones, controls.
    pub bad_characters: f64,
    /// The share of letters among characters that are not blank.
    pub letters: f64,
    /// The share of words in items, rows, headings, and short lines that end without a mark.
    pub unfinished: f64,
    /// The share of words in paragraphs, or in runs of words, that the document said before.
    pub repeated: f64,
    /// The share of the most frequent word that is no small word.
    pub one_word: f64,
    /// The share of small words; 1 where we have no list of them.
    pub small_words: f64,
}

/// A line with more words than this is no heading, whatever it ends with.
const SHORT_LINE: f32 = 12.0;
/// So many words in a row are no coincidence.
const RUN: usize = 6;
/// Shares of words say nothing about fewer words than this.
const ENOUGH_WORDS: f64 = 24.0;

impl Measures {
    /// Measures a document. Program text is not looked at.
    pub fn of(document: &Document) -> Measures {
        let stops = stop_words(&document.language_code());
        let prose = || document.paragraphs.iter().filter(|paragraph| paragraph.kind != Kind::Code);
        let mut tally = Tally::default();
        for paragraph in prose() {
            let before = tally.words;
            tally.read(&paragraph.text, stops);
            let is_line = matches!(paragraph.kind, Kind::P | Kind::Quote);
            let words = tally.words - before;
            if !is_line || words <= SHORT_LINE && !ends(&paragraph.text) {
                tally.unfinished += words;
            }
        }
        let characters = tally.characters.max(1) as f64;
        let words = f64::from(tally.words);
        let is_enough = words >= ENOUGH_WORDS;
        let share = |part: f64| if is_enough { part / words.max(1.0) } else { 0.0 };
        let most = tally.counts.values().copied().max().unwrap_or_default();
        Measures {
            words: words.ceil(),
            sentences: prose().map(|paragraph| sentences(&paragraph.text)).sum::<u64>() as f64,
            bad_characters: bad_share(prose().map(|paragraph| paragraph.text.as_str())),
            letters: tally.letters as f64 / characters,
            unfinished: share(tally.unfinished.into()),
            repeated: share(tally.repeated as f64 * f64::from(tally.weight())),
            one_word: share(most as f64 * f64::from(tally.weight())),
            small_words: match stops {
                Some(_) if is_enough && tally.seen > 0 => tally.small as f64 / tally.seen as f64,
                _ => 1.0,
            },
        }
    }
}

/// What was counted so far.
#[derive(Default)]
struct Tally {
    words: f32,
    seen: u64,
    characters: u64,
    letters: u64,
    unfinished: f32,
    small: u64,
    /// Words that repeat a run of words.
    repeated: u64,
    counts: HashMap<u64, u64, IdentityState>,
    runs: WordSet,
}

impl Tally {
    fn read(&mut self, text: &str, stops: Option<&WordSet>) {
        for c in text.chars().filter(|c| !c.is_whitespace()) {
            self.characters += 1;
            // Marks belong to letters in many scripts.
            self.letters += u64::from(c.is_alphabetic() || is_mark(c));
        }
        let mut run = [0u64; RUN];
        let mut length = 0;
        // Words of this run that were counted as repeated already.
        let mut counted = 0;
        each_word(text, |word, _, weight| {
            self.words += weight;
            self.seen += 1;
            let is_small = stops.is_some_and(|stops| stops.contains(&word));
            self.small += u64::from(is_small);
            if !is_small {
                *self.counts.entry(word).or_default() += 1;
            }
            run.rotate_left(1);
            run[RUN - 1] = word;
            length += 1;
            if length >= RUN {
                let key =
                    run.iter().fold(0u64, |key, word| key.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word);
                counted = match self.runs.insert(key) {
                    true => (counted - 1).max(0),
                    false => {
                        self.repeated += (RUN as i64 - counted) as u64;
                        RUN as i64 - 1
                    }
                };
            }
        });
    }

    /// What a counted word weighs: half in scripts without spaces.
    fn weight(&self) -> f32 {
        if self.seen == 0 { 0.0 } else { self.words / self.seen as f32 }
    }
}

/// Ends of sentences: a mark behind a word that is no single letter.
fn sentences(text: &str) -> u64 {
    let mut found = 0;
    let mut letters = 0;
    let mut after_mark = false;
    for c in text.chars() {
        if c.is_alphanumeric() || is_mark(c) {
            // A point within a number or an address ends nothing.
            letters = if after_mark { 1 } else { letters + 1 };
            after_mark = false;
        } else if matches!(c, '。' | '！' | '？' | '।' | '॥' | '۔' | '؟' | '።' | '։' | '။' | '។' | '｡')
        {
            found += 1;
            letters = 0;
        } else if matches!(c, '.' | '!' | '?' | '…') {
            after_mark = true;
        } else if is_closing(c) {
            // What closes a quotation may stand between the mark and the blank.
        } else {
            found += u64::from(after_mark && letters > 1);
            (letters, after_mark) = (0, false);
        }
    }
    found + u64::from(after_mark && letters > 1)
}

/// Whether a line ends as sentences do.
fn ends(text: &str) -> bool {
    let last = text.chars().rev().find(|c| !is_closing(*c) && !c.is_whitespace());
    last.is_some_and(|c| ".!?…:。！？।॥۔؟።։။។｡".contains(c))
}

fn is_closing(c: char) -> bool {
    matches!(c, '"' | '\'' | '”' | '“' | '’' | '‘' | ')' | ']' | '»' | '«' | '›' | '」' | '』' | '）')
}

/// Vowel signs and accents, which are no letters by themselves.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{963}' | '\u{966}'..='\u{dff}' | '\u{e31}'..='\u{e4e}'
        | '\u{eb1}'..='\u{ece}' | '\u{f18}'..='\u{f84}' | '\u{102b}'..='\u{103e}' | '\u{17b4}'..='\u{17d3}')
        || is_unspaced(c)
}

/// The share of characters that are none. What a few texts hold is no accident.
pub(super) fn bad_share<'a>(texts: impl Iterator<Item = &'a str>) -> f64 {
    let (mut bad, mut all) = (0u64, 0u64);
    for c in texts.flat_map(str::chars).filter(|c| !c.is_whitespace()) {
        all += 1;
        bad += u64::from(is_bad(c));
    }
    bad as f64 / all.max(1) as f64
}

/// Characters that stand for a mistake: replacements, private ones, controls, and those that are none.
fn is_bad(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{fff8}' | '\u{f0000}'..='\u{10ffff}')
        || (c as u32) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_counted_by_their_ends() {
        assert_eq!(sentences("It rained. “Did it?” she asked. It did (at 3.15 p.m. in St. Ives)!"), 5);
        assert_eq!(sentences("Version 2.0.1 of www.example.org"), 0);
        assert_eq!(sentences("J. R. R. Tolkien"), 0);
        assert_eq!(sentences("雨が降った。もう止んだ。"), 2);
        assert_eq!(sentences("यह नदी है। वह पहाड़ है।"), 2);
        assert_eq!(sentences(""), 0);
    }

    #[test]
    fn a_run_of_words_said_before_counts_once_for_each_word() {
        let mut tally = Tally::default();
        tally.read("one two three four five six seven eight", None);
        assert_eq!(tally.repeated, 0);
        tally.read("one two three four five six seven eight nine ten", None);
        assert_eq!(tally.repeated, 8);
        tally.read("two three four five six seven but then four five six seven eight nine", None);
        assert_eq!(tally.repeated, 8 + 6 + 6);
    }

    #[test]
    fn vowel_signs_are_letters_and_no_bad_characters() {
        let mut tally = Tally::default();
        tally.read("हिन्दी में लिखा", None);
        assert_eq!(tally.characters, tally.letters);
        assert_eq!(bad_share(["हिन्दी ไทย 👩‍👩‍👧 «“”»"].into_iter()), 0.0);
    }
}
