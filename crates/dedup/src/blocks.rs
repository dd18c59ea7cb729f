//! Fingerprint blocks on disk: the hashed n-grams of one range of a document, and the document's name.
//!
//! A text is compared only with the few blocks that share a fingerprint with it, so a short hash per n-gram is
//! enough: 26 bits, of which delta coding saves a third. A file holds the blocks of a range of days in the order
//! of their ids:
//!
//! ```text
//! magic (8) | id of the first block (4), number of blocks (4), checksum of the header (4)
//! | blocks: length of the document's name (2), the name, n-grams (2), n-grams ascending as Rice codes, checksum (4)
//! | offset of each block (5 bytes each, and the end)
//! ```
//!
//! A block at a wrong offset does not match its checksum, so offsets have none. Files of version 1 have no checksums.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::checksum::{CHECKSUM_BYTES, checked, checksum};
use crate::error::{Error, IoContext, Result, create, read_at, refuse_newer};
use crate::fingerprint_index::BlockId;
use crate::rice::{BitReader, BitWriter, low_bits};

/// Bits of an n-gram hash in a block.
const GRAM_BITS: u32 = 26;
/// The maximum number of n-grams of a block; longer texts have several blocks.
pub(crate) const BLOCK_GRAMS: usize = 1024;
/// Longer names are truncated: they are for display only.
const NAME_BYTES: usize = 512;

const MAGIC: &[u8; 8] = b"TIDPIEC2";
const HEADER_BYTES: u64 = 20;
/// The magic number and the size of the header of version 1, which has no checksums.
const MAGIC_1: &[u8; 8] = b"TIDPIEC1";
const HEADER_BYTES_1: u64 = 16;
const OFFSET_BYTES: usize = 5;
/// Blocks copied per read by [`join`].
const JOIN_BLOCKS: usize = 256;
/// The size of the write buffer.
const BUFFER_BYTES: usize = 1 << 18;

/// Shortens the hash of an n-gram to the bits that a block keeps.
#[inline]
pub(crate) fn short(gram: u64) -> u32 {
    (gram >> (64 - GRAM_BITS)) as u32
}

/// An encoded block.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
}

impl Block {
    /// Encodes a block; the n-grams must ascend without duplicates.
    pub(crate) fn pack(name: &[u8], grams: &[u32]) -> Vec<u8> {
        let name = &name[..name.len().min(NAME_BYTES)];
        let grams = &grams[..grams.len().min(BLOCK_GRAMS)];
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

    /// The name of the document.
    pub(crate) fn name(&self) -> &[u8] {
        self.parts().0
    }

    /// Decodes the n-grams, ascending.
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

/// A block file under construction, readable while it grows.
pub(crate) struct BlockWriter {
    path: PathBuf,
    file: File,
    first: BlockId,
    offsets: Vec<u64>,
    waiting: Vec<u8>,
    /// Bytes in the file; the buffer follows.
    written: u64,
}

impl BlockWriter {
    pub(crate) fn create(path: &Path, first: BlockId) -> Result<BlockWriter> {
        let mut file = create(path)?;
        file.write_all(&[0; HEADER_BYTES as usize]).context("write", path)?;
        let (offsets, waiting) = (vec![HEADER_BYTES], Vec::new());
        Ok(BlockWriter { path: path.to_owned(), file, first, offsets, waiting, written: HEADER_BYTES })
    }

    /// The id of the next block.
    pub(crate) fn next(&self) -> BlockId {
        self.first + (self.offsets.len() - 1) as BlockId
    }

    /// The size of the file including the buffer.
    pub(crate) fn bytes(&self) -> u64 {
        self.written + self.waiting.len() as u64
    }

    /// Memory use in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.offsets.capacity() * 8 + self.waiting.capacity()
    }

    pub(crate) fn push(&mut self, packed: &[u8]) -> Result<()> {
        let checksum = checksum(self.next().into(), packed);
        self.waiting.extend_from_slice(packed);
        self.waiting.extend(checksum);
        self.offsets.push(self.bytes());
        if self.waiting.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_all(&self.waiting).context("write", &self.path)?;
        self.written += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }

    /// Reads a block by its index in this file.
    fn read(&self, at: usize, block: &mut Block) -> Result<()> {
        let [start, end] = [self.offsets[at], self.offsets[at + 1] - CHECKSUM_BYTES as u64];
        block.bytes.clear();
        if start >= self.written {
            let from = (start - self.written) as usize;
            block.bytes.extend_from_slice(&self.waiting[from..from + (end - start) as usize]);
            return Ok(());
        }
        block.bytes.resize((end - start) as usize, 0);
        read_at(&self.file, &mut block.bytes, start, &self.path)
    }

    /// Finishes the file and opens it.
    pub(crate) fn finish(mut self) -> Result<BlockFile> {
        self.flush()?;
        let mut header = MAGIC.to_vec();
        header.extend(self.first.to_le_bytes());
        header.extend((self.offsets.len() as u32 - 1).to_le_bytes());
        let of_header = checksum(0, &header);
        header.extend(of_header);
        let index: Vec<u8> =
            self.offsets.iter().flat_map(|offset| offset.to_le_bytes().into_iter().take(OFFSET_BYTES)).collect();
        let mut write = || {
            self.file.write_all(&index)?;
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(&header)
        };
        write().context("write", &self.path)?;
        BlockFile::open(&self.path)
    }
}

/// Decodes an offset.
fn offset(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// The contents of a header.
struct Header {
    first: BlockId,
    blocks: u32,
    has_checksums: bool,
}

impl Header {
    /// Reads and checks the header of a file of this size.
    fn read(file: &File, bytes: u64, path: &Path) -> Result<Header> {
        let damaged = || Error::Damaged { path: path.to_owned() };
        let mut header = [0; HEADER_BYTES as usize];
        if bytes < HEADER_BYTES {
            return Err(damaged());
        }
        read_at(file, &mut header, 0, path)?;
        refuse_newer(path, &header, MAGIC)?;
        let has_checksums = header[..8] == *MAGIC;
        if !has_checksums && header[..8] != *MAGIC_1 || has_checksums && checked(0, &header).is_none() {
            return Err(damaged());
        }
        let number = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
        let (first, blocks) = (number(8), number(12));
        let index_bytes = (u64::from(blocks) + 1) * OFFSET_BYTES as u64;
        let header_bytes = if has_checksums { HEADER_BYTES } else { HEADER_BYTES_1 };
        let is_whole = bytes >= header_bytes + index_bytes && first.checked_add(blocks).is_some();
        if is_whole { Ok(Header { first, blocks, has_checksums }) } else { Err(damaged()) }
    }
}

/// An open block file.
struct OpenFile {
    file: File,
    has_checksums: bool,
}

/// A finished block file, opened on demand: a store has many.
#[derive(Debug, Clone)]
pub struct BlockFile {
    path: PathBuf,
    first: BlockId,
    blocks: u32,
    index_at: u64,
    bytes: u64,
}

impl BlockFile {
    /// Opens a block file and checks its header.
    pub fn open(path: &Path) -> Result<BlockFile> {
        let file = File::open(path).context("open", path)?;
        let bytes = file.metadata().context("stat", path)?.len();
        let Header { first, blocks, .. } = Header::read(&file, bytes, path)?;
        Ok(BlockFile::known(path, first, blocks, bytes))
    }

    /// Describes a block file without opening it.
    pub fn known(path: &Path, first: BlockId, blocks: u32, bytes: u64) -> BlockFile {
        let index_at = bytes.saturating_sub((u64::from(blocks) + 1) * OFFSET_BYTES as u64);
        BlockFile { path: path.to_owned(), first, blocks, index_at, bytes }
    }

    /// Opens the file for reading and checks the header, which [`BlockFile::known`] has not done.
    fn handle(&self) -> Result<OpenFile> {
        let file = File::open(&self.path).context("open", &self.path)?;
        let header = Header::read(&file, self.bytes, &self.path)?;
        if (header.first, header.blocks) != (self.first, self.blocks) {
            return Err(self.damaged());
        }
        Ok(OpenFile { file, has_checksums: header.has_checksums })
    }

    fn damaged(&self) -> Error {
        Error::Damaged { path: self.path.clone() }
    }

    /// Reads every block and compares it with its checksum.
    pub fn verify(&self) -> Result<()> {
        let file = self.handle()?;
        let mut block = Block::default();
        (0..self.blocks).try_for_each(|at| self.read(&file, at, &mut block))
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The id of the first block.
    pub fn first(&self) -> BlockId {
        self.first
    }

    /// The number of blocks.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// The size of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The id after the last block.
    pub fn end(&self) -> BlockId {
        self.first + self.blocks
    }

    fn read(&self, open: &OpenFile, at: u32, block: &mut Block) -> Result<()> {
        let mut offsets = [0; 2 * OFFSET_BYTES];
        read_at(&open.file, &mut offsets, self.index_at + u64::from(at) * OFFSET_BYTES as u64, &self.path)?;
        let [start, end] = [offset(&offsets[..OFFSET_BYTES]), offset(&offsets[OFFSET_BYTES..])];
        if start > end || end > self.index_at || end - start > (NAME_BYTES + 16 * BLOCK_GRAMS) as u64 {
            return Err(self.damaged());
        }
        block.bytes.resize((end - start) as usize, 0);
        read_at(&open.file, &mut block.bytes, start, &self.path)?;
        if open.has_checksums {
            let len = self.content(self.first + at, &block.bytes, true)?.len();
            block.bytes.truncate(len);
        }
        Ok(())
    }

    /// The bytes of a block without its checksum, which must match.
    fn content<'b>(&self, number: BlockId, bytes: &'b [u8], has_checksum: bool) -> Result<&'b [u8]> {
        let content = if has_checksum { checked(number.into(), bytes) } else { Some(bytes) };
        content.ok_or_else(|| self.damaged())
    }
}

/// Copies a range of blocks from consecutive files into one file.
pub fn join(files: &[&BlockFile], wanted: Range<BlockId>, path: &Path) -> Result<BlockFile> {
    let mut joined = BlockWriter::create(path, wanted.start)?;
    let mut buffer = Vec::new();
    for source in files {
        let [from, to] =
            [wanted.start, wanted.end].map(|number| number.clamp(source.first, source.end()) - source.first);
        let OpenFile { file, has_checksums } = source.handle()?;
        let mut offsets = vec![0; (to - from + 1) as usize * OFFSET_BYTES];
        let index_at = source.index_at + u64::from(from) * OFFSET_BYTES as u64;
        read_at(&file, &mut offsets, index_at, &source.path)?;
        let offsets: Vec<u64> = offsets.chunks_exact(OFFSET_BYTES).map(offset).collect();
        if !offsets.is_sorted() || offsets.last().is_some_and(|end| *end > source.index_at) {
            return Err(source.damaged());
        }
        let mut number = source.first + from;
        for part in offsets.windows(2).collect::<Vec<_>>().chunks(JOIN_BLOCKS) {
            let (start, end) = (part[0][0], part[part.len() - 1][1]);
            buffer.resize((end - start) as usize, 0);
            read_at(&file, &mut buffer, start, &source.path)?;
            for pair in part {
                let bytes = &buffer[(pair[0] - start) as usize..(pair[1] - start) as usize];
                joined.push(source.content(number, bytes, has_checksums)?)?;
                number += 1;
            }
        }
    }
    joined.finish()
}

/// All finished block files, with an LRU cache of open handles.
pub(crate) struct BlockFiles {
    files: Vec<BlockFile>,
    /// Open files, least recently used first.
    open: Vec<(usize, OpenFile)>,
}

/// The maximum number of open files.
const OPEN_FILES: usize = 128;

impl BlockFiles {
    pub(crate) fn new(files: Vec<BlockFile>) -> BlockFiles {
        BlockFiles { files, open: Vec::new() }
    }

    /// The id after the last block.
    pub fn end(&self) -> BlockId {
        self.files.last().map_or(0, BlockFile::end)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(BlockFile::bytes).sum()
    }

    /// Reads a block by its id; returns false if it does not exist.
    pub(crate) fn read(&mut self, number: BlockId, growing: &BlockWriter, block: &mut Block) -> Result<bool> {
        if number >= growing.first {
            let at = (number - growing.first) as usize;
            return if at + 1 < growing.offsets.len() { growing.read(at, block).map(|()| true) } else { Ok(false) };
        }
        let at = self.files.partition_point(|file| file.end() <= number);
        let Some(file) = self.files.get(at).filter(|file| file.first <= number) else { return Ok(false) };
        match self.open.iter().position(|(known, _)| *known == at) {
            // Move to the most recently used end.
            Some(place) => self.open[place..].rotate_left(1),
            None => {
                if self.open.len() == OPEN_FILES {
                    self.open.remove(0);
                }
                self.open.push((at, file.handle()?));
            }
        }
        let handle = &self.open.last().expect("the file was just opened or moved here").1;
        file.read(handle, number - file.first, block).map(|()| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_newer_format_version_is_rejected_on_open_and_on_first_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("blocks");
        let mut writer = BlockWriter::create(&path, 7).unwrap();
        writer.push(&Block::pack(b"name", &[1, 2, 3])).unwrap();
        let written = writer.finish().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[7] = b'9';
        std::fs::write(&path, bytes).unwrap();

        let told = BlockFile::open(&path).unwrap_err().to_string();
        assert!(told.contains("newer Tidings (format 9, "), "{told}");
        let mut past = BlockFiles::new(vec![BlockFile::known(&path, 7, 1, written.bytes())]);
        let growing = BlockWriter::create(&folder.path().join("more"), 8).unwrap();
        let late = past.read(7, &growing, &mut Block::default()).unwrap_err();
        assert!(matches!(late, Error::Newer { found: 9, known: 2, .. }), "{late}");
    }

    /// A file of three blocks with the ids 7 to 9.
    fn three_blocks(path: &Path) -> BlockFile {
        let mut writer = BlockWriter::create(path, 7).unwrap();
        for name in ["one", "two", "three"] {
            writer.push(&Block::pack(name.as_bytes(), &[1, 2, 3, 1000])).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn every_changed_byte_is_noticed_when_it_is_read_or_joined() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("blocks");
        let file = three_blocks(&path);
        file.verify().unwrap();
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            std::fs::write(&path, &bytes).unwrap();
            assert!(file.verify().is_err(), "byte {at}");
            let joined = join(&[&file], 7..10, &folder.path().join("joined"));
            assert!(matches!(joined, Err(Error::Damaged { .. } | Error::Newer { .. })), "byte {at}");
        }
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(matches!(file.verify(), Err(Error::Damaged { .. })));
    }

    #[test]
    fn files_of_version_1_are_read_and_joined() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("old");
        let blocks: Vec<Vec<u8>> = ["one", "two"].iter().map(|name| Block::pack(name.as_bytes(), &[4, 5])).collect();
        let mut bytes = [MAGIC_1.as_slice(), &7u32.to_le_bytes(), &2u32.to_le_bytes()].concat();
        let mut offsets = vec![bytes.len()];
        for block in &blocks {
            bytes.extend(block);
            offsets.push(bytes.len());
        }
        offsets.iter().for_each(|offset| bytes.extend(&(*offset as u64).to_le_bytes()[..OFFSET_BYTES]));
        std::fs::write(&old, bytes).unwrap();
        let joined = join(&[&BlockFile::open(&old).unwrap()], 7..9, &folder.path().join("joined")).unwrap();
        joined.verify().unwrap();
        let mut block = Block::default();
        for (at, expected) in (0..).zip(&blocks) {
            joined.read(&joined.handle().unwrap(), at, &mut block).unwrap();
            assert_eq!(&block.bytes, expected);
        }
    }

    proptest! {
        #[test]
        fn blocks_round_trip_through_a_growing_and_a_finished_file(
            blocks in prop::collection::vec(("[a-z]{0,40}", prop::collection::btree_set(0u32..1 << GRAM_BITS, 0..300)), 0..40)
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut writer = BlockWriter::create(&folder.path().join("blocks"), 7).unwrap();
            let expected: Vec<(String, Vec<u32>)> =
                blocks.into_iter().map(|(name, grams)| (name, grams.into_iter().collect())).collect();
            let mut past = BlockFiles::new(Vec::new());
            let mut block = Block::default();
            let mut grams = Vec::new();
            for (name, wanted) in &expected {
                let number = writer.next();
                writer.push(&Block::pack(name.as_bytes(), wanted)).unwrap();
                prop_assert!(past.read(number, &writer, &mut block).unwrap());
                block.grams(&mut grams);
                prop_assert_eq!((block.name(), &grams), (name.as_bytes(), wanted));
            }
            prop_assert!(!past.read(writer.next(), &writer, &mut block).unwrap());
            let mut past = BlockFiles::new(vec![writer.finish().unwrap()]);
            let growing = BlockWriter::create(&folder.path().join("more"), past.end()).unwrap();
            for (at, (name, wanted)) in expected.iter().enumerate() {
                prop_assert!(past.read(7 + at as u32, &growing, &mut block).unwrap());
                block.grams(&mut grams);
                prop_assert_eq!((block.name(), &grams), (name.as_bytes(), wanted));
            }
            prop_assert!(!past.read(3, &growing, &mut block).unwrap());
        }

        #[test]
        fn a_damaged_block_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let block = Block { bytes };
            block.name();
            block.grams(&mut Vec::new());
        }
    }
}
