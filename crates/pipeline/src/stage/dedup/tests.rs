//! Tests of verdicts, views and due units.

use tidings_store::dedup_state::VerdictLine;
use tidings_store::docs;

use super::verdict_line::rounded;
use super::*;
use crate::stage::clean::Clean;
use crate::testing::{article, home, page, store_pages};

#[test]
fn an_outcome_with_nothing_due_has_a_reason() {
    let text = |days_up_to_date| DedupOutcome { days_up_to_date, ..DedupOutcome::default() }.to_string();
    assert_eq!(text(0), "nothing to deduplicate: no documents yet\n");
    assert_eq!(text(1), "nothing to deduplicate: the day is up to date\n");
    assert_eq!(text(2), "nothing to deduplicate: all 2 days are up to date\n");
}

#[test]
fn an_outcome_gives_the_share_of_duplicate_words() {
    let outcome = DedupOutcome {
        days: 1,
        documents: 2,
        duplicates: 1,
        words: 3000,
        duplicate_words: 1000,
        ending: Ending { left: 1, reason: None, min_free_mib: 0, ..Ending::default() },
        ..DedupOutcome::default()
    };
    assert_eq!(
        outcome.to_string(),
        "1 day deduplicated: 2 documents, 1 of them duplicates of earlier ones; 33.3 % of 3,000 words are duplicates; \
         1 day left for a later run, 0.0 s\n"
    );
}

#[test]
fn a_share_of_nothing_is_zero() {
    assert_eq!((share(0, 0), share(1, 4), rounded(2.0 / 3.0)), (0.0, 0.25, 0.667));
}

/// A home with two days of which the second copies the first.
fn judged() -> (tempfile::TempDir, crate::Pipeline) {
    let (folder, pipeline) = home();
    store_pages(&pipeline, "2026-03-01", &[page("https://gazette.example/1", &article("ferry"))]);
    store_pages(&pipeline, "2026-03-02", &[page("https://courier.example/1", &article("ferry"))]);
    pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
    pipeline.run(&Dedup).unwrap();
    (folder, pipeline)
}

#[test]
fn a_copy_is_listed_with_its_source_and_site() {
    let (_folder, pipeline) = judged();
    let mut copies = Vec::new();
    views::copies(pipeline.home(), |row| {
        copies.push((row.copy.site.to_owned(), row.copy.share, row.of.len()));
        Ok(())
    })
    .unwrap();
    assert_eq!(copies, [("courier.example".to_owned(), 1.0, 32)]);
}

#[test]
fn duplicates_are_shown_with_their_texts_and_counted() {
    let (_folder, pipeline) = judged();
    let mut texts = Vec::new();
    views::removed(pipeline.home(), |row| {
        texts.push(row.text.to_owned());
        Ok(())
    })
    .unwrap();
    assert!(texts.iter().any(|text| text.starts_with("The council of the town")), "{texts:?}");
    let top = views::top(pipeline.home(), 2).unwrap();
    assert_eq!((top.rows.len(), top.rows[0].times), (2, 1));
}

#[test]
fn views_reject_documents_that_changed_since_they_were_judged() {
    let (_folder, pipeline) = judged();
    store_pages(&pipeline, "2026-03-02", &[page("https://courier.example/2", &article("museum"))]);
    pipeline.run(&Clean { accept_loss: true, ..Clean::default() }).unwrap();
    let error = views::top(pipeline.home(), 1).unwrap_err().to_string();
    assert_eq!(error, "the documents of 2026-03-02 have changed since the last `tidings dedup`; run it first");
}

#[test]
fn a_day_before_the_last_one_is_judged_again_with_all_after_it() {
    let (_folder, pipeline) = judged();
    assert_eq!(Dedup.due(pipeline.home(), pipeline.config()).unwrap().units, []);
    store_pages(&pipeline, "2026-02-01", &[page("https://gazette.example/0", &article("museum"))]);
    pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
    let due = Dedup.due(pipeline.home(), pipeline.config()).unwrap();
    let names: Vec<&str> = due.units.iter().map(|unit| unit.name.as_str()).collect();
    assert_eq!(names, ["2026-02-01", "2026-03-01", "2026-03-02"]);
}

#[test]
fn verdicts_do_not_depend_on_whether_days_were_judged_one_by_one() {
    let (_folder, at_once) = judged();
    let (_other, one_by_one) = home();
    for (day, url) in [("2026-03-01", "https://gazette.example/1"), ("2026-03-02", "https://courier.example/1")] {
        store_pages(&one_by_one, day, &[page(url, &article("ferry"))]);
        one_by_one.run(StageId::Clean.stage().as_ref()).unwrap();
        one_by_one.run(&Dedup).unwrap();
    }
    assert_eq!(Dedup.output_digest(at_once.home()).unwrap(), Dedup.output_digest(one_by_one.home()).unwrap());
}

/// A page that was published and fetched on these days; without a date of publication if that is empty.
fn published(url: &str, topic: &str, published: &str, fetched: &str) -> tidings_model::Page {
    tidings_model::Page {
        published: if published.is_empty() { String::new() } else { format!("{published}T08:00:00Z") },
        seen: format!("{fetched}T10:00:00.000Z"),
        downloaded: format!("{fetched}T12:00:00.000Z"),
        ..page(url, &article(topic))
    }
}

/// A home in which the pages of each day were deduplicated before those of the next one came, and one in which all days
/// were deduplicated at once.
fn day_by_day_and_at_once(days: &[(&str, tidings_model::Page)]) -> [(tempfile::TempDir, crate::Pipeline); 2] {
    let [daily, at_once] = [home(), home()];
    for (day, page) in days {
        for pipeline in [&daily.1, &at_once.1] {
            store_pages(pipeline, day, std::slice::from_ref(page));
        }
        daily.1.run(StageId::Clean.stage().as_ref()).unwrap();
        daily.1.run(&Dedup).unwrap();
        daily.1.run(StageId::Annotate.stage().as_ref()).unwrap();
    }
    at_once.1.run(StageId::Clean.stage().as_ref()).unwrap();
    at_once.1.run(&Dedup).unwrap();
    at_once.1.run(StageId::Annotate.stage().as_ref()).unwrap();
    for stage in [StageId::Dedup, StageId::Annotate] {
        let [one, other] =
            [&daily, &at_once].map(|(_, pipeline)| stage.stage().output_digest(pipeline.home()).unwrap());
        assert_eq!(one, other, "{stage}");
    }
    [daily, at_once]
}

/// The verdict on the only document of a day.
fn verdict_of(pipeline: &crate::Pipeline, day: &str) -> VerdictLine {
    dedup_state::VerdictReader::open(pipeline.home(), day).unwrap().next().unwrap().unwrap()
}

#[test]
fn an_original_that_was_fetched_a_week_after_its_copy_is_the_original() {
    let days = [
        ("2026-03-02", published("https://courier.example/1", "ferry", "2026-03-02", "2026-03-02")),
        ("2026-03-03", published("https://herald.example/1", "museum", "2026-03-03", "2026-03-03")),
        ("2026-03-09", published("https://gazette.example/1", "ferry", "2026-03-01", "2026-03-09")),
    ];
    let [(_folder, daily), _at_once] = day_by_day_and_at_once(&days);
    let (copy, original) = (verdict_of(&daily, "2026-03-02"), verdict_of(&daily, "2026-03-09"));
    assert_eq!((original.copy_of, original.duplicate_words), (None, 0));
    assert_eq!((copy.copy_of.as_ref(), copy.duplicate_words), (Some(&original.id), copy.words));
    let text = |day: &str| tidings_store::text::TextRecipe::read(daily.home(), day).unwrap().unwrap();
    assert_eq!(text("2026-03-02").dropped.values().sum::<u64>(), 1, "the text of the copy was made again");
    assert_eq!(text("2026-03-09").kept.values().sum::<u64>(), 1);

    // Without the original, the copy is all there is.
    std::fs::remove_dir_all(daily.home().root().join("pages/2026-03-09")).unwrap();
    docs::remove_day(daily.home(), "2026-03-09").unwrap();
    daily.run(&Dedup).unwrap();
    assert_eq!(verdict_of(&daily, "2026-03-02").copy_of, None);
}

#[test]
fn a_copy_between_two_dates_is_one_of_the_earlier_published() {
    let days = [
        ("2026-03-05", published("https://courier.example/1", "ferry", "2026-03-05", "2026-03-05")),
        ("2026-03-09", published("https://gazette.example/1", "ferry", "2026-03-01", "2026-03-09")),
        ("2026-03-10", published("https://herald.example/1", "ferry", "2026-03-03", "2026-03-10")),
    ];
    let [(_folder, daily), _at_once] = day_by_day_and_at_once(&days);
    let kept = |day: &str| {
        let verdict = verdict_of(&daily, day);
        verdict.duplicate_words < verdict.words
    };
    assert_eq!(["2026-03-05", "2026-03-09", "2026-03-10"].map(kept), [false, true, false]);
}

#[test]
fn if_a_date_is_unknown_the_first_one_fetched_is_the_original() {
    for (first, second) in [("2026-03-02", ""), ("", "2026-03-01"), ("2026-03-01", "2026-03-01")] {
        let days = [
            ("2026-03-02", published("https://courier.example/1", "ferry", first, "2026-03-02")),
            ("2026-03-09", published("https://gazette.example/1", "ferry", second, "2026-03-09")),
        ];
        let [(_folder, daily), _at_once] = day_by_day_and_at_once(&days);
        assert_eq!(verdict_of(&daily, "2026-03-02").copy_of, None, "{first} {second}");
        assert!(verdict_of(&daily, "2026-03-09").copy_of.is_some(), "{first} {second}");
    }
}
