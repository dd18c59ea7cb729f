//! Measures of the quality gate, computed in one pass over the words.

use std::collections::HashMap;

use tidings_lang::is_unspaced;
use tidings_model::{Document, ParagraphKind};

use crate::article::evidence::IdentityState;
use crate::article::words::{WordSet, each_word, stop_words};

/// Measures of a text. Shares are between 0 and 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measures {
    /// Number of words; a character of a script without spaces is half a word.
    pub words: f64,
    /// Number of sentence ends.
    pub sentences: f64,
    /// Share of replacement, private-use and control characters.
    pub bad_characters: f64,
    /// Share of letters among characters other than white space.
    pub letters: f64,
    /// Share of words in list items, rows, headings, and short lines without an end mark.
    pub unfinished: f64,
    /// Share of words in word n-grams that occurred before in the document.
    pub repeated: f64,
    /// Share of the most frequent word that is not a stop word.
    pub one_word: f64,
    /// Share of stop words; 1 in languages without a stop list.
    pub small_words: f64,
}

/// Maximum number of words of a short line, such as a heading.
const SHORT_LINE_WORDS: f32 = 12.0;
/// Length of a word n-gram whose repetition is no coincidence.
const NGRAM: usize = 6;
/// Minimum number of words for shares of words to be meaningful.
const MIN_WORDS: f64 = 24.0;

impl Measures {
    /// Measures a document, without code blocks.
    pub fn of(document: &Document) -> Measures {
        let stops = stop_words(&document.language_code());
        let prose = || document.paragraphs.iter().filter(|paragraph| paragraph.kind != ParagraphKind::Code);
        let mut counts = WordCounts::default();
        for paragraph in prose() {
            let before = counts.words;
            counts.read(&paragraph.text, stops);
            let is_line = matches!(paragraph.kind, ParagraphKind::P | ParagraphKind::Quote);
            let words = counts.words - before;
            if !is_line || words <= SHORT_LINE_WORDS && !ends_like_sentence(&paragraph.text) {
                counts.unfinished += words;
            }
        }
        let characters = counts.characters.max(1) as f64;
        let words = f64::from(counts.words);
        let has_min_words = words >= MIN_WORDS;
        let share = |part: f64| if has_min_words { part / words.max(1.0) } else { 0.0 };
        let most = counts.by_word.values().copied().max().unwrap_or_default();
        Measures {
            words: words.ceil(),
            sentences: prose().map(|paragraph| sentences(&paragraph.text)).sum::<u64>() as f64,
            bad_characters: bad_share(prose().map(|paragraph| paragraph.text.as_str())),
            letters: counts.letters as f64 / characters,
            unfinished: share(counts.unfinished.into()),
            repeated: share(counts.repeated as f64 * f64::from(counts.weight())),
            one_word: share(most as f64 * f64::from(counts.weight())),
            small_words: match stops {
                Some(_) if has_min_words && counts.seen > 0 => counts.small as f64 / counts.seen as f64,
                _ => 1.0,
            },
        }
    }
}

/// Running counts.
#[derive(Default)]
struct WordCounts {
    words: f32,
    seen: u64,
    characters: u64,
    letters: u64,
    unfinished: f32,
    small: u64,
    /// Words within repeated n-grams.
    repeated: u64,
    by_word: HashMap<u64, u64, IdentityState>,
    ngrams: WordSet,
}

impl WordCounts {
    fn read(&mut self, text: &str, stops: Option<&WordSet>) {
        for c in text.chars().filter(|c| !c.is_whitespace()) {
            self.characters += 1;
            // Marks are part of letters in many scripts.
            self.letters += u64::from(c.is_alphabetic() || is_mark(c));
        }
        let mut run = [0u64; NGRAM];
        let mut length = 0;
        // Words of the current n-gram that were already counted as repeated.
        let mut counted = 0;
        each_word(text, |word, _, weight| {
            self.words += weight;
            self.seen += 1;
            let is_small = stops.is_some_and(|stops| stops.contains(&word));
            self.small += u64::from(is_small);
            if !is_small {
                *self.by_word.entry(word).or_default() += 1;
            }
            run.rotate_left(1);
            run[NGRAM - 1] = word;
            length += 1;
            if length >= NGRAM {
                let key =
                    run.iter().fold(0u64, |key, word| key.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word);
                counted = match self.ngrams.insert(key) {
                    true => (counted - 1).max(0),
                    false => {
                        self.repeated += (NGRAM as i64 - counted) as u64;
                        NGRAM as i64 - 1
                    }
                };
            }
        });
    }

    /// Mean weight of a word: one half in scripts without spaces.
    fn weight(&self) -> f32 {
        if self.seen == 0 { 0.0 } else { self.words / self.seen as f32 }
    }
}

/// Counts sentence ends: an end mark after a word of at least two letters.
fn sentences(text: &str) -> u64 {
    let mut found = 0;
    let mut letters = 0;
    let mut after_mark = false;
    for c in text.chars() {
        if c.is_alphanumeric() || is_mark(c) {
            // A period within a number or a URL ends nothing.
            letters = if after_mark { 1 } else { letters + 1 };
            after_mark = false;
        } else if matches!(c, '。' | '！' | '？' | '।' | '॥' | '۔' | '؟' | '።' | '։' | '။' | '។' | '｡')
        {
            found += 1;
            letters = 0;
        } else if matches!(c, '.' | '!' | '?' | '…') {
            after_mark = true;
        } else if is_closing(c) {
            // Closing quotation marks may follow the end mark.
        } else {
            found += u64::from(after_mark && letters > 1);
            (letters, after_mark) = (0, false);
        }
    }
    found + u64::from(after_mark && letters > 1)
}

/// Returns whether a line ends like a sentence.
fn ends_like_sentence(text: &str) -> bool {
    let last = text.chars().rev().find(|c| !is_closing(*c) && !c.is_whitespace());
    last.is_some_and(|c| ".!?…:。！？।॥۔؟።։။។｡".contains(c))
}

fn is_closing(c: char) -> bool {
    matches!(c, '"' | '\'' | '”' | '“' | '’' | '‘' | ')' | ']' | '»' | '«' | '›' | '」' | '』' | '）')
}

/// Returns whether a character is a vowel sign, an accent, or of a script without spaces.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{963}' | '\u{966}'..='\u{dff}' | '\u{e31}'..='\u{e4e}'
        | '\u{eb1}'..='\u{ece}' | '\u{f18}'..='\u{f84}' | '\u{102b}'..='\u{103e}' | '\u{17b4}'..='\u{17d3}')
        || is_unspaced(c)
}

/// Share of invalid characters.
pub(super) fn bad_share<'a>(texts: impl Iterator<Item = &'a str>) -> f64 {
    let (mut bad, mut all) = (0u64, 0u64);
    for c in texts.flat_map(str::chars).filter(|c| !c.is_whitespace()) {
        all += 1;
        bad += u64::from(is_bad(c));
    }
    bad as f64 / all.max(1) as f64
}

/// Returns whether a character indicates an error: replacement, private use, control, noncharacter.
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
    fn a_repeated_ngram_counts_each_word_once() {
        let mut counts = WordCounts::default();
        counts.read("one two three four five six seven eight", None);
        assert_eq!(counts.repeated, 0);
        counts.read("one two three four five six seven eight nine ten", None);
        assert_eq!(counts.repeated, 8);
        counts.read("two three four five six seven but then four five six seven eight nine", None);
        assert_eq!(counts.repeated, 8 + 6 + 6);
    }

    #[test]
    fn vowel_signs_are_letters_and_not_bad_characters() {
        let mut counts = WordCounts::default();
        counts.read("हिन्दी में लिखा", None);
        assert_eq!(counts.characters, counts.letters);
        assert_eq!(bad_share(["हिन्दी ไทย 👩‍👩‍👧 «“”»"].into_iter()), 0.0);
    }
}
