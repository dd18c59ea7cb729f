//! The frames of one file of pages: what a task on another machine sends home instead of documents.
//!
//! The frames of a day's documents end where a file of pages ends, so the compressed bytes of a day are those of its
//! files, one after the other. A task compresses the documents of one file, and the home joins the frames of all files
//! of a day without compressing anything again ([`DayDraft::push_frames`](crate::docs::DayDraft::push_frames)). The
//! bytes are the same as in a run on one machine.

use std::collections::BTreeMap;
use std::path::Path;

use zstd::bulk::Decompressor;

use crate::docs;
use crate::error::{Error, Result};
use crate::frames::{self, FRAME_BYTES, FrameEncoder};
use crate::partition::{WAITING_BYTES, level};

/// The frames of a partition: a language, or `dropped`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionFrames {
    /// The name of the partition.
    pub partition: String,
    /// The number of lines in the frames.
    pub lines: u64,
    /// The compressed frames.
    pub frames: Vec<u8>,
}

/// Compresses the documents of a file of pages as a day of them is compressed.
pub struct FileFrames {
    encoder: FrameEncoder,
    partitions: BTreeMap<String, Partition>,
    waiting: usize,
}

#[derive(Default)]
struct Partition {
    text: Vec<u8>,
    lines: u64,
    frames: Vec<u8>,
}

impl Default for FileFrames {
    fn default() -> FileFrames {
        FileFrames { encoder: FrameEncoder::new(level(docs::ROOT)), partitions: BTreeMap::new(), waiting: 0 }
    }
}

impl FileFrames {
    /// Adds the line of a document of a language, with its line end; returns its number in the partition.
    pub fn push(&mut self, language: &str, line: &[u8]) -> u64 {
        self.add(language, line)
    }

    /// Adds the line of a dropped page, with its line end.
    pub fn drop_page(&mut self, line: &[u8]) {
        self.add(docs::DROPPED, line);
    }

    fn add(&mut self, name: &str, line: &[u8]) -> u64 {
        if !self.partitions.contains_key(name) {
            self.partitions.insert(name.to_owned(), Partition::default());
        }
        let partition = self.partitions.get_mut(name).expect("inserted above");
        let number = partition.lines;
        partition.lines += 1;
        partition.text.extend_from_slice(line);
        self.waiting += line.len();
        // The limits are those of a day's draft, which is empty where a file of pages begins.
        if partition.text.len() >= FRAME_BYTES {
            self.encode(name);
        } else if self.waiting >= WAITING_BYTES {
            let largest = self.partitions.iter().max_by_key(|(_, partition)| partition.text.len());
            let name = largest.expect("at least one partition").0.clone();
            self.encode(&name);
        }
        number
    }

    fn encode(&mut self, name: &str) {
        let Some(partition) = self.partitions.get_mut(name).filter(|partition| !partition.text.is_empty()) else {
            return;
        };
        self.waiting -= partition.text.len();
        let frame = self.encoder.encode(&partition.text);
        partition.text.clear();
        partition.frames.extend_from_slice(&frame);
    }

    /// The frames of all partitions.
    pub fn finish(mut self) -> Vec<PartitionFrames> {
        let names: Vec<String> = self.partitions.keys().cloned().collect();
        names.iter().for_each(|name| self.encode(name));
        let frames = |(partition, Partition { lines, frames, .. })| PartitionFrames { partition, lines, frames };
        self.partitions.into_iter().map(frames).collect()
    }
}

/// Checks that frames from another machine are complete and have this many lines.
pub(crate) fn check(frames: &PartitionFrames, source: &Path) -> Result<()> {
    let damaged = |at: usize| {
        let at = format!("at byte {at} of the frames of `{}`", frames.partition);
        Error::Damaged { path: source.to_owned(), at }
    };
    let mut decompressor = Decompressor::new().expect("allocating a zstd context");
    let (mut text, mut lines, mut at) = (Vec::new(), 0, 0);
    while at < frames.frames.len() {
        let rest = &frames.frames[at..];
        let len = frames::frame_len(rest).ok_or_else(|| damaged(at))?;
        frames::unpack(&mut decompressor, &rest[..len], &mut text).ok_or_else(|| damaged(at))?;
        if text.last() != Some(&b'\n') {
            return Err(damaged(at));
        }
        lines += memchr::memchr_iter(b'\n', &text).count() as u64;
        at += len;
    }
    if lines != frames.lines {
        let at = format!("(the frames of `{}` have {lines} lines instead of {})", frames.partition, frames.lines);
        return Err(Error::Damaged { path: source.to_owned(), at });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::{Day, DayDraft, Recipe};
    use proptest::prelude::*;
    use std::fs;

    fn make(files: &[Vec<(usize, usize)>], is_framed: bool) -> BTreeMap<String, Vec<u8>> {
        let (folder, home) = crate::testing::home();
        let recipe = Recipe::new("2026-03-01", "p", "e", serde_json::Value::Null);
        let day = Day { name: "2026-03-01".to_owned(), files: Vec::new() };
        let mut draft = DayDraft::begin_anew(&home, recipe, &day).unwrap();
        let mut pages = 0;
        for file in files {
            draft.end_file().unwrap();
            let mut frames = FileFrames::default();
            for (language, length) in file {
                let line = format!("{}\n", "x".repeat(*length));
                pages += 1;
                match (language, is_framed) {
                    (0, true) => frames.drop_page(line.as_bytes()),
                    (0, false) => draft.drop_page("r", line.as_bytes()).unwrap(),
                    (language, true) => drop(frames.push(["de", "en"][language - 1], line.as_bytes())),
                    (language, false) => draft.push(["de", "en"][language - 1], line.as_bytes()).unwrap(),
                }
            }
            for part in frames.finish() {
                draft.push_frames(&part, Path::new("f")).unwrap();
                if part.partition == docs::DROPPED {
                    draft.count_dropped("r", part.lines);
                }
            }
        }
        draft.publish(pages).unwrap();
        let files = ["docs/de", "docs/en", "docs/dropped", "docs/recipes"].into_iter();
        let paths = files.flat_map(|name| fs::read_dir(folder.path().join(name)).into_iter().flatten());
        paths
            .map(|entry| entry.unwrap().path())
            .map(|p| (p.display().to_string().split_off(folder.path().as_os_str().len()), fs::read(p).unwrap()))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn frames_of_files_make_the_bytes_of_a_day(
            files in prop::collection::vec(prop::collection::vec((0..3usize, prop_oneof![0..90usize, 900_000..2_500_000usize]), 1..8), 0..4),
        ) {
            prop_assert_eq!(make(&files, true), make(&files, false));
        }
    }

    #[test]
    fn frames_that_lost_lines_or_bytes_are_an_error() {
        let mut frames = FileFrames::default();
        assert_eq!((frames.push("de", b"{}\n"), frames.push("de", b"{}\n")), (0, 1));
        let part = frames.finish().remove(0);
        assert!(check(&part, Path::new("f")).is_ok());
        let fewer = PartitionFrames { lines: 1, ..part.clone() };
        assert!(check(&fewer, Path::new("f")).unwrap_err().to_string().contains("2 lines instead of 1"));
        for len in 1..part.frames.len() {
            let cut = PartitionFrames { frames: part.frames[..len].to_vec(), ..part.clone() };
            assert!(matches!(check(&cut, Path::new("f")), Err(Error::Damaged { .. })), "{len}");
        }
    }
}
