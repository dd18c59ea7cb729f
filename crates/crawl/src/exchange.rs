//! Links between the shards of a crawl, as files.
//!
//! Each shard crawls its own registered domains. A link to a domain of another shard is written to a file in
//! `outbox/I-of-N/` of the crawl that found it; the other shard reads the file wherever it was copied to. There is no
//! server and no order: a file may come late, twice or never again. Links are journaled until a checkpoint has written
//! their file, and the name of a file that was read is journaled too, so that neither is lost nor read twice after a
//! kill. The name has a hash of the content: a checkpoint that is repeated after a crash writes the same file again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_storage::file;
use xxhash_rust::xxh3::xxh3_64;

use crate::disk_queue;
use crate::error::{Error, Result};
use crate::fingerprint::fingerprint;
use crate::record::{Link, Record};
use crate::state::{CrawlState, TablePart};

/// The table of domains that changed their shard, and of files that were read.
pub(crate) const SHARD_TABLE: &str = "shards";
/// Text for other shards after which a checkpoint is due.
const MAX_OUTGOING_BYTES: usize = 8 << 20;
/// The longest text of a file: more is written to several files, and a longer file is not read, because it may be hostile.
const MAX_FILE_BYTES: usize = 64 << 20;
/// Entries of the table of links that were sent lately, a power of two.
const HOT: usize = 1 << 16;

/// A row of the table of shards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ShardRow {
    HandedOver { domain: String, shard: u32 },
    Adopted(String),
    Received(String),
}

/// The links for other shards, and what came from them.
#[derive(Default)]
pub(crate) struct Exchange {
    /// This shard and the number of shards, if there are several.
    shard: Option<(u32, u32)>,
    /// Lines for the next files, by shard.
    outgoing: BTreeMap<u32, String>,
    outgoing_bytes: usize,
    /// Fingerprints of links that were sent lately.
    hot: Vec<u64>,
    handed_over: BTreeMap<String, u32>,
    adopted: BTreeSet<String>,
    received: BTreeSet<String>,
    /// Whether the table must be written.
    is_changed: bool,
}

impl Exchange {
    /// Whether so much waits for other shards that it must be written.
    pub(crate) fn is_full(&self) -> bool {
        self.outgoing_bytes > MAX_OUTGOING_BYTES
    }

    /// Applies a row of the last checkpoint.
    pub(crate) fn restore(&mut self, row: &str) {
        match serde_json::from_str(row) {
            Ok(ShardRow::HandedOver { domain, shard }) => _ = self.handed_over.insert(domain, shard),
            Ok(ShardRow::Adopted(domain)) => _ = self.adopted.insert(domain),
            Ok(ShardRow::Received(file)) => _ = self.received.insert(file),
            Err(_) => {}
        }
    }

    /// Applies a record of the journal.
    pub(crate) fn apply(&mut self, record: &Record) {
        match record {
            Record::Sent(shard, link) => self.push(*shard, &Record::Link(link.clone())),
            Record::HandedOver(shard, domain) => {
                self.is_changed = true;
                self.handed_over.insert(domain.clone(), *shard);
                self.push(*shard, &Record::Adopted(domain.clone()));
            }
            Record::Adopted(domain) => self.is_changed |= self.adopted.insert(domain.clone()),
            Record::Received(file) => self.is_changed |= self.received.insert(file.clone()),
            Record::Link(_) | Record::Alias(_) | Record::Done(_) => {}
        }
    }

    fn push(&mut self, shard: u32, record: &Record) {
        let lines = self.outgoing.entry(shard).or_default();
        let before = lines.len();
        record.write(lines);
        self.outgoing_bytes += lines.len() - before;
    }

    fn is_hot(&mut self, fingerprint: u64) -> bool {
        self.hot.resize(HOT, 0);
        std::mem::replace(&mut self.hot[fingerprint as usize & (HOT - 1)], fingerprint) == fingerprint
    }

    /// The table, if it changed since the last call.
    pub(crate) fn table_part(&mut self) -> Option<TablePart> {
        if !std::mem::take(&mut self.is_changed) {
            return None;
        }
        let handed_over = self.handed_over.iter().map(|(domain, shard)| (domain.clone(), *shard));
        let rows = handed_over
            .map(|(domain, shard)| ShardRow::HandedOver { domain, shard })
            .chain(self.adopted.iter().cloned().map(ShardRow::Adopted))
            .chain(self.received.iter().cloned().map(ShardRow::Received));
        let line = |row: ShardRow| serde_json::to_string(&row).expect("strings and numbers serialise") + "\n";
        Some(TablePart { table: SHARD_TABLE, shard: 0, text: rows.map(line).collect() })
    }

    /// Writes the files for other shards; `number` is that of the journal which has their links.
    pub(crate) fn write(&mut self, folder: &Path, number: u64) -> Result<()> {
        let Some((index, count)) = self.shard else { return Ok(()) };
        for (shard, text) in &self.outgoing {
            let target = folder.join("outbox").join(format!("{shard}-of-{count}"));
            for text in files_of(text, MAX_FILE_BYTES) {
                let name = format!("{index}-of-{count}.{number}-{:016x}.tsv.zst", xxh3_64(text.as_bytes()));
                disk_queue::write_durable_text(&target.join(name), text)?;
            }
        }
        Ok(())
    }

    /// Forgets what the files have that were written.
    pub(crate) fn clear(&mut self) {
        self.outgoing.clear();
        self.outgoing_bytes = 0;
    }
}

impl CrawlState {
    /// Makes this the state of one of several shards, counted from 1.
    pub fn set_shard(&mut self, index: u32, count: u32) {
        self.exchange.shard = Some((index, count));
    }

    fn exchange_record(&mut self, record: &Record) {
        record.write(&mut self.pending);
        self.exchange.apply(record);
    }

    /// Sends a link to the shard that owns its domain, at the next checkpoint.
    pub fn send(&mut self, shard: u32, link: Link) {
        if !self.exchange.is_hot(fingerprint(&link.url.url)) {
            self.exchange_record(&Record::Sent(shard, link));
        }
    }

    /// Gives a domain to another shard.
    pub fn hand_over(&mut self, domain: &str, shard: u32) {
        self.exchange_record(&Record::HandedOver(shard, domain.to_owned()));
    }

    /// Takes a domain that another shard handed over.
    pub fn adopt(&mut self, domain: &str) {
        self.exchange_record(&Record::Adopted(domain.to_owned()));
    }

    /// Notes that a file of another shard was read. Its links must have been offered before.
    pub fn note_received(&mut self, file: &str) {
        self.exchange_record(&Record::Received(file.to_owned()));
    }

    /// Whether a file of another shard was read.
    pub fn has_received(&self, file: &str) -> bool {
        self.exchange.received.contains(file)
    }

    /// Domains that other shards have now.
    pub fn handed_over(&self) -> impl Iterator<Item = (&str, u32)> {
        self.exchange.handed_over.iter().map(|(domain, shard)| (domain.as_str(), *shard))
    }

    /// Domains that came from other shards.
    pub fn adopted(&self) -> impl Iterator<Item = &str> {
        self.exchange.adopted.iter().map(String::as_str)
    }

    /// The files of an inbox for this shard that were not read: those in the folder itself, and those in its folder
    /// `I-of-N`, so that the outbox of another shard can be read in place.
    pub fn unread(&self, inbox: &Path) -> Result<Vec<PathBuf>> {
        let Some((index, count)) = self.exchange.shard else { return Ok(Vec::new()) };
        let own = inbox.join(format!("{index}-of-{count}"));
        let mut files = file::files_in(inbox)?;
        files.extend(file::files_in(&own)?);
        files.retain(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".tsv.zst") && !self.has_received(&name)
        });
        Ok(files)
    }
}

/// Reads a file of another shard: its links, and the domains that it hands over.
pub fn read_file(path: &Path) -> Result<Vec<Record>> {
    let text = disk_queue::read_text_within(path, MAX_FILE_BYTES as u64)?;
    let text = text.ok_or_else(|| Error::TooLong { path: path.to_owned(), limit: MAX_FILE_BYTES })?;
    let parse = |line| match Record::parse(line) {
        Some(record @ (Record::Link(_) | Record::Adopted(_))) => Ok(record),
        _ => Err(Error::damaged(path, "a line is neither a link nor a domain")),
    };
    text.lines().map(parse).collect()
}

/// Divides lines into texts of a limited length; a longer line is a text of its own.
fn files_of(mut lines: &str, max_bytes: usize) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let within = lines.as_bytes().iter().take(max_bytes).rposition(|byte| *byte == b'\n');
        let end = match within {
            _ if lines.len() <= max_bytes => lines.len(),
            Some(last) => last + 1,
            None => lines.find('\n').map_or(lines.len(), |first| first + 1),
        };
        let (text, rest) = lines.split_at(end);
        lines = rest;
        (!text.is_empty()).then_some(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::link;

    #[test]
    fn lines_are_divided_into_files() {
        let divided = |lines, max_bytes| files_of(lines, max_bytes).collect::<Vec<_>>();
        assert_eq!(divided("a\nbc\nd\n", 100), ["a\nbc\nd\n"]);
        assert_eq!(divided("a\nbc\nd\n", 5), ["a\nbc\n", "d\n"]);
        assert_eq!(divided("a\nlonger\nd\n", 4), ["a\n", "longer\n", "d\n"]);
        assert!(divided("", 4).is_empty());
    }

    #[test]
    fn a_small_file_that_decompresses_to_more_than_the_limit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1-of-2.1-0.tsv.zst");
        disk_queue::write_text(&path, &"k\ta.example\n".repeat(MAX_FILE_BYTES / 12 + 1)).unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() < 100_000);
        let error = read_file(&path).unwrap_err().to_string();
        assert!(error.contains("67108864 bytes") && error.contains("1-of-2.1-0.tsv.zst"), "{error}");
    }

    fn open(folder: &Path, index: u32) -> CrawlState {
        let mut state = CrawlState::open(folder).unwrap();
        state.set_shard(index, 2);
        let finished = state.finished().unwrap();
        state.recover(&finished).unwrap();
        state.catch_up(|_| true).unwrap();
        state
    }

    fn checkpoint(state: &mut CrawlState) {
        state.sift(|_| true).unwrap();
        state.checkpoint(Vec::new(), Vec::new()).unwrap();
    }

    fn outbox(folder: &Path) -> Vec<PathBuf> {
        file::files_in(&folder.join("outbox/2-of-2")).unwrap()
    }

    #[test]
    fn links_for_another_shard_survive_a_kill_and_are_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = open(folder.path(), 1);
        state.send(2, link("http://b.example/x"));
        state.send(2, link("http://b.example/x"));
        state.hand_over("c.example", 2);
        state.commit().unwrap();
        drop(state);
        assert!(outbox(folder.path()).is_empty());
        let mut state = open(folder.path(), 1);
        checkpoint(&mut state);
        let files = outbox(folder.path());
        let expected = [Record::Link(link("http://b.example/x")), Record::Adopted("c.example".into())];
        assert_eq!((files.len(), read_file(&files[0]).unwrap()), (1, expected.into()));
        let mut state = open(folder.path(), 1);
        assert_eq!(state.handed_over().collect::<Vec<_>>(), [("c.example", 2)]);
        checkpoint(&mut state);
        assert_eq!(outbox(folder.path()), files, "nothing new");
    }

    #[test]
    fn a_checkpoint_that_is_repeated_writes_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = open(folder.path(), 1);
        state.send(2, link("http://b.example/x"));
        state.commit().unwrap();
        // The files are there, and the manifest is not.
        state.exchange.write(folder.path(), state.manifest.journal).unwrap();
        let files = outbox(folder.path());
        drop(state);
        checkpoint(&mut open(folder.path(), 1));
        assert_eq!(outbox(folder.path()), files);
    }

    #[test]
    fn a_file_is_read_once_also_after_a_kill() {
        let [sender, receiver] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let mut state = open(sender.path(), 1);
        state.send(2, link("http://b.example/x"));
        checkpoint(&mut state);
        let inbox = sender.path().join("outbox");
        let mut state = open(receiver.path(), 2);
        let files = state.unread(&inbox).unwrap();
        assert_eq!(files.len(), 1);
        state.note_received(&files[0].file_name().unwrap().to_string_lossy());
        state.adopt("d.example");
        state.commit().unwrap();
        let mut state = open(receiver.path(), 2);
        assert!(state.unread(&inbox).unwrap().is_empty());
        checkpoint(&mut state);
        let state = open(receiver.path(), 2);
        assert!(state.unread(&inbox).unwrap().is_empty());
        assert_eq!(state.adopted().collect::<Vec<_>>(), ["d.example"]);
        std::fs::write(inbox.join("half.tsv.zst"), b"half").unwrap();
        let half = state.unread(&inbox).unwrap();
        assert!(half.len() == 1 && read_file(&half[0]).is_err(), "a copy that is not complete");
    }
}
