//! A document with all features, for the tests of writers.

use tidings_model::{Dated, Document, Licence, Mark, PageMetadata, Paragraph, ParagraphKind, Span};

pub(crate) fn article() -> Document {
    let paragraph = |kind: ParagraphKind, text: &str| Paragraph { kind, text: text.into(), ..Paragraph::default() };
    let span = |start, end, mark| Span { start, end, mark };
    let mut rained = paragraph(ParagraphKind::P, "It rained *hard*,\nfor three days.");
    rained.spans = vec![
        span(3, 16, Mark::Strong),
        span(10, 17, Mark::Emphasis),
        span(22, 27, Mark::Link { href: "http://e.org/x".into() }),
    ];
    Document {
        id: "id".into(),
        url: "http://e.org/a?b=1&c=2".into(),
        site: "e.org".into(),
        dated: Some(Dated { day: "2026-03-01".into(), source: "meta".into(), confidence: 0.5, doubts: vec![] }),
        about: PageMetadata {
            title: "Rain \"&\" flood, <again>".into(),
            authors: vec!["Ann".into(), "Bo".into()],
            language: "en-GB".into(),
            site_name: "The <E>".into(),
            description: "Wet.".into(),
            categories: vec!["Weather".into()],
            tags: vec!["rain".into(), "a & b".into()],
            licence: Some(Licence {
                name: "CC-BY-4.0".into(),
                url: "https://creativecommons.org/licenses/by/4.0/".into(),
                evidence: "link".into(),
            }),
            ..PageMetadata::default()
        },
        paragraphs: vec![
            paragraph(ParagraphKind::Heading { level: 2 }, "Rain & flood"),
            rained,
            paragraph(ParagraphKind::Item { depth: 1, ordered: false }, "One"),
            paragraph(ParagraphKind::Item { depth: 2, ordered: true }, "Inner"),
            paragraph(ParagraphKind::Item { depth: 1, ordered: false }, "Two"),
            paragraph(ParagraphKind::Quote, "We carried our chairs."),
            paragraph(ParagraphKind::Code, "fn main() {\n    println!(\"`\");\n}"),
            paragraph(ParagraphKind::Row { header: true }, "Day\tWater"),
            paragraph(ParagraphKind::Row { header: false }, "Monday\t2 | 3 m"),
        ],
        comments: vec![paragraph(ParagraphKind::P, "Well said.")],
        extractor: "tidings-clean 0".into(),
        ..Document::default()
    }
}
