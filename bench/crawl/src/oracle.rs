//! A scheduler that knows the true yield of every section: the best that an order of requests can reach with the same
//! pauses and the same discovery.

use std::{cmp::Ordering, collections::BinaryHeap};

use crate::world::World;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate(f64, u32);

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// Greedy by true yield.
#[derive(Debug, Default)]
pub struct Oracle {
    waiting: Vec<Vec<u32>>,
    ready_at: Vec<u64>,
    queued: Vec<bool>,
    candidates: BinaryHeap<Candidate>,
}

impl Oracle {
    /// An oracle of a world.
    pub fn new(world: &World) -> Oracle {
        Oracle {
            waiting: world.sites.iter().map(|site| vec![0; site.sections.len()]).collect(),
            ready_at: vec![0; world.sites.len()],
            queued: vec![false; world.sites.len()],
            ..Oracle::default()
        }
    }

    fn best(&self, site: u32, world: &World) -> Option<(f64, u8)> {
        let waiting = &self.waiting[site as usize];
        (0..waiting.len() as u8)
            .filter(|section| waiting[*section as usize] > 0)
            .map(|section| (world.true_rate(site, section), section))
            .filter(|(rate, _)| *rate > 0.0)
            .max_by(|a, b| a.0.total_cmp(&b.0))
    }

    fn queue(&mut self, site: u32, world: &World) {
        if !self.queued[site as usize]
            && let Some((rate, _)) = self.best(site, world)
        {
            self.queued[site as usize] = true;
            self.candidates.push(Candidate(rate, site));
        }
    }

    /// A new URL.
    pub fn discovered(&mut self, site: u32, section: u8, world: &World) {
        self.waiting[site as usize][section as usize] += 1;
        // A better section counts at once.
        if let Some((rate, best)) = self.best(site, world)
            && best == section
            && self.waiting[site as usize][section as usize] == 1
            && self.ready_at[site as usize] != u64::MAX
        {
            self.queued[site as usize] = true;
            self.candidates.push(Candidate(rate, site));
        }
    }

    /// The best site that may be asked, and its section.
    pub fn next(&mut self, now: u64, world: &World, free: impl Fn(u32) -> bool) -> Option<(u32, u8)> {
        let mut skipped = Vec::new();
        let mut chosen = None;
        while let Some(Candidate(rate, site)) = self.candidates.pop() {
            let Some((current, section)) = self.best(site, world) else {
                self.queued[site as usize] = false;
                continue;
            };
            if current != rate {
                // An entry of an earlier state; the current one is in the heap or put there now.
                if current < rate {
                    self.candidates.push(Candidate(current, site));
                }
                continue;
            }
            if self.ready_at[site as usize] > now || !free(site) {
                skipped.push(Candidate(rate, site));
                continue;
            }
            self.waiting[site as usize][section as usize] -= 1;
            self.queued[site as usize] = false;
            chosen = Some((site, section));
            break;
        }
        skipped.dedup();
        self.candidates.extend(skipped);
        chosen
    }

    /// Whether no URL with text waits.
    pub fn is_dry(&self) -> bool {
        self.candidates.is_empty()
    }

    /// A request is done; the site rests.
    pub fn done(&mut self, site: u32, ready_at: u64, world: &World) {
        self.ready_at[site as usize] = ready_at;
        self.queue(site, world);
    }
}
