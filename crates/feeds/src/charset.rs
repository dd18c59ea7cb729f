//! Character encoding detection.
//!
//! Declared encodings are often wrong, so the bytes decide first: valid UTF-8 beyond ASCII is UTF-8, whatever the
//! label. Then come the declarations of the server and the document, and a statistical detector last.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{EUC_JP, Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};
use tidings_model::Repair;

use crate::repairs::Repairs;

/// The window in which the XML declaration is searched; server warnings may precede it.
const DECLARATION_WINDOW_BYTES: usize = 1024;

/// A decoded document with its encoding.
pub(crate) struct Text<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) encoding: &'static str,
}

/// Decodes a document and removes control characters.
pub(crate) fn decode<'a>(body: &'a [u8], content_type: Option<&str>, repairs: &mut Repairs) -> Text<'a> {
    let Text { text, encoding } = to_text(body, content_type, repairs);
    let text = match text {
        Cow::Borrowed(text) => without_controls(text, repairs),
        Cow::Owned(text) => match without_controls(&text, repairs) {
            Cow::Owned(clean) => Cow::Owned(clean),
            Cow::Borrowed(_) => Cow::Owned(text),
        },
    };
    Text { text, encoding }
}

fn to_text<'a>(body: &'a [u8], content_type: Option<&str>, repairs: &mut Repairs) -> Text<'a> {
    if let Some((encoding, length)) = Encoding::for_bom(body) {
        // A UTF-16 byte order mark in front of ASCII text comes from concatenated files.
        let rest = &body[length..];
        if encoding == UTF_8 || looks_like_utf16(rest).is_some() || !rest.starts_with(b"<") {
            return with(encoding, rest, repairs);
        }
        repairs.add(Repair::Mislabelled);
        return to_text(rest, content_type, repairs);
    }
    if let Some(text) = utf32(body) {
        return Text { text: Cow::Owned(text), encoding: "UTF-32" };
    }
    if let Some(encoding) = looks_like_utf16(body) {
        return with(encoding, body, repairs);
    }
    let declared = declared(body, content_type);
    if let Ok(text) = std::str::from_utf8(body) {
        // All bytes are ASCII, but ISO-2022-JP hides letters behind escape sequences.
        let hidden = [&b"\x1b$B"[..], b"\x1b$@", b"\x1b(J"];
        if memchr::memchr(0x1b, body).is_some() && hidden.iter().any(|mark| memchr::memmem::find(body, mark).is_some())
        {
            return with(ISO_2022_JP, body, repairs);
        }
        if declared.is_some_and(|e| e != UTF_8) && !body.is_ascii() {
            repairs.add(Repair::Mislabelled);
        }
        return Text { text: Cow::Borrowed(text), encoding: UTF_8.name() };
    }
    if let Some(text) = ebcdic(body) {
        return Text { text: Cow::Owned(text), encoding: "IBM037" };
    }
    if mostly_utf8(body, declared) {
        return with(UTF_8, body, repairs);
    }
    match declared {
        Some(encoding) if encoding != UTF_8 && encoding.is_single_byte() => with(encoding, body, repairs),
        Some(encoding) if encoding != UTF_8 && encoding.is_ascii_compatible() => {
            // A multi-byte label is accepted unless most of the bytes contradict it.
            let (text, _, errors) = encoding.decode(body);
            let bad = if errors { text.chars().filter(|c| *c == '\u{fffd}').count() } else { 0 };
            if bad * 50 > body.iter().filter(|b| **b >= 0x80).count() {
                repairs.add(Repair::Mislabelled);
                return with(guess(body), body, repairs);
            }
            if errors {
                repairs.add(Repair::BadBytes);
            }
            Text { text, encoding: encoding.name() }
        }
        other => {
            if other.is_some() {
                repairs.add(Repair::Mislabelled);
            }
            with(guess(body), body, repairs)
        }
    }
}

fn with<'a>(encoding: &'static Encoding, body: &'a [u8], repairs: &mut Repairs) -> Text<'a> {
    let (text, errors) = encoding.decode_without_bom_handling(body);
    if errors {
        repairs.add(Repair::BadBytes);
    }
    Text { text, encoding: encoding.name() }
}

fn guess(body: &[u8]) -> &'static Encoding {
    if is_euc_jp(body) {
        return EUC_JP;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(body, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Returns true for Japanese in EUC-JP, which other double-byte encodings can decode as well: a fifth of its characters
/// are kana, whose first byte is rare elsewhere.
fn is_euc_jp(body: &[u8]) -> bool {
    let (text, _, has_errors) = EUC_JP.decode(body);
    let wide = text.chars().filter(|c| !c.is_ascii()).count();
    let kana = text.chars().filter(|c| ('\u{3041}'..='\u{30fe}').contains(c)).count();
    !has_errors && wide >= 8 && kana * 5 >= wide
}

/// The encoding declared by the server, else by the document. A server's UTF-8 may be just its default, so another
/// declaration in the document wins over it.
fn declared(body: &[u8], content_type: Option<&str>) -> Option<&'static Encoding> {
    let server = content_type.and_then(charset_parameter);
    match server {
        Some(encoding) if encoding != UTF_8 => server,
        _ => declaration(body).or(server),
    }
}

/// The `charset` parameter of a `Content-Type` header.
fn charset_parameter(content_type: &str) -> Option<&'static Encoding> {
    let lower = content_type.to_ascii_lowercase();
    let at = lower.find("charset")?;
    let value = lower[at + "charset".len()..].trim_start().strip_prefix('=')?;
    let value = value.trim_start().trim_start_matches(['"', '\'']);
    label(value.split(['"', '\'', ';', ' ', ',']).next()?)
}

/// The `encoding` of an XML declaration.
fn declaration(body: &[u8]) -> Option<&'static Encoding> {
    let head = &body[..body.len().min(DECLARATION_WINDOW_BYTES)];
    let head = &head[memchr::memmem::find(head, b"<?xml")?..];
    let head = &head[..memchr::memchr(b'>', head).unwrap_or(head.len())];
    let value = &head[memchr::memmem::find(head, b"encoding")? + "encoding".len()..];
    let value = value.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
    let end = value.iter().position(|b| matches!(b, b'"' | b'\'' | b'?' | b' ')).unwrap_or(value.len());
    label(std::str::from_utf8(&value[..end]).ok()?)
}

fn label(name: &str) -> Option<&'static Encoding> {
    let name = name.trim();
    Encoding::for_label_no_replacement(name.as_bytes()).or_else(|| {
        // Unregistered names that programs write.
        let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let plain = plain.to_ascii_lowercase();
        let known = match plain.as_str() {
            "utf" | "utf8n" | "unicode" | "utf8mb4" | "utf8unicode" => "utf-8",
            "cp936" | "ms936" | "gb180302000" | "euccn" => "gb18030",
            "cp932" | "ms932" | "windows932" => "shift_jis",
            "cp949" | "ms949" | "uhc" => "euc-kr",
            "cp950" | "big5eten" => "big5",
            "cp65001" => "utf-8",
            "macroman" => "macintosh",
            "latin" | "latin1" | "8859" | "iso8859" => "windows-1252",
            _ => {
                let digits = plain.trim_start_matches(|c: char| c.is_ascii_alphabetic());
                return match digits {
                    "1250" | "1251" | "1252" | "1253" | "1254" | "1255" | "1256" | "1257" | "1258" | "874" => {
                        Encoding::for_label_no_replacement(format!("windows-{digits}").as_bytes())
                    }
                    _ => None,
                };
            }
        };
        Encoding::for_label_no_replacement(known.as_bytes())
    })
}

/// Detects UTF-16 without a byte order mark by its zero bytes.
fn looks_like_utf16(body: &[u8]) -> Option<&'static Encoding> {
    let head = &body[..body.len().min(256) & !1];
    if head.len() < 4 {
        return None;
    }
    let zeros = |parity: usize| head.iter().skip(parity).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let many = head.len() / 2 * 3 / 5;
    match (even > many, odd > many) {
        (true, false) if odd * 8 < even => Some(UTF_16BE),
        (false, true) if even * 8 < odd => Some(UTF_16LE),
        _ => None,
    }
}

/// Decodes UTF-32, which is forbidden on the web but occurs; browsers' detectors do not know it.
fn utf32(body: &[u8]) -> Option<String> {
    let big = match body.get(..4)? {
        [0, 0, 0xfe, 0xff] | [0, 0, 0, b'<'] => true,
        [0xff, 0xfe, 0, 0] | [b'<', 0, 0, 0] => false,
        _ => return None,
    };
    let unit = |chunk: &[u8]| {
        let bytes = [chunk[0], chunk[1], chunk[2], chunk[3]];
        let number = if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
        char::from_u32(number).unwrap_or('\u{fffd}')
    };
    Some(body.chunks_exact(4).map(unit).filter(|c| *c != '\u{feff}').collect())
}

/// Returns true if the text is UTF-8 with a few invalid bytes.
///
/// Other encodings rarely look like UTF-8 by accident, so a few valid sequences outweigh invalid bytes, the more so
/// if no other encoding is declared.
fn mostly_utf8(body: &[u8], declared: Option<&'static Encoding>) -> bool {
    let (mut good, mut bad) = (0usize, 0usize);
    for chunk in body.utf8_chunks() {
        good += chunk.valid().bytes().filter(|b| *b >= 0xc0).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    match declared {
        Some(encoding) if encoding != UTF_8 => good > bad * 3,
        _ => good * 2 >= bad && good > 0,
    }
}

/// Removes control characters that XML 1.0 forbids.
fn without_controls<'a>(text: &'a str, repairs: &mut Repairs) -> Cow<'a, str> {
    let forbidden = |b: u8| b < 0x20 && b != b'\n' && b != b'\t' && b != b'\r';
    // No early exit, so that the loop is vectorised.
    let any = text.as_bytes().chunks(4096).any(|c| c.iter().fold(false, |seen, b| seen | forbidden(*b)));
    if !any {
        return Cow::Borrowed(text);
    }
    repairs.add(Repair::ControlCharacters);
    Cow::Owned(text.chars().filter(|c| !(c.is_ascii() && forbidden(*c as u8))).collect())
}

/// Detects EBCDIC by the bytes of `<?xm`.
fn ebcdic(body: &[u8]) -> Option<String> {
    body.starts_with(&[0x4c, 0x6f, 0xa7, 0x94]).then(|| body.iter().map(|b| IBM037[*b as usize]).collect())
}

/// IBM code page 37, the common EBCDIC.
const IBM037: [char; 256] = ibm037();

const fn ibm037() -> [char; 256] {
    let mut table = [' '; 256];
    // Letters and digits are contiguous.
    let runs: [(usize, u8, u8); 7] = [
        (0x81, b'a', 9),
        (0x91, b'j', 9),
        (0xa2, b's', 8),
        (0xc1, b'A', 9),
        (0xd1, b'J', 9),
        (0xe2, b'S', 8),
        (0xf0, b'0', 10),
    ];
    let mut run = 0;
    while run < runs.len() {
        let (at, first, length) = runs[run];
        let mut i = 0;
        while i < length {
            table[at + i as usize] = (first + i) as char;
            i += 1;
        }
        run += 1;
    }
    let signs: [(usize, char); 35] = [
        (0x05, '\t'),
        (0x0d, '\r'),
        (0x15, '\n'),
        (0x25, '\n'),
        (0x4a, '¢'),
        (0x4b, '.'),
        (0x4c, '<'),
        (0x4d, '('),
        (0x4e, '+'),
        (0x4f, '|'),
        (0x50, '&'),
        (0x5a, '!'),
        (0x5b, '$'),
        (0x5c, '*'),
        (0x5d, ')'),
        (0x5e, ';'),
        (0x5f, '¬'),
        (0x60, '-'),
        (0x61, '/'),
        (0x6b, ','),
        (0x6c, '%'),
        (0x6d, '_'),
        (0x6e, '>'),
        (0x6f, '?'),
        (0x79, '`'),
        (0x7a, ':'),
        (0x7b, '#'),
        (0x7c, '@'),
        (0x7d, '\''),
        (0x7e, '='),
        (0x7f, '"'),
        (0xb0, '^'),
        (0xba, '['),
        (0xbb, ']'),
        (0xe0, '\\'),
    ];
    let mut i = 0;
    while i < signs.len() {
        table[signs[i].0] = signs[i].1;
        i += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &[u8], content_type: Option<&str>) -> (String, Vec<Repair>) {
        let mut repairs = Repairs::default();
        let text = decode(body, content_type, &mut repairs).text.into_owned();
        (text, repairs.list())
    }

    #[test]
    fn undeclared_euc_jp_is_recognised() {
        let text = "<rss><channel><title>新聞のニュースをお届けします</title></channel></rss>";
        let (bytes, _, _) = EUC_JP.encode(text);
        let decoded = decode(&bytes, None, &mut Repairs::default());
        assert_eq!((decoded.text.as_ref(), decoded.encoding), (text, "EUC-JP"));
        for (other, text) in [
            (encoding_rs::GBK, "新华社北京电记者从有关部门获悉今天上午"),
            (encoding_rs::EUC_KR, "서울에서 열린 회의에서 정부는 새로운 계획을 발표했다"),
        ] {
            let (bytes, _, _) = other.encode(text);
            assert!(!is_euc_jp(&bytes), "{text}");
        }
    }

    #[test]
    fn valid_utf8_is_utf8_whatever_is_declared() {
        let body = "<?xml version='1.0' encoding='iso-8859-1'?><a>Käse</a>".as_bytes();
        let (text, repairs) = text(body, Some("text/xml; charset=windows-1251"));
        assert!(text.contains("Käse"));
        assert_eq!(repairs, [Repair::Mislabelled]);
    }

    #[test]
    fn the_server_takes_precedence_over_the_document() {
        let mut body = b"<?xml version='1.0' encoding='iso-8859-1'?><a>".to_vec();
        body.extend_from_slice(&[0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
        assert!(text(&body, Some("text/xml; charset=\"windows-1251\"")).0.ends_with("Привет"));
        assert!(text(&body, None).0.ends_with("Ïðèâåò"));
    }

    #[test]
    fn one_invalid_byte_does_not_change_the_encoding() {
        let mut body = "<a>Größe, Käse, Öl, Übel".as_bytes().to_vec();
        body.push(0xff);
        let (text, repairs) = text(&body, None);
        assert_eq!(text, "<a>Größe, Käse, Öl, Übel\u{fffd}");
        assert_eq!(repairs, [Repair::BadBytes]);
    }

    #[test]
    fn utf16_and_utf32_are_detected_without_a_byte_order_mark() {
        let wide: Vec<u8> = "<a>Käse</a>".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(text(&wide, None).0, "<a>Käse</a>");
        let wide: Vec<u8> = "<a>Käse</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(text(&wide, Some("text/xml; charset=utf-8")).0, "<a>Käse</a>");
        let wide: Vec<u8> = "<a>Käse</a>".chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
        assert_eq!(text(&wide, None).0, "<a>Käse</a>");
    }

    #[test]
    fn a_wrong_utf16_declaration_is_ignored() {
        let body = "<?xml version='1.0' encoding='utf-16'?><a>Käse</a>".as_bytes();
        assert!(text(body, None).0.contains("Käse"));
    }

    #[test]
    fn control_characters_are_removed() {
        assert_eq!(text(b"a\x00b\x0bc\td", None).0, "abc\td");
    }
}
