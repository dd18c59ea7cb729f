//! Random documents with characters that are special in some format.

use proptest::prelude::*;
use tidings_model::{
    Annotated, AnnotatedParagraph, Attributes, Document, LayerColumn, LayerDeclaration, LayerKind, Mark, PageMetadata,
    Paragraph, ParagraphKind, Span, Token, TokenSpan,
};

/// Characters that are delimiters in some format, and multi-byte characters.
const SPECIAL: &str = "[a-c<>&\"'|\\\\=#*_`\\[\\](),;/%é日😀\u{200b}\u{feff}]";

/// A word without white space.
pub fn word() -> impl Strategy<Value = String> {
    proptest::string::string_regex(&format!("{SPECIAL}{{1,6}}")).expect("a pattern")
}

/// Text without white space at its ends and without control characters.
pub fn phrase() -> impl Strategy<Value = String> {
    prop::collection::vec(word(), 0..4).prop_map(|words| words.join(" "))
}

/// Any text, including control characters and line ends.
pub fn anything() -> impl Strategy<Value = String> {
    prop_oneof![phrase(), any::<String>(), "[\\x00-\\x1f\\x7f-\\x9f\u{2028}\u{fffe}<>&\"]{0,8}"]
}

prop_compose! {
    fn token()(
        word in word().prop_filter("an underscore is a missing word", |word| word != "_"),
        lemma in word().prop_filter("an underscore is a missing lemma", |lemma| lemma != "_"),
        tag in "NOUN|VERB|X|NN|art:def|",
        feats in "(Case=Gen)?|Case=Dat\\|Number=Sing",
        space_after: bool,
        known: bool,
    ) -> Token {
        let lemma = if known { lemma } else { String::new() };
        Token { feats: feats.into(), space_after, ..Token::new(&word, &lemma, &tag) }
    }
}

prop_compose! {
    fn annotated_paragraph()(
        kind in "p|heading|item",
        language in "(de|en)?",
        sentences in prop::collection::vec(prop::collection::vec(token(), 1..5), 1..3),
    ) -> AnnotatedParagraph {
        AnnotatedParagraph { kind, language, sentences }
    }
}

prop_compose! {
    /// The start, length, name and attributes of a span.
    fn token_span()(
        start in 0u32..40, length in 1u32..12, name in "ne|quote|name|seg", kind in phrase(), who in phrase(),
    ) -> TokenSpan {
        TokenSpan::new(&name, start, start + length).with("type", &kind).with("who", &who)
    }
}

prop_compose! {
    /// An annotated document with further layers: columns of all kinds, spans that are nested or cross each other,
    /// sentences and paragraphs.
    pub fn layered()(
        document in annotated(),
        spans in prop::collection::vec(token_span(), 0..9),
        values in prop::collection::vec(phrase(), 1..9),
        kinds in prop::collection::vec(0usize..4, 0..4),
    ) -> Annotated {
        let tokens = document.tokens().count();
        let mut spans: Vec<TokenSpan> = spans
            .into_iter()
            .map(|span| TokenSpan { end: span.end.min(tokens as u32), ..span })
            .filter(|span| span.start < span.end)
            .collect();
        spans.sort_by(TokenSpan::file_order);
        let column = |(number, kind): (usize, usize)| LayerColumn {
            layer: LayerDeclaration {
                name: format!("layer_{number}"),
                kind: LayerKind::ALL[kind],
                origin: if number == 0 { String::new() } else { format!("annotator {number}") },
            },
            values: values.iter().cycle().skip(number).take(tokens).cloned().collect(),
        };
        let columns = kinds.into_iter().enumerate().map(column).collect();
        Annotated { columns, spans, ..document }
    }
}

prop_compose! {
    /// An annotated document whose attributes have no control characters.
    pub fn annotated()(
        id: u128, title in phrase(), site in word(), topic in word(),
        paragraphs in prop::collection::vec(annotated_paragraph(), 1..4),
    ) -> Annotated {
        let fields = vec![("site".to_owned(), site), ("topic_2".to_owned(), topic)];
        let about = Attributes {
            id, title, url: "http://e.org/?a=1&b=<2>".into(), date: "2026-03-01".into(), seen: "2026-03-02".into(), fields,
        };
        Annotated { about, paragraphs, ..Annotated::default() }
    }
}

prop_compose! {
    /// A span that may cross others, start inside a character, or end after the text.
    fn span()(start in 0usize..20, len in 0usize..20, number in 0u8..4, href in "javascript:alert\\(1\\)|http://e.org/\\?a=\"<>|.{0,6}") -> Span {
        let mark = match number {
            0 => Mark::Strong,
            1 => Mark::Emphasis,
            2 => Mark::Code,
            _ => Mark::Link { href },
        };
        Span { start, end: start + len, mark }
    }
}

prop_compose! {
    fn paragraph()(text in anything(), number in 0u8..9, spans in prop::collection::vec(span(), 0..4)) -> Paragraph {
        let kind = match number {
            0 => ParagraphKind::Heading { level: 2 },
            1 => ParagraphKind::Item { depth: 1, ordered: true },
            2 => ParagraphKind::Item { depth: 3, ordered: false },
            3 => ParagraphKind::Quote,
            4 => ParagraphKind::Code,
            5 => ParagraphKind::Row { header: true },
            6 => ParagraphKind::Row { header: false },
            _ => ParagraphKind::P,
        };
        Paragraph { text, kind, spans, ..Paragraph::default() }
    }
}

prop_compose! {
    /// A document with anything in every field.
    pub fn document()(
        id in "[0-9a-f]{32}", url in anything(), title in anything(), author in anything(), description in anything(),
        paragraphs in prop::collection::vec(paragraph(), 0..6), comments in prop::collection::vec(paragraph(), 0..2),
    ) -> Document {
        let about = PageMetadata { title, authors: vec![author], description, language: "de".into(), ..PageMetadata::default() };
        Document { id, url, site: "e.org".into(), about, paragraphs, comments, ..Document::default() }
    }
}
