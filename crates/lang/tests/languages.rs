//! Checks of the folders in `languages/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tidings_lang::{Script, StopWords, languages, stop_list};

const FILES: [&str; 11] = [
    "language.tsv",
    "calendar.tsv",
    "stop-words.txt",
    "rules.tsv",
    "gate.tsv",
    "confusable.tsv",
    "quotations.tsv",
    "names.tsv",
    "terms.tsv",
    "variants.tsv",
    "fixtures.tsv",
];
const KEYS: [&str; 14] = [
    "name",
    "native-name",
    "codes",
    "includes",
    "declared",
    "script",
    "stop-words",
    "tld",
    "tld-hint",
    "tld-site",
    "url-code",
    "utc-offsets",
    "annotate-as",
    "sketch",
];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const PERSIAN_MONTHS: [&str; 12] = [
    "farvardin",
    "ordibehesht",
    "khordad",
    "tir",
    "mordad",
    "shahrivar",
    "mehr",
    "aban",
    "azar",
    "dey",
    "bahman",
    "esfand",
];
const DATE_LABELS: [&str; 5] = ["published", "modified", "published-within", "modified-within", "unrelated"];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../languages")
}

fn read(code: &str, file: &str) -> String {
    let path = root().join(code).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Rows of a file as key and value; the test fails if a row has no tab, a key is repeated or there is stray white space.
fn rows(code: &str, file: &str) -> Vec<(String, String)> {
    let text = read(code, file);
    assert!(text.ends_with('\n') && !text.contains('\r'), "{code}/{file} needs Unix line ends");
    let mut rows: Vec<(String, String)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (key, value) = line.split_once('\t').unwrap_or_else(|| panic!("{code}/{file}: no tab in {line:?}"));
        assert!(!value.is_empty() && value.trim() == value, "{code}/{file}: {line:?}");
        assert!(rows.iter().all(|(known, _)| known != key), "{code}/{file}: {key} is repeated");
        rows.push((key.to_owned(), value.to_owned()));
    }
    rows
}

#[test]
fn every_folder_has_a_valid_language_file_and_no_unknown_files() {
    let mut folders = Vec::new();
    for entry in fs::read_dir(root()).unwrap().map(|entry| entry.unwrap()) {
        if !entry.file_type().unwrap().is_dir() {
            continue;
        }
        let code = entry.file_name().into_string().unwrap();
        for file in fs::read_dir(entry.path()).unwrap() {
            let file = file.unwrap().file_name().into_string().unwrap();
            assert!(FILES.contains(&file.as_str()), "languages/{code} has the unknown file {file}");
        }
        let rows = rows(&code, "language.tsv");
        for (key, value) in &rows {
            assert!(KEYS.contains(&key.as_str()), "{code}/language.tsv: unknown key {key}");
            let allowed: &[&str] = match key.as_str() {
                "declared" => &["ignored"],
                "url-code" => &["yes"],
                _ => continue,
            };
            assert!(allowed.contains(&value.as_str()), "{code}/language.tsv: {key} {value}");
        }
        for required in ["name", "script"] {
            assert!(rows.iter().any(|(key, _)| key == required), "{code}/language.tsv has no {required}");
        }
        folders.push(code);
    }
    folders.sort();
    let codes: Vec<&str> = languages().iter().map(|language| language.code).collect();
    assert_eq!(codes, folders, "the registry is sorted and complete");
}

#[test]
fn codes_are_valid_and_belong_to_one_language() {
    let mut owners = BTreeMap::new();
    for language in languages() {
        for code in [language.code].iter().chain(&language.other_codes).chain(&language.includes) {
            let is_valid = matches!(code.len(), 2 | 3) && code.bytes().all(|byte| byte.is_ascii_lowercase());
            assert!(is_valid && *code != "und", "{}: {code:?} is not an ISO 639 code", language.code);
            let before = owners.insert(*code, language.code);
            assert_eq!(before, None, "{code} belongs to {} too", language.code);
        }
    }
}

#[test]
fn values_name_things_that_exist() {
    for language in languages() {
        let code = language.code;
        let value = |key: &str| rows(code, "language.tsv").into_iter().find(|row| row.0 == key).map(|row| row.1);
        let scripts = value("script").unwrap_or_default();
        assert_eq!(
            scripts.split(' ').filter_map(Script::named).count(),
            scripts.split(' ').count(),
            "{code}: {scripts}"
        );
        if let Some(other) = language.annotate_as {
            let other = languages().iter().find(|known| known.code == other);
            assert!(other.is_some_and(|other| other.annotate_as.is_none()), "{code}: annotate-as {other:?}");
            assert!(language.rules_tsv.is_none(), "{code} has rules that annotate-as hides");
        }
        assert_eq!(value("utc-offsets").is_some(), language.utc_offsets.is_some(), "{code}: utc-offsets");
        assert!(language.utc_offsets.is_none_or(|(west, east)| west <= east && (-12..=14).contains(&east)), "{code}");
        let has_list = !matches!(language.stop_words, StopWords::Missing | StopWords::Off);
        assert!(!has_list || stop_list(code).is_some_and(|list| list.len() >= 10), "{code}: stop words");
        let is_own = matches!(language.stop_words, StopWords::Own(_));
        assert!(!is_own || value("stop-words").is_none(), "{code} has both stop-words.txt and a row stop-words");
    }
}

#[test]
fn calendars_are_complete() {
    for language in languages().iter().filter(|language| language.calendar_tsv.is_some()) {
        let rows = rows(language.code, "calendar.tsv");
        let key = |key: &str| key.strip_suffix("-own").unwrap_or(key).to_owned();
        let keys: Vec<String> = rows.iter().map(|row| key(&row.0)).collect();
        for set in [&MONTHS[..], &PERSIAN_MONTHS, &WEEKDAYS] {
            let present = set.iter().filter(|name| keys.iter().any(|key| key == **name)).count();
            assert!(present == 0 || present == set.len(), "{}: {present} of {set:?}", language.code);
        }
        let known: Vec<&str> = [&MONTHS[..], &PERSIAN_MONTHS, &WEEKDAYS, &DATE_LABELS].concat();
        for key in &keys {
            assert!(known.contains(&key.as_str()), "{}/calendar.tsv: unknown key {key}", language.code);
        }
    }
}

#[test]
fn groups_of_confusable_languages_begin_with_their_folder() {
    for language in languages().iter().filter(|language| language.confusable_tsv.is_some()) {
        let rows = rows(language.code, "confusable.tsv");
        let (key, codes) = &rows[0];
        let codes: Vec<&str> = codes.split(' ').collect();
        assert!(key == "languages" && codes[0] == language.code && codes.len() >= 2, "{}: {rows:?}", language.code);
        for (owners, _) in &rows[1..] {
            assert!(owners.split(' ').all(|owner| codes.contains(&owner)), "{}: {owners}", language.code);
        }
    }
}
