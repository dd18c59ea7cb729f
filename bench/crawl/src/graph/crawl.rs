//! A crawl of a graph on a virtual clock. A tick is the pause of a domain: one request a domain and address.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use tidings_crawl::{
    policy::{DomainHints, PageWorth, Rule},
    steward::{Admission, CloseReason, Discovered, Gate, Next, Outcome, Request, SectionId, Settings, Steward},
};
use tidings_model::LinkRegion;
use tidings_simweb::graph::{Score, Scorer};

use super::oracle::GraphOracle;
use super::pages::{PageLinkRow, PageRow, Pages, UrlId};
use super::spending::{GateCounts, Spending};
use crate::score::MARKS;

/// Bytes of robots.txt.
const ROBOTS_BYTES: u64 = 600;

/// The size of a crawl.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Requests, with those for robots.txt.
    pub budget: u64,
    /// Requests a tick.
    pub slots: usize,
    /// The number of seeds.
    pub seeds: usize,
}

/// The state of a crawl at a share of its budget.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Mark {
    /// Requests.
    pub requests: u64,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Unique clean tokens of the language, by the truth.
    pub tokens: u64,
    /// What the requests brought.
    #[serde(default)]
    pub spending: Spending,
}

impl Mark {
    /// Tokens a megabyte.
    pub fn tokens_per_mb(&self) -> f64 {
        self.tokens as f64 * 1e6 / self.bytes.max(1) as f64
    }
}

/// The result of a crawl.
#[derive(Debug, Clone, Serialize)]
pub struct CrawlResult {
    /// The rule.
    pub rule: String,
    /// At 5, 10, 25, 50 and 100 % of the budget.
    pub marks: Vec<Mark>,
    /// Whether it ended by itself.
    pub ended: bool,
    /// What became of text that is not written for readers.
    pub gate: GateCounts,
    /// URLs that waited at the end.
    pub waiting: u64,
    /// The score of its URLs.
    pub score: Score,
}

/// Chooses requests.
#[derive(Debug)]
enum Scheduler {
    Steward(Box<Steward>),
    Oracle(GraphOracle),
}

/// A waiting URL: by region for a rule with sections, else by age.
type Waiting = Reverse<(LinkRegion, u64, UrlId)>;

struct Crawl<'p, 'g> {
    pages: &'p mut Pages<'g>,
    scheduler: Scheduler,
    by_region: bool,
    plan: Plan,
    now: u64,
    known: HashSet<UrlId>,
    queues: HashMap<(u32, SectionId), BinaryHeap<Waiting>>,
    met_hosts: HashSet<Box<str>>,
    busy: HashMap<Ipv4Addr, u64>,
    distance: HashMap<Box<str>, u16>,
    order: u64,
    total: Mark,
    marks: Vec<Mark>,
    scorer: Scorer<'g>,
    gate: GateCounts,
}

/// Crawls a graph by a rule, or with the knowledge of an oracle.
pub fn crawl(pages: &mut Pages<'_>, rule: Option<Rule>, plan: Plan, seed: u64) -> CrawlResult {
    let settings = rule.map(|rule| Settings { rule, seed, ..Settings::default() });
    crawl_with(pages, settings, rule.map_or("oracle", Rule::name), plan)
}

/// Crawls a graph with settings, or with the knowledge of an oracle.
pub fn crawl_with(pages: &mut Pages<'_>, settings: Option<Settings>, name: &str, plan: Plan) -> CrawlResult {
    let by_region = settings.as_ref().is_some_and(|settings| settings.rule == Rule::Tidings);
    let scheduler = match settings {
        Some(settings) => Scheduler::Steward(Box::new(Steward::new(settings))),
        None => Scheduler::Oracle(GraphOracle::default()),
    };
    let scorer = Scorer::new(pages.truth, pages.language);
    let mut crawl = Crawl {
        by_region,
        pages,
        scheduler,
        plan,
        now: 1,
        known: HashSet::new(),
        queues: HashMap::new(),
        met_hosts: HashSet::new(),
        busy: HashMap::new(),
        distance: HashMap::new(),
        order: 0,
        total: Mark::default(),
        marks: Vec::new(),
        scorer,
        gate: GateCounts::default(),
    };
    for url in crawl.pages.graph.seeds(crawl.pages.language, plan.seeds) {
        if let Some(target) = crawl.pages.id(&url) {
            let seed = PageLinkRow { target, region: LinkRegion::Text, wanted_language: false };
            crawl.discover(None, seed, 0.0);
        }
    }
    let ended = crawl.run();
    crawl.marks.resize(MARKS.len(), crawl.total);
    CrawlResult {
        rule: name.to_owned(),
        marks: crawl.marks,
        ended,
        gate: crawl.gate,
        waiting: crawl.queues.values().map(|queue| queue.len() as u64).sum(),
        score: crawl.scorer.score(),
    }
}

impl Crawl<'_, '_> {
    /// Runs until the budget is spent, or returns true if the crawl ends by itself.
    fn run(&mut self) -> bool {
        loop {
            let mut asked = 0;
            while asked < self.plan.slots {
                if self.total.requests >= self.plan.budget {
                    return false;
                }
                match self.next() {
                    Step::Fetch(request, id) => asked += self.fetch(request, id),
                    Step::Skip => {}
                    Step::Nothing => break,
                    Step::End => return true,
                }
            }
            self.now += 1;
        }
    }

    fn next(&mut self) -> Step {
        let (now, pages, busy) = (self.now, &mut *self.pages, &self.busy);
        match &mut self.scheduler {
            Scheduler::Steward(steward) => {
                let next = steward.next(now, &mut |host| {
                    let ip = pages.ip(host);
                    match ip.filter(|ip| busy.get(ip).is_some_and(|until| *until > now)) {
                        Some(ip) => Gate::Group { group: u64::from(ip.to_bits()), until: now + 1 },
                        None => Gate::Open,
                    }
                });
                let request = match next {
                    Next::Request(request) => request,
                    Next::Wait(_) | Next::Idle => return Step::Nothing,
                    Next::Finished(_) => return Step::End,
                };
                let queue = self.queues.get_mut(&(request.domain, request.section));
                match queue.and_then(BinaryHeap::pop) {
                    Some(Reverse((_, _, id))) if steward.has_twin(&request, &pages.urls[id as usize].url) => {
                        steward.done(&request, Outcome::NotCounted, 0);
                        Step::Skip
                    }
                    Some(Reverse((_, _, id))) => Step::Fetch(Some(request), id),
                    None => {
                        steward.done(&request, Outcome::Empty, now);
                        Step::Nothing
                    }
                }
            }
            Scheduler::Oracle(oracle) => {
                let free = |id: UrlId| {
                    let host = pages.urls[id as usize].host.clone();
                    pages.ip(&host).is_none_or(|ip| busy.get(&ip).is_none_or(|until| *until <= now))
                };
                match oracle.next(now, free) {
                    Some(id) => Step::Fetch(None, id),
                    None if oracle.is_dry() => Step::End,
                    None => Step::Nothing,
                }
            }
        }
    }

    /// Fetches a page, before it robots.txt of a new host; returns the number of requests.
    fn fetch(&mut self, request: Option<Request>, id: UrlId) -> usize {
        let page = self.pages.page(id);
        let row = &self.pages.urls[id as usize];
        let (host, domain) = (row.host.clone(), row.domain.clone());
        let mut requests = 0;
        if self.met_hosts.insert(host.clone()) {
            requests += 1;
            self.total.spending.robots += 1;
            self.count(ROBOTS_BYTES);
        }
        // A disallowed URL is known as such once robots.txt is, and costs nothing more.
        let disallowed = page.truth.as_ref().is_some_and(|truth| truth.disallowed);
        if !disallowed {
            requests += 1;
            let row = &self.pages.urls[id as usize];
            let before = self.scorer.tokens();
            self.scorer.add_known(&row.url, page.truth.as_ref());
            let gained = self.scorer.tokens() > before;
            let is_hub = row.expected.is_some_and(|expected| expected.is_hub);
            self.total.spending.add(page.truth.as_ref(), is_hub, gained, self.pages.language);
            self.gate.page(page.truth.as_ref(), page.text.is_some(), self.pages.language);
            self.count(page.bytes);
        }
        let rest = self.now + requests.max(1) as u64;
        if let Some(ip) = self.pages.ip(&host) {
            self.busy.insert(ip, rest);
        }
        let follow_out = self.judge(request, id, &page, disallowed, rest);
        if !disallowed {
            self.follow(id, &domain, &page, follow_out);
        }
        requests
    }

    /// Tells the scheduler the outcome; returns whether links to other domains are followed.
    fn judge(&mut self, request: Option<Request>, id: UrlId, page: &PageRow, disallowed: bool, rest: u64) -> bool {
        let row = &self.pages.urls[id as usize];
        let (steward, request) = match (&mut self.scheduler, request) {
            (Scheduler::Steward(steward), Some(request)) => (steward, request),
            (Scheduler::Oracle(oracle), _) => {
                oracle.done(row, rest);
                return true;
            }
            _ => return false,
        };
        let outcome = if disallowed {
            Outcome::NotCounted
        } else if page.status != 200 {
            Outcome::Nothing { bytes: page.bytes }
        } else {
            let worth = PageWorth {
                bytes: page.bytes,
                clean_bytes: page.clean_bytes,
                tokens: page.tokens,
                new_share: 1.0,
                exact_duplicate: false,
                foreign: page.foreign,
            };
            let front = row.url.split('/').nth(3).is_none_or(str::is_empty);
            Outcome::Page { worth, text: page.text.as_ref(), front }
        };
        if matches!(outcome, Outcome::Page { .. }) {
            steward.fetched(&request, &row.url, page.text.as_ref());
        }
        let judged = steward.done(&request, outcome, rest);
        for closed in &judged.closed {
            if matches!(closed.why, CloseReason::Template | CloseReason::Generated) {
                self.gate.closed(page.truth.as_ref());
            }
            match closed.section {
                Some(section) => drop(self.queues.remove(&(closed.domain, section))),
                None => self.queues.retain(|(domain, _), _| *domain != closed.domain),
            }
        }
        judged.follow_out || page.redirect.is_some()
    }

    fn follow(&mut self, id: UrlId, domain: &str, page: &PageRow, follow_out: bool) {
        if let Some(canonical) = page.canonical {
            self.known.insert(canonical);
        }
        let source_yield = page.clean_bytes as f32 / page.bytes.max(1) as f32;
        let redirect =
            page.redirect.map(|target| PageLinkRow { target, region: LinkRegion::Text, wanted_language: false });
        for link in redirect.into_iter().chain(page.links.iter().copied()) {
            let to = &self.pages.urls[link.target as usize];
            let own = *to.domain == *domain;
            if !own && !follow_out {
                continue;
            }
            if self.known.contains(&link.target) {
                if !own && let Scheduler::Steward(steward) = &mut self.scheduler {
                    steward.linked(domain, &to.domain);
                }
                continue;
            }
            self.discover(Some(id), link, source_yield);
        }
    }

    /// A URL, which waits from now on unless it is known or refused.
    fn discover(&mut self, source: Option<UrlId>, link: PageLinkRow, source_yield: f32) {
        let PageLinkRow { target: id, region, wanted_language } = link;
        if !self.known.insert(id) {
            return;
        }
        let row = &self.pages.urls[id as usize];
        if row.refused {
            return;
        }
        let source = source.map(|source| &self.pages.urls[source as usize].domain);
        let near = source.and_then(|source| self.distance.get(source)).copied().unwrap_or_default();
        let step = u16::from(source.is_some_and(|source| *source != row.domain));
        let distance = *self.distance.entry(row.domain.clone()).or_insert(near + step);
        let steward = match &mut self.scheduler {
            Scheduler::Steward(steward) => steward,
            Scheduler::Oracle(oracle) => return oracle.discovered(id, row),
        };
        let hints = DomainHints {
            tld_language: self.pages.is_national(&row.host),
            link_language: wanted_language,
            source_yield,
            host_len: row.host.len() as u16,
            distance,
        };
        let found = Discovered {
            domain: &row.domain,
            section: &row.section,
            source: source.map(|domain| domain.as_ref()),
            hints,
        };
        if let Admission::Admit(admitted) = steward.discovered(&found) {
            self.order += 1;
            let region = if self.by_region { region } else { LinkRegion::Text };
            let queue = self.queues.entry((admitted.domain, admitted.section)).or_default();
            queue.push(Reverse((region, self.order, id)));
        }
    }

    fn count(&mut self, bytes: u64) {
        self.total.requests += 1;
        self.total.bytes += bytes;
        self.total.tokens = self.scorer.tokens();
        let reached = |mark: usize| MARKS[mark] * self.plan.budget as f64;
        while self.marks.len() < MARKS.len() && self.total.requests as f64 >= reached(self.marks.len()) {
            self.marks.push(self.total);
        }
    }
}

enum Step {
    Fetch(Option<Request>, UrlId),
    Skip,
    Nothing,
    End,
}
