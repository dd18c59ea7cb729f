//! Deletes pages from files that otherwise never change, and from the plan.
//!
//! A file is rewritten without them and renamed over the old one, so that it is complete at any time; an empty file is
//! deleted. Each step is idempotent: an interrupted takedown starts again and finds less to do.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::GzDecoder;
use serde::Deserialize;
use tidings_model::{Fingerprint, FingerprintMap, Row};
use tidings_storage::file::{self, files_in};
use tidings_storage::{AtomicFile, Pointer, Source};

use crate::error::{Context, Error, Result};
use crate::failures::{self, PageOutcome};
use crate::feed_texts;
use crate::frames::{self, FrameEncoder};
use crate::home::Home;
use crate::pages;
use crate::plan::{self, Change};
use crate::removed::{Removed, STATUS};
use crate::revisits;

/// The maximum length of a line or of a record of an archive.
const MAX_LINE_BYTES: usize = 1 << 30;
/// The text size of a frame, as in a crawl.
const FRAME_BYTES: usize = 2 << 20;

/// The addresses of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PageHead {
    /// The address in the plan.
    pub url: String,
    /// The URL after redirects.
    pub final_url: String,
}

impl PageHead {
    /// Whether it must be deleted.
    pub fn is_unwanted(&self, removed: &Removed) -> bool {
        removed.covers(&self.url).is_some()
            || !self.final_url.is_empty() && self.final_url != self.url && removed.covers(&self.final_url).is_some()
    }
}

/// Calls `see` with every line of a file of pages and the URLs of its page.
fn each_page(path: &Path, mut see: impl FnMut(&[u8], PageHead) -> Result<()>) -> Result<()> {
    let mut reader = frames::open_any(path)?;
    let mut line = Vec::new();
    let mut number = 0;
    while frames::read_line(&mut *reader, &mut line, MAX_LINE_BYTES).context("read", path)? {
        number += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let head = serde_json::from_slice(&line).map_err(|error| Error::Line {
            path: path.to_owned(),
            line: number,
            fault: format!("is not a page ({error})"),
        })?;
        see(&line, head)?;
    }
    Ok(())
}

/// The pages of a file that must be deleted.
pub fn unwanted(path: &Path, removed: &Removed) -> Result<Vec<PageHead>> {
    let mut found = Vec::new();
    each_page(path, |_, head| {
        if head.is_unwanted(removed) {
            found.push(head);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Whether all pages of a file must be deleted.
pub(crate) fn all_unwanted(path: &Path, removed: &Removed) -> Result<bool> {
    let mut all = true;
    each_page(path, |_, head| {
        all &= head.is_unwanted(removed);
        Ok(())
    })?;
    Ok(all)
}

/// Deletes pages from a file and its archive.
pub fn take_out(home: &Home, path: &Path, removed: &Removed, compression: i32) -> Result<()> {
    let found = unwanted(path, removed)?;
    let answered: HashSet<&str> = found.iter().flat_map(|head| [head.url.as_str(), head.final_url.as_str()]).collect();
    // The archive first: as long as the pages exist, their URLs are known.
    take_out_of_archive(home, &pages::archive_of(path), removed, &answered)?;
    if found.is_empty() {
        return Ok(());
    }
    let mut draft = AtomicFile::create(path)?;
    draft.write(&pages::header())?;
    let mut encoder = FrameEncoder::new(compression);
    let mut text = Vec::new();
    let mut kept = 0u64;
    each_page(path, |line, head| {
        if !head.is_unwanted(removed) {
            kept += 1;
            text.extend_from_slice(line);
            text.push(b'\n');
            if text.len() >= FRAME_BYTES {
                draft.write(&encoder.encode(&text))?;
                text.clear();
            }
        }
        Ok(())
    })?;
    if kept == 0 {
        draft.discard();
        return Ok(home.storage().remove(&home.key(path))?);
    }
    if !text.is_empty() {
        draft.write(&encoder.encode(&text))?;
    }
    replace(home, path, draft)
}

/// Puts a draft in the place of a file, and in its bucket if the file was there. The former object is deleted by the
/// next sweep.
fn replace(home: &Home, path: &Path, draft: AtomicFile) -> Result<()> {
    let key = home.key(path);
    let was_object = Pointer::at(path).context("read", path)?.is_some();
    home.storage().retire(&key)?;
    draft.publish()?;
    if was_object { Ok(home.storage().publish_file(path, &key)?) } else { Ok(()) }
}

/// Copies an archive without the records of some URLs, member by member.
fn take_out_of_archive(home: &Home, path: &Path, removed: &Removed, answered: &HashSet<&str>) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let mut reader = BufReader::with_capacity(1 << 18, Source::stored(path)?);
    let end = reader.get_ref().size().context("inspect", path)?;
    let (mut kept, mut taken) = (Vec::new(), 0);
    let mut start = 0;
    while start < end {
        let mut member = GzDecoder::new(reader);
        let target = target_of(&mut member).context("read", path)?;
        // Only the end of the record is needed.
        io::copy(&mut member, &mut io::sink()).context("read", path)?;
        reader = member.into_inner();
        let stop = reader.stream_position().context("read", path)?;
        let is_unwanted = |url: &String| answered.contains(url.as_str()) || removed.covers(url).is_some();
        if target.as_ref().is_some_and(is_unwanted) {
            taken += 1;
        } else {
            kept.push(start..stop);
        }
        start = stop;
    }
    if taken == 0 {
        return Ok(());
    }
    let mut draft = AtomicFile::create(path)?;
    for range in kept {
        reader.seek(SeekFrom::Start(range.start)).context("read", path)?;
        let mut rest = (&mut reader).take(range.end - range.start);
        let mut buffer = vec![0; 1 << 18];
        loop {
            let read = rest.read(&mut buffer).context("read", path)?;
            if read == 0 {
                break;
            }
            draft.write(&buffer[..read])?;
        }
    }
    replace(home, path, draft)
}

/// The address that a record is about, from its head.
fn target_of(record: &mut impl Read) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while head.len() < 64 << 10 && !head.ends_with(b"\r\n\r\n") && record.read(&mut byte)? == 1 {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let value = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("WARC-Target-URI").then(|| value.trim().trim_matches(['<', '>']).to_owned())
    };
    Ok(head.lines().find_map(value))
}

/// Counts the entries of the plan that must be deleted; also returns the URLs of those whose page was stored.
pub fn entries(home: &Home, removed: &Removed) -> Result<(u64, BTreeSet<String>)> {
    let (mut number, mut stored) = (0, BTreeSet::new());
    plan::read(home, |row| {
        if row.status != STATUS && removed.covers(row.url).is_some() {
            number += 1;
            if row.status == "ok" {
                stored.insert(row.url.to_owned());
            }
        }
    })?;
    Ok((number, stored))
}

/// Sets the status of the entries to `removed` and deletes their titles. Earlier plans in the history are deleted too,
/// because they must not be restored, and so are the texts of their feeds and the details of their failures and
/// downloads, which may contain URLs and titles.
pub fn mark_plan(home: &Home, run: &str, removed: &Removed) -> Result<()> {
    let is_unwanted = |row: &Row<'_>| removed.covers(row.url).is_some();
    let mut pending = false;
    let mut unwanted = FingerprintMap::default();
    plan::read(home, |row| {
        if is_unwanted(row) {
            pending |= row.status != STATUS || !row.title.is_empty();
            unwanted.insert(Fingerprint::of(row.url), PageOutcome::Settled);
        }
    })?;
    revisits::forget(home, &unwanted.keys().copied().collect())?;
    failures::merge(home, unwanted)?;
    feed_texts::forget(home, |_, url| removed.covers(url).is_some())?;
    if pending {
        plan::rewrite(home, run, |row| if is_unwanted(row) { Change::Remove } else { Change::Keep }, |_| Ok(()))?;
    }
    plan::remove_others(home)?;
    for copy in files_in(&home.history())? {
        file::remove(&copy)?;
    }
    Ok(())
}

/// Deletes the trial home, whose pages are not needed.
pub fn clear_trial(home: &Home) -> Result<()> {
    let folder = home.root().join("trial");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).context("remove", &folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::removed::{Tombstone, TombstoneKind, hash};
    use tidings_formats::warc::{Exchange, Writer};
    use tidings_model::Page;

    fn removed(urls: &[&str]) -> Removed {
        let mut removed = Removed::default();
        for url in urls {
            let row = Tombstone {
                kind: TombstoneKind::Address,
                what: hash(url),
                date: String::new(),
                reason: String::new(),
                done: String::new(),
            };
            removed.add(row);
        }
        removed
    }

    #[test]
    fn a_page_is_deleted_with_its_records_and_others_are_unchanged() {
        let (_folder, home) = crate::testing::home();
        let path = home.storage().path("pages/2026-03-01/run.0.jsonl.zst");
        file::make_folder(file::parent(&path)).unwrap();
        let mut lines = Vec::new();
        let mut archive = Writer::default().info(&path, "Tidings", "", jiff::Timestamp::UNIX_EPOCH);
        let mut records = Vec::new();
        for number in 0..3 {
            let (url, final_url) = (format!("http://e.org/{number}"), format!("http://f.org/{number}"));
            let page = Page { url, final_url: final_url.clone(), body: b"text".to_vec(), ..Page::default() };
            page.write_line(&mut lines).unwrap();
            records.push(Writer::default().exchange(&Exchange {
                url: &final_url,
                date: jiff::Timestamp::UNIX_EPOCH,
                ip: None,
                request: b"GET / HTTP/1.1\r\n\r\n",
                response: b"HTTP/1.1 200 OK\r\n\r\n",
                body: b"hello",
                metadata: "",
            }));
        }
        let expected: Vec<u8> = [&archive[..], &records[0], &records[2]].concat();
        records.iter().for_each(|record| archive.extend(record));
        std::fs::write(&path, FrameEncoder::new(3).encode(&lines)).unwrap();
        std::fs::write(pages::archive_of(&path), archive).unwrap();

        let rules = removed(&["http://e.org/1"]);
        assert_eq!(unwanted(&path, &rules).unwrap().len(), 1);
        take_out(&home, &path, &rules, 3).unwrap();
        let left: Vec<String> = pages::PageReader::open(&path).unwrap().map(|page| page.unwrap().url).collect();
        assert_eq!(left, ["http://e.org/0", "http://e.org/2"]);
        assert_eq!(std::fs::read(pages::archive_of(&path)).unwrap(), expected);

        // Matched by the final URL, until nothing is left.
        take_out(&home, &path, &removed(&["http://f.org/0", "http://f.org/2"]), 3).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn removed_entries_keep_their_url_only_and_old_plans_are_deleted() {
        let (_folder, home) = crate::testing::home();
        crate::testing::fill_plan(&home, "f", &["http://e.org/1", "http://e.org/2"]);
        crate::testing::write_journal(&home, "run", &[vec![crate::testing::outcome("http://e.org/1", "ok", 1)]]);
        crate::apply_journal::apply_journal(&home).unwrap();
        let rules = removed(&["http://e.org/1"]);
        let mut texts = feed_texts::Additions::new(&home);
        ["http://e.org/1", "http://e.org/2"].iter().for_each(|url| texts.add(url, "<p>text</p>").unwrap());
        texts.publish().unwrap();
        let (number, stored) = entries(&home, &rules).unwrap();
        assert_eq!((number, stored), (1, BTreeSet::from(["http://e.org/1".to_owned()])));
        mark_plan(&home, "takedown", &rules).unwrap();
        let statuses: Vec<String> = crate::testing::rows(&home).into_iter().map(|row| row.1).collect();
        assert_eq!(statuses, [STATUS, "new"]);
        assert!(files_in(&home.history()).unwrap().is_empty(), "old plans contain removed entries");
        let texts = feed_texts::FeedTexts::open(&home).unwrap();
        assert_eq!(["1", "2"].map(|page| texts.of(&format!("http://e.org/{page}")).unwrap().is_some()), [false, true]);
        assert_eq!(entries(&home, &rules).unwrap().0, 0);
        mark_plan(&home, "again", &rules).unwrap();
        assert!(files_in(&home.history()).unwrap().is_empty());
    }

    #[test]
    fn a_file_without_matching_pages_is_unchanged() {
        let (_folder, home) = crate::testing::home();
        let mut lines = Vec::new();
        Page { url: "http://e.org/1".into(), ..Page::default() }.write_line(&mut lines).unwrap();
        let key = "pages/2026-03-01/a.0.jsonl.zst";
        home.storage().put_atomic(key, &FrameEncoder::new(3).encode(&lines)).unwrap();
        let before = home.storage().read(key).unwrap();
        take_out(&home, &home.storage().path(key), &removed(&["http://e.org/2"]), 19).unwrap();
        assert_eq!(home.storage().read(key).unwrap(), before);
        assert!(all_unwanted(&home.storage().path(key), &removed(&["http://e.org/1"])).unwrap());
    }

    #[test]
    fn an_invalid_line_stops_the_takedown() {
        let (_folder, home) = crate::testing::home();
        home.storage().put_atomic("pages/2026-03-01/a.0.jsonl.zst", b"{}\nnonsense\n").unwrap();
        let path = home.storage().path("pages/2026-03-01/a.0.jsonl.zst");
        let error = unwanted(&path, &removed(&[])).unwrap_err().to_string();
        assert!(error.contains("line 2: is not a page"), "{error}");
    }

    #[test]
    fn the_trial_home_is_deleted() {
        let (_folder, home) = crate::testing::home();
        home.storage().put_atomic("trial/pages/a", b"").unwrap();
        clear_trial(&home).unwrap();
        clear_trial(&home).unwrap();
        assert_eq!(home.file_bytes("trial/pages/a").unwrap(), None);
    }
}
