//! Conversion of input records to pages, compressed by day.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use tidings_feeds::discover::own_address;
use tidings_fetch::decode::{Ceiling, Decoder};
use tidings_fetch::rights;
use tidings_formats::saved_page;
use tidings_formats::warc::{Headers, Record};
use tidings_model::{DOCUMENT_TYPE, Fingerprint, Page, Rights, Status, address};
use tidings_storage::{is_object, source};
use tidings_store::import_log::Input;
use tidings_store::removed::{self, Removed};
use tidings_store::{FrameEncoder, rfc3339};

use super::format::ImportFormat;
use super::source::Raw;
use super::text::{self, TextDefaults};

/// Converts the records of one input to pages.
#[derive(Debug, Clone)]
pub struct Converter {
    /// The format of the input.
    pub format: ImportFormat,
    /// Its name, for texts without an address.
    pub name: String,
    /// Values for texts that do not have them.
    pub defaults: TextDefaults,
    /// The limits of bodies.
    pub ceiling: Ceiling,
    /// Tombstones: removed pages must not return.
    pub removed: Arc<Removed>,
    /// The compression level of pages; `None` for a dry run.
    pub compression: Option<i32>,
}

/// The reason for a saved page that could not be read.
const UNREADABLE: &str = "unreadable";
/// Lines of a day in a batch that are enough for a frame.
const FRAME_BYTES: usize = 256 << 10;

/// The pages of a day in a batch.
#[derive(Debug, PartialEq, Eq)]
pub enum DayPages {
    /// A compressed frame.
    Frame(Vec<u8>),
    /// Too few lines for a frame, uncompressed.
    Lines(Vec<u8>),
}

/// The pages of a batch of records.
#[derive(Debug, Default)]
pub struct ConvertedBatch {
    /// The pages of each day.
    pub days: BTreeMap<String, DayPages>,
    /// Pages.
    pub pages: u64,
    /// Texts without a date, among them.
    pub undated: u64,
    /// The fingerprints of their addresses.
    pub addresses: Vec<Fingerprint>,
    /// Records that yielded no page, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Saved pages that were read, as the ledger enters them.
    pub saved: Vec<Input>,
}

impl Converter {
    /// Converts a batch.
    pub fn convert(&self, batch: Vec<Raw>) -> ConvertedBatch {
        let mut made = ConvertedBatch::default();
        let mut lines: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut decoder = Decoder::new(self.ceiling);
        for raw in batch {
            let mut saved = None;
            let page = match raw {
                Raw::Saved(path, inside, input) => {
                    let page = self.of_saved(&path, &inside);
                    // An object store may answer the next time.
                    let is_final = !is_object(&path) || !matches!(page, Err(UNREADABLE));
                    saved = is_final.then_some(Input { records: 1, done: true, ..input });
                    page
                }
                raw => self.page(raw, &mut decoder),
            };
            match page.and_then(|page| self.not_removed(page)) {
                Ok(page) => {
                    made.pages += 1;
                    made.addresses.extend(addresses(&page));
                    if let Some(input) = &mut saved {
                        input.pages = 1;
                    }
                    made.undated += u64::from(is_undated_text(&page, &self.defaults));
                    if self.compression.is_some() {
                        page.write_line(lines.entry(day_of(&page)).or_default()).expect("pages serialise");
                    }
                }
                Err(why) => {
                    *made.left_out.entry(why).or_default() += 1;
                    if let Some(input) = &mut saved {
                        input.left_out.insert(why.to_owned(), 1);
                    }
                }
            }
            made.saved.extend(saved);
        }
        if let Some(level) = self.compression {
            let mut packer = FrameEncoder::new(level);
            let is_alone = lines.len() == 1;
            let mut of_day = |lines: Vec<u8>| match is_alone || lines.len() >= FRAME_BYTES {
                true => DayPages::Frame(packer.encode(&lines)),
                false => DayPages::Lines(lines),
            };
            made.days = lines.into_iter().map(|(day, lines)| (day, of_day(lines))).collect();
        }
        made
    }

    /// Converts one record, or returns why it yields no page.
    pub fn page(&self, raw: Raw, decoder: &mut Decoder) -> Result<Page, &'static str> {
        match raw {
            Raw::LeftOut(why) => Err(why),
            Raw::Record(record, notes) => self.of_record(*record, notes, decoder),
            Raw::Line(line, number) if self.format == ImportFormat::Pages => self.of_page(&line, number),
            Raw::Line(line, number) => text::of_json(&line, &format!("{}#{number}", self.name), &self.defaults),
            Raw::Annotated(document, number) => {
                text::of_tokens(*document, &format!("{}#{number}", self.name), &self.defaults)
            }
            Raw::Saved(path, inside, _) => self.of_saved(&path, &inside),
        }
    }

    /// Rejects a page that a tombstone covers.
    fn not_removed(&self, page: Page) -> Result<Page, &'static str> {
        let is_removed = [&page.url, &page.final_url].into_iter().any(|url| self.removed.covers(url).is_some());
        if is_removed { Err(removed::STATUS) } else { Ok(page) }
    }

    /// A page in a record of an archive.
    fn of_record(&self, record: Record, notes: Option<Headers>, decoder: &mut Decoder) -> Result<Page, &'static str> {
        let url = record.head.target().ok_or("no-address")?.to_owned();
        if record.is_sound() == Some(false) {
            return Err("bad-digest");
        }
        let downloaded = record.head.date().map(rfc3339).unwrap_or_else(|| self.defaults.downloaded.clone());
        let note = |name: &str| notes.as_ref().and_then(|notes| notes.get(name)).unwrap_or_default().to_owned();
        let seen = Some(note("seen")).filter(|seen| !seen.is_empty()).unwrap_or_else(|| downloaded.clone());
        let page = Page {
            url: Some(note("planurl")).filter(|url| !url.is_empty()).unwrap_or_else(|| url.clone()),
            final_url: url.clone(),
            feed: note("feed"),
            title: note("title"),
            published: note("published"),
            revises: note("revises").split_ascii_whitespace().map(str::to_owned).collect(),
            seen,
            downloaded,
            rights: serde_json::from_str(&note("rights")).unwrap_or_default(),
            ..Page::default()
        };
        match record.head.kind() {
            "conversion" => {
                let languages = record.head.get("warc-identified-content-language").unwrap_or_default();
                let language = languages.split(',').next().unwrap_or_default().trim();
                text::of_lines(&url, &record.block, language, &page.downloaded, &self.defaults)
            }
            "resource" => {
                let content_type = record.head.get("content-type").unwrap_or_default().to_owned();
                if content_type.split(';').next() == Some(DOCUMENT_TYPE) {
                    return text::of_stored(record.block, content_type, page);
                }
                if !is_html(&content_type) {
                    return Err("not-html");
                }
                nonempty(Page { content_type, body: record.block, ..page })
            }
            _ => of_response(&record, page, decoder),
        }
    }

    /// A page as FeedFetcher or another home wrote it.
    fn of_page(&self, line: &[u8], _number: u64) -> Result<Page, &'static str> {
        let mut page: Page = serde_json::from_slice(line).map_err(|_| "not-a-page")?;
        if page.body.len() > self.ceiling.max_bytes {
            return Err("too-large");
        }
        for time in [&mut page.downloaded, &mut page.seen, &mut page.published] {
            if let Some(moment) = moment(time) {
                *time = rfc3339(moment);
            }
        }
        if moment(&page.downloaded).is_none() {
            page.downloaded.clone_from(&self.defaults.downloaded);
        }
        nonempty(page)
    }

    /// A saved web page.
    fn of_saved(&self, path: &Path, inside: &Path) -> Result<Page, &'static str> {
        let body = saved_page::read_html(path).map_err(|error| {
            log::warn!("{error}");
            UNREADABLE
        })?;
        let named =
            || saved_page::mirrored(inside).unwrap_or_else(|| format!("import:{}/{}", self.name, inside.display()));
        let url = own_address(&body).unwrap_or_else(named);
        let saved = source::stat(path).ok().flatten().and_then(|stat| stat.modified);
        let saved = saved.and_then(|time| Timestamp::try_from(time).ok()).map(rfc3339);
        let downloaded =
            Some(self.defaults.downloaded.clone()).filter(|time| !time.is_empty()).or(saved).unwrap_or_default();
        nonempty(Page {
            final_url: url.clone(),
            url,
            seen: downloaded.clone(),
            downloaded,
            content_type: "text/html".to_owned(),
            body,
            ..Page::default()
        })
    }
}

/// The page of a record with an HTTP response.
fn of_response(record: &Record, page: Page, decoder: &mut Decoder) -> Result<Page, &'static str> {
    let answer = record.answer().ok_or("no-http")?;
    if !(200..300).contains(&answer.status) {
        return Err("status");
    }
    let content_type = answer.headers.get("content-type").unwrap_or_default().to_owned();
    if !content_type.is_empty() && !is_html(&content_type) {
        return Err("not-html");
    }
    let encodings = answer.headers.get("content-encoding").unwrap_or_default();
    let body = match decoder.decode(encodings, &answer.body) {
        Ok(body) => body,
        Err(status) if status == Status::failed("too-large") => return Err("too-large"),
        // Some archives keep the header and not the encoding.
        Err(_) if answer.body.trim_ascii_start().starts_with(b"<") => answer.body,
        Err(_) => return Err("encoding"),
    };
    let headers = header_map(&answer.headers);
    // What another home recorded includes the rights that robots.txt and other files stated.
    let rights = match page.rights.is_empty() {
        true => Rights { headers: rights::of_headers(&headers), ..Rights::default() },
        false => page.rights.clone(),
    };
    nonempty(Page { status: answer.status, content_type, headers: rights::useful(&headers), rights, body, ..page })
}

/// Rejects pages without an address or a body.
fn nonempty(page: Page) -> Result<Page, &'static str> {
    if page.url.is_empty() {
        Err("no-address")
    } else if page.body.iter().all(u8::is_ascii_whitespace) {
        Err("empty")
    } else {
        Ok(page)
    }
}

/// The URLs that need not be fetched any more. An imported text does not count as its page: it may be a summary, and
/// only the page is complete.
fn addresses(page: &Page) -> impl Iterator<Item = Fingerprint> {
    let is_page = !page.content_type.starts_with(DOCUMENT_TYPE);
    let other = Some(&page.final_url).filter(|url| **url != page.url);
    [Some(&page.url), other]
        .into_iter()
        .flatten()
        .filter(move |_| is_page)
        .filter_map(|url| Some(Fingerprint::of(&address::normalise(url, None)?)))
}

fn is_html(content_type: &str) -> bool {
    content_type.to_ascii_lowercase().contains("html")
}

/// Parses a time in RFC 3339 or RFC 2822.
fn moment(text: &str) -> Option<Timestamp> {
    text.parse().ok().or_else(|| jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.timestamp()))
}

/// The day of a page: that of its download, or for a text without one that of its publication.
fn day_of(page: &Page) -> String {
    let published = moment(&page.published).filter(|_| page.content_type.starts_with(DOCUMENT_TYPE));
    let moment = published.or_else(|| moment(&page.downloaded)).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.strftime("%Y-%m-%d").to_string()
}

/// Whether a text has neither a time of download nor a date and is stored under the day of the import.
fn is_undated_text(page: &Page, defaults: &TextDefaults) -> bool {
    page.content_type.starts_with(DOCUMENT_TYPE) && page.published.is_empty() && page.downloaded == defaults.downloaded
}

fn header_map(head: &Headers) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in head.iter() {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.append(name, value);
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converter(format: ImportFormat, compression: Option<i32>) -> Converter {
        Converter {
            format,
            name: "a.jsonl".to_owned(),
            defaults: TextDefaults { downloaded: "2026-03-01T00:00:00.000Z".to_owned(), ..TextDefaults::default() },
            ceiling: Ceiling { max_bytes: 100, max_ratio: 100 },
            removed: Arc::new(Removed::default()),
            compression,
        }
    }

    fn line(page: &Page) -> Raw {
        let mut line = Vec::new();
        page.write_line(&mut line).unwrap();
        Raw::Line(line, 1)
    }

    fn page(url: &str, downloaded: &str, body: &[u8]) -> Page {
        Page { url: url.to_owned(), downloaded: downloaded.to_owned(), body: body.to_vec(), ..Page::default() }
    }

    #[test]
    fn pages_are_stored_under_the_day_of_their_download() {
        let batch = vec![
            line(&page("https://a.example/1", "2026-02-01T23:59:59Z", b"<p>1")),
            line(&page("https://a.example/2", "Sun, 01 Feb 2026 10:00:00 GMT", b"<p>2")),
            line(&page("https://a.example/3", "", b"<p>3")),
        ];
        let made = converter(ImportFormat::Pages, Some(3)).convert(batch);
        assert_eq!(made.days.keys().collect::<Vec<_>>(), ["2026-02-01", "2026-03-01"]);
        assert_eq!((made.pages, made.addresses.len()), (3, 3));
    }

    #[test]
    fn a_dry_run_counts_pages_and_compresses_none() {
        let batch = vec![line(&page("https://a.example/1", "", b"<p>1")), Raw::LeftOut("request")];
        let made = converter(ImportFormat::Pages, None).convert(batch);
        assert_eq!((made.pages, made.days.len()), (1, 0));
        assert_eq!(made.left_out, BTreeMap::from([("request", 1)]));
    }

    #[test]
    fn pages_without_address_or_text_and_large_ones_are_skipped() {
        let reason = |page: &Page| {
            let made = converter(ImportFormat::Pages, None).convert(vec![line(page)]);
            made.left_out.into_keys().next()
        };
        assert_eq!(reason(&page("", "", b"<p>")), Some("no-address"));
        assert_eq!(reason(&page("https://a.example/", "", b" \n")), Some("empty"));
        assert_eq!(reason(&page("https://a.example/", "", &[b'x'; 101])), Some("too-large"));
        assert_eq!(reason(&page("https://a.example/", "", &[b'x'; 100])), None);
        let made = converter(ImportFormat::Pages, None).convert(vec![Raw::Line(b"[]".to_vec(), 1)]);
        assert_eq!(made.left_out, BTreeMap::from([("not-a-page", 1)]));
    }

    #[test]
    fn a_text_does_not_count_as_its_page() {
        let mut text = page("https://a.example/1", "", b"{}");
        assert_eq!(addresses(&text).count(), 1);
        text.final_url = "https://a.example/2".to_owned();
        assert_eq!(addresses(&text).count(), 2);
        text.content_type = DOCUMENT_TYPE.to_owned();
        assert_eq!(addresses(&text).count(), 0);
    }

    #[test]
    fn content_types_of_html_ignore_case() {
        assert!(is_html("TEXT/HTML; charset=utf-8") && is_html("application/xhtml+xml"));
        assert!(!is_html("application/pdf") && !is_html(""));
    }
}
