//! Pages: unpacked, put into one line of JSON each, packed into a frame.

use std::sync::Arc;

use http::header;
use tidings_fetch::decode::{Ceiling, Decoder};
use tidings_fetch::{FetchResult, HttpResponse, head_text, rights};
use tidings_formats::warc;
use tidings_model::{FailureKind, Page, Rights, Row, Status};
use tidings_store::journal::Record;
use tidings_store::removed::Removed;
use tidings_store::{FrameEncoder, Work, rfc3339};

use super::{Batch, Processor};

/// Makes frames of pages.
pub struct PageProcessor {
    work: Arc<Work>,
    /// What must not come back, whatever redirects lead to it.
    removed: Arc<Removed>,
    decoder: Decoder,
    packer: FrameEncoder,
    warc: Option<warc::Writer>,
    /// The lines of the batch in hand; kept between batches because it is large.
    lines: Vec<u8>,
}

impl PageProcessor {
    /// A processor that finds the plan's rows in `work`.
    pub fn new(
        work: Arc<Work>,
        removed: Arc<Removed>,
        ceiling: Ceiling,
        compression: i32,
        warc: bool,
    ) -> PageProcessor {
        PageProcessor {
            work,
            removed,
            decoder: Decoder::new(ceiling),
            packer: FrameEncoder::new(compression),
            warc: warc.then(warc::Writer::default),
            lines: Vec::new(),
        }
    }

    /// The page in an answer, or what is wrong with it.
    fn page(&mut self, row: &Row<'_>, result: &FetchResult, answer: &HttpResponse) -> Result<Page, Status> {
        if !answer.status.is_success() {
            return Err(Status::Http(answer.status.as_u16()));
        }
        if self.removed.covers(&result.url).is_some() {
            return Err(Status::Failed(FailureKind::Removed));
        }
        let text = |name| answer.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let encodings = text(header::CONTENT_ENCODING).unwrap_or_default();
        let body = self.decoder.decode(&encodings, &answer.body)?;
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(FailureKind::Empty.into());
        }
        let (tdmrep, tdmrep_policy) = result.tdm.clone();
        Ok(Page {
            url: row.url.to_owned(),
            final_url: result.url.clone(),
            feed: row.feed.to_owned(),
            title: row.title.to_owned(),
            published: row.published.to_owned(),
            seen: row.seen.to_owned(),
            downloaded: rfc3339(result.at),
            status: answer.status.as_u16(),
            content_type: text(header::CONTENT_TYPE).unwrap_or_default(),
            headers: rights::useful(&answer.headers),
            rights: Rights {
                robots: result.robots.clone(),
                tdmrep,
                tdmrep_policy,
                headers: rights::of_headers(&answer.headers),
                ..Rights::default()
            },
            body,
        })
    }
}

impl Processor for PageProcessor {
    fn process(&mut self, results: Vec<FetchResult>) -> Batch {
        let work = self.work.clone();
        let mut batch = Batch::default();
        self.lines.clear();
        for result in results {
            let Ok(line) = work.line(result.job) else { continue };
            let Ok(row) = Row::parse(&line) else { continue };
            let status = match &result.result {
                Err((status, detail)) => {
                    log::debug!("{}: {status} ({detail})", row.url);
                    status.clone()
                }
                Ok(answer) => match self.page(&row, &result, answer) {
                    Err(status) => status,
                    Ok(page) => {
                        page.write_line(&mut self.lines).expect("pages serialise");
                        if let Some(writer) = &mut self.warc {
                            batch.warc.extend(archive(writer, &row, &result, answer));
                        }
                        Status::Ok
                    }
                },
            };
            let word = status.to_string();
            let provisional = result.result.is_err() && status.is_network_trouble();
            let step = if provisional { &mut batch.provisional } else { &mut batch.step };
            step.push(&Record::Fate { url: row.url.into(), status: word.as_str().into(), retries: row.retries + 1 });
            batch.counters.add(word, 1);
        }
        if !self.lines.is_empty() {
            batch.frame = self.packer.encode(&self.lines);
        }
        batch
    }
}

fn archive(writer: &mut warc::Writer, row: &Row<'_>, result: &FetchResult, answer: &HttpResponse) -> Vec<u8> {
    let target = result.url.split_once("://").map_or("/", |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    let reason = answer.status.canonical_reason().unwrap_or_default();
    let mut metadata = format!(
        "feed: {}\r\nseen: {}\r\npublished: {}\r\ntitle: {}\r\nplanUrl: {}\r\n",
        row.feed, row.seen, row.published, row.title, row.url
    );
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
