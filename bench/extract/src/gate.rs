//! What the quality gate refuses: of good texts, which it should not, and of what is left of the same
//! pages without them, which it should.
//!
//! Good is what the extractor made of a page if that agrees with what people say the page holds. Bad is
//! made of the same pages: the blocks that are not text (menus, teasers, footers), the text's words
//! without its small words (keywords), one of its paragraphs many times, and its bytes read as another
//! alphabet with what cannot be read replaced.

use std::collections::BTreeMap;

use tidings_clean::article::blocks;
use tidings_clean::gate::Measures;
use tidings_clean::postprocess::{PostprocessOptions, postprocess};
use tidings_clean::{Options, Source, extract, tree};
use tidings_model::{Document, Paragraph};

use crate::score;
use crate::sets::Sample;

/// The kind of texts that must pass.
pub const GOOD: &str = "good";
/// Pages that are no articles: some are prose, some are not.
pub const OTHER: &str = "other kinds of pages";

/// Refusals of a kind of text, by rule.
#[derive(Debug, Default)]
pub struct Tally {
    /// Texts that were judged.
    pub texts: u32,
    /// Those that were refused.
    pub refused: BTreeMap<&'static str, u32>,
}

impl Tally {
    /// The share of texts that were refused.
    pub fn share(&self) -> f64 {
        f64::from(self.refused.values().sum::<u32>()) / f64::from(self.texts.max(1))
    }
}

/// Judges the texts of a page, good and bad, and shows each to `see`: its kind, the rule that refused it,
/// and what was measured.
pub fn judge(sample: &Sample, mut see: impl FnMut(&'static str, Option<&'static str>, Measures)) {
    let source = Source { html: &sample.html, url: Some(&sample.url), ..Source::default() };
    let Ok(document) = extract(&source, &Options::default()) else { return };
    let mut judge = |kind: &'static str, mut document: Document| {
        let refused = postprocess(&mut document, &PostprocessOptions::default()).err();
        see(kind, refused.map(|refusal| refusal.rule), Measures::of(&document));
    };
    if sample.page_type.as_deref().is_some_and(|kind| kind != "article") {
        judge(OTHER, document);
    } else if agrees(sample, &document) {
        judge("bad: the rest of the page", rest(&sample.html, &document));
        judge("bad: words without small words", keywords(&document));
        judge("bad: one paragraph many times", repeated(&document));
        judge("bad: another alphabet", misread(&document));
        judge(GOOD, document);
    }
}

/// Whether the extractor found what people say the page holds.
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

/// What is on the page besides the text.
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

/// The words of a text that carry meaning, as stuffed pages have them.
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

/// A text whose letters beyond ASCII were lost, or every tenth letter where it has none.
fn misread(document: &Document) -> Document {
    let lost = |paragraph: &Paragraph| {
        let broken = paragraph.text.chars().enumerate();
        broken.map(|(place, c)| if !c.is_ascii() || place % 10 == 0 { '\u{fffd}' } else { c }).collect()
    };
    with_texts(document, document.paragraphs.iter().map(lost))
}
