//! Segmenters under comparison.

use std::ops::Range;

use icu_segmenter::options::{SentenceBreakInvariantOptions, WordBreakInvariantOptions};
use icu_segmenter::{SentenceSegmenter, SentenceSegmenterBorrowed, WordSegmenter, WordSegmenterBorrowed};
use tidings_annotate::{BoundaryModel, Segmenter};
use unicode_segmentation::UnicodeSegmentation as _;

/// Tokens by sentence, as byte ranges of the text.
pub type Sentences = Vec<Vec<Range<usize>>>;

/// Segmenter under comparison.
pub enum Peer<'m> {
    /// This project: rules, with or without a model.
    Tidings(Segmenter<'m>),
    /// ICU4X.
    Icu(WordSegmenterBorrowed<'static>, SentenceSegmenterBorrowed<'static>),
    /// The crate `unicode-segmentation`.
    Unicode,
}

impl Peer<'_> {
    /// Returns ICU4X with all its models.
    pub fn icu() -> Peer<'static> {
        Peer::Icu(
            WordSegmenter::new_auto(WordBreakInvariantOptions::default()),
            SentenceSegmenter::new(SentenceBreakInvariantOptions::default()),
        )
    }

    /// Returns this project's segmenter with a given model.
    pub fn with_model<'m>(code: &str, model: &'m BoundaryModel) -> Peer<'m> {
        Peer::Tidings(Segmenter::by_rules(code).with_model(Some(model)))
    }

    /// Segments a text.
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

/// Groups words by sentence and drops white space.
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
