//! Comparison of two parts of an indexed corpus: within sites, and from document to document.

#[path = "common/documents.rs"]
mod documents;

use documents::document;
use std::path::Path;
use tidings_index::{Day, build};
use tidings_query::engine::Engine;
use tidings_query::question::{
    CompareRequest, Comparison, ContentParams, ContrastUnit, FocusParams, Keywords, KeywordsRequest, Parsed, Question,
    QuestionContext, Request,
};

const DAYS: i32 = 60;
const FIRST: Day = Day(20_000);
/// Without tags, frequent words of the stop list are left out, and in a corpus of four words all are frequent.
const ALL_WORDS: ContentParams = ContentParams { all_words: true };

/// Four sites for sixty days and two more for the second half, which write of `football`; `harbour` becomes three times
/// as frequent everywhere.
fn corpus(folder: &Path) -> Engine {
    let mut documents = Vec::new();
    for day in 0..DAYS {
        let is_later = day >= DAYS / 2;
        for site in 0..if is_later { 6 } else { 4 } {
            for number in 0..4 {
                let mut words = vec!["the"; 20];
                words.push("town");
                let noise = (day * 7 + site * 5 + number * 3) % 11;
                if site >= 4 || noise == 0 {
                    words.push("football");
                }
                if noise < if is_later { 6 } else { 2 } {
                    words.push("harbour");
                }
                let name = format!("site{site}.example");
                documents.push(document(documents.len(), Day(FIRST.0 + day), &name, &words));
            }
        }
    }
    Engine::new(build(folder, &documents).expect("an index"))
}

fn halves() -> (String, String) {
    let middle = Day(FIRST.0 + DAYS / 2);
    (format!("date<{middle}"), format!("date>={middle}"))
}

fn compare(engine: &Engine, before: &str, after: &str) -> Comparison {
    let request = CompareRequest {
        before: Parsed::new(before).expect("a filter"),
        after: Parsed::new(after).expect("a filter"),
        content: ALL_WORDS,
        ..CompareRequest::example()
    };
    request.answer(&QuestionContext::new(engine, "en")).expect("an answer").body
}

fn keywords(engine: &Engine, focus: &str) -> Keywords {
    let focus = Parsed::new(focus).expect("a filter");
    let request = KeywordsRequest { parts: FocusParams::of(focus), content: ALL_WORDS, ..KeywordsRequest::example() };
    request.answer(&QuestionContext::new(engine, "en")).expect("an answer").body
}

#[test]
fn words_of_new_sites_are_no_differences_and_words_that_rise_on_all_sites_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = corpus(folder.path());
    let (before, after) = halves();
    let found = compare(&engine, &before, &after);
    let basis = found.basis.as_ref().expect("the answer is whole");
    assert!(basis.within_sites && basis.unit == ContrastUnit::Day, "{found:?}");
    assert_eq!(basis.sites, 4);
    assert!(found.notes.len() == 1 && found.notes[0].contains("list of sites changed"), "{found:?}");
    let values: Vec<&str> = found.rows.iter().map(|row| row.value.as_str()).collect();
    assert_eq!(values, ["harbour"], "{found:?}");
    let row = &found.rows[0];
    assert!((row.log_ratio - 3f64.log2()).abs() < 0.2 && row.band.low > 1.0 && row.q < 1e-3, "{row:?}");

    // Football is four times as frequent over all sites, so that it leads by the measure; it is not significant.
    let found = keywords(&engine, &after);
    let rows: Vec<(&str, bool)> =
        found.rows.iter().map(|row| (row.value.as_str(), row.q.is_some_and(|q| q <= 0.05))).collect();
    assert_eq!((found.significant, &rows[..2]), (1, &[("harbour", true), ("football", false)][..]), "{found:?}");
    assert!(found.rows[1].score > found.rows[0].score && found.rows[1].site_log_ratio.is_some(), "{found:?}");
}

#[test]
fn parts_without_common_sites_are_compared_from_document_to_document() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = corpus(folder.path());
    let found = compare(&engine, "site=site0.example", "site=site5.example");
    let basis = found.basis.as_ref().expect("the answer is whole");
    assert!(!basis.within_sites && basis.unit == ContrastUnit::Document && basis.sites == 0);
    assert!(found.notes[0].contains("no site in common"), "{found:?}");
    assert!(found.rows.iter().any(|row| row.value == "football" && row.log_ratio > 2.0), "{found:?}");
    assert!(!found.rows.iter().any(|row| row.value == "town"), "{found:?}");
}

#[test]
fn a_document_of_both_parts_belongs_to_the_smaller_part() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = corpus(folder.path());
    let (_, after) = halves();
    let whole = compare(&engine, "site!=nothing", &after);
    let row = whole.rows.iter().find(|row| row.value == "harbour").expect("a word that rises");
    // The counts are those of the parts as asked for; the ratio is that to the rest.
    assert!(row.before > row.after && (row.log_ratio - 3f64.log2()).abs() < 0.2, "{row:?}");
}

#[test]
fn nothing_is_compared_with_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = corpus(folder.path());
    let found = compare(&engine, "date<1990", "date>=2000");
    assert!(found.rows.is_empty() && found.before_tokens == 0 && found.notes.is_empty(), "{found:?}");
}
