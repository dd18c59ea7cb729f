//! False positives and true positives of the quality gate.
//!
//! Good texts are extractions that agree with the annotation; the gate should accept them. Bad
//! texts are made from the same pages: the boilerplate blocks (menus, teasers, footers), the words
//! without stop words (keywords), one paragraph repeated, and text with characters lost to a wrong
//! encoding.

use std::collections::BTreeMap;

use tidings_clean::article::blocks;
use tidings_clean::gate::Measures;
use tidings_clean::postprocess::{PostprocessOptions, postprocess};
use tidings_clean::{HtmlInput, Options, extract, tree};
use tidings_model::{Document, Paragraph};

use crate::score;
use crate::sets::Sample;

/// Name of the class of texts that must pass.
pub const GOOD: &str = "good";
/// Name of the class of pages that are not articles; some are prose, some are not.
pub const OTHER: &str = "other kinds of pages";

/// Rejections of a class of texts, by rule.
#[derive(Debug, Default)]
pub struct RejectionCounts {
    /// Number of texts.
    pub texts: u32,
    /// Number of rejected texts, by rule.
    pub rejected: BTreeMap<&'static str, u32>,
}

impl RejectionCounts {
    /// Share of rejected texts.
    pub fn share(&self) -> f64 {
        f64::from(self.rejected.values().sum::<u32>()) / f64::from(self.texts.max(1))
    }
}

/// Checks the good and bad texts of a page. Calls `see` with the class of each text, the rule that
/// rejected it, and its measures.
pub fn evaluate(sample: &Sample, mut see: impl FnMut(&'static str, Option<&'static str>, Measures)) {
    let source = HtmlInput { html: &sample.html, url: Some(&sample.url), ..HtmlInput::default() };
    let Ok(document) = extract(&source, &Options::default()) else { return };
    let mut check = |kind: &'static str, mut document: Document| {
        let rejected = postprocess(&mut document, &PostprocessOptions::default()).err();
        see(kind, rejected.map(|rejection| rejection.rule), Measures::of(&document));
    };
    if sample.page_type.as_deref().is_some_and(|kind| kind != "article") {
        check(OTHER, document);
    } else if agrees(sample, &document) {
        check("bad: the rest of the page", rest(&sample.html, &document));
        check("bad: words without small words", keywords(&document));
        check("bad: one paragraph many times", repeated(&document));
        check("bad: another alphabet", misread(&document));
        check(GOOD, document);
    }
}

/// Returns whether the extraction agrees with the annotation.
fn agrees(sample: &Sample, document: &Document) -> bool {
    match (&sample.gold.text, &sample.gold.with) {
        (Some(gold), _) => {
            let (precision, recall) = score::shingles(&document.text(), gold);
            2.0 * precision * recall / (precision + recall).max(1e-9) > 0.8
        }
        (None, Some(with)) => score::Segments::of(&document.text(), with, &[]).recall() > 0.8,
        _ => false,
    }
}

fn with_texts(document: &Document, texts: impl Iterator<Item = String>) -> Document {
    let paragraphs = texts.map(|text| Paragraph { text, ..Paragraph::default() }).collect();
    Document { paragraphs, ..document.clone() }
}

/// The text blocks of the page that are not in the document.
fn rest(html: &str, document: &Document) -> Document {
    let tree = tree::parse(html);
    let text = score::squash(&document.text());
    let mut texts = Vec::new();
    for blocks in blocks::segment(&tree).into_parts() {
        let others = blocks.list.iter().map(|block| score::squash(block.text(&blocks)));
        texts.extend(others.filter(|block| !block.is_empty() && !text.contains(block.as_str())));
    }
    with_texts(document, texts.into_iter())
}

/// The words of a text without stop words, as on keyword-stuffed pages.
fn keywords(document: &Document) -> Document {
    let stops = tidings_lang::stop_list(&document.language_code());
    let is_small = |word: &str| stops.is_some_and(|stops| stops.contains(&word.to_lowercase()));
    let text = document.text();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty() && !is_small(w)).collect();
    with_texts(document, words.chunks(12).map(|words| words.join(", ") + "."))
}

fn repeated(document: &Document) -> Document {
    let longest = document.paragraphs.iter().max_by_key(|paragraph| paragraph.text.len());
    let text = longest.map(|paragraph| paragraph.text.clone()).unwrap_or_default();
    with_texts(document, std::iter::repeat_n(text, 6))
}

/// A text with its non-ASCII letters and every tenth character replaced.
fn misread(document: &Document) -> Document {
    let lost = |paragraph: &Paragraph| {
        let broken = paragraph.text.chars().enumerate();
        broken.map(|(place, c)| if !c.is_ascii() || place % 10 == 0 { '\u{fffd}' } else { c }).collect()
    };
    with_texts(document, document.paragraphs.iter().map(lost))
}
