//! Quality gate: rejects texts that are not worth having in a corpus, by named rules.
//!
//! Not every page has a main text worth counting words in: some consist of a caption, a table of
//! results, a list of keywords, or bytes decoded with the wrong encoding. Each rule has a name, a
//! measure and a limit; limits can be set for all languages and per language. Their cost in good
//! text is measured in docs/notes/gate.md.

mod limits;
mod measure;

use serde::Serialize;
use tidings_lang::UNKNOWN;
use tidings_model::Document;

pub(crate) use limits::tables as limit_tables;
pub use limits::{Gate, Limits};
pub use measure::Measures;

use crate::postprocess::leave_out;

/// Reason for rejecting a document.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rejection {
    /// Name of the rule.
    pub rule: &'static str,
    /// Measured value.
    pub measured: f64,
    /// Limit that was violated.
    pub limit: f64,
}

/// A rule: a measure, a limit, and the side of the limit that is rejected.
struct GateRule {
    name: &'static str,
    limit: fn(&Limits) -> Option<f64>,
    measure: fn(&Measures) -> f64,
    rejects: RejectedSide,
}

#[derive(Clone, Copy, PartialEq)]
enum RejectedSide {
    Below,
    Above,
}

/// The rules in order of evaluation. The names are those in `docs/dropped`.
const RULES: [GateRule; 8] = [
    GateRule {
        name: "too-short",
        limit: |l| l.least_words.map(f64::from),
        measure: |m| m.words,
        rejects: RejectedSide::Below,
    },
    GateRule {
        name: "few-sentences",
        limit: |l| l.least_sentences.map(f64::from),
        measure: |m| m.sentences,
        rejects: RejectedSide::Below,
    },
    GateRule {
        name: "bad-characters",
        limit: |l| l.most_bad_characters,
        measure: |m| m.bad_characters,
        rejects: RejectedSide::Above,
    },
    GateRule { name: "few-letters", limit: |l| l.least_letters, measure: |m| m.letters, rejects: RejectedSide::Below },
    GateRule {
        name: "list-like",
        limit: |l| l.most_unfinished,
        measure: |m| m.unfinished,
        rejects: RejectedSide::Above,
    },
    GateRule { name: "repeated", limit: |l| l.most_repeated, measure: |m| m.repeated, rejects: RejectedSide::Above },
    GateRule {
        name: "keyword-stuffing",
        limit: |l| l.most_of_one_word,
        measure: |m| m.one_word,
        rejects: RejectedSide::Above,
    },
    GateRule {
        name: "few-small-words",
        limit: |l| l.least_small_words,
        measure: |m| m.small_words,
        rejects: RejectedSide::Below,
    },
];

/// The names of all reasons for which the gate rejects documents.
pub fn reasons() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.name).chain([FOREIGN, UNKNOWN_LANGUAGE])
}

const FOREIGN: &str = "foreign";
const UNKNOWN_LANGUAGE: &str = "unknown-language";

/// Checks a document against the wanted languages and the limits.
pub(crate) fn check(document: &Document, limits: &Limits, wanted: &[String]) -> Result<(), Rejection> {
    let code = document.language_code();
    if !wanted.is_empty() && !wanted.contains(&code) {
        let rule = if code == UNKNOWN { UNKNOWN_LANGUAGE } else { FOREIGN };
        let score = document.about.language_score.unwrap_or_default();
        return Err(Rejection { rule, measured: score.into(), limit: 0.0 });
    }
    let measures = Measures::of(document);
    for rule in &RULES {
        let Some(limit) = (rule.limit)(limits) else { continue };
        let measured = (rule.measure)(&measures);
        let rejected = if rule.rejects == RejectedSide::Below { measured < limit } else { measured > limit };
        if rejected {
            // Rounded so that records are short and equal on every machine.
            let measured = (measured * 1000.0).round() / 1000.0;
            return Err(Rejection { rule: rule.name, measured, limit });
        }
    }
    Ok(())
}

/// Drops paragraphs decoded with the wrong encoding, so that they do not spoil the rest.
pub(crate) fn drop_bad_paragraphs(document: &mut Document, limits: &Limits) {
    let Some(most) = limits.most_bad_characters else { return };
    leave_out(document, "bad-characters", |paragraph| {
        measure::bad_share(std::iter::once(paragraph.text.as_str())) > most
    });
}

#[cfg(test)]
mod tests {
    use tidings_model::{Paragraph, ParagraphKind};

    use super::*;

    const PROSE: &str = "The river rose again during the night. The fire brigade had to close two of the roads, \
        and people in the lower town were told to stay at home until the water has gone.";

    fn rejected(paragraphs: &[(ParagraphKind, &str)]) -> Option<&'static str> {
        rejected_in("en", paragraphs, &Gate::default())
    }

    fn rejected_in(language: &str, paragraphs: &[(ParagraphKind, &str)], gate: &Gate) -> Option<&'static str> {
        let paragraphs = paragraphs.iter().map(|(kind, text)| Paragraph {
            kind: *kind,
            text: (*text).to_owned(),
            ..Paragraph::default()
        });
        let mut document = Document { paragraphs: paragraphs.collect(), ..Document::default() };
        document.about.language = language.to_owned();
        check(&document, &gate.limits(language), &[]).err().map(|rejection| rejection.rule)
    }

    #[test]
    fn prose_passes() {
        assert_eq!(
            rejected(&[
                (ParagraphKind::Heading { level: 1 }, "Flood"),
                (ParagraphKind::P, PROSE),
                (ParagraphKind::P, "It is over.")
            ]),
            None
        );
    }

    #[test]
    fn every_rule_rejects_its_kind_of_text() {
        let item = ParagraphKind::Item { depth: 1, ordered: false };
        assert_eq!(rejected(&[(ParagraphKind::P, "It rained.")]), Some("too-short"));
        let heap = "red shoes blue shoes green shoes ".repeat(12);
        assert_eq!(rejected(&[(ParagraphKind::P, &heap)]), Some("few-sentences"));
        let results = "Rovers 3 1. United 2 2. City 0 4. ".repeat(30);
        assert!(rejected(&[(ParagraphKind::P, &results)]).is_some());
        let list: Vec<String> = (0..60).map(|n| format!("Offer number {n} of the many")).collect();
        let mut list: Vec<(ParagraphKind, &str)> = list.iter().map(|text| (item, text.as_str())).collect();
        list.push((ParagraphKind::P, "Look. See. Buy."));
        assert_eq!(rejected(&list), Some("list-like"));
        assert_eq!(rejected(&[(ParagraphKind::P, PROSE); 8]), Some("repeated"));
        let stuffed = "Cheap flights, flights to Rome and flights to Oslo. Flights at night, flights by day, flights for all. \
            More flights for you: flights, flights, flights from here.";
        assert_eq!(rejected(&[(ParagraphKind::P, stuffed)]), Some("keyword-stuffing"));
        let broken = format!("{PROSE} {}", "\u{fffd}".repeat(40));
        assert_eq!(rejected(&[(ParagraphKind::P, &broken)]), Some("bad-characters"));
        let digits = format!("Results. {} End.", "12:31 4,5 99 / ".repeat(60));
        assert_eq!(rejected(&[(ParagraphKind::P, &digits)]), Some("few-letters"));
    }

    #[test]
    fn limits_can_differ_by_language() {
        let thai = "แม่น้ำเอ่อล้นตลิ่งอีกครั้งในตอนกลางคืน และเจ้าหน้าที่ดับเพลิงต้องปิดถนนสองสาย";
        assert_eq!(rejected_in("th", &[(ParagraphKind::P, thai)], &Gate::default()), None);
        let mut gate = Gate::default();
        gate.set("en", Limits { least_words: Some(2), ..Limits::default() });
        assert_eq!(rejected_in("en", &[(ParagraphKind::P, "It rained. It stopped.")], &gate), None);
        assert_eq!(rejected_in("de", &[(ParagraphKind::P, "Es regnete. Nun nicht.")], &gate), Some("too-short"));
    }

    #[test]
    fn a_bad_paragraph_is_left_out_and_the_others_stay() {
        let bad = "\u{fffd}\u{fffd}a\u{fffd}b".repeat(9);
        let paragraphs = [PROSE, &bad, PROSE].map(|text| Paragraph { text: text.to_owned(), ..Paragraph::default() });
        let mut document = Document { paragraphs: paragraphs.to_vec(), ..Document::default() };
        drop_bad_paragraphs(&mut document, &Gate::default().limits("en"));
        assert_eq!((document.paragraphs.len(), document.left_out.len()), (2, 1));
        assert_eq!((document.left_out[0].after, document.left_out[0].reason.as_str()), (1, "bad-characters"));
    }
}
