//! Tests of days that grow: however a day is divided into rounds, its verdicts and fingerprints are the same.

use std::path::Path;

use proptest::prelude::*;
use tidings_model::Page;

use super::*;
use crate::Pipeline;
use crate::test_home::put_pages;
use crate::testing::{article, home, page};

const YESTERDAY: &str = "2026-03-01";
const TODAY: &str = "2026-03-02";

/// A page of paragraphs, most of which other pages have too, published on a day of February or March.
fn story(number: usize, paragraphs: &[u8], date: u8) -> Page {
    let topics = ["ferry", "museum", "tunnel", "bridge", "airport"];
    let whole = article(topics[usize::from(paragraphs[0]) % topics.len()]);
    let more: String = paragraphs[1..]
        .iter()
        .map(|paragraph| {
            let words: Vec<String> =
                (0..14).map(|word| format!("word{}", word * 31 + usize::from(*paragraph))).collect();
            format!("<p>The committee says that {} and that this is all.</p>", words.join(" "))
        })
        .collect();
    let body = whole.replace("</article>", &format!("{more}</article>"));
    let published = ["", "2026-02-27T08:00:00Z", "2026-03-01T08:00:00Z", "2026-03-02T08:00:00Z"];
    Page {
        published: published[usize::from(date)].to_owned(),
        ..page(&format!("https://site{number}.example/a"), &body)
    }
}

fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_below(&path)),
            false => files.push((path.to_string_lossy().into_owned(), std::fs::read(&path).unwrap())),
        }
    }
    files.sort();
    files
}

/// The files of verdicts and fingerprints, by their names within the home.
fn state(pipeline: &Pipeline) -> Vec<(String, Vec<u8>)> {
    let root = pipeline.home().root().to_string_lossy().into_owned();
    let files = files_below(&pipeline.home().seen()).into_iter();
    files.map(|(name, bytes)| (name.replace(&root, ""), bytes)).collect()
}

fn dedup(pipeline: &Pipeline) -> DedupOutcome {
    pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
    match pipeline.run(&Dedup).unwrap() {
        StageOutcome::Dedup(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

fn put(pipeline: &Pipeline, day: &str, round: usize, pages: &[Page]) {
    put_pages(pipeline.home().root(), day, &format!("{round:02}.0"), pages);
}

#[test]
fn of_a_day_that_has_grown_only_new_documents_are_judged() {
    let (_folder, pipeline) = home();
    put(&pipeline, TODAY, 0, &[story(0, &[0], 3), story(1, &[1], 3), story(2, &[2], 3)]);
    assert_eq!(dedup(&pipeline).documents_kept, 0);
    put(&pipeline, TODAY, 1, &[story(3, &[3], 3)]);
    let outcome = dedup(&pipeline);
    // Articles share most of their words, so that a new one affects those that follow it in the order of ids.
    assert_eq!((outcome.documents, outcome.days), (4, 1));
    assert_eq!(dedup(&pipeline).days, 0);
}

#[test]
fn documents_that_share_no_text_with_the_new_ones_keep_their_verdicts() {
    let (_folder, pipeline) = home();
    let english = page("https://gazette.example/1", &article("ferry"));
    let german = page("https://zeitung.example/1", &crate::testing::fixture("de"));
    put(&pipeline, TODAY, 0, &[english]);
    dedup(&pipeline);
    put(&pipeline, TODAY, 1, &[german]);
    let outcome = dedup(&pipeline);
    assert_eq!((outcome.documents, outcome.documents_kept), (2, 1));
}

#[test]
fn a_damaged_or_missing_log_of_growth_changes_nothing_but_the_work() {
    let logs: [fn(&Path); 3] = [
        |_| (),
        |log| std::fs::remove_file(log).unwrap(),
        |log| {
            let mut bytes = std::fs::read(log).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(log, bytes).unwrap();
        },
    ];
    let states = logs.map(|change| {
        let (_folder, pipeline) = home();
        put(&pipeline, TODAY, 0, &[story(0, &[0, 1], 3), story(1, &[1, 2], 3)]);
        dedup(&pipeline);
        change(&pipeline.home().seen().join(format!("growth/{TODAY}.bin")));
        put(&pipeline, TODAY, 1, &[story(2, &[2, 0], 2)]);
        dedup(&pipeline);
        state(&pipeline)
    });
    assert!(states.windows(2).all(|two| two[0] == two[1]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_day_divided_into_rounds_has_the_verdicts_and_fingerprints_of_one_round(
        stories in prop::collection::vec((prop::collection::vec(0u8..5, 1..4), 0u8..4, 0usize..4), 1..12)
    ) {
        let [(_rounds, by_rounds), (_once, at_once)] = [home(), home()];
        let yesterday = [story(100, &[0, 1], 2), story(101, &[1], 2)];
        for pipeline in [&by_rounds, &at_once] {
            put(pipeline, YESTERDAY, 0, &yesterday);
        }
        dedup(&by_rounds);
        let mut kept = 0;
        for round in 0..4 {
            let of_round = stories.iter().enumerate().filter(|(_, story)| story.2 == round);
            let pages: Vec<Page> = of_round.map(|(at, (text, date, _))| story(at, text, *date)).collect();
            if pages.is_empty() {
                continue;
            }
            for pipeline in [&by_rounds, &at_once] {
                put(pipeline, TODAY, round, &pages);
            }
            kept += dedup(&by_rounds).documents_kept;
        }
        dedup(&at_once);
        prop_assert!(kept <= (stories.len() * 4) as u64);
        let names = |pipeline: &Pipeline| state(pipeline).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        prop_assert_eq!(names(&by_rounds), names(&at_once));
        for ((name, one), (_, other)) in state(&by_rounds).into_iter().zip(state(&at_once)) {
            prop_assert!(one == other, "{} differs", name);
        }
    }
}
