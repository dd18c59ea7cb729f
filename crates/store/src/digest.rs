//! Checksum of a corpus, equal on two machines that hold the same data.
//!
//! A Merkle tree of SHA-256. A leaf is a decompressed document, page or verdict; a day is the sorted digests of its
//! leaves, so that the division into files, their order and their compression do not matter; a partition is its days,
//! and a stage its partitions. Differences between two homes can be found by descending to the day. The digests of days
//! are cached in `state/digests.tsv` by the digests of their files.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, Read as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};
use tidings_storage::write_atomic;
use xxhash_rust::xxh3::Xxh3;

use crate::dedup_state::{JudgedDay, JudgedDays};
use crate::docs::{self, Recipe};
use crate::error::{Context, Error, Result};
use crate::file_digest::FileDigest;
use crate::frames;
use crate::home::Home;
use crate::table::{self, columns};
use crate::text::{self, TextRecipe};

/// The version of the digest algorithm.
const ALGORITHM: &str = "tidings digest 1";
/// The maximum length of a line.
const MAX_LINE_BYTES: usize = 1 << 30;

/// A stage whose output has a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Raw pages.
    Pages,
    /// Documents and dropped pages.
    Docs,
    /// Verdicts on duplicates.
    Seen,
    /// Annotated text: the corpus itself.
    Text,
}

impl Stage {
    /// All stages, in their order.
    pub const ALL: [Stage; 4] = [Stage::Pages, Stage::Docs, Stage::Seen, Stage::Text];

    /// Its folder in the home, which is its name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Pages => "pages",
            Stage::Docs => "docs",
            Stage::Seen => "seen",
            Stage::Text => "text",
        }
    }
}

/// A SHA-256.
pub type Sum = [u8; 32];

/// A day of a partition: a leaf of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Day {
    /// The language, `dropped`, or empty if a stage has only one partition.
    pub partition: String,
    /// `YYYY-MM-DD`.
    pub day: String,
    /// Documents, pages or verdicts.
    pub items: u64,
    /// Their digest.
    pub sum: Sum,
}

/// The digests of all files of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The stage.
    pub stage: Stage,
    /// Its days, by partition and day, without empty ones.
    pub days: Vec<Day>,
}

impl Tree {
    /// Its partitions with their digests and number of items.
    pub fn partitions(&self) -> Vec<(String, u64, Sum)> {
        let mut partitions: BTreeMap<&str, (u64, Sha256)> = BTreeMap::new();
        for day in &self.days {
            let fresh = || (0, node(self.stage, "shelf"));
            let (items, hash) = partitions.entry(&day.partition).or_insert_with(fresh);
            *items += day.items;
            hash.update(format!("{} {}\n", day.day, hex(&day.sum)));
        }
        partitions.into_iter().map(|(name, (items, hash))| (name.to_owned(), items, hash.finalize().into())).collect()
    }

    /// The root.
    pub fn root(&self) -> Sum {
        let mut hash = node(self.stage, "root");
        self.partitions().iter().for_each(|(name, _, sum)| hash.update(format!("{name} {}\n", hex(sum))));
        hash.finalize().into()
    }

    /// Everything it holds.
    pub fn items(&self) -> u64 {
        self.days.iter().map(|day| day.items).sum()
    }
}

/// A digest as people read it.
pub fn hex(sum: &Sum) -> String {
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digests of the text of each language, those of `tidings digest --lang CODE`; `None` if more than
/// `max_unread_bytes` of compressed text would have to be read, because their digests are not in the cache.
pub fn of_languages(home: &Home, max_unread_bytes: u64) -> Result<Option<BTreeMap<String, String>>> {
    let mut digester = Digester::open(home, false)?;
    if digester.unread_bytes(Stage::Text)? > max_unread_bytes {
        return Ok(None);
    }
    let mut by_language: BTreeMap<String, Vec<Day>> = BTreeMap::new();
    for day in digester.stage(Stage::Text, None, |_, _, _| {})?.days {
        by_language.entry(day.partition.clone()).or_default().push(day);
    }
    let root = |days| hex(&Tree { stage: Stage::Text, days }.root());
    Ok(Some(by_language.into_iter().map(|(language, days)| (language, root(days))).collect()))
}

fn node(stage: Stage, level: &str) -> Sha256 {
    Sha256::new_with_prefix(format!("{ALGORITHM}\n{} {level}\n", stage.name()))
}

/// A day to be digested.
struct DayFiles {
    partition: String,
    day: String,
    files: Vec<FileDigest>,
}

impl DayFiles {
    /// The name in the cache.
    fn name(&self, stage: Stage) -> String {
        format!("{}/{}/{}", stage.name(), self.partition, self.day)
    }

    /// The names, sizes and digests of its files, which change with its content.
    fn key(&self) -> String {
        let mut hash = Xxh3::new();
        hash.update(ALGORITHM.as_bytes());
        self.files.iter().for_each(|file| hash.update(format!("{} {}\n", file.bytes, file.xxh3).as_bytes()));
        format!("{:032x}", hash.digest128())
    }
}

/// A digest of a day in `state/digests.tsv`.
#[derive(Debug, Clone, Default)]
struct CachedDigest {
    name: String,
    key: String,
    items: u64,
    sum: String,
}

columns!(CachedDigest { "day" = name, "files" = key, items, "sha256" = sum });

/// Makes the digests of a home.
pub struct Digester<'a> {
    home: &'a Home,
    known: HashMap<String, CachedDigest>,
    /// Whether every byte is read and compared with the recipes, also for cached digests.
    verify: bool,
}

impl<'a> Digester<'a> {
    /// Opens the cache.
    pub fn open(home: &'a Home, verify: bool) -> Result<Digester<'a>> {
        let mut known = HashMap::new();
        table::read(&home.state("digests.tsv"), |row: CachedDigest| {
            known.insert(row.name.clone(), row);
        })?;
        Ok(Digester { home, known, verify })
    }

    /// The digests of a stage, or of one of its partitions; `progress` is called for every day that must be read.
    pub fn stage(
        &mut self,
        stage: Stage,
        partition: Option<&str>,
        mut progress: impl FnMut(u64, u64, &str),
    ) -> Result<Tree> {
        let mut wanted = self.wanted(stage)?;
        if partition.is_none() {
            let names: std::collections::HashSet<String> = wanted.iter().map(|day| day.name(stage)).collect();
            let folder = format!("{}/", stage.name());
            self.known.retain(|name, _| !name.starts_with(&folder) || names.contains(name));
        }
        wanted.retain(|day| partition.is_none_or(|partition| partition == day.partition));
        wanted.sort_by(|a, b| (&a.partition, &a.day).cmp(&(&b.partition, &b.day)));
        let total = wanted.len() as u64;
        let mut days = Vec::new();
        for (done, day) in (0..).zip(wanted) {
            let (name, key) = (day.name(stage), day.key());
            let remembered = self.known.get(&name).filter(|known| known.key == key);
            let remembered = remembered.and_then(|known| Some((known.items, unhex(&known.sum)?)));
            let (items, sum) = match remembered {
                Some(found) if !self.verify => found,
                remembered => {
                    progress(done, total, &name);
                    let found = self.read(stage, &day)?;
                    if remembered.is_some_and(|remembered| remembered != found) {
                        let path = self.home.root().join(&day.files[0].file);
                        return Err(Error::Damaged { path, at: "although its size and digest match".to_owned() });
                    }
                    let row = CachedDigest { name: name.clone(), key, items: found.0, sum: hex(&found.1) };
                    self.known.insert(name, row);
                    found
                }
            };
            if items > 0 {
                days.push(Day { partition: day.partition, day: day.day, items, sum });
            }
        }
        Ok(Tree { stage, days })
    }

    /// The bytes of the files of a stage whose digest is not in the cache.
    pub fn unread_bytes(&self, stage: Stage) -> Result<u64> {
        let is_known = |day: &DayFiles| self.known.get(&day.name(stage)).is_some_and(|known| known.key == day.key());
        let wanted = self.wanted(stage)?;
        Ok(wanted.iter().filter(|day| !is_known(day)).flat_map(|day| &day.files).map(|file| file.bytes).sum())
    }

    /// Writes the cache. The caller holds the lock.
    pub fn remember(&self) -> Result<()> {
        let rows: BTreeMap<&String, &CachedDigest> = self.known.iter().collect();
        let text = table::text(rows.into_values().cloned());
        Ok(write_atomic(&self.home.state("digests.tsv"), text.as_bytes())?)
    }

    /// The complete days of a stage with their files.
    fn wanted(&self, stage: Stage) -> Result<Vec<DayFiles>> {
        let one = |partition: &str, day: &str, file: &FileDigest| DayFiles {
            partition: partition.to_owned(),
            day: day.to_owned(),
            files: vec![file.clone()],
        };
        let mut wanted = Vec::new();
        match stage {
            Stage::Pages => {
                for day in docs::page_days(self.home)? {
                    let files = self.pages_of(&day)?;
                    wanted.push(DayFiles { partition: String::new(), day: day.name, files });
                }
            }
            Stage::Docs => {
                for day in docs::document_days(self.home)? {
                    let Some(recipe) = Recipe::read(self.home, &day)? else { continue };
                    let is_documents = |file: &&FileDigest| !file.file.starts_with("docs/yield/");
                    wanted.extend(
                        recipe.outputs.iter().filter(is_documents).map(|file| one(partition_of(file), &day, file)),
                    );
                }
            }
            Stage::Seen => {
                let days = JudgedDays::read(self.home)?.map(|ledger| ledger.days).unwrap_or_default();
                let verdicts = |day: &JudgedDay| DayFiles {
                    partition: String::new(),
                    day: day.day.clone(),
                    files: [&day.verdicts].into_iter().chain(&day.amendments).cloned().collect(),
                };
                wanted.extend(days.iter().map(verdicts));
            }
            Stage::Text => {
                for day in text::days(self.home)? {
                    let Some(recipe) = TextRecipe::read(self.home, &day)? else { continue };
                    wanted.extend(recipe.outputs.iter().map(|file| one(partition_of(file), &day, file)));
                }
            }
        }
        Ok(wanted)
    }

    /// The files of a day of pages. Their digests are in the recipe of its documents, unless files were added since.
    fn pages_of(&self, day: &docs::Day) -> Result<Vec<FileDigest>> {
        let recipe = Recipe::read(self.home, &day.name)?;
        let known = recipe.map(|recipe| recipe.inputs).unwrap_or_default();
        let mut files = Vec::new();
        for path in &day.files {
            let name = self.home.key(path);
            let bytes = self.home.file_bytes(&name)?;
            files.push(match known.iter().find(|input| input.file == name && Some(input.bytes) == bytes) {
                Some(input) => input.clone(),
                None => FileDigest::of(self.home, &name)?,
            });
        }
        Ok(files)
    }

    /// Reads the files of a day; returns the number of items and their digest.
    fn read(&self, stage: Stage, day: &DayFiles) -> Result<(u64, Sum)> {
        let mut sums: Vec<Sum> = Vec::new();
        for file in &day.files {
            if self.verify {
                is_as_vouched(self.home, file)?;
            }
            let path = self.home.storage().path(&file.file);
            let mut reader = self.home.open_file(&file.file)?;
            match stage {
                Stage::Text => each_document(&mut reader, &path, &mut sums)?,
                _ => each_line(&mut reader, &path, &mut sums)?,
            }
        }
        sums.sort_unstable();
        let mut hash = node(stage, "day");
        sums.iter().for_each(|sum| hash.update(sum));
        Ok((sums.len() as u64, hash.finalize().into()))
    }
}

fn is_as_vouched(home: &Home, file: &FileDigest) -> Result<()> {
    let found = FileDigest::of(home, &file.file)?;
    if (found.bytes, &found.xxh3) != (file.bytes, &file.xxh3) {
        let at = "(its digest does not match the recipe)".to_owned();
        return Err(Error::Damaged { path: home.storage().path(&file.file), at });
    }
    Ok(())
}

/// The partition of a file: the folder between the stage and the name.
fn partition_of(file: &FileDigest) -> &str {
    file.file.split('/').nth(1).unwrap_or_default()
}

fn each_line(reader: &mut dyn BufRead, path: &Path, sums: &mut Vec<Sum>) -> Result<()> {
    let mut line = Vec::new();
    while frames::read_line(reader, &mut line, MAX_LINE_BYTES).context("read", path)? {
        if !line.iter().all(u8::is_ascii_whitespace) {
            sums.push(Sha256::digest(&line).into());
        }
    }
    Ok(())
}

/// Documents in the vertical format: from `<doc` to `</doc>`.
fn each_document(reader: &mut dyn BufRead, path: &Path, sums: &mut Vec<Sum>) -> Result<()> {
    /// Text has hundreds of millions of short lines, so they are hashed by the megabyte.
    const PART_BYTES: usize = 1 << 20;
    let mut text = Vec::with_capacity(2 * PART_BYTES);
    let mut hash = Sha256::new();
    loop {
        let start = text.len();
        let read = reader.take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut text).context("read", path)?;
        if read == 0 {
            return Ok(());
        }
        if text.last() != Some(&b'\n') {
            text.push(b'\n');
        }
        let is_end = &text[start..] == b"</doc>\n";
        if is_end || text.len() >= PART_BYTES {
            hash.update(&text);
            text.clear();
        }
        if is_end {
            sums.push(std::mem::take(&mut hash).finalize().into());
        }
    }
}

fn unhex(text: &str) -> Option<Sum> {
    let mut sum = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in sum.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(home: &Home, name: &str, lines: &[&str], level: i32) {
        let path = home.pages().join("2026-03-01").join(name);
        tidings_storage::file::make_folder(tidings_storage::file::parent(&path)).unwrap();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(path, zstd::encode_all(text.as_bytes(), level).unwrap()).unwrap();
    }

    fn home(folder: &Path) -> Home {
        Home::create(folder, "", "").unwrap();
        Home::at(folder).unwrap()
    }

    fn root(home: &Home) -> (u64, Sum) {
        let mut digester = Digester::open(home, false).unwrap();
        let tree = digester.stage(Stage::Pages, None, |_, _, _| {}).unwrap();
        digester.remember().unwrap();
        (tree.items(), tree.root())
    }

    #[test]
    fn a_digest_depends_on_content_and_not_on_files() {
        let [one, two] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let (first, second) = (home(one.path()), home(two.path()));
        put(&first, "a.0.jsonl.zst", &["{\"url\":\"1\"}", "{\"url\":\"2\"}", "{\"url\":\"3\"}"], 3);
        put(&second, "a.0.jsonl.zst", &["{\"url\":\"3\"}"], 19);
        put(&second, "b.0.jsonl.zst", &["{\"url\":\"1\"}", "", "{\"url\":\"2\"}"], 1);
        assert_eq!(root(&first), root(&second));
        assert_eq!(root(&first).0, 3);

        let before = root(&second);
        put(&second, "b.0.jsonl.zst", &["{\"url\":\"1\"}", "{\"url\":\"4\"}"], 1);
        assert_ne!(root(&second), before, "the cache is invalidated by changed files");
        put(&second, "b.0.jsonl.zst", &["{\"url\":\"1\"}", "{\"url\":\"2\"}", "{\"url\":\"2\"}"], 1);
        assert_ne!(root(&second), before, "duplicates count");
    }

    #[test]
    fn verification_finds_damage() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        put(&home, "a.0.jsonl.zst", &["{\"url\":\"1\"}"], 3);
        let mut digester = Digester::open(&home, true).unwrap();
        digester.stage(Stage::Pages, None, |_, _, _| {}).unwrap();
        let path = home.pages().join("2026-03-01/a.0.jsonl.zst");
        let vouched = FileDigest::of(&home, "pages/2026-03-01/a.0.jsonl.zst").unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(is_as_vouched(&home, &vouched).unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn every_stage_has_a_digest_also_for_one_language() {
        let (_folder, home) = crate::testing::home();
        let mut draft =
            docs::DayDraft::create(&home, Recipe::new("2026-03-01", "p", "e", serde_json::Value::Null)).unwrap();
        draft.push("de", b"{\"id\":\"1\"}\n").unwrap();
        draft.push("en", b"{\"id\":\"2\"}\n").unwrap();
        draft.publish(2).unwrap();
        let mut text =
            text::TextDraft::create(&home, TextRecipe::new("2026-03-01", "p", "a", serde_json::Value::Null)).unwrap();
        let both = "<doc id=\"1\">\nRegen\n</doc>\n<doc id=\"2\">\nx\n</doc>\n".to_owned();
        text.push("de", text::MadeText { text: both, tokens: 1, ..text::MadeText::default() }).unwrap();
        text.publish(1).unwrap();
        let mut digester = Digester::open(&home, true).unwrap();
        let mut items = |stage, partition| digester.stage(stage, partition, |_, _, _| {}).unwrap().items();
        assert_eq!(
            [items(Stage::Docs, None), items(Stage::Docs, Some("de")), items(Stage::Docs, Some("fr"))],
            [2, 1, 0]
        );
        assert_eq!([items(Stage::Text, None), items(Stage::Seen, None), items(Stage::Pages, None)], [2, 0, 0]);
        let tree = digester.stage(Stage::Docs, None, |_, _, _| {}).unwrap();
        assert_eq!(tree.partitions().iter().map(|part| part.0.as_str()).collect::<Vec<_>>(), ["de", "en"]);
        assert_eq!(hex(&[255; 32]), "f".repeat(64));
        let german = hex(&digester.stage(Stage::Text, Some("de"), |_, _, _| {}).unwrap().root());
        assert_eq!(of_languages(&home, u64::MAX).unwrap(), Some(BTreeMap::from([("de".to_owned(), german)])));
        assert_eq!(of_languages(&home, 0).unwrap(), None, "the text would have to be read");
        digester.remember().unwrap();
        assert!(of_languages(&home, 0).unwrap().is_some(), "the digests are in the cache");
    }
}
