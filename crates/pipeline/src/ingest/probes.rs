//! Processing of probe responses: each is reduced to the findings needed for feed discovery.

use std::io::Read as _;
use std::sync::{Arc, Mutex};

use http::header;
use tidings_feeds::discover::{self, ProbeResult};
use tidings_fetch::decode::{Ceiling, Decoder};
use tidings_fetch::{FetchResult, HttpResponse, rights};
use tidings_model::{FailureKind, Status};

use super::page_sources::PageRules;
use super::{Batch, Processor};

/// The result of a probe.
#[derive(Debug)]
pub struct Probed {
    /// Its job.
    pub job: u32,
    /// The target of a permanent redirect, if different.
    pub moved_to: Option<String>,
    /// The finding.
    pub result: ProbeResult,
}

/// Reduces answers to findings.
pub struct ProbeProcessor {
    decoder: Decoder,
    max_bytes: usize,
    found: Arc<Mutex<Vec<Probed>>>,
}

impl ProbeProcessor {
    /// A processor that puts findings on a common heap.
    pub fn new(ceiling: Ceiling, found: Arc<Mutex<Vec<Probed>>>) -> ProbeProcessor {
        ProbeProcessor { decoder: Decoder::new(ceiling), max_bytes: ceiling.max_bytes, found }
    }

    fn probe_result(&mut self, result: &FetchResult) -> ProbeResult {
        let answer = match &result.result {
            Ok(answer) => answer,
            Err((status, _)) => {
                let word = status.to_string();
                let no_answer =
                    status.is_network_trouble() || *status == Status::Failed(FailureKind::RobotsUnreachable);
                return if no_answer { ProbeResult::Unreachable(word) } else { ProbeResult::Nothing(word) };
            }
        };
        match answer.status.as_u16() {
            200..300 => self.read(result, answer),
            // A temporary failure gives no evidence about a feed.
            code @ (429 | 500..600) => ProbeResult::Unreachable(code.to_string()),
            code => ProbeResult::Nothing(code.to_string()),
        }
    }

    fn read(&mut self, result: &FetchResult, answer: &HttpResponse) -> ProbeResult {
        let text = |name| answer.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let encodings = text(header::CONTENT_ENCODING).unwrap_or_default();
        let mut body = match self.decoder.decode(&encodings, &answer.body) {
            Ok(body) => body,
            Err(status) => return ProbeResult::Nothing(status.to_string()),
        };
        if body.starts_with(&[0x1f, 0x8b]) {
            // A sitemap that is a gzip file, in contrast to one with a Content-Encoding.
            let mut unpacked = Vec::new();
            let limited = flate2::read::MultiGzDecoder::new(&body[..]).take(self.max_bytes as u64);
            let mut limited = limited;
            if limited.read_to_end(&mut unpacked).is_ok() {
                body = unpacked;
            }
        }
        let directives = rights::robots_directives(&answer.headers);
        let content_type = text(header::CONTENT_TYPE);
        let mut reduced = discover::reduce_with(&body, content_type.as_deref(), &result.url, directives);
        if let ProbeResult::Page(page) = &mut reduced {
            let read = PageRules::default().read(&body, content_type.as_deref(), &result.url, directives, result.at);
            page.articles = read.map_or(0, |page| page.feed.entries.len() as u32);
        }
        reduced
    }
}

impl Processor for ProbeProcessor {
    fn process(&mut self, results: Vec<FetchResult>) -> Batch {
        let mut batch = Batch::default();
        for result in results {
            let probe_result = self.probe_result(&result);
            let permanent = result.redirects.iter().all(|redirect| matches!(redirect.status, 301 | 308));
            let moved_to = (!result.redirects.is_empty() && permanent).then(|| result.url.clone());
            let word = match &probe_result {
                ProbeResult::Feed(_) => "feed",
                ProbeResult::Page(_) => "page",
                ProbeResult::Sitemap(_) => "sitemap",
                ProbeResult::Unwanted(word) => word,
                ProbeResult::Nothing(word) | ProbeResult::Unreachable(word) => word.as_str(),
            };
            log::debug!("{}: {word}", result.url);
            batch.counters.add(word, 1);
            self.found.lock().expect("no panic while held").push(Probed {
                job: result.job,
                moved_to,
                result: probe_result,
            });
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{answer, answered, failed, redirected};

    /// The findings and the outcome of a response.
    fn probed(result: FetchResult) -> (Probed, Vec<String>) {
        let found = Arc::new(Mutex::new(Vec::new()));
        let ceiling = Ceiling { max_bytes: 1 << 20, max_ratio: 100 };
        let batch = ProbeProcessor::new(ceiling, found.clone()).process(vec![result]);
        let probed = found.lock().unwrap().remove(0);
        (probed, batch.counters.0.into_keys().collect())
    }

    const URL: &str = "https://gazette.example/feed";
    const RSS: &[u8] = b"<rss version=\"2.0\"><channel><title>G</title><item><link>/1</link></item></channel></rss>";

    #[test]
    fn a_feed_is_found() {
        let (probed, words) = probed(answered(3, URL, answer(200, &[], RSS)));
        assert!(matches!(probed.result, ProbeResult::Feed(_)), "{probed:?}");
        assert_eq!((probed.job, probed.moved_to, words), (3, None, vec!["feed".to_owned()]));
    }

    #[test]
    fn a_move_counts_only_if_every_redirect_is_permanent() {
        let result = || answered(0, URL, answer(200, &[], RSS));
        assert_eq!(probed(redirected(result(), &[301, 308])).0.moved_to.as_deref(), Some(URL));
        assert_eq!(probed(redirected(result(), &[301, 302])).0.moved_to, None);
    }

    #[test]
    fn a_server_error_gives_no_evidence_about_a_feed() {
        for status in [429, 500, 503] {
            assert!(matches!(probed(answered(0, URL, answer(status, &[], b""))).0.result, ProbeResult::Unreachable(_)));
        }
        for status in [403, 404, 410] {
            assert!(matches!(probed(answered(0, URL, answer(status, &[], b""))).0.result, ProbeResult::Nothing(_)));
        }
    }

    #[test]
    fn an_unreachable_host_does_not_count_as_without_feed() {
        for kind in [FailureKind::Dns, FailureKind::Timeout, FailureKind::RobotsUnreachable] {
            assert!(matches!(probed(failed(0, URL, kind)).0.result, ProbeResult::Unreachable(_)), "{kind}");
        }
        for kind in [FailureKind::Robots, FailureKind::TooLarge] {
            assert!(matches!(probed(failed(0, URL, kind)).0.result, ProbeResult::Nothing(_)), "{kind}");
        }
    }

    #[test]
    fn a_gzip_file_is_read_like_its_content() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, RSS).unwrap();
        let (probed, _) = probed(answered(0, URL, answer(200, &[], &packed.finish().unwrap())));
        assert!(matches!(probed.result, ProbeResult::Feed(_)), "{probed:?}");
    }

    #[test]
    fn the_links_of_a_page_with_nofollow_in_its_header_are_not_followed() {
        let html = b"<html><link rel=alternate type='application/rss+xml' href=/a.xml><a href=/b.xml>RSS</a></html>";
        let links = |tag: &str| match probed(answered(0, URL, answer(200, &[("x-robots-tag", tag)], html))).0.result {
            ProbeResult::Page(page) => page.links.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!((links("noindex"), links("nofollow"), links("otherbot: nofollow")), (2, 1, 2));
    }

    #[test]
    fn a_damaged_body_is_no_feed() {
        let (probed, words) = probed(answered(0, URL, answer(200, &[("content-encoding", "gzip")], b"\x00damaged")));
        assert!(matches!(probed.result, ProbeResult::Nothing(_)));
        assert_eq!(words, ["encoding"]);
    }
}
