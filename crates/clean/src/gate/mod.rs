//! Decides whether a text is good enough for a corpus, and says by which rule it is not.
//!
//! An extractor finds the main text of a page, but not every page has one worth counting words in:
//! some hold a caption, a table of results, a heap of keywords, or bytes read with the wrong alphabet.
//! Each rule is a row with a name, a measure and a limit; limits can be set for all languages and for
//! each. What they cost in good text was measured, see docs/notes/gate.md.

mod limits;
mod measure;

use serde::Serialize;
use tidings_lang::UNKNOWN;
use tidings_model::Document;

pub(crate) use limits::LANGUAGES_TSV;
pub use limits::{Gate, Limits};
pub use measure::Measures;

use crate::postprocess::take_out;

/// Why a document was refused.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Refusal {
    /// The name of the rule.
    pub rule: &'static str,
    /// What was measured.
    pub measured: f64,
    /// What is asked for.
    pub limit: f64,
}

/// A rule: what it looks at, and on which side of the limit it refuses.
struct Rule {
    name: &'static str,
    limit: fn(&Limits) -> Option<f64>,
    measure: fn(&Measures) -> f64,
    refuses: Side,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Below,
    Above,
}

/// The rules, in the order in which they are asked. The name is what `docs/dropped` says.
const RULES: [Rule; 8] = [
    Rule { name: "too-short", limit: |l| l.least_words.map(f64::from), measure: |m| m.words, refuses: Side::Below },
    Rule {
        name: "few-sentences",
        limit: |l| l.least_sentences.map(f64::from),
        measure: |m| m.sentences,
        refuses: Side::Below,
    },
    Rule {
        name: "bad-characters",
        limit: |l| l.most_bad_characters,
        measure: |m| m.bad_characters,
        refuses: Side::Above,
    },
    Rule { name: "few-letters", limit: |l| l.least_letters, measure: |m| m.letters, refuses: Side::Below },
    Rule { name: "list-like", limit: |l| l.most_unfinished, measure: |m| m.unfinished, refuses: Side::Above },
    Rule { name: "repeated", limit: |l| l.most_repeated, measure: |m| m.repeated, refuses: Side::Above },
    Rule { name: "keyword-stuffing", limit: |l| l.most_of_one_word, measure: |m| m.one_word, refuses: Side::Above },
    Rule { name: "few-small-words", limit: |l| l.least_small_words, measure: |m| m.small_words, refuses: Side::Below },
];

/// The names of all reasons for which the gate refuses documents.
pub fn reasons() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.name).chain([FOREIGN, UNKNOWN_LANGUAGE])
}

const FOREIGN: &str = "foreign";
const UNKNOWN_LANGUAGE: &str = "unknown-language";

/// Judges a document.
pub(crate) fn judge(document: &Document, limits: &Limits, wanted: &[String]) -> Result<(), Refusal> {
    let code = document.language_code();
    if !wanted.is_empty() && !wanted.contains(&code) {
        let rule = if code == UNKNOWN { UNKNOWN_LANGUAGE } else { FOREIGN };
        let score = document.about.language_score.unwrap_or_default();
        return Err(Refusal { rule, measured: score.into(), limit: 0.0 });
    }
    let measures = Measures::of(document);
    for rule in &RULES {
        let Some(limit) = (rule.limit)(limits) else { continue };
        let measured = (rule.measure)(&measures);
        let refused = if rule.refuses == Side::Below { measured < limit } else { measured > limit };
        if refused {
            // As many digits as anybody needs, and the same on every machine.
            let measured = (measured * 1000.0).round() / 1000.0;
            return Err(Refusal { rule: rule.name, measured, limit });
        }
    }
    Ok(())
}

/// Takes out paragraphs that no alphabet was found for: one of them does not spoil the others.
pub(crate) fn take_out_bad_paragraphs(document: &mut Document, limits: &Limits) {
    let Some(most) = limits.most_bad_characters else { return };
    take_out(document, "bad-characters", |paragraph| {
        measure::bad_share(std::iter::once(paragraph.text.as_str())) > most
    });
}

#[cfg(test)]
mod tests {
    use tidings_model::{Kind, Paragraph};

    use super::*;

    const PROSE: &str = "The river rose again during the night. The fire brigade had to close two of the roads, \
        and people in the lower town were told to stay at home until the water has gone.";

    fn refused(paragraphs: &[(Kind, &str)]) -> Option<&'static str> {
        refused_in("en", paragraphs, &Gate::default())
    }

    fn refused_in(language: &str, paragraphs: &[(Kind, &str)], gate: &Gate) -> Option<&'static str> {
        let paragraphs = paragraphs.iter().map(|(kind, text)| Paragraph {
            kind: *kind,
            text: (*text).to_owned(),
            ..Paragraph::default()
        });
        let mut document = Document { paragraphs: paragraphs.collect(), ..Document::default() };
        document.about.language = language.to_owned();
        judge(&document, &gate.limits(language), &[]).err().map(|refusal| refusal.rule)
    }

    #[test]
    fn prose_passes() {
        assert_eq!(refused(&[(Kind::Heading { level: 1 }, "Flood"), (Kind::P, PROSE), (Kind::P, "It is over.")]), None);
    }

    #[test]
    fn every_rule_refuses_what_it_is_for() {
        let item = Kind::Item { depth: 1, ordered: false };
        assert_eq!(refused(&[(Kind::P, "It rained.")]), Some("too-short"));
        let heap = "red shoes blue shoes green shoes ".repeat(12);
        assert_eq!(refused(&[(Kind::P, &heap)]), Some("few-sentences"));
        let results = "Rovers 3 1. United 2 2. City 0 4. ".repeat(30);
        assert!(refused(&[(Kind::P, &results)]).is_some());
        let list: Vec<String> = (0..60).map(|n| format!("Offer number {n} of the many")).collect();
        let mut list: Vec<(Kind, &str)> = list.iter().map(|text| (item, text.as_str())).collect();
        list.push((Kind::P, "Look. See. Buy."));
        assert_eq!(refused(&list), Some("list-like"));
        assert_eq!(refused(&[(Kind::P, PROSE); 8]), Some("repeated"));
        let stuffed = "Cheap flights, flights to Rome and flights to Oslo. Flights at night, flights by day, flights for all. \
            More flights for you: flights, flights, flights from here.";
        assert_eq!(refused(&[(Kind::P, stuffed)]), Some("keyword-stuffing"));
        let broken = format!("{PROSE} {}", "\u{fffd}".repeat(40));
        assert_eq!(refused(&[(Kind::P, &broken)]), Some("bad-characters"));
        let digits = format!("Results. {} End.", "12:31 4,5 99 / ".repeat(60));
        assert_eq!(refused(&[(Kind::P, &digits)]), Some("few-letters"));
    }

    #[test]
    fn a_language_may_ask_for_something_else() {
        let thai = "แม่น้ำเอ่อล้นตลิ่งอีกครั้งในตอนกลางคืน และเจ้าหน้าที่ดับเพลิงต้องปิดถนนสองสาย";
        assert_eq!(refused_in("th", &[(Kind::P, thai)], &Gate::default()), None);
        let mut gate = Gate::default();
        gate.set("en", Limits { least_words: Some(2), ..Limits::default() });
        assert_eq!(refused_in("en", &[(Kind::P, "It rained. It stopped.")], &gate), None);
        assert_eq!(refused_in("de", &[(Kind::P, "Es regnete. Nun nicht.")], &gate), Some("too-short"));
    }

    #[test]
    fn a_bad_paragraph_is_taken_out_and_the_others_stay() {
        let bad = "\u{fffd}\u{fffd}a\u{fffd}b".repeat(9);
        let paragraphs = [PROSE, &bad, PROSE].map(|text| Paragraph { text: text.to_owned(), ..Paragraph::default() });
        let mut document = Document { paragraphs: paragraphs.to_vec(), ..Document::default() };
        take_out_bad_paragraphs(&mut document, &Gate::default().limits("en"));
        assert_eq!((document.paragraphs.len(), document.left_out.len()), (2, 1));
        assert_eq!((document.left_out[0].after, document.left_out[0].reason.as_str()), (1, "bad-characters"));
    }
}
