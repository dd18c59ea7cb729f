//! The scheduler of a crawl: which domain and section give the next URL.
//!
//! The steward knows domains, their sections, the evidence of their pages and how many URLs wait in each section. URLs
//! themselves wait in a [`crate::queue::UrlQueue`]. It has no clock and no network: times are milliseconds that the
//! caller passes in. A crawl is a loop:
//!
//! 1. [`Steward::discovered`] for every URL that the sieve finds new: keep it under its section, or drop it.
//!    [`Steward::linked`] for the domains that a page links to, known or not.
//! 2. [`Steward::next`] names a domain and a section; the caller takes the best URL of the section from its queue and
//!    fetches it, unless it [has a twin](Steward::has_twin). A domain has one request in flight.
//! 3. [`Steward::fetched`] with the text of a page, and [`Steward::done`] with the outcome, and when the domain may be asked again.
//!
//! A decision costs O(log n) in the number of domains: candidates are in a heap by their last draw. The draw of a domain
//! is renewed when it gets a page; a few others, chosen at random, are renewed at each decision, so that an unlucky draw
//! does not last.

mod domain;
mod forms;
mod heap;
mod judge;
mod names;
mod patterns;
mod replay;
mod resting;
mod rows;
#[cfg(test)]
mod tests;
mod texts;
mod twins;
mod types;

use std::collections::{BTreeMap, VecDeque};

use domain::{Arm, Domain, MAX_SECTIONS, NO_DOMAIN, Place, Section};
use forms::Forms;
use heap::IndexedHeap;
use names::NameTable;
use patterns::Patterns;
use resting::{Due, Resting};
pub use rows::{CrawlRow, DomainRow, Restoring, Row, SectionRow};
pub use texts::SavedTexts;
use texts::Texts;
use twins::Twins;
pub use types::{
    Admission, Admitted, CloseReason, Closed, Discovered, End, Gate, Judged, Next, Outcome, Refusal, Request,
    SectionId, Settings,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::burstiness::Burstiness;
use crate::policy::{ArmView, DomainView, Evidence, Policy};
use crate::shape;

/// Pages of a domain from which on it yields to domains that were not probed.
const OLD_PAGES: u64 = 99;
/// One request of so many goes to a domain that was not probed, if the others go to domains with many pages.
const PROBE_TURNS: u64 = 8;
/// Pages of the probe of a domain.
const PROBE_PAGES: u64 = 8;
/// Milliseconds of a day.
const DAY: u64 = 24 * 3600 * 1000;
/// Tokens that are added to those of the crawl when shares are computed: of few tokens any site has a large share.
const MIN_TOKENS: f64 = 1_000_000.0;

/// The scheduler of a crawl.
#[derive(Debug)]
pub struct Steward {
    settings: Settings,
    policy: Box<dyn Policy>,
    rng: fastrand::Rng,
    domains: Vec<Domain>,
    names: NameTable,
    patterns: Patterns,
    candidates: IndexedHeap,
    /// Candidates with fewer than eight pages.
    probes: IndexedHeap,
    resting: Resting,
    queue: VecDeque<u32>,
    in_window: usize,
    in_flight: usize,
    turns: u64,
    totals: Evidence,
    /// Domains with text.
    sources: u64,
    texts: Texts,
    twins: Twins,
    /// Texts of domains that are tested for generated text.
    words: BTreeMap<u32, Burstiness>,
    forms: Forms,
    arms: Vec<Arm>,
    views: Vec<ArmView>,
}

impl Steward {
    /// A steward that knows no domain yet.
    pub fn new(settings: Settings) -> Steward {
        let policy = settings.rule.policy(settings.floor, settings.largest_share, settings.seed);
        Steward {
            rng: fastrand::Rng::with_seed(settings.seed ^ 0x5eed),
            policy,
            settings,
            domains: Vec::new(),
            names: NameTable::default(),
            patterns: Patterns::default(),
            candidates: IndexedHeap::default(),
            probes: IndexedHeap::default(),
            resting: Resting::default(),
            queue: VecDeque::new(),
            in_window: 0,
            in_flight: 0,
            turns: 0,
            totals: Evidence::default(),
            sources: 0,
            texts: Texts::default(),
            twins: Twins::default(),
            words: BTreeMap::new(),
            forms: Forms::default(),
            arms: Vec::new(),
            views: Vec::new(),
        }
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Requests, bytes and tokens so far.
    pub fn totals(&self) -> &Evidence {
        &self.totals
    }

    /// A URL that was not known before, best told before the next request to the domain of the page with the link: new
    /// URLs of the same domain are credited to the section of its last page. The caller stores an admitted URL under the
    /// name that [`Steward::section_name`] gives for the answer, which is another one where a domain has too many
    /// sections.
    pub fn discovered(&mut self, url: &Discovered<'_>) -> Admission {
        let id = self.domain_id(url);
        self.count_link(id, url.source);
        self.domains[id as usize].hints.link_language |= url.hints.link_language;
        if self.domains[id as usize].closed.is_some() {
            return Admission::Refuse(Refusal::DomainClosed);
        }
        let section = match self.section_id(id, url.section) {
            Ok(section) => section,
            Err(refusal) => return Admission::Refuse(refusal),
        };
        let domain = &mut self.domains[id as usize];
        let rest_closed = domain.rest_closed;
        let found = &mut domain.sections[section as usize];
        match found.closed.as_deref() {
            Some(CloseReason::Alias(_)) => return Admission::Refuse(Refusal::Alias),
            Some(_) => return Admission::Refuse(Refusal::SectionClosed),
            None if rest_closed && !found.is_arm => return Admission::Refuse(Refusal::SectionClosed),
            None => found.waiting = found.waiting.saturating_add(1),
        }
        if url.source == Some(url.domain) {
            domain.credit(section);
        }
        if domain.place == Place::Idle {
            self.enqueue(id);
        }
        Admission::Admit(Admitted { domain: id, section })
    }

    /// A registered domain that a page of `source` links to, also by a URL that is known already: domains that only one
    /// other domain links to are trusted less. A domain that was never met is ignored.
    pub fn linked(&mut self, source: &str, target: &str) {
        if let Some(id) = self.number_of(target) {
            self.count_link(id, Some(source));
        }
    }

    /// The next request at a time. `gate` says whether a host may be asked now (its own pause and that of its address).
    pub fn next(&mut self, now: u64, gate: &mut dyn FnMut(&str) -> Gate) -> Next {
        if let Some(end) = self.budget_end(now) {
            return Next::Finished(end);
        }
        self.wake(now);
        self.fill_window();
        self.redraw();
        while let Some((priority, id)) = self.best() {
            let domain = &self.domains[id as usize];
            let section = domain.drawn;
            if !domain.may_give(&domain.sections[section as usize], u16::MAX) {
                self.draw(id);
                continue;
            }
            if domain.ready_at > now {
                self.rest(id, domain.ready_at);
                continue;
            }
            let pattern = domain.sections[section as usize].pattern;
            match gate(&self.patterns.host(pattern, &domain.name)) {
                Gate::Open => return Next::Request(self.take(id, section, now)),
                Gate::Until(at) => self.rest(id, at.max(now + 1)),
                Gate::Group { group, until } => {
                    self.remove_candidate(id);
                    self.domains[id as usize].place = Place::Resting;
                    self.resting.in_group(id, priority, group, now, until.max(now + 1));
                }
            }
        }
        match self.resting.next_wake() {
            Some(at) => Next::Wait(at),
            None if self.in_flight > 0 => Next::Idle,
            None => Next::Finished(End::Dry),
        }
    }

    /// The group of an address that was busy may be asked from a time on.
    pub fn group_is_free(&mut self, group: u64, at: u64) {
        self.resting.wake_group_at(group, at);
    }

    /// The reason why the crawl is over at a time, if it is: a budget or nothing left that is worth a request.
    pub fn finished(&self, now: u64) -> Option<End> {
        let is_dry =
            self.in_flight == 0 && self.resting.is_empty() && self.candidates.is_empty() && self.queue.is_empty();
        self.budget_end(now).or(is_dry.then_some(End::Dry))
    }

    /// The name of a domain.
    pub fn domain_name(&self, domain: u32) -> &str {
        &self.domains[domain as usize].name
    }

    /// The name of a section.
    pub fn section_name(&self, domain: u32, section: SectionId) -> String {
        let domain = &self.domains[domain as usize];
        self.patterns.name(domain.sections[section as usize].pattern, &domain.name)
    }

    /// The number of URLs that wait in a section, where the queue knows better than the rows of a checkpoint.
    pub fn set_waiting(&mut self, domain: &str, section: &str, waiting: u64) {
        let Some(id) = self.number_of(domain) else { return };
        if let Ok(section) = self.section_id(id, section) {
            self.domains[id as usize].sections[section as usize].waiting = waiting.try_into().unwrap_or(u32::MAX);
        }
        if self.domains[id as usize].place == Place::Idle {
            self.enqueue(id);
        }
    }

    /// Hashes of the texts so far, if there are new ones since the last call.
    pub fn saved_texts(&mut self) -> Option<SavedTexts> {
        self.texts.saved()
    }

    /// Remembers the texts of a checkpoint.
    pub fn restore_texts(&mut self, saved: SavedTexts) {
        self.texts.restore(saved);
    }

    /// Closes a domain, for example because the user removes it.
    pub fn close(&mut self, domain: &str, why: CloseReason) {
        if let Some(id) = self.number_of(domain) {
            self.close_domain(id, why);
        }
    }

    /// The number of a domain that was met.
    fn number_of(&self, name: &str) -> Option<u32> {
        self.names.find(name_key(name), |id| *self.domains[id as usize].name == *name)
    }

    fn budget_end(&self, now: u64) -> Option<End> {
        let pages = self.totals.pages + self.in_flight as u64;
        if self.settings.until.is_some_and(|until| now >= until) {
            Some(End::Time)
        } else if self.settings.max_pages.is_some_and(|most| pages >= most) {
            Some(End::Pages)
        } else if self.settings.max_bytes.is_some_and(|most| self.totals.bytes >= most) {
            Some(End::Bytes)
        } else if self.settings.max_tokens.is_some_and(|most| self.totals.tokens >= most as f64) {
            Some(End::Tokens)
        } else {
            None
        }
    }

    fn domain_id(&mut self, url: &Discovered<'_>) -> u32 {
        if let Some(id) = self.number_of(url.domain) {
            return id;
        }
        let id = self.domains.len() as u32;
        let source = url.source.and_then(|source| self.number_of(source)).unwrap_or(NO_DOMAIN);
        self.turns += 1;
        self.domains.push(Domain {
            name: url.domain.into(),
            hints: url.hints,
            source,
            turn: self.turns,
            ..Domain::default()
        });
        let domains = &self.domains;
        self.names.insert(name_key(url.domain), id, |id| name_key(&domains[id as usize].name));
        id
    }

    /// Counts a link from another domain.
    fn count_link(&mut self, id: u32, source: Option<&str>) {
        let Some(source) = source.and_then(|source| self.number_of(source)) else { return };
        if source == id {
            return;
        }
        let rate = self.domains[source as usize].evidence().rate() as f32;
        let domain = &mut self.domains[id as usize];
        domain.confirmed |= domain.source != source;
        let (links, mean) = &mut domain.links;
        *links = links.saturating_add(1);
        *mean += (rate - *mean) / (*links).min(20) as f32;
    }

    fn section_id(&mut self, id: u32, name: &str) -> Result<SectionId, Refusal> {
        let domain = &self.domains[id as usize];
        if let Some(section) = domain.section_named(name, &self.patterns) {
            return Ok(section);
        }
        if self.policy.has_sections() && self.has_plain(id, name) {
            return Err(Refusal::Alias);
        }
        let is_new_host = domain.host_number(name, &self.patterns).is_none();
        if is_new_host && domain.hosts >= 4 * domain.allowed_hosts() && self.policy.has_sections() {
            return Err(Refusal::ManyHosts);
        }
        let catch_all;
        let mut name = name;
        if domain.sections.len() >= MAX_SECTIONS {
            catch_all = format!("{}/**", domain::host_of(name));
            name = &catch_all;
            if let Some(section) = domain.section_named(name, &self.patterns) {
                return Ok(section);
            }
            if domain.sections.len() >= 2 * MAX_SECTIONS {
                return Err(Refusal::Full);
            }
        }
        Ok(self.add_section(id, name))
    }

    /// Adds a section that is not known.
    fn add_section(&mut self, id: u32, name: &str) -> SectionId {
        let domain = &mut self.domains[id as usize];
        let section = domain.sections.len() as SectionId;
        let host = domain.host_number(name, &self.patterns).unwrap_or_else(|| {
            domain.hosts += 1;
            domain.hosts - 1
        });
        // Most domains have few sections: room for more of them would be most of the memory.
        if domain.sections.len() == domain.sections.capacity() {
            domain.sections.reserve_exact(1 + domain.sections.len() / 4);
        }
        domain.sections.push(Section {
            pattern: self.patterns.number(name, &domain.name),
            waiting: 0,
            host,
            is_arm: false,
            closed: None,
            history: None,
        });
        section
    }

    /// Whether a section is the print, AMP or mobile version of a section that is known.
    fn has_plain(&self, id: u32, section: &str) -> bool {
        let Some(plain) = shape::plain_section(section) else { return false };
        let knows = |name: &str| self.domains[id as usize].section_named(name, &self.patterns).is_some();
        knows(&plain) || knows(&format!("www.{plain}"))
    }

    /// Makes an idle domain with work a candidate, at once or when the window has room.
    fn enqueue(&mut self, id: u32) {
        let domain = &mut self.domains[id as usize];
        if !domain.has_work() {
            if domain.in_window {
                domain.in_window = false;
                self.in_window -= 1;
            }
            return;
        }
        if self.policy.window().is_some() && !domain.in_window {
            domain.place = Place::Queued;
            self.queue.push_back(id);
            return;
        }
        domain.place = Place::Candidate;
        self.draw(id);
    }

    fn fill_window(&mut self) {
        let Some(window) = self.policy.window() else { return };
        while self.in_window < window {
            let Some(id) = self.queue.pop_front() else { return };
            let domain = &mut self.domains[id as usize];
            if domain.place != Place::Queued {
                continue;
            }
            domain.in_window = true;
            self.in_window += 1;
            domain.place = Place::Candidate;
            self.draw(id);
        }
    }

    /// Makes domains candidates whose pauses are over.
    fn wake(&mut self, now: u64) {
        while let Some(due) = self.resting.due(now) {
            let woken = match due {
                Due::Domain(id) => Some(id).filter(|id| self.domains[*id as usize].place == Place::Resting),
                Due::Group(group) => self.best_of_group(group, now),
            };
            if let Some(id) = woken {
                self.domains[id as usize].place = Place::Idle;
                self.enqueue(id);
            }
        }
    }

    /// The best of the domains that share an address, after some of them, chosen at random, were drawn anew.
    fn best_of_group(&mut self, group: u64, now: u64) -> Option<u32> {
        let members = self.resting.members(group);
        for _ in 0..self.policy.redraws().min(members) {
            let at = self.rng.usize(..members);
            let id = self.resting.member(group, at)?.0;
            if let (priority, Some(_)) = self.drawn(id)
                && let Some(member) = self.resting.member(group, at)
            {
                member.1 = priority;
            }
        }
        self.resting.wake_best(group, now, |id| self.domains[id as usize].place == Place::Resting)
    }

    /// A priority and a section of a domain, drawn anew; no section if none may be asked.
    fn drawn(&mut self, id: u32) -> (f64, Option<SectionId>) {
        let domain = &self.domains[id as usize];
        let evidence = domain.evidence();
        let (mut arms, mut of_arms) = (std::mem::take(&mut self.arms), std::mem::take(&mut self.views));
        let (priority, section) = if self.policy.has_sections() {
            let names = (&self.patterns, &self.forms);
            domain.arms(names, &mut arms, &mut of_arms);
            let view = view(domain, &evidence, &self.totals, self.sources);
            let choice = self.policy.choose(&view, &of_arms);
            (choice.priority, arms.get(choice.arm).and_then(|arm| domain.section_of(*arm, names, &mut self.rng)))
        } else {
            let view = view(domain, &evidence, &self.totals, self.sources);
            (self.policy.choose(&view, &[ArmView::plain(evidence)]).priority, domain.any_section(&mut self.rng))
        };
        (self.arms, self.views) = (arms, of_arms);
        (priority, section)
    }

    /// The priority and the section of a candidate anew.
    fn draw(&mut self, id: u32) {
        match self.drawn(id) {
            (priority, Some(section)) => {
                self.domains[id as usize].drawn = section;
                self.candidates.set(id, priority);
                if self.policy.has_sections() && self.domains[id as usize].evidence().pages < PROBE_PAGES {
                    self.probes.set(id, priority);
                }
            }
            (_, None) => {
                self.remove_candidate(id);
                self.domains[id as usize].place = Place::Idle;
            }
        }
    }

    /// Draws a few candidates anew, chosen at random.
    fn redraw(&mut self) {
        for _ in 0..self.policy.redraws().min(self.candidates.len()) {
            let id = self.candidates.at(self.rng.usize(..self.candidates.len()));
            self.draw(id);
            if self.candidates.is_empty() {
                return;
            }
        }
    }

    /// The best candidate; in some turns one that was not probed yet goes before one with a hundred pages.
    fn best(&self) -> Option<(f64, u32)> {
        let (priority, id) = self.candidates.peek()?;
        if self.domains[id as usize].evidence().pages >= OLD_PAGES
            && self.turns.is_multiple_of(PROBE_TURNS)
            && let Some(probe) = self.probes.peek()
        {
            return Some(probe);
        }
        Some((priority, id))
    }

    fn remove_candidate(&mut self, id: u32) {
        self.candidates.remove(id);
        self.probes.remove(id);
    }

    fn rest(&mut self, id: u32, at: u64) {
        self.remove_candidate(id);
        self.domains[id as usize].place = Place::Resting;
        self.resting.until(id, at);
    }

    fn take(&mut self, id: u32, section: SectionId, now: u64) -> Request {
        self.remove_candidate(id);
        self.turns += 1;
        self.in_flight += 1;
        let most = self.settings.max_pages_per_site_day;
        let domain = &mut self.domains[id as usize];
        domain.place = Place::InFlight;
        domain.turn = self.turns;
        domain.sections[section as usize].waiting -= 1;
        let day = &mut domain.history_mut().day;
        if now >= day.0 + DAY || day.1 == 0 {
            *day = (now, 0);
        }
        day.1 += 1;
        if day.1 >= most {
            domain.ready_at = day.0 + DAY;
        }
        Request { domain: id, section }
    }
}

/// A domain as a rule sees it.
fn view<'a>(domain: &'a Domain, evidence: &'a Evidence, totals: &Evidence, sources: u64) -> DomainView<'a> {
    DomainView {
        hints: &domain.hints,
        source_rate: f64::from(domain.links.1),
        trusted: domain.is_trusted(),
        evidence,
        best_rate: domain.best_rate(),
        dryness: domain.dryness(),
        share: evidence.tokens / (totals.tokens + MIN_TOKENS),
        sources,
        turn: domain.turn,
    }
}

fn name_key(name: &str) -> u64 {
    xxh3_64_with_seed(name.as_bytes(), 0)
}
