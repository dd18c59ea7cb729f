//! What a request is expected to bring, by the evidence for it.
//!
//! Each kind of evidence has a record: how many requests it caused and how many feeds they found.
//! The record starts with what is known about the web at large and grows with every answer, so that
//! a corpus about blogs soon asks differently from one about newspapers. The estimate is the mean
//! of a Beta distribution plus a share of its spread: evidence that was hardly ever tried is worth
//! a try. There is no chance in it: the same record gives the same order.

/// Why an address is believed to be a feed, or to lead to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// Somebody said so: a person on the command line.
    Given,
    /// It stands in a list of feeds.
    Listed,
    /// A page declares it with the media type of a feed.
    Declared,
    /// A page declares something that looks like one.
    Loose,
    /// The site is known to make feeds by rule.
    Rule,
    /// The program that made the site puts its feed there.
    Program,
    /// A link whose address looks like a feed.
    Address,
    /// A link that calls itself a feed.
    Text,
    /// A site map lists it.
    Sitemap,
    /// A common path, guessed.
    Path,
    /// Not a feed but a page, from which a sequence may lead to one.
    Page,
}

/// Evidence, its word, and what is believed before anything was asked: of so many requests, so many
/// found a feed. From the shares in which pages declare feeds and curated feeds lie at common paths.
const PRIORS: &[(Evidence, &str, f64, f64)] = &[
    (Evidence::Given, "given", 5.0, 10.0),
    (Evidence::Listed, "listed", 9.0, 10.0),
    (Evidence::Declared, "declared", 9.0, 10.0),
    (Evidence::Loose, "loose", 6.0, 10.0),
    (Evidence::Rule, "rule", 9.0, 10.0),
    (Evidence::Program, "program", 6.0, 10.0),
    (Evidence::Address, "address", 6.0, 10.0),
    (Evidence::Text, "text", 4.0, 10.0),
    (Evidence::Sitemap, "sitemap", 5.0, 10.0),
    (Evidence::Path, "path", 1.0, 10.0),
    (Evidence::Page, "page", 2.0, 10.0),
];

impl Evidence {
    /// The word in tables.
    pub fn name(self) -> &'static str {
        PRIORS.iter().find(|row| row.0 == self).map_or("page", |row| row.1)
    }

    /// The evidence of a word.
    pub fn from_name(name: &str) -> Option<Evidence> {
        PRIORS.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The evidence of a link on a page.
    pub fn of_link(evidence: crate::links::Evidence) -> Evidence {
        match evidence {
            crate::links::Evidence::Declared => Evidence::Declared,
            crate::links::Evidence::DeclaredLoosely => Evidence::Loose,
            crate::links::Evidence::Address => Evidence::Address,
            crate::links::Evidence::Text => Evidence::Text,
        }
    }
}

/// The record of each kind of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidencePriors {
    /// Feeds found and requests made, the prior included, in the order of `PRIORS`.
    counts: Vec<(f64, f64)>,
}

impl Default for EvidencePriors {
    fn default() -> EvidencePriors {
        EvidencePriors { counts: PRIORS.iter().map(|row| (row.2, row.3)).collect() }
    }
}

impl EvidencePriors {
    /// Adds to the record: so many requests on this evidence, and whether they found a feed.
    pub fn record(&mut self, evidence: Evidence, found: bool, requests: u32) {
        let at = PRIORS.iter().position(|row| row.0 == evidence).unwrap_or(PRIORS.len() - 1);
        let (feeds, requests_made) = &mut self.counts[at];
        *feeds += f64::from(u8::from(found));
        *requests_made += f64::from(requests.max(1));
    }

    /// Feeds that a request on this evidence is expected to find: the mean and a share of the spread.
    pub fn expected(&self, evidence: Evidence) -> f64 {
        let at = PRIORS.iter().position(|row| row.0 == evidence).unwrap_or(PRIORS.len() - 1);
        let (feeds, requests_made) = self.counts[at];
        let mean = feeds / requests_made;
        (mean + 0.5 * (mean * (1.0 - mean) / (requests_made + 1.0)).sqrt()).min(1.0)
    }

    /// What asking for a candidate is worth: the more pages link to it the better, and the less the
    /// more feeds of its site are known already.
    pub fn score(&self, evidence: Evidence, seen: u64, known_on_site: u64) -> f64 {
        let popularity = 1.0 + (seen.max(1) as f64).log2() / 10.0;
        self.expected(evidence) * popularity / (1.0 + known_on_site as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_evidence_has_a_unique_name() {
        for (evidence, name, ..) in PRIORS {
            assert_eq!((evidence.name(), Evidence::from_name(name)), (*name, Some(*evidence)));
        }
    }

    #[test]
    fn declared_feeds_are_asked_before_guessed_ones() {
        let priors = EvidencePriors::default();
        assert!(priors.expected(Evidence::Declared) > priors.expected(Evidence::Address));
        assert!(priors.expected(Evidence::Address) > priors.expected(Evidence::Path));
        assert!(priors.score(Evidence::Declared, 100, 0) > priors.score(Evidence::Declared, 1, 0));
        assert!(priors.score(Evidence::Declared, 1, 0) > priors.score(Evidence::Declared, 100, 2));
    }

    #[test]
    fn experience_overrules_what_was_believed() {
        let mut priors = EvidencePriors::default();
        for _ in 0..100 {
            priors.record(Evidence::Declared, false, 1);
            priors.record(Evidence::Path, true, 1);
        }
        assert!(priors.expected(Evidence::Path) > priors.expected(Evidence::Declared));
    }
}
