//! Saved state: one row for the crawl, one a domain, one a section.

use serde::{Deserialize, Serialize};

use super::{
    Settings, Steward,
    domain::{NO_DOMAIN, Place},
    forms::FORM_PAGES,
    name_key,
    types::{CloseReason, Discovered},
};
use crate::fingerprint::{self, SHARDS};
use crate::policy::{DomainHints, Evidence};

/// A row of saved state, in any serde format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Row {
    /// The crawl as a whole.
    Crawl(CrawlRow),
    /// A registered domain.
    Domain(DomainRow),
    /// A section of a domain; it follows the row of its domain.
    Section(SectionRow),
}

/// Totals of a crawl and what its rule learned.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CrawlRow {
    /// Requests, also those without a page.
    pub pages: u64,
    /// Bytes on the wire.
    pub bytes: u64,
    /// New tokens.
    pub tokens: f64,
    /// Numbers that the rule learned, by its own order.
    pub learned: Vec<f64>,
}

/// A registered domain.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DomainRow {
    /// Its name.
    pub name: String,
    /// Why it is closed, if it is.
    pub closed: Option<CloseReason>,
    /// Facts before its first page.
    pub hints: DomainHints,
    /// The domain that linked to it first; empty for seeds.
    pub source: String,
    /// Whether a second domain links to it.
    pub confirmed: bool,
    /// Evidence of all its pages.
    pub evidence: Evidence,
    /// Links from other domains, and the mean rate of those domains.
    pub links: (u32, f32),
}

/// A section of the domain whose row is before it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SectionRow {
    /// Its domain.
    pub domain: String,
    /// Host and shape of the path.
    pub section: String,
    /// Whether it is an arm of its own.
    pub arm: bool,
    /// URLs that wait.
    pub waiting: u64,
    /// Why it is closed, if it is.
    pub closed: Option<CloseReason>,
    /// Evidence of its pages.
    pub evidence: Evidence,
}

impl Steward {
    /// The state as rows, to be saved at a checkpoint. A URL in flight is not counted as waiting.
    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let domains = (0..self.domains.len() as u32).flat_map(|id| self.domain_rows(id));
        std::iter::once(self.crawl_row()).chain(domains)
    }

    /// The row of the crawl as a whole.
    pub fn crawl_row(&self) -> Row {
        Row::Crawl(CrawlRow {
            pages: self.totals.pages,
            bytes: self.totals.bytes,
            tokens: self.totals.tokens,
            learned: self.policy.learned(),
        })
    }

    /// The numbers of the domains of each shard, in the order of shards.
    pub fn domains_by_shard(&self) -> Vec<Vec<u32>> {
        let mut shards = vec![Vec::new(); SHARDS];
        for (id, domain) in self.domains.iter().enumerate() {
            shards[fingerprint::shard(&domain.name) as usize].push(id as u32);
        }
        shards
    }

    /// The number of domains that were met.
    pub fn domain_count(&self) -> usize {
        self.domains.len()
    }

    /// The rows of one domain, for `why`; empty for a domain that was never met.
    pub fn why(&self, domain: &str) -> Vec<Row> {
        self.number_of(domain).map(|id| self.domain_rows(id)).unwrap_or_default()
    }

    /// The rows of a domain by its number: the domain first, then its sections.
    pub fn domain_rows(&self, id: u32) -> Vec<Row> {
        let domain = &self.domains[id as usize];
        let source = if domain.source == NO_DOMAIN { "" } else { self.domain_name(domain.source) };
        let mut rows = vec![Row::Domain(DomainRow {
            name: domain.name.to_string(),
            closed: domain.closed.as_deref().cloned(),
            hints: domain.hints,
            source: source.to_owned(),
            confirmed: domain.confirmed,
            evidence: domain.evidence(),
            links: domain.links,
        })];
        rows.extend(domain.sections.iter().map(|section| {
            let rest = domain.rest_closed && !section.is_arm;
            Row::Section(SectionRow {
                domain: domain.name.to_string(),
                section: self.patterns.name(section.pattern, &domain.name),
                arm: section.is_arm,
                waiting: u64::from(section.waiting),
                closed: section.closed.as_deref().cloned().or(rest.then_some(CloseReason::Floor)),
                evidence: section.evidence(),
            })
        }));
        rows
    }

    /// A steward from the rows of a checkpoint. All domains may be asked from `ready_at` on.
    pub fn restore(settings: Settings, rows: impl IntoIterator<Item = Row>, ready_at: u64) -> Steward {
        let mut restoring = Restoring::new(settings, ready_at);
        rows.into_iter().for_each(|row| restoring.add(row));
        restoring.finish()
    }

    /// Takes the numbers of waiting URLs of all sections from the queue, which knows better than the rows.
    pub fn count_waiting(&mut self, waiting: impl Fn(&str, &str) -> u64) {
        for id in 0..self.domains.len() as u32 {
            let domain = &mut self.domains[id as usize];
            for section in &mut domain.sections {
                let name = self.patterns.name(section.pattern, &domain.name);
                section.waiting = waiting(&domain.name, &name).try_into().unwrap_or(u32::MAX);
            }
            if domain.place == Place::Idle {
                self.enqueue(id);
            }
        }
    }

    /// Returns the number of the domain.
    fn restore_domain(&mut self, row: DomainRow, ready_at: u64, sources: &mut Vec<(u32, u64)>) -> u32 {
        let found = Discovered { domain: &row.name, section: "", source: None, hints: row.hints };
        let id = self.domain_id(&found);
        let domain = &mut self.domains[id as usize];
        domain.confirmed = row.confirmed;
        domain.links = row.links;
        domain.ready_at = ready_at;
        self.sources += u64::from(row.evidence.text_pages > 0);
        if row.evidence.pages > 0 {
            let history = domain.history_mut();
            history.evidence = row.evidence;
            history.rest = row.evidence;
        }
        if let Some(why) = row.closed {
            domain.closed = Some(Box::new(why));
            domain.place = Place::Closed;
        }
        if !row.source.is_empty() {
            sources.push((id, name_key(&row.source)));
        }
        id
    }

    fn restore_section(&mut self, id: u32, row: &SectionRow) {
        let known = self.domains[id as usize].section_named(&row.section, &self.patterns);
        let section = known.unwrap_or_else(|| self.add_section(id, &row.section));
        let domain = &mut self.domains[id as usize];
        let of_section = &mut domain.sections[section as usize];
        of_section.waiting = row.waiting.try_into().unwrap_or(u32::MAX);
        of_section.is_arm = row.arm;
        if row.evidence.pages > 0 {
            of_section.history.get_or_insert_default().evidence = row.evidence;
            let pages = row.evidence.pages as f64;
            let few = (FORM_PAGES as f64 / pages).min(1.0);
            self.forms.add(&row.section, few * pages, few * row.evidence.text_pages as f64);
        }
        if let Some(why) = &row.closed {
            if row.arm {
                of_section.closed = Some(Box::new(why.clone()));
            } else {
                domain.rest_closed = true;
            }
        }
        if row.arm {
            domain.history_mut().rest.part(&row.evidence);
        }
    }
}

/// A steward that is being restored row by row: a checkpoint has more rows than memory holds.
#[derive(Debug)]
pub struct Restoring {
    steward: Steward,
    ready_at: u64,
    sources: Vec<(u32, u64)>,
    /// The domain of the last row.
    domain: Option<u32>,
}

impl Restoring {
    /// Begins without domains, which may be asked from `ready_at` on.
    pub fn new(settings: Settings, ready_at: u64) -> Restoring {
        Restoring { steward: Steward::new(settings), ready_at, sources: Vec::new(), domain: None }
    }

    /// Adds a row; that of a domain comes before those of its sections.
    pub fn add(&mut self, row: Row) {
        match row {
            Row::Crawl(row) => {
                self.steward.totals.pages = row.pages;
                self.steward.totals.bytes = row.bytes;
                self.steward.totals.tokens = row.tokens;
                self.steward.policy.restore(&row.learned);
            }
            Row::Domain(row) => {
                self.domain = Some(self.steward.restore_domain(row, self.ready_at, &mut self.sources));
            }
            Row::Section(row) => {
                let is_last = |id: &u32| *self.steward.domain_name(*id) == *row.domain;
                if let Some(id) = self.domain.filter(is_last).or_else(|| self.steward.number_of(&row.domain)) {
                    self.steward.restore_section(id, &row);
                }
            }
        }
    }

    /// Ends with the last row.
    pub fn finish(self) -> Steward {
        let mut steward = self.steward;
        for (id, source) in self.sources {
            let domains = &steward.domains;
            let found = steward.names.find(source, |id| name_key(&domains[id as usize].name) == source);
            steward.domains[id as usize].source = found.unwrap_or(NO_DOMAIN);
        }
        for id in 0..steward.domains.len() as u32 {
            if steward.domains[id as usize].history.is_some() {
                steward.domains[id as usize].update_best_rate();
            }
            if steward.domains[id as usize].place == Place::Idle {
                steward.enqueue(id);
            }
        }
        steward
    }
}
