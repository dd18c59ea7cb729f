//! The filter of feed candidates from a crawl.
//!
//! A crawl of a billion pages links to millions of feeds, most of them comment feeds or in other languages. A feed
//! that many pages link to is the feed of a site. A feed under a national top-level domain, or on a site that has
//! given good text before, is likely to be in the wanted language.

use url::Url;

use super::site::languages_of_tld;

/// Conditions for probing a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The minimum number of pages that link to it.
    pub min_seen: u64,
    /// The minimum number of good pages of its site, if it is not under a national domain of the languages.
    pub min_good_pages: u64,
    /// The wanted languages as two-letter codes; if empty, only counts matter.
    pub languages: Vec<String>,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter { min_seen: 20, min_good_pages: 20, languages: Vec::new() }
    }
}

/// The reason for rejecting a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RejectReason {
    /// Too few links so far.
    Rare,
    /// Neither under a national domain of the languages nor on a site with good pages, so far.
    Unproven,
    /// Its URL names another language.
    OtherLanguage(String),
    /// It is under a national domain of other languages.
    OtherCountry(String),
}

impl RejectReason {
    /// Returns true if later evidence cannot change the decision.
    pub fn is_final(&self) -> bool {
        matches!(self, RejectReason::OtherLanguage(_) | RejectReason::OtherCountry(_))
    }

    /// The reason as text.
    pub fn reason(&self) -> String {
        match self {
            RejectReason::Rare => "seen too rarely".to_owned(),
            RejectReason::Unproven => "no good pages on its site yet".to_owned(),
            RejectReason::OtherLanguage(code) => format!("language code {code}"),
            RejectReason::OtherCountry(tld) => format!("country .{tld}"),
        }
    }
}

impl Filter {
    /// Checks a candidate by its URL, the number of links to it and the number of good pages of its site.
    pub fn check(&self, address: &str, seen: u64, good_pages: u64) -> Result<(), RejectReason> {
        let Ok(url) = Url::parse(address) else { return Err(RejectReason::OtherLanguage("?".to_owned())) };
        let host = url.host_str().unwrap_or_default();
        let wanted = |code: &str| self.languages.iter().any(|language| language == code);
        if !self.languages.is_empty() {
            let named = tidings_lang::named_languages(&url);
            if let Some(other) = named.iter().find(|code| !wanted(code))
                && !named.iter().any(|code| wanted(code))
            {
                return Err(RejectReason::OtherLanguage((*other).to_owned()));
            }
            let of_country = languages_of_tld(host);
            if !of_country.is_empty() && !of_country.iter().any(|code| wanted(code)) {
                return Err(RejectReason::OtherCountry(host.rsplit('.').next().unwrap_or_default().to_owned()));
            }
            if of_country.is_empty() && good_pages < self.min_good_pages {
                return Err(if seen < self.min_seen { RejectReason::Rare } else { RejectReason::Unproven });
            }
        }
        if seen < self.min_seen { Err(RejectReason::Rare) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn german() -> Filter {
        Filter { languages: vec!["de".into()], ..Filter::default() }
    }

    #[test]
    fn a_frequent_feed_under_a_national_domain_passes() {
        assert_eq!(german().check("https://zeitung.example.at/feed", 20, 0), Ok(()));
        assert_eq!(german().check("https://zeitung.example.at/feed", 19, 0), Err(RejectReason::Rare));
    }

    #[test]
    fn outside_national_domains_a_site_needs_good_pages() {
        assert_eq!(german().check("https://zeitung.com/feed", 500, 20), Ok(()));
        assert_eq!(german().check("https://zeitung.com/feed", 500, 19), Err(RejectReason::Unproven));
    }

    #[test]
    fn other_languages_and_countries_are_rejected_for_good() {
        for address in [
            "https://zeitung.de/en/feed",
            "https://en.zeitung.de/feed",
            "https://zeitung.de/feed?lang=en",
            "https://zeitung.de/en-us/feed",
        ] {
            assert_eq!(german().check(address, 99, 99), Err(RejectReason::OtherLanguage("en".into())), "{address}");
        }
        assert_eq!(german().check("https://journal.fr/feed", 99, 99), Err(RejectReason::OtherCountry("fr".into())));
        assert!(RejectReason::OtherCountry("fr".into()).is_final() && !RejectReason::Rare.is_final());
        assert_eq!(german().check("https://zeitung.de/de-at/feed", 99, 0), Ok(()));
    }

    #[test]
    fn without_languages_only_counts_matter() {
        assert_eq!(Filter::default().check("https://journal.fr/en/feed", 20, 0), Ok(()));
        assert_eq!(Filter::default().check("https://journal.fr/en/feed", 19, 99), Err(RejectReason::Rare));
    }
}
