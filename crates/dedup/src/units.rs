//! A document as the judge sees it: words, n-grams and units, all as numbers.
//!
//! This is the costly part and depends on the document alone, so that it is done on all cores.

use crate::hash::{self, STEP, mix};
use crate::rule::{Level, Rule};
use crate::words::push_words;

/// One n-gram in so many is an anchor, by which a text is recognised.
const ANCHOR_RATE: u64 = 32;

/// A unit of up to so many words has a second anchor of its own.
const SHORT_WORDS: usize = 40;

/// A document that is ready to be judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Text {
    /// The n-gram that begins at each word.
    pub(crate) grams: Vec<u64>,
    /// The words at which anchors begin, ascending.
    pub(crate) anchors: Vec<u32>,
    pub(crate) paragraphs: Vec<Unit>,
    /// Empty unless sentences are judged.
    pub(crate) sentences: Vec<Unit>,
    pub(crate) words: usize,
    /// What the whole text is known by.
    pub(crate) key: u64,
}

/// A paragraph or a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The paragraph it is, or lies in.
    pub(crate) paragraph: u32,
    /// Its words.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Its bytes in the paragraph.
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// What it is known by; nothing if there is nothing in it.
    pub(crate) key: Option<u64>,
    /// The word at which its own anchor begins; nothing if it is too short for an n-gram. Whoever has the
    /// unit word for word has the anchor.
    pub(crate) anchor: Option<u32>,
}

impl Unit {
    pub(crate) fn words(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Text {
    /// Prepares a document for the judge.
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
        text.key = sequence(&words, 0x7E87);
        text.grams = grams(&words, rule.ngram);
        for unit in text.paragraphs.iter_mut().chain(&mut text.sentences) {
            let end = (unit.end as usize + 1).saturating_sub(rule.ngram);
            let own = (unit.start as usize..end).min_by_key(|at| text.grams[*at] % (1 << 32));
            unit.anchor = own.map(|at| at as u32);
        }
        text.anchors = anchors(&text, rule.ngram);
        text
    }

    /// Writes it down as bytes, to be judged later in the same run.
    pub fn pack(&self, bytes: &mut Vec<u8>) {
        let number = |number: usize, bytes: &mut Vec<u8>| bytes.extend((number as u32).to_le_bytes());
        bytes.extend(self.key.to_le_bytes());
        let lens = [self.words, self.grams.len(), self.anchors.len(), self.paragraphs.len(), self.sentences.len()];
        lens.into_iter().for_each(|len| number(len, bytes));
        self.grams.iter().for_each(|gram| bytes.extend(gram.to_le_bytes()));
        self.anchors.iter().for_each(|anchor| bytes.extend(anchor.to_le_bytes()));
        for unit in self.paragraphs.iter().chain(&self.sentences) {
            [unit.paragraph, unit.start, unit.end, unit.from, unit.to]
                .into_iter()
                .for_each(|n| number(n as usize, bytes));
            bytes.push(u8::from(unit.key.is_some()) | u8::from(unit.anchor.is_some()) << 1);
            bytes.extend(unit.key.unwrap_or(0).to_le_bytes());
            bytes.extend(unit.anchor.unwrap_or(0).to_le_bytes());
        }
    }

    /// Reads what [`Text::pack`] wrote; nothing if it is something else.
    pub fn unpack(bytes: &[u8]) -> Option<Text> {
        let mut rest = bytes;
        let key = take_u64(&mut rest)?;
        let mut lens = [0; 5];
        for len in &mut lens {
            *len = take_u32(&mut rest)? as usize;
        }
        let [words, grams, anchors, paragraphs, sentences] = lens;
        let grams = (0..grams).map(|_| take_u64(&mut rest)).collect::<Option<_>>()?;
        let anchors = (0..anchors).map(|_| take_u32(&mut rest)).collect::<Option<_>>()?;
        let mut unit = || {
            let [paragraph, start, end, from, to] = std::array::from_fn(|_| take_u32(&mut rest).unwrap_or(0));
            let (has, key, anchor) = (take::<1>(&mut rest)?[0], take_u64(&mut rest)?, take_u32(&mut rest)?);
            let (key, anchor) = ((has & 1 != 0).then_some(key), (has & 2 != 0).then_some(anchor));
            Some(Unit { paragraph, start, end, from, to, key, anchor })
        };
        let paragraphs = (0..paragraphs).map(|_| unit()).collect::<Option<_>>()?;
        let sentences = (0..sentences).map(|_| unit()).collect::<Option<_>>()?;
        Some(Text { grams, anchors, paragraphs, sentences, words, key })
    }

    /// How many words it has.
    pub fn words(&self) -> usize {
        self.words
    }

    /// How many paragraphs it has.
    pub fn paragraphs(&self) -> usize {
        self.paragraphs.len()
    }

    /// The sentences of a paragraph, where sentences are judged.
    pub fn sentences_of(&self, paragraph: usize) -> std::ops::Range<usize> {
        let before = |limit: usize| self.sentences.partition_point(|unit| (unit.paragraph as usize) < limit);
        before(paragraph)..before(paragraph + 1)
    }

    /// Where a sentence lies: its paragraph, and its first and last byte there.
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
    let key = match own.is_empty() {
        false => Some(sequence(own, 0x0417)),
        // Lines of stars and dashes have no words but are copied like others.
        true => Some(text.trim()).filter(|text| !text.is_empty()).map(|text| hash::bytes(text.as_bytes())),
    };
    Unit {
        paragraph: paragraph as u32,
        start: start as u32,
        end: words.len() as u32,
        from: from as u32,
        to: (from + text.len()) as u32,
        key,
        anchor: None,
    }
}

/// A number for words in their order.
fn sequence(words: &[u64], kind: u64) -> u64 {
    mix(words.iter().fold(kind, |state, word| (state.rotate_left(11) ^ word).wrapping_mul(STEP)))
}

/// The numbers of all n-grams, each from the one before it.
fn grams(words: &[u64], ngram: usize) -> Vec<u64> {
    if words.len() < ngram {
        return Vec::new();
    }
    let leaving = (1..ngram).fold(1u64, |power, _| power.wrapping_mul(STEP));
    let mut rolling = 0u64;
    let mut grams = Vec::with_capacity(words.len() + 1 - ngram);
    for (at, word) in words.iter().enumerate() {
        rolling = rolling.wrapping_mul(STEP).wrapping_add(*word);
        if at + 1 >= ngram {
            grams.push(mix(rolling));
            rolling = rolling.wrapping_sub(words[at + 1 - ngram].wrapping_mul(leaving));
        }
    }
    grams
}

/// Every n-gram of a kind, wherever it stands, and one of each unit: a copy that was edited has most of
/// them still.
fn anchors(text: &Text, ngram: usize) -> Vec<u32> {
    let sampled = text.grams.iter().enumerate().filter(|(_, gram)| gram.is_multiple_of(ANCHOR_RATE));
    let mut anchors: Vec<u32> = sampled.map(|(at, _)| at as u32).collect();
    for unit in text.paragraphs.iter().chain(&text.sentences) {
        let Some(first) = unit.anchor else { continue };
        anchors.push(first);
        if unit.words().len() > SHORT_WORDS {
            continue;
        }
        // A short unit has few of the others, and one edited word takes its own away.
        let others = (unit.start..unit.end + 1 - ngram as u32).filter(|at| *at != first);
        anchors.extend(others.min_by_key(|at| text.grams[*at as usize] % (1 << 32)));
    }
    anchors.sort_unstable();
    anchors.dedup();
    anchors
}

/// Where sentences begin and end. It need not be what a grammarian says, only the same for a copy.
fn sentences(paragraph: &str) -> Vec<(usize, usize)> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut ended = false;
    for (at, c) in paragraph.char_indices() {
        match c {
            '。' | '！' | '？' | '।' => ended = true,
            '.' | '!' | '?' | '…' | '؟' => ended = true,
            // Whatever closes a sentence belongs to it.
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
    fn an_n_gram_is_the_same_wherever_it_stands() {
        let rule = Rule { ngram: 3, ..Rule::default() };
        let long = text(&["one two three four", "five six"], &rule);
        assert_eq!(long.grams.len(), 4);
        assert_eq!(long.grams[1], text(&["Two, three: four!"], &rule).grams[0]);
        assert_eq!(long.grams[3], text(&["x four", "five six"], &rule).grams[1]);
        assert!(text(&["one two"], &rule).grams.is_empty());
        assert_ne!(long.grams[0], long.grams[1]);
    }

    #[test]
    fn units_have_keys_unless_they_are_empty() {
        let rule = Rule::default();
        let some = text(&["Yes.", "* * *", "", " \u{a0}", "yes", "—"], &rule);
        let keys: Vec<Option<u64>> = some.paragraphs.iter().map(|unit| unit.key).collect();
        assert_eq!(keys[0], keys[4]);
        assert!(keys[1].is_some() && keys[5].is_some() && keys[1] != keys[5]);
        assert_eq!((keys[2], keys[3]), (None, None));
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
