//! The title that a feed gives, looked for on the page.
//!
//! Headlines are rewritten after publication, so the comparison is lenient: words are compared by their first
//! letters, and it is enough that one heading or paragraph has half of them. The lead of a retitled article does; a
//! consent wall, an error page and most front pages do not.

use std::collections::HashSet;

use tidings_lang::is_unspaced;
use tidings_model::Document;

/// Words shorter than this are mostly function words.
const MIN_WORD_CHARS: usize = 4;
/// Letters of a word that are compared, as a simple stemmer.
const STEM_CHARS: usize = 5;
/// The share of the words of the title that one block of the page must have.
const MIN_SHARE: f64 = 0.5;

/// The result of looking for a title on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitleMatch {
    /// The feed gives no title, or one without words.
    Unknown,
    /// A heading or a paragraph has at least half of its words.
    Found,
    /// No part of the page has half of its words.
    Missing,
}

impl TitleMatch {
    /// Looks for the title of a feed in the title, the description and the text of a document.
    pub fn of(title: &str, document: &Document) -> TitleMatch {
        let mut wanted = stems(title, MIN_WORD_CHARS);
        if wanted.len() < 2 {
            wanted = stems(title, 1);
        }
        if wanted.is_empty() {
            return TitleMatch::Unknown;
        }
        let has_title = |text: &str| {
            let found = stems(text, 1);
            let shared = wanted.iter().filter(|stem| found.contains(*stem)).count();
            shared as f64 >= MIN_SHARE * wanted.len() as f64
        };
        let paragraphs = document.paragraphs.iter().chain(document.left_out.iter().map(|part| &part.paragraph));
        let about = [document.about.title.as_str(), document.about.description.as_str()];
        match about.into_iter().chain(paragraphs.map(|paragraph| paragraph.text.as_str())).any(has_title) {
            true => TitleMatch::Found,
            false => TitleMatch::Missing,
        }
    }
}

/// The stems of the words of a text; in scripts without spaces, its character bigrams.
fn stems(text: &str, min_chars: usize) -> HashSet<String> {
    let mut stems = HashSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let letters: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
        if letters.iter().any(|c| is_unspaced(*c)) {
            stems.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if letters.len() >= min_chars {
            stems.insert(letters.iter().take(STEM_CHARS).collect());
        }
    }
    stems
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::{PageMetadata, Paragraph};

    fn document(title: &str, texts: &[&str]) -> Document {
        let paragraphs = texts.iter().map(|text| Paragraph { text: (*text).to_owned(), ..Paragraph::default() });
        let about = PageMetadata { title: title.to_owned(), ..PageMetadata::default() };
        Document { about, paragraphs: paragraphs.collect(), ..Document::default() }
    }

    #[test]
    fn a_title_is_found_in_the_title_of_the_page_or_in_a_paragraph() {
        let page = document("Ferry returns in spring", &["The council decided on Monday."]);
        assert_eq!(TitleMatch::of("FERRY RETURNS IN SPRING!", &page), TitleMatch::Found);
        let retitled =
            document("A good day for the island", &["The ferry returns in spring, the council decided on Monday."]);
        assert_eq!(TitleMatch::of("Ferry to return in spring", &retitled), TitleMatch::Found);
        let inflected = document("", &["Starostové odmítli zvýšení poplatků za odpady v celém kraji."]);
        assert_eq!(TitleMatch::of("Odpady: starosta odmítá poplatky", &inflected), TitleMatch::Found);
    }

    #[test]
    fn a_consent_wall_does_not_have_the_title() {
        let wall = document("Before you continue", &["We use cookies and data to deliver and maintain our services."]);
        assert_eq!(TitleMatch::of("Ferry returns in spring", &wall), TitleMatch::Missing);
        // The words are spread over the teasers of a front page.
        let front = document("The Gazette", &["Ferry fares rise.", "Spring sale.", "The king returns."]);
        assert_eq!(TitleMatch::of("Ferry returns in spring with new crew", &front), TitleMatch::Missing);
    }

    #[test]
    fn scripts_without_spaces_are_compared_by_pairs_of_characters() {
        let page = document("", &["台风明天登陆东部沿海地区，学校停课。"]);
        assert_eq!(TitleMatch::of("台风明天登陆", &page), TitleMatch::Found);
        assert_eq!(TitleMatch::of("央行宣布降低利率", &page), TitleMatch::Missing);
    }

    #[test]
    fn a_title_without_words_is_unknown() {
        for title in ["", " – ", "!!"] {
            assert_eq!(TitleMatch::of(title, &document("", &["Rain."])), TitleMatch::Unknown, "{title}");
        }
    }
}
