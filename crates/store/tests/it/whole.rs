//! Properties of whole homes: backups, digests and tokens.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use tidings_store::Home;
use tidings_store::backup::{Backup, FOLDER_ENDING};
use tidings_store::candidates::{self, Candidate, CandidateStatus, Searched, SiteWithoutFeed};
use tidings_store::digest::{Digester, Stage};
use tidings_store::tokens::{self, Scope, Token};

use crate::pages::{frame, home, stored};

fn page_files() -> impl Strategy<Value = BTreeMap<String, Vec<u32>>> {
    prop::collection::btree_map("2026-03-0[1-3]/[a-c]", prop::collection::vec(0u32..50, 1..4), 0..5)
}

fn put(home: &Home, files: &BTreeMap<String, Vec<u32>>) {
    for (name, pages) in files {
        let urls: Vec<String> = pages.iter().map(|page| format!("http://e.org/{page}")).collect();
        home.storage().put_atomic(&format!("pages/{name}.0.jsonl.zst"), &frame(&urls)).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_restored_home_has_the_pages_of_every_backup_since(first in page_files(), second in page_files()) {
        let (_folder, home) = home();
        let place = tempfile::tempdir().unwrap();
        let mut backup = Backup::open(&place.path().join("backup")).unwrap();
        for (name, files) in [("1", &first), ("2", &second)] {
            put(&home, files);
            let draft = backup.begin(&home, &format!("{name}{FOLDER_ENDING}")).unwrap();
            backup.finish(&home, draft, |_, _, _| {}).unwrap();
        }
        let restored = place.path().join("restored");
        let backup = Backup::open(&place.path().join("backup")).unwrap();
        let faults = backup.verify(|_, _, _| {}).unwrap();
        prop_assert!(faults.is_empty());
        backup.restore(&restored, |_, _, _| {}).unwrap();
        // Continuing a finished restore does no harm.
        backup.restore(&restored, |_, _, _| {}).unwrap();
        prop_assert_eq!(stored(&Home::at(&restored).unwrap()), stored(&home));
    }

    #[test]
    fn a_digest_of_pages_does_not_depend_on_their_files(pages in prop::collection::vec(0u32..50, 1..12), cut in any::<prop::sample::Index>()) {
        let ((_one, together), (_two, apart)) = (home(), home());
        let at = cut.index(pages.len());
        put(&together, &BTreeMap::from([("2026-03-01/a".to_owned(), pages.clone())]));
        put(&apart, &BTreeMap::from([
            ("2026-03-01/a".to_owned(), pages[at..].to_vec()),
            ("2026-03-01/b".to_owned(), pages[..at].to_vec()),
        ]));
        let digest = |home: &Home| {
            let mut digester = Digester::open(home, false).unwrap();
            let tree = digester.stage(Stage::Pages, None, |_, _, _| {}).unwrap();
            digester.remember().unwrap();
            let again = Digester::open(home, false).unwrap().stage(Stage::Pages, None, |_, _, _| {}).unwrap();
            assert_eq!(again, tree, "the cache equals the digests that were computed");
            (tree.items(), tree.root())
        };
        prop_assert_eq!(digest(&together), digest(&apart));
        prop_assert_eq!(digest(&together).0, pages.len() as u64);
    }
}

#[test]
fn a_token_is_valid_until_it_expires() {
    let (_folder, home) = home();
    let now: Timestamp = "2026-03-01T00:00:00Z".parse().unwrap();
    let later = now + SignedDuration::from_hours(2);
    let (short, secret) = Token::make("short", Scope::Text, now, Some(now + SignedDuration::from_hours(1))).unwrap();
    let (long, other) = Token::make("long", Scope::Admin, now, None).unwrap();
    assert_ne!(secret, other);
    tokens::write(&home, vec![short, long]).unwrap();
    let known = tokens::read(&home).unwrap();
    let name = |secret: &str, at| tokens::find(&known, secret, at).map(|token| token.name.clone());
    assert_eq!(name(&secret, now).as_deref(), Some("short"));
    assert_eq!(name(&secret, later), None);
    assert_eq!(name(&other, later).as_deref(), Some("long"));
    assert_eq!(name("", now), None);
    let text = String::from_utf8(home.storage().read("tokens.tsv").unwrap().unwrap()).unwrap();
    assert!(!text.contains(&secret), "the file keeps digests only");
}

#[test]
fn sites_without_feeds_and_searched_files_are_stored_once() {
    let (_folder, home) = home();
    for requests in [3, 5] {
        candidates::add_sites_without_feed(
            &home,
            vec![SiteWithoutFeed { site: "a.example".into(), requests, ..SiteWithoutFeed::default() }],
        )
        .unwrap();
        candidates::add_searched(&home, vec![Searched { file: "pages/a".into(), pages: requests.into() }]).unwrap();
    }
    let (mut sites, mut files) = (Vec::new(), Vec::new());
    candidates::read_sites_without_feed(&home, |row| sites.push((row.site, row.requests))).unwrap();
    candidates::read_searched(&home, |row| files.push((row.file, row.pages))).unwrap();
    assert_eq!((sites, files), (vec![("a.example".to_owned(), 5)], vec![("pages/a".to_owned(), 5)]));
}

#[test]
fn every_state_of_a_candidate_survives_its_table() {
    let (_folder, home) = home();
    let states = [
        CandidateStatus::New,
        CandidateStatus::ProbedFeed,
        CandidateStatus::NotAFeed,
        CandidateStatus::Unreachable,
        CandidateStatus::Rejected,
        CandidateStatus::Trial,
        CandidateStatus::Promoted,
    ];
    let rows = states.map(|status| Candidate { feed: status.word().to_owned(), status, ..Candidate::default() });
    candidates::replace(&home, rows.to_vec()).unwrap();
    let mut found = 0;
    candidates::read(&home, |row| {
        assert_eq!(row.feed, row.status.word());
        found += 1;
    })
    .unwrap();
    assert_eq!(found, states.len());
}

#[test]
fn a_second_process_reads_what_the_first_has_written() {
    let (folder, home) = home();
    home.storage().put_atomic("docs/de/1", b"rain").unwrap();
    let other = Home::find(&folder.path().join("docs")).unwrap();
    assert_eq!(other.file_bytes("docs/de/1").unwrap(), Some(4));
}
