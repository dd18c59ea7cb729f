//! Identifies the language of a document and of its paragraphs.

use tidings_lang::{Guess, Hints, UNKNOWN, canonical, identifiable, identify_paragraphs};
use tidings_model::{Document, DroppedParagraph, ParagraphKind};

use super::ForeignParagraphs;

/// Identifies the language from the text, with the declared language and the top-level domain as
/// hints.
pub fn identify(document: &mut Document) {
    let declared = std::mem::take(&mut document.about.language);
    let tld = document.site.rsplit('.').next().filter(|label| !label.is_empty());
    let hints = Hints { declared: Some(declared.as_str()).filter(|tag| !tag.is_empty()), tld };
    let of_prose = |kind: ParagraphKind| !matches!(kind, ParagraphKind::Code);
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
    let language = tag(&guesses.document, &declared);
    if language != declared {
        document.about.declared_language = declared;
    }
    document.about.language = language;
    document.about.language_score = Some(rounded(guesses.document.score));
}

/// The language tag of a document: the declared one if it agrees (it may be more specific), or if
/// it names a language that cannot be identified and the text is in none that can.
fn tag(guess: &Guess, declared: &str) -> String {
    let declared_code = canonical(declared);
    let agrees = declared_code == Some(guess.lang);
    let unidentifiable =
        !guess.is_known() && declared_code.is_some_and(|code| !identifiable().any(|known| known == code));
    if agrees || unidentifiable { declared.to_owned() } else { guess.lang.to_owned() }
}

/// Rounded to three digits, which are equal on every machine.
fn rounded(score: f32) -> f32 {
    (score * 1000.0).round() / 1000.0
}

/// Drops the paragraphs in another language if `foreign` says so. A document of unknown language
/// has no foreign paragraphs.
pub fn leave_out_foreign(document: &mut Document, foreign: ForeignParagraphs) {
    if foreign == ForeignParagraphs::Drop && document.about.language != UNKNOWN {
        leave_out(document, "foreign", |paragraph| !paragraph.language.is_empty());
    }
}

/// Moves the paragraphs that satisfy `is_out` to the left-out paragraphs.
pub(crate) fn leave_out(document: &mut Document, reason: &str, is_out: impl Fn(&tidings_model::Paragraph) -> bool) {
    let mut kept = Vec::with_capacity(document.paragraphs.len());
    for paragraph in document.paragraphs.drain(..) {
        if is_out(&paragraph) {
            document.left_out.push(DroppedParagraph { after: kept.len(), reason: reason.to_owned(), paragraph });
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
    fn the_text_takes_precedence_over_the_declaration() {
        let mut wrong = document("en", &[GERMAN, GERMAN]);
        identify(&mut wrong);
        assert_eq!((wrong.about.language.as_str(), wrong.about.declared_language.as_str()), ("de", "en"));
        let mut right = document("de-AT", &[GERMAN]);
        identify(&mut right);
        assert_eq!((right.about.language.as_str(), right.about.declared_language.as_str()), ("de-AT", ""));
        assert!(right.about.language_score.unwrap() > 0.9);
    }

    #[test]
    fn a_foreign_paragraph_is_marked_or_left_out_and_headings_are_not() {
        let mut marked = document("", &["Wetter", GERMAN, ENGLISH, GERMAN]);
        identify(&mut marked);
        let languages: Vec<&str> = marked.paragraphs.iter().map(|paragraph| paragraph.language.as_str()).collect();
        assert_eq!(languages, ["", "", "en", ""]);
        leave_out_foreign(&mut marked, ForeignParagraphs::Mark);
        assert_eq!(marked.paragraphs.len(), 4);
        leave_out_foreign(&mut marked, ForeignParagraphs::Drop);
        assert_eq!(marked.paragraphs.len(), 3);
        assert_eq!((marked.left_out[0].after, marked.left_out[0].reason.as_str()), (2, "foreign"));
        assert_eq!(marked.left_out[0].paragraph.text, ENGLISH);
    }

    #[test]
    fn text_without_letters_has_an_unknown_language() {
        let mut numbers = document("de", &["12 : 14", "2026-03-01"]);
        identify(&mut numbers);
        assert_eq!((numbers.language_code().as_str(), numbers.about.declared_language.as_str()), ("und", "de"));
    }
}
