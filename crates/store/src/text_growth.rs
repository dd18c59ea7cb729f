//! The documents of a day of text that may still grow: what was made of each, so that the next round annotates and
//! indexes only what is new.
//!
//! A file of text is divided into groups of documents, in the order of the file of documents, and frames end where a
//! group ends. A day that has grown copies the frames of groups that are the same, takes the text of single documents
//! from other groups, and makes the rest. Groups depend on the documents alone, so that the bytes of a day do not depend
//! on the number of rounds in which it grew. The log is a cache: without it, a day is made again as a whole.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Context, Error, Result};
use crate::exclusion::Exclusion;
use crate::file_digest::FileDigest;
use crate::frames;
use crate::home::Home;
use crate::text::{self, FORMAT, TextRecipe, VERSION};

const GROWTH: &str = "tidings text growth 1";
/// The folder of the logs; not a valid language code.
pub(crate) const FOLDER: &str = "growth";
/// The documents of a group. Larger groups compress better; in smaller ones less is compressed again.
pub(crate) const GROUP_DOCUMENTS: usize = 32;
/// The compressed text that is read at once when groups are copied.
const WINDOW_BYTES: u64 = 1 << 20;
/// The newest days that have a log. Older ones rarely grow.
pub const LOGGED_DAYS: usize = 2;

/// The documents of a day of text, by language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextGrowth {
    format: String,
    languages: BTreeMap<String, LanguageGrowth>,
}

/// The documents of a file of text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LanguageGrowth {
    /// The digests of the versions of the file, oldest first. The last one is the present file.
    versions: Vec<String>,
    /// The compressed size of each group.
    groups: Vec<u64>,
    /// The documents in the order of the file of documents, also those that were left out.
    documents: Vec<GrownDocument>,
}

/// A document of a day of text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GrownDocument {
    pub(crate) id: String,
    /// The digest of everything that its text was made of, in hexadecimal.
    pub(crate) key: String,
    /// The first version of the file that has this text of it.
    pub(crate) version: usize,
    /// The size of its text; 0 if it was left out.
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) tokens: u64,
    /// The reason, if it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) exclusion: Option<Exclusion>,
}

impl TextGrowth {
    pub(crate) fn new(languages: BTreeMap<String, LanguageGrowth>) -> TextGrowth {
        TextGrowth { format: GROWTH.to_owned(), languages }
    }

    /// The log of a day; `None` if there is none that is sound and of this version.
    pub fn read(home: &Home, day: &str) -> Result<Option<TextGrowth>> {
        let Some(bytes) = home.storage().read(&key(day))? else { return Ok(None) };
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let (Some(json), Some(sum)) = (lines.next(), lines.next()) else { return Ok(None) };
        let growth: Option<TextGrowth> = serde_json::from_slice(json).ok();
        Ok(growth.filter(|growth| sum == digest(json).as_bytes() && growth.format == GROWTH))
    }

    /// Writes a line of JSON and a line with its digest: wrong sizes would cut documents in the middle.
    pub(crate) fn write(&self, home: &Home, day: &str) -> Result<()> {
        let json = serde_json::to_string(self).expect("logs serialise");
        let sum = digest(json.as_bytes());
        Ok(home.storage().put_atomic(&key(day), format!("{json}\n{sum}\n").as_bytes())?)
    }

    /// The changes of a file since an earlier version of it; `None` if they are not known.
    pub fn since(&self, file: &FileDigest, earlier: &str) -> Option<TextChanges<'_>> {
        let language = self.languages.get(file.language()?)?;
        let known = language.versions.iter().position(|version| version == earlier)?;
        (language.versions.last() == Some(&file.xxh3)).then(|| TextChanges { file: file.file.clone(), language, known })
    }

    pub(crate) fn into_languages(self) -> BTreeMap<String, LanguageGrowth> {
        self.languages
    }
}

fn digest(json: &[u8]) -> String {
    format!("{:032x}", xxh3_128(json))
}

fn key(day: &str) -> String {
    format!("{}/{FOLDER}/{day}.json", text::ROOT)
}

/// Deletes the log of a day.
pub(crate) fn remove(home: &Home, day: &str) -> Result<()> {
    Ok(home.storage().remove(&key(day))?)
}

/// Deletes the logs of all days before one.
pub fn remove_before(home: &Home, day: &str) -> Result<()> {
    let first = key(day);
    for log in home.storage().list(&format!("{}/{FOLDER}", text::ROOT))?.into_iter().filter(|log| *log < first) {
        home.storage().remove(&log)?;
    }
    Ok(())
}

/// The documents of a file of text that are new or have changed since an earlier version of it.
pub struct TextChanges<'a> {
    file: String,
    language: &'a LanguageGrowth,
    known: usize,
}

impl TextChanges<'_> {
    fn is_changed(&self, document: &GrownDocument) -> bool {
        document.version > self.known
    }

    /// The ids of these documents, also of those that were left out.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.language.documents.iter().filter(|document| self.is_changed(document)).map(|document| document.id.as_str())
    }

    /// Passes their text to `take`, group by group.
    pub fn for_each_group<E: From<Error>>(
        &self,
        home: &Home,
        mut take: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for (group, documents) in self.language.documents.chunks(GROUP_DOCUMENTS).enumerate() {
            if !documents.iter().any(|document| self.is_changed(document) && document.bytes > 0) {
                continue;
            }
            let text = self.language.text_of(home, &self.file, group)?;
            let mut changed = Vec::new();
            for (document, range) in documents.iter().zip(ranges(documents)) {
                if self.is_changed(document) {
                    changed.extend_from_slice(text.get(range).ok_or_else(|| torn(home, &self.file))?);
                }
            }
            take(&changed)?;
        }
        Ok(())
    }
}

/// The error about a file that is not as long as its log says.
fn torn(home: &Home, file: &str) -> Error {
    Error::Damaged { path: home.storage().path(file), at: "(its log has other sizes)".to_owned() }
}

/// The positions of documents in the text of their group.
fn ranges(documents: &[GrownDocument]) -> impl Iterator<Item = Range<usize>> {
    documents.iter().scan(0, |end, document| {
        let start = *end;
        *end += document.bytes as usize;
        Some(start..*end)
    })
}

impl LanguageGrowth {
    /// The position of the frames of a group in the file.
    fn frames_of(&self, group: usize) -> Range<u64> {
        let start = frames::header(FORMAT, VERSION, "").len() as u64 + self.groups[..group].iter().sum::<u64>();
        start..start + self.groups[group]
    }

    fn packed(&self, home: &Home, file: &str, group: usize) -> Result<Vec<u8>> {
        let range = self.frames_of(group);
        if range.is_empty() {
            // Everything of the group was left out; if that is so of all groups, there is no file.
            return Ok(Vec::new());
        }
        let bytes = home.storage().read_range(file, range.clone())?;
        if bytes.len() as u64 == range.end - range.start { Ok(bytes) } else { Err(torn(home, file)) }
    }

    fn text_of(&self, home: &Home, file: &str, group: usize) -> Result<Vec<u8>> {
        let packed = self.packed(home, file, group)?;
        if packed.is_empty() {
            return Ok(packed);
        }
        Ok(zstd::decode_all(&packed[..]).context("decompress", &home.storage().path(file))?)
    }
}

/// The former text of a growing file, from which documents are taken.
pub(crate) struct FormerText {
    file: String,
    language: LanguageGrowth,
    by_key: HashMap<String, usize>,
    /// The group that was decompressed last.
    decoded: Option<(usize, Vec<u8>)>,
    /// The bytes of the file that were read last, and their position: groups are copied one after the other.
    window: (u64, Vec<u8>),
}

impl FormerText {
    /// The former files of a day by language, without damaged ones.
    pub(crate) fn of(home: &Home, former: &TextRecipe) -> Result<HashMap<String, FormerText>> {
        let Some(growth) = TextGrowth::read(home, &former.day)? else { return Ok(HashMap::new()) };
        let mut texts = HashMap::new();
        for (code, language) in growth.into_languages() {
            let file = text::file_of(&code, &former.day);
            let output = former.outputs.iter().find(|output| output.file == file);
            // A language of which everything was left out has no file.
            let is_sound = match output {
                Some(output) => language.versions.last() == Some(&output.xxh3) && output.is_sound(home),
                None => language.documents.iter().all(|document| document.bytes == 0),
            };
            let is_whole = language.groups.len() == language.documents.len().div_ceil(GROUP_DOCUMENTS);
            if is_sound && is_whole {
                let keys = language.documents.iter().map(|document| document.key.clone());
                let by_key = keys.zip(0..).collect();
                texts.insert(code, FormerText { file, language, by_key, decoded: None, window: (0, Vec::new()) });
            }
        }
        Ok(texts)
    }

    /// The keys of its documents.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.by_key.keys().map(String::as_str)
    }

    /// The position of the document with this key.
    pub(crate) fn find(&self, key: &str) -> Option<usize> {
        self.by_key.get(key).copied()
    }

    pub(crate) fn document(&self, at: usize) -> &GrownDocument {
        &self.language.documents[at]
    }

    /// The number of the next version of the file.
    pub(crate) fn next_version(&self) -> usize {
        self.language.versions.len()
    }

    /// The frames of a group, if it consists of exactly these documents.
    pub(crate) fn group(&mut self, home: &Home, group: usize, documents: &[Option<usize>]) -> Result<Option<Vec<u8>>> {
        let first = group * GROUP_DOCUMENTS;
        let end = (first + GROUP_DOCUMENTS).min(self.language.documents.len());
        let is_same = first < end
            && documents.len() == end - first
            && documents.iter().zip(first..).all(|(document, at)| *document == Some(at));
        if is_same { self.packed(home, group).map(Some) } else { Ok(None) }
    }

    /// The frames of a group. Those of the following groups are read with them.
    fn packed(&mut self, home: &Home, group: usize) -> Result<Vec<u8>> {
        let range = self.language.frames_of(group);
        let (start, bytes) = &self.window;
        if !range.is_empty() && (range.start < *start || range.end > start + bytes.len() as u64) {
            let end = range.end.max(range.start + WINDOW_BYTES);
            self.window = (range.start, home.storage().read_range(&self.file, range.start..end)?);
        }
        let (start, bytes) = &self.window;
        let place = range.start.saturating_sub(*start) as usize..range.end.saturating_sub(*start) as usize;
        match range.is_empty() {
            // Everything of the group was left out; if that is so of all groups, there is no file.
            true => Ok(Vec::new()),
            false => bytes.get(place).map(<[u8]>::to_vec).ok_or_else(|| torn(home, &self.file)),
        }
    }

    /// The text of a document.
    pub(crate) fn text(&mut self, home: &Home, at: usize) -> Result<&[u8]> {
        let group = at / GROUP_DOCUMENTS;
        if self.decoded.as_ref().is_none_or(|(known, _)| *known != group) {
            self.decoded = Some((group, self.language.text_of(home, &self.file, group)?));
        }
        let documents = &self.language.documents[group * GROUP_DOCUMENTS..];
        let range = ranges(documents).nth(at % GROUP_DOCUMENTS).expect("the document is in its group");
        let text = self.decoded.as_ref().and_then(|(_, text)| text.get(range));
        text.ok_or_else(|| torn(home, &self.file))
    }

    /// The versions of the file with a new one, and whether the log continues: all former documents are still there.
    pub(crate) fn continued(&self, documents: &[GrownDocument]) -> Option<Vec<String>> {
        let present: std::collections::HashSet<&str> = documents.iter().map(|document| document.id.as_str()).collect();
        let continues = self.language.documents.iter().all(|document| present.contains(document.id.as_str()));
        continues.then(|| self.language.versions.clone())
    }
}

/// The log of a file of text in progress.
#[derive(Default)]
pub(crate) struct GrowthDraft {
    pub(crate) documents: Vec<GrownDocument>,
    pub(crate) groups: Vec<u64>,
}

impl GrowthDraft {
    /// The log of a file with this digest, after the former one.
    pub(crate) fn finish(mut self, former: Option<&FormerText>, xxh3: &str) -> LanguageGrowth {
        let versions = match former.and_then(|former| former.continued(&self.documents)) {
            Some(mut versions) => {
                if versions.last().is_none_or(|last| last != xxh3) {
                    versions.push(xxh3.to_owned());
                }
                versions
            }
            None => {
                self.documents.iter_mut().for_each(|document| document.version = 0);
                vec![xxh3.to_owned()]
            }
        };
        LanguageGrowth { versions, groups: self.groups, documents: self.documents }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;
    use crate::text::{MadeText, TextDraft};

    const DAY: &str = "2026-03-01";

    /// The text of a document; one without a word is left out.
    fn made(id: usize, word: &str) -> MadeText {
        let text = if word.is_empty() { String::new() } else { format!("<doc id=\"{id}\">\n{word}\n</doc>\n") };
        MadeText { id: format!("{id:032x}"), key: key_of(id, word), text, tokens: 1, ..MadeText::default() }
    }

    fn key_of(id: usize, word: &str) -> u128 {
        xxh3_128(format!("{id} {word}").as_bytes())
    }

    /// Makes a day of these documents, numbered by their places; returns its recipe and the number of new texts.
    fn make(home: &Home, words: &[&str]) -> (TextRecipe, usize) {
        let recipe = TextRecipe::new(DAY, "p", "a", serde_json::Value::Null);
        let mut draft = TextDraft::grow(home, recipe, |_| String::new()).unwrap();
        let known = draft.known();
        let mut new = 0;
        for (id, word) in words.iter().enumerate() {
            match known.has("en", key_of(id, word)) {
                true => draft.keep("en", key_of(id, word)).unwrap(),
                false => {
                    new += 1;
                    draft.push("en", made(id, word)).unwrap();
                }
            }
        }
        (draft.publish(words.len() as u64).unwrap(), new)
    }

    /// Three groups of documents, the last of them not full, some of which are left out.
    fn words() -> Vec<&'static str> {
        (0..2 * GROUP_DOCUMENTS + 5).map(|at| if at % 7 == 3 { "" } else { "rain" }).collect()
    }

    #[test]
    fn a_day_that_grew_has_the_bytes_and_counts_of_one_made_at_once() {
        let ((_one, at_once), (_two, grown)) = (home(), home());
        let words = words();
        let (expected, _) = make(&at_once, &words);
        let mut made = 0;
        for end in [3, GROUP_DOCUMENTS, GROUP_DOCUMENTS + 1, words.len()] {
            made += make(&grown, &words[..end]).1;
        }
        assert_eq!(made, words.len(), "each text is made once");
        assert_eq!(TextRecipe::read(&grown, DAY).unwrap(), Some(expected));
    }

    #[test]
    fn a_day_of_which_everything_is_left_out_has_no_file_and_can_be_made_again() {
        let (_folder, home) = home();
        let (recipe, new) = make(&home, &["", ""]);
        assert_eq!((recipe.outputs.len(), new), (0, 2));
        assert_eq!(make(&home, &["", ""]), (recipe, 0));
        assert_eq!(make(&home, &["", "", "rain"]).1, 1);
    }

    #[test]
    fn a_changed_document_is_made_again_and_is_the_only_change() {
        let ((_one, at_once), (_two, grown)) = (home(), home());
        let mut words = words();
        let (before, _) = make(&grown, &words);
        (words[1], words[40]) = ("snow", "");
        let (after, new) = make(&grown, &words);
        assert_eq!((new, &after), (2, &make(&at_once, &words).0));
        let growth = TextGrowth::read(&grown, DAY).unwrap().unwrap();
        let changes = growth.since(&after.outputs[0], &before.outputs[0].xxh3).unwrap();
        assert_eq!(changes.ids().collect::<Vec<_>>(), [format!("{:032x}", 1), format!("{:032x}", 40)]);
        let mut text = Vec::new();
        let taken = changes.for_each_group(&grown, |group| {
            text.extend_from_slice(group);
            Ok::<(), Error>(())
        });
        taken.unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), made(1, "snow").text);
        assert!(growth.since(&after.outputs[0], "another version").is_none());
        assert!(growth.since(&before.outputs[0], &after.outputs[0].xxh3).is_none(), "the file is of another version");
    }

    #[test]
    fn changes_are_unknown_after_a_document_went() {
        let (_folder, home) = home();
        let words = words();
        let (before, _) = make(&home, &words);
        let (after, new) = make(&home, &words[..words.len() - 1]);
        assert_eq!(new, 0);
        let growth = TextGrowth::read(&home, DAY).unwrap().unwrap();
        assert!(growth.since(&after.outputs[0], &before.outputs[0].xxh3).is_none());
    }

    #[test]
    fn damaged_text_is_not_kept() {
        let (_folder, home) = home();
        let words = words();
        let (recipe, _) = make(&home, &words);
        let path = home.storage().path(&recipe.outputs[0].file);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(make(&home, &words), (recipe, words.len()));
    }

    #[test]
    fn a_damaged_log_is_not_used() {
        let (_folder, home) = home();
        let words = words();
        let (recipe, _) = make(&home, &words);
        let path = home.storage().path(&key(DAY));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen("\"bytes\":", "\"bytes\":1", 1)).unwrap();
        assert_eq!(TextGrowth::read(&home, DAY).unwrap(), None);
        assert_eq!(make(&home, &words), (recipe, words.len()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn logs_of_earlier_days_are_deleted() {
        let (_folder, home) = home();
        for day in ["2026-03-01", "2026-03-02"] {
            TextGrowth::new(BTreeMap::new()).write(&home, day).unwrap();
        }
        remove_before(&home, "2026-03-02").unwrap();
        assert_eq!(home.storage().list("text/growth").unwrap(), ["text/growth/2026-03-02.json"]);
    }
}
