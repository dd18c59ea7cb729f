//! Fingerprints of a document: words, n-grams and units as hashes.
//!
//! This is the expensive step and depends on the document alone, so it runs on all cores.

use crate::hash::{self, MULTIPLIER, mix};
use crate::rule::{Level, Rule};
use crate::words::push_words;

/// One n-gram in this many is selected by its hash (0 mod p sampling).
const SAMPLING_RATE: u64 = 32;

/// Units of up to this many words get a second selected n-gram.
const SHORT_WORDS: usize = 40;

/// A fingerprinted document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Text {
    /// The hash of the n-gram that begins at each word.
    pub(crate) grams: Vec<u64>,
    /// Word positions of selected n-grams, ascending.
    pub(crate) selected_grams: Vec<u32>,
    pub(crate) paragraphs: Vec<Unit>,
    /// Sentences; empty unless that level is enabled.
    pub(crate) sentences: Vec<Unit>,
    pub(crate) words: usize,
    /// The hash of the whole text.
    pub(crate) hash: u64,
}

/// A paragraph or a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The paragraph it is, or is part of.
    pub(crate) paragraph: u32,
    /// Its range of words.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Its range of bytes in the paragraph.
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The hash of the unit, unless it is empty.
    pub(crate) hash: Option<u64>,
    /// The position of its n-gram with the minimum hash; none if it is shorter than an n-gram. Every verbatim copy
    /// of the unit selects the same n-gram.
    pub(crate) selected_gram: Option<u32>,
}

impl Unit {
    pub(crate) fn words(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Text {
    /// Fingerprints a document.
    pub fn new<'a>(paragraphs: impl IntoIterator<Item = &'a str>, rule: &Rule) -> Text {
        let mut text = Text::default();
        let mut words = Vec::new();
        for (number, paragraph) in paragraphs.into_iter().enumerate() {
            let first = words.len();
            if rule.levels.has(Level::Sentence) {
                for (from, to) in sentences(paragraph) {
                    let start = words.len();
                    push_words(&paragraph[from..to], &mut words);
                    text.sentences.push(unit(number, &paragraph[from..to], from, &words, start));
                }
            } else {
                push_words(paragraph, &mut words);
            }
            text.paragraphs.push(unit(number, paragraph, 0, &words, first));
        }
        text.words = words.len();
        text.hash = sequence(&words, 0x7E87);
        text.grams = grams(&words, rule.ngram);
        for unit in text.paragraphs.iter_mut().chain(&mut text.sentences) {
            let end = (unit.end as usize + 1).saturating_sub(rule.ngram);
            let own = (unit.start as usize..end).min_by_key(|at| text.grams[*at] % (1 << 32));
            unit.selected_gram = own.map(|at| at as u32);
        }
        text.selected_grams = selected_grams(&text, rule.ngram);
        text
    }

    /// Serializes it, to be compared later in the same run.
    pub fn pack(&self, bytes: &mut Vec<u8>) {
        let number = |number: usize, bytes: &mut Vec<u8>| bytes.extend((number as u32).to_le_bytes());
        bytes.extend(self.hash.to_le_bytes());
        let lens =
            [self.words, self.grams.len(), self.selected_grams.len(), self.paragraphs.len(), self.sentences.len()];
        lens.into_iter().for_each(|len| number(len, bytes));
        self.grams.iter().for_each(|gram| bytes.extend(gram.to_le_bytes()));
        self.selected_grams.iter().for_each(|selected_gram| bytes.extend(selected_gram.to_le_bytes()));
        for unit in self.paragraphs.iter().chain(&self.sentences) {
            [unit.paragraph, unit.start, unit.end, unit.from, unit.to]
                .into_iter()
                .for_each(|n| number(n as usize, bytes));
            bytes.push(u8::from(unit.hash.is_some()) | u8::from(unit.selected_gram.is_some()) << 1);
            bytes.extend(unit.hash.unwrap_or(0).to_le_bytes());
            bytes.extend(unit.selected_gram.unwrap_or(0).to_le_bytes());
        }
    }

    /// Deserializes the output of [`Text::pack`]; returns `None` for malformed input.
    pub fn unpack(bytes: &[u8]) -> Option<Text> {
        let mut rest = bytes;
        let hash = take_u64(&mut rest)?;
        let mut lens = [0; 5];
        for len in &mut lens {
            *len = take_u32(&mut rest)? as usize;
        }
        let [words, grams, selected_grams, paragraphs, sentences] = lens;
        let grams = (0..grams).map(|_| take_u64(&mut rest)).collect::<Option<_>>()?;
        let selected_grams = (0..selected_grams).map(|_| take_u32(&mut rest)).collect::<Option<_>>()?;
        let mut unit = || {
            let [paragraph, start, end, from, to] = std::array::from_fn(|_| take_u32(&mut rest).unwrap_or(0));
            let (has, hash, selected_gram) = (take::<1>(&mut rest)?[0], take_u64(&mut rest)?, take_u32(&mut rest)?);
            let (hash, selected_gram) = ((has & 1 != 0).then_some(hash), (has & 2 != 0).then_some(selected_gram));
            Some(Unit { paragraph, start, end, from, to, hash, selected_gram })
        };
        let paragraphs = (0..paragraphs).map(|_| unit()).collect::<Option<_>>()?;
        let sentences = (0..sentences).map(|_| unit()).collect::<Option<_>>()?;
        Some(Text { grams, selected_grams, paragraphs, sentences, words, hash })
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The number of words of a paragraph, or of the sentence at a byte of it.
    pub fn words_of(&self, paragraph: usize, sentence_at: Option<usize>) -> usize {
        let unit = match sentence_at {
            None => self.paragraphs.get(paragraph),
            Some(at) => self.sentences[self.sentences_of(paragraph)].iter().find(|unit| unit.from as usize == at),
        };
        unit.map_or(0, |unit| unit.words().len())
    }

    /// The number of paragraphs.
    pub fn paragraphs(&self) -> usize {
        self.paragraphs.len()
    }

    /// The sentences of a paragraph, if sentences are compared.
    pub fn sentences_of(&self, paragraph: usize) -> std::ops::Range<usize> {
        let before = |limit: usize| self.sentences.partition_point(|unit| (unit.paragraph as usize) < limit);
        before(paragraph)..before(paragraph + 1)
    }

    /// The paragraph of a sentence and its byte range there.
    pub fn sentence(&self, at: usize) -> (usize, std::ops::Range<usize>) {
        let unit = &self.sentences[at];
        (unit.paragraph as usize, unit.from as usize..unit.to as usize)
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, others) = rest.split_first_chunk::<N>()?;
    *rest = others;
    Some(*first)
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    take(rest).map(u32::from_le_bytes)
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    take(rest).map(u64::from_le_bytes)
}

fn unit(paragraph: usize, text: &str, from: usize, words: &[u64], start: usize) -> Unit {
    let own = &words[start..];
    let hash = match own.is_empty() {
        false => Some(sequence(own, 0x0417)),
        // Lines of asterisks or dashes have no words but are copied like others.
        true => Some(text.trim()).filter(|text| !text.is_empty()).map(|text| hash::bytes(text.as_bytes())),
    };
    Unit {
        paragraph: paragraph as u32,
        start: start as u32,
        end: words.len() as u32,
        from: from as u32,
        to: (from + text.len()) as u32,
        hash,
        selected_gram: None,
    }
}

/// Hashes a sequence of words.
fn sequence(words: &[u64], kind: u64) -> u64 {
    mix(words.iter().fold(kind, |state, word| (state.rotate_left(11) ^ word).wrapping_mul(MULTIPLIER)))
}

/// Hashes of all n-grams, by a rolling polynomial hash (Karp and Rabin 1987).
fn grams(words: &[u64], ngram: usize) -> Vec<u64> {
    if words.len() < ngram {
        return Vec::new();
    }
    let leaving = (1..ngram).fold(1u64, |power, _| power.wrapping_mul(MULTIPLIER));
    let mut rolling = 0u64;
    let mut grams = Vec::with_capacity(words.len() + 1 - ngram);
    for (at, word) in words.iter().enumerate() {
        rolling = rolling.wrapping_mul(MULTIPLIER).wrapping_add(*word);
        if at + 1 >= ngram {
            grams.push(mix(rolling));
            rolling = rolling.wrapping_sub(words[at + 1 - ngram].wrapping_mul(leaving));
        }
    }
    grams
}

/// Selects n-grams: those whose hash is 0 modulo [`SAMPLING_RATE`] and the minimum of each unit. An edited copy
/// still has most of them.
fn selected_grams(text: &Text, ngram: usize) -> Vec<u32> {
    let sampled = text.grams.iter().enumerate().filter(|(_, gram)| gram.is_multiple_of(SAMPLING_RATE));
    let mut selected_grams: Vec<u32> = sampled.map(|(at, _)| at as u32).collect();
    for unit in text.paragraphs.iter().chain(&text.sentences) {
        let Some(first) = unit.selected_gram else { continue };
        selected_grams.push(first);
        if unit.words().len() > SHORT_WORDS {
            continue;
        }
        // A short unit has few sampled n-grams, and one edited word can remove its minimum.
        let others = (unit.start..unit.end + 1 - ngram as u32).filter(|at| *at != first);
        selected_grams.extend(others.min_by_key(|at| text.grams[*at as usize] % (1 << 32)));
    }
    selected_grams.sort_unstable();
    selected_grams.dedup();
    selected_grams
}

/// Splits a paragraph into sentences. The boundaries need not be right, only the same for a copy.
fn sentences(paragraph: &str) -> Vec<(usize, usize)> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut ended = false;
    for (at, c) in paragraph.char_indices() {
        match c {
            '。' | '！' | '？' | '।' => ended = true,
            '.' | '!' | '?' | '…' | '؟' => ended = true,
            // Closing quotes and brackets end the sentence they follow.
            '"' | '”' | '’' | '»' | '«' | ')' | '」' | '\'' if ended => {}
            _ if c.is_whitespace() => {
                if ended && at > start {
                    sentences.push((start, at + c.len_utf8()));
                    start = at + c.len_utf8();
                }
                ended = false;
            }
            _ => {
                let behind_wide = paragraph[..at].ends_with(['。', '！', '？']);
                if ended && behind_wide {
                    sentences.push((start, at));
                    start = at;
                }
                ended = false;
            }
        }
    }
    if start < paragraph.len() || sentences.is_empty() {
        sentences.push((start, paragraph.len()));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(paragraphs: &[&str], rule: &Rule) -> Text {
        Text::new(paragraphs.iter().copied(), rule)
    }

    #[test]
    fn the_hash_of_an_n_gram_does_not_depend_on_its_position() {
        let rule = Rule { ngram: 3, ..Rule::default() };
        let long = text(&["one two three four", "five six"], &rule);
        assert_eq!(long.grams.len(), 4);
        assert_eq!(long.grams[1], text(&["Two, three: four!"], &rule).grams[0]);
        assert_eq!(long.grams[3], text(&["x four", "five six"], &rule).grams[1]);
        assert!(text(&["one two"], &rule).grams.is_empty());
        assert_ne!(long.grams[0], long.grams[1]);
    }

    #[test]
    fn non_empty_units_have_a_hash() {
        let rule = Rule::default();
        let some = text(&["Yes.", "* * *", "", " \u{a0}", "yes", "—"], &rule);
        let hashes: Vec<Option<u64>> = some.paragraphs.iter().map(|unit| unit.hash).collect();
        assert_eq!(hashes[0], hashes[4]);
        assert!(hashes[1].is_some() && hashes[5].is_some() && hashes[1] != hashes[5]);
        assert_eq!((hashes[2], hashes[3]), (None, None));
    }

    #[test]
    fn sentences_cover_their_paragraph() {
        let rule = Rule { levels: Level::Sentence.into(), ..Rule::default() };
        for (paragraph, parts) in [
            ("He came. “Did he?” Yes… no", vec!["He came. ", "“Did he?” ", "Yes… ", "no"]),
            ("v3.5 of it", vec!["v3.5 of it"]),
            ("東京は雨。大阪は晴れ。", vec!["東京は雨。", "大阪は晴れ。"]),
            ("", vec![""]),
            ("...", vec!["..."]),
        ] {
            let text = text(&[paragraph], &rule);
            let found: Vec<&str> = (0..text.sentences.len()).map(|at| &paragraph[text.sentence(at).1]).collect();
            assert_eq!(found, parts);
            assert_eq!(text.words, self::text(&[paragraph], &Rule::default()).words);
            let mut bytes = Vec::new();
            text.pack(&mut bytes);
            assert_eq!(Text::unpack(&bytes).as_ref(), Some(&text));
            assert_eq!(Text::unpack(&bytes[..bytes.len() - 1]), None);
        }
    }
}
