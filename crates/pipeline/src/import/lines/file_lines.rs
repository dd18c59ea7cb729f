//! The lines of one file, and the compression of lines, for programs that divide the work by files.

use std::path::Path;

use anyhow::{Result, bail};

use tidings_store::FrameEncoder;

use super::{FRAME_BYTES, Hashes, LEVEL, Texts, identify, text_inputs};

/// A line of a file, with its number among those that are long enough and valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentifiedLine {
    /// Its number.
    pub number: u64,
    /// Its language.
    pub language: &'static str,
    /// The hash by which duplicates are found.
    pub hash: u64,
    /// The line.
    pub line: String,
}

/// The distinct lines of one file with their languages, for programs that divide the work by files.
///
/// [`run`](super::run) writes the first of equal lines in the order of files and numbers.
pub struct FileLines {
    texts: Texts,
    min_chars: usize,
    number: u64,
    seen: Hashes,
}

impl FileLines {
    /// Opens a WET file or JSON lines with texts.
    pub fn open(path: &Path, min_chars: usize) -> Result<FileLines> {
        let mut inputs = text_inputs(&[path.to_owned()], None)?;
        let Some(input) = inputs.pop().filter(|_| inputs.is_empty()) else {
            bail!("{} is not a file of texts", path.display());
        };
        Ok(FileLines { texts: Texts::open(&input)?, min_chars, number: 0, seen: Hashes::default() })
    }

    /// The lines of the next megabyte of text; none at the end.
    pub fn next_chunk(&mut self) -> Result<Option<Vec<IdentifiedLine>>> {
        let Some((text, ends)) = self.texts.chunk()? else { return Ok(None) };
        let found = identify(text, &ends, self.min_chars);
        let mut lines = Vec::new();
        for (language, hash, place) in found.lines {
            let number = self.number;
            self.number += 1;
            if self.seen.insert(hash) {
                let line = String::from_utf8_lossy(&found.text[place]).into_owned();
                lines.push(IdentifiedLine { number, language, hash, line });
            }
        }
        Ok(Some(lines))
    }

    /// Records that could not be read.
    pub fn damaged(&self) -> u64 {
        self.texts.damaged
    }
}

/// Compresses lines of one language as the files of [`run`](super::run) have them.
pub struct LinesWriter {
    encoder: FrameEncoder,
    text: Vec<u8>,
    frames: Vec<u8>,
}

impl Default for LinesWriter {
    fn default() -> LinesWriter {
        LinesWriter { encoder: FrameEncoder::new(LEVEL), text: Vec::new(), frames: Vec::new() }
    }
}

impl LinesWriter {
    /// Adds a line, without its end.
    pub fn push(&mut self, line: &[u8]) {
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        if self.text.len() >= FRAME_BYTES {
            self.encode();
        }
    }

    fn encode(&mut self) {
        if !self.text.is_empty() {
            let frame = self.encoder.encode(&self.text);
            self.frames.extend_from_slice(&frame);
            self.text.clear();
        }
    }

    /// The frames of all lines.
    pub fn finish(mut self) -> Vec<u8> {
        self.encode();
        self.frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn distinct_lines_of_a_file_are_numbered_and_packed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let rain = "The river rose again during the night, and the fire brigade had to close two of the roads.";
        let fluss = "Der Fluss ist in der Nacht über die Ufer getreten, und die Feuerwehr hat zwei Straßen gesperrt.";
        let text = [rain, fluss, "Home", rain].join("\n");
        let text = serde_json::json!({ "text": text });
        std::fs::write(&path, format!("{text}\n[]\n")).unwrap();
        let mut lines = FileLines::open(&path, 50).unwrap();
        let mut found = Vec::new();
        while let Some(more) = lines.next_chunk().unwrap() {
            found.extend(more);
        }
        let seen: Vec<_> = found.iter().map(|line| (line.number, line.language, line.line.as_str())).collect();
        assert_eq!((seen, lines.damaged()), (vec![(0, "en", rain), (1, "de", fluss)], 1));
        let mut writer = LinesWriter::default();
        found.iter().for_each(|line| writer.push(line.line.as_bytes()));
        let mut text = String::new();
        zstd::Decoder::new(&*writer.finish()).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, format!("{rain}\n{fluss}\n"));
        assert!(FileLines::open(folder.path(), 50).is_ok(), "a folder with one file");
    }
}
