//! Hints, and paragraphs that inherit the language of their neighbours.

use tidings_lang::{Hints, identify, identify_paragraphs, normalise};

fn declared(code: &str) -> Hints<'_> {
    Hints { declared: Some(code), tld: None }
}

fn under(tld: &str) -> Hints<'_> {
    Hints { declared: None, tld: Some(tld) }
}

const GERMAN: &str = "Die Lawine verschüttete am Sonntag zwei Tourengeher, die von der Bergrettung geborgen wurden.";
const FRENCH: &str = "Le gouvernement a annoncé mercredi une nouvelle aide pour les agriculteurs touchés par le gel.";
const ENGLISH: &str = "The council voted on Tuesday to close the bridge until the repairs have been finished.";
const CZECH: &str = "Vláda ve středu schválila zákon, který má usnadnit stavbu nových bytů ve velkých městech.";

#[test]
fn hints_never_overrule_clear_text() {
    let texts = [("de", GERMAN), ("fr", FRENCH), ("en", ENGLISH), ("cs", CZECH)];
    for (lang, text) in texts {
        for (other, _) in texts {
            let hints = Hints { declared: Some(other), tld: Some(other) };
            assert_eq!(identify(text, hints).lang, lang, "declared {other}: {text}");
        }
    }
}

#[test]
fn hints_decide_close_calls() {
    let text = "Stol je velik.";
    assert_eq!(identify(text, declared("hr")).lang, "hr");
    assert_eq!(identify(text, declared("bs-BA")).lang, "bs");
    let text = "Patrick marcou";
    assert_eq!(identify(text, Hints { declared: Some("pt-BR"), tld: Some("br") }).lang, "pt");
    assert_eq!(identify(text, Hints { declared: Some("gl"), tld: Some("gal") }).lang, "gl");
}

#[test]
fn text_without_words_stays_unknown_despite_hints() {
    for noise in ["2026-03-01 12:30", "https://example.org/?q=1", "+++ 3:2 +++", "😀", ""] {
        assert_eq!(identify(noise, declared("de")).lang, "und", "{noise}");
        assert_eq!(identify(noise, under("at")).lang, "und", "{noise}");
    }
    assert_eq!(identify(GERMAN, declared("no such code")).lang, "de");
}

#[test]
fn bokmal_nynorsk_and_danish_are_distinguished() {
    let guess = |text: &str| identify(text, Hints::default()).lang;
    assert_eq!(guess("Jeg vet ikke hva som skjedde med ham etter at han kom hjem fra jobben."), "nb");
    assert_eq!(guess("Eg veit ikkje kva som hende med han etter at han kom heim frå jobben."), "nn");
    assert_eq!(guess("Jeg ved ikke, hvad der skete med ham, efter at han kom hjem fra arbejde."), "da");
}

#[test]
fn a_short_heading_inherits_the_language_of_its_neighbours() {
    let guesses = identify_paragraphs(&["Sport", GERMAN, "Live", GERMAN, "Info", "12:30"], Hints::default());
    let langs: Vec<&str> = guesses.paragraphs.iter().map(|guess| guess.lang).collect();
    assert_eq!(guesses.document.lang, "de");
    assert_eq!(langs, ["de", "de", "de", "de", "de", "und"]);
}

#[test]
fn a_heading_between_foreign_paragraphs_inherits_their_language() {
    let paragraphs = [GERMAN, GERMAN, GERMAN, FRENCH, "Transport", FRENCH];
    let langs: Vec<&str> =
        identify_paragraphs(&paragraphs, Hints::default()).paragraphs.iter().map(|guess| guess.lang).collect();
    assert_eq!(langs, ["de", "de", "de", "fr", "fr", "fr"]);
}

#[test]
fn a_long_quotation_keeps_its_language() {
    let guesses = identify_paragraphs(&[GERMAN, ENGLISH, GERMAN], Hints::default());
    assert_eq!((guesses.document.lang, guesses.paragraphs[1].lang), ("de", "en"));
}

#[test]
fn a_megabyte_of_hostile_text_is_processed() {
    let units = ["a", " ", "ž ", "漢", "\u{301}", "Ã¢", "a\u{200d}", "क\u{94d}\u{200d}", "@", "A.B", "\u{fe0f}", "é\n"];
    for unit in units {
        let text = unit.repeat((1 << 20) / unit.len());
        identify(&text, Hints::default());
        assert!(normalise(&text).len() <= text.len());
    }
}
