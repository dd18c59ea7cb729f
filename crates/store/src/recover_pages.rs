//! Recovery of the files of pages that a crash left unpublished.
//!
//! The journal names the length up to which each file was acknowledged. A crash leaves at most one frame after it, which
//! is cut off. More frames after it, or several frames in a file that the journal does not name, mean that the journal
//! itself was damaged, cut or lost: then all sound frames are kept, and their pages count as stored.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Seek as _};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use tidings_storage::Appender;
use tidings_storage::file;

use crate::error::{Context, Result};
use crate::home::Home;
use crate::import_log;
use crate::pages::{self, PageReader, publish_part};
use crate::sound_frames::SoundFrames;
use crate::takedown::PageHead;

/// The number of frames that a crash may leave without an acknowledgement.
const UNACKNOWLEDGED: usize = 1;

/// The published files of an interrupted run.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// The number of files.
    pub(crate) files: u64,
    /// The URLs of all pages of files with pages that the journal does not name.
    pub(crate) urls: BTreeSet<String>,
    /// The run that wrote these files.
    pub(crate) run: Option<String>,
}

/// Publishes the `parts` left by a crash, truncated to the lengths in the journal. If the journal `is_damaged`, the
/// pages of all files are listed, so that none of them is requested again.
pub(crate) fn recover(
    home: &Home,
    parts: &[PathBuf],
    whole: impl Fn(&str) -> Option<u64>,
    is_damaged: bool,
) -> Result<Recovered> {
    let mut recovered = Recovered::default();
    for of_day in parts.chunk_by(|a, b| a.parent() == b.parent()) {
        // The archive of a file of pages follows it in the order of names.
        let mut rescued: BTreeSet<String> = BTreeSet::new();
        for path in of_day {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let stem = name.split(['.']).take(2).collect::<Vec<_>>().join(".");
            let acknowledged = whole(&home.shown(path));
            let is_pages = name.ends_with(&format!(".jsonl.zst.{}", pages::PART));
            let length = match is_pages {
                true => {
                    let (sound, unknown) = unacknowledged(path, acknowledged.unwrap_or_default())?;
                    let keeps = unknown > UNACKNOWLEDGED && !import_log::is_import(&name);
                    if keeps {
                        rescued.insert(stem.clone());
                    }
                    if keeps { Some(sound) } else { acknowledged }
                }
                false if rescued.contains(&stem) => Some(whole_members(path)?),
                false => acknowledged,
            };
            let Some(length) = length else {
                // None of its pages were acknowledged.
                file::remove(path)?;
                continue;
            };
            let found = std::fs::metadata(path).context("inspect", path)?.len();
            drop(Appender::reopen(path, length.min(found))?);
            file::sync_file(path)?;
            publish_part(home, path)?;
            recovered.files += 1;
            if is_pages && (is_damaged || rescued.contains(&stem)) {
                recovered.run = stem.split('.').next().map(str::to_owned);
                recovered.urls.extend(urls(&path.with_extension(""))?);
            }
        }
    }
    Ok(recovered)
}

/// The end of the last sound frame of a file, and the number of sound frames after the acknowledged ones.
fn unacknowledged(path: &Path, acknowledged: u64) -> Result<(u64, usize)> {
    let (mut end, mut number) = (acknowledged, 0);
    let mut frames = SoundFrames::open_at(path, acknowledged)?;
    while let Some((_, at)) = frames.next()? {
        (end, number) = (at, number + 1);
    }
    Ok((end, number))
}

/// The end of the last complete member of a gzip file.
fn whole_members(path: &Path) -> Result<u64> {
    let mut reader = BufReader::with_capacity(1 << 18, File::open(path).context("open", path)?);
    let length = reader.get_ref().metadata().context("inspect", path)?.len();
    let mut end = 0;
    while end < length {
        let mut member = GzDecoder::new(reader);
        if io::copy(&mut member, &mut io::sink()).is_err() {
            break;
        }
        reader = member.into_inner();
        end = reader.stream_position().context("read", path)?;
    }
    Ok(end)
}

/// The URLs of the pages of a published file.
fn urls(path: &Path) -> Result<BTreeSet<String>> {
    let mut urls = BTreeSet::new();
    let mut reader = PageReader::open(path)?;
    while let Some(line) = reader.next_line()? {
        if let Ok(head) = serde_json::from_slice::<PageHead>(&line.text) {
            urls.insert(head.url);
        }
    }
    Ok(urls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::FrameEncoder;
    use crate::journal::Record;
    use crate::pages::{Archivist, PageWriter, files, write_part};
    use tidings_model::Page;

    fn line(url: &str) -> Vec<u8> {
        let mut line = Vec::new();
        Page { url: url.into(), body: b"text".into(), ..Page::default() }.write_line(&mut line).unwrap();
        line
    }

    /// Writes a frame per URL; returns the name of the file and its acknowledged lengths.
    fn write(home: &Home, urls: &[&str], archivist: Option<Archivist>) -> (String, Vec<u64>) {
        let mut writer = PageWriter::open(home, "20260301T000000000Z-fetch", archivist);
        let time = "2026-03-01T00:00:00Z".parse().unwrap();
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut member, b"record").unwrap();
        let member = member.finish().unwrap();
        let (mut name, mut lengths) = (String::new(), Vec::new());
        for url in urls {
            let records = writer.append(time, &FrameEncoder::new(3).encode(&line(url)), &member).unwrap();
            let Record::Whole { file, bytes } = &records[0] else { panic!("{records:?}") };
            name = file.to_string();
            lengths.push(*bytes);
        }
        (name, lengths)
    }

    fn stored(home: &Home) -> Vec<String> {
        let pages = |path: &std::path::PathBuf| PageReader::open(path).unwrap();
        files(home).unwrap().iter().flat_map(pages).map(|page| page.unwrap().url).collect()
    }

    fn parts(home: &Home) -> Vec<PathBuf> {
        pages::parts_since(home, "").unwrap()
    }

    #[test]
    fn after_a_crash_pages_are_truncated_to_the_length_in_the_journal() {
        let (_folder, home) = crate::testing::home();
        let (file, lengths) = write(&home, &["http://e.org/1", "http://e.org/2"], None);
        let unknown = write_part(&home, "2026-03-02", "other.0", b"").unwrap();
        assert!(pages::is_part(&unknown) && stored(&home).is_empty());
        let recovered = recover(&home, &parts(&home), |name| (name == file).then_some(lengths[0]), false).unwrap();
        assert_eq!((recovered.files, recovered.urls.len()), (1, 0));
        assert_eq!(stored(&home), ["http://e.org/1"]);
        assert!(!unknown.exists(), "nothing in it was acknowledged");
        assert_eq!(recover(&home, &parts(&home), |_| None, false).unwrap().files, 0);
    }

    #[test]
    fn pages_are_kept_when_the_journal_is_lost() {
        let (_folder, home) = crate::testing::home();
        let archivist = Archivist { software: "tidings".into(), operator: "e.org".into() };
        write(&home, &["http://e.org/1", "http://e.org/2", "http://e.org/3"], Some(archivist));
        let recovered = recover(&home, &parts(&home), |_| None, false).unwrap();
        assert_eq!((recovered.files, recovered.urls.len()), (2, 3));
        assert_eq!(recovered.run.as_deref(), Some("20260301T000000000Z-fetch"));
        assert_eq!(stored(&home).len(), 3);
    }

    #[test]
    fn a_file_that_is_shorter_than_the_journal_says_is_not_extended() {
        let (_folder, home) = crate::testing::home();
        let (file, lengths) = write(&home, &["http://e.org/1", "http://e.org/2"], None);
        let path = home.root().join(&file);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..lengths[0] as usize + 5]).unwrap();
        recover(&home, &parts(&home), |_| Some(lengths[1]), false).unwrap();
        assert_eq!(std::fs::metadata(path.with_extension("")).unwrap().len(), lengths[0] + 5);
        assert_eq!(stored(&home), ["http://e.org/1"]);
    }

    #[test]
    fn unfinished_imports_are_not_kept() {
        let (_folder, home) = crate::testing::home();
        let frames: Vec<u8> =
            (0..3).flat_map(|at| FrameEncoder::new(3).encode(&line(&format!("http://e.org/{at}")))).collect();
        write_part(&home, "2026-03-02", "20260301T000000000Z-import.0", &frames).unwrap();
        assert_eq!(recover(&home, &parts(&home), |_| None, false).unwrap().files, 0);
    }
}
