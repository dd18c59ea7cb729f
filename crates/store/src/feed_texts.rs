//! Full texts of feeds, held while their pages wait to be fetched.
//!
//! A feed is gone when its pages are fetched, and a page may be refused although the feed had all of its text.
//! `state/feed-texts.jsonl.zst` holds the texts of entries that are new in the plan, the newest first, a frame each. A
//! text leaves it when its page is stored or fails for good; `fetch` copies it to `pages/` if the page lacks it. The
//! file is bounded, so that pages which are never fetched do not fill the disk.

use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_model::{Fingerprint, FingerprintMap, FingerprintSet};
use tidings_storage::{AtomicFile, file};
use zstd::bulk::Decompressor;

use crate::error::{Context, Result};
use crate::frames::{self, FrameEncoder, Walker};
use crate::home::Home;

const FORMAT: &str = "feed-texts";
const VERSION: u32 = 1;
/// The zstd level: texts are held for hours.
const LEVEL: i32 = 3;
/// The maximum size of the file; the oldest texts are dropped first.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct HeldText<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    html: Cow<'a, str>,
}

fn path(home: &Home) -> PathBuf {
    home.state("feed-texts.jsonl.zst")
}

/// Calls `see` with every sound frame, its offset and its text. Damaged frames are skipped.
fn for_each(path: &Path, mut see: impl FnMut(&[u8], u64, &HeldText<'_>) -> Result<()>) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    // Rejects a file of a newer version.
    frames::Log::open(path, FORMAT, VERSION)?.next()?;
    let mut walker = Walker::open(path)?;
    let mut decompressor = Decompressor::new().expect("allocating a zstd context");
    let mut line = Vec::new();
    loop {
        let offset = walker.position();
        let Some(frame) = walker.next()? else { return Ok(()) };
        if frames::unpack(&mut decompressor, frame, &mut line).is_some()
            && let Ok(held) = serde_json::from_slice::<HeldText<'_>>(&line)
        {
            see(frame, offset, &held)?;
        }
    }
}

/// The held texts by page.
#[derive(Default)]
pub struct FeedTexts {
    file: Option<(PathBuf, File)>,
    frames: FingerprintMap<(u64, u32)>,
}

impl FeedTexts {
    /// Opens the held texts; there are none in a home without the file.
    pub fn open(home: &Home) -> Result<FeedTexts> {
        let path = path(home);
        let mut frames = FingerprintMap::default();
        for_each(&path, |frame, offset, held| {
            frames.insert(Fingerprint::of(&held.url), (offset, frame.len() as u32));
            Ok(())
        })?;
        if frames.is_empty() {
            return Ok(FeedTexts::default());
        }
        let file = File::open(&path).context("open", &path)?;
        Ok(FeedTexts { file: Some((path, file)), frames })
    }

    /// The text of a page as HTML.
    pub fn of(&self, url: &str) -> Result<Option<String>> {
        let (Some((path, file)), Some((offset, bytes))) = (&self.file, self.frames.get(&Fingerprint::of(url))) else {
            return Ok(None);
        };
        let mut frame = vec![0; *bytes as usize];
        file.read_exact_at(&mut frame, *offset).context("read", path)?;
        let mut line = Vec::new();
        let mut decompressor = Decompressor::new().expect("allocating a zstd context");
        let is_sound = frames::unpack(&mut decompressor, &frame, &mut line).is_some();
        let held = serde_json::from_slice::<HeldText<'_>>(&line).ok().filter(|held| is_sound && held.url == url);
        Ok(held.map(|held| held.html.into_owned()))
    }
}

/// Texts that are added to the file.
pub(crate) struct Additions {
    path: PathBuf,
    draft: Option<AtomicFile>,
    encoder: FrameEncoder,
    known: FingerprintSet,
    bytes: u64,
}

impl Additions {
    pub(crate) fn new(home: &Home) -> Additions {
        let (known, encoder) = (FingerprintSet::default(), FrameEncoder::new(LEVEL));
        Additions { path: path(home), draft: None, encoder, known, bytes: 0 }
    }

    /// Adds the text of a page; the first one of a page counts.
    pub(crate) fn add(&mut self, url: &str, html: &str) -> Result<()> {
        let page = Fingerprint::of(url);
        if self.known.contains(&page) || self.bytes >= MAX_FILE_BYTES {
            return Ok(());
        }
        let held = HeldText { url: url.into(), html: html.into() };
        let frame = self.encoder.encode(&serde_json::to_vec(&held).expect("strings serialise"));
        self.write(page, &frame)
    }

    fn write(&mut self, page: Fingerprint, frame: &[u8]) -> Result<()> {
        let draft = match &mut self.draft {
            Some(draft) => draft,
            None => {
                let mut draft = AtomicFile::create(&self.path)?;
                draft.write(&frames::header(FORMAT, VERSION, ""))?;
                self.draft.insert(draft)
            }
        };
        draft.write(frame)?;
        self.known.insert(page);
        self.bytes += frame.len() as u64;
        Ok(())
    }

    /// Publishes the file with the additions and the former texts, as far as there is room for them.
    pub(crate) fn publish(mut self) -> Result<()> {
        if self.draft.is_none() {
            return Ok(());
        }
        let path = self.path.clone();
        self.copy(&path, |_, _| true)?;
        Ok(self.draft.take().map_or(Ok(()), AtomicFile::publish)?)
    }

    fn copy(&mut self, from: &Path, keep: impl Fn(Fingerprint, &str) -> bool) -> Result<()> {
        for_each(from, |frame, _, held| {
            let page = Fingerprint::of(&held.url);
            let has_room = self.bytes + frame.len() as u64 <= MAX_FILE_BYTES;
            if has_room && !self.known.contains(&page) && keep(page, &held.url) {
                self.write(page, frame)?;
            }
            Ok(())
        })
    }
}

/// Deletes the texts of pages that are stored, failed for good, or must not be kept.
pub(crate) fn forget(home: &Home, is_unwanted: impl Fn(Fingerprint, &str) -> bool) -> Result<()> {
    let path = path(home);
    let mut unwanted = 0;
    for_each(&path, |_, _, held| {
        unwanted += u64::from(is_unwanted(Fingerprint::of(&held.url), &held.url));
        Ok(())
    })?;
    if unwanted == 0 {
        return Ok(());
    }
    let mut kept = Additions::new(home);
    kept.copy(&path, |page, url| !is_unwanted(page, url))?;
    match kept.draft.take() {
        Some(draft) => Ok(draft.publish()?),
        None => Ok(file::remove(&path)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    fn add(home: &Home, texts: &[(&str, &str)]) {
        let mut additions = Additions::new(home);
        texts.iter().for_each(|(url, html)| additions.add(url, html).unwrap());
        additions.publish().unwrap();
    }

    fn held(home: &Home) -> Vec<String> {
        let mut urls = Vec::new();
        for_each(&path(home), |_, _, held| {
            urls.push(held.url.to_string());
            Ok(())
        })
        .unwrap();
        urls
    }

    #[test]
    fn texts_are_found_by_url_and_added_texts_take_the_place_of_former_ones() {
        let (_folder, home) = home();
        assert_eq!(FeedTexts::open(&home).unwrap().of("a").unwrap(), None);
        add(&home, &[("a", "one"), ("b", "two"), ("a", "again")]);
        add(&home, &[("c", "three"), ("b", "new")]);
        let texts = FeedTexts::open(&home).unwrap();
        let of = |url: &str| texts.of(url).unwrap();
        assert_eq!([of("a"), of("b"), of("c")], ["one", "new", "three"].map(|text| Some(text.to_owned())));
        assert_eq!((of("d"), held(&home)), (None, ["c", "b", "a"].map(str::to_owned).to_vec()));
        add(&home, &[]);
        assert_eq!(held(&home).len(), 3);
    }

    #[test]
    fn forgotten_texts_leave_the_file_and_an_empty_file_is_deleted() {
        let (_folder, home) = home();
        add(&home, &[("a", "one"), ("b", "two")]);
        forget(&home, |_, url| url == "x").unwrap();
        forget(&home, |page, _| page == Fingerprint::of("a")).unwrap();
        assert_eq!(held(&home), ["b"]);
        forget(&home, |_, _| true).unwrap();
        assert!(!path(&home).exists());
        forget(&home, |_, _| true).unwrap();
    }

    #[test]
    fn a_damaged_text_is_skipped() {
        let (_folder, home) = home();
        add(&home, &[("a", &"rain ".repeat(40)), ("b", "two")]);
        let mut bytes = std::fs::read(path(&home)).unwrap();
        let at = bytes.len() / 2;
        bytes[at] ^= 0x55;
        std::fs::write(path(&home), bytes).unwrap();
        let texts = FeedTexts::open(&home).unwrap();
        assert!(texts.of("a").unwrap().is_none() || texts.of("b").unwrap().is_none());
    }

    #[test]
    fn a_file_of_a_newer_version_is_rejected() {
        let (_folder, home) = home();
        std::fs::create_dir_all(path(&home).parent().unwrap()).unwrap();
        std::fs::write(path(&home), frames::header(FORMAT, VERSION + 1, "")).unwrap();
        assert!(FeedTexts::open(&home).is_err());
    }
}
