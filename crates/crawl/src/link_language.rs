//! The language that a link promises, before anything of its site was fetched.
//!
//! Sites link to sites in their own language far more often than to others, so that the language of the linking page is
//! evidence where the link itself says nothing. A crawl of a scarce language spends most of its requests on sites whose
//! first pages only show that they are in another one.

use tidings_lang::{Hints, canonical, identify, named_languages};
use url::Url;

/// Letters of an anchor from which on its language is identified; most shorter ones are names.
const ANCHOR_LETTERS: usize = 24;
/// The confidence from which on the language of an anchor is believed.
const ANCHOR_SCORE: f32 = 0.9;

/// What a page says about the language of the target of one of its links.
#[derive(Debug, Clone, Copy)]
pub struct LinkEvidence<'a> {
    /// The target.
    pub url: &'a Url,
    /// The `hreflang` of the link.
    pub hreflang: Option<&'a str>,
    /// The anchor text.
    pub anchor: &'a str,
    /// The language of the page with the link.
    pub page: Option<&'a str>,
}

impl LinkEvidence<'_> {
    /// Whether the target is probably in a wanted language: by what the link declares, else by a language that its URL
    /// names, else by its anchor, else by the language of the page.
    pub fn promises(&self, wanted: impl Fn(&str) -> bool) -> bool {
        if let Some(declared) = self.hreflang.and_then(canonical) {
            return wanted(declared);
        }
        let named = named_languages(self.url);
        if !named.is_empty() {
            return named.into_iter().any(wanted);
        }
        self.anchor_language().or_else(|| self.page.and_then(canonical)).is_some_and(wanted)
    }

    fn anchor_language(&self) -> Option<&'static str> {
        if self.anchor.chars().filter(|c| c.is_alphabetic()).count() < ANCHOR_LETTERS {
            return None;
        }
        let guess = identify(self.anchor, Hints::default());
        (guess.is_known() && guess.score >= ANCHOR_SCORE).then_some(guess.lang)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promises_czech(url: &str, hreflang: Option<&str>, anchor: &str, page: Option<&str>) -> bool {
        let url = Url::parse(url).unwrap();
        LinkEvidence { url: &url, hreflang, anchor, page }.promises(|code| code == "cs")
    }

    #[test]
    fn the_surest_evidence_of_a_link_decides() {
        const CZECH: &str = "Vláda schválila nový rozpočet na příští rok, opozice jej kritizuje";
        const GERMAN: &str = "Die Regierung hat den neuen Haushalt für das nächste Jahr beschlossen";
        let front = "https://a.example/";
        assert!(promises_czech(front, None, "a.example", Some("cs")));
        assert!(!promises_czech(front, None, "a.example", Some("de")) && !promises_czech(front, None, "", None));
        assert!(promises_czech(front, None, CZECH, Some("de")) && !promises_czech(front, None, GERMAN, Some("cs")));
        assert!(promises_czech("https://a.example/cs/x", None, GERMAN, Some("de")));
        assert!(!promises_czech("https://en.a.example/x", None, CZECH, Some("cs")));
        assert!(promises_czech("https://en.a.example/x", Some("cs-CZ"), GERMAN, None));
        assert!(!promises_czech("https://a.example/cs/x", Some("en"), CZECH, Some("cs")));
    }
}
