//! Pages from elsewhere: WARC and WET files as crawlers publish them, and folders of saved pages.
//!
//! Archives are larger than memory and often cut off or damaged somewhere; a record that cannot be
//! used costs itself, and what cannot be read ends the file with what was read so far.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::error::{During, Result};
use crate::frames::open_any;
use crate::home::files_in;

/// Longer records are not web pages.
const MAX_RECORD_BYTES: u64 = 16 << 20;
/// The head of a record, and of an HTTP answer, at most.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Folders inside folders, at most.
const MAX_DEPTH: usize = 32;

/// A page in an archive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Archived {
    /// Its address.
    pub url: String,
    /// Whether only its text was kept (WET).
    pub is_text: bool,
    /// The content encodings that the body still has.
    pub encodings: String,
    /// The body.
    pub body: Vec<u8>,
}

/// Opens a file for reading whether it is packed with gzip, zstd or not at all.
fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let mut reader = BufReader::with_capacity(1 << 18, File::open(path).during("open", path)?);
    if reader.fill_buf().during("read", path)?.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::with_capacity(1 << 18, MultiGzDecoder::new(reader))));
    }
    drop(reader);
    Ok(open_any(path)?)
}

/// Reads the HTML pages (or texts) of a WARC or WET file, one at a time.
pub struct WarcReader {
    reader: Box<dyn BufRead>,
    ended: bool,
}

impl WarcReader {
    /// Opens an archive.
    pub fn open(path: &Path) -> Result<WarcReader> {
        Ok(WarcReader { reader: open(path)?, ended: false })
    }

    /// The next record: its head and its block, or an empty block if that is too large.
    fn record(&mut self) -> io::Result<Option<(Head, Vec<u8>)>> {
        let Some(head) = Head::read(&mut *self.reader)? else { return Ok(None) };
        let length: u64 = head.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut block = Vec::new();
        let kind = head.get("warc-type").unwrap_or_default();
        let wanted = matches!(kind, "response" | "conversion" | "resource") && length <= MAX_RECORD_BYTES;
        let mut limited = (&mut *self.reader).take(length);
        if wanted {
            limited.read_to_end(&mut block)?;
        } else {
            io::copy(&mut limited, &mut io::sink())?;
        }
        Ok(Some((head, block)))
    }
}

impl Iterator for WarcReader {
    type Item = Archived;

    fn next(&mut self) -> Option<Archived> {
        while !self.ended {
            match self.record() {
                Ok(Some((head, block))) => {
                    if let Some(page) = page_of(&head, block) {
                        return Some(page);
                    }
                }
                // The end, or a place where nothing can be read any more.
                Ok(None) | Err(_) => self.ended = true,
            }
        }
        None
    }
}

fn page_of(head: &Head, block: Vec<u8>) -> Option<Archived> {
    let url = head.get("warc-target-uri")?.trim_matches(['<', '>']).to_owned();
    match head.get("warc-type")? {
        "conversion" if !block.is_empty() => {
            Some(Archived { url, is_text: true, encodings: String::new(), body: block })
        }
        "resource" if head.get("content-type").is_some_and(|kind| kind.contains("html")) => {
            Some(Archived { url, body: block, ..Archived::default() })
        }
        "response" => {
            let mut rest = &block[..];
            let mut status = String::new();
            io::Read::take(&mut rest, MAX_HEAD_BYTES as u64).read_line(&mut status).ok()?;
            let answer = Head::lines(&mut rest).ok()?;
            let is_html = answer.get("content-type").is_none_or(|kind| kind.to_ascii_lowercase().contains("html"));
            let is_good = status.split(' ').nth(1).is_some_and(|code| code.starts_with('2'));
            if !is_html || !is_good {
                return None;
            }
            let chunked = answer.get("transfer-encoding").is_some_and(|coding| coding.contains("chunked"));
            let body = if chunked { unchunked(rest) } else { rest.to_vec() };
            Some(Archived {
                url,
                is_text: false,
                encodings: answer.get("content-encoding").unwrap_or_default().to_owned(),
                body,
            })
        }
        _ => None,
    }
}

/// Takes the chunks of HTTP/1.1 apart; a body that only claims to have some is left as it is.
fn unchunked(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(end) = rest.windows(2).take(20).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end])
            .ok()
            .and_then(|line| usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16).ok());
        match size {
            None if out.is_empty() => return body.to_vec(),
            None | Some(0) => break,
            Some(size) => {
                let chunk = &rest[end + 2..];
                out.extend_from_slice(&chunk[..size.min(chunk.len())]);
                rest = chunk.get(size + 2..).unwrap_or_default();
            }
        }
    }
    out
}

/// Named lines, as WARC and HTTP write them.
struct Head(Vec<(String, String)>);

impl Head {
    /// The head of a record; nothing at the end of the archive.
    fn read(reader: &mut dyn BufRead) -> io::Result<Option<Head>> {
        let mut line = String::new();
        loop {
            line.clear();
            if io::Read::take(&mut *reader, MAX_HEAD_BYTES as u64).read_line(&mut line)? == 0 {
                return Ok(None);
            }
            if line.starts_with("WARC/") {
                return Head::lines(reader).map(Some);
            }
            if !line.trim().is_empty() {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "not a record"));
            }
        }
    }

    fn lines(mut reader: &mut dyn BufRead) -> io::Result<Head> {
        let mut lines = Vec::new();
        let mut bytes = 0;
        let mut line = Vec::new();
        loop {
            line.clear();
            bytes += io::Read::take(&mut reader, MAX_HEAD_BYTES as u64).read_until(b'\n', &mut line)?;
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end();
            if text.is_empty() || bytes > MAX_HEAD_BYTES {
                return Ok(Head(lines));
            }
            if let Some((name, value)) = text.split_once(':') {
                lines.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|line| line.0 == name).map(|line| line.1.as_str())
    }
}

/// The saved pages in a folder and those below it, in the order of their names, or the file itself.
pub fn html_files(path: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    walk(path, MAX_DEPTH, &mut files)?;
    Ok(files)
}

fn walk(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for inner in files_in(path)?.into_iter().filter(|_| depth > 0) {
        // A link may lead round in a circle, or out of the folder.
        if inner.is_symlink() {
            continue;
        }
        let is_page = inner.extension().is_none_or(|ending| {
            ["html", "htm", "xhtml", "shtml", "php"].iter().any(|known| ending.eq_ignore_ascii_case(known))
        });
        if inner.is_dir() || is_page {
            walk(&inner, depth - 1, files)?;
        }
    }
    Ok(())
}

/// Reads a saved page; what is longer than a page is cut.
pub fn read_html(path: &Path) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    open(path)?.take(MAX_RECORD_BYTES).read_to_end(&mut body).during("read", path)?;
    Ok(body)
}

/// Shows every line of a file to `see`, whatever it is packed with; `-` is standard input.
pub fn lines(path: &Path, mut see: impl FnMut(&str)) -> Result<()> {
    let mut reader: Box<dyn BufRead> = if path == Path::new("-") { Box::new(io::stdin().lock()) } else { open(path)? };
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader).take(1 << 24).read_until(b'\n', &mut line).during("read", path)?;
        if read == 0 {
            return Ok(());
        }
        see(&String::from_utf8_lossy(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn record(kind: &str, url: &str, block: &str) -> String {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    }

    #[test]
    fn pages_of_an_archive_are_read_and_the_rest_is_skipped() {
        let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>a</html>";
        let chunked = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n2\r\nab\r\n0\r\n\r\n";
        let picture = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nPNG";
        let gone = "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<html>";
        let text = [
            record("warcinfo", "", "software: x"),
            record("response", "https://a.example/", html),
            record("request", "https://a.example/", "GET / HTTP/1.1\r\n\r\n"),
            record("response", "https://a.example/b", chunked),
            record("response", "https://a.example/c.png", picture),
            record("response", "https://a.example/d", gone),
            record("conversion", "https://a.example/e", "only text"),
        ]
        .concat();
        let folder = tempfile::tempdir().unwrap();
        let (plain, packed) = (folder.path().join("a.warc"), folder.path().join("a.warc.gz"));
        std::fs::write(&plain, &text).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(File::create(&packed).unwrap(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap();
        for path in [plain, packed] {
            let pages: Vec<Archived> = WarcReader::open(&path).unwrap().collect();
            let summary: Vec<_> = pages.iter().map(|page| (page.url.as_str(), &page.body[..], page.is_text)).collect();
            assert_eq!(
                summary,
                [
                    ("https://a.example/", &b"<html>a</html>"[..], false),
                    ("https://a.example/b", b"<p>ab", false),
                    ("https://a.example/e", b"only text", true),
                ]
            );
        }
    }

    #[test]
    fn a_damaged_archive_ends_where_the_damage_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc");
        let whole = record("conversion", "https://a.example/", "text");
        std::fs::write(&path, format!("{whole}garbage\r\n{whole}")).unwrap();
        assert_eq!(WarcReader::open(&path).unwrap().count(), 1);
        std::fs::write(&path, b"").unwrap();
        assert_eq!(WarcReader::open(&path).unwrap().count(), 0);
    }

    #[test]
    fn what_our_own_writer_writes_is_read() {
        let exchange = crate::warc::Exchange {
            url: "https://a.example/",
            date: jiff::Timestamp::UNIX_EPOCH,
            ip: None,
            request: b"GET / HTTP/1.1\r\n\r\n",
            response: b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n",
            body: b"<html>a</html>",
            metadata: "x: y\r\n",
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc.gz");
        std::fs::write(&path, crate::warc::Writer::default().exchange(&exchange)).unwrap();
        let pages: Vec<Archived> = WarcReader::open(&path).unwrap().collect();
        assert_eq!((pages.len(), &pages[0].body[..]), (1, &b"<html>a</html>"[..]));
    }
}
