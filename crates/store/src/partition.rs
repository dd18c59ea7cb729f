//! Files of a day in progress, one per partition: how stages publish their output by language and day atomically.
//!
//! A partition is a folder under a root, such as `docs/de`. Its file of the day is drafted in the local folder
//! `ROOT/draft`, and all drafts are moved to the storage one after the other; the caller deletes its recipe before and
//! writes it last.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead as _, Read, Seek, SeekFrom};
use std::path::PathBuf;

use tidings_storage::{Appender, file};
use xxhash_rust::xxh3::Xxh3;
use zstd::bulk::Decompressor;

use crate::docs;
use crate::error::{Context, Result};
use crate::file_digest::FileDigest;
use crate::frames::{self, FRAME_BYTES, FrameEncoder, Walker};
use crate::home::{DRAFTS, Home};

/// The size of uncompressed text of all partitions together. A page may declare any language, so the number of
/// partitions is unbounded.
pub(crate) const WAITING_BYTES: usize = 64 << 20;

/// Writes the files of a day. Unpublished drafts are deleted.
pub(crate) struct PartitionWriter {
    home: Home,
    root: &'static str,
    ending: &'static str,
    encoder: FrameEncoder,
    drafts: BTreeMap<String, PartitionDraft>,
    waiting: usize,
}

/// The compressed bytes of a partition that wait to be written together.
const PENDING_BYTES: usize = 128 << 10;

/// A draft; its file is opened for each write, so that few files are open.
struct PartitionDraft {
    path: PathBuf,
    /// The bytes so far, including the last ones, which are not in the file yet.
    bytes: u64,
    pending: Vec<u8>,
    text: Vec<u8>,
    lines: u64,
    digest: Xxh3,
    /// The bytes and lines that were there before the first line was added: a header, or a kept file.
    start: (u64, u64),
}

/// Text to be inserted into a partition as a frame of its own.
pub(crate) struct Insertion {
    /// The offset at which a frame begins, in compressed bytes.
    pub(crate) offset: u64,
    pub(crate) text: Vec<u8>,
    pub(crate) lines: u64,
}

/// The zstd level of the files under a root. Not a setting, because the same input must give the same bytes everywhere.
/// Documents at level 6 would be 9 % smaller and take three times the CPU time, a third of that of `clean` when annotated
/// text is imported. Manifests of the index have digests of the files of text, so that another level would change them.
pub(crate) fn level(root: &str) -> i32 {
    if root == docs::ROOT { 3 } else { 6 }
}

/// The key of a partition's file of a day.
pub(crate) fn key(root: &str, partition: &str, day: &str, ending: &str) -> String {
    format!("{root}/{partition}/{day}.{ending}")
}

fn drafts(home: &Home, root: &str) -> PathBuf {
    home.derived(root).join(home.draft_name())
}

/// Deletes the drafts left by a crash under a root and in some of its folders. The whole home is locked.
pub(crate) fn remove_temp(home: &Home, root: &str, others: &[&str]) -> Result<()> {
    for folder in others {
        file::remove_temp(&home.derived(root).join(folder))?;
    }
    let is_drafts =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(DRAFTS.as_bytes()));
    for folder in file::files_in(&home.derived(root))?.iter().filter(|path| is_drafts(path)) {
        file::remove_temp(folder)?;
        if !folder.ends_with(DRAFTS) {
            // That of a process with a shard, which has ended.
            let _ = fs::remove_dir(folder);
        }
    }
    Ok(())
}

/// Removes everything under a root.
pub(crate) fn clear(home: &Home, root: &str) -> Result<()> {
    let storage = home.storage();
    // The recipes are deleted first: a day without one does not exist.
    for recipe in storage.list(&format!("{root}/recipes"))? {
        storage.remove(&recipe)?;
    }
    for folder in storage.folders(root)? {
        for file in storage.list(&folder)? {
            storage.remove(&file)?;
        }
    }
    Ok(())
}

impl PartitionWriter {
    /// A writer under a root without any partition.
    pub(crate) fn new(home: &Home, root: &'static str, ending: &'static str) -> PartitionWriter {
        let encoder = FrameEncoder::new(level(root));
        PartitionWriter { home: home.clone(), root, ending, encoder, drafts: BTreeMap::new(), waiting: 0 }
    }

    /// Opens a partition whose file starts with a header; does nothing if it is open.
    pub(crate) fn open(&mut self, partition: &str, header: &[u8]) -> Result<()> {
        if !self.drafts.contains_key(partition) {
            let path = drafts(&self.home, self.root).join(format!("{partition}.tmp"));
            let mut draft = PartitionDraft::at(path);
            draft.append(header)?;
            draft.start = (draft.bytes, 0);
            self.drafts.insert(partition.to_owned(), draft);
        }
        Ok(())
    }

    /// Adds text of this many lines to an open partition.
    pub(crate) fn push(&mut self, partition: &str, text: &[u8], lines: u64) -> Result<()> {
        let draft = self.drafts.get_mut(partition).expect("partitions are opened before they are filled");
        draft.lines += lines;
        draft.text.extend_from_slice(text);
        let is_full = draft.text.len() >= FRAME_BYTES;
        self.waiting += text.len();
        if is_full {
            return self.encode(partition);
        }
        if self.waiting >= WAITING_BYTES {
            let largest = self.drafts.iter().max_by_key(|(_, draft)| draft.text.len());
            let name = largest.expect("at least one partition").0.clone();
            return self.encode(&name);
        }
        Ok(())
    }

    /// Opens a partition with the bytes of a published file; returns whether they match its digest.
    pub(crate) fn keep(&mut self, partition: &str, described: &FileDigest) -> Result<bool> {
        self.open(partition, &[])?;
        let draft = self.drafts.get_mut(partition).expect("opened above");
        let storage = self.home.storage();
        let mut source = storage.open(&described.file)?;
        loop {
            let read = source.fill_buf().context("read", &storage.path(&described.file))?;
            if read.is_empty() {
                break;
            }
            let len = read.len();
            draft.append(read)?;
            source.consume(len);
        }
        draft.lines = described.lines.unwrap_or_default();
        draft.start = (draft.bytes, draft.lines);
        Ok(draft.described(String::new()).xxh3 == described.xxh3)
    }

    /// Ends the current frame of a partition; returns the size of its file so far.
    pub(crate) fn end_frame(&mut self, partition: &str) -> Result<u64> {
        if !self.drafts.contains_key(partition) {
            return Ok(0);
        }
        self.encode(partition)?;
        Ok(self.drafts[partition].bytes)
    }

    /// Adds frames that are compressed already, with this many lines, to an open partition.
    pub(crate) fn push_frames(&mut self, partition: &str, frames: &[u8], lines: u64) -> Result<()> {
        self.encode(partition)?;
        let draft = self.drafts.get_mut(partition).expect("partitions are opened before they are filled");
        draft.lines += lines;
        draft.append(frames)
    }

    /// Compresses the waiting text of every partition, so that later text cannot change it, and writes it.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let names: Vec<String> = self.drafts.keys().cloned().collect();
        names.iter().try_for_each(|name| self.encode(name))?;
        let pending = self.drafts.values_mut().filter(|draft| !draft.pending.is_empty());
        pending.into_iter().try_for_each(|draft| draft.write().map(drop))
    }

    fn encode(&mut self, partition: &str) -> Result<()> {
        let draft = self.drafts.get_mut(partition).expect("partitions are opened before they are compressed");
        if !draft.text.is_empty() {
            self.waiting -= draft.text.len();
            let frame = self.encoder.encode(&draft.text);
            draft.text.clear();
            draft.text.shrink_to(FRAME_BYTES);
            draft.append(&frame)?;
        }
        Ok(())
    }

    /// The number of lines of a partition.
    pub(crate) fn lines(&self, partition: &str) -> u64 {
        self.drafts.get(partition).map_or(0, |draft| draft.lines)
    }

    /// The compressed bytes of a partition so far.
    pub(crate) fn bytes(&self, partition: &str) -> u64 {
        self.drafts.get(partition).map_or(0, |draft| draft.bytes)
    }

    /// Leaves out some of the lines that were added to a partition, by their numbers. Frames without them stay as they
    /// are; a partition without any lines goes.
    pub(crate) fn leave_out(&mut self, partition: &str, unwanted: &BTreeSet<u64>) -> Result<()> {
        self.flush()?;
        let draft = self.drafts.get(partition).expect("only lines of open partitions are left out");
        let (start, mut number) = draft.start;
        let mut edited = draft.copy_of(0..start)?;
        edited.start = draft.start;
        let mut frames = Walker::open_at(&draft.path, start)?;
        let mut decompressor = Decompressor::new().expect("allocating a zstd context");
        let mut text = Vec::new();
        while let Some(frame) = frames.next()? {
            frames::unpack(&mut decompressor, frame, &mut text).expect("the draft was written by this process");
            let first = number;
            number += memchr::memchr_iter(b'\n', &text).count() as u64;
            if unwanted.range(first..number).next().is_none() {
                edited.append(frame)?;
                continue;
            }
            let lines = (first..).zip(text.split_inclusive(|byte| *byte == b'\n'));
            let kept: Vec<u8> =
                lines.filter(|(number, _)| !unwanted.contains(number)).flat_map(|(_, line)| line).copied().collect();
            if !kept.is_empty() {
                edited.append(&self.encoder.encode(&kept))?;
            }
        }
        edited.lines = draft.lines - unwanted.len() as u64;
        match edited.lines {
            0 => self.discard(partition, &edited),
            _ => self.replace(partition, edited),
        }
    }

    /// Inserts text into a partition, in ascending order of offsets.
    pub(crate) fn insert(&mut self, partition: &str, insertions: &[Insertion]) -> Result<()> {
        self.flush()?;
        let draft = self.drafts.get(partition).expect("text is inserted into open partitions");
        let mut edited = draft.copy_of(0..0)?;
        (edited.lines, edited.start) = (draft.lines, draft.start);
        let mut copied = 0;
        for Insertion { offset, text, lines } in insertions {
            draft.copy_to(&mut edited, copied..*offset)?;
            edited.append(&self.encoder.encode(text))?;
            (copied, edited.lines) = (*offset, edited.lines + lines);
        }
        draft.copy_to(&mut edited, copied..draft.bytes)?;
        self.replace(partition, edited)
    }

    /// Puts an edited draft in the place of a partition's.
    fn replace(&mut self, partition: &str, mut edited: PartitionDraft) -> Result<()> {
        let draft = self.drafts.get_mut(partition).expect("only open partitions are edited");
        edited.write()?;
        fs::rename(&edited.path, &draft.path).context("rename to", &draft.path)?;
        edited.path.clone_from(&draft.path);
        *draft = edited;
        Ok(())
    }

    /// Deletes the draft of a partition.
    fn discard(&mut self, partition: &str, edited: &PartitionDraft) -> Result<()> {
        let draft = self.drafts.remove(partition);
        draft.iter().chain([edited]).try_for_each(|draft| Ok(file::remove(&draft.path)?))
    }

    /// Flushes and syncs all drafts; returns the descriptions of the files.
    pub(crate) fn seal(&mut self, day: &str) -> Result<Vec<FileDigest>> {
        let names: Vec<String> = self.drafts.keys().cloned().collect();
        names.iter().try_for_each(|name| self.encode(name))?;
        let mut files = Vec::new();
        for (name, draft) in &mut self.drafts {
            draft.write()?.sync()?;
            files.push(draft.described(key(self.root, name, day, self.ending)));
        }
        Ok(files)
    }

    /// Publishes the drafts, and deletes files of the day in other partitions.
    pub(crate) fn publish(&mut self, day: &str) -> Result<()> {
        let storage = self.home.storage();
        for (name, draft) in &self.drafts {
            storage.publish_file(&draft.path, &key(self.root, name, day, self.ending))?;
        }
        for folder in storage.folders(self.root)? {
            let name = folder.rsplit('/').next().unwrap_or_default();
            let leftover = key(self.root, name, day, self.ending);
            if !self.drafts.contains_key(name) && storage.stat(&leftover)?.is_some() {
                storage.remove(&leftover)?;
            }
        }
        Ok(())
    }
}

/// A partial day is of no use, and the disk may be full.
impl Drop for PartitionWriter {
    fn drop(&mut self) {
        for draft in self.drafts.values() {
            // Published drafts have moved; files left by a crash are deleted by the next run.
            let _ = fs::remove_file(&draft.path);
        }
    }
}

impl PartitionDraft {
    fn at(path: PathBuf) -> PartitionDraft {
        let (pending, text, digest) = (Vec::new(), Vec::new(), Xxh3::new());
        PartitionDraft { path, bytes: 0, pending, text, lines: 0, digest, start: (0, 0) }
    }

    /// A new draft with some of the bytes of this one.
    fn copy_of(&self, bytes: std::ops::Range<u64>) -> Result<PartitionDraft> {
        let mut copy = PartitionDraft::at(self.path.with_extension("edited.tmp"));
        self.copy_to(&mut copy, bytes)?;
        Ok(copy)
    }

    /// Appends some of the bytes of this draft to another.
    fn copy_to(&self, other: &mut PartitionDraft, bytes: std::ops::Range<u64>) -> Result<()> {
        let mut source = File::open(&self.path).context("open", &self.path)?;
        source.seek(SeekFrom::Start(bytes.start)).context("read", &self.path)?;
        let mut rest = source.take(bytes.end - bytes.start);
        let mut buffer = vec![0; (bytes.end - bytes.start).clamp(1, FRAME_BYTES as u64) as usize];
        loop {
            let read = rest.read(&mut buffer).context("read", &self.path)?;
            if read == 0 {
                return Ok(());
            }
            other.append(&buffer[..read])?;
        }
    }

    /// Describes the file that the draft will be.
    fn described(&self, file: String) -> FileDigest {
        let xxh3 = format!("{:032x}", self.digest.digest128());
        FileDigest { file, bytes: self.bytes, xxh3, lines: Some(self.lines) }
    }

    /// Appends bytes, which are written when there are enough of them.
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.digest.update(bytes);
        self.bytes += bytes.len() as u64;
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= PENDING_BYTES { self.write().map(drop) } else { Ok(()) }
    }

    /// Writes what is pending to the file, which is created if need be. What a crash left under its name is overwritten.
    fn write(&mut self) -> Result<Appender> {
        let mut file = Appender::reopen(&self.path, self.bytes - self.pending.len() as u64)?;
        file.append(&self.pending)?;
        self.pending.clear();
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    fn text(home: &Home, file: &str) -> Option<String> {
        let bytes = home.storage().read(file).unwrap()?;
        Some(String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap())
    }

    #[test]
    fn more_partitions_than_memory_are_compressed_early_and_in_order() {
        let (_folder, home) = home();
        let mut writer = PartitionWriter::new(&home, "docs", "txt.zst");
        let line = |number: u32| format!("{number} {}\n", "x".repeat(1 << 20));
        for number in 0..80 {
            let partition = ["aa", "bb", "cc"][number as usize % 3];
            writer.open(partition, &crate::frames::header("test", 1, "")).unwrap();
            writer.push(partition, line(number).as_bytes(), 1).unwrap();
            assert!(writer.waiting < WAITING_BYTES + (2 << 20));
        }
        let files = writer.seal("2026-03-01").unwrap();
        assert_eq!(files.iter().filter_map(|file| file.lines).sum::<u64>(), 80);
        writer.publish("2026-03-01").unwrap();
        let text = text(&home, "docs/aa/2026-03-01.txt.zst").unwrap();
        let numbers: Vec<u32> = text.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
        assert_eq!(numbers, (0..80).step_by(3).collect::<Vec<u32>>());
    }

    #[test]
    fn frames_are_written_together() {
        let (_folder, home) = home();
        let mut writer = PartitionWriter::new(&home, "docs", "txt.zst");
        writer.open("de", b"").unwrap();
        for number in 0..50 {
            let frame = FrameEncoder::new(1).encode(format!("{number}\n").as_bytes());
            writer.push_frames("de", &frame, 1).unwrap();
        }
        assert!(file::files_in(&drafts(&home, "docs")).unwrap().is_empty(), "nothing is written yet");
        let files = writer.seal("2026-03-01").unwrap();
        writer.publish("2026-03-01").unwrap();
        assert_eq!((files[0].lines, files[0].is_sound(&home)), (Some(50), true));
        let expected: String = (0..50).map(|number| format!("{number}\n")).collect();
        assert_eq!(text(&home, "docs/de/2026-03-01.txt.zst"), Some(expected));
    }

    #[test]
    fn a_dropped_writer_keeps_published_files() {
        let (_folder, home) = home();
        let fill = |word: &str| {
            let mut writer = PartitionWriter::new(&home, "docs", "txt.zst");
            writer.open("de", b"").unwrap();
            writer.push("de", word.as_bytes(), 1).unwrap();
            writer
        };
        fill("one\n").seal("2026-03-01").unwrap();
        assert_eq!(text(&home, "docs/de/2026-03-01.txt.zst"), None);
        let mut writer = fill("two\n");
        writer.seal("2026-03-01").unwrap();
        writer.publish("2026-03-01").unwrap();
        drop(fill("three\n"));
        assert_eq!(text(&home, "docs/de/2026-03-01.txt.zst").as_deref(), Some("two\n"));
        assert!(file::files_in(&drafts(&home, "docs")).unwrap().is_empty());
    }

    #[test]
    fn publishing_deletes_the_day_from_other_partitions() {
        let (_folder, home) = home();
        for (partition, day) in [("en", "2026-03-01"), ("en", "2026-03-02")] {
            let mut writer = PartitionWriter::new(&home, "docs", "txt.zst");
            writer.open(partition, b"").unwrap();
            writer.seal(day).unwrap();
            writer.publish(day).unwrap();
        }
        let mut writer = PartitionWriter::new(&home, "docs", "txt.zst");
        writer.open("de", b"").unwrap();
        writer.seal("2026-03-01").unwrap();
        writer.publish("2026-03-01").unwrap();
        let there = |key: &str| home.storage().stat(key).unwrap().is_some();
        assert!(there("docs/de/2026-03-01.txt.zst") && there("docs/en/2026-03-02.txt.zst"));
        assert!(!there("docs/en/2026-03-01.txt.zst"));
        clear(&home, "docs").unwrap();
        assert!(!there("docs/de/2026-03-01.txt.zst") && !there("docs/en/2026-03-02.txt.zst"));
    }

    #[test]
    fn lines_are_left_out_and_inserted_without_a_change_to_other_frames() {
        let (_folder, home) = home();
        let line = |number: u64| format!("line {number}\n").into_bytes();
        let mut writer = PartitionWriter::new(&home, "docs", "txt.zst");
        writer.open("de", &crate::frames::header("test", 1, "")).unwrap();
        let mut ends = Vec::new();
        for number in 0..6 {
            writer.push("de", &line(number), 1).unwrap();
            if number % 2 == 1 {
                writer.flush().unwrap();
                ends.push(writer.bytes("de"));
            }
        }
        let before = fs::read(&writer.drafts["de"].path).unwrap();
        let between = Insertion { offset: ends[0], text: b"between\n".to_vec(), lines: 1 };
        writer.insert("de", &[between]).unwrap();
        let after = fs::read(&writer.drafts["de"].path).unwrap();
        assert_eq!(after[..ends[0] as usize], before[..ends[0] as usize]);
        assert_eq!(after[after.len() - (before.len() - ends[0] as usize)..], before[ends[0] as usize..]);
        writer.leave_out("de", &[0, 2, 3].into()).unwrap();
        let described = writer.seal("2026-03-01").unwrap().remove(0);
        writer.publish("2026-03-01").unwrap();
        let text = text(&home, "docs/de/2026-03-01.txt.zst").unwrap();
        assert_eq!((text.as_str(), described.lines), ("line 1\nline 3\nline 4\nline 5\n", Some(4)));
        assert_eq!(FileDigest::of(&home, "docs/de/2026-03-01.txt.zst").unwrap().xxh3, described.xxh3);
        // Lines of a kept file have the first numbers and stay.
        let mut again = PartitionWriter::new(&home, "docs", "txt.zst");
        assert!(again.keep("de", &described).unwrap());
        again.push("de", b"added\n", 1).unwrap();
        again.leave_out("de", &[again.lines("de") - 1].into()).unwrap();
        assert_eq!(again.seal("2026-03-01").unwrap(), [described]);
        let mut empty = PartitionWriter::new(&home, "docs", "txt.zst");
        empty.open("en", b"").unwrap();
        empty.push("en", b"one\n", 1).unwrap();
        empty.leave_out("en", &[0].into()).unwrap();
        assert!(empty.seal("2026-03-01").unwrap().is_empty());
    }

    #[test]
    fn a_kept_file_is_compared_with_its_description() {
        let (_folder, home) = home();
        let mut writer = PartitionWriter::new(&home, "docs", "txt.zst");
        writer.open("de", b"").unwrap();
        writer.push("de", b"one\n", 1).unwrap();
        let described = writer.seal("2026-03-01").unwrap().remove(0);
        writer.publish("2026-03-01").unwrap();
        let mut again = PartitionWriter::new(&home, "docs", "txt.zst");
        assert!(again.keep("de", &described).unwrap());
        assert_eq!(again.seal("2026-03-01").unwrap(), std::slice::from_ref(&described));
        drop(again);
        let other = FileDigest { xxh3: "0".repeat(32), ..described };
        assert!(!PartitionWriter::new(&home, "docs", "txt.zst").keep("de", &other).unwrap());
    }
}
