//! The inline content of a paragraph: text and properly nested marks.

use tidings_model::{Mark, Span};

/// The maximum nesting depth of marks; deeper ones are omitted.
pub(crate) const MAX_DEPTH: usize = 8;

/// A step through a paragraph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Inline<'a> {
    /// A mark begins.
    Open(&'a Mark),
    /// The mark that began last ends.
    Close(&'a Mark),
    /// Text without marks in it.
    Text(&'a str),
}

/// Walks over a range of a text with its marks. Every opened mark is closed in reverse order: one that ends within
/// another is split there.
pub(crate) fn walk<'a>(text: &'a str, spans: &'a [Span], from: usize, to: usize, mut see: impl FnMut(Inline<'a>)) {
    let (from, to) = (boundary(text, from), boundary(text, to));
    let mut marks: Vec<(usize, usize, &Mark)> = spans
        .iter()
        .map(|span| (boundary(text, span.start).max(from), boundary(text, span.end).min(to), &span.mark))
        .filter(|(start, end, _)| start < end)
        .collect();
    marks.sort_by_key(|(start, end, _)| (*start, std::cmp::Reverse(*end)));

    let mut open: Vec<(usize, &Mark)> = Vec::new();
    // The position up to which text was emitted; text waits until a mark requires it.
    let mut shown = from;
    let mut next = marks.into_iter().peekable();
    loop {
        let begins = next.peek().map(|mark| mark.0);
        let ends = open.iter().map(|mark| mark.0).min();
        let Some(at) = begins.into_iter().chain(ends).min() else { break };
        let mut show_text = |see: &mut dyn FnMut(Inline<'a>)| {
            if shown < at {
                see(Inline::Text(&text[shown..at]));
                shown = at;
            }
        };
        // All marks above one that ends here are closed with it and reopened.
        if let Some(lowest) = open.iter().position(|mark| mark.0 <= at) {
            show_text(&mut see);
            let closed = open.split_off(lowest);
            closed.iter().rev().for_each(|mark| see(Inline::Close(mark.1)));
            for mark in closed.into_iter().filter(|mark| mark.0 > at) {
                see(Inline::Open(mark.1));
                open.push(mark);
            }
        }
        while let Some((_, end, mark)) = next.next_if(|mark| mark.0 <= at) {
            if open.len() < MAX_DEPTH && !open.iter().any(|inside| bars(inside.1, mark)) {
                show_text(&mut see);
                see(Inline::Open(mark));
                open.push((end, mark));
            }
        }
    }
    if shown < to {
        see(Inline::Text(&text[shown..to]));
    }
}

/// True if a mark cannot be nested in another: it is redundant or not allowed, like a link in a link and any mark in
/// code.
fn bars(outer: &Mark, inner: &Mark) -> bool {
    *outer == Mark::Code || std::mem::discriminant(outer) == std::mem::discriminant(inner)
}

/// The next character boundary at or after an offset.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// The stretches of a row's text that are its cells.
pub(crate) fn cells(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut start = 0;
    text.split('\t').map(move |cell| {
        let range = (start, start + cell.len());
        start = range.1 + 1;
        range
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, spans: &[(usize, usize, Mark)]) -> String {
        let spans: Vec<Span> =
            spans.iter().map(|(start, end, mark)| Span { start: *start, end: *end, mark: mark.clone() }).collect();
        let mut out = String::new();
        walk(text, &spans, 0, text.len(), |step| match step {
            Inline::Open(mark) => out.push_str(&format!("<{}>", name(mark))),
            Inline::Close(mark) => out.push_str(&format!("</{}>", name(mark))),
            Inline::Text(text) => out.push_str(text),
        });
        out
    }

    fn name(mark: &Mark) -> &'static str {
        match mark {
            Mark::Strong => "b",
            Mark::Emphasis => "i",
            Mark::Code => "c",
            Mark::Link { .. } => "a",
        }
    }

    #[test]
    fn crossing_marks_are_split() {
        let spans = [(0, 4, Mark::Strong), (2, 6, Mark::Emphasis)];
        assert_eq!(shown("abcdefg", &spans), "<b>ab<i>cd</i></b><i>ef</i>g");
    }

    #[test]
    fn code_contains_no_marks() {
        assert_eq!(shown("abcd", &[(0, 3, Mark::Code), (1, 2, Mark::Strong), (2, 4, Mark::Emphasis)]), "<c>abc</c>d");
        assert_eq!(shown("abcd", &[(0, 2, Mark::Strong), (1, 3, Mark::Code)]), "<b>a<c>b</c></b><c>c</c>d");
    }

    #[test]
    fn invalid_offsets_do_no_harm() {
        let link = |href: &str| Mark::Link { href: href.into() };
        let spans =
            [(9, 2, Mark::Strong), (1, 2, Mark::Emphasis), (2, usize::MAX, Mark::Code), (usize::MAX, 0, link(""))];
        assert_eq!(shown("äöü", &spans), "ä<c>öü</c>");
        assert_eq!(shown("", &spans), "");
        assert_eq!(shown("ab", &[(0, 2, link("x")), (0, 1, link("y"))]), "<a>ab</a>", "no link within a link");
    }

    #[test]
    fn the_nesting_depth_is_limited() {
        let text = "x".repeat(3000);
        let spans: Vec<Span> = (0..3000).map(|at| Span { start: at, end: at + 1500, mark: Mark::Strong }).collect();
        let mut steps = 0;
        walk(&text, &spans, 0, text.len(), |_| steps += 1);
        assert!(steps < 20);
    }

    proptest::proptest! {
        #[test]
        fn with_any_marks_the_text_is_kept_and_all_are_closed(
            text in "[a-cäß€😀]{0,12}",
            spans in proptest::collection::vec((0usize..40, 0usize..40, 0u8..4), 0..8),
        ) {
            let mark = |kind: u8| match kind {
                0 => Mark::Strong,
                1 => Mark::Emphasis,
                2 => Mark::Code,
                _ => Mark::Link { href: String::new() },
            };
            let spans: Vec<Span> =
                spans.into_iter().map(|(start, end, kind)| Span { start, end, mark: mark(kind) }).collect();
            let (mut seen, mut open) = (String::new(), Vec::new());
            walk(&text, &spans, 0, text.len(), |step| match step {
                Inline::Open(mark) => open.push(mark),
                Inline::Close(mark) => assert_eq!(open.pop(), Some(mark)),
                Inline::Text(text) => seen.push_str(text),
            });
            proptest::prop_assert_eq!(&seen, &text);
            proptest::prop_assert!(open.is_empty());
        }
    }
}
