//! Who else cuts text into tokens and sentences.

use std::ops::Range;

use icu_segmenter::options::{SentenceBreakInvariantOptions, WordBreakInvariantOptions};
use icu_segmenter::{SentenceSegmenter, SentenceSegmenterBorrowed, WordSegmenter, WordSegmenterBorrowed};
use tidings_annotate::{BoundaryModel, Segmenter};
use unicode_segmentation::UnicodeSegmentation as _;

/// Sentences of tokens, as places in the text in bytes.
pub type Sentences = Vec<Vec<Range<usize>>>;

/// Somebody who segments text.
pub enum Peer<'m> {
    /// This project: rules, and a model if there is one.
    Tidings(Segmenter<'m>),
    /// ICU4X.
    Icu(WordSegmenterBorrowed<'static>, SentenceSegmenterBorrowed<'static>),
    /// The crate unicode-segmentation.
    Unicode,
}

impl Peer<'_> {
    /// ICU4X with everything that it carries.
    pub fn icu() -> Peer<'static> {
        Peer::Icu(
            WordSegmenter::new_auto(WordBreakInvariantOptions::default()),
            SentenceSegmenter::new(SentenceBreakInvariantOptions::default()),
        )
    }

    /// This project with a model of one's own.
    pub fn with_model<'m>(code: &str, model: &'m BoundaryModel) -> Peer<'m> {
        Peer::Tidings(Segmenter::by_rules(code).with_model(Some(model)))
    }

    /// The sentences of a text.
    pub fn segment(&self, text: &str) -> Sentences {
        match self {
            Peer::Tidings(segmenter) => segmenter.segment(text).into_iter().map(|sentence| sentence.tokens).collect(),
            Peer::Icu(words, sentences) => {
                let words: Vec<usize> = words.segment_str(text).collect();
                group_words(text, &words, sentences.segment_str(text))
            }
            Peer::Unicode => {
                let words: Vec<usize> =
                    text.split_word_bound_indices().map(|word| word.0).chain([text.len()]).collect();
                group_words(
                    text,
                    &words,
                    text.split_sentence_bound_indices().map(|sentence| sentence.0).chain([text.len()]),
                )
            }
        }
    }
}

/// Puts words into sentences and leaves out what is blank.
fn group_words(text: &str, words: &[usize], ends: impl Iterator<Item = usize>) -> Sentences {
    let mut found = Vec::new();
    let mut words = words.windows(2).map(|pair| pair[0]..pair[1]).peekable();
    for end in ends {
        let mut sentence = Vec::new();
        while let Some(word) = words.next_if(|word| word.start < end) {
            if !text[word.clone()].trim().is_empty() {
                sentence.push(word);
            }
        }
        if !sentence.is_empty() {
            found.push(sentence);
        }
    }
    found
}
