//! Pages, journal and plan together: acknowledged pages survive a crash, and no others appear.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use tidings_model::Page;
use tidings_store::journal::{Journal, JournalBatch, Record};
use tidings_store::pages::{self, PageReader, PageWriter};
use tidings_store::{FrameEncoder, Home, apply_journal, plan};

pub fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    Home::create(folder.path(), "", "").expect("a home");
    let home = Home::at(folder.path()).expect("it was just made");
    (folder, home)
}

pub fn frame(urls: &[String]) -> Vec<u8> {
    let mut lines = Vec::new();
    for url in urls {
        Page { url: url.clone(), body: b"text".into(), ..Page::default() }.write_line(&mut lines).expect("memory");
    }
    FrameEncoder::new(3).encode(&lines)
}

/// The URLs of all published pages, in the order of the files.
pub fn stored(home: &Home) -> Vec<String> {
    let files = pages::files(home).expect("readable");
    files
        .iter()
        .flat_map(|path| PageReader::open(path).expect("readable"))
        .map(|page| page.expect("a page").url)
        .collect()
}

/// A batch of pages of a run, some hours after the previous one.
#[derive(Debug, Clone)]
struct Stored {
    hours: i64,
    pages: usize,
    /// Whether it was in the journal before the crash.
    is_acknowledged: bool,
}

fn batches() -> impl Strategy<Value = Vec<Stored>> {
    let one = (0i64..30, 1usize..4).prop_map(|(hours, pages)| Stored { hours, pages, is_acknowledged: true });
    (prop::collection::vec(one, 0..6), any::<bool>()).prop_map(|(mut batches, is_cut)| {
        // Only the last batch can be missing in the journal: a run continues when the journal is durable.
        if let Some(last) = batches.last_mut() {
            last.is_acknowledged = !is_cut;
        }
        batches
    })
}

/// Stores batches as a run does; returns the acknowledged URLs.
fn run(home: &Home, batches: &[Stored], ends: bool) -> Vec<String> {
    let mut journal = Journal::create(home, "run").expect("no journal before");
    let mut writer = PageWriter::open(home, "run", None);
    let (mut now, mut number, mut acknowledged) = (Timestamp::UNIX_EPOCH, 0, Vec::new());
    for batch in batches {
        now += SignedDuration::from_hours(batch.hours);
        let urls: Vec<String> = (0..batch.pages).map(|at| format!("http://e.org/{:04}", number + at)).collect();
        number += batch.pages;
        let records = writer.append(now, &frame(&urls), &[]).expect("a disk");
        if batch.is_acknowledged {
            let mut step = JournalBatch::default();
            for record in records {
                step.push(&record);
            }
            for url in &urls {
                step.push(&Record::Outcome { url: url.into(), status: "ok".into(), retries: 1, failure: None });
            }
            journal.commit(step).expect("a disk");
            acknowledged.extend(urls);
        }
    }
    if ends {
        writer.publish().expect("a disk");
    }
    acknowledged
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_crash_keeps_exactly_the_acknowledged_pages(batches in batches()) {
        let (_folder, home) = home();
        let acknowledged = run(&home, &batches, false);
        let applied = apply_journal::recover(&home, Timestamp::UNIX_EPOCH).unwrap().unwrap();
        prop_assert_eq!(applied.stored, acknowledged.len() as u64);
        prop_assert_eq!(stored(&home), acknowledged.clone());
        prop_assert_eq!(apply_journal::recover(&home, Timestamp::UNIX_EPOCH).unwrap(), None);
        prop_assert_eq!(stored(&home), acknowledged);
    }

    #[test]
    fn a_finished_run_equals_one_that_crashed_after_its_last_batch(batches in batches()) {
        let batches: Vec<Stored> = batches.into_iter().map(|batch| Stored { is_acknowledged: true, ..batch }).collect();
        let ((_one, ended), (_two, crashed)) = (home(), home());
        run(&ended, &batches, true);
        run(&crashed, &batches, false);
        apply_journal::apply_journal(&ended).unwrap();
        apply_journal::apply_journal(&crashed).unwrap();
        prop_assert_eq!(stored(&ended), stored(&crashed));
        let names = |home: &Home| -> Vec<String> {
            pages::files(home).unwrap().iter().map(|path| home.shown(path)).collect()
        };
        prop_assert_eq!(names(&ended), names(&crashed));
    }
}

#[test]
fn an_empty_home_has_no_pages_and_an_empty_plan() {
    let (_folder, home) = home();
    assert!(stored(&home).is_empty());
    plan::read(&home, |_| panic!("there is no entry")).unwrap();
}
