//! Pages from elsewhere: WARC and WET files as crawlers publish them, and folders of saved pages.
//!
//! Archives are larger than memory and often cut off or damaged somewhere; a record that cannot be
//! used costs itself, and what cannot be read ends the file with what was read so far.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::doors::records::{Head, Met, Place, Record, Records};
use crate::error::{During, Result};
use crate::frames::open_any;
use crate::home::files_in;

/// Longer records are not web pages.
const MAX_RECORD_BYTES: u64 = 16 << 20;
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
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    let mut reader = BufReader::with_capacity(1 << 18, File::open(path).during("open", path)?);
    if reader.fill_buf().during("read", path)?.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::with_capacity(1 << 18, MultiGzDecoder::new(reader))));
    }
    drop(reader);
    open_any(path)
}

/// Reads the HTML pages (or texts) of a WARC or WET file, one at a time.
pub struct WarcReader {
    records: Records,
}

impl WarcReader {
    /// Opens an archive.
    pub fn open(path: &Path) -> Result<WarcReader> {
        Ok(WarcReader { records: Records::open(path, Place::default())? })
    }
}

impl Iterator for WarcReader {
    type Item = Archived;

    fn next(&mut self) -> Option<Archived> {
        let wanted = |head: &Head| match head.kind() {
            "response" | "conversion" | "resource" => Ok(MAX_RECORD_BYTES),
            _ => Err("kind"),
        };
        loop {
            if let Met::Record(record) = self.records.next(wanted)?
                && let Some(page) = page_of(record)
            {
                return Some(page);
            }
        }
    }
}

fn page_of(record: Record) -> Option<Archived> {
    let url = record.head.target()?.to_owned();
    match record.head.kind() {
        "conversion" if !record.block.is_empty() => {
            Some(Archived { url, is_text: true, encodings: String::new(), body: record.block })
        }
        "resource" if record.head.get("content-type").is_some_and(|kind| kind.contains("html")) => {
            Some(Archived { url, body: record.block, ..Archived::default() })
        }
        "response" => {
            let answer = record.answer()?;
            let headers = &answer.headers;
            let is_html = headers.get("content-type").is_none_or(|kind| kind.to_ascii_lowercase().contains("html"));
            if !is_html || !(200..300).contains(&answer.status) {
                return None;
            }
            let encodings = headers.get("content-encoding").unwrap_or_default().to_owned();
            Some(Archived { url, is_text: false, encodings, body: answer.body })
        }
        _ => None,
    }
}

/// The saved pages in a folder and those below it, in the order of their names, or the file itself.
pub fn html_files(path: &Path) -> Result<Vec<PathBuf>> {
    let mut files = files_under(path)?;
    files.retain(|file| file == path || is_saved_page(file));
    Ok(files)
}

/// All files in a folder and those below it, in the order of their names, or the file itself. What is hidden stays so.
pub fn files_under(path: &Path) -> Result<Vec<PathBuf>> {
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
        let is_hidden = inner.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        // A link may lead round in a circle, or out of the folder.
        if !is_hidden && !inner.is_symlink() {
            walk(&inner, depth - 1, files)?;
        }
    }
    Ok(())
}

/// Whether a file looks like a page that somebody saved; mirrors give many of them no ending at all.
pub fn is_saved_page(path: &Path) -> bool {
    path.extension().is_none_or(|ending| {
        ["html", "htm", "xhtml", "shtml", "php"].iter().any(|known| ending.eq_ignore_ascii_case(known))
    })
}

/// Reads a saved page; what is longer than a page is cut.
pub fn read_html(path: &Path) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    open(path)?.take(MAX_RECORD_BYTES).read_to_end(&mut body).during("read", path)?;
    Ok(body)
}

/// The address of a file that a mirror saved as `host/path`.
pub fn mirrored(file: &Path) -> Option<String> {
    let text = file.to_str()?;
    let host = text.split('/').next()?;
    let is_host = host.contains('.') && !host.ends_with(".html") && !host.ends_with(".htm");
    is_host.then(|| format!("http://{text}"))
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
    fn a_mirror_tells_addresses_by_its_folders() {
        assert_eq!(mirrored(Path::new("g.example/a/b.html")).as_deref(), Some("http://g.example/a/b.html"));
        assert_eq!(mirrored(Path::new("saved.html")), None);
        assert_eq!(mirrored(Path::new("folder/b.html")), None);
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
