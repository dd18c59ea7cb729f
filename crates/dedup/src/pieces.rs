//! Pieces of text on disk: the n-grams of one stretch of one document, and whose they are.
//!
//! Whether a text is a copy is decided against the few pieces that share a key with it, so that a piece
//! needs no more bits per n-gram than it takes to tell its own from others: 26, of which the order takes
//! back a third. A file holds the pieces of a day, in the order of their numbers:
//!
//! ```text
//! magic (8) | number of the first piece (4), pieces (4)
//! | pieces: length of the document's name (2), the name, n-grams (2), n-grams ascending in Rice's code
//! | where each piece begins (5 bytes each, and the end)
//! ```

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::bits::{BitReader, BitWriter, low_bits};
use crate::error::{During, Error, Result, refuse_newer};
use crate::keys::PieceNumber;

/// Bits of an n-gram within a piece.
const GRAM_BITS: u32 = 26;
/// N-grams of a piece, at most; a longer text is several.
pub(crate) const PIECE_GRAMS: usize = 1024;
/// Names longer than this are cut: they are for people.
const NAME_BYTES: usize = 512;

const MAGIC: &[u8; 8] = b"TIDPIEC1";
const HEADER_BYTES: u64 = 16;
const PLACE_BYTES: usize = 5;
/// Pieces that are copied at once.
const JOIN_PIECES: usize = 256;
/// What waits to be written.
const BUFFER_BYTES: usize = 1 << 18;

/// What a piece remembers of an n-gram.
#[inline]
pub(crate) fn short(gram: u64) -> u32 {
    (gram >> (64 - GRAM_BITS)) as u32
}

/// A piece as it lies on disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Piece {
    bytes: Vec<u8>,
}

impl Piece {
    /// Packs a piece; the n-grams ascend, each once.
    pub(crate) fn pack(name: &[u8], grams: &[u32]) -> Vec<u8> {
        let name = &name[..name.len().min(NAME_BYTES)];
        let grams = &grams[..grams.len().min(PIECE_GRAMS)];
        let mut bytes = Vec::with_capacity(name.len() + grams.len() * 3 + 4);
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend(name);
        bytes.extend((grams.len() as u16).to_le_bytes());
        let low = low_bits(GRAM_BITS, grams.len() as u64);
        let mut bits = BitWriter::default();
        let mut last = 0;
        for gram in grams {
            bits.push_rice(u64::from(gram - last), low);
            last = *gram;
        }
        bytes.extend(bits.finish());
        bytes
    }

    fn parts(&self) -> (&[u8], &[u8]) {
        let len = self.bytes.get(..2).map_or(0, |len| usize::from(u16::from_le_bytes([len[0], len[1]])));
        let name = self.bytes.get(2..2 + len).unwrap_or_default();
        (name, self.bytes.get(2 + len..).unwrap_or_default())
    }

    /// Whose it is.
    pub(crate) fn name(&self) -> &[u8] {
        self.parts().0
    }

    /// Its n-grams, ascending.
    pub(crate) fn grams(&self, grams: &mut Vec<u32>) {
        grams.clear();
        let Some((count, packed)) = self.parts().1.split_at_checked(2) else { return };
        let count = u16::from_le_bytes([count[0], count[1]]);
        let low = low_bits(GRAM_BITS, u64::from(count));
        let mut reader = BitReader::new(packed);
        let mut last = 0u32;
        grams.extend((0..count).map(|_| {
            last = last.wrapping_add(reader.take_rice(low) as u32);
            last
        }));
    }
}

/// A file of pieces that grows, and can be read while it does.
pub(crate) struct PieceWriter {
    path: PathBuf,
    file: File,
    first: PieceNumber,
    places: Vec<u64>,
    waiting: Vec<u8>,
    /// How much of the file is written; what waits begins here.
    written: u64,
}

impl PieceWriter {
    pub(crate) fn create(path: &Path, first: PieceNumber) -> Result<PieceWriter> {
        let file = File::options().create(true).truncate(true).read(true).write(true).open(path);
        let mut file = file.during("create", path)?;
        file.write_all(&[0; HEADER_BYTES as usize]).during("write", path)?;
        let (places, waiting) = (vec![HEADER_BYTES], Vec::new());
        Ok(PieceWriter { path: path.to_owned(), file, first, places, waiting, written: HEADER_BYTES })
    }

    /// The number of the next piece.
    pub(crate) fn next(&self) -> PieceNumber {
        self.first + (self.places.len() - 1) as PieceNumber
    }

    /// What the file has grown to.
    pub(crate) fn bytes(&self) -> u64 {
        self.written + self.waiting.len() as u64
    }

    /// What it takes in memory.
    pub(crate) fn memory(&self) -> usize {
        self.places.capacity() * 8 + self.waiting.capacity()
    }

    pub(crate) fn push(&mut self, packed: &[u8]) -> Result<()> {
        self.waiting.extend_from_slice(packed);
        self.places.push(self.bytes());
        if self.waiting.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_all(&self.waiting).during("write", &self.path)?;
        self.written += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }

    /// Reads a piece that this file holds.
    fn read(&self, at: usize, piece: &mut Piece) -> Result<()> {
        let [start, end] = [self.places[at], self.places[at + 1]];
        piece.bytes.clear();
        if start >= self.written {
            let from = (start - self.written) as usize;
            piece.bytes.extend_from_slice(&self.waiting[from..from + (end - start) as usize]);
            return Ok(());
        }
        piece.bytes.resize((end - start) as usize, 0);
        self.file.read_exact_at(&mut piece.bytes, start).during("read", &self.path)
    }

    /// Ends the file.
    pub(crate) fn finish(mut self) -> Result<PieceFile> {
        self.flush()?;
        let mut header = MAGIC.to_vec();
        header.extend(self.first.to_le_bytes());
        header.extend((self.places.len() as u32 - 1).to_le_bytes());
        let index: Vec<u8> =
            self.places.iter().flat_map(|place| place.to_le_bytes().into_iter().take(PLACE_BYTES)).collect();
        let mut write = || {
            self.file.write_all(&index)?;
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(&header)
        };
        write().during("write", &self.path)?;
        PieceFile::open(&self.path)
    }
}

/// A place in a file.
fn place(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// The number of a file's first piece, and how many there are.
fn header(file: &File, bytes: u64, path: &Path) -> Result<(PieceNumber, u32)> {
    let damaged = || Error::Damaged { path: path.to_owned() };
    if bytes < HEADER_BYTES {
        return Err(damaged());
    }
    let mut header = [0; HEADER_BYTES as usize];
    file.read_exact_at(&mut header, 0).during("read", path)?;
    refuse_newer(path, &header, MAGIC)?;
    let number = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    let (first, pieces) = (number(8), number(12));
    let index_bytes = (u64::from(pieces) + 1) * PLACE_BYTES as u64;
    let is_ours = &header[..8] == MAGIC && bytes >= HEADER_BYTES + index_bytes && first.checked_add(pieces).is_some();
    if is_ours { Ok((first, pieces)) } else { Err(damaged()) }
}

/// A file of pieces. It is opened when it is needed: there is one for each day of many years.
#[derive(Debug, Clone)]
pub struct PieceFile {
    path: PathBuf,
    first: PieceNumber,
    pieces: u32,
    index_at: u64,
    bytes: u64,
}

impl PieceFile {
    /// Looks at a file of pieces.
    pub fn open(path: &Path) -> Result<PieceFile> {
        let file = File::open(path).during("open", path)?;
        let bytes = file.metadata().during("look at", path)?.len();
        let (first, pieces) = header(&file, bytes, path)?;
        Ok(PieceFile::known(path, first, pieces, bytes))
    }

    /// A file that somebody has looked at before.
    pub fn known(path: &Path, first: PieceNumber, pieces: u32, bytes: u64) -> PieceFile {
        let index_at = bytes.saturating_sub((u64::from(pieces) + 1) * PLACE_BYTES as u64);
        PieceFile { path: path.to_owned(), first, pieces, index_at, bytes }
    }

    /// Opens the file for reading. [`PieceFile::known`] has not looked at its header, so this does.
    fn handle(&self) -> Result<File> {
        let file = File::open(&self.path).during("open", &self.path)?;
        header(&file, self.bytes, &self.path)?;
        Ok(file)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of its first piece.
    pub fn first(&self) -> PieceNumber {
        self.first
    }

    /// How many pieces it holds.
    pub fn pieces(&self) -> u32 {
        self.pieces
    }

    /// Its size on disk.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of the piece behind its last.
    pub fn end(&self) -> PieceNumber {
        self.first + self.pieces
    }

    fn read(&self, file: &File, at: u32, piece: &mut Piece) -> Result<()> {
        let mut places = [0; 2 * PLACE_BYTES];
        let read = file.read_exact_at(&mut places, self.index_at + u64::from(at) * PLACE_BYTES as u64);
        read.during("read", &self.path)?;
        let [start, end] = [place(&places[..PLACE_BYTES]), place(&places[PLACE_BYTES..])];
        if start > end || end > self.index_at || end - start > (NAME_BYTES + 16 * PIECE_GRAMS) as u64 {
            return Err(Error::Damaged { path: self.path.clone() });
        }
        piece.bytes.resize((end - start) as usize, 0);
        file.read_exact_at(&mut piece.bytes, start).during("read", &self.path)
    }
}

/// Makes one file of several that follow each other: the pieces with these numbers.
pub fn join(files: &[&PieceFile], wanted: Range<PieceNumber>, path: &Path) -> Result<PieceFile> {
    let mut joined = PieceWriter::create(path, wanted.start)?;
    let mut buffer = Vec::new();
    for source in files {
        let [from, to] =
            [wanted.start, wanted.end].map(|number| number.clamp(source.first, source.end()) - source.first);
        let file = source.handle()?;
        let mut places = vec![0; (to - from + 1) as usize * PLACE_BYTES];
        let index_at = source.index_at + u64::from(from) * PLACE_BYTES as u64;
        file.read_exact_at(&mut places, index_at).during("read", &source.path)?;
        let places: Vec<u64> = places.chunks_exact(PLACE_BYTES).map(place).collect();
        if !places.is_sorted() || places.last().is_some_and(|end| *end > source.index_at) {
            return Err(Error::Damaged { path: source.path.clone() });
        }
        for part in places.windows(2).collect::<Vec<_>>().chunks(JOIN_PIECES) {
            let (start, end) = (part[0][0], part[part.len() - 1][1]);
            buffer.resize((end - start) as usize, 0);
            file.read_exact_at(&mut buffer, start).during("read", &source.path)?;
            for pair in part {
                joined.push(&buffer[(pair[0] - start) as usize..(pair[1] - start) as usize])?;
            }
        }
    }
    joined.finish()
}

/// All pieces of the past.
pub(crate) struct Pieces {
    files: Vec<PieceFile>,
    /// Files that were read of late, newest last.
    open: Vec<(usize, File)>,
}

/// Files that stay open.
const OPEN_FILES: usize = 128;

impl Pieces {
    pub(crate) fn new(files: Vec<PieceFile>) -> Pieces {
        Pieces { files, open: Vec::new() }
    }

    /// The number behind the last piece.
    pub fn end(&self) -> PieceNumber {
        self.files.last().map_or(0, PieceFile::end)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(PieceFile::bytes).sum()
    }

    /// Reads a piece by its number; false if there is none.
    pub(crate) fn read(&mut self, number: PieceNumber, growing: &PieceWriter, piece: &mut Piece) -> Result<bool> {
        if number >= growing.first {
            let at = (number - growing.first) as usize;
            return if at + 1 < growing.places.len() { growing.read(at, piece).map(|()| true) } else { Ok(false) };
        }
        let at = self.files.partition_point(|file| file.end() <= number);
        let Some(file) = self.files.get(at).filter(|file| file.first <= number) else { return Ok(false) };
        match self.open.iter().position(|(known, _)| *known == at) {
            // Moving to the end costs nothing where nothing stands behind.
            Some(place) => self.open[place..].rotate_left(1),
            None => {
                if self.open.len() == OPEN_FILES {
                    self.open.remove(0);
                }
                self.open.push((at, file.handle()?));
            }
        }
        let handle = &self.open.last().expect("one was put there").1;
        file.read(handle, number - file.first, piece).map(|()| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_of_a_newer_version_is_refused_also_when_it_is_opened_late() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pieces");
        let mut writer = PieceWriter::create(&path, 7).unwrap();
        writer.push(&Piece::pack(b"name", &[1, 2, 3])).unwrap();
        let written = writer.finish().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[7] = b'9';
        std::fs::write(&path, bytes).unwrap();

        let told = PieceFile::open(&path).unwrap_err().to_string();
        assert!(told.contains("newer Tidings (format 9, "), "{told}");
        let mut past = Pieces::new(vec![PieceFile::known(&path, 7, 1, written.bytes())]);
        let growing = PieceWriter::create(&folder.path().join("more"), 8).unwrap();
        let late = past.read(7, &growing, &mut Piece::default()).unwrap_err();
        assert!(matches!(late, Error::Newer { found: 9, known: 1, .. }), "{late}");
    }

    proptest! {
        #[test]
        fn pieces_come_back_from_a_growing_file_and_a_finished_one(
            pieces in prop::collection::vec(("[a-z]{0,40}", prop::collection::btree_set(0u32..1 << GRAM_BITS, 0..300)), 0..40)
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut writer = PieceWriter::create(&folder.path().join("pieces"), 7).unwrap();
            let expected: Vec<(String, Vec<u32>)> =
                pieces.into_iter().map(|(name, grams)| (name, grams.into_iter().collect())).collect();
            let mut past = Pieces::new(Vec::new());
            let mut piece = Piece::default();
            let mut grams = Vec::new();
            for (name, wanted) in &expected {
                let number = writer.next();
                writer.push(&Piece::pack(name.as_bytes(), wanted)).unwrap();
                prop_assert!(past.read(number, &writer, &mut piece).unwrap());
                piece.grams(&mut grams);
                prop_assert_eq!((piece.name(), &grams), (name.as_bytes(), wanted));
            }
            prop_assert!(!past.read(writer.next(), &writer, &mut piece).unwrap());
            let mut past = Pieces::new(vec![writer.finish().unwrap()]);
            let growing = PieceWriter::create(&folder.path().join("more"), past.end()).unwrap();
            for (at, (name, wanted)) in expected.iter().enumerate() {
                prop_assert!(past.read(7 + at as u32, &growing, &mut piece).unwrap());
                piece.grams(&mut grams);
                prop_assert_eq!((piece.name(), &grams), (name.as_bytes(), wanted));
            }
            prop_assert!(!past.read(3, &growing, &mut piece).unwrap());
        }

        #[test]
        fn a_damaged_piece_gives_nonsense_but_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let piece = Piece { bytes };
            piece.name();
            piece.grams(&mut Vec::new());
        }
    }
}
