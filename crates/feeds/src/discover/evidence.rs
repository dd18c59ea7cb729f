//! Evidence for feeds and its expected success rate.
//!
//! Each kind of evidence has a count of requests and of feeds found. The counts start from a prior and grow with
//! every result, so a corpus of blogs soon ranks differently from one of newspapers. The estimate is the mean of a
//! Beta distribution plus a share of its standard deviation, an upper confidence bound that favours evidence
//! rarely tried. It is deterministic: the same counts give the same order.

/// The evidence that a URL is a feed or leads to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// Given by the user on the command line.
    Given,
    /// In a list of feeds.
    Listed,
    /// Declared by a page with the media type of a feed.
    Declared,
    /// Declared by a page, and looks like a feed.
    Loose,
    /// Follows from the rules of a known platform.
    Rule,
    /// The usual path of the site's CMS.
    Program,
    /// Linked, and the URL looks like a feed.
    Address,
    /// Linked with a text that names a feed.
    Text,
    /// In a sitemap.
    Sitemap,
    /// A common path.
    Path,
    /// Not a feed but a page that a probe sequence starts from.
    Page,
}

/// Evidence, its name, and the prior: feeds found and requests made. From the shares of pages that declare feeds
/// and of curated feeds at common paths.
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
    /// The name in tables.
    pub fn name(self) -> &'static str {
        PRIORS.iter().find(|row| row.0 == self).map_or("page", |row| row.1)
    }

    /// The evidence with this name.
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

/// Success counts by evidence, starting from the priors.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidencePriors {
    /// Feeds found and requests made, including the prior, in the order of `PRIORS`.
    counts: Vec<(f64, f64)>,
}

impl Default for EvidencePriors {
    fn default() -> EvidencePriors {
        EvidencePriors { counts: PRIORS.iter().map(|row| (row.2, row.3)).collect() }
    }
}

impl EvidencePriors {
    /// Adds requests on this evidence and whether they found a feed.
    pub fn record(&mut self, evidence: Evidence, found: bool, requests: u32) {
        let at = PRIORS.iter().position(|row| row.0 == evidence).unwrap_or(PRIORS.len() - 1);
        let (feeds, requests_made) = &mut self.counts[at];
        *feeds += f64::from(u8::from(found));
        *requests_made += f64::from(requests.max(1));
    }

    /// The expected number of feeds per request: the posterior mean plus half a standard deviation.
    pub fn expected(&self, evidence: Evidence) -> f64 {
        let at = PRIORS.iter().position(|row| row.0 == evidence).unwrap_or(PRIORS.len() - 1);
        let (feeds, requests_made) = self.counts[at];
        let mean = feeds / requests_made;
        (mean + 0.5 * (mean * (1.0 - mean) / (requests_made + 1.0)).sqrt()).min(1.0)
    }

    /// The score of a candidate: it grows with the number of links to it and falls with the number of known feeds
    /// of its site.
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
    fn declared_feeds_rank_before_guessed_paths() {
        let priors = EvidencePriors::default();
        assert!(priors.expected(Evidence::Declared) > priors.expected(Evidence::Address));
        assert!(priors.expected(Evidence::Address) > priors.expected(Evidence::Path));
        assert!(priors.score(Evidence::Declared, 100, 0) > priors.score(Evidence::Declared, 1, 0));
        assert!(priors.score(Evidence::Declared, 1, 0) > priors.score(Evidence::Declared, 100, 2));
    }

    #[test]
    fn counts_override_the_priors() {
        let mut priors = EvidencePriors::default();
        for _ in 0..100 {
            priors.record(Evidence::Declared, false, 1);
            priors.record(Evidence::Path, true, 1);
        }
        assert!(priors.expected(Evidence::Path) > priors.expected(Evidence::Declared));
    }
}
