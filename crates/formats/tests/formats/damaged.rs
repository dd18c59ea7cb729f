//! Readers on random and damaged bytes: an error or less text, never a panic, and reading ends.

use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;

use proptest::prelude::*;
use tidings_formats::warc::{self, Exchange, Headers, Position, RecordReader};
use tidings_formats::{compressed, conllu, gzip, vertical, zip};

use crate::arbitrary::annotated;

/// The maximum number of items from a few kilobytes.
const MOST_ITEMS: usize = 100_000;

/// A change to some bytes.
#[derive(Debug, Clone)]
enum Damage {
    Cut(prop::sample::Index),
    Flip(prop::sample::Index, u8),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
}

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let at = || any::<prop::sample::Index>();
    let one = prop_oneof![
        at().prop_map(Damage::Cut),
        (at(), 0u8..8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (at(), 1usize..40).prop_map(|(at, len)| Damage::Remove(at, len)),
        (at(), 1usize..40).prop_map(|(at, len)| Damage::Repeat(at, len)),
        (at(), prop::collection::vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
    ];
    prop::collection::vec(one, 1..4)
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages.iter().filter(|_| !bytes.is_empty()).cloned().collect::<Vec<_>>() {
        if bytes.is_empty() {
            break;
        }
        let end = |at: usize, len: usize, bytes: &[u8]| (at + len).min(bytes.len());
        match damage {
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Damage::Flip(at, bit) => {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            Damage::Remove(at, len) => {
                let at = at.index(bytes.len());
                bytes.drain(at..end(at, len, &bytes));
            }
            Damage::Repeat(at, len) => {
                let at = at.index(bytes.len());
                let again = bytes[at..end(at, len, &bytes)].to_vec();
                bytes.splice(at..at, again);
            }
            Damage::Insert(at, more) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, more);
            }
        }
    }
    bytes
}

fn read_vertical(bytes: &[u8]) {
    let mut reader = vertical::Reader::new(bytes, Path::new("test.vert"));
    let mut events = 0;
    while let Ok(Some(_)) = reader.next_event() {
        events += 1;
        assert!(events < MOST_ITEMS);
    }
}

fn read_conllu(bytes: &[u8]) {
    let mut reader = conllu::Reader::new(bytes, Path::new("test.conllu"));
    let mut documents = 0;
    while let Ok(Some(document)) = reader.next_document() {
        assert!(!document.paragraphs.is_empty());
        documents += 1;
        assert!(documents < MOST_ITEMS);
    }
}

fn read_warc(bytes: Vec<u8>) {
    let Ok(mut reader) = RecordReader::new(Cursor::new(bytes), Position::default()) else { return };
    let mut records = 0;
    while let Some(event) = reader.next(|_| Ok(1 << 16)) {
        if let warc::RecordEvent::Record(record) = event {
            let _ = (record.answer(), record.is_sound(), record.head.date());
            assert!(record.block.len() <= 1 << 16, "the limit holds");
        }
        records += 1;
        assert!(records < MOST_ITEMS);
    }
}

fn read_zip(bytes: &[u8]) {
    let path = Path::new("test.wacz");
    let Ok(entries) = zip::directory(&mut Cursor::new(bytes), path) else { return };
    for entry in entries {
        if let Ok(file) = zip::read_entry(Cursor::new(bytes.to_vec()), &entry, path) {
            let _ = file.take(1 << 20).read_to_end(&mut Vec::new());
        }
    }
}

fn read_gzip(bytes: &[u8]) {
    let mut text = Vec::new();
    let _ = gzip::MemberReader::new(bytes, 0).take(1 << 22).read_to_end(&mut text);
    assert!(text.len() <= 1 << 22);
}

fn read_compressed(bytes: Vec<u8>) {
    if let Ok(reader) = compressed::decompressed(Cursor::new(bytes)) {
        let _ = reader.take(1 << 22).read_to_end(&mut Vec::new());
    }
}

fn warc_file() -> Vec<u8> {
    let mut writer = warc::Writer::default();
    let bodies: [&[u8]; 3] = [b"<p>one", b"", b"<html>three</html>"];
    let exchange = |body| Exchange {
        url: "http://e.org/",
        date: jiff::Timestamp::UNIX_EPOCH,
        ip: None,
        request: b"GET / HTTP/1.1\r\n\r\n",
        response: b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        body,
        metadata: "",
    };
    bodies.iter().flat_map(|body| writer.exchange(&exchange(body))).collect()
}

/// A ZIP file with one stored and one deflated entry, as in the specification.
fn zip_file() -> Vec<u8> {
    let text = b"WARC/1.0 hello hello hello";
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    deflate.write_all(text).expect("memory");
    let entries = [("a.warc", 0u16, text.to_vec()), ("b.warc", 8, deflate.finish().expect("memory"))];
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, method, bytes) in &entries {
        let at = file.len() as u32;
        let (packed, unpacked, name_len) = (bytes.len() as u32, text.len() as u32, name.len() as u16);
        let mut common = vec![20, 0, 0, 0];
        common.extend(method.to_le_bytes());
        common.extend([0; 8]);
        [packed, unpacked].iter().for_each(|size| common.extend(size.to_le_bytes()));
        common.extend(name_len.to_le_bytes());
        common.extend([0, 0]);
        file.extend(b"PK\x03\x04");
        file.extend(&common);
        file.extend(name.as_bytes());
        file.extend(bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let at = file.len() as u32;
    file.extend(&directory);
    file.extend(b"PK\x05\x06\x00\x00\x00\x00\x02\x00\x02\x00");
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend([0, 0]);
    file
}

#[test]
fn both_kinds_of_zip_entries_are_read() {
    let (file, path) = (zip_file(), Path::new("test.wacz"));
    let entries = zip::directory(&mut Cursor::new(&file), path).unwrap();
    assert_eq!(entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["a.warc", "b.warc"]);
    for entry in &entries {
        let mut text = String::new();
        zip::read_entry(Cursor::new(file.clone()), entry, path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "WARC/1.0 hello hello hello", "{}", entry.name);
    }
}

#[test]
fn a_length_beyond_the_file_ends_reading() {
    let text = "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 18446744073709551615\r\n\r\nabc";
    read_warc(text.as_bytes().to_vec());
    read_warc(text.replace("18446744073709551615", "65000").into_bytes());
}

#[test]
fn a_header_has_a_limit_of_fields() {
    let text: String = (0..5000).map(|number| format!("x{number}: y\r\n")).collect();
    assert_eq!(Headers::parse(text.as_bytes()).iter().count(), 1000);
}

proptest! {
    #[test]
    fn random_bytes_harm_no_reader(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        read_vertical(&bytes);
        read_conllu(&bytes);
        read_warc(bytes.clone());
        read_zip(&bytes);
        read_gzip(&bytes);
        read_compressed(bytes);
    }

    #[test]
    fn damaged_warc_files_harm_no_reader(damages in damages()) {
        let bytes = damaged(warc_file(), &damages);
        read_warc(bytes.clone());
        read_gzip(&bytes);
        read_compressed(bytes);
    }

    #[test]
    fn damaged_plain_warc_files_harm_no_reader(damages in damages()) {
        let mut plain = Vec::new();
        gzip::MemberReader::new(&warc_file()[..], 0).read_to_end(&mut plain).unwrap();
        read_warc(damaged(plain.clone(), &damages));
        read_warc(damaged(zstd::encode_all(&plain[..], 3).unwrap(), &damages));
    }

    #[test]
    fn damaged_zip_files_harm_no_reader(damages in damages()) {
        read_zip(&damaged(zip_file(), &damages));
    }

    #[test]
    fn damaged_vertical_files_harm_no_reader(document in annotated(), damages in damages()) {
        let mut text = String::new();
        vertical::write(&document, &mut text);
        read_vertical(&damaged(text.into_bytes(), &damages));
    }

    #[test]
    fn damaged_conllu_files_harm_no_reader(document in annotated(), damages in damages()) {
        let mut text = String::new();
        conllu::write(&document, &mut text);
        read_conllu(&damaged(text.into_bytes(), &damages));
    }

    #[test]
    fn headers_of_any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for (name, value) in Headers::parse(&bytes).iter() {
            prop_assert!(!name.contains('\n') && !value.contains('\n'));
        }
    }
}
