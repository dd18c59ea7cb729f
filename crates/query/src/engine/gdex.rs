//! Sentences that are good examples of a word, after GDEX (Kilgarriff et al., *GDEX: automatically finding good dictionary
//! examples in a corpus*, 2008).
//!
//! A good example is a whole sentence of middle length, of frequent words, without names, numbers and signs, and without
//! pronouns whose referent is elsewhere. Each of these properties is a factor between 0 and 1.

use super::set::layer_of;
use super::{Engine, EngineError, Hit, Result, Search};
use crate::cql::Attribute;
use crate::question::WholeCorpus;
use hashbrown::HashMap;
use tidings_index::lexicon::Layer;

/// The lengths of good sentences, in tokens; shorter and longer ones lose in proportion.
const SHORTEST: f64 = 8.0;
const LONGEST: f64 = 25.0;
/// A word is frequent if it occurs once in this many tokens.
const FREQUENT_IN: u64 = 500_000;

/// What a token does to the quality of its sentence.
#[derive(Debug, Clone, Copy, Default)]
struct TokenQuality {
    is_word: bool,
    is_rare: bool,
    is_name: bool,
    is_pronoun: bool,
    /// Has digits, signs or capitals only.
    is_odd: bool,
    begins_sentence: bool,
    ends_sentence: bool,
}

/// Rates sentences; remembers the words that it has seen.
pub(crate) struct SentenceQuality<'e> {
    engine: &'e Engine,
    words: WordFrequencies<'e>,
    rare_below: u64,
    known: HashMap<u32, TokenQuality>,
}

/// How frequent words are in the corpus.
#[derive(Clone, Copy)]
enum WordFrequencies<'e> {
    /// By the number of the string.
    Index(&'e [u64]),
    /// As a shard is told.
    Whole(&'e WholeCorpus),
}

impl Search<'_> {
    /// Rates sentences by the frequencies of the whole corpus.
    pub(crate) fn sentence_quality(&self) -> Result<SentenceQuality<'_>> {
        let (engine, known) = (self.engine(), HashMap::new());
        let (words, tokens) = match self.whole() {
            Some(whole) => {
                let tokens = whole.tokens(Attribute::Word);
                let tokens = tokens.ok_or(EngineError::NeedsWholeCorpus("the order of good examples"))?;
                (WordFrequencies::Whole(whole), tokens)
            }
            None => (WordFrequencies::Index(engine.string_totals(Layer::Word)), engine.snapshot().tokens()),
        };
        Ok(SentenceQuality { engine, words, rare_below: (tokens / FREQUENT_IN).max(2), known })
    }
}

impl SentenceQuality<'_> {
    fn token(&mut self, lexeme: u32) -> TokenQuality {
        let (engine, words, rare_below) = (self.engine, self.words, self.rare_below);
        *self.known.entry(lexeme).or_insert_with(|| {
            let lexicon = engine.lexicon();
            let word = lexicon.text(lexeme, Layer::Word);
            let tag = lexicon.text(lexeme, layer_of(Attribute::Tag, lexicon));
            let letters = word.chars().filter(|c| c.is_alphabetic()).count();
            let frequency = match words {
                WordFrequencies::Index(words) => words.get(lexicon.of(lexeme, Layer::Word) as usize).copied(),
                WordFrequencies::Whole(whole) => whole.frequency(Attribute::Word).map(|frequency| frequency(word)),
            };
            let frequency = frequency.unwrap_or(0);
            let has_sign = word.chars().any(|c| c.is_numeric() || "@#/\\|_=+<>*~^".contains(c));
            TokenQuality {
                is_word: letters > 0,
                is_rare: letters > 0 && frequency < rare_below,
                is_name: tag == "PROPN",
                is_pronoun: tag == "PRON",
                is_odd: has_sign
                    || letters > 3 && word.chars().all(|c| !c.is_lowercase()) && word.chars().any(char::is_uppercase),
                begins_sentence: word
                    .chars()
                    .next()
                    .is_some_and(|c| c.is_alphabetic() && !c.is_lowercase() || "\"“„«»‘¿¡".contains(c)),
                ends_sentence: word.chars().next_back().is_some_and(|c| ".?!…。！？।؟\"”“»".contains(c)),
            }
        })
    }

    /// The key of a hit in the order of good examples: the best sentences come first.
    pub(crate) fn key(&mut self, search: &Search<'_>, hit: &Hit) -> u32 {
        ((1.0 - self.of(search, hit)) * 1e9) as u32
    }

    /// The quality of the sentence of a hit, from 0 to 1; that of a hit in two sentences is 0.
    fn of(&mut self, search: &Search<'_>, hit: &Hit) -> f64 {
        let segment = search.segment(hit.segment as usize);
        let document = segment.tokens_of(segment.document_at(hit.start));
        let sentence = segment.sentence_of(hit.start, &document);
        if hit.end > sentence.end {
            return 0.0;
        }
        let tokens: Vec<TokenQuality> =
            sentence.clone().take(MAX_TOKENS).map(|position| self.token(segment.lexeme_at(position))).collect();
        let inside = (hit.start - sentence.start) as usize..(hit.end - sentence.start) as usize;
        quality(&tokens, sentence.len(), inside)
    }
}

/// The tokens of a sentence that are read; a longer one is no good example.
const MAX_TOKENS: usize = 120;

fn quality(tokens: &[TokenQuality], length: usize, hit: std::ops::Range<usize>) -> f64 {
    let length = length as f64;
    let by_length = match length {
        _ if length < SHORTEST => length / SHORTEST,
        _ if length > LONGEST => (1.0 - (length - LONGEST) / LONGEST).max(0.0),
        _ => 1.0,
    };
    let (first, last) = (tokens.first().copied().unwrap_or_default(), tokens.last().copied().unwrap_or_default());
    let whole = match (first.begins_sentence, last.ends_sentence) {
        (true, true) => 1.0,
        (false, false) => 0.25,
        _ => 0.5,
    };
    // The hit itself may be a name or rare: it was asked for.
    let others = || tokens.iter().enumerate().filter(|(index, _)| !hit.contains(index)).map(|(_, token)| token);
    let words = others().filter(|token| token.is_word).count().max(1) as f64;
    let share = |test: fn(&TokenQuality) -> bool| others().filter(|token| test(token)).count() as f64 / words;
    let rare = (1.0 - 2.0 * share(|token| token.is_rare)).max(0.0);
    let names = (1.0 - 2.0 * share(|token| token.is_name)).max(0.1);
    let odd = (1.0 - 3.0 * share(|token| token.is_odd)).max(0.0);
    let pronouns = (1.0 - 1.5 * share(|token| token.is_pronoun)).max(0.2) * if first.is_pronoun { 0.7 } else { 1.0 };
    by_length * whole * rare * names * odd * pronouns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(words: usize) -> Vec<TokenQuality> {
        let word = TokenQuality { is_word: true, ..TokenQuality::default() };
        let mut tokens = vec![word; words];
        tokens[0].begins_sentence = true;
        tokens.push(TokenQuality { ends_sentence: true, ..TokenQuality::default() });
        tokens
    }

    #[test]
    fn a_plain_sentence_of_middle_length_is_best_and_each_fault_costs() {
        let rate = |tokens: &[TokenQuality]| quality(tokens, tokens.len(), 3..4);
        let plain = sentence(12);
        assert_eq!(rate(&plain), 1.0);
        let faults: [fn(&mut TokenQuality); 4] =
            [|t| t.is_rare = true, |t| t.is_name = true, |t| t.is_odd = true, |t| t.is_pronoun = true];
        for fault in faults {
            let mut tokens = sentence(12);
            fault(&mut tokens[5]);
            assert!(rate(&tokens) < 1.0);
            let mut hit = sentence(12);
            fault(&mut hit[3]);
            assert_eq!(rate(&hit), 1.0, "the hit itself is no fault");
        }
        assert!(rate(&sentence(4)) < rate(&sentence(7)) && rate(&sentence(60)) < rate(&sentence(30)));
        assert!(rate(&plain[..12]) < 1.0 && rate(&plain[1..]) < 1.0, "a part of a sentence");
    }
}
