//! Character encoding detection and decoding.
//!
//! In order of precedence: byte order mark, the zero bytes of UTF-16 without a mark, HTTP `charset`,
//! declaration in the first kilobyte, statistical detection. Unlike browsers, a page that is valid UTF-8 with non-ASCII characters is
//! read as UTF-8 regardless of its label, since text in other encodings is practically never valid
//! UTF-8.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Number of bytes searched for a declaration.
const PRESCAN_BYTES: usize = 1024;
/// Number of bytes given to the detector.
const DETECTOR_BYTES: usize = 256 * 1024;

/// Decodes a page; also returns the name of the encoding.
pub fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>, host: Option<&str>) -> (Cow<'a, str>, &'static str) {
    let (encoding, rest) = encoding_of(bytes, content_type, host);
    let (text, _) = encoding.decode_without_bom_handling(rest);
    (text, encoding.name())
}

fn encoding_of<'a>(bytes: &'a [u8], content_type: Option<&str>, host: Option<&str>) -> (&'static Encoding, &'a [u8]) {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return (encoding, &bytes[length..]);
    }
    if let Some(encoding) = unmarked_utf16(bytes) {
        return (encoding, bytes);
    }
    let declared =
        content_type.and_then(charset_parameter).or_else(|| declaration(&bytes[..bytes.len().min(PRESCAN_BYTES)]));
    if declared != Some(UTF_8) && is_certainly_utf8(bytes) {
        return (UTF_8, bytes);
    }
    if let Some(encoding) = declared
        && (encoding != UTF_8 || std::str::from_utf8(bytes).is_ok() || mostly_utf8(bytes))
    {
        return (encoding, bytes);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(DETECTOR_BYTES)], bytes.len() <= DETECTOR_BYTES);
    let top_level = host.and_then(|host| host.rsplit('.').next()).filter(|name| is_top_level(name));
    (detector.guess(top_level.map(str::as_bytes), Utf8Detection::Allow), bytes)
}

/// UTF-16 without a byte order mark. Markup is ASCII, and no other encoding of HTML has a zero byte in
/// every other place.
fn unmarked_utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(PRESCAN_BYTES) & !1];
    let pairs = head.len() / 2;
    let zeros = |first: bool| head.chunks_exact(2).filter(|pair| pair[usize::from(!first)] == 0).count();
    let (first, second) = (zeros(true), zeros(false));
    // A third is enough for text whose letters are not ASCII; the other byte of a pair is never zero in text.
    match pairs >= 4 {
        true if second * 3 >= pairs && first * 20 <= second => Some(UTF_16LE),
        true if first * 3 >= pairs && second * 20 <= first => Some(UTF_16BE),
        _ => None,
    }
}

/// chardetng accepts only lower-case ASCII labels without dots.
fn is_top_level(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_certainly_utf8(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    text.chars().filter(|c| !c.is_ascii()).take(4).count() == 4
}

/// Returns whether a page labelled UTF-8 is valid except for a few bytes, as truncated or
/// concatenated pages are.
fn mostly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0usize, 0usize);
    for chunk in bytes[..bytes.len().min(DETECTOR_BYTES)].utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    bad * 10 <= good
}

/// The `charset` parameter of a content type.
fn charset_parameter(content_type: &str) -> Option<&'static Encoding> {
    let lower = content_type.to_ascii_lowercase();
    let value = lower[lower.find("charset")? + "charset".len()..].trim_start().strip_prefix('=')?.trim_start();
    let value = value.trim_start_matches(['"', '\'']);
    let end = value.find(['"', '\'', ';', ' ', ',']).unwrap_or(value.len());
    Encoding::for_label(&value.as_bytes()[..end])
}

/// The encoding declared in the first kilobyte: `<meta charset>`, `<meta http-equiv>` or XML.
fn declaration(head: &[u8]) -> Option<&'static Encoding> {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let mut rest = text.as_str();
    if let Some(declaration) = rest.strip_prefix("<?xml") {
        let declaration = &declaration[..declaration.find("?>").unwrap_or(declaration.len())];
        if let Some(found) =
            declaration.find("encoding").and_then(|at| charset_parameter(&format!("charset{}", &declaration[at + 8..])))
        {
            return Some(effective_encoding(found));
        }
    }
    while let Some(open) = rest.find('<') {
        rest = &rest[open..];
        if rest.starts_with("<!--") {
            rest = &rest[rest.find("-->")?..];
            continue;
        }
        let end = rest.find('>').unwrap_or(rest.len());
        if rest.starts_with("<meta") && rest[..end].contains("charset") {
            return charset_parameter(&rest[..end]).map(effective_encoding);
        }
        rest = &rest[1..];
    }
    None
}

/// A declaration readable as ASCII cannot be in UTF-16.
fn effective_encoding(encoding: &'static Encoding) -> &'static Encoding {
    match encoding {
        _ if encoding == UTF_16BE || encoding == UTF_16LE => UTF_8,
        _ if encoding == X_USER_DEFINED => WINDOWS_1252,
        _ => encoding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_decides() {
        assert_eq!(decode(b"\xff\xfeh\0i\0", Some("text/html; charset=utf-8"), None), ("hi".into(), "UTF-16LE"));
        assert_eq!(decode(b"\xef\xbb\xbfhi", Some("text/html; charset=koi8-r"), None), ("hi".into(), "UTF-8"));
    }

    #[test]
    fn utf16_without_a_byte_order_mark_is_detected() {
        let html = "<!doctype html><meta charset=utf-8><title>Дождь</title><p>Дождь шёл три дня, и река вышла.";
        let little: Vec<u8> = html.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = html.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&little, Some("text/html; charset=utf-8"), None), (html.into(), "UTF-16LE"));
        assert_eq!(decode(&big, None, None), (html.into(), "UTF-16BE"));
        assert_eq!(decode(b"<p>one\0\0\0two\0\0\0three", None, None).1, "UTF-8");
    }

    #[test]
    fn the_http_charset_overrides_the_declaration() {
        let page = b"<meta charset=iso-8859-7><p>\xcf\xf0";
        assert_eq!(decode(page, Some("text/html; charset=\"windows-1251\""), None).1, "windows-1251");
        assert_eq!(decode(page, Some("text/html"), None).1, "ISO-8859-7");
    }

    #[test]
    fn a_declaration_in_a_comment_is_ignored() {
        let page =
            b"<!-- <meta charset=koi8-r> --><meta http-equiv=content-type content='text/html; charset=big5'>\xa7\xda";
        assert_eq!(
            decode(page, None, None),
            (
                "<!-- <meta charset=koi8-r> --><meta http-equiv=content-type content='text/html; charset=big5'>我"
                    .into(),
                "Big5"
            )
        );
    }

    #[test]
    fn utf8_with_another_label_is_read_as_utf8() {
        let page = "<meta charset=iso-8859-1>Grüße aus Köln, schön".as_bytes();
        assert_eq!(decode(page, Some("text/html; charset=iso-8859-1"), None).1, "UTF-8");
    }

    #[test]
    fn the_encoding_of_an_undeclared_page_is_detected() {
        let (page, _, _) = encoding_rs::WINDOWS_1251.encode("Это довольно обычный русский текст о погоде и о людях.");
        assert_eq!(decode(&page, None, Some("example.ru")).1, "windows-1251");
        assert_eq!(decode(&page, Some("text/html; charset=utf-8"), Some("EXAMPLE.RU")).1, "windows-1251");
    }

    #[test]
    fn unusual_hosts_and_empty_pages_do_not_panic() {
        for host in ["", ".", "127.0.0.1", "xn--p1ai", "例え"] {
            decode(b"\xe4\xf6", None, Some(host));
            decode(b"", None, Some(host));
        }
    }
}
