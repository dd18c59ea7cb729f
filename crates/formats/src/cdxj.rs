//! CDXJ: a sorted index of the positions of responses in a WARC file, one line per URL, for binary search by replay
//! tools.

use serde::Serialize;
use tidings_model::Page;

use crate::warc;

/// The position of a record in a WARC file.
#[derive(Debug, Clone, Copy)]
pub struct RecordLocation<'p> {
    /// The name of the WARC file.
    pub file: &'p str,
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// The digest of the body, as the record has it.
    pub digest: &'p str,
    /// The media type of the body.
    pub mime: &'p str,
    /// The status of the HTTP response, if the record has one.
    pub status: Option<u16>,
}

#[derive(Serialize)]
struct Fields<'p> {
    url: String,
    mime: &'p str,
    /// Absent for records without an HTTP response.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    digest: &'p str,
    length: String,
    offset: String,
    filename: &'p str,
}

/// The line of a page, with its end.
pub fn line(page: &Page, place: RecordLocation<'_>) -> String {
    let url = warc::target_uri(page);
    let key = key(&url);
    let time: String = page.downloaded.chars().filter(char::is_ascii_digit).take(14).collect();
    let fields = Fields {
        url,
        mime: if place.mime.is_empty() { "unk" } else { place.mime },
        status: place.status.map(|status| status.to_string()),
        digest: place.digest,
        length: place.length.to_string(),
        offset: place.offset.to_string(),
        filename: place.file,
    };
    format!("{key} {time:0<14} {}\n", serde_json::to_string(&fields).expect("fields serialise"))
}

/// The SURT key of a URL, which groups URLs by domain: `example,www)/path?a=1`. Lower-case, without `www` and with
/// sorted parameters, as replay tools expect it.
pub fn key(url: &str) -> String {
    let lower = url.to_lowercase();
    let rest = lower.split_once("://").map_or(lower.as_str(), |(_, rest)| rest);
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
        _ => (authority, ""),
    };
    let bare = host
        .strip_prefix("www")
        .and_then(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('.'));
    let host = bare.unwrap_or(host);
    let is_number = host.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    let mut key = match is_number || host.starts_with('[') {
        true => host.to_owned(),
        false => host.split('.').rev().collect::<Vec<_>>().join(","),
    };
    if !matches!(port, "" | "80" | "443") {
        key.push(':');
        key.push_str(port);
    }
    key.push(')');
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    key.push_str(if path.is_empty() { "/" } else { path });
    if let Some(query) = query.filter(|query| !query.is_empty()) {
        let mut pairs: Vec<&str> = query.split('&').collect();
        pairs.sort_unstable();
        key.push('?');
        key.push_str(&pairs.join("&"));
    }
    // A blank would end the key.
    key.replace(char::is_whitespace, "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_become_surt_keys() {
        let cases = [
            ("http://www.Example.org/Path?b=2&a=1#x", "org,example)/path?a=1&b=2"),
            ("https://news.example.co.uk:8080", "uk,co,example,news:8080)/"),
            ("http://www2.e.org:80/?", "org,e)/"),
            ("http://127.0.0.1:99/a b", "127.0.0.1:99)/a%20b"),
        ];
        for (url, expected) in cases {
            assert_eq!(key(url), expected);
        }
    }

    #[test]
    fn a_line_has_key_time_and_place() {
        let page =
            Page { url: "http://e.org/a".into(), downloaded: "2026-03-01T12:00:01.5Z".into(), ..Page::default() };
        let place = RecordLocation {
            file: "a.warc.gz",
            offset: 7,
            length: 9,
            digest: "sha1:X",
            mime: "text/html",
            status: Some(200),
        };
        let without_response = line(&page, RecordLocation { status: None, ..place });
        assert!(!without_response.contains("status"), "{without_response}");
        let line = line(&page, place);
        let expected = r#"org,e)/a 20260301120001 {"url":"http://e.org/a","mime":"text/html","status":"200","digest":"sha1:X","length":"9","offset":"7","filename":"a.warc.gz"}"#;
        assert_eq!(line, format!("{expected}\n"));
    }
}
