//! Which of the feeds that a crawl links to are worth a request.
//!
//! A crawl of a billion pages links to millions of feeds, most of them for the comments of one
//! article or in a language nobody asked for. What many pages link to is the feed of a site; what
//! lies in a country's domain, or on a site that has given good text before, is likely to be in the
//! language wanted.

use url::Url;

use super::site::languages_of_tld;

/// What a candidate must be to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// It was seen this often.
    pub min_seen: u64,
    /// Or, outside the countries of the languages: its site has this many good pages.
    pub min_good_pages: u64,
    /// The languages wanted, as two-letter codes; none means any, and then only counts matter.
    pub languages: Vec<String>,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter { min_seen: 20, min_good_pages: 20, languages: Vec::new() }
    }
}

/// Why a candidate is not asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// Seen too rarely, so far.
    Rare,
    /// Neither in a country of the languages nor on a site with good pages, so far.
    Unproven,
    /// Its address names another language.
    OtherLanguage(String),
    /// It lies in a country of other languages.
    OtherCountry(String),
}

impl Unfit {
    /// Whether time cannot heal it.
    pub fn is_final(&self) -> bool {
        matches!(self, Unfit::OtherLanguage(_) | Unfit::OtherCountry(_))
    }

    /// The reason in words.
    pub fn reason(&self) -> String {
        match self {
            Unfit::Rare => "seen too rarely".to_owned(),
            Unfit::Unproven => "no good pages on its site yet".to_owned(),
            Unfit::OtherLanguage(code) => format!("language code {code}"),
            Unfit::OtherCountry(tld) => format!("country .{tld}"),
        }
    }
}

impl Filter {
    /// Judges a candidate by its address, how often it was seen and how many good pages its site has.
    pub fn judge(&self, address: &str, seen: u64, good_pages: u64) -> Result<(), Unfit> {
        let Ok(url) = Url::parse(address) else { return Err(Unfit::OtherLanguage("?".to_owned())) };
        let host = url.host_str().unwrap_or_default();
        let wanted = |code: &str| self.languages.iter().any(|language| language == code);
        if !self.languages.is_empty() {
            let named = named_languages(&url);
            if let Some(other) = named.iter().find(|code| !wanted(code))
                && !named.iter().any(|code| wanted(code))
            {
                return Err(Unfit::OtherLanguage(other.clone()));
            }
            let of_country = languages_of_tld(host);
            if !of_country.is_empty() && !of_country.iter().any(|code| wanted(code)) {
                return Err(Unfit::OtherCountry(host.rsplit('.').next().unwrap_or_default().to_owned()));
            }
            if of_country.is_empty() && good_pages < self.min_good_pages {
                return Err(if seen < self.min_seen { Unfit::Rare } else { Unfit::Unproven });
            }
        }
        if seen < self.min_seen { Err(Unfit::Rare) } else { Ok(()) }
    }
}

/// The languages that an address names: in a step of its path, its first label, or a parameter.
fn named_languages(url: &Url) -> Vec<String> {
    let known = |word: &str| tidings_lang::language(word).is_some_and(|known| known.code == word && known.is_url_code);
    let code_of = |word: &str| {
        let word = word.to_ascii_lowercase();
        let primary = word.split(['-', '_']).next().unwrap_or_default().to_owned();
        // `en`, `en-us`; but `de-mail` is a word.
        let whole = primary.len() == word.len() || word.len() == 5;
        (whole && known(&primary) && word != "uk").then_some(primary)
    };
    let mut named: Vec<String> = Vec::new();
    named.extend(url.path_segments().into_iter().flatten().take(4).filter_map(code_of));
    let labels: Vec<&str> = url.host_str().unwrap_or_default().split('.').collect();
    if labels.len() > 2 {
        named.extend(code_of(labels[0]));
    }
    let parameter = |key: &str| matches!(key, "lang" | "language" | "hl" | "locale" | "l");
    named.extend(url.query_pairs().take(20).filter(|pair| parameter(&pair.0)).filter_map(|pair| code_of(&pair.1)));
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn german() -> Filter {
        Filter { languages: vec!["de".into()], ..Filter::default() }
    }

    #[test]
    fn a_feed_seen_often_in_its_country_passes() {
        assert_eq!(german().judge("https://zeitung.example.at/feed", 20, 0), Ok(()));
        assert_eq!(german().judge("https://zeitung.example.at/feed", 19, 0), Err(Unfit::Rare));
    }

    #[test]
    fn outside_the_country_good_pages_must_speak_for_the_site() {
        assert_eq!(german().judge("https://zeitung.com/feed", 500, 20), Ok(()));
        assert_eq!(german().judge("https://zeitung.com/feed", 500, 19), Err(Unfit::Unproven));
    }

    #[test]
    fn other_languages_and_countries_are_out_for_good() {
        for address in [
            "https://zeitung.de/en/feed",
            "https://en.zeitung.de/feed",
            "https://zeitung.de/feed?lang=en",
            "https://zeitung.de/en-us/feed",
        ] {
            assert_eq!(german().judge(address, 99, 99), Err(Unfit::OtherLanguage("en".into())), "{address}");
        }
        assert_eq!(german().judge("https://journal.fr/feed", 99, 99), Err(Unfit::OtherCountry("fr".into())));
        assert!(Unfit::OtherCountry("fr".into()).is_final() && !Unfit::Rare.is_final());
        assert_eq!(german().judge("https://zeitung.de/de-at/feed", 99, 0), Ok(()));
    }

    #[test]
    fn without_languages_only_counts_matter() {
        assert_eq!(Filter::default().judge("https://journal.fr/en/feed", 20, 0), Ok(()));
        assert_eq!(Filter::default().judge("https://journal.fr/en/feed", 19, 99), Err(Unfit::Rare));
    }
}
