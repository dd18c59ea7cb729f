//! Round trips of formats with a reader and a writer.

use std::io::{Cursor, Read as _};
use std::path::Path;

use proptest::prelude::*;
use tidings_formats::conllu::PlusLayers;
use tidings_formats::gzip::MemberReader;
use tidings_formats::vertical;
use tidings_formats::warc::{self, Exchange, PageReader, Position, RecordEvent, RecordReader};
use tidings_formats::{Format, conllu, tei_tokens};
use tidings_model::{Annotated, Document, Page};

use crate::arbitrary::{annotated, document, layered};

/// Reads a vertical file into documents.
fn read_vertical(text: &str) -> Vec<Annotated> {
    let mut reader = vertical::Reader::new(text.as_bytes(), Path::new("test.vert"));
    std::iter::from_fn(|| reader.next_document().expect("well-formed")).collect()
}

fn read_conllu(text: &str) -> Vec<Annotated> {
    let mut reader = conllu::Reader::new(text.as_bytes(), Path::new("test.conllu"));
    let documents = std::iter::from_fn(|| reader.next_document().expect("readable")).collect();
    assert_eq!(reader.bad_sentences, 0);
    documents
}

/// A document as CoNLL-U gives it back: the id is in its name.
fn named(mut document: Annotated) -> Annotated {
    let name = format!("{:032x}", std::mem::take(&mut document.about.id));
    document.about.fields.insert(0, ("newdoc".to_owned(), name));
    document
}

fn exchange<'a>(url: &'a str, body: &'a [u8]) -> Exchange<'a> {
    Exchange {
        url,
        date: jiff::Timestamp::UNIX_EPOCH,
        ip: None,
        request: b"GET / HTTP/1.1\r\n\r\n",
        response: b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n",
        body,
        metadata: "feed: f\r\n",
    }
}

/// Kind, URL and block of every record from a position on.
fn read_warc(bytes: &[u8], from: Position) -> (Vec<(String, Vec<u8>)>, Vec<Position>) {
    let mut reader = RecordReader::new(Cursor::new(bytes.to_vec()), from).expect("readable");
    let (mut records, mut positions) = (Vec::new(), vec![reader.place()]);
    while let Some(event) = reader.next(|_| Ok(1 << 20)) {
        let RecordEvent::Record(record) = event else { panic!("{event:?}") };
        assert_eq!(record.is_sound(), Some(true), "digests agree");
        records.push((record.head.kind().to_owned(), record.block));
        positions.push(reader.place());
    }
    (records, positions)
}

proptest! {
    #[test]
    fn vertical_survives_a_round_trip(documents in prop::collection::vec(layered(), 1..3)) {
        let mut documents = documents;
        // A vertical file does not record the space after the last token of a sentence.
        for paragraph in documents.iter_mut().flat_map(|document| &mut document.paragraphs) {
            paragraph.sentences.iter_mut().for_each(|sentence| sentence.last_mut().expect("a token").space_after = true);
        }
        let mut text = String::new();
        documents.iter().for_each(|document| vertical::write(document, &mut text));
        prop_assert_eq!(read_vertical(&text), documents);
    }

    #[test]
    fn conllu_survives_a_round_trip(documents in prop::collection::vec(layered(), 1..3)) {
        let mut text = String::new();
        documents.iter().for_each(|document| conllu::write(document, &mut text));
        prop_assert_eq!(read_conllu(&text), documents.into_iter().map(named).collect::<Vec<_>>());
    }

    #[test]
    fn conllu_plus_survives_a_round_trip(documents in prop::collection::vec(layered(), 1..3)) {
        let columns = documents.iter().flat_map(|document| &document.columns).map(|column| column.layer.name.clone());
        let plus = PlusLayers { columns: columns.collect(), has_spans: true };
        let (mut text, mut numbers) = (plus.header(), conllu::Numbers::default());
        documents.iter().for_each(|document| conllu::write_plus(document, &mut numbers, &plus, &mut text));
        prop_assert_eq!(read_conllu(&text), documents.into_iter().map(named).collect::<Vec<_>>());
    }

    #[test]
    fn conllu_plus_numbers_tokens_through_the_corpus(documents in prop::collection::vec(annotated(), 1..3)) {
        let plus = PlusLayers::default();
        let (mut text, mut numbers) = (plus.header(), conllu::Numbers::default());
        documents.iter().for_each(|document| conllu::write_plus(document, &mut numbers, &plus, &mut text));
        let sentences = || documents.iter().flat_map(|document| &document.paragraphs).flat_map(|paragraph| &paragraph.sentences);
        prop_assert_eq!(numbers.token, sentences().map(Vec::len).sum::<usize>() as u64 + 1);
        prop_assert_eq!(numbers.sentence, sentences().count() as u64 + 1);
        prop_assert_eq!(numbers.text, documents.len() as u64 + 1);
        let read = read_conllu(&text);
        let words = |documents: &[Annotated]| -> Vec<String> {
            let tokens = documents.iter().flat_map(|d| &d.paragraphs).flat_map(|p| &p.sentences).flatten();
            tokens.map(|token| token.word.to_string()).collect()
        };
        prop_assert_eq!(words(&read), words(&documents));
    }

    #[test]
    fn tei_survives_a_round_trip(documents in prop::collection::vec(layered(), 1..3)) {
        let mut text = tei_tokens::OPENING.to_owned();
        documents.iter().for_each(|document| tei_tokens::write(document, &mut text));
        text.push_str(tei_tokens::CLOSING);
        let mut reader = tei_tokens::Reader::new(text.as_bytes(), Path::new("test.tei.xml"));
        let read: Vec<Annotated> = std::iter::from_fn(|| reader.next_document().expect("well-formed")).collect();
        prop_assert_eq!(read, documents);
    }

    #[test]
    fn json_survives_a_round_trip(document in document()) {
        let line = Format::Json.write(&document);
        prop_assert_eq!(line.matches('\n').count(), 1);
        prop_assert_eq!(serde_json::from_str::<Document>(&line).expect("JSON"), document);
    }

    #[test]
    fn warc_survives_a_round_trip_and_can_be_resumed_at_any_record(bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..5)) {
        let mut writer = warc::Writer::default();
        let mut file = writer.info(Path::new("a.warc.gz"), "tidings", "e.org", jiff::Timestamp::UNIX_EPOCH);
        for (number, body) in bodies.iter().enumerate() {
            file.extend(writer.exchange(&exchange(&format!("http://e.org/{number}"), body)));
        }
        let (records, positions) = read_warc(&file, Position::default());
        let kinds: Vec<&str> = records.iter().map(|record| record.0.as_str()).collect();
        let expected: Vec<&str> =
            std::iter::once("warcinfo").chain(bodies.iter().flat_map(|_| ["response", "request", "metadata"])).collect();
        prop_assert_eq!(kinds, expected);
        for (record, body) in records.iter().filter(|record| record.0 == "response").zip(&bodies) {
            prop_assert!(record.1.ends_with(body));
        }
        for (at, position) in positions.iter().enumerate() {
            prop_assert_eq!(&read_warc(&file, *position).0[..], &records[at..]);
        }
    }

    #[test]
    fn stored_pages_are_read_back_from_a_warc_file(body in prop::collection::vec(any::<u8>(), 1..300), title in crate::arbitrary::anything()) {
        let page = Page { url: "http://e.org/a".into(), title, status: 200, content_type: "text/html".into(), body, ..Page::default() };
        let records = warc::Writer::default().page(&page);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.warc.gz");
        std::fs::write(&path, [records.page, records.metadata].concat()).expect("a disk");
        let pages: Vec<_> = PageReader::open(&path).expect("readable").collect();
        prop_assert_eq!(pages.len(), 1);
        prop_assert_eq!((&pages[0].url, &pages[0].body), (&page.url, &page.body));
    }

    #[test]
    fn gzip_members_survive_a_round_trip(texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..6), level in 0u32..10) {
        let mut file = Vec::new();
        for text in &texts {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
            std::io::Write::write_all(&mut encoder, text).expect("memory");
            file.extend(encoder.finish().expect("memory"));
        }
        let mut read = Vec::new();
        MemberReader::new(&file[..], 0).read_to_end(&mut read).expect("sound");
        prop_assert_eq!(read, texts.concat());
    }
}
