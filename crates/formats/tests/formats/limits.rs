//! Limits and dialects of readers: long lines, other line ends, other columns, large files.

use std::io::{Cursor, Read as _};
use std::path::Path;

use proptest::prelude::*;
use tidings_formats::parquet::{Table, Type, Value};
use tidings_formats::vertical::{Event, Reader};
use tidings_formats::warc::{Headers, Position, Record, RecordEvent, RecordReader};
use tidings_formats::{Error, conllu, zip};

fn vertical(text: &[u8]) -> (usize, Option<String>) {
    let mut reader = Reader::new(text, Path::new("a.vert"));
    let mut events = 0;
    loop {
        match reader.next_event() {
            Ok(Some(_)) => events += 1,
            Ok(None) => return (events, None),
            Err(error) => return (events, Some(error.to_string())),
        }
    }
}

#[test]
fn a_vertical_file_may_have_other_line_ends_and_tags() {
    assert_eq!(vertical(b"<doc>\r\n<s>\r\na\tb\r\n</s>\r\n</doc>\r\n"), (4, None));
    assert_eq!(vertical(b"\n\n<align id=\"1\"/>\n<sent>\nword"), (2, None));
    let mut reader = Reader::new(&b"<p kind=\"item\" lang=\"de\">\na&amp;b\tx\n"[..], Path::new("a.vert"));
    assert!(matches!(reader.next_event(), Ok(Some(Event::Paragraph))));
    assert_eq!((reader.value("kind").as_deref(), reader.value("none")), (Some("item"), None));
    assert!(matches!(reader.next_event(), Ok(Some(Event::Token("a&amp;b\tx")))));
}

#[test]
fn an_invalid_vertical_file_is_an_error_with_the_line() {
    let cases: [(&[u8], &str); 5] = [
        (b"a\n\xff\n", "a.vert, line 2: is not UTF-8 text"),
        (b"<doc site=\"a\" site=\"b\">\n", "a.vert, line 1: site occurs twice"),
        (b"<doc a-b=\"x\">\n", "is not a valid field name"),
        (b"<doc a=\"x>\n", "the value of a does not end"),
        (b"<doc a=x>\n", "has no quotation marks"),
    ];
    for (text, fault) in cases {
        let found = vertical(text).1.expect("a fault");
        assert!(found.contains(fault), "{found}");
    }
}

#[test]
fn no_line_of_a_vertical_file_is_longer_than_a_megabyte() {
    let long = "x".repeat((1 << 20) + 1);
    assert!(vertical(long.as_bytes()).1.is_some_and(|fault| fault.contains("check that this is a vertical file")));
    assert_eq!(vertical(&long.as_bytes()[1..]), (1, None));
}

#[test]
fn a_document_has_a_limit_of_fields() {
    let fields: String = (0..65).map(|number| format!(" f{number}=\"x\"")).collect();
    assert!(
        vertical(format!("<doc{fields}>\n").as_bytes()).1.is_some_and(|fault| fault.contains("more than 64 fields"))
    );
}

#[test]
fn a_treebank_without_documents_is_split() {
    let sentence = "1\ta\ta\tX\t_\t_\t_\t_\t_\t_\n2\tb\tb\tX\t_\t_\t_\t_\t_\t_\n\n";
    let text = sentence.repeat(150_000);
    let mut reader = conllu::Reader::new(text.as_bytes(), Path::new("a.conllu"));
    let mut sizes = Vec::new();
    while let Some(document) = reader.next_document().unwrap() {
        sizes.push(document.paragraphs.iter().flat_map(|paragraph| &paragraph.sentences).map(Vec::len).sum::<usize>());
    }
    assert_eq!(sizes, [200_000, 100_000]);
}

#[test]
fn a_line_that_is_too_long_or_not_utf_8_skips_its_sentence() {
    let good = b"1\ta\ta\tX\t_\t_\t_\t_\t_\t_\n\n".to_vec();
    for bad in [vec![b'x'; 3 << 20], b"1\t\xff\t_".to_vec()] {
        let text = [&good[..], &bad, b"\n\n", &good].concat();
        let mut reader = conllu::Reader::new(&text[..], Path::new("a.conllu"));
        let document = reader.next_document().unwrap().unwrap();
        assert_eq!((document.paragraphs[0].sentences.len(), reader.bad_sentences), (2, 1));
    }
}

#[test]
fn a_large_record_is_skipped_and_the_next_one_is_read() {
    let record = |kind: &str, block: &str| {
        format!("WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
    };
    let text = record("resource", &"x".repeat(5000)) + &record("request", "no") + &record("resource", "yes");
    let mut reader = RecordReader::new(Cursor::new(text.into_bytes()), Position::default()).unwrap();
    let mut seen = Vec::new();
    let wanted = |head: &Headers| if head.kind() == "resource" { Ok(1000) } else { Err("kind") };
    while let Some(event) = reader.next(wanted) {
        seen.push(match event {
            RecordEvent::Record(record) => String::from_utf8(record.block).unwrap(),
            RecordEvent::Skipped(why) => why.to_owned(),
            RecordEvent::Damage(what) => what,
        });
    }
    assert_eq!(seen, ["too-large", "kind", "yes"]);
    assert_eq!(reader.place().records, 3);
}

#[test]
fn header_lines_may_be_folded_and_the_first_value_is_used() {
    let headers = Headers::parse(b"A: one\r\n  two\r\nB : x\r\na: three\r\nno colon\r\n");
    assert_eq!((headers.get("a"), headers.get("b"), headers.iter().count()), (Some("one two"), Some("x"), 3));
    let record = Headers::parse(b"WARC-Target-URI: <http://e.org/>\r\nWARC-Date: 2026-03-01T00:00:00Z\r\n");
    assert_eq!(record.target(), Some("http://e.org/"));
    assert!(record.date().is_some() && Headers::default().date().is_none() && Headers::default().target().is_none());
}

#[test]
fn a_file_that_is_not_a_zip_file_is_an_error_with_its_name() {
    assert!(!zip::is_zip(b"WARC/1.0") && zip::is_zip(b"PK\x03\x04"));
    let error = zip::directory(&mut Cursor::new(b"not a zip file"), Path::new("a.wacz")).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }));
    assert!(error.to_string().starts_with("a.wacz is damaged (no central directory)"), "{error}");
}

proptest! {
    #[test]
    fn chunks_of_a_response_are_joined(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..5)) {
        let mut block = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for chunk in &chunks {
            block.extend(format!("{:x};note\r\n", chunk.len()).bytes());
            block.extend(chunk);
            block.extend(b"\r\n");
        }
        block.extend(b"0\r\n\r\n");
        let response = Record { head: Headers::default(), block }.answer().expect("a response");
        prop_assert_eq!(response.body, chunks.concat());
    }

    #[test]
    fn a_parquet_file_has_its_magic_and_its_footer(rows in prop::collection::vec((".{0,8}", prop::collection::vec(".{0,4}", 0..3), prop::option::of(any::<i16>())), 0..20)) {
        let mut table = Table::new(&[("id", Type::Text), ("tags", Type::Texts), ("date", Type::OptionalDay)]);
        for (id, tags, day) in &rows {
            table.push(&[Value::Text(id), Value::Texts(tags), day.map_or(Value::Nothing, |day| Value::Day(day.into()))]);
        }
        prop_assert_eq!(table.rows(), rows.len() as u64);
        let mut file = Vec::new();
        table.finish(|bytes| { file.extend_from_slice(bytes); Ok::<(), ()>(()) }).expect("memory");
        prop_assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
        let footer = u32::from_le_bytes(*file[..file.len() - 4].last_chunk::<4>().expect("a length")) as usize;
        prop_assert!(footer > 0 && footer + 12 <= file.len());
    }

    #[test]
    fn a_writer_of_parquet_ends_with_the_first_error(fails_at in 0usize..4) {
        let mut table = Table::new(&[("id", Type::Text)]);
        table.push(&[Value::Text("a")]);
        let mut calls = 0;
        let result = table.finish(|_| { calls += 1; if calls > fails_at { Err("full") } else { Ok(()) } });
        prop_assert_eq!((result, calls), (Err("full"), fails_at + 1));
    }

    #[test]
    fn a_gzip_member_may_have_a_name_a_comment_and_extra_bytes(name in "[a-z]{1,8}", extra in prop::collection::vec(any::<u8>(), 0..20), text in prop::collection::vec(any::<u8>(), 0..100)) {
        let mut encoder = flate2::GzBuilder::new().filename(name.as_str()).comment(name.as_str()).extra(extra).write(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &text).expect("memory");
        let member = encoder.finish().expect("memory");
        let mut read = Vec::new();
        tidings_formats::gzip::MemberReader::new(&member.repeat(2)[..], 0).read_to_end(&mut read).expect("sound");
        prop_assert_eq!(read, text.repeat(2));
    }
}
