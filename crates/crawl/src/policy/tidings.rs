//! Thompson sampling over sections.
//!
//! The rate of an arm (value per cost) has a Gamma posterior: k + k0 pages with text in cost + k0 v / y0 bytes, v the
//! mean value of a page with text. An arm is drawn to its domain, a domain to a prior that is learned from the first
//! pages of all domains. A decision is one draw from each posterior; uncertain arms are tried as often as they may be
//! the best. Old evidence fades, so that a site that turns bad is noticed. A domain with a large share of all tokens is
//! damped, so that the corpus has many sources. Pages without text that show new URLs of good sections (hubs) are worth
//! a request where few such URLs wait.

use super::{
    ArmView, Choice, Closing, DomainView, Evidence, PageWorth, Policy,
    gamma::gamma,
    prior::{PROBE_PAGES, Prior, RatePrior, group},
};

/// The factor of earlier evidence at each page.
const KEEP: f64 = 0.99;
/// Shape of the distribution of arms' rates around the rate of their domain.
const ARM_SHAPE: f64 = 0.5;
/// Standard deviations above the mean of a rate that are surely not exceeded.
const SURE_DEVIATIONS: f64 = 3.0;
/// Other domains that are drawn anew at each decision.
const REDRAWS: usize = 16;
/// A domain may have so many times the share that it would have if all domains with text had the same: of few sources
/// each has a large share.
const FAIR_SHARES: f64 = 10.0;
/// The factor of the prior, in draws, of domains that only one other domain links to.
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

    /// The prior of a domain. Its pages in other languages draw it down before they show as cost: a site keeps its
    /// language, so that three of them say more than thirty galleries.
    fn domain_prior(&self, domain: &DomainView<'_>) -> RatePrior {
        let prior = self.prior.of(group(domain.hints, domain.source_rate));
        RatePrior { mean: prior.mean * domain.evidence.language_share(), ..prior }
    }

    /// The prior of an arm from the rate of its domain, drawn down by pages in other languages like that of a domain.
    fn arm_prior(domain_rate: f64, arm: &Evidence) -> RatePrior {
        RatePrior { mean: domain_rate * arm.language_share(), shape: ARM_SHAPE }
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

    fn choose(&mut self, domain: &DomainView<'_>, arms: &[ArmView]) -> Choice {
        let mut prior = self.domain_prior(domain);
        if !domain.trusted {
            prior.mean *= UNTRUSTED;
        }
        let (shape, scale) = self.posterior(domain.evidence, prior);
        let rate = gamma(&mut self.rng, shape) * scale;
        let mut best = Choice { priority: 0.0, arm: 0 };
        for (at, arm) in arms.iter().enumerate() {
            let (shape, scale) = self.posterior(&arm.evidence, Self::arm_prior(rate * arm.appeal, &arm.evidence));
            let draw = (gamma(&mut self.rng, shape) * scale).max(hub_rate(domain, &arm.evidence) * domain.dryness);
            if draw > best.priority {
                best = Choice { priority: draw, arm: at };
            }
        }
        let largest = self.largest_share.max(FAIR_SHARES / domain.sources.max(1) as f64);
        best.priority /= 1.0 + domain.share / largest;
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
        if domain.evidence.pages < PROBE_PAGES {
            return None;
        }
        let (shape, scale) = self.posterior(domain.evidence, self.domain_prior(domain));
        let (shape, scale) = self.posterior(arm, Self::arm_prior(shape * scale, arm));
        let bound = shape * scale + SURE_DEVIATIONS * shape.sqrt() * scale;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::DomainHints;

    const HINTS: DomainHints =
        DomainHints { tld_language: false, link_language: false, source_yield: 0.0, host_len: 0, distance: 0 };

    fn view(evidence: &Evidence, share: f64, trusted: bool) -> DomainView<'_> {
        DomainView {
            hints: &HINTS,
            source_rate: 0.0,
            trusted,
            evidence,
            best_rate: evidence.rate(),
            dryness: 0.0,
            share,
            sources: 1_000_000,
            turn: 0,
        }
    }

    /// Evidence of so many pages of 40 kB, each with so many tokens.
    fn pages(count: usize, tokens: u64) -> Evidence {
        let mut evidence = Evidence::default();
        let worth =
            PageWorth { bytes: 40_000, clean_bytes: 6 * tokens, tokens, new_share: 1.0, ..PageWorth::default() };
        (0..count).for_each(|_| evidence.add(&worth, KEEP));
        evidence
    }

    fn mean_priority(rule: &mut Tidings, domain: &DomainView<'_>, arms: &[ArmView]) -> f64 {
        (0..2_000).map(|_| rule.choose(domain, arms).priority).sum::<f64>() / 2_000.0
    }

    #[test]
    fn draws_are_around_the_rate_when_evidence_is_plenty() {
        let mut rule = Tidings::new(0.002, 0.02, 1);
        let rich = pages(300, 1_000);
        let mean = mean_priority(&mut rule, &view(&rich, 0.0, true), &[ArmView::plain(rich)]);
        assert!((mean / rich.rate() - 1.0).abs() < 0.1, "{mean} against {}", rich.rate());
    }

    #[test]
    fn the_arm_with_more_text_is_chosen() {
        let mut rule = Tidings::new(0.002, 0.02, 1);
        let arms = [pages(30, 0), pages(30, 900), pages(30, 100)].map(ArmView::plain);
        let all = pages(90, 333);
        let chosen = (0..100).filter(|_| rule.choose(&view(&all, 0.0, true), &arms).arm == 1).count();
        assert!(chosen > 95, "{chosen} of 100");
    }

    #[test]
    fn a_large_share_is_damped_and_an_untrusted_domain_waits() {
        let mut rule = Tidings::new(0.002, 0.02, 1);
        let rich = pages(300, 1_000);
        let small = mean_priority(&mut rule, &view(&rich, 0.0, true), &[ArmView::plain(rich)]);
        let large = mean_priority(&mut rule, &view(&rich, 0.02, true), &[ArmView::plain(rich)]);
        assert!((small / large / 2.0 - 1.0).abs() < 0.1, "{small} and {large}");
        let new = Evidence::default();
        let trusted = mean_priority(&mut rule, &view(&new, 0.0, true), &[ArmView::plain(new)]);
        let untrusted = mean_priority(&mut rule, &view(&new, 0.0, false), &[ArmView::plain(new)]);
        assert!(untrusted < 0.3 * trusted, "{untrusted} against {trusted}");
    }

    #[test]
    fn of_few_sources_each_may_have_a_large_share() {
        let mut rule = Tidings::new(0.002, 0.02, 1);
        let rich = pages(300, 1_000);
        let arms = [ArmView::plain(rich)];
        let of_many = mean_priority(&mut rule, &view(&rich, 0.1, true), &arms);
        let of_few = mean_priority(&mut rule, &DomainView { sources: 50, ..view(&rich, 0.1, true) }, &arms);
        assert!(of_few > 3.0 * of_many, "{of_few} against {of_many}");
    }

    #[test]
    fn an_arm_whose_form_has_no_text_elsewhere_waits() {
        let mut rule = Tidings::new(0.002, 0.02, 1);
        let (new, young) = (Evidence::default(), pages(3, 500));
        let arms = [ArmView { evidence: new, appeal: 0.1 }, ArmView::plain(new)];
        let chosen = (0..200).filter(|_| rule.choose(&view(&young, 0.0, true), &arms).arm == 1).count();
        assert!(chosen > 120, "{chosen} of 200");
    }

    #[test]
    fn an_arm_is_closed_when_its_rate_is_surely_below_the_floor_and_not_before_the_probe() {
        let rule = Tidings::new(0.002, 0.02, 1);
        let closes = |count| {
            let empty = pages(count, 0);
            rule.closes(&view(&empty, 0.0, true), &empty).is_some()
        };
        assert!(!closes(7));
        assert!(closes(200));
        let poor = pages(200, 30);
        assert!(rule.closes(&view(&poor, 0.0, true), &poor).is_none(), "a rate of {}", poor.rate());
    }

    #[test]
    fn pages_in_other_languages_close_an_arm_sooner_than_pages_without_text() {
        let rule = Tidings::new(0.002, 0.02, 1);
        let pages_until_closed = |foreign| {
            let worth = PageWorth { bytes: 80_000, foreign, ..PageWorth::default() };
            let mut evidence = Evidence::default();
            let closing = (1..500u64).find(|_| {
                evidence.add(&worth, KEEP);
                rule.closes(&view(&evidence, 0.0, true), &evidence).is_some()
            });
            closing.expect("a floor above 0")
        };
        let (foreign, empty) = (pages_until_closed(true), pages_until_closed(false));
        assert!((PROBE_PAGES..=empty / 2).contains(&foreign), "{foreign} and {empty} pages");
        let mut mixed = pages(30, 900);
        (0..10).for_each(|_| mixed.add(&PageWorth { bytes: 80_000, foreign: true, ..PageWorth::default() }, KEEP));
        assert!(rule.closes(&view(&mixed, 0.0, true), &mixed).is_none());
    }

    #[test]
    fn saved_numbers_give_the_same_rule() {
        let mut rule = Tidings::new(0.002, 0.02, 1);
        let one = pages(1, 500);
        let worth =
            PageWorth { bytes: 40_000, clean_bytes: 3_000, tokens: 500, new_share: 1.0, ..PageWorth::default() };
        (0..20).for_each(|_| rule.learn(&view(&one, 0.0, true), &worth));
        let mut again = Tidings::new(0.002, 0.02, 1);
        again.restore(&rule.learned());
        assert_eq!(again.learned(), rule.learned());
    }
}
