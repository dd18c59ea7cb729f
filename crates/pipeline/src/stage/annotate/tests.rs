//! Tests of due units and outcomes.

use super::*;
use crate::config::Duplicates;
use crate::export;
use crate::testing::{FEED, article, home, home_with_feeds, page, store_pages};

#[test]
fn an_outcome_with_nothing_due_has_a_reason() {
    let text = |days_up_to_date, days_waiting| {
        AnnotateOutcome { days_up_to_date, days_waiting, ..AnnotateOutcome::default() }.to_string()
    };
    assert_eq!(text(0, 2), "nothing to annotate\n");
    assert!(text(0, 0).starts_with("nothing to annotate: no documents yet"));
    assert_eq!(text(1, 0), "nothing to annotate: the day is up to date\n");
    assert_eq!(text(2, 0), "nothing to annotate: all 2 days are up to date\n");
}

#[test]
fn days_with_a_failed_tool_make_the_outcome_partial() {
    let outcome = |days_undone| AnnotateOutcome { done: true, days_undone, ..AnnotateOutcome::default() };
    assert_eq!((outcome(0).status(), outcome(1).status()), (Status::Done, Status::Partly));
    assert!(outcome(1).to_string().contains("; 1 day is not annotated because a tool failed, 0.0 s"));
    let many = "; 3 days are not annotated because a tool failed, and 4 more were not tried, 0.0 s";
    assert!(outcome(FAILURES + 4).to_string().contains(many));
}

#[test]
fn a_time_limit_is_shown_after_the_counts() {
    let ending =
        Ending { left: 1, reason: Some(crate::cancel::StopReason::TimeLimit), min_free_mib: 0, ..Ending::default() };
    let outcome =
        AnnotateOutcome { days: 1, days_left: 1, documents: 1, tokens: 2000, ending, ..AnnotateOutcome::default() };
    assert_eq!(
        outcome.to_string(),
        "1 document annotated: 2,000 tokens in 0 languages; 1 day left for a later run, the time limit was \
         reached, 0.0 s\n"
    );
}

#[test]
fn a_sentence_is_a_duplicate_if_its_middle_is_in_one() {
    let duplicates = [(10, 20), (40, 50)];
    assert!(is_within(&(8..22), &duplicates) && is_within(&(41..60), &[(40, 60)]));
    assert!(!is_within(&(0..10), &duplicates) && !is_within(&(20..40), &duplicates));
    assert!(!is_within(&(0..100), &[]));
}

#[test]
fn labels_are_found_by_normalised_url() {
    let (_folder, pipeline) = home_with_feeds("HTTPS://Gazette.example:443/feed\tlang=en\nhttps://b.example/feed\n");
    let labels = labels(pipeline.home()).unwrap();
    assert_eq!(labels.len(), 1);
    assert_eq!(labels[&plain("https://gazette.example/feed")], [("lang".to_owned(), "en".to_owned())]);
    assert_eq!(plain("no address"), "no address");
}

#[test]
fn in_a_deduplicated_home_new_days_wait_for_verdicts() {
    let (_folder, pipeline) = home();
    let due = |config: &Config| {
        let due = Annotate.due(pipeline.home(), config).unwrap();
        (due.units.len(), due.waiting)
    };
    store_pages(&pipeline, "2026-03-01", &[page("https://gazette.example/1", &article("ferry"))]);
    pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
    assert_eq!(due(pipeline.config()), (1, 0), "without any verdict all text is new");
    pipeline.run(StageId::Dedup.stage().as_ref()).unwrap();
    store_pages(&pipeline, "2026-03-02", &[page("https://gazette.example/2", &article("museum"))]);
    pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
    assert_eq!(due(pipeline.config()), (1, 1));
    let mut config = pipeline.config().clone();
    config.annotate.duplicates = Duplicates::Keep;
    assert_eq!(due(&config), (2, 0));
}

#[test]
fn a_label_that_changes_makes_the_days_of_its_feed_due() {
    let (_folder, pipeline) = home();
    store_pages(&pipeline, "2026-03-01", &[page("https://gazette.example/1", &article("ferry"))]);
    crate::rebuild::remake(&pipeline, StageId::Clean).unwrap();
    assert_eq!(Annotate.due(pipeline.home(), pipeline.config()).unwrap().up_to_date, 1);
    std::fs::write(pipeline.home().feed_list(), format!("{FEED}\ttopic=local\n")).unwrap();
    assert_eq!(Annotate.due(pipeline.home(), pipeline.config()).unwrap().units.len(), 1);
}

/// A page and its revision on the next day, with another last paragraph.
fn revised(pipeline: &crate::Pipeline, body: &str) {
    let url = "https://gazette.example/1";
    let first = page(url, &article("ferry"));
    let revises = vec![first.downloaded.clone()];
    let second = tidings_model::Page { downloaded: "2026-03-02T09:00:00.000Z".into(), revises, ..page(url, body) };
    store_pages(pipeline, "2026-03-01", &[first]);
    pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
    crate::rebuild::remake(pipeline, StageId::Dedup).unwrap();
    store_pages(pipeline, "2026-03-02", &[second]);
}

#[test]
fn a_revision_takes_the_place_of_the_earlier_document_with_all_of_its_text() {
    let (folder, pipeline) = home();
    revised(&pipeline, &article("ferry").replace("without spending a whole day on it", "within an hour"));
    pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
    pipeline.run(StageId::Dedup.stage().as_ref()).unwrap();
    let due = Annotate.due(pipeline.home(), pipeline.config()).unwrap();
    let why: Vec<(String, Stale)> = due.units.into_iter().map(|unit| (unit.name, unit.why)).collect();
    assert_eq!(why, [("2026-03-01".to_owned(), Stale::Settings), ("2026-03-02".to_owned(), Stale::New)]);
    pipeline.run(&Annotate).unwrap();
    let recipe = |day: &str| TextRecipe::read(pipeline.home(), day).unwrap().unwrap();
    let (before, after) = (recipe("2026-03-01"), recipe("2026-03-02"));
    assert_eq!((before.dropped["superseded"], before.kept.len()), (1, 0));
    assert!(after.dropped.is_empty() && after.tokens["en"] > 90, "it is no copy of itself: {after:?}");
    assert!(Annotate.due(pipeline.home(), pipeline.config()).unwrap().units.is_empty());

    let options = export::Options::new(export::ExportFormat::Jsonl);
    let target = export::Destination::Path(folder.path().join("out.jsonl"));
    let outcome = export::run(&pipeline, &options, target, &mut |_| {}).unwrap();
    assert_eq!(outcome.manifest.documents.written, 1, "{outcome}");
}

#[test]
fn a_revision_without_a_document_supersedes_nothing() {
    let (_folder, pipeline) = home();
    revised(&pipeline, "<html><body>Subscribe to read on.</body></html>");
    crate::rebuild::remake(&pipeline, StageId::Clean).unwrap();
    let recipe = TextRecipe::read(pipeline.home(), "2026-03-01").unwrap().unwrap();
    assert_eq!((recipe.dropped.len(), recipe.kept["en"]), (0, 1));
    let trace = crate::why::trace(&pipeline, "https://gazette.example/1").unwrap();
    assert_eq!(trace.outcome, crate::why::TraceOutcome::Searchable, "{trace}");
}
