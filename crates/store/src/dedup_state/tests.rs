//! Tests of the ledger, its files and verdicts.

use std::fs;
use std::ops::Range;

use super::*;
use crate::testing::home;
use proptest::prelude::*;

fn params() -> DedupParams {
    DedupParams::new("tidings 1", 1, serde_json::json!({ "share": 0.5 }))
}

fn digest(file: &str) -> FileDigest {
    FileDigest { file: file.to_owned(), bytes: 0, xxh3: String::new(), lines: None }
}

fn judged(day: &str) -> JudgedDay {
    JudgedDay {
        day: day.to_owned(),
        docs: "d".to_owned(),
        documents: 3,
        duplicates: 1,
        paragraphs: 9,
        duplicate_paragraphs: 2,
        words: 100,
        duplicate_words: 20,
        pieces: 0..4,
        verdicts: digest("seen/verdicts/a"),
        piece_file: digest("seen/pieces/a"),
        key_file: digest("seen/keys/a"),
        amendments: Vec::new(),
    }
}

fn days(home: &Home) -> Vec<String> {
    JudgedDays::read(home).unwrap().map_or(Vec::new(), |list| list.days.into_iter().map(|day| day.day).collect())
}

#[test]
fn days_are_appended_and_truncated_from_the_end() {
    let (_folder, home) = home();
    assert_eq!(JudgedDays::read(&home).unwrap(), None);
    let mut list = JudgedDays::create(&home, params()).unwrap();
    for day in ["1", "2", "3"] {
        list.push(&home, judged(day)).unwrap();
    }
    assert_eq!(JudgedDays::read(&home).unwrap().unwrap(), list);
    list.cut(&home, 1).unwrap();
    assert_eq!(days(&home), ["1"]);
    list.push(&home, judged("4")).unwrap();
    assert_eq!(days(&home), ["1", "4"]);
    clear(&home).unwrap();
    assert_eq!(JudgedDays::read(&home).unwrap(), None);
}

#[test]
fn the_last_day_is_replaced_and_its_files_are_merged_without_a_change_of_the_days_before() {
    let (_folder, home) = home();
    let mut list = JudgedDays::create(&home, params()).unwrap();
    for day in ["1", "2"] {
        list.push(&home, judged(day)).unwrap();
    }
    let before = fs::read(path(&home)).unwrap();
    list.pop(&home).unwrap();
    assert_eq!(days(&home), ["1"]);
    list.push(&home, JudgedDay { documents: 4, ..judged("2") }).unwrap();
    let merged = [digest("seen/keys/1.2.keys"), digest("seen/pieces/1.2.pieces")];
    list.push_merged(&home, merged.clone(), judged("3")).unwrap();
    let read = JudgedDays::read(&home).unwrap().unwrap();
    assert_eq!(read, list);
    let found: Vec<(&str, u64)> = read.days.iter().map(|day| (day.day.as_str(), day.documents)).collect();
    assert_eq!(found, [("1", 3), ("2", 4), ("3", 3)]);
    assert_eq!([read.days[1].key_file.clone(), read.days[1].piece_file.clone()], merged);
    assert_eq!(first_day(&read.days[1].key_file), "1");
    let after = fs::read(path(&home)).unwrap();
    let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let end_of_first = before.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0;
    assert!(same > end_of_first, "lines before the last day stay as they are");
}

#[test]
fn an_incomplete_line_is_ignored_and_overwritten() {
    let (_folder, home) = home();
    let mut list = JudgedDays::create(&home, params()).unwrap();
    list.push(&home, judged("1")).unwrap();
    let sound = fs::read(path(&home)).unwrap().len();
    list.push(&home, judged("2")).unwrap();
    let whole = fs::read(path(&home)).unwrap();
    for len in sound..whole.len() {
        fs::write(path(&home), &whole[..len]).unwrap();
        assert_eq!(days(&home), ["1"], "cut at byte {len}");
    }
    let mut list = JudgedDays::read(&home).unwrap().unwrap();
    list.push(&home, judged("3")).unwrap();
    assert_eq!(days(&home), ["1", "3"]);
}

#[test]
fn a_ledger_of_another_format_is_ignored() {
    let (_folder, home) = home();
    for text in ["", "{}\n", "{\"format\":\"tidings seen 0\",\"program\":\"\",\"settings\":null}\n", "nonsense\n"] {
        home.storage().put_atomic(KEY, text.as_bytes()).unwrap();
        assert_eq!(JudgedDays::read(&home).unwrap(), None, "{text}");
    }
}

#[test]
fn files_that_are_not_listed_are_deleted() {
    let (_folder, home) = home();
    for key in ["seen/keys/a", "seen/keys/b", "seen/pieces/c"] {
        home.storage().put_atomic(key, b"").unwrap();
    }
    tidy(&home, &["keys"], &BTreeSet::from([digest("seen/keys/a").path(&home)])).unwrap();
    assert_eq!(home.storage().list("seen/keys").unwrap(), ["seen/keys/a"]);
    assert_eq!(home.storage().list("seen/pieces").unwrap(), ["seen/pieces/c"]);
}

#[test]
fn a_drafted_file_is_published_with_its_digest() {
    let (_folder, home) = home();
    let draft = draft_folder(&home).unwrap().join("keys.tmp");
    fs::write(&draft, b"keys").unwrap();
    let target = memory_path(&home, "keys", "1", "2");
    let placed = place(&home, &draft, &target).unwrap();
    assert_eq!((placed.file.as_str(), placed.bytes), ("seen/keys/1.2.keys", 4));
    assert!(placed.is_present(&home) && !draft.exists());
}

#[test]
fn verdicts_are_read_in_order() {
    let (_folder, home) = home();
    let line = |id: &str| VerdictLine { id: id.to_owned(), words: 7, ..VerdictLine::default() };
    let mut draft = VerdictDraft::create(&home, "2026-03-01").unwrap();
    for id in ["b", "a"] {
        draft.push((serde_json::to_string(&line(id)).unwrap() + "\n").as_bytes()).unwrap();
    }
    assert!(VerdictReader::open(&home, "2026-03-01").is_err(), "unpublished verdicts cannot be read");
    let digest = draft.publish(&home).unwrap();
    assert_eq!((digest.file.as_str(), digest.lines), ("seen/verdicts/2026-03-01.jsonl.zst", Some(2)));
    let read: Vec<VerdictLine> = VerdictReader::open(&home, "2026-03-01").unwrap().map(|line| line.unwrap()).collect();
    assert_eq!(read, [line("b"), line("a")]);
    forget(&home, "2026-03-01").unwrap();
    assert!(!digest.is_present(&home));
}

#[test]
fn a_listed_amendment_replaces_a_verdict_and_an_unlisted_one_does_not() {
    let (_folder, home) = home();
    let put = |mut draft: VerdictDraft, id: &str, words: u64| {
        let line = VerdictLine { id: id.to_owned(), words, ..VerdictLine::default() };
        draft.push((serde_json::to_string(&line).unwrap() + "\n").as_bytes()).unwrap();
        draft.publish(&home).unwrap()
    };
    put(VerdictDraft::create(&home, "2026-03-01").unwrap(), "a", 1);
    let words = || VerdictReader::open(&home, "2026-03-01").unwrap().next().unwrap().unwrap().words;
    let mut list = JudgedDays::create(&home, params()).unwrap();
    let by = |day: &str, words| put(VerdictDraft::amend(&home, "2026-03-01", day).unwrap(), "a", words);
    let first = by("2026-03-02", 2);
    assert_eq!(words(), 1);
    list.push(&home, JudgedDay { amendments: vec![first], ..judged("2026-03-02") }).unwrap();
    assert_eq!(words(), 2);
    list.push(&home, JudgedDay { amendments: vec![by("2026-03-03", 3)], ..judged("2026-03-03") }).unwrap();
    assert_eq!(words(), 3);
    list.cut(&home, 1).unwrap();
    assert_eq!(words(), 2, "going back by days restores the earlier amendment");
}

#[test]
fn documents_of_complete_days_are_found_by_their_recipes() {
    let (_folder, home) = home();
    let recipe = docs::Recipe::new("2026-03-01", "p", "e", serde_json::Value::Null);
    let mut draft = docs::DayDraft::create(&home, recipe).unwrap();
    draft.push("de", b"{}\n").unwrap();
    draft.push("en", b"{}\n").unwrap();
    draft.publish(2).unwrap();
    let days = docs_days(&home).unwrap();
    let files = days[0].files(&home).unwrap();
    assert_eq!(files.iter().map(|file| file.0.as_str()).collect::<Vec<_>>(), ["de", "en"]);
    assert!(files.iter().all(|file| file.1.is_file()));
    assert_eq!(days[0].digest, docs_digest(&home, "2026-03-01").unwrap());
    assert!(docs_digest(&home, "2026-03-02").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_spool_returns_its_records(things in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..10)) {
        let (_folder, home) = home();
        let mut spool = Spool::create(&home, "spool").unwrap();
        let places: Vec<Range<u64>> = things.iter().map(|thing| spool.push(thing).unwrap()).collect();
        let mut bytes = Vec::new();
        for (place, thing) in places.iter().zip(&things).rev() {
            spool.read(place, &mut bytes).unwrap();
            prop_assert_eq!(&bytes, thing);
        }
        prop_assert!(files_in(&draft_folder(&home).unwrap()).unwrap().is_empty(), "its file has no name");
    }
}
