//! Word statistics of a block, computed in one pass.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use tidings_lang::is_unspaced;

use super::evidence::{Fnv1a, IdentityState};

/// Word statistics of a block.
#[derive(Debug, Clone, Copy, Default)]
pub struct WordStats {
    /// Number of words; a character of a script without spaces counts as half a word.
    pub count: f32,
    /// Number of letters.
    pub letters: u32,
    /// Number of words with an initial capital.
    pub capitals: u32,
    /// Number of digits.
    pub digits: u32,
    /// Number of characters that are neither letters, digits nor white space.
    pub symbols: u32,
    /// Number of sentence ends.
    pub sentences: u32,
    /// Number of commas and similar marks.
    pub commas: u32,
    /// Whether the last character ends a sentence.
    pub ends: bool,
    /// Whether the first letter is lower case.
    pub starts_small: bool,
    /// Whether the first character is an opening quotation mark.
    pub starts_quoted: bool,
    /// Number of bars, arrows and bullets.
    pub dividers: u32,
    /// Whether it contains a copyright sign.
    pub copyright: bool,
    /// Sum of the lift of known words.
    pub lift: f32,
    /// Number of words with known lift.
    pub known: u32,
    /// Minimum lift of a word.
    pub lift_low: f32,
    /// Mean lift of the first two words.
    pub lift_first: f32,
    /// Minimum and maximum lift of a bigram among the first words.
    pub lift_pair: (f32, f32),
    /// Number of stop words, and of function characters in scripts written without spaces.
    pub stops: u32,
    /// Number of words that occur in the title.
    pub in_title: u32,
    /// Number of words that occur in the description.
    pub in_description: u32,
    /// Number of characters of scripts written without spaces.
    pub unspaced: u32,
    /// Fnv1a of the word sequence, for finding repeated blocks.
    pub hash: u64,
}

/// A set of words, by hash.
pub type WordSet = HashSet<u64, IdentityState>;

/// The tables that words are looked up in.
pub struct WordLookup<'a, W: Fn(u64) -> Option<f32>, S: Fn(u64) -> bool> {
    /// Lift of a word or bigram.
    pub lift: W,
    /// Returns whether a word is a stop word of the page's language.
    pub stop: S,
    /// WordStats of the title.
    pub title: &'a WordSet,
    /// WordStats of the description.
    pub description: &'a WordSet,
}

impl WordStats {
    /// Computes the statistics of a text.
    pub fn of<W: Fn(u64) -> Option<f32>, S: Fn(u64) -> bool>(text: &str, lookup: &WordLookup<'_, W, S>) -> WordStats {
        let mut words = WordStats::of_characters(text);
        let mut all = Fnv1a::new();
        let mut seen = 0;
        let mut before = 0;
        each_word(text, |word, capital, weight| {
            all.0 = all.0.rotate_left(5) ^ word;
            words.count += weight;
            if seen == 0 {
                words.starts_small = !capital;
            }
            words.capitals += u32::from(capital);
            if let Some(lift) = (lookup.lift)(word) {
                words.lift += lift;
                words.known += 1;
                words.lift_low = words.lift_low.min(lift);
                if seen < 2 {
                    words.lift_first += lift / 2.0;
                }
            }
            if (1..PAIRS).contains(&seen)
                && let Some(lift) = (lookup.lift)(pair(before, word))
            {
                words.lift_pair = (words.lift_pair.0.min(lift), words.lift_pair.1.max(lift));
            }
            before = word;
            words.stops += u32::from((lookup.stop)(word));
            words.in_title += u32::from(lookup.title.contains(&word));
            words.in_description += u32::from(lookup.description.contains(&word));
            seen += 1;
        });
        words.hash = all.0;
        words
    }

    /// Computes the statistics that need characters only.
    fn of_characters(text: &str) -> WordStats {
        let mut words = WordStats::default();
        let mut first = true;
        let mut last = ' ';
        for c in text.chars() {
            if first {
                words.starts_quoted = matches!(c, '"' | '“' | '„' | '«' | '»' | '‘' | '「');
                first = false;
            }
            match c {
                'a'..='z' | 'A'..='Z' => words.letters += 1,
                '0'..='9' => words.digits += 1,
                '.' | '!' | '?' | '…' => {
                    words.sentences += u32::from(last.is_alphanumeric() || matches!(last, '"' | '”' | ')' | '’'))
                }
                '。' | '！' | '？' | '।' | '؟' | '۔' => words.sentences += 1,
                ',' | '，' | '、' | '،' | ';' => words.commas += 1,
                '|' | '›' | '»' | '→' | '·' | '•' | '/' | '>' | '▸' | '►' => words.dividers += 1,
                '©' => words.copyright = true,
                _ if c.is_alphabetic() => {
                    words.letters += 1;
                    if is_unspaced(c) {
                        words.unspaced += 1;
                        words.stops += u32::from(FUNCTION_CHARACTERS.contains(c));
                    }
                }
                _ if c.is_numeric() => words.digits += 1,
                _ => {}
            }
            words.symbols += u32::from(!c.is_alphanumeric() && !c.is_whitespace());
            if !c.is_whitespace() {
                last = c;
            }
        }
        let closed = matches!(last, '"' | '”' | '“' | ')' | '’' | '»' | '」');
        let before_close = text.trim_end().chars().rev().nth(1).unwrap_or(' ');
        words.ends = is_terminal(last) || (closed && is_terminal(before_close));
        words
    }
}

/// Characters of Chinese and Japanese that are function words. They stand in for stop words, which cannot be looked up in
/// scripts written without spaces.
const FUNCTION_CHARACTERS: &str =
    "的了是在和有不为為与與也就都而及着著或之这這那但被把将將对對从從以其于於并並让讓はがをにのとでもへ";

/// Number of leading words whose bigrams are looked up; boilerplate gives itself away at the start
/// ("read more", "sign up").
const PAIRS: usize = 12;

/// The hash of a bigram.
pub fn pair(first: u64, second: u64) -> u64 {
    (first.rotate_left(23) ^ second).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The stop words of a language, by hash.
pub fn stop_words(language: &str) -> Option<&'static WordSet> {
    static SETS: OnceLock<Mutex<HashMap<usize, &'static WordSet>>> = OnceLock::new();
    let list = tidings_lang::stop_list(language).filter(|list| !list.is_off())?;
    let mut sets = SETS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    // Stop lists are static, so the set of hashes is leaked once per language.
    let set = sets.entry(std::ptr::from_ref(list).addr()).or_insert_with(|| {
        let mut set = WordSet::default();
        for word in list.words() {
            each_word(word, |hash, _, _| {
                set.insert(hash);
            });
        }
        Box::leak(Box::new(set))
    });
    Some(set)
}

fn is_terminal(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '।' | '؟' | '۔')
}

/// Calls `found` with the hash of every word trigram; texts of fewer than three words have none.
pub(super) fn each_trigram(text: &str, mut found: impl FnMut(u64)) {
    let mut last = [0u64; 3];
    let mut count = 0;
    each_word(text, |word, _, _| {
        last.rotate_left(1);
        last[2] = word;
        count += 1;
        if count >= 3 {
            found(last[0].rotate_left(21) ^ last[1].rotate_left(42) ^ last[2]);
        }
    });
}

/// Calls `found` with the hash of every lower-cased word, whether it starts with a capital, and its
/// weight in the word count. In scripts without spaces, character bigrams take the place of words.
pub fn each_word(text: &str, mut found: impl FnMut(u64, bool, f32)) {
    let mut hash = Fnv1a::new();
    let mut within = false;
    let mut capital = false;
    let mut before: Option<char> = None;
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            if !within {
                within = true;
                capital = c.is_ascii_uppercase();
                hash = Fnv1a::new();
            }
            hash.byte(c.to_ascii_lowercase() as u8);
            continue;
        }
        if c.is_ascii() || !c.is_alphanumeric() {
            // Apostrophes and hyphens separate words, which is accurate enough for counting.
            if within {
                found(hash.0, capital, 1.0);
                within = false;
            }
            before = None;
            continue;
        }
        if is_unspaced(c) {
            if within {
                found(hash.0, capital, 1.0);
                within = false;
            }
            if let Some(before) = before {
                let mut pair = Fnv1a::new();
                let mut buffer = [0; 4];
                for c in [before, c] {
                    for byte in c.encode_utf8(&mut buffer).bytes() {
                        pair.byte(byte);
                    }
                }
                found(pair.0, false, 0.5);
            }
            before = Some(c);
            continue;
        }
        if !within {
            within = true;
            capital = c.is_uppercase();
            hash = Fnv1a::new();
        }
        let lower = if c.is_uppercase() { c.to_lowercase().next().unwrap_or(c) } else { c };
        let mut buffer = [0; 4];
        for byte in lower.encode_utf8(&mut buffer).bytes() {
            hash.byte(byte);
        }
    }
    if within {
        found(hash.0, capital, 1.0);
    }
}

/// The set of words of a text.
pub fn word_set(text: &str) -> WordSet {
    let mut set = WordSet::default();
    each_word(text, |word, _, _| {
        set.insert(word);
    });
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_and_words_are_counted() {
        let none = WordSet::default();
        let lookup = WordLookup { lift: |_| None, stop: |_| false, title: &none, description: &none };
        let words = WordStats::of("“Yes.” He said 3.5 things, twice!", &lookup);
        assert_eq!((words.count as u32, words.sentences, words.commas, words.ends), (7, 3, 1, true));
        assert!(words.starts_quoted && !words.starts_small);
    }
}
