//! Imports and exports: the step size does not change the result, and an interrupted import is resumed.

use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;
use tidings_model::Fingerprint;
use tidings_store::by_language::ByLanguage;
use tidings_store::import_log::{Input, PageImporter};
use tidings_store::output::{AtomicOutput, manifest_of};
use tidings_store::removed::{self, Removed, Tombstone, TombstoneKind};
use tidings_store::{FrameEncoder, apply_journal, pages, takedown};

use crate::pages::{frame, home, stored};

fn input(name: &str, records: u64) -> Input {
    Input { name: name.to_owned(), bytes: 100, records, ..Input::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_step_size_does_not_change_the_pages(days in prop::collection::vec(0u8..3, 1..12), step_bytes in 1usize..2000, stops_at in any::<prop::sample::Index>()) {
        let (_folder, home) = home();
        let urls: Vec<String> = (0..days.len()).map(|number| format!("http://e.org/{number}")).collect();
        let mut imported: u64 = 0;
        // The first process is interrupted; the second resumes at the position in the log.
        for (run, end) in [("1-import", stops_at.index(days.len())), ("2-import", days.len())] {
            let mut importer = PageImporter::open(&home, run).unwrap().with_steps_of(step_bytes);
            let from = importer.known(&input("a", 0)).map_or(0, |known| known.records as usize);
            prop_assert!(from as u64 >= imported.min(from as u64));
            for number in from..end.max(from) {
                importer.push(&format!("2026-03-0{}", days[number] + 1), &frame(&urls[number..=number]));
                importer.remember(&[Fingerprint::of(&urls[number])]);
                importer.reached(&input("a", number as u64 + 1)).unwrap();
            }
            imported = importer.known(&input("a", 0)).map_or(0, |known| known.records);
            if run == "2-import" {
                importer.step().unwrap();
                importer.fold().unwrap();
            }
        }
        let found: BTreeSet<String> = stored(&home).into_iter().collect();
        prop_assert_eq!(stored(&home).len(), days.len(), "every page is stored once");
        prop_assert_eq!(found, urls.iter().cloned().collect::<BTreeSet<_>>());
        for url in &urls {
            prop_assert!(apply_journal::was_pruned(&home, url).unwrap(), "feeds do not add it again");
        }
    }

    #[test]
    fn lines_by_language_are_those_of_committed_steps(steps in prop::collection::vec(prop::collection::vec((0usize..2, "[a-z]{1,6}"), 0..4), 0..5), is_cut: bool) {
        let folder = tempfile::tempdir().unwrap();
        let mut encoder = FrameEncoder::new(1);
        let mut filled = ByLanguage::open(folder.path(), false).unwrap();
        let mut expected: [Vec<String>; 2] = Default::default();
        for (number, lines) in steps.iter().enumerate() {
            for (language, line) in lines {
                filled.append(["de", "en"][*language], &encoder.encode(format!("{line}\n").as_bytes())).unwrap();
            }
            if is_cut && number + 1 == steps.len() {
                break;
            }
            filled.step(vec![input(&number.to_string(), 1)]).unwrap();
            lines.iter().for_each(|(language, line)| expected[*language].push(line.clone()));
        }
        drop(filled);
        let filled = ByLanguage::open(folder.path(), false).unwrap();
        let mut found = Vec::new();
        filled.lines(|line| found.push(String::from_utf8(line.to_vec()).unwrap())).unwrap();
        prop_assert_eq!(found, expected.concat());
    }

    #[test]
    fn an_export_is_complete_or_missing(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..6), ending in "txt|zst|gz", is_published: bool) {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join(format!("out.{ending}"));
        let mut output = AtomicOutput::create(&target, false, false).unwrap();
        let mut sink = output.file("").unwrap();
        for piece in &pieces {
            sink.push(piece).unwrap();
        }
        output.add(sink).unwrap();
        prop_assert!(!target.exists());
        if is_published {
            output.publish(&serde_json::json!({})).unwrap();
            let mut read = Vec::new();
            if ending == "txt" {
                read = fs::read(&target).unwrap();
            } else {
                let mut reader = tidings_formats::compressed::open(&target).unwrap();
                std::io::Read::read_to_end(&mut reader, &mut read).unwrap();
            }
            prop_assert_eq!(read, pieces.concat());
            prop_assert!(manifest_of(&target).is_file());
        } else {
            drop(output);
            prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_takedown_deletes_exactly_the_matching_pages(pages in prop::collection::vec(0u8..12, 1..20), unwanted in prop::collection::btree_set(0u8..12, 0..4)) {
        let (_folder, home) = home();
        let url = |number: u8| format!("http://e.org/{number}");
        for (at, half) in pages.chunks(7).enumerate() {
            let urls: Vec<String> = half.iter().map(|number| url(*number)).collect();
            home.storage().put_atomic(&format!("pages/2026-03-01/run.{at}.jsonl.zst"), &frame(&urls)).unwrap();
        }
        let mut rules = Removed::default();
        for number in &unwanted {
            rules.add(Tombstone { kind: TombstoneKind::Address, what: removed::hash(&url(*number)), ..Tombstone::default() });
        }
        // It is idempotent.
        for _ in 0..2 {
            for path in pages::files(&home).unwrap() {
                takedown::take_out(&home, &path, &rules, 3).unwrap();
            }
        }
        let left: Vec<String> = pages.iter().filter(|number| !unwanted.contains(number)).map(|number| url(*number)).collect();
        prop_assert_eq!(stored(&home), left);
    }
}
