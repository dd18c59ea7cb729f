//! Tells the language of a document and marks the paragraphs that are in another.

use tidings_lang::{Guess, Hints, UNKNOWN, canonical, identifiable, identify_paragraphs};
use tidings_model::{Document, Kind, LeftOut};

use super::Foreign;

/// Tells the language by the text, with what the page declares and its domain as hints.
pub fn tell(document: &mut Document) {
    let declared = std::mem::take(&mut document.about.language);
    let tld = document.site.rsplit('.').next().filter(|label| !label.is_empty());
    let hints = Hints { declared: Some(declared.as_str()).filter(|tag| !tag.is_empty()), tld };
    let of_prose = |kind: Kind| !matches!(kind, Kind::Code);
    let prose: Vec<&str> = document
        .paragraphs
        .iter()
        .map(|paragraph| if of_prose(paragraph.kind) { paragraph.text.as_str() } else { "" })
        .collect();
    let guesses = identify_paragraphs(&prose, hints);
    for (paragraph, guess) in document.paragraphs.iter_mut().zip(&guesses.paragraphs) {
        let is_foreign = guess.is_known() && guess.lang != guesses.document.lang;
        paragraph.language = if is_foreign { guess.lang.to_owned() } else { String::new() };
    }
    let told = tag(&guesses.document, &declared);
    if told != declared {
        document.about.declared_language = declared;
    }
    document.about.language = told;
    document.about.language_score = Some(rounded(guesses.document.score));
}

/// The tag of a document: the declared one where it says the same in more words, or where it names a
/// language that we cannot tell and the text is in none that we can.
fn tag(guess: &Guess, declared: &str) -> String {
    let said = canonical(declared);
    let agrees = said == Some(guess.lang);
    let beyond_us = !guess.is_known() && said.is_some_and(|code| !identifiable().any(|known| known == code));
    if agrees || beyond_us { declared.to_owned() } else { guess.lang.to_owned() }
}

/// Three digits are more than a score knows, and the same on every machine.
fn rounded(score: f32) -> f32 {
    (score * 1000.0).round() / 1000.0
}

/// Takes out the paragraphs that are in another language, if that is wished. A document whose own
/// language is unknown has nothing foreign in it.
pub fn take_out_foreign(document: &mut Document, foreign: Foreign) {
    if foreign == Foreign::Drop && document.about.language != UNKNOWN {
        take_out(document, "foreign", |paragraph| !paragraph.language.is_empty());
    }
}

/// Takes the paragraphs out that a rule names, and keeps them beside the text.
pub(crate) fn take_out(document: &mut Document, reason: &str, is_out: impl Fn(&tidings_model::Paragraph) -> bool) {
    let mut kept = Vec::with_capacity(document.paragraphs.len());
    for paragraph in document.paragraphs.drain(..) {
        if is_out(&paragraph) {
            document.left_out.push(LeftOut { after: kept.len(), reason: reason.to_owned(), paragraph });
        } else {
            kept.push(paragraph);
        }
    }
    document.paragraphs = kept;
}

#[cfg(test)]
mod tests {
    use tidings_model::Paragraph;

    use super::*;

    const GERMAN: &str =
        "Der Fluss ist in der Nacht über die Ufer getreten, und die Feuerwehr hat zwei Straßen gesperrt.";
    const ENGLISH: &str = "The river rose again during the night, and the fire brigade had to close two of the roads.";

    fn document(declared: &str, texts: &[&str]) -> Document {
        let paragraphs = texts.iter().map(|text| Paragraph { text: (*text).to_owned(), ..Paragraph::default() });
        let mut document =
            Document { site: "zeitung.example".into(), paragraphs: paragraphs.collect(), ..Document::default() };
        document.about.language = declared.to_owned();
        document
    }

    #[test]
    fn the_text_is_believed_before_the_page() {
        let mut wrong = document("en", &[GERMAN, GERMAN]);
        tell(&mut wrong);
        assert_eq!((wrong.about.language.as_str(), wrong.about.declared_language.as_str()), ("de", "en"));
        let mut right = document("de-AT", &[GERMAN]);
        tell(&mut right);
        assert_eq!((right.about.language.as_str(), right.about.declared_language.as_str()), ("de-AT", ""));
        assert!(right.about.language_score.unwrap() > 0.9);
    }

    #[test]
    fn a_foreign_paragraph_is_marked_or_taken_out_and_headings_are_not() {
        let mut marked = document("", &["Wetter", GERMAN, ENGLISH, GERMAN]);
        tell(&mut marked);
        let languages: Vec<&str> = marked.paragraphs.iter().map(|paragraph| paragraph.language.as_str()).collect();
        assert_eq!(languages, ["", "", "en", ""]);
        take_out_foreign(&mut marked, Foreign::Mark);
        assert_eq!(marked.paragraphs.len(), 4);
        take_out_foreign(&mut marked, Foreign::Drop);
        assert_eq!(marked.paragraphs.len(), 3);
        assert_eq!((marked.left_out[0].after, marked.left_out[0].reason.as_str()), (2, "foreign"));
        assert_eq!(marked.left_out[0].paragraph.text, ENGLISH);
    }

    #[test]
    fn what_tells_no_language_is_unknown_unless_the_page_names_one_that_we_cannot_tell() {
        let mut numbers = document("de", &["12 : 14", "2026-03-01"]);
        tell(&mut numbers);
        assert_eq!((numbers.language_code().as_str(), numbers.about.declared_language.as_str()), ("und", "de"));
    }
}
