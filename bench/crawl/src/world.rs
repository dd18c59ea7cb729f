//! A web of domains with sections, drawn from Table 1 of the SpiderLing paper.
//!
//! Domains differ in yield by orders of magnitude, and so do the sections of a domain. Some have a section without end
//! and without text, some repeat texts of others. Pages are drawn from their number, so that every rule meets the same.

use fastrand::Rng;

/// Domains above a yield, and their downloaded gigabytes: Table 1 of the paper.
const TABLE: [(f64, f64, f64); 15] = [
    (-1.0, 51_645.0, 1288.87),
    (0.0, 31_024.0, 1181.56),
    (0.0001, 29_580.0, 705.07),
    (0.0002, 28_710.0, 619.44),
    (0.0004, 27_460.0, 513.86),
    (0.0008, 25_956.0, 407.30),
    (0.0016, 24_380.0, 307.27),
    (0.0032, 22_325.0, 214.18),
    (0.0064, 19_463.0, 142.38),
    (0.0128, 15_624.0, 85.69),
    (0.0256, 11_277.0, 45.05),
    (0.0512, 7_003.0, 18.61),
    (0.1024, 3_577.0, 5.45),
    (0.2048, 1_346.0, 1.76),
    (0.4096, 313.0, 0.21),
];
/// The table is of a crawl that was broken off: sites are larger.
const SIZE: f64 = 3.0;
/// Mean bytes of a page.
const PAGE_BYTES: f64 = 38_000.0;
/// Text of a page that has any, as a share of its bytes.
const TEXT_SHARE: f64 = 0.14;

/// The description of a world.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Registered domains.
    pub domains: usize,
    /// Seed domains.
    pub seeds: usize,
    /// Share of domains with text in the wanted language.
    pub language_share: f64,
    /// Share of URLs under the name of another section of their domain.
    pub wrong_labels: f64,
    /// The seed of all draws.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Params {
        Params { domains: 3000, seeds: 40, language_share: 1.0, wrong_labels: 0.0, seed: 1 }
    }
}

/// A section with its true yield.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Pages; `None`: without end.
    pub pages: Option<u32>,
    /// Probability that a page has text in the wanted language.
    pub text_rate: f64,
    /// Text of such a page, as a share of its bytes.
    pub text_share: f64,
}

/// A registered domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// Final text per downloaded byte, without the endless section.
    pub yield_rate: f64,
    /// Its sections; the endless one is the last.
    pub sections: Vec<Section>,
    /// Share of pages with text that repeat texts of others.
    pub duplicates: f64,
    /// Whether it repeats another site.
    pub mirror: bool,
    /// The number of its address.
    pub ip: u32,
    /// Whether its country code suits the wanted language.
    pub tld_language: bool,
    /// Whether it has text in the wanted language.
    pub wanted: bool,
}

/// A page of a site.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageFacts {
    /// Bytes on the wire.
    pub bytes: u64,
    /// Bytes of clean text.
    pub text: u64,
    /// Whether the text is new.
    pub new: bool,
}

/// A web.
#[derive(Debug)]
pub struct World {
    /// Its description.
    pub params: Params,
    /// Its sites.
    pub sites: Vec<Site>,
    /// Cumulated popularity.
    popularity: Vec<f64>,
    /// Sites by yield, for links to sites of like yield.
    by_yield: Vec<u32>,
    rank: Vec<u32>,
}

impl World {
    /// The web that a description gives.
    pub fn new(params: Params) -> World {
        let mut rng = Rng::with_seed(params.seed);
        let mut sites: Vec<Site> = (0..params.domains).map(|_| site(&mut rng, params.language_share)).collect();
        let addresses = (params.domains / 40).max(1) as u32;
        for (id, site) in sites.iter_mut().enumerate() {
            site.ip = if rng.bool() { rng.u32(..addresses) } else { addresses + id as u32 };
        }
        let mut total = 0.0;
        let popularity = sites
            .iter()
            .map(|_| {
                total += (1.0 - rng.f64()).powf(-1.0 / 1.1).min(1e4);
                total
            })
            .collect();
        let mut by_yield: Vec<u32> = (0..sites.len() as u32).collect();
        let noise: Vec<f64> = sites.iter().map(|_| rng.f64()).collect();
        by_yield.sort_by(|a, b| {
            let key = |id: u32| sites[id as usize].yield_rate + 1e-9 * noise[id as usize];
            key(*a).total_cmp(&key(*b))
        });
        let mut rank = vec![0; sites.len()];
        by_yield.iter().enumerate().for_each(|(at, id)| rank[*id as usize] = at as u32);
        World { params, sites, popularity, by_yield, rank }
    }

    /// The seed domains: popular ones with text in the wanted language.
    pub fn seeds(&self) -> Vec<u32> {
        let mut rng = Rng::with_seed(self.params.seed ^ 0x5eed_0001);
        let mut seeds = Vec::new();
        while seeds.len() < self.params.seeds {
            let id = self.popular(&mut rng);
            let suits = self.params.language_share >= 1.0 || self.sites[id as usize].wanted;
            if suits && !seeds.contains(&id) {
                seeds.push(id);
            }
        }
        seeds
    }

    fn popular(&self, rng: &mut Rng) -> u32 {
        let total = self.popularity.last().copied().unwrap_or_default();
        let at = rng.f64() * total;
        self.popularity.partition_point(|sum| *sum < at).min(self.sites.len() - 1) as u32
    }

    /// A site that a page of a site links to: half by popularity, half of like yield.
    pub fn link(&self, from: u32, rng: &mut Rng) -> u32 {
        if rng.bool() {
            return self.popular(rng);
        }
        let spread = (self.sites.len() as f64 * 0.05).max(3.0);
        let at = f64::from(self.rank[from as usize]) + normal(rng) * spread;
        let at = at.abs().min(2.0 * (self.sites.len() - 1) as f64 - at.abs()).max(0.0);
        self.by_yield[(at as usize).min(self.sites.len() - 1)]
    }

    /// A page, always the same for the same numbers.
    pub fn page(&self, site: u32, section: u8, number: u32) -> PageFacts {
        let key = (u64::from(site) << 40) ^ (u64::from(section) << 32) ^ u64::from(number);
        let mut rng = Rng::with_seed(self.params.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ key);
        rng.u64(..);
        let facts = &self.sites[site as usize];
        let of = &facts.sections[section as usize];
        let bytes = PAGE_BYTES * lognormal(&mut rng, 0.6);
        let has_text = rng.f64() < of.text_rate;
        let text = if has_text { bytes * of.text_share * lognormal(&mut rng, 0.4) } else { 0.0 };
        let known = if facts.mirror { 0.97 } else { facts.duplicates };
        PageFacts { bytes: bytes as u64, text: text as u64, new: rng.f64() >= known }
    }

    /// The expected new text of a page of a section, per byte of cost.
    pub fn true_rate(&self, site: u32, section: u8) -> f64 {
        let facts = &self.sites[site as usize];
        let of = &facts.sections[section as usize];
        let new = if facts.mirror { 0.03 } else { 1.0 - facts.duplicates };
        PAGE_BYTES * of.text_rate * of.text_share * new / (PAGE_BYTES + tidings_crawl::policy::REQUEST_BYTES)
    }

    /// All new text, in bytes.
    pub fn findable(&self) -> f64 {
        (0..self.sites.len() as u32).map(|site| self.site_text(site)).sum()
    }

    fn site_text(&self, site: u32) -> f64 {
        let facts = &self.sites[site as usize];
        let new = if facts.mirror { 0.03 } else { 1.0 - facts.duplicates };
        facts
            .sections
            .iter()
            .filter_map(|of| Some(f64::from(of.pages?) * PAGE_BYTES * of.text_rate * of.text_share * new))
            .sum()
    }

    /// Whether a site is rich in text: a yield of 5 % and at least 20 pages.
    pub fn is_rich(&self, site: u32) -> bool {
        let facts = &self.sites[site as usize];
        let pages: u32 = facts.sections.iter().filter_map(|section| section.pages).sum();
        facts.wanted && !facts.mirror && facts.yield_rate >= 0.05 && pages >= 20
    }
}

fn site(rng: &mut Rng, language_share: f64) -> Site {
    let at = rng.f64() * TABLE[0].1;
    let bucket = (0..TABLE.len()).rev().find(|row| at < TABLE[*row].1).unwrap_or(0);
    let (low, above, size_above) = TABLE[bucket];
    let (high, next, size_next) = TABLE.get(bucket + 1).copied().unwrap_or((0.7, 0.0, 0.0));
    let bytes = SIZE * 1e9 * (size_above - size_next) / (above - next) * lognormal(rng, 1.0);
    let mut yield_rate = match bucket {
        0 => 0.0,
        1 => 0.00005,
        _ => low * (high / low).powf(rng.f64()),
    };
    let wanted = rng.f64() < language_share;
    let mirror = rng.f64() < 0.04;
    if mirror {
        yield_rate = 0.05 + 0.1 * rng.f64();
    }
    let duplicates = beta(rng, 1.2, 2.0).min(0.95);
    let tld_language = rng.f64() < if wanted { 0.6 } else { 0.01 };
    let sections = sections(rng, bytes, if wanted { yield_rate } else { 0.0 }, if mirror { 0.0 } else { duplicates });
    Site {
        yield_rate: if !wanted {
            0.0
        } else if mirror {
            0.03 * yield_rate
        } else {
            yield_rate
        },
        sections,
        duplicates,
        mirror,
        ip: 0,
        tld_language,
        wanted,
    }
}

fn sections(rng: &mut Rng, bytes: f64, yield_rate: f64, duplicates: f64) -> Vec<Section> {
    let count = rng.usize(1..=5);
    let sizes: Vec<f64> = (0..count).map(|_| -(1.0 - rng.f64()).ln()).collect();
    let factors: Vec<f64> = (0..count).map(|_| (1.2 * normal(rng)).exp()).collect();
    let total: f64 = sizes.iter().sum();
    let mean: f64 = sizes.iter().zip(&factors).map(|(size, factor)| size * factor).sum::<f64>() / total;
    let mut all: Vec<Section> = sizes
        .iter()
        .zip(&factors)
        .map(|(size, factor)| {
            // The table counts final text, after duplicates were taken away.
            let before = (yield_rate * factor / mean / (1.0 - duplicates)).min(0.8);
            let text_share = TEXT_SHARE.max(before / 0.9);
            let pages = (bytes * size / total / PAGE_BYTES).ceil().clamp(1.0, 1e6) as u32;
            Section { pages: Some(pages), text_rate: before / text_share, text_share }
        })
        .collect();
    if rng.f64() < 0.13 {
        all.push(Section { pages: None, text_rate: 0.0, text_share: TEXT_SHARE });
    }
    all
}

/// A standard normal variate.
pub fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// A log-normal variate of mean one.
fn lognormal(rng: &mut Rng, sigma: f64) -> f64 {
    (sigma * normal(rng) - sigma * sigma / 2.0).exp()
}

/// A Beta variate by Jöhnk's method.
fn beta(rng: &mut Rng, a: f64, b: f64) -> f64 {
    loop {
        let (x, y) = (rng.f64().powf(1.0 / a), rng.f64().powf(1.0 / b));
        if x + y <= 1.0 && x + y > 0.0 {
            return x / (x + y);
        }
    }
}
