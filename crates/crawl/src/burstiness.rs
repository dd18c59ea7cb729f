//! Burstiness: whether the words of a site keep together as in texts of people.
//!
//! A text of a person has a subject: a word that it uses once it uses again, and most other texts do not (Katz 1996,
//! Church 2000: the probability of a second use is far above that of the first). Text that is generated word by word or
//! sentence by sentence, by Markov chains, grammars or from the sentences of others, has no memory of a subject: its words
//! are spread over its pages as by chance. The measure compares the number of pages that have a word with the number
//! that chance would give, summed over words; it needs no model of a language and says nothing about single pages,
//! dialect or style. Text of large language models keeps its subject and is not recognised.

use std::collections::HashMap;

use crate::text::TextFingerprint;

/// Pages that are compared.
pub const PAGES: usize = 16;
/// The fewest words of a page that counts.
const LEAST_WORDS: u16 = 60;
/// Pages that chance would give to the words, at least: with fewer the measure says nothing.
const LEAST_EXPECTED: f64 = 20.0;
/// The spread, where 1 is that of chance, from which on texts are taken to be generated. Groups of 16 texts by people
/// have 0.52 to 0.83 in six languages (bench/crawl).
const GENERATED: f64 = 0.88;

/// The words of some pages of a site.
#[derive(Debug, Clone, Default)]
pub struct Burstiness {
    /// The number of words of each page.
    lengths: Vec<u16>,
    /// Uses of a sampled word, and pages that have it.
    words: HashMap<u32, (u16, u16)>,
}

impl Burstiness {
    /// Adds a text. Texts that are short say little and are left out; copies and filled templates are not for this
    /// measure, the caller leaves them out.
    pub fn add(&mut self, text: &TextFingerprint) {
        if text.length < LEAST_WORDS {
            return;
        }
        self.lengths.push(text.length);
        let mut words = text.words.clone();
        words.sort_unstable();
        for uses in words.chunk_by(|one, other| one == other) {
            let (all, pages) = self.words.entry(uses[0]).or_default();
            *all = all.saturating_add(uses.len() as u16);
            *pages += 1;
        }
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Pages that have a word beside those that chance would give it, over all words with two uses or more, but not
    /// those of nearly every page. 1 is chance; `None` if there are too few words.
    pub fn spread(&self) -> Option<f64> {
        let all: f64 = self.lengths.iter().map(|length| f64::from(*length)).sum();
        // Pages that a word with so many uses has by chance: each use is in a page by the page's share of words.
        let expected: Vec<f64> = (0..=self.len())
            .map(|uses| {
                let misses = |length: &u16| (1.0 - f64::from(*length) / all).powi(uses as i32);
                self.lengths.iter().map(|length| 1.0 - misses(length)).sum()
            })
            .collect();
        let (mut found, mut by_chance) = (0.0, 0.0);
        for (uses, pages) in self.words.values().filter(|(uses, _)| (2..=self.len()).contains(&usize::from(*uses))) {
            found += f64::from(*pages);
            by_chance += expected[usize::from(*uses)];
        }
        (by_chance >= LEAST_EXPECTED).then(|| found / by_chance)
    }

    /// Whether the texts are taken to be generated.
    pub fn is_generated(&self) -> bool {
        self.len() >= PAGES && self.spread().is_some_and(|spread| spread >= GENERATED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of 300 words, a third of them of its subject, the others of all subjects.
    fn text(subject: Option<u32>, random: &mut fastrand::Rng) -> TextFingerprint {
        let word = |random: &mut fastrand::Rng| match subject {
            Some(subject) if random.u32(..3) == 0 => 100_000 + subject * 100 + random.u32(..30),
            _ => (random.f64().powi(2) * 6_000.0) as u32,
        };
        let words: Vec<String> = (0..300).map(|_| format!("word{}", word(random))).collect();
        TextFingerprint::of(&words.join(" "), "")
    }

    fn site(has_subjects: bool, seed: u64) -> Burstiness {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut words = Burstiness::default();
        for page in 0..PAGES as u32 {
            words.add(&text(has_subjects.then_some(page), &mut random));
        }
        words
    }

    #[test]
    fn texts_with_a_subject_are_told_from_words_by_chance() {
        for seed in 0..20 {
            let (people, machine) = (site(true, seed), site(false, seed));
            assert!(!people.is_generated(), "{:?}", people.spread());
            assert!(machine.is_generated(), "{:?}", machine.spread());
        }
    }

    #[test]
    fn few_or_short_texts_say_nothing() {
        let mut words = Burstiness::default();
        assert_eq!(words.spread(), None);
        (0..40).for_each(|_| words.add(&TextFingerprint::of("only a few words on this page", "")));
        assert!(words.is_empty() && !words.is_generated());
        let mut random = fastrand::Rng::with_seed(1);
        (1..PAGES).for_each(|_| words.add(&text(None, &mut random)));
        assert!(!words.is_generated());
    }
}
