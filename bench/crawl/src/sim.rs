//! Crawls a [`World`] on a virtual clock. A tick is the pause of a host: one request a domain and address, 50 in all.

use std::collections::{HashMap, HashSet, VecDeque};

use fastrand::Rng;
use tidings_crawl::{
    policy::{DomainHints, PageWorth},
    steward::{Admission, Discovered, Gate, Next, Outcome, Request, Steward},
};

use crate::{oracle::Oracle, score::Score, world::World};

/// Requests a tick.
pub const SLOTS: usize = 50;
/// New URLs of the same site that a page shows, on average.
const LINKS_IN: usize = 6;
/// Links to other sites of a page, on average.
const LINKS_OUT: f64 = 1.5;
/// Bytes of robots.txt.
const ROBOTS_BYTES: u64 = 600;

/// Chooses requests.
#[derive(Debug)]
pub enum Scheduler {
    /// The scheduler of crawls, with any rule.
    Steward(Box<Steward>),
    /// Knows the true yields.
    Oracle(Oracle),
}

#[derive(Debug, Clone, Copy)]
struct Url {
    section: u8,
    number: u32,
}

#[derive(Debug, Default)]
struct SiteState {
    robots_read: bool,
    discovered: Vec<u32>,
    labels: HashMap<String, VecDeque<Url>>,
}

/// A crawl under way.
#[derive(Debug)]
pub struct Crawl<'a> {
    world: &'a World,
    scheduler: Scheduler,
    states: Vec<SiteState>,
    met: HashSet<u32>,
    busy_ips: HashMap<u32, u64>,
    now: u64,
    slots: usize,
    rng: Rng,
    score: Score,
}

impl<'a> Crawl<'a> {
    /// A crawl from the seeds of a world with 50 requests a tick.
    pub fn new(world: &'a World, scheduler: Scheduler, budget: u64) -> Crawl<'a> {
        Crawl::with_slots(world, scheduler, budget, SLOTS)
    }

    /// A crawl from the seeds of a world.
    pub fn with_slots(world: &'a World, scheduler: Scheduler, budget: u64, slots: usize) -> Crawl<'a> {
        let mut crawl = Crawl {
            world,
            scheduler,
            states: world.sites.iter().map(|_| SiteState::default()).collect(),
            met: HashSet::new(),
            busy_ips: HashMap::new(),
            now: 1,
            slots,
            rng: Rng::with_seed(world.params.seed ^ 0xc4a1),
            score: Score::new(world.sites.len(), budget),
        };
        for seed in world.seeds() {
            crawl.discover(None, seed, 3);
        }
        crawl
    }

    /// Runs until the budget is spent or the crawl ends by itself.
    pub fn run(mut self) -> Score {
        loop {
            let mut asked = 0;
            while asked < self.slots && self.score.requests < self.score.budget {
                match self.next() {
                    Some(Step::Request(site, section, request)) => asked += self.fetch(site, &section, request),
                    Some(Step::End) => {
                        self.score.ended = true;
                        return self.score.finish(self.world);
                    }
                    None => break,
                }
            }
            if self.score.requests >= self.score.budget {
                return self.score.finish(self.world);
            }
            self.now += 1;
        }
    }

    fn next(&mut self) -> Option<Step> {
        let (now, world, busy) = (self.now, self.world, &self.busy_ips);
        let free = |site: u32| busy.get(&world.sites[site as usize].ip).is_none_or(|until| *until <= now);
        match &mut self.scheduler {
            Scheduler::Steward(steward) => {
                let next = steward.next(now, &mut |host| {
                    let site = site_of(host);
                    if free(site) {
                        Gate::Open
                    } else {
                        Gate::Group { group: u64::from(world.sites[site as usize].ip), until: now + 1 }
                    }
                });
                match next {
                    Next::Request(request) => {
                        let site = site_of(steward.domain_name(request.domain));
                        let section = steward.section_name(request.domain, request.section);
                        Some(Step::Request(site, section, request))
                    }
                    Next::Wait(_) | Next::Idle => None,
                    Next::Finished(_) => Some(Step::End),
                }
            }
            Scheduler::Oracle(oracle) => {
                let Some((site, label)) = oracle.next(now, world, free) else {
                    return oracle.is_dry().then_some(Step::End);
                };
                Some(Step::Request(site, label_name(site, label), Request { domain: site, section: 0 }))
            }
        }
    }

    /// Fetches a page, before it robots.txt of a new site; returns the number of requests.
    fn fetch(&mut self, site: u32, section: &str, request: Request) -> usize {
        let state = &mut self.states[site as usize];
        let url = state.labels.get_mut(section).and_then(VecDeque::pop_front).expect("a waiting URL");
        let mut requests = 1;
        if !state.robots_read {
            state.robots_read = true;
            requests += 1;
            self.score.request(ROBOTS_BYTES);
        }
        let rest = self.now + requests as u64;
        self.busy_ips.insert(self.world.sites[site as usize].ip, rest);
        let page = self.world.page(site, url.section, url.number);
        let endless = self.world.sites[site as usize].sections[url.section as usize].pages.is_none();
        self.score.page(site, &page, endless);
        let worth = PageWorth {
            bytes: page.bytes,
            clean_bytes: page.text,
            tokens: page.text / 6,
            new_share: if page.new { 1.0 } else { 0.0 },
            ..PageWorth::default()
        };
        let mut follow_out = true;
        if let Scheduler::Steward(steward) = &mut self.scheduler {
            let judged = steward.done(&request, Outcome::Page { worth, text: None, front: false }, rest);
            follow_out = judged.follow_out;
        }
        self.discover(Some(site), site, self.rng.clone().usize(..=2 * LINKS_IN));
        self.rng.u64(..);
        if endless {
            self.add(Some(site), site, url.section);
            self.add(Some(site), site, url.section);
        }
        if follow_out {
            let mut links = LINKS_OUT + self.rng.f64();
            while links >= 1.0 {
                links -= 1.0;
                let target = self.world.link(site, &mut self.rng);
                if target != site {
                    self.link(site, target);
                }
            }
        }
        if let Scheduler::Oracle(oracle) = &mut self.scheduler {
            oracle.done(site, rest, self.world);
        }
        requests
    }

    fn link(&mut self, from: u32, to: u32) {
        if let Scheduler::Steward(steward) = &mut self.scheduler {
            steward.linked(&site_name(from), &site_name(to));
        }
        let count = if self.met.contains(&to) { self.rng.usize(..=1) } else { 2 };
        self.discover(Some(from), to, count);
    }

    /// Shows some pages of a site that were not known.
    fn discover(&mut self, source: Option<u32>, site: u32, count: usize) {
        self.met.insert(site);
        let sections = &self.world.sites[site as usize].sections;
        self.states[site as usize].discovered.resize(sections.len(), 0);
        for _ in 0..count {
            let state = &self.states[site as usize];
            let left = |at: usize| match sections[at].pages {
                Some(pages) => f64::from(pages - state.discovered[at]),
                None => 0.0,
            };
            let finite: f64 = (0..sections.len()).map(left).sum();
            // An endless section has a fifth of the links.
            let endless = sections.last().is_some_and(|section| section.pages.is_none());
            if endless && (finite <= 0.0 || self.rng.f64() < 0.2) {
                self.add(source, site, sections.len() as u8 - 1);
                continue;
            }
            if finite <= 0.0 {
                return;
            }
            let mut at = self.rng.f64() * finite;
            let chosen = (0..sections.len()).find(|section| {
                at -= left(*section);
                at < 0.0
            });
            if let Some(chosen) = chosen {
                self.add(source, site, chosen as u8);
            }
        }
    }

    fn add(&mut self, source: Option<u32>, site: u32, section: u8) {
        let facts = &self.world.sites[site as usize];
        let number = self.states[site as usize].discovered[section as usize];
        self.states[site as usize].discovered[section as usize] += 1;
        let mut label = section;
        let key = (u64::from(site) << 32) ^ (u64::from(section) << 28) ^ u64::from(number);
        let mut rng = Rng::with_seed(self.world.params.seed ^ key.wrapping_mul(0x2545_f491_4f6c_dd1d));
        rng.u64(..);
        if rng.f64() < self.world.params.wrong_labels {
            label = rng.u8(..facts.sections.len() as u8);
        }
        let name = label_name(site, label);
        match &mut self.scheduler {
            Scheduler::Steward(steward) => {
                let (domain, source) = (site_name(site), source.map(site_name));
                let hints = DomainHints {
                    tld_language: facts.tld_language,
                    host_len: domain.len() as u16,
                    ..DomainHints::default()
                };
                let found = Discovered { domain: &domain, section: &name, source: source.as_deref(), hints };
                if let Admission::Refuse(_) = steward.discovered(&found) {
                    return;
                }
            }
            Scheduler::Oracle(oracle) => oracle.discovered(site, section, self.world),
        }
        let name = if matches!(self.scheduler, Scheduler::Oracle(_)) { label_name(site, section) } else { name };
        self.states[site as usize].labels.entry(name).or_default().push_back(Url { section, number });
    }
}

enum Step {
    Request(u32, String, Request),
    End,
}

/// The name of a site.
pub fn site_name(site: u32) -> String {
    format!("s{site}.example")
}

fn label_name(site: u32, section: u8) -> String {
    format!("s{site}.example/{section}/*")
}

fn site_of(host: &str) -> u32 {
    host[1..].split('.').next().and_then(|number| number.parse().ok()).expect("a site of this world")
}
