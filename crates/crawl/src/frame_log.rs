//! Logs of zstd frames: each batch is one frame, and a frame that a crash left incomplete is cut off.

use std::path::Path;

use tidings_storage::Appender;

use crate::error::{Error, Result};

/// A log that grows batch by batch.
pub(crate) struct FrameLog {
    file: Appender,
    encoder: zstd::bulk::Compressor<'static>,
}

impl FrameLog {
    /// Opens or creates a log; an incomplete frame at its end is removed.
    pub(crate) fn open(path: &Path) -> Result<FrameLog> {
        let whole = if path.exists() { for_each(path, |_| Ok(()))? } else { 0 };
        let mut encoder = zstd::bulk::Compressor::new(3).map_err(Error::read(path))?;
        encoder.include_checksum(true).map_err(Error::read(path))?;
        Ok(FrameLog { file: Appender::reopen(path, whole)?, encoder })
    }

    /// Makes a batch durable.
    pub(crate) fn commit(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let frame = self.encoder.compress(text.as_bytes()).map_err(Error::read(self.file.path()))?;
        self.file.append(&frame)?;
        Ok(self.file.sync()?)
    }
}

/// Calls `see` with the text of every complete frame; returns the length of these frames.
pub(crate) fn for_each(path: &Path, mut see: impl FnMut(&str) -> Result<()>) -> Result<u64> {
    let bytes = std::fs::read(path).map_err(Error::read(path))?;
    let mut at = 0;
    while let Some((text, end)) = frame(path, &bytes, at)? {
        see(&text)?;
        at = end;
    }
    Ok(at as u64)
}

/// The text of the frame at a position of a log, and its end; `None` where no complete frame begins.
pub(crate) fn frame(path: &Path, bytes: &[u8], at: usize) -> Result<Option<(String, usize)>> {
    let rest = &bytes[at..];
    if rest.is_empty() {
        return Ok(None);
    }
    let Ok(len) = zstd::zstd_safe::find_frame_compressed_size(rest) else { return Ok(None) };
    let Ok(text) = zstd::decode_all(&rest[..len]) else { return Ok(None) };
    let text = String::from_utf8(text).map_err(|_| Error::damaged(path, "a frame is not text"))?;
    Ok(Some((text, at + len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &Path) -> Vec<String> {
        let mut texts = Vec::new();
        for_each(path, |text| {
            texts.push(text.to_owned());
            Ok(())
        })
        .unwrap();
        texts
    }

    #[test]
    fn a_log_cut_at_any_byte_keeps_its_complete_frames_and_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.zst");
        let mut log = FrameLog::open(&path).unwrap();
        ["one\n", "", "two\n", "three\n"].iter().for_each(|text| log.commit(text).unwrap());
        assert_eq!(texts(&path), ["one\n", "two\n", "three\n"]);
        let whole = std::fs::read(&path).unwrap();
        for len in 0..whole.len() {
            std::fs::write(&path, &whole[..len]).unwrap();
            let before = texts(&path);
            assert!(["one\n", "two\n", "three\n"].starts_with(&before.iter().map(String::as_str).collect::<Vec<_>>()));
            FrameLog::open(&path).unwrap().commit("four\n").unwrap();
            let after = texts(&path);
            assert_eq!((after.len(), after.last().unwrap().as_str()), (before.len() + 1, "four\n"), "cut at {len}");
        }
    }
}
