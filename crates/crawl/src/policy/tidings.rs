//! Thompson sampling over sections.
//!
//! The rate of an arm (value per cost) has a Gamma posterior: k + k0 pages with text in cost + k0 v / y0 bytes, v the
//! mean value of a page with text. An arm is drawn to its domain, a domain to a prior that is learned from the first
//! pages of all domains. A decision is one draw from each posterior; uncertain arms are tried as often as they may be
//! the best. Old evidence fades, so that a site that turns bad is noticed. A domain with a large share of all tokens is
//! damped, so that the corpus has many sources. Pages without text that show new URLs of good sections (hubs) are worth
//! a request where few such URLs wait.

use super::{
    Choice, Closing, DomainView, Evidence, PageWorth, Policy,
    gamma::gamma,
    prior::{PROBE_PAGES, Prior, RatePrior, group},
};

/// The factor of earlier evidence at each page.
const KEEP: f64 = 0.99;
/// Shape of the distribution of arms' rates around the rate of their domain.
const ARM_SHAPE: f64 = 0.5;
/// Other domains that are drawn anew at each decision.
const REDRAWS: usize = 16;
/// The factor of the prior of domains that only one other domain links to.
const UNTRUSTED: f64 = 0.1;

/// Thompson sampling over sections with a learned prior.
#[derive(Debug, Clone)]
pub struct Tidings {
    floor: f64,
    largest_share: f64,
    prior: Prior,
    rng: fastrand::Rng,
}

impl Tidings {
    /// The rule with the yield under which a section is closed and the share of tokens from which a domain is damped.
    pub fn new(floor: f64, largest_share: f64, seed: u64) -> Tidings {
        Tidings { floor, largest_share, prior: Prior::default(), rng: fastrand::Rng::with_seed(seed) }
    }

    fn domain_prior(&self, domain: &DomainView<'_>) -> RatePrior {
        let mut prior = self.prior.of(group(domain.hints, domain.source_rate));
        if !domain.trusted {
            prior.mean *= UNTRUSTED;
        }
        prior
    }

    /// Shape and scale of the posterior of a rate.
    fn posterior(&self, evidence: &Evidence, prior: RatePrior) -> (f64, f64) {
        let page = self.prior.page_value();
        let shape = evidence.value / page + prior.shape;
        let cost = evidence.cost + prior.shape * page / prior.mean.max(1e-9);
        (shape, page / cost)
    }
}

/// The rate of an arm as a way to pages of the domain's best arm: one request shows n of them, n + 1 requests have the
/// text of n.
fn hub_rate(domain: &DomainView<'_>, arm: &Evidence) -> f64 {
    let urls = arm.led_per_page(KEEP);
    domain.best_rate * urls / (urls + 1.0)
}

impl Policy for Tidings {
    fn redraws(&self) -> usize {
        REDRAWS
    }

    fn has_sections(&self) -> bool {
        true
    }

    fn keep(&self) -> f64 {
        KEEP
    }

    fn choose(&mut self, domain: &DomainView<'_>, arms: &[Evidence]) -> Choice {
        let (shape, scale) = self.posterior(domain.evidence, self.domain_prior(domain));
        let rate = gamma(&mut self.rng, shape) * scale;
        let mut best = Choice { priority: 0.0, arm: 0 };
        for (at, arm) in arms.iter().enumerate() {
            let (shape, scale) = self.posterior(arm, RatePrior { mean: rate, shape: ARM_SHAPE });
            let draw = (gamma(&mut self.rng, shape) * scale).max(hub_rate(domain, arm) * domain.dryness);
            if draw > best.priority {
                best = Choice { priority: draw, arm: at };
            }
        }
        best.priority /= 1.0 + domain.share / self.largest_share;
        best
    }

    fn learn(&mut self, domain: &DomainView<'_>, worth: &PageWorth) {
        if domain.evidence.pages <= PROBE_PAGES {
            let page = (worth.value(), worth.cost());
            let mut before = (domain.evidence.value - page.0, domain.evidence.cost - page.1);
            if domain.evidence.pages == 1 {
                before = (0.0, 0.0);
            }
            self.prior.learn(before, page, group(domain.hints, domain.source_rate));
        }
    }

    fn closes(&self, domain: &DomainView<'_>, arm: &Evidence) -> Option<Closing> {
        let (shape, scale) = self.posterior(domain.evidence, self.domain_prior(domain));
        let (shape, scale) = self.posterior(arm, RatePrior { mean: shape * scale, shape: ARM_SHAPE });
        let bound = shape * scale + shape.sqrt() * scale;
        (bound.max(hub_rate(domain, arm)) < self.floor).then_some(Closing::Arm)
    }

    fn learned(&self) -> Vec<f64> {
        self.prior.numbers()
    }

    fn restore(&mut self, learned: &[f64]) {
        if let Some(prior) = Prior::from_numbers(learned) {
            self.prior = prior;
        }
    }
}
