//! Processing of page responses: decompresses, serialises as JSON lines, compresses into frames.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use http::header;
use tidings_fetch::decode::{Ceiling, Decoder};
use tidings_fetch::{FetchResult, HttpResponse, head_text, rights};
use tidings_formats::warc;
use tidings_model::{FailureKind, Page, PageOrigin, Rights, Row, Status, address};
use tidings_store::feed_texts::FeedTexts;
use tidings_store::journal::{Failure, Record, Validators, Visit};
use tidings_store::removed::Removed;
use tidings_store::revisits::{self, VisitedPage};
use tidings_store::{FrameEncoder, PendingEntries, rfc3339};

use super::feed_text::{is_lacking, makes_up_for};
use super::page_sources::mark_anchor;
use super::{Batch, Processor};

/// The pages of a run.
#[derive(Clone)]
pub struct PageWork {
    /// The plan's rows, by job.
    pub rows: Arc<PendingEntries>,
    /// The pages that were stored before and are fetched again, by job.
    pub again: Arc<HashMap<u32, VisitedPage>>,
}

/// The name under which pages are counted that were fetched again and have changed.
pub const REVISED: &str = "revised";
/// The name under which pages are counted that were fetched again and have not changed.
pub const UNCHANGED: &str = "unchanged";

/// Makes frames of pages.
pub struct PageProcessor {
    work: PageWork,
    /// The texts of feeds, for pages that lack them.
    texts: Arc<FeedTexts>,
    /// The lines of `feeds.txt` that are pages: titles of their entries are anchors.
    page_sources: Arc<HashSet<String>>,
    /// Tombstones: removed pages must not return, not even through redirects.
    removed: Arc<Removed>,
    decoder: Decoder,
    packer: FrameEncoder,
    warc: Option<warc::Writer>,
    /// The lines of the current batch; reused because the buffer is large.
    lines: Vec<u8>,
}

impl PageProcessor {
    /// A processor of the pages in `work`.
    pub fn new(
        work: PageWork,
        texts: Arc<FeedTexts>,
        removed: Arc<Removed>,
        ceiling: Ceiling,
        compression: i32,
        warc: bool,
    ) -> PageProcessor {
        PageProcessor {
            work,
            texts,
            page_sources: Arc::default(),
            removed,
            decoder: Decoder::new(ceiling),
            packer: FrameEncoder::new(compression),
            warc: warc.then(warc::Writer::default),
            lines: Vec::new(),
        }
    }

    /// The same processor for a home with front and section pages in its list.
    pub fn with_page_sources(self, page_sources: Arc<HashSet<String>>) -> PageProcessor {
        PageProcessor { page_sources, ..self }
    }

    /// The page in a response, or the status of its failure.
    fn page(&mut self, row: &Row<'_>, result: &FetchResult, answer: &HttpResponse) -> Result<Page, Status> {
        let mut page = page_of(row, result, answer, &mut self.decoder, &self.removed)?;
        mark_anchor(&mut page, &self.page_sources);
        Ok(page)
    }

    /// Adds a page to the batch.
    fn store(&mut self, page: &Page, row: &Row<'_>, result: &FetchResult, answer: &HttpResponse, batch: &mut Batch) {
        page.write_line(&mut self.lines).expect("pages serialise");
        if let Some(writer) = &mut self.warc {
            batch.warc.extend(archive(writer, row, page, result, answer));
        }
    }

    /// Adds the result of fetching a stored page again. Its entry stays `ok` in the plan in any case.
    fn revise(&mut self, row: &Row<'_>, result: &FetchResult, known: &VisitedPage, batch: &mut Batch) {
        let page = match &result.result {
            Err((status, _)) => Err(status.clone()),
            Ok(answer) if answer.status == http::StatusCode::NOT_MODIFIED => Ok(None),
            Ok(answer) => self.page(row, result, answer).map(|page| Some((page, answer))),
        };
        let (word, stored) = match page {
            // The page is asked for again when its host answers.
            Err(status) if !result.requested || status.is_host_trouble() => {
                return batch.counters.add(status.to_string(), 1);
            }
            Err(status) => (status.to_string(), None),
            Ok(Some((page, answer))) if revisits::body_digest(&page.body) != known.body => {
                let stored = validators(answer, &page.body);
                let revises = known.fetched.split(' ').map(str::to_owned).collect();
                self.store(&Page { revises, ..page }, row, result, answer, batch);
                (REVISED.to_owned(), Some(stored))
            }
            Ok(_) => (UNCHANGED.to_owned(), None),
        };
        batch.step.push(&visit(row, result, stored, true));
        batch.counters.add(word, 1);
    }

    /// The page made of the text in the feed, if the server refuses the page and the feed has its text.
    fn page_of_feed(&self, row: &Row<'_>, metadata: Page) -> Option<Page> {
        let html = self.text_of_feed(row.url)?;
        Some(Page {
            final_url: row.url.to_owned(),
            content_type: "text/html; charset=utf-8".to_owned(),
            origin: PageOrigin::Feed,
            body: html.into_bytes(),
            ..metadata
        })
    }

    /// Adds the text of the feed for a page that was not requested, because its host refuses all pages. Without a text
    /// the entry stays as it is, and a later run asks the host again.
    fn pass_over(&mut self, row: &Row<'_>, result: &FetchResult, status: &Status, batch: &mut Batch) {
        let Status::Http(code) = *status else { return };
        let metadata = page_metadata(row, result, code, &http::HeaderMap::new());
        let Some(page) = self.page_of_feed(row, metadata) else { return };
        log::debug!("{}: its host refuses all pages; its text is that of the feed", row.url);
        page.write_line(&mut self.lines).expect("pages serialise");
        let body = revisits::body_digest(&page.body);
        let stored = Validators { etag: String::new(), last_modified: String::new(), body };
        batch.step.push(&visit(row, result, Some(stored), false));
        batch.step.push(&outcome(row, result, &Status::Ok, ""));
        batch.counters.add(FROM_FEED, 1);
        batch.counters.add(Status::Ok.to_string(), 1);
    }

    /// The text of a page in its feed. It is an extra: if it cannot be read, the page is processed without it.
    fn text_of_feed(&self, url: &str) -> Option<String> {
        self.texts.of(url).unwrap_or_else(|error| {
            log::warn!("{url}: the text of its feed cannot be read: {error}");
            None
        })
    }

    /// Adds the page of a first response, or the text of its feed if the server refuses it; returns the outcome.
    fn first(&mut self, row: &Row<'_>, result: &FetchResult, answer: &HttpResponse, batch: &mut Batch) -> Status {
        let page = match self.page(row, result, answer) {
            Ok(mut page) => {
                page.feed_text = self.text_of_feed(row.url).filter(|html| is_lacking(&page, html)).unwrap_or_default();
                self.store(&page, row, result, answer, batch);
                page
            }
            Err(status) => {
                let metadata = page_metadata(row, result, answer.status.as_u16(), &answer.headers);
                let refused = makes_up_for(&status).then(|| self.page_of_feed(row, metadata)).flatten();
                let Some(page) = refused else { return status };
                log::debug!("{}: {status}; its text is that of the feed", row.url);
                page.write_line(&mut self.lines).expect("pages serialise");
                batch.counters.add(FROM_FEED, 1);
                page
            }
        };
        batch.step.push(&visit(row, result, Some(validators(answer, &page.body)), false));
        Status::Ok
    }
}

/// The page in a response, or the status of its failure.
pub(crate) fn page_of(
    row: &Row<'_>,
    result: &FetchResult,
    answer: &HttpResponse,
    decoder: &mut Decoder,
    removed: &Removed,
) -> Result<Page, Status> {
    if !answer.status.is_success() {
        return Err(Status::Http(answer.status.as_u16()));
    }
    if removed.covers(&result.url).is_some() {
        return Err(Status::Failed(FailureKind::Removed));
    }
    let text = |name| answer.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let encodings = text(header::CONTENT_ENCODING).unwrap_or_default();
    let body = decoder.decode(&encodings, &answer.body)?;
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(FailureKind::Empty.into());
    }
    Ok(Page {
        final_url: result.url.clone(),
        content_type: text(header::CONTENT_TYPE).unwrap_or_default(),
        headers: rights::useful(&answer.headers),
        body,
        ..page_metadata(row, result, answer.status.as_u16(), &answer.headers)
    })
}

/// What the plan and a response say of a page: all but its final URL and its body.
fn page_metadata(row: &Row<'_>, result: &FetchResult, status: u16, headers: &http::HeaderMap) -> Page {
    let (tdmrep, tdmrep_policy) = result.tdm.clone();
    let headers = rights::of_headers(headers);
    Page {
        url: row.url.to_owned(),
        feed: row.feed.to_owned(),
        title: row.title.to_owned(),
        published: row.published.to_owned(),
        seen: row.seen.to_owned(),
        downloaded: rfc3339(result.at),
        status,
        rights: Rights { robots: result.robots.clone(), tdmrep, tdmrep_policy, headers, ..Rights::default() },
        ..Page::default()
    }
}

/// The validators of a response.
fn validators(answer: &HttpResponse, body: &[u8]) -> Validators {
    let text = |name| answer.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    Validators {
        etag: text(header::ETAG),
        last_modified: text(header::LAST_MODIFIED),
        body: revisits::body_digest(body),
    }
}

fn visit<'a>(row: &Row<'a>, result: &FetchResult, stored: Option<Validators>, again: bool) -> Record<'a> {
    Record::Visit(Visit { url: row.url.into(), at: rfc3339(result.at).into(), again, stored })
}

/// The counter of pages whose text is that of the feed.
pub const FROM_FEED: &str = "from the feed";

impl Processor for PageProcessor {
    fn process(&mut self, results: Vec<FetchResult>) -> Batch {
        let work = self.work.clone();
        let mut batch = Batch::default();
        self.lines.clear();
        for result in results {
            let Ok(line) = work.rows.line(result.job) else { continue };
            let Ok(row) = Row::parse(&line) else { continue };
            if let Err((status, _)) = &result.result
                && !result.requested
                && makes_up_for(status)
            {
                if !work.again.contains_key(&result.job) {
                    self.pass_over(&row, &result, status, &mut batch);
                }
                continue;
            }
            if let Some(known) = work.again.get(&result.job) {
                self.revise(&row, &result, known, &mut batch);
                continue;
            }
            if let Err((Status::Failed(FailureKind::MovedShard), _)) = &result.result {
                moved_away(&row, &result, &mut batch);
                continue;
            }
            let (status, detail) = match &result.result {
                Err((status, detail)) => {
                    log::debug!("{}: {status} ({detail})", row.url);
                    (status.clone(), detail.as_str())
                }
                Ok(answer) => (self.first(&row, &result, answer, &mut batch), ""),
            };
            let word = status.to_string();
            let provisional = result.result.is_err() && status.is_network_trouble();
            let step = if provisional { &mut batch.provisional } else { &mut batch.step };
            step.push(&outcome(&row, &result, &status, detail));
            batch.counters.add(word, 1);
        }
        if !self.lines.is_empty() {
            batch.frame = self.packer.encode(&self.lines);
        }
        batch
    }
}

/// An entry that leads to a host of another machine: the target of its redirects becomes an entry in the same step, and
/// is handed over with the others. An entry whose host belongs to another machine by its address just waits for that.
fn moved_away(row: &Row<'_>, result: &FetchResult, batch: &mut Batch) {
    let status = Status::Failed(FailureKind::MovedShard);
    batch.counters.add(status.to_string(), 1);
    let Some(target) = address::normalise(&result.url, None).filter(|_| !result.redirects.is_empty()) else { return };
    batch.step.push(&Record::Listed {
        feed: row.feed.into(),
        seen: row.seen.into(),
        published: row.published.into(),
        url: target.into(),
        title: row.title.into(),
        updated: "".into(),
        text: None,
    });
    batch.step.push(&outcome(row, result, &status, ""));
}

/// The outcome of an entry. Failures of its host, and failures before a request was sent, are no attempts.
fn outcome<'a>(row: &Row<'a>, result: &FetchResult, status: &Status, detail: &'a str) -> Record<'a> {
    let is_attempt = result.requested && !status.is_host_trouble();
    // A page that was not requested because of its host waits for the backoff of the host, not for one of its own.
    let is_retried = status.is_checked_again() || (result.requested && !status.is_final());
    let failure = is_retried.then(|| Failure { at: rfc3339(result.at).into(), detail: detail.into() });
    let retries = row.retries + u32::from(is_attempt);
    Record::Outcome { url: row.url.into(), status: status.to_string().into(), retries, failure }
}

pub(crate) fn archive(
    writer: &mut warc::Writer,
    row: &Row<'_>,
    page: &Page,
    result: &FetchResult,
    answer: &HttpResponse,
) -> Vec<u8> {
    let target = result.url.split_once("://").map_or("/", |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    let reason = answer.status.canonical_reason().unwrap_or_default();
    let mut metadata = format!(
        "feed: {}\r\nseen: {}\r\npublished: {}\r\ntitle: {}\r\nplanUrl: {}\r\n",
        row.feed, row.seen, row.published, row.title, row.url
    );
    if !page.revises.is_empty() {
        metadata.push_str(&format!("revises: {}\r\n", page.revises.join(" ")));
    }
    for redirect in &result.redirects {
        metadata.push_str(&format!("redirect: {} {}\r\n", redirect.status, redirect.to));
    }
    writer.exchange(&warc::Exchange {
        url: &result.url,
        date: result.at,
        ip: Some(answer.ip),
        request: &head_text(&format!("GET {target} HTTP/1.1"), &answer.request_headers),
        response: &head_text(&format!("HTTP/1.1 {} {reason}", answer.status.as_u16()), &answer.headers),
        body: &answer.body,
        metadata: &metadata,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

    use tidings_store::PendingDraft;
    use tidings_store::plan;
    use tidings_store::removed::{Tombstone, TombstoneKind};

    use crate::testing::{answer, answered, apply, failed, home, plan_entry_with_text, planned, redirected};

    const URL: &str = "https://gazette.example/1";

    /// The batch, the stored pages and the status for a response to the first entry.
    fn processed(removed: Removed, result: FetchResult) -> (Batch, Vec<Page>, (String, u32)) {
        processed_with(None, removed, result, HashMap::new())
    }

    /// The same for an entry with a text in its feed, which may have been fetched before.
    fn processed_with(
        text: Option<&str>,
        removed: Removed,
        result: FetchResult,
        again: HashMap<u32, VisitedPage>,
    ) -> (Batch, Vec<Page>, (String, u32)) {
        let (_folder, pipeline) = home();
        plan_entry_with_text(pipeline.home(), URL, text);
        let mut draft = PendingDraft::create(pipeline.home()).unwrap();
        plan::read(pipeline.home(), |row| {
            draft.push(row).unwrap();
        })
        .unwrap();
        let ceiling = Ceiling { max_bytes: 1 << 16, max_ratio: 100 };
        let work = PageWork { rows: Arc::new(draft.finish().unwrap()), again: Arc::new(again) };
        let texts = Arc::new(FeedTexts::open(pipeline.home()).unwrap());
        let mut batch = PageProcessor::new(work, texts, Arc::new(removed), ceiling, 3, true).process(vec![result]);
        let lines = if batch.frame.is_empty() { Vec::new() } else { zstd::decode_all(&batch.frame[..]).unwrap() };
        let lines = String::from_utf8(lines).unwrap();
        let pages = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut step = std::mem::take(&mut batch.step);
        let provisional = std::mem::take(&mut batch.provisional);
        // Both reach the journal here; the batch shows which of them it was.
        if !provisional.is_empty() {
            batch.provisional.push(&Record::Run("provisional".into()));
        }
        step.append(provisional);
        apply(pipeline.home(), "20260301T120000000Z-fetch", step);
        let is_settled = planned(pipeline.home())[0].1 == "ok";
        let held = FeedTexts::open(pipeline.home()).unwrap().of(URL).unwrap();
        assert_eq!(held.is_some(), text.is_some() && !is_settled, "the text is held until the page is settled");
        let (_, status, retries) = planned(pipeline.home()).remove(0);
        (batch, pages, (status, retries))
    }

    fn ok(headers: &[(&'static str, &str)], body: &[u8]) -> FetchResult {
        answered(0, URL, answer(200, headers, body))
    }

    fn gzipped(body: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_response_becomes_a_page_with_the_metadata_of_its_entry() {
        let result = FetchResult {
            url: "https://gazette.example/moved".into(),
            ..ok(&[("content-type", "text/html")], b"<p>x")
        };
        let (batch, pages, planned) = processed(Removed::default(), result);
        let page = &pages[0];
        assert_eq!((page.url.as_str(), page.final_url.as_str()), (URL, "https://gazette.example/moved"));
        assert_eq!((page.feed.as_str(), page.title.as_str()), ("https://gazette.example/feed", "A title"));
        assert_eq!((page.status, page.content_type.as_str(), &page.body[..]), (200, "text/html", &b"<p>x"[..]));
        assert_eq!(page.downloaded, "2026-03-01T12:00:00.000Z");
        assert_eq!((planned, batch.counters.get("ok")), (("ok".to_owned(), 1), 1));
    }

    #[test]
    fn a_compressed_body_is_decompressed_in_the_page_and_kept_compressed_in_the_warc() {
        let packed = gzipped(b"<p>hello</p>");
        let (batch, pages, _) = processed(Removed::default(), ok(&[("content-encoding", "gzip")], &packed));
        assert_eq!(pages[0].body, b"<p>hello</p>");
        let mut archived = Vec::new();
        flate2::read::MultiGzDecoder::new(&batch.warc[..]).read_to_end(&mut archived).unwrap();
        assert!(archived.windows(packed.len()).any(|bytes| bytes == packed), "the WARC record has the body as sent");
    }

    #[test]
    fn a_body_of_white_space_is_a_failure_that_is_retried() {
        let (batch, pages, planned) = processed(Removed::default(), ok(&[], b" \r\n\t "));
        assert!(pages.is_empty() && batch.warc.is_empty());
        assert_eq!(planned, ("empty".to_owned(), 1));
    }

    #[test]
    fn a_damaged_encoding_is_a_failure_and_no_page() {
        let (batch, pages, planned) =
            processed(Removed::default(), ok(&[("content-encoding", "gzip")], b"\x00no gzip"));
        assert_eq!((pages.len(), planned.0.as_str(), batch.counters.get("encoding")), (0, "encoding", 1));
    }

    #[test]
    fn a_body_that_decompresses_beyond_the_limit_is_too_large() {
        let bomb = gzipped(&vec![b'a'; 1 << 20]);
        let (_, pages, planned) = processed(Removed::default(), ok(&[("content-encoding", "gzip")], &bomb));
        assert_eq!((pages.len(), planned.0.as_str()), (0, "too-large"));
    }

    #[test]
    fn an_error_status_is_the_status_of_the_entry() {
        for (status, attempts) in [(404, 1), (500, 1), (503, 0), (429, 0)] {
            let result = answered(0, URL, answer(status, &[], b"<p>sorry</p>"));
            let (batch, pages, planned) = processed(Removed::default(), result);
            assert_eq!((pages.len(), planned), (0, (status.to_string(), attempts)), "429 and 503 are no attempts");
            assert!(batch.provisional.is_empty());
        }
    }

    #[test]
    fn a_refused_page_is_made_of_the_text_in_the_feed() {
        let text = "<p>The whole article.</p>";
        for (status, expected) in [(403, "ok"), (410, "ok"), (500, "500"), (503, "503")] {
            let result = answered(0, URL, answer(status, &[("x-robots-tag", "noindex")], b"<p>no</p>"));
            let (batch, pages, planned) = processed_with(Some(text), Removed::default(), result, HashMap::new());
            assert_eq!(planned.0, expected);
            assert_eq!(batch.counters.get(FROM_FEED), u64::from(expected == "ok"));
            assert!(batch.warc.is_empty(), "there is no exchange to archive");
            let Some(page) = pages.first() else { continue };
            assert_eq!((page.origin, page.status, &page.body[..]), (PageOrigin::Feed, status, text.as_bytes()));
            assert_eq!((page.url.as_str(), page.final_url.as_str(), page.title.as_str()), (URL, URL, "A title"));
            assert_eq!(page.rights.headers["x-robots-tag"], "noindex");
        }
    }

    #[test]
    fn a_page_of_a_host_that_refuses_all_is_made_of_the_text_in_the_feed() {
        let passed_over = || FetchResult {
            requested: false,
            result: Err((Status::Http(403), "not requested".to_owned())),
            ..failed(0, URL, FailureKind::Timeout)
        };
        let text = "<p>The whole article.</p>";
        let (batch, pages, planned) = processed_with(Some(text), Removed::default(), passed_over(), HashMap::new());
        assert_eq!((planned.0.as_str(), batch.counters.get(FROM_FEED)), ("ok", 1));
        assert_eq!((pages[0].origin, pages[0].status, &pages[0].body[..]), (PageOrigin::Feed, 403, text.as_bytes()));
        let (batch, pages, planned) = processed(Removed::default(), passed_over());
        assert_eq!((pages.len(), planned), (0, ("new".to_owned(), 0)), "without a text it waits for the next run");
        assert!(batch.counters.0.is_empty());
    }

    #[test]
    fn a_page_keeps_the_text_of_the_feed_only_if_it_lacks_it() {
        let whole = crate::testing::article("ferry");
        let (_, pages, _) = processed_with(Some(&whole), Removed::default(), ok(&[], whole.as_bytes()), HashMap::new());
        assert_eq!((pages[0].origin, pages[0].feed_text.as_str()), (PageOrigin::Web, ""));
        let (_, pages, _) =
            processed_with(Some(&whole), Removed::default(), ok(&[], b"<p>Subscribe!</p>"), HashMap::new());
        assert_eq!((&pages[0].body[..], &pages[0].feed_text), (&b"<p>Subscribe!</p>"[..], &whole));
    }

    #[test]
    fn a_redirect_to_a_removed_page_stores_nothing() {
        let mut removed = Removed::default();
        let stone = Tombstone { kind: TombstoneKind::Host, what: "secret.example".into(), ..Tombstone::default() };
        removed.add(stone);
        let result = FetchResult { url: "https://secret.example/x".into(), ..ok(&[], b"<p>x</p>") };
        let (_, pages, planned) = processed(removed, result);
        assert_eq!((pages.len(), planned.0.as_str()), (0, "removed"));
    }

    #[test]
    fn network_failures_are_provisional_and_rejections_are_not() {
        for (kind, provisional) in
            [(FailureKind::Timeout, true), (FailureKind::Dns, true), (FailureKind::Robots, false)]
        {
            let (batch, _, planned) = processed(Removed::default(), failed(0, URL, kind));
            assert_eq!((batch.provisional.is_empty(), planned.0.as_str()), (!provisional, kind.word()));
        }
    }

    #[test]
    fn failures_of_the_host_and_pages_that_were_not_requested_cost_no_attempt() {
        for (kind, requested, attempts) in [
            (FailureKind::Timeout, true, 0),
            (FailureKind::Tls, true, 0),
            (FailureKind::RobotsUnreachable, false, 0),
            (FailureKind::Robots, false, 0),
            (FailureKind::Cut, true, 1),
        ] {
            let result = FetchResult { requested, ..failed(0, URL, kind) };
            let (_, _, planned) = processed(Removed::default(), result);
            assert_eq!(planned, (kind.to_string(), attempts));
        }
    }

    #[test]
    fn a_stored_page_that_is_fetched_again_stays_settled_and_is_stored_if_it_changed() {
        let again = |result: FetchResult| {
            let known = VisitedPage {
                fetched: "2026-03-01T10:00:00.000Z 2026-03-01T11:00:00.000Z".into(),
                body: revisits::body_digest(b"<p>old</p>"),
                ..VisitedPage::default()
            };
            let (batch, pages, planned) = processed_with(None, Removed::default(), result, [(0, known)].into());
            assert_eq!(planned.0, "new", "the plan has no outcome of it");
            let counters: Vec<(String, u64)> = batch.counters.0.into_iter().collect();
            (pages.into_iter().map(|page| page.revises.len()).collect::<Vec<_>>(), counters)
        };
        let counted = |word: &str| vec![(word.to_owned(), 1)];
        assert_eq!(again(ok(&[], b"<p>new</p>")), (vec![2], counted(REVISED)));
        assert_eq!(again(ok(&[], b"<p>old</p>")), (vec![], counted(UNCHANGED)));
        assert_eq!(again(answered(0, URL, answer(304, &[], b""))), (vec![], counted(UNCHANGED)));
        assert_eq!(again(answered(0, URL, answer(404, &[], b"<p>gone</p>"))), (vec![], counted("404")));
        assert_eq!(again(failed(0, URL, FailureKind::Timeout)), (vec![], counted("timeout")));
    }

    #[test]
    fn the_warc_records_the_redirects_and_the_entry() {
        let result =
            redirected(FetchResult { url: "https://gazette.example/2".into(), ..ok(&[], b"<p>x") }, &[301, 302]);
        let (batch, _, _) = processed(Removed::default(), result);
        let mut archived = String::new();
        flate2::read::MultiGzDecoder::new(&batch.warc[..]).read_to_string(&mut archived).unwrap();
        assert!(archived.contains("planUrl: https://gazette.example/1\r\n"), "{archived}");
        assert!(archived.contains("redirect: 301 https://gazette.example/2\r\n"), "{archived}");
        assert!(archived.contains("GET /2 HTTP/1.1\r\n"), "{archived}");
    }
}
