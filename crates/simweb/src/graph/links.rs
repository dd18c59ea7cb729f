//! Links between sites: half by popularity, half to sites of like quality, and most within a language.

use std::collections::HashMap;

use super::site::Site;
use super::spec::Quality;
use crate::rng::Rng;

/// The percentage of links that stay within the language.
const HOMOPHILY_PERCENT: u64 = 80;

/// Sites with their cumulated popularity.
#[derive(Debug, Default)]
struct Group {
    sites: Vec<u32>,
    cumulated: Vec<f64>,
}

impl Group {
    fn add(&mut self, site: &Site) {
        let before = self.cumulated.last().copied().unwrap_or_default();
        self.sites.push(site.number);
        self.cumulated.push(before + site.popularity);
    }

    fn pick(&self, rng: &mut Rng) -> Option<u32> {
        let drawn = rng.unit() * self.cumulated.last()?;
        let at = self.cumulated.partition_point(|sum| *sum <= drawn);
        self.sites.get(at.min(self.sites.len() - 1)).copied()
    }
}

/// The groups among which targets of links are drawn.
#[derive(Debug, Default)]
pub struct LinkTargets {
    groups: HashMap<(Option<&'static str>, Option<Quality>), Group>,
}

impl LinkTargets {
    pub fn new(sites: &[Site]) -> Self {
        let mut targets = LinkTargets::default();
        for site in sites {
            for language in [None, Some(site.language)] {
                for quality in [None, Some(site.quality)] {
                    targets.groups.entry((language, quality)).or_default().add(site);
                }
            }
        }
        targets
    }

    /// The target of a link from a site.
    pub fn pick(&self, from: &Site, rng: &mut Rng) -> Option<u32> {
        let language = rng.chance(HOMOPHILY_PERCENT).then_some(from.language);
        let quality = rng.chance(50).then_some(from.quality);
        self.groups.get(&(language, quality))?.pick(rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphSpec;
    use crate::graph::site::create;

    #[test]
    fn most_links_stay_within_the_language_and_many_within_the_quality() {
        let sites = create(&GraphSpec { sites: 1000, ..GraphSpec::default() });
        let targets = LinkTargets::new(&sites);
        let mut rng = Rng::named(&[1]);
        let from =
            sites.iter().find(|site| site.quality == Quality::Rich && site.language == "de").expect("a rich site");
        let drawn: Vec<&Site> =
            (0..4000).filter_map(|_| targets.pick(from, &mut rng)).map(|number| &sites[number as usize]).collect();
        let share = |test: &dyn Fn(&Site) -> bool| drawn.iter().filter(|site| test(site)).count() as f64 / 4000.0;
        assert!(share(&|site| site.language == "de") > 0.8);
        assert!(share(&|site| site.quality == Quality::Rich) > 0.5);
    }
}
