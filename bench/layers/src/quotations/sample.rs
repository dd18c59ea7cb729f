//! Counts over articles of the sample archive, without gold annotation: shares and lengths that look wrong show defects.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;
use tidings_annotate::layers::quotations::{KIND, QUOTE, QuoteKind, SPEAKER, quotations};
use tidings_model::{Annotated, AnnotatedParagraph, Token};

use super::Predictor;
use crate::archive;

/// Counts over a sample of documents.
#[derive(Debug, Default, Serialize)]
pub(super) struct Sample {
    documents: usize,
    tokens: usize,
    quotations: usize,
    direct: usize,
    with_speaker: usize,
    /// Documents with an odd number of double marks in a paragraph.
    documents_with_unbalanced_marks: usize,
    /// Tokens of the longest quotation, and where it is.
    longest: (u32, String),
    quotations_over_300_tokens: usize,
    /// The share of tokens within quotations, in per cent.
    quoted_per_cent: f64,
    /// Milliseconds for segmentation and tagging, and for quotations.
    tagging_milliseconds: u128,
    quotations_milliseconds: u128,
    /// Milliseconds for a document of a million marks.
    million_marks_milliseconds: u128,
    by_language: BTreeMap<String, usize>,
}

/// Annotates every `step`th article and counts.
pub(super) fn run(shared: &Path, predictor: &Predictor, step: usize) -> Result<Sample> {
    let mut sample = Sample::default();
    let (mut tagging, mut finding) = (Duration::ZERO, Duration::ZERO);
    let mut quoted = 0;
    for article in archive::read(shared, &[])?.into_iter().step_by(step.max(1)) {
        let start = Instant::now();
        let document = predictor.annotate(article.document(), &article.lang)?;
        tagging += start.elapsed();
        let start = Instant::now();
        let spans = quotations(&document, &article.lang);
        finding += start.elapsed();
        sample.documents += 1;
        sample.tokens += document.tokens().count();
        sample.documents_with_unbalanced_marks += usize::from(is_unbalanced(&document));
        for span in spans.iter().filter(|span| span.name == QUOTE) {
            let length = span.end - span.start;
            sample.quotations += 1;
            sample.direct += usize::from(span.attribute(KIND) == Some(QuoteKind::Direct.name()));
            sample.with_speaker += usize::from(span.attribute(SPEAKER).is_some());
            sample.quotations_over_300_tokens += usize::from(length > 300);
            quoted += length as usize;
            *sample.by_language.entry(article.lang.clone()).or_default() += 1;
            if length > sample.longest.0 {
                sample.longest = (length, format!("{}{}", article.site, article.path));
            }
        }
    }
    sample.quoted_per_cent = (quoted as f64 * 1000.0 / sample.tokens.max(1) as f64).round() / 10.0;
    sample.tagging_milliseconds = tagging.as_millis();
    sample.quotations_milliseconds = finding.as_millis();
    let marks = million_marks();
    let start = Instant::now();
    std::hint::black_box(quotations(&marks, "en"));
    sample.million_marks_milliseconds = start.elapsed().as_millis();
    Ok(sample)
}

/// A paragraph of a million opening and closing marks.
fn million_marks() -> Annotated {
    let mark = |at: usize| Token::new(["“", "\"", "”", "'"][at % 4], "", "");
    let sentences = vec![(0..1_000_000).map(mark).collect()];
    let paragraph = AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() };
    Annotated { paragraphs: vec![paragraph], ..Annotated::default() }
}

fn is_unbalanced(document: &Annotated) -> bool {
    document.paragraphs.iter().any(|paragraph| {
        let words = paragraph.sentences.iter().flatten().map(|token| token.word.as_str());
        words.filter(|word| matches!(*word, "\"" | "“" | "”" | "„" | "«" | "»")).count() % 2 == 1
    })
}
