//! Documents of one sentence for tests of questions.

use tidings_index::Day;
use tidings_model::{Annotated, AnnotatedParagraph, Attributes, Token};

/// A document of a site with these words, which are their own lemmas.
pub fn document(number: usize, day: Day, site: &str, words: &[impl AsRef<str>]) -> Annotated {
    let token = |word: &str| Token { word: word.into(), lemma: word.into(), ..Token::default() };
    Annotated {
        about: Attributes {
            id: number as u128 + 1,
            url: format!("https://{site}/{number}"),
            title: String::new(),
            date: day.to_string(),
            seen: day.to_string(),
            fields: vec![("site".to_owned(), site.to_owned())],
        },
        paragraphs: vec![AnnotatedParagraph {
            sentences: vec![words.iter().map(|word| token(word.as_ref())).collect()],
            ..AnnotatedParagraph::default()
        }],
        ..Annotated::default()
    }
}
