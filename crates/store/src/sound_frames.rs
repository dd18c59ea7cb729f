//! Reading around damage: the sound frames of a file, and where the others are.
//!
//! Frames are independent and have checksums, so a flipped bit costs one frame of a file. The start of the next sound
//! frame is found by the magic number of zstd: chance occurrences of it are no frames with a valid checksum.

use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::path::Path;

use tidings_formats::compressed::{ZSTD_MAGIC, is_skippable};
use zstd::bulk::Decompressor;

use crate::error::Result;
use crate::frames::{Walker, unpack};

/// Reads the text of the sound frames of a file.
pub(crate) struct SoundFrames {
    walker: Walker,
    decompressor: Decompressor<'static>,
    text: Vec<u8>,
    used: usize,
    damaged: Vec<Range<u64>>,
}

impl SoundFrames {
    /// Opens a file of frames.
    pub(crate) fn open(path: &Path) -> Result<SoundFrames> {
        SoundFrames::open_at(path, 0)
    }

    /// Opens a file at the offset of a frame.
    pub(crate) fn open_at(path: &Path, offset: u64) -> Result<SoundFrames> {
        let walker = Walker::open_at(path, offset)?;
        let decompressor = Decompressor::new().expect("allocating a zstd context");
        Ok(SoundFrames { walker, decompressor, text: Vec::new(), used: 0, damaged: Vec::new() })
    }

    /// Whether sound frames follow a damaged part: an interrupted write leaves damage at the end only.
    pub(crate) fn is_damaged_within(&self) -> bool {
        self.damaged.iter().any(|part| part.end < self.walker.position())
    }

    /// The damaged parts of the file that were skipped so far.
    pub(crate) fn damaged(&self) -> &[Range<u64>] {
        &self.damaged
    }

    /// The text of the next sound frame, and the offset of its end; `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<(&[u8], u64)>> {
        loop {
            let start = self.walker.position();
            let is_sound = match self.walker.next()? {
                Some(frame) if is_skippable(frame) => continue,
                Some(frame) => Some(unpack(&mut self.decompressor, frame, &mut self.text).is_some()),
                None => None,
            };
            match is_sound {
                Some(true) => return Ok(Some((&self.text, self.walker.position()))),
                None if !self.walker.is_torn() => return Ok(None),
                Some(false) | None => {}
            }
            // The length of a damaged frame may be wrong too, so the search starts right after its magic number.
            let SoundFrames { walker, decompressor, text, .. } = self;
            let next =
                walker.seek_frame(start + 1, &ZSTD_MAGIC, |frame| unpack(decompressor, frame, text).is_some())?;
            self.damaged.push(start..next);
        }
    }
}

impl Read for SoundFrames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for SoundFrames {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.used == self.text.len() {
            self.used = 0;
            match self.next() {
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.text.clear();
                    break;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(&self.text[self.used..])
    }

    fn consume(&mut self, bytes: usize) {
        self.used += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{FrameEncoder, header};
    use proptest::prelude::*;

    /// A file of frames with one line each, and the offsets of the frames.
    fn file(lines: usize) -> (Vec<u8>, Vec<usize>) {
        let mut bytes = header("pages", 1, "");
        let mut offsets = Vec::new();
        for line in 0..lines {
            offsets.push(bytes.len());
            bytes.extend(FrameEncoder::new(3).encode(format!("line {line} {}\n", "rain ".repeat(line)).as_bytes()));
        }
        (bytes, offsets)
    }

    fn read(bytes: &[u8]) -> (Vec<String>, Vec<Range<u64>>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        let mut frames = SoundFrames::open(&path).unwrap();
        let lines = (&mut frames).lines().map(|line| line.unwrap()[..6].to_owned()).collect();
        (lines, frames.damaged().to_vec())
    }

    #[test]
    fn a_sound_file_is_read_to_its_end() {
        let (bytes, _) = file(3);
        assert_eq!(read(&bytes), (vec!["line 0".into(), "line 1".into(), "line 2".into()], vec![]));
        assert_eq!(read(&header("pages", 1, "")), (vec![], vec![]));
    }

    #[test]
    fn a_damaged_frame_is_skipped_wherever_it_is_damaged() {
        let (bytes, offsets) = file(4);
        for at in offsets[1]..offsets[2] {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x55;
            let (lines, damaged) = read(&flipped);
            assert_eq!(lines, ["line 0", "line 2", "line 3"], "byte {at}");
            assert_eq!((damaged.len(), &damaged[0]), (1, &(offsets[1] as u64..offsets[2] as u64)), "byte {at}");
        }
    }

    #[test]
    fn a_truncated_file_loses_its_last_frame() {
        let (bytes, offsets) = file(3);
        let cut = offsets[2] + 9;
        let (lines, damaged) = read(&bytes[..cut]);
        assert_eq!((lines.len(), damaged.len(), &damaged[0]), (2, 1, &(offsets[2] as u64..cut as u64)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn one_damaged_byte_costs_at_most_one_frame(at in 23usize..200, flip in 1u8..) {
            let (mut bytes, _) = file(6);
            let at = at.min(bytes.len() - 1);
            bytes[at] ^= flip;
            let (lines, damaged) = read(&bytes);
            prop_assert!(lines.len() >= 5 && lines.len() + damaged.len() == 6, "{lines:?} {damaged:?}");
        }
    }
}
