//! The engine as one of several shards: links that leave, links that arrive, domains that change their shard.

use std::path::{Path, PathBuf};

use anyhow::Result;
use tidings_crawl::exchange;
use tidings_crawl::policy::PageWorth;
use tidings_crawl::queue::WaitingUrl;
use tidings_crawl::steward::{CloseReason, Outcome, Row};
use tidings_crawl::{Done, Link, Record, shape};
use tidings_model::{FailureKind, LinkRegion};
use url::Url;

use super::engine::{Engine, InFlight};
use super::processor::PageReport;

impl Engine {
    /// Offers a link to this shard, or sends it to the one that owns its domain.
    pub(super) fn offer(&mut self, link: Link) {
        match self.setup.shards.as_ref().and_then(|shards| shards.destination(&link.url.domain)) {
            Some(shard) => self.state.send(shard, link),
            None => _ = self.state.offer(link),
        }
    }

    /// Tells the map of shards what the state knows: domains that changed their shard, and domains that were asked.
    pub(super) fn settle_shards(&mut self) {
        let Some(shards) = self.setup.shards.clone() else { return };
        for row in self.steward.rows() {
            if let Row::Domain(row) = row
                && row.evidence.pages > 0
            {
                shards.settle(&row.name);
            }
        }
        self.state.adopted().for_each(|domain| shards.settle(domain));
        for (domain, shard) in self.state.handed_over() {
            shards.hand_over(domain, shard);
            self.steward.close(domain, CloseReason::HandedOver);
        }
    }

    /// Reads the files that other shards wrote for this one; returns whether any was new.
    pub(super) fn fold_inboxes(&mut self) -> Result<bool> {
        let mut is_new = false;
        for inbox in self.setup.inboxes.clone() {
            for path in self.state.unread(&inbox)? {
                match exchange::read_file(&path) {
                    Ok(records) => {
                        records.into_iter().for_each(|record| self.fold(record));
                        self.state.note_received(&path.file_name().unwrap_or_default().to_string_lossy());
                        self.state.commit()?;
                        is_new = true;
                    }
                    // A file that is being copied; it is complete next time.
                    Err(error) => log::warn!("{error}; it is tried again at the next checkpoint"),
                }
            }
        }
        Ok(is_new)
    }

    fn fold(&mut self, record: Record) {
        match record {
            Record::Adopted(domain) => {
                self.state.adopt(&domain);
                if let Some(shards) = &self.setup.shards {
                    shards.settle(&domain);
                }
            }
            Record::Link(Link { url, source, wanted_language }) => {
                let Ok(parsed) = Url::parse(&url.url) else { return };
                if url.depth == 0 && !self.bounds.holds(&parsed) {
                    // A seed of another shard, or one that has moved here.
                    self.bounds.extend(&parsed);
                    self.setup.order.seeds.insert(url.url.clone());
                    self.save_order();
                }
                let filter = self.filter();
                let found = filter.waiting(&url.url, url.region, url.depth, url.source_yield);
                if let Some(found) = found {
                    let url = WaitingUrl { day: url.day.or(found.day), ..found };
                    self.offer(Link { url, source, wanted_language });
                }
            }
            _ => {}
        }
    }

    pub(super) fn save_order(&self) {
        if let Err(error) = self.setup.order.write(&self.setup.folder) {
            log::warn!("{error:#}");
        }
    }

    /// Finishes a URL that leads to another shard, by a redirect or by the address of its host.
    pub(super) fn take_moved(&mut self, flight: InFlight, report: PageReport, ready_at: u64) -> Result<()> {
        let InFlight { url: asked, request } = flight;
        let outcome = match report.requested {
            true => Outcome::Nothing { bytes: report.bytes },
            false => Outcome::NotCounted,
        };
        let judged = self.steward.done(&request, outcome, ready_at);
        self.crawled.moved += 1;
        if let Ok(target) = Url::parse(&report.final_url) {
            let domain = shape::domain(&target).to_owned();
            let shard = self.setup.shards.as_ref().and_then(|shards| shards.destination(&domain));
            self.hand_over(&domain)?;
            let filter = self.filter();
            let found = match asked.depth {
                0 => Some(seed(&report.final_url, &target)),
                _ => filter.waiting(&report.final_url, asked.region, asked.depth, asked.source_yield),
            };
            if let (Some(shard), Some(url)) = (shard, found) {
                let source = if asked.depth == 0 { "" } else { asked.domain.as_str() };
                self.state.send(shard, Link::new(url, source));
            }
        }
        self.state.done(Done { worth: judged.worth, requested: report.requested, ..moved(asked.url) });
        Ok(())
    }

    /// Gives a domain, whose address belongs to another shard, to that shard with all its waiting URLs.
    fn hand_over(&mut self, domain: &str) -> Result<()> {
        let Some(shards) = self.setup.shards.clone() else { return Ok(()) };
        let is_known = self.state.handed_over().any(|(known, _)| known == domain);
        let Some(shard) = shards.destination(domain).filter(|_| !is_known && shards.is_handed_over(domain)) else {
            return Ok(());
        };
        // Links that wait for a sift would be refused after it.
        self.sift()?;
        self.state.hand_over(domain, shard);
        let (mut source, mut wanted_language) = (String::new(), false);
        for row in self.steward.why(domain) {
            let section = match row {
                Row::Section(row) => row.section,
                Row::Domain(row) => {
                    (source, wanted_language) = (row.source, row.hints.link_language);
                    continue;
                }
                Row::Crawl(_) => continue,
            };
            while let Some(url) = self.state.take(domain, &section)? {
                let done = moved(url.url.clone());
                self.state.send(shard, Link { url, source: source.as_str().into(), wanted_language });
                self.state.done(done);
            }
        }
        self.steward.close(domain, CloseReason::HandedOver);
        Ok(())
    }
}

/// The end of a URL that another shard has now.
fn moved(url: String) -> Done {
    let status = FailureKind::MovedShard.word().to_owned();
    Done { url, status, worth: PageWorth::default(), requested: false, refused: None, text: None }
}

/// A seed that has moved.
fn seed(url: &str, parsed: &Url) -> WaitingUrl {
    WaitingUrl {
        url: url.to_owned(),
        domain: shape::domain(parsed).to_owned(),
        section: shape::section(parsed),
        region: LinkRegion::Text,
        source_yield: 1.0,
        day: None,
        depth: 0,
    }
}

/// The folders that are searched for links of other shards: that of the crawl, then the given ones.
pub(super) fn inboxes(folder: &Path, given: &[PathBuf]) -> Vec<PathBuf> {
    std::iter::once(folder.join("inbox")).chain(given.iter().cloned()).collect()
}
