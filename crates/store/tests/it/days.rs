//! Days of documents and text: written data is read back, and a day that grows equals one built at once.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tidings_store::digest::{Digester, Stage};
use tidings_store::docs::{self, DayDraft, DocumentReader, Recipe};
use tidings_store::text::{self, MadeText, TextDraft, TextRecipe};
use tidings_store::yields::{self, Yield};
use tidings_store::{FileDigest, Home};

use crate::pages::home;

const DAY: &str = "2026-03-01";
const LANGUAGES: [&str; 3] = ["de", "en", "und"];

/// The outcome of a page: a document of a language, or dropped.
type Outcome = Option<usize>;

fn outcomes() -> impl Strategy<Value = Vec<Vec<Outcome>>> {
    prop::collection::vec(prop::collection::vec(prop::option::of(0..LANGUAGES.len()), 0..6), 1..5)
}

/// Builds the day of the first files of pages, each with its outcomes.
fn make(home: &Home, files: &[Vec<Outcome>]) -> Recipe {
    for at in 0..files.len() {
        let key = format!("pages/{DAY}/run.{at}.jsonl.zst");
        if home.file_bytes(&key).unwrap().is_none() {
            home.storage().put_atomic(&key, b"pages").unwrap();
        }
    }
    let day = docs::page_days(home).unwrap().remove(0);
    let recipe = Recipe::new(DAY, "p", "e", serde_json::Value::Null);
    let mut draft = DayDraft::begin(home, recipe, &day).unwrap();
    let kept = draft.kept().map_or(0, |kept| kept.inputs.len());
    for (number, outcomes) in files.iter().enumerate().skip(kept) {
        draft.end_file().unwrap();
        for (at, outcome) in outcomes.iter().enumerate() {
            match outcome {
                Some(language) => {
                    let line = format!("{{\"id\":\"{number}-{at}\"}}\n");
                    draft.push(LANGUAGES[*language], line.as_bytes()).unwrap();
                }
                None => draft.drop_page("no-text", b"{}\n").unwrap(),
            }
            draft.count(
                "feed",
                "host",
                Yield { pages: 1, documents: u64::from(outcome.is_some()), downloaded: 9, clean: 3 },
            );
        }
    }
    draft.publish(files.iter().map(Vec::len).sum::<usize>() as u64).unwrap()
}

fn ids(home: &Home, recipe: &Recipe) -> BTreeMap<String, Vec<String>> {
    let of = |file: &FileDigest| {
        let language = file.file.split('/').nth(1).expect("docs/LANG/DAY").to_owned();
        let reader = DocumentReader::open_in(home, &file.file).unwrap();
        (language, reader.map(|document| document.unwrap().id).collect())
    };
    recipe.document_files().map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn documents_are_read_by_language_in_order(files in outcomes()) {
        let (_folder, home) = home();
        let recipe = make(&home, &files);
        let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (number, outcomes) in files.iter().enumerate() {
            for (at, language) in outcomes.iter().enumerate().filter_map(|(at, outcome)| Some((at, (*outcome)?))) {
                expected.entry(LANGUAGES[language].to_owned()).or_default().push(format!("{number}-{at}"));
            }
        }
        prop_assert_eq!(ids(&home, &recipe), expected);
        prop_assert!(recipe.outputs.iter().all(|output| output.is_present(&home)));
        for output in &recipe.outputs {
            let found = FileDigest::of(&home, &output.file).unwrap();
            prop_assert_eq!((&found.xxh3, found.bytes), (&output.xxh3, output.bytes));
        }
        let mut sum = Yield::default();
        yields::of_day(&home, DAY, |row| sum += row.sum).unwrap();
        prop_assert_eq!(sum.pages, recipe.pages);
    }

    #[test]
    fn a_day_that_grows_file_by_file_equals_one_built_at_once(files in outcomes()) {
        let ((_one, grown), (_two, at_once)) = (home(), home());
        let mut last = None;
        for number in 1..=files.len() {
            last = Some(make(&grown, &files[..number]));
        }
        prop_assert_eq!(last.unwrap(), make(&at_once, &files));
    }

    #[test]
    fn a_rebuilt_day_leaves_no_old_files(first in outcomes(), second in outcomes()) {
        let ((_one, again), (_two, fresh)) = (home(), home());
        make(&again, &first);
        docs::remove_day(&again, DAY).unwrap();
        for at in 0..first.len() {
            again.storage().remove(&format!("pages/{DAY}/run.{at}.jsonl.zst")).unwrap();
        }
        let recipe = make(&again, &second);
        prop_assert_eq!(&recipe, &make(&fresh, &second));
        let listed = |home: &Home| -> Vec<String> {
            let folders = home.storage().folders("docs").unwrap();
            folders.iter().flat_map(|folder| home.storage().list(folder).unwrap()).collect()
        };
        prop_assert_eq!(listed(&again), listed(&fresh));
    }

    #[test]
    fn text_is_read_back_and_its_digest_does_not_depend_on_order(texts in prop::collection::vec((0..LANGUAGES.len(), "[a-z]{1,8}"), 1..8)) {
        let ((_one, forward), (_two, backward)) = (home(), home());
        let make = |home: &Home, texts: &[(usize, String)]| {
            let recipe = TextRecipe::new(DAY, "p", "a", serde_json::Value::Null);
            let mut draft = TextDraft::create(home, recipe).unwrap();
            for (language, word) in texts {
                let text = format!("<doc id=\"1\">\n{word}\n</doc>\n");
                draft.push(LANGUAGES[*language], MadeText { text, tokens: 1, ..MadeText::default() }).unwrap();
            }
            draft.publish(texts.len() as u64).unwrap()
        };
        let recipe = make(&forward, &texts);
        prop_assert_eq!(recipe.tokens.values().sum::<u64>(), texts.len() as u64);
        for output in &recipe.outputs {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut text::open(&forward, &output.file).unwrap(), &mut text).unwrap();
            prop_assert_eq!(text.matches("</doc>\n").count() as u64 * 3, output.lines.unwrap());
        }
        let reversed: Vec<(usize, String)> = texts.iter().rev().cloned().collect();
        make(&backward, &reversed);
        let root = |home: &Home| {
            Digester::open(home, true).unwrap().stage(Stage::Text, None, |_, _, _| {}).unwrap().root()
        };
        prop_assert_eq!(root(&forward), root(&backward));
    }
}
