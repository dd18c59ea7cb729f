//! Scores of a crawl.

use serde::{Deserialize, Serialize};

use crate::world::{PageFacts, World};

/// Shares of the budget at which text is noted.
pub const MARKS: [f64; 5] = [0.05, 0.1, 0.25, 0.5, 1.0];

/// The running and final scores of a crawl.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Score {
    /// Requests allowed.
    pub budget: u64,
    /// Requests made.
    pub requests: u64,
    /// Bytes on the wire.
    pub bytes: u64,
    /// New text in bytes.
    pub text: u64,
    /// Requests into sections without end.
    pub trapped: u64,
    /// Whether the crawl ended by itself.
    pub ended: bool,
    /// New text and bytes at the marks.
    pub marks: Vec<(u64, u64)>,
    /// Share of rich sites of which at least ten pages were taken.
    pub rich_met: f64,
    /// Effective number of sites: the exponential of the entropy of text.
    pub effective_sites: f64,
    /// Share of text of the largest site.
    pub largest: f64,
    #[serde(skip)]
    sites: Vec<(u32, u64)>,
}

impl Score {
    /// An empty score.
    pub fn new(sites: usize, budget: u64) -> Score {
        Score { budget, sites: vec![(0, 0); sites], ..Score::default() }
    }

    /// Counts a request.
    pub fn request(&mut self, bytes: u64) {
        self.requests += 1;
        self.bytes += bytes;
        while self.marks.len() < MARKS.len() && self.requests as f64 >= MARKS[self.marks.len()] * self.budget as f64 {
            self.marks.push((self.text, self.bytes));
        }
    }

    /// Counts a page.
    pub fn page(&mut self, site: u32, page: &PageFacts, endless: bool) {
        let (pages, text) = &mut self.sites[site as usize];
        *pages += 1;
        if page.new {
            *text += page.text;
            self.text += page.text;
        }
        self.trapped += u64::from(endless);
        self.request(page.bytes);
    }

    /// The final scores.
    pub fn finish(mut self, world: &World) -> Score {
        self.marks.resize(MARKS.len(), (self.text, self.bytes));
        let rich: Vec<u32> = (0..world.sites.len() as u32).filter(|site| world.is_rich(*site)).collect();
        let met = rich.iter().filter(|site| self.sites[**site as usize].0 >= 10).count();
        self.rich_met = met as f64 / rich.len().max(1) as f64;
        let shares: Vec<f64> =
            self.sites.iter().filter(|site| site.1 > 0).map(|site| site.1 as f64 / self.text as f64).collect();
        self.effective_sites = (-shares.iter().map(|share| share * share.ln()).sum::<f64>()).exp();
        self.largest = shares.iter().copied().fold(0.0, f64::max);
        self
    }

    /// New text per byte at a mark.
    pub fn yield_at(&self, mark: usize) -> f64 {
        let (text, bytes) = self.marks[mark];
        text as f64 / bytes.max(1) as f64
    }

    /// Share of requests into sections without end.
    pub fn trap_share(&self) -> f64 {
        self.trapped as f64 / self.requests.max(1) as f64
    }
}
