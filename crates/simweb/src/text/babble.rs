//! Pseudo-words.
//!
//! A page of the benchmark must compress like a real one, and text from short word lists compresses twice as well,
//! because real text has many rare words: names, compounds, inflected forms. A [`Lexicon`] generates such words with a
//! Markov chain over the letters of the language, and mixes them into sentences with a skewed distribution.

use std::collections::HashMap;

use super::grammar::{Grammar, Section};
use crate::rng::Rng;

/// The number of generated words per language.
const WORDS: usize = 6000;

/// The number of words of a subject.
const SUBJECT_WORDS: usize = 24;

/// The percentage of generated words that are those of the subject.
const SUBJECT_PERCENT: u64 = 70;

/// The percentage of words that are replaced by generated ones.
const RARE_PERCENT: u64 = 28;

/// Generated words of one language.
#[derive(Debug)]
pub struct Lexicon {
    words: Vec<String>,
    spaced: bool,
}

impl Lexicon {
    /// Generates the words of a language, always the same.
    pub fn new(grammar: &Grammar) -> Self {
        let chain = Chain::learn(grammar);
        let mut rng =
            Rng::named(&[0xBABB1E, u64::from(grammar.code.as_bytes()[0]), u64::from(grammar.code.as_bytes()[1])]);
        let words = (0..WORDS).map(|_| chain.word(&mut rng, grammar.spaced())).collect();
        Lexicon { words, spaced: grammar.spaced() }
    }

    /// Replaces some words of a sentence.
    pub fn enrich(&self, sentence: &str, rng: &mut Rng) -> String {
        self.enrich_about(sentence, &[], rng)
    }

    /// The words of a subject, to which a text returns.
    pub fn subject(&self, rng: &mut Rng) -> Vec<&str> {
        (0..SUBJECT_WORDS).map(|_| self.words[rng.below(self.words.len() as u64) as usize].as_str()).collect()
    }

    /// Replaces some words of a sentence, most of them by those of a subject if there is one.
    pub fn enrich_about(&self, sentence: &str, subject: &[&str], rng: &mut Rng) -> String {
        let mut out = String::with_capacity(sentence.len() + 32);
        if !self.spaced {
            for letter in sentence.chars() {
                if rng.chance(RARE_PERCENT / 2) {
                    out.push_str(self.word_about(subject, rng));
                }
                out.push(letter);
            }
            return out;
        }
        for (number, word) in sentence.split(' ').enumerate() {
            if number > 0 {
                out.push(' ');
            }
            let ends = word.ends_with(['.', ',']);
            out.push_str(if !ends && rng.chance(RARE_PERCENT) { self.word_about(subject, rng) } else { word });
        }
        out
    }

    fn word_about<'a>(&'a self, subject: &[&'a str], rng: &mut Rng) -> &'a str {
        if !subject.is_empty() && rng.chance(SUBJECT_PERCENT) { rng.pick(subject) } else { self.word(rng) }
    }

    /// A random word with a skewed distribution: the first ones are much more frequent.
    fn word(&self, rng: &mut Rng) -> &str {
        let skewed = rng.unit().powi(2) * self.words.len() as f64;
        &self.words[(skewed as usize).min(self.words.len() - 1)]
    }
}

/// A Markov chain over the letters of a language.
struct Chain {
    next: HashMap<char, Vec<char>>,
}

/// The boundary symbol before and after a word.
const EDGE: char = ' ';

impl Chain {
    fn learn(grammar: &Grammar) -> Self {
        let mut next: HashMap<char, Vec<char>> = HashMap::new();
        let sections = [Section::Subjects, Section::Objects, Section::Adverbs, Section::Heads, Section::Verbs];
        let phrases = sections.iter().flat_map(|section| grammar.section(*section));
        for word in phrases.flat_map(|phrase| phrase.split(|letter: char| !letter.is_alphabetic())) {
            let mut before = EDGE;
            for letter in word.chars().flat_map(char::to_lowercase).chain([EDGE]) {
                next.entry(before).or_default().push(letter);
                before = letter;
            }
        }
        Chain { next }
    }

    fn word(&self, rng: &mut Rng, spaced: bool) -> String {
        let (shortest, longest) = if spaced { (4, 14) } else { (2, 3) };
        let mut word = String::new();
        let mut before = EDGE;
        let mut length = 0;
        while length < longest {
            let letter = self.next.get(&before).map_or(EDGE, |letters| rng.pick(letters));
            if letter == EDGE {
                if length >= shortest {
                    break;
                }
                // Too short to end: continue as if another word began.
                before = EDGE;
                continue;
            }
            word.push(letter);
            length += 1;
            before = letter;
        }
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{CODES, grammar};

    #[test]
    fn every_language_gets_many_words_of_fair_length() {
        for code in CODES {
            let lexicon = Lexicon::new(grammar(code));
            let different: std::collections::HashSet<&String> = lexicon.words.iter().collect();
            assert!(different.len() > 250, "{code}: {}", different.len());
            assert!(lexicon.words.iter().all(|word| (2..=14).contains(&word.chars().count())));
        }
    }
}
