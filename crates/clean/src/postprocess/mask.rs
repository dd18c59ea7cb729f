//! Masking of personal data in documents.

use std::borrow::Cow;
use std::ops::Range;

use tidings_lang::{MaskRule, Masked};
use tidings_model::{Document, Mark, Paragraph};

use super::mask_tokens::{mask_layers, mask_tokens};
use super::normalise_unicode::move_spans;

/// Masks all texts of a document and records the number of matches per rule.
pub fn mask(document: &mut Document, rules: &[MaskRule]) {
    if rules.is_empty() {
        return;
    }
    let mut counts = [0u32; MaskRule::ALL.len()];
    let left_out = document.left_out.iter_mut().map(|left_out| &mut left_out.paragraph);
    for paragraph in document.paragraphs.iter_mut().chain(&mut document.comments).chain(left_out) {
        mask_paragraph(paragraph, rules, &mut counts);
    }
    let about = &mut document.about;
    let commenters = document.comment_starts.iter_mut().map(|start| &mut start.author);
    for text in [&mut about.title, &mut about.description].into_iter().chain(&mut about.authors).chain(commenters) {
        mask_text(text, rules, &mut counts);
    }
    for (rule, count) in MaskRule::ALL.iter().zip(counts).filter(|(_, count)| *count > 0) {
        document.masked.insert(rule.name().to_owned(), count);
    }
}

fn mask_paragraph(paragraph: &mut Paragraph, rules: &[MaskRule], counts: &mut [u32]) {
    let Masked { text, counts: of_rules, found } = tidings_lang::mask(&paragraph.text, rules);
    of_rules.iter().zip(counts).for_each(|(found, count)| *count += *found as u32);
    if let Cow::Owned(text) = text {
        let offsets = OffsetMap::after(&found);
        let places: Vec<(usize, usize)> =
            paragraph.spans.iter().map(|span| (offsets.start(span.start), offsets.end(span.end))).collect();
        move_spans(&mut paragraph.spans, &places);
        mask_tokens(paragraph, &found, rules);
        paragraph.text = text;
    }
    mask_layers(paragraph, rules);
    for span in &mut paragraph.spans {
        if let Mark::Link { href } = &mut span.mark
            && let Cow::Owned(text) = tidings_lang::mask(href, rules).text
        {
            *href = text;
        }
    }
}

/// Mapping from offsets before masking to offsets after it.
struct OffsetMap {
    /// Masked ranges, and the ranges of the offsets that replace them.
    pairs: Vec<(Range<usize>, Range<usize>)>,
}

impl OffsetMap {
    fn after(found: &[(MaskRule, Range<usize>)]) -> OffsetMap {
        let (mut old, mut new) = (0, 0);
        let pairs = found.iter().map(|(rule, place)| {
            let start = new + place.start - old;
            (old, new) = (place.end, start + rule.token().len());
            (place.clone(), start..new)
        });
        OffsetMap { pairs: pairs.collect() }
    }

    /// Maps the start of a span; inside a masked range, to the start of its token.
    fn start(&self, place: usize) -> usize {
        self.moved(place, |token| token.start)
    }

    /// Maps the end of a span; inside a masked range, to the end of its token.
    fn end(&self, place: usize) -> usize {
        self.moved(place, |token| token.end)
    }

    fn moved(&self, place: usize, inside: impl Fn(&Range<usize>) -> usize) -> usize {
        match self.pairs.partition_point(|(old, _)| old.start < place).checked_sub(1).map(|number| &self.pairs[number])
        {
            None => place,
            Some((old, new)) if place < old.end => inside(new),
            Some((old, new)) => new.end + place - old.end,
        }
    }
}

fn mask_text(text: &mut String, rules: &[MaskRule], counts: &mut [u32]) {
    let masked = tidings_lang::mask(text, rules);
    masked.counts.iter().zip(counts).for_each(|(found, count)| *count += *found as u32);
    if let Cow::Owned(masked) = masked.text {
        *text = masked;
    }
}

#[cfg(test)]
mod tests {
    use tidings_model::Span;

    use super::*;

    #[test]
    fn spans_stay_on_their_words_and_link_targets_are_masked() {
        let text = "Ask ann@example.org or call +49 30 901820 today.";
        let link = Mark::Link { href: "mailto:ann@example.org".to_owned() };
        let span = |part: &str, mark: Mark| {
            let start = text.find(part).unwrap();
            Span { start, end: start + part.len(), mark }
        };
        let spans = vec![
            span("ann@example.org", link),
            span("example", Mark::Code),
            span("or call", Mark::Strong),
            span("901820 today", Mark::Emphasis),
        ];
        let paragraph = Paragraph { text: text.to_owned(), spans, ..Paragraph::default() };
        let mut document = Document { paragraphs: vec![paragraph], ..Document::default() };
        document.about.title = "Write to bob@example.org".to_owned();
        mask(&mut document, &MaskRule::ALL);
        let paragraph = &document.paragraphs[0];
        assert_eq!(paragraph.text, "Ask [EMAIL] or call [PHONE] today.");
        let marked: Vec<&str> = paragraph.spans.iter().map(|span| &paragraph.text[span.start..span.end]).collect();
        assert_eq!(marked, ["[EMAIL]", "[EMAIL]", "or call", "[PHONE] today"]);
        assert_eq!(paragraph.spans[0].mark, Mark::Link { href: "mailto:[EMAIL]".to_owned() });
        assert_eq!(document.about.title, "Write to [EMAIL]");
        assert_eq!(document.masked, [("email".to_owned(), 2), ("phone".to_owned(), 1)].into());
    }
}
