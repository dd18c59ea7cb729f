//! The prior of a domain's rate, learned from the first pages of all domains so far.
//!
//! Bühlmann-Straub credibility: with v value and c cost of a domain's first pages, the mean rate is Σv/Σc; the variance
//! between domains is what remains of the residuals (v - mean c)² after the variance of pages within a domain is taken
//! away. Mean and variance give a Gamma distribution. Facts about a domain (its country code, the rates of the domains
//! that link to it) put it into one of a few groups whose means are learned in the same way and drawn to the mean of all.

use super::DomainHints;

/// Pages of a domain from which the prior is learned.
pub const PROBE_PAGES: u64 = 8;
/// Groups by hints.
const GROUPS: usize = 16;
/// Domains' worth of evidence with which the mean of all counts in the mean of a group.
const GROUP_WEIGHT: f64 = 4.0;
/// The prior before any evidence: mean rate, pages' worth of evidence.
const FIRST_RATE: f64 = 0.02;
const FIRST_COST: f64 = 2_000_000.0;

/// The learned prior.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prior {
    domains: f64,
    value: f64,
    cost: f64,
    value_value: f64,
    value_cost: f64,
    cost_cost: f64,
    /// Squares of page values, for the variance within domains.
    page_squares: f64,
    /// Pages with text.
    text_pages: f64,
    groups: [(f64, f64); GROUPS],
}

/// A Gamma prior of a rate: mean, and shape (pages with text that it is worth).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatePrior {
    /// The mean rate.
    pub mean: f64,
    /// The shape.
    pub shape: f64,
}

impl Prior {
    /// A page among the first of its domain: its value and cost, and those of the domain before it.
    pub fn learn(&mut self, before: (f64, f64), page: (f64, f64), group: usize) {
        let after = (before.0 + page.0, before.1 + page.1);
        if before.1 == 0.0 {
            self.domains += 1.0;
        }
        self.value += page.0;
        self.cost += page.1;
        self.value_value += after.0 * after.0 - before.0 * before.0;
        self.value_cost += after.0 * after.1 - before.0 * before.1;
        self.cost_cost += after.1 * after.1 - before.1 * before.1;
        self.page_squares += page.0 * page.0;
        if page.0 > 0.0 {
            self.text_pages += 1.0;
        }
        let (value, cost) = &mut self.groups[group];
        *value += page.0;
        *cost += page.1;
    }

    /// The mean value of a page with text.
    pub fn page_value(&self) -> f64 {
        if self.text_pages < 1.0 { 5_000.0 } else { self.value / self.text_pages }
    }

    /// The mean rate of all domains.
    pub fn mean(&self) -> f64 {
        (self.value + FIRST_RATE * FIRST_COST) / (self.cost + FIRST_COST)
    }

    /// The prior of a domain of a group.
    pub fn of(&self, group: usize) -> RatePrior {
        let mean = self.mean();
        let (value, cost) = self.groups[group];
        let weight = GROUP_WEIGHT * PROBE_PAGES as f64 * 60_000.0;
        RatePrior { mean: (value + mean * weight) / (cost + weight), shape: self.shape(mean) }
    }

    fn shape(&self, mean: f64) -> f64 {
        if self.domains < 10.0 || self.value <= 0.0 {
            return 0.5;
        }
        let residual = self.value_value - 2.0 * mean * self.value_cost + mean * mean * self.cost_cost;
        let within = mean * self.cost * self.page_squares / self.value;
        let between = (residual - within) / self.cost_cost;
        if between <= 0.0 { 2.0 } else { (mean * mean / between).clamp(0.1, 2.0) }
    }

    /// The numbers to be saved.
    pub fn numbers(&self) -> Vec<f64> {
        let mut all = vec![
            self.domains,
            self.value,
            self.cost,
            self.value_value,
            self.value_cost,
            self.cost_cost,
            self.page_squares,
            self.text_pages,
        ];
        all.extend(self.groups.iter().flat_map(|(value, cost)| [*value, *cost]));
        all
    }

    /// A prior from saved numbers; `None` if their count is another.
    pub fn from_numbers(numbers: &[f64]) -> Option<Prior> {
        let [domains, value, cost, value_value, value_cost, cost_cost, page_squares, text_pages, groups @ ..] = numbers
        else {
            return None;
        };
        if groups.len() != 2 * GROUPS {
            return None;
        }
        let mut prior = Prior {
            domains: *domains,
            value: *value,
            cost: *cost,
            value_value: *value_value,
            value_cost: *value_cost,
            cost_cost: *cost_cost,
            page_squares: *page_squares,
            text_pages: *text_pages,
            groups: [(0.0, 0.0); GROUPS],
        };
        for (group, pair) in prior.groups.iter_mut().zip(groups.chunks_exact(2)) {
            *group = (pair[0], pair[1]);
        }
        Some(prior)
    }
}

/// The group of a domain by what is known before its first page.
pub fn group(hints: &DomainHints, source_rate: f64) -> usize {
    let source = match source_rate {
        rate if rate <= 0.0 => 0,
        rate if rate < 0.01 => 1,
        rate if rate < 0.04 => 2,
        _ => 3,
    };
    source + 4 * usize::from(hints.tld_language) + 8 * usize::from(hints.link_language)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Domains whose rates are Gamma distributed, with pages of 40 kB that have text of 5 kB or none.
    fn world(shape: f64, mean: f64) -> Prior {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut prior = Prior::default();
        for _ in 0..4000 {
            let rate = super::super::gamma::gamma(&mut rng, shape) * mean / shape;
            let mut before = (0.0, 0.0);
            for _ in 0..PROBE_PAGES {
                let page = (if rng.f64() < rate * 40_000.0 / 5_000.0 { 5_000.0 } else { 0.0 }, 40_000.0);
                prior.learn(before, page, 0);
                before = (before.0 + page.0, before.1 + page.1);
            }
        }
        prior
    }

    #[test]
    fn mean_and_shape_of_the_rates_are_found() {
        let prior = world(0.8, 0.02);
        let learned = prior.of(0);
        assert!((learned.mean / 0.02 - 1.0).abs() < 0.1, "{learned:?}");
        assert!((0.5..1.2).contains(&learned.shape), "{learned:?}");
        assert!((prior.page_value() - 5_000.0).abs() < 1.0);
    }

    #[test]
    fn a_group_without_evidence_has_the_mean_of_all() {
        let prior = world(0.8, 0.02);
        assert!((prior.of(7).mean - prior.mean()).abs() < 1e-12);
    }

    #[test]
    fn saved_numbers_give_the_same_prior() {
        let prior = world(0.5, 0.01);
        assert_eq!(Prior::from_numbers(&prior.numbers()), Some(prior));
        assert_eq!(Prior::from_numbers(&[1.0]), None);
    }
}
