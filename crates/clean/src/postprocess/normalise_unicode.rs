//! Unicode normalisation of all texts of a document.
//!
//! Emphasis and links are stored as offsets and are moved along.

use std::borrow::Cow;

use tidings_lang::normalise;
use tidings_model::{Document, Paragraph, ParagraphKind, Span};

/// Normalises all texts of a document.
pub fn normalise_unicode(document: &mut Document) {
    document.paragraphs.iter_mut().chain(&mut document.comments).for_each(normalise_paragraph);
    document.paragraphs.retain(|paragraph| !paragraph.text.is_empty());
    // The starts of comments are indices, so an empty paragraph stays where it is.
    if document.comment_starts.is_empty() {
        document.comments.retain(|paragraph| !paragraph.text.is_empty());
    }
    let about = &mut document.about;
    let lists = [&mut about.authors, &mut about.categories, &mut about.tags];
    let texts = [&mut about.title, &mut about.site_name, &mut about.description];
    let commenters = document.comment_starts.iter_mut().map(|start| &mut start.author);
    for text in texts.into_iter().chain(lists.into_iter().flatten()).chain(commenters) {
        if let Cow::Owned(normal) = normalise(text) {
            *text = normal;
        }
    }
}

/// Paragraphs with more spans were not marked up by a person; their spans are dropped.
const MAX_SPANS: usize = 20_000;

fn normalise_paragraph(paragraph: &mut Paragraph) {
    // White space is significant in code, and so are the tabs between cells.
    match paragraph.kind {
        ParagraphKind::Code => return,
        ParagraphKind::Row { .. } if paragraph.text.contains('\t') => {
            let cells: Vec<Cow<'_, str>> = paragraph.text.split('\t').map(normalise).collect();
            let text = cells.join("\t");
            if text != paragraph.text {
                // Spans in tables are few, and a wrong one is worse than none.
                paragraph.spans.clear();
                paragraph.text = text;
            }
            return;
        }
        _ => {}
    }
    let Cow::Owned(text) = normalise(&paragraph.text) else { return };
    if paragraph.spans.len() > MAX_SPANS {
        paragraph.spans.clear();
    }
    let places = moved_offsets(&paragraph.text, &text, &paragraph.spans);
    move_spans(&mut paragraph.spans, &places);
    paragraph.text = text;
}

/// Sets the new offsets of spans and drops empty ones.
pub(super) fn move_spans(spans: &mut Vec<Span>, places: &[(usize, usize)]) {
    for (span, (start, end)) in spans.iter_mut().zip(places) {
        (span.start, span.end) = (*start, *end);
    }
    spans.retain(|span| span.start < span.end);
}

/// Offsets of spans after normalisation.
///
/// Normalisation is local, so the text between span boundaries is normalised piecewise, each piece
/// between letters that normalisation does not change. If the lengths do not add up, because a
/// boundary lies between a letter and its accent, all spans are dropped.
fn moved_offsets(old: &str, new: &str, spans: &[Span]) -> Vec<(usize, usize)> {
    let mut ends: Vec<usize> = spans.iter().flat_map(|span| [span.start, span.end]).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut moved = Vec::with_capacity(ends.len());
    let (mut from, mut length) = (0, 0);
    for end in ends.iter().copied().chain([old.len()]) {
        let piece = old.get(from..end).unwrap_or_default();
        let left = if from == 0 { "" } else { "x" };
        let right = if end == old.len() { "" } else { "x" };
        length += normalise(&format!("{left}{piece}{right}")).len() - left.len() - right.len();
        moved.push(length);
        from = end;
    }
    if length != new.len() {
        return vec![(0, 0); spans.len()];
    }
    let place = |end: usize| {
        let moved = ends.binary_search(&end).map_or(0, |number| moved[number]);
        if new.is_char_boundary(moved) { moved } else { 0 }
    };
    spans.iter().map(|span| (place(span.start), place(span.end))).collect()
}

#[cfg(test)]
mod tests {
    use tidings_model::Mark;

    use super::*;

    fn normalised(text: &str, spans: &[(usize, usize)]) -> (String, Vec<String>) {
        let mark = |&(start, end): &(usize, usize)| Span { start, end, mark: Mark::Strong };
        let mut paragraph =
            Paragraph { text: text.to_owned(), spans: spans.iter().map(mark).collect(), ..Paragraph::default() };
        normalise_paragraph(&mut paragraph);
        let marked = paragraph.spans.iter().map(|span| paragraph.text[span.start..span.end].to_owned()).collect();
        (paragraph.text, marked)
    }

    #[test]
    fn spans_stay_on_their_words() {
        let text = "Ein\u{a0}Wort\u{200b}, ein u\u{308}bles und Ab\u{ad}satz";
        let find = |part: &str| text.find(part).map(|start| (start, start + part.len())).unwrap();
        let (normalised, marked) = normalised(text, &[find("Wort"), find("u\u{308}bles"), find("Ab\u{ad}satz")]);
        assert_eq!(normalised, "Ein Wort, ein übles und Absatz");
        assert_eq!(marked, ["Wort", "übles", "Absatz"]);
    }

    #[test]
    fn a_span_that_separates_a_letter_from_its_accent_is_dropped() {
        let (text, marked) = normalised("u\u{308}bel", &[(0, 1)]);
        assert_eq!(text, "übel");
        assert!(marked.is_empty(), "{marked:?}");
    }

    #[test]
    fn code_and_cells_keep_their_white_space() {
        let of_kind = |kind: ParagraphKind, text: &str| {
            let mut paragraph = Paragraph { kind, text: text.to_owned(), ..Paragraph::default() };
            normalise_paragraph(&mut paragraph);
            paragraph.text
        };
        assert_eq!(of_kind(ParagraphKind::Code, "if x:\n    y  "), "if x:\n    y  ");
        assert_eq!(of_kind(ParagraphKind::Row { header: false }, "a\u{a0}b\t\tc "), "a b\t\tc");
        assert_eq!(of_kind(ParagraphKind::P, "a\t b"), "a b");
    }
}
