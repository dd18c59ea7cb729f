//! Processing of the responses of a crawl: pages are cleaned at once, because the text that they give decides what is
//! asked for next.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use http::header;
use jiff::Timestamp;
use tidings_clean::postprocess::PostprocessOptions;
use tidings_clean::{DropReason, Options};
use tidings_crawl::text::TextFingerprint;
use tidings_fetch::decode::{Ceiling, Decoder};
use tidings_fetch::{FetchJob, FetchResult, HttpResponse, JobSource, rights};
use tidings_formats::warc;
use tidings_model::{Document, PageLinks, Row, Status, address};
use tidings_store::removed::Removed;
use tidings_store::{FrameEncoder, rfc3339};

use super::finds::Finds;
use super::order::Order;
use super::sitemaps::{self, ReadMap};
use super::topic::{OFF_TOPIC, Topic};
use crate::config::KeepPages;
use crate::extract_guarded;
use crate::ingest::pages::{archive, page_of};
use crate::ingest::{Batch, Processor};

/// The URLs of jobs in flight, by job.
pub(super) type JobUrls = Arc<Mutex<HashMap<u32, String>>>;

/// The jobs of a crawl.
pub(super) struct CrawlJobs(pub(super) JobUrls);

impl JobSource for CrawlJobs {
    fn job(&mut self, id: u32) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
        let url = self.0.lock().expect("no panic while held").get(&id).cloned();
        Ok(FetchJob { url: url.ok_or("no such job")?, headers: Vec::new() })
    }
}

/// What a response means for the crawl.
pub(super) struct PageReport {
    pub(super) job: u32,
    /// URL of the last request.
    pub(super) final_url: String,
    pub(super) at: Timestamp,
    pub(super) status: Status,
    /// False if no request was sent.
    pub(super) requested: bool,
    /// Bytes of body on the wire.
    pub(super) bytes: u64,
    /// The address that responded.
    pub(super) ip: Option<IpAddr>,
    /// Whether the response is a page, with what it gave.
    pub(super) page: Option<ReadPage>,
    /// Why the page was not kept; `None` if it was stored or is no page.
    pub(super) refused: Option<String>,
    /// Sitemaps that the robots.txt of the host names.
    pub(super) sitemaps: Arc<[String]>,
}

/// A page as the crawl sees it.
#[derive(Default)]
pub(super) struct ReadPage {
    /// Bytes of clean text in wanted languages.
    pub(super) clean_bytes: u64,
    /// Words in wanted languages.
    pub(super) tokens: u64,
    pub(super) text: Option<TextFingerprint>,
    /// The language of its text; without a text, the one that it declares.
    pub(super) language: Option<String>,
    /// Whether its text is in a language that is not wanted.
    pub(super) foreign: bool,
    /// Whether the cleaner failed, which says nothing about the site.
    pub(super) failed: bool,
    /// Its links, if they may be followed.
    pub(super) links: PageLinks,
    /// The content of a sitemap; it is no page then.
    pub(super) map: Option<ReadMap>,
}

/// The settings of the processors of a crawl.
#[derive(Clone)]
pub(super) struct ProcessorSettings {
    /// `crawl:NAME`, in the field for the feed of a page.
    pub(super) feed: String,
    pub(super) order: Arc<Order>,
    pub(super) topic: Arc<Topic>,
    pub(super) keep: KeepPages,
    pub(super) options: Arc<(Options, PostprocessOptions)>,
    pub(super) removed: Arc<Removed>,
    pub(super) ceiling: Ceiling,
    pub(super) compression: i32,
    pub(super) warc: bool,
    /// Collects what can be polled of pages that are not stored.
    pub(super) finds: Option<Arc<Mutex<Finds>>>,
}

/// Makes pages and reports of responses.
pub(super) struct CrawlProcessor {
    settings: ProcessorSettings,
    jobs: JobUrls,
    reports: Sender<Vec<PageReport>>,
    decoder: Decoder,
    packer: FrameEncoder,
    warc: Option<warc::Writer>,
    lines: Vec<u8>,
}

impl CrawlProcessor {
    pub(super) fn new(settings: ProcessorSettings, jobs: JobUrls, reports: Sender<Vec<PageReport>>) -> CrawlProcessor {
        CrawlProcessor {
            decoder: Decoder::new(settings.ceiling),
            packer: FrameEncoder::new(settings.compression),
            warc: settings.warc.then(warc::Writer::default),
            lines: Vec::new(),
            settings,
            jobs,
            reports,
        }
    }

    fn report(&mut self, result: &FetchResult, batch: &mut Batch) -> PageReport {
        let url = self.jobs.lock().expect("no panic while held").get(&result.job).cloned().unwrap_or_default();
        let mut report = PageReport {
            job: result.job,
            final_url: if result.url.is_empty() { url.clone() } else { result.url.clone() },
            at: result.at,
            status: Status::Ok,
            requested: result.requested,
            bytes: result.result.as_ref().map_or(0, |answer| answer.body.len() as u64),
            ip: result.result.as_ref().ok().map(|answer| answer.ip),
            page: None,
            refused: None,
            sitemaps: Arc::clone(&result.sitemaps),
        };
        match &result.result {
            Ok(answer) => self.read(&url, result, answer, &mut report, batch),
            Err((status, detail)) => {
                log::debug!("{url}: {status} ({detail})");
                report.status = status.clone();
            }
        }
        batch.counters.add(report.status.to_string(), 1);
        report
    }

    fn read_map(&mut self, result: &FetchResult, answer: &HttpResponse) -> Option<ReadMap> {
        let text = |name| answer.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let content_type = text(header::CONTENT_TYPE);
        if !answer.status.is_success() || !sitemaps::may_be_map(&result.url, content_type.as_deref()) {
            return None;
        }
        let encodings = text(header::CONTENT_ENCODING).unwrap_or_default();
        let body = self.decoder.decode(&encodings, &answer.body).ok()?;
        sitemaps::read(&body, content_type.as_deref(), &result.url)
    }

    /// Reads the page in a response, and stores it if it is wanted.
    fn read(
        &mut self,
        url: &str,
        result: &FetchResult,
        answer: &HttpResponse,
        report: &mut PageReport,
        batch: &mut Batch,
    ) {
        if let Some(map) = self.read_map(result, answer) {
            report.refused = Some("sitemap".to_owned());
            report.page = Some(ReadPage { map: Some(map), ..ReadPage::default() });
            return;
        }
        let seen = rfc3339(result.at);
        let feed = self.settings.feed.clone();
        let row = Row { age: 0, status: "new", retries: 0, seen: &seen, published: "", feed: &feed, url, title: "" };
        let page = match page_of(&row, result, answer, &mut self.decoder, &self.settings.removed) {
            Ok(page) => page,
            Err(status) => return report.status = status,
        };
        let (options, postprocess_options) = &*self.settings.options;
        let (document, mut links) = extract_guarded::clean_page_with_links(&page, options, postprocess_options);
        if links.nofollow || rights::robots_directives(&answer.headers).nofollow {
            links.links.clear();
            links.alternates.clear();
            links.next = None;
        }
        let mut read = ReadPage { language: links.language.take(), links, ..ReadPage::default() };
        report.refused = self.value(document, &page.final_url, &mut read);
        if self.settings.keep == KeepPages::All {
            report.refused = None;
        }
        if report.refused.is_some() {
            if let Some(finds) = &self.settings.finds {
                let directives = rights::robots_directives(&answer.headers);
                finds.lock().expect("no panic while held").note(&page, &read.links, directives);
            }
        } else {
            page.write_line(&mut self.lines).expect("pages serialise");
            if let Some(writer) = &mut self.warc {
                batch.warc.extend(archive(writer, &row, &page, result, answer));
            }
        }
        report.page = Some(read);
    }

    /// Notes what a document is worth; returns the reason if it is not wanted.
    fn value(&self, document: Result<Document, DropReason>, url: &str, read: &mut ReadPage) -> Option<String> {
        let document = match document {
            Ok(document) => document,
            Err(reason) => {
                read.failed = reason == DropReason::Error;
                return Some(reason.name().to_owned());
            }
        };
        let language = document.language_code();
        let is_wanted = self.settings.order.wants(&language);
        if language != tidings_lang::UNKNOWN {
            (read.language, read.foreign) = (Some(language.clone()), !is_wanted);
        }
        if !is_wanted {
            return Some(format!("language {language}"));
        }
        let text = document.text();
        if !self.settings.topic.covers(&text) {
            return Some(OFF_TOPIC.to_owned());
        }
        read.clean_bytes = text.len() as u64;
        read.tokens = tidings_lang::word_count(&text) as u64;
        read.text = Some(TextFingerprint::of(&text, address::host(url).unwrap_or_default()));
        None
    }
}

impl Processor for CrawlProcessor {
    fn process(&mut self, results: Vec<FetchResult>) -> Batch {
        let mut batch = Batch::default();
        self.lines.clear();
        let reports: Vec<PageReport> = results.iter().map(|result| self.report(result, &mut batch)).collect();
        if !self.lines.is_empty() {
            batch.frame = self.packer.encode(&self.lines);
        }
        // The crawl counts a page as fetched when it is durable.
        let sender = self.reports.clone();
        batch.on_commit = Some(Box::new(move || drop(sender.send(reports))));
        batch
    }
}

#[cfg(test)]
mod tests {
    use tidings_model::Paragraph;

    use super::*;

    fn read(order: Order, text: &str, language: &str) -> (ReadPage, Option<String>) {
        let settings = ProcessorSettings {
            feed: "crawl:test".to_owned(),
            order: Arc::new(order),
            topic: Arc::default(),
            keep: KeepPages::Documents,
            options: Arc::default(),
            removed: Arc::default(),
            ceiling: Ceiling { max_bytes: 1 << 20, max_ratio: 100 },
            compression: 3,
            warc: false,
            finds: None,
        };
        let processor = CrawlProcessor::new(settings, Arc::default(), std::sync::mpsc::channel().0);
        let paragraph = Paragraph { text: text.to_owned(), ..Paragraph::default() };
        let mut document = Document { paragraphs: vec![paragraph], ..Document::default() };
        document.about.language = language.to_owned();
        let mut read = ReadPage { language: Some("en".to_owned()), ..ReadPage::default() };
        let refused = processor.value(Ok(document), "http://a.example/x", &mut read);
        (read, refused)
    }

    #[test]
    fn an_article_without_spaces_is_worth_its_words() {
        let tokens = |text: &str| read(Order::default(), text, "").0.tokens;
        assert_eq!(tokens("Die Fähre legt um 7.30 Uhr ab."), 7);
        assert_eq!(tokens(&"市政府今天下午宣布新的渡轮航线。".repeat(60)), 60 * 8);
    }

    #[test]
    fn the_language_of_a_page_is_that_of_its_text_or_the_declared_one() {
        let of = |language| {
            let order = Order { languages: vec!["cs".to_owned()], ..Order::default() };
            let (read, refused) = read(order, "text", language);
            (read.language.unwrap(), read.foreign, refused.is_some())
        };
        assert_eq!(of("cs"), ("cs".to_owned(), false, false));
        assert_eq!(of("de"), ("de".to_owned(), true, true));
        assert_eq!(of(tidings_lang::UNKNOWN), ("en".to_owned(), false, true));
    }
}
