//! Frozen states: indexes of languages as they were, each under a name.
//!
//! `frozen/LANG/NAME` is the folder of an index whose files are hard links to those of the live index at the time, and
//! `frozen/LANG/NAME.json` the record of the state, which is written last: a folder without a record is left over from an
//! interrupted freeze. Files that the live index still has cost nothing; after merges and rebuilds the frozen state has
//! their only copy. A frozen state cannot be made again, so backups contain it and takedowns reach into it.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tidings_storage::file::{self, files_in};
use tidings_storage::write_atomic;

use crate::error::{Context, Error, Result};
use crate::home::{Home, remove_folder};

/// The folder of frozen states in a home.
const FOLDER: &str = "frozen";
/// The suffix of records.
const RECORD: &str = ".json";
/// The longest name, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// A frozen state of the index of a language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenRecord {
    /// The name.
    pub name: String,
    /// The time of the freeze, RFC 3339.
    pub frozen: String,
    /// The number of changes that the index had then.
    pub generation: u64,
    /// The checksum of the text then, that of `tidings digest --lang`.
    pub digest: Option<String>,
    /// Documents then.
    pub documents: u64,
    /// Tokens then.
    pub tokens: u64,
    /// The program that froze it.
    pub program: String,
    /// The documents that were taken out since, by takedowns and by hiding.
    #[serde(default)]
    pub withdrawn: Vec<Withdrawal>,
}

/// Documents that one takedown took out of a frozen state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawal {
    /// The time, RFC 3339.
    pub time: String,
    /// Documents.
    pub documents: u64,
    /// Their tokens.
    pub tokens: u64,
}

/// What a frozen state takes on the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FrozenCost {
    /// All of its files.
    pub bytes: u64,
    /// The files that neither the live index nor another frozen state has: what deleting it frees.
    pub own_bytes: u64,
}

/// Whether a text may be the name of a frozen state: letters, digits, hyphens and underscores, as of virtual corpora. Dots are
/// left out, so that no name is a path.
pub fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.chars().all(is_plain)
}

/// The folder of the index of a frozen state.
pub fn index_of(home: &Home, language: &str, name: &str) -> PathBuf {
    folder(home).join(language).join(name)
}

fn folder(home: &Home) -> PathBuf {
    home.root().join(FOLDER)
}

fn record_path(home: &Home, language: &str, name: &str) -> PathBuf {
    folder(home).join(language).join(format!("{name}{RECORD}"))
}

/// The languages that have frozen states.
pub fn languages(home: &Home) -> Result<Vec<String>> {
    let folders = files_in(&folder(home))?.into_iter().filter(|path| path.is_dir());
    Ok(folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
}

/// The frozen states of a language, oldest first.
pub fn list(home: &Home, language: &str) -> Result<Vec<FrozenRecord>> {
    let mut records = Vec::new();
    // The language comes from addresses, too, and must not be a path.
    if !is_name(language) {
        return Ok(records);
    }
    for path in files_in(&folder(home).join(language))? {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(RECORD));
        if let Some(name) = name.filter(|name| is_name(name)) {
            records.extend(read(home, language, name)?);
        }
    }
    records.sort_by(|a, b| (&a.frozen, &a.name).cmp(&(&b.frozen, &b.name)));
    Ok(records)
}

/// The record of a frozen state; `None` if there is none of this name.
pub fn read(home: &Home, language: &str, name: &str) -> Result<Option<FrozenRecord>> {
    if !is_name(name) || !is_name(language) {
        return Ok(None);
    }
    let path = record_path(home, language, name);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(error).context("read", &path)?,
    };
    let record: FrozenRecord =
        serde_json::from_slice(&bytes).map_err(|error| Error::Damaged { path, at: format!("({error})") })?;
    // A copied record would answer under another name than it states.
    Ok(Some(FrozenRecord { name: name.to_owned(), ..record }))
}

/// Writes the record of a frozen state, which is complete from then on.
pub fn write(home: &Home, language: &str, record: &FrozenRecord) -> Result<()> {
    let mut json = serde_json::to_vec_pretty(record).expect("plain values");
    json.push(b'\n');
    Ok(write_atomic(&record_path(home, language, &record.name), &json)?)
}

/// Deletes a frozen state: the record first, so that an interrupted deletion leaves nothing that answers.
pub fn remove(home: &Home, language: &str, name: &str) -> Result<()> {
    file::remove(&record_path(home, language, name))?;
    remove_folder(&index_of(home, language, name))
}

/// The state that `as_of` means: that of this name, or else the newest one that was frozen on this day (UTC).
pub fn find(home: &Home, language: &str, as_of: &str) -> Result<Option<FrozenRecord>> {
    if let Some(record) = read(home, language, as_of)? {
        return Ok(Some(record));
    }
    let is_day = as_of.len() == 10 && as_of.parse::<jiff::civil::Date>().is_ok();
    let on_day = |record: &FrozenRecord| is_day && record.frozen.get(..10) == Some(as_of);
    Ok(list(home, language)?.into_iter().rfind(on_day))
}

/// The message about a state that there is not, with those that there are.
pub fn not_found(home: &Home, language: &str, as_of: &str) -> Result<String> {
    let known = list(home, language)?;
    let shown = |record: &FrozenRecord| format!("{} ({})", record.name, record.frozen.get(..10).unwrap_or_default());
    let as_of: String = as_of.chars().take(MAX_NAME_BYTES).collect();
    let there_are = match known.is_empty() {
        true => "none is frozen yet; `tidings corpus freeze NAME` freezes the present one".to_owned(),
        false => format!("there are {}", known.iter().map(shown).collect::<Vec<_>>().join(", ")),
    };
    Ok(format!(
        "no state of {language} has the name `{as_of}` or was frozen on that day: {there_are}; the filter seen<=DAY selects \
         what had been seen by a day in today's corpus"
    ))
}

/// What a frozen state takes on the disk.
pub fn cost(home: &Home, language: &str, name: &str) -> Result<FrozenCost> {
    let mut cost = FrozenCost::default();
    for path in files_in(&index_of(home, language, name))? {
        let about = std::fs::metadata(&path).context("inspect", &path)?;
        cost.bytes += about.len();
        cost.own_bytes += if about.nlink() == 1 { about.len() } else { 0 };
    }
    Ok(cost)
}

/// An empty folder for the index of a state that is frozen now; deletes what an interrupted freeze left.
pub fn begin(home: &Home, language: &str, name: &str) -> Result<PathBuf> {
    let path = index_of(home, language, name);
    remove_folder(&path)?;
    file::make_private_folder(&folder(home))?;
    file::make_folder(&path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    fn frozen(name: &str, time: &str) -> FrozenRecord {
        FrozenRecord { name: name.to_owned(), frozen: time.to_owned(), documents: 3, ..FrozenRecord::default() }
    }

    #[test]
    fn a_state_is_found_by_its_name_or_by_the_day_on_which_it_was_frozen() {
        let (_folder, home) = home();
        assert!(list(&home, "en").unwrap().is_empty() && languages(&home).unwrap().is_empty());
        let states =
            [("spring", "2026-03-01T08:00:00Z"), ("later", "2026-03-01T09:00:00Z"), ("may", "2026-05-01T00:00:00Z")];
        for (name, time) in states {
            begin(&home, "en", name).unwrap();
            write(&home, "en", &frozen(name, time)).unwrap();
        }
        let found = |as_of: &str| find(&home, "en", as_of).unwrap().map(|record| record.name);
        assert_eq!(found("spring").as_deref(), Some("spring"));
        assert_eq!(found("2026-03-01").as_deref(), Some("later"), "the newest of the day");
        // A day without a frozen state has none: the state before it may differ from that of the day.
        assert_eq!((found("2026-03-02"), found("2026-03"), found("../en/may")), (None, None, None));
        assert!(find(&home, "de", "spring").unwrap().is_none() && list(&home, "../frozen/en").unwrap().is_empty());
        let message = not_found(&home, "en", "2026-03-02").unwrap();
        assert!(message.contains("spring (2026-03-01), later (2026-03-01), may (2026-05-01)"), "{message}");
        remove(&home, "en", "later").unwrap();
        assert_eq!(found("2026-03-01").as_deref(), Some("spring"));
        assert_eq!(languages(&home).unwrap(), ["en"]);
    }

    #[test]
    fn names_are_no_paths() {
        assert!(["spring-2026", "été_1", "2026-03-01"].iter().all(|name| is_name(name)));
        assert!(["", "..", "a/b", "a.json", "a b", &"x".repeat(65)].iter().all(|name| !is_name(name)));
    }

    #[test]
    fn only_files_that_nothing_else_has_cost_something() {
        let (_folder, home) = home();
        let folder = begin(&home, "en", "spring").unwrap();
        let live = home.root().join("live");
        std::fs::write(&live, b"12345").unwrap();
        std::fs::hard_link(&live, folder.join("1.segment")).unwrap();
        std::fs::write(folder.join("MANIFEST"), b"12").unwrap();
        assert_eq!(cost(&home, "en", "spring").unwrap(), FrozenCost { bytes: 7, own_bytes: 2 });
        std::fs::remove_file(&live).unwrap();
        assert_eq!(cost(&home, "en", "spring").unwrap(), FrozenCost { bytes: 7, own_bytes: 7 });
    }
}
