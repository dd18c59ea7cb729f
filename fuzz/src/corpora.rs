//! Corpora of other programs: vertical files, CoNLL-U, and documents that are written as TEI.

use std::path::Path;

use tidings_formats::{Format, conllu, tei_tokens, vertical};
use tidings_model::Document;

/// The vertical format with layers and spans: what is written is read and written again as it was, once lines without any
/// value, which are no tokens, are gone.
pub fn vertical(bytes: &[u8]) {
    let again = |text: &str| vertical_text(text.as_bytes());
    let text = again(&vertical_text(bytes));
    assert_eq!(again(&text), text);
}

/// All documents of a file up to its first fault, as they are written.
fn vertical_text(bytes: &[u8]) -> String {
    let mut reader = vertical::Reader::new(bytes, Path::new("a.vert"));
    let mut text = String::new();
    while let Ok(Some(document)) = reader.next_document() {
        vertical::write(&document, &mut text);
    }
    text
}

/// Annotated text in TEI: what was read is written as TEI that can be read.
pub fn tei_tokens(bytes: &[u8]) {
    let mut reader = tei_tokens::Reader::new(bytes, Path::new("a.xml"));
    while let Ok(Some(document)) = reader.next_document() {
        let mut text = tei_tokens::OPENING.to_owned();
        tei_tokens::write(&document, &mut text);
        text.push_str(tei_tokens::CLOSING);
        let again = tei_tokens::Reader::new(text.as_bytes(), Path::new("b.xml")).next_document();
        assert!(again.is_ok(), "{}\n{text}", again.expect_err("not read"));
    }
}

/// CoNLL-U and CoNLL-U Plus.
pub fn conllu(bytes: &[u8]) {
    let mut reader = conllu::Reader::new(bytes, Path::new("a.conllu"));
    while let Ok(Some(document)) = reader.next_document() {
        let mut text = String::new();
        vertical::write(&document, &mut text);
    }
}

/// Documents in JSON, written in every format; TEI and XML are well-formed whatever the text holds.
pub fn tei(bytes: &[u8]) {
    let Ok(document) = serde_json::from_slice::<Document>(bytes) else { return };
    for format in Format::ALL {
        let text = format.write(&document);
        if matches!(format, Format::Tei | Format::Xml) {
            let mut reader = quick_xml::Reader::from_str(&text);
            loop {
                match reader.read_event() {
                    Ok(quick_xml::events::Event::Eof) => break,
                    Ok(_) => {}
                    Err(error) => panic!("{format}: {error}\n{text}"),
                }
            }
        }
    }
}
