//! Corpora of other programs: vertical files, CoNLL-U, and documents that are written as TEI.

use std::path::Path;

use tidings_formats::vertical::{self, Event};
use tidings_formats::{Format, conllu};
use tidings_model::{Annotated, AnnotatedParagraph, Document, Token};

/// The vertical format: a document that is written, read and written again is the same. Control characters of the first
/// reading become spaces.
pub fn vertical(bytes: &[u8]) {
    let written = |document: &Annotated| {
        let mut text = String::new();
        vertical::write(document, &mut text);
        text
    };
    let text = written(&read_vertical(bytes));
    assert_eq!(written(&read_vertical(text.as_bytes())), text);
}

/// All tokens of a file in one document.
fn read_vertical(bytes: &[u8]) -> Annotated {
    let mut reader = vertical::Reader::new(bytes, Path::new("a.vert"));
    let mut document = Annotated::default();
    loop {
        match reader.next_event() {
            Ok(None) => return document,
            Ok(Some(Event::Document(about))) => document.about = *about,
            Ok(Some(Event::Paragraph)) => document.paragraphs.push(AnnotatedParagraph::default()),
            Ok(Some(Event::Sentence)) => last(&mut document).sentences.push(Vec::new()),
            Ok(Some(Event::Token(line))) => {
                let word = vertical::unescape(line.split('\t').next().unwrap_or_default());
                let paragraph = last(&mut document);
                if paragraph.sentences.is_empty() {
                    paragraph.sentences.push(Vec::new());
                }
                let sentence = paragraph.sentences.last_mut().expect("there is one now");
                if !word.is_empty() {
                    sentence.push(Token { word, space_after: true, ..Token::default() });
                }
            }
            Ok(Some(_)) | Err(tidings_formats::Error::Line { .. }) => {}
            Err(_) => return document,
        }
    }
}

fn last(document: &mut Annotated) -> &mut AnnotatedParagraph {
    if document.paragraphs.is_empty() {
        document.paragraphs.push(AnnotatedParagraph::default());
    }
    document.paragraphs.last_mut().expect("there is one now")
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
