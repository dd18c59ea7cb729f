//! Writers on any documents: the output is well-formed.

use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::Event;
use tidings_formats::{Format, cdxj, csv, jsonl, registry, tmx, warc};
use tidings_model::{Attributes, Document, Page};

use crate::arbitrary::{annotated, anything, document};

/// Checks that tags are balanced and that XML allows all characters; returns the number of elements.
fn elements(xml: &str) -> usize {
    let forbidden = |c: char| c < ' ' && !"\t\n\r".contains(c) || matches!(c, '\u{fffe}' | '\u{ffff}');
    assert!(!xml.contains(forbidden), "{xml:?}");
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let (mut depth, mut number) = (0, 0);
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(start) => {
                start.attributes().for_each(|attribute| drop(attribute.expect("a well-formed attribute")));
                (depth, number) = (depth + 1, number + 1);
            }
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "{xml}");
    number
}

/// Reads CSV as RFC 4180 has it.
fn read_csv(text: &str, separator: char) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut is_quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => row.push(std::mem::take(&mut field)),
            '\r' if !is_quoted && chars.peek() == Some(&'\n') => {
                chars.next();
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    assert!(!is_quoted && row.is_empty() && field.is_empty(), "the last row has its end");
    rows
}

fn many(format: Format, documents: &[Document]) -> String {
    let items: String = documents.iter().map(|document| format.item("name\nof it", document)).collect();
    format.opening() + &items + format.closing()
}

proptest! {
    #[test]
    fn xml_and_tei_are_well_formed_alone_and_together(documents in prop::collection::vec(document(), 0..3)) {
        for format in [Format::Xml, Format::Tei] {
            elements(&many(format, &documents));
            documents.iter().for_each(|document| assert!(elements(&format.write(document)) > 0));
        }
    }

    #[test]
    fn csv_has_as_many_fields_as_its_header_and_gives_them_back(documents in prop::collection::vec(document(), 0..3)) {
        let rows = read_csv(&many(Format::Csv, &documents), ',');
        prop_assert_eq!(rows.len(), documents.len() + 1);
        prop_assert!(rows.iter().all(|row| row.len() == rows[0].len()));
        for (row, document) in rows[1..].iter().zip(&documents) {
            prop_assert_eq!(&row[0], &document.id);
            for (cell, text) in [(&row[1], &document.url), (&row[2], &document.about.title)] {
                // An apostrophe keeps spreadsheets from running the text.
                let text = text.replace('\0', "");
                prop_assert!(*cell == text || *cell == format!("'{text}"), "{cell:?} {text:?}");
                prop_assert!(!cell.starts_with(['=', '@']), "{cell:?}");
            }
        }
        let tabs: String = documents.iter().map(|document| csv::row(document, '\t')).collect();
        let rows = read_csv(&(csv::header('\t') + &tabs), '\t');
        prop_assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    }

    #[test]
    fn html_runs_no_code_of_a_document(document in document()) {
        let hostile = Document { url: "javascript:alert(1)".into(), ..document };
        let page = Format::Html.write(&hostile);
        prop_assert!(!page.contains("<script") && !page.contains("href=\"javascript:"), "{}", page);
        prop_assert!(page.ends_with("</body>\n</html>\n"));
    }

    #[test]
    fn plain_text_and_markdown_have_no_control_characters(document in document()) {
        let is_bad = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        prop_assert!(!Format::Txt.write(&document).contains(is_bad));
        let _ = Format::Md.write(&document);
    }

    #[test]
    fn a_line_of_json_lines_is_one_line_of_json(document in document(), url in anything()) {
        let line = jsonl::write(&document, &Attributes { url, ..Attributes::default() }, None);
        prop_assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        let value: serde_json::Value = serde_json::from_slice(&line).expect("JSON");
        prop_assert_eq!(value["id"].as_str(), Some(document.id.as_str()));
    }

    #[test]
    fn translation_units_are_well_formed(one in anything(), two in anything(), note in anything()) {
        let unit = tmx::unit([("de", &one), ("not a tag!", &two)], &[("score", &note)]);
        prop_assert!(elements(&(tmx::opening() + &unit + tmx::CLOSING)) > 4);
    }

    #[test]
    fn a_line_of_cdxj_has_three_fields_and_sorts_by_domain(url in anything(), content_type in anything()) {
        let page = Page { url, downloaded: "2026-03-01T12:00:00Z".into(), ..Page::default() };
        let uri = warc::target_uri(&page);
        let place = cdxj::RecordLocation { file: "a.warc.gz", offset: 7, length: 9, digest: "sha1:X", mime: &content_type, status: None };
        let line = cdxj::line(&page, place);
        prop_assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "{line:?}");
        let mut fields = line.splitn(3, ' ');
        let key = cdxj::key(&uri);
        prop_assert_eq!(fields.next(), Some(key.as_str()));
        prop_assert_eq!(fields.next(), Some("20260301120000"));
        let value: serde_json::Value = serde_json::from_str(fields.next().expect("a third field")).expect("JSON");
        prop_assert_eq!(value["url"].as_str(), Some(uri.as_str()));
    }

    #[test]
    fn a_registry_has_balanced_quotes(documents in prop::collection::vec(annotated(), 0..3), file in anything()) {
        let mut contents = registry::Contents::default();
        documents.iter().for_each(|document| contents.see(document, "de"));
        let text = contents.registry(&file, |_| Some("German"));
        prop_assert!(text.lines().all(|line| line.matches('"').count() % 2 == 0), "{}", text);
    }
}

#[test]
fn keys_of_cdxj_stand_together_by_domain() {
    assert_eq!(cdxj::key("https://www.E.org/B?b=2&a=1#top"), "org,e)/b?a=1&b=2");
    assert_eq!(cdxj::key("http://user@e.org:8080"), "org,e:8080)/");
    assert_eq!(cdxj::key("http://127.0.0.1/a b"), "127.0.0.1)/a%20b");
}
