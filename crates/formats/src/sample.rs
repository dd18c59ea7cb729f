//! A document with all features, for the tests of writers.

use tidings_model::{About, Dated, Document, Kind, Licence, Mark, Paragraph, Span};

pub(crate) fn article() -> Document {
    let paragraph = |kind: Kind, text: &str| Paragraph { kind, text: text.into(), ..Paragraph::default() };
    let span = |start, end, mark| Span { start, end, mark };
    let mut rained = paragraph(Kind::P, "It rained *hard*,\nfor three days.");
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
        about: About {
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
            ..About::default()
        },
        paragraphs: vec![
            paragraph(Kind::Heading { level: 2 }, "Rain & flood"),
            rained,
            paragraph(Kind::Item { depth: 1, ordered: false }, "One"),
            paragraph(Kind::Item { depth: 2, ordered: true }, "Inner"),
            paragraph(Kind::Item { depth: 1, ordered: false }, "Two"),
            paragraph(Kind::Quote, "We carried our chairs."),
            paragraph(Kind::Code, "fn main() {\n    println!(\"`\");\n}"),
            paragraph(Kind::Row { header: true }, "Day\tWater"),
            paragraph(Kind::Row { header: false }, "Monday\t2 | 3 m"),
        ],
        comments: vec![paragraph(Kind::P, "Well said.")],
        extractor: "tidings-clean 0".into(),
        ..Document::default()
    }
}
