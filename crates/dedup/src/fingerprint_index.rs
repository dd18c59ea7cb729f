//! The fingerprint index: sorted runs that map fingerprints to blocks.
//!
//! A fingerprint is the hash of a unit of text or of a selected n-gram. A run is an immutable file of fingerprints
//! in ascending order, each with the id of its block, divided into buckets by the leading bits. Fingerprints are
//! uniform, so the bucket follows from the fingerprint, and a lookup costs one short read regardless of the size
//! of the run. Runs are combined by a k-way merge.
//!
//! ```text
//! magic (8) | number of fingerprints (8) | last block (4)
//! | bits of the bucket, low bits of a gap, bits of a block (1 each), zero
//! | buckets: number of fingerprints (2), gaps as Rice codes, each followed by the block, checksum (4)
//! | offset of each bucket (5 bytes each, and the end) | checksum of the header and the offsets (4)
//! ```
//!
//! Files of version 1 have no checksums.

use std::fs::File;
use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::checksum::{CHECKSUM_BYTES, checked, checksum};
use crate::error::{Error, IoContext, Result, create, read_at, refuse_newer};
use crate::rice::{BitReader, BitWriter, low_bits};

/// The id of a fingerprint block; ids ascend with time.
pub type BlockId = u32;

/// Bits of a fingerprint. With a billion fingerprints a lookup gives a false positive once in 70 million.
pub(crate) const FINGERPRINT_BITS: u32 = 56;

const MAGIC: &[u8; 8] = b"TIDKEYS2";
/// The magic number of version 1, which has no checksums.
const MAGIC_1: &[u8; 8] = b"TIDKEYS1";
const HEADER_BYTES: u64 = 24;
/// Mean number of fingerprints per bucket, in a small run and in a large one. A bucket is read at once and decoded
/// in less than a microsecond.
const BUCKET_FINGERPRINTS: u64 = 32;
const LARGE_BUCKET_FINGERPRINTS: u64 = 1024;
/// Bucket offsets are loaded when a run is opened. Beyond this many buckets the buckets grow instead.
const FEW_BUCKET_BITS: u32 = 17;
/// The maximum number of buckets of a run, as a power of two.
const MAX_BUCKET_BITS: u32 = 26;
/// Bytes of a bucket offset.
const OFFSET_BYTES: usize = 5;
/// A small run is loaded into memory once its lookups have cost as much as reading all of it; each lookup is counted as
/// this many bytes of sequential reading.
const READ_BYTES: u64 = 2048;
const SMALL_BYTES: u64 = 1 << 20;
/// Buckets per read of a sequential scan.
const STRIDE: usize = 2048;

/// Encoding parameters of a run.
#[derive(Debug, Clone, Copy)]
struct RunLayout {
    bucket_bits: u32,
    low: u32,
    block_bits: u32,
}

impl RunLayout {
    fn new(len: u64, last_block: BlockId) -> RunLayout {
        let bits = |size: u64| (len / size).max(1).ilog2();
        let bucket_bits =
            bits(BUCKET_FINGERPRINTS).min(FEW_BUCKET_BITS).max(bits(LARGE_BUCKET_FINGERPRINTS)).min(MAX_BUCKET_BITS);
        let block_bits = BlockId::BITS - last_block.leading_zeros();
        RunLayout { bucket_bits, low: low_bits(FINGERPRINT_BITS, len), block_bits }
    }

    fn rest_bits(self) -> u32 {
        FINGERPRINT_BITS - self.bucket_bits
    }

    /// Decodes a bucket in order until `see` returns false.
    fn decode(self, bucket: usize, bytes: &[u8], mut see: impl FnMut(u64, BlockId) -> bool) {
        let Some((count, bytes)) = bytes.split_at_checked(2) else { return };
        let count = u16::from_le_bytes([count[0], count[1]]);
        let base = (bucket as u64) << self.rest_bits();
        let mut reader = BitReader::new(bytes);
        let mut rest = 0u64;
        for _ in 0..count {
            rest = rest.wrapping_add(reader.take_rice(self.low));
            let block = reader.take(self.block_bits) as BlockId;
            if !see(base.wrapping_add(rest), block) {
                return;
            }
        }
    }
}

/// Writes a run.
pub struct RunWriter {
    path: PathBuf,
    file: BufWriter<File>,
    layout: RunLayout,
    offsets: Vec<u64>,
    at: u64,
    bits: BitWriter,
    count: u16,
    last: u64,
    len: u64,
    last_block: BlockId,
}

impl RunWriter {
    /// Creates a run for about `len` fingerprints with blocks up to `last_block`.
    pub fn create(path: &Path, len: u64, last_block: BlockId) -> Result<RunWriter> {
        let mut file = BufWriter::with_capacity(1 << 18, create(path)?);
        file.write_all(&[0; HEADER_BYTES as usize]).context("write", path)?;
        let layout = RunLayout::new(len, last_block);
        Ok(RunWriter {
            path: path.to_owned(),
            file,
            layout,
            offsets: Vec::new(),
            at: HEADER_BYTES,
            bits: BitWriter::default(),
            count: 0,
            last: 0,
            len: 0,
            last_block: 0,
        })
    }

    /// Appends a fingerprint; they must ascend.
    pub fn push(&mut self, fingerprint: u64, block: BlockId) -> Result<()> {
        let bucket = (fingerprint >> self.layout.rest_bits()) as usize;
        while self.offsets.len() <= bucket {
            self.next_bucket()?;
        }
        // The counter is full. Callers store only a handful of blocks per fingerprint.
        if self.count < u16::MAX {
            let rest = fingerprint & ((1 << self.layout.rest_bits()) - 1);
            self.bits.push_rice(rest - self.last, self.layout.low);
            self.bits.push(u64::from(block), self.layout.block_bits);
            self.last = rest;
            self.count += 1;
            self.len += 1;
            self.last_block = self.last_block.max(block);
        }
        Ok(())
    }

    /// Finishes the current bucket, if any, and begins the next.
    fn next_bucket(&mut self) -> Result<()> {
        if !self.offsets.is_empty() {
            let mut bytes = self.count.to_le_bytes().to_vec();
            bytes.extend(self.bits.finish());
            bytes.extend(checksum(self.offsets.len() as u64 - 1, &bytes));
            self.file.write_all(&bytes).context("write", &self.path)?;
            self.at += bytes.len() as u64;
            self.bits.clear();
        }
        (self.count, self.last) = (0, 0);
        self.offsets.push(self.at);
        Ok(())
    }

    /// Finishes the run and opens it.
    pub fn finish(mut self) -> Result<FingerprintRun> {
        while self.offsets.len() <= 1 << self.layout.bucket_bits {
            self.next_bucket()?;
        }
        let mut header = Vec::with_capacity(HEADER_BYTES as usize);
        header.extend(MAGIC);
        header.extend(self.len.to_le_bytes());
        header.extend(self.last_block.to_le_bytes());
        header.extend([self.layout.bucket_bits as u8, self.layout.low as u8, self.layout.block_bits as u8, 0]);
        let index: Vec<u8> =
            self.offsets.iter().flat_map(|offset| offset.to_le_bytes().into_iter().take(OFFSET_BYTES)).collect();
        let mut write = || {
            self.file.write_all(&index)?;
            self.file.write_all(&checksum_of(&header, &index))?;
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(&header)?;
            self.file.flush()
        };
        write().context("write", &self.path)?;
        FingerprintRun::open(&self.path)
    }
}

/// The checksum of the header and the offsets of a run.
fn checksum_of(header: &[u8], index: &[u8]) -> [u8; CHECKSUM_BYTES] {
    checksum(0, &[header, index].concat())
}

/// A run on disk.
pub struct FingerprintRun {
    path: PathBuf,
    file: File,
    layout: RunLayout,
    /// Bucket offsets in their on-disk encoding: few of them are read per day.
    index: Vec<u8>,
    len: u64,
    last_block: BlockId,
    bytes: u64,
    has_checksums: bool,
    lookups: u64,
    /// The whole file, if it is small and read often.
    whole: Vec<u8>,
}

impl FingerprintRun {
    /// Opens a run and checks its header and offsets.
    pub fn open(path: &Path) -> Result<FingerprintRun> {
        let file = File::open(path).context("open", path)?;
        let bytes = file.metadata().context("stat", path)?.len();
        let damaged = || Error::Damaged { path: path.to_owned() };
        let mut header = [0; HEADER_BYTES as usize];
        if bytes < HEADER_BYTES {
            return Err(damaged());
        }
        read_at(&file, &mut header, 0, path)?;
        refuse_newer(path, &header, MAGIC)?;
        let has_checksums = header[..8] == *MAGIC;
        let len = u64::from_le_bytes(header[8..16].try_into().expect("eight bytes"));
        let last_block = u32::from_le_bytes(header[16..20].try_into().expect("four bytes"));
        let [bucket_bits, low, block_bits] = [header[20], header[21], header[22]].map(u32::from);
        let index_bytes = (OFFSET_BYTES as u64) * ((1 << bucket_bits.min(MAX_BUCKET_BITS)) + 1);
        let trailer_bytes = if has_checksums { CHECKSUM_BYTES as u64 } else { 0 };
        let is_ours = (has_checksums || header[..8] == *MAGIC_1)
            && bucket_bits <= MAX_BUCKET_BITS
            && low <= FINGERPRINT_BITS
            && block_bits <= BlockId::BITS
            && bytes >= HEADER_BYTES + index_bytes + trailer_bytes;
        if !is_ours {
            return Err(damaged());
        }
        let mut index = vec![0; (index_bytes + trailer_bytes) as usize];
        read_at(&file, &mut index, bytes - index_bytes - trailer_bytes, path)?;
        let trailer = index.split_off(index_bytes as usize);
        if has_checksums && trailer != checksum_of(&header, &index) {
            return Err(damaged());
        }
        let layout = RunLayout { bucket_bits, low, block_bits };
        Ok(FingerprintRun {
            path: path.to_owned(),
            file,
            layout,
            index,
            len,
            last_block,
            bytes,
            has_checksums,
            lookups: 0,
            whole: Vec::new(),
        })
    }

    /// The byte range of a range of buckets.
    fn byte_range(&self, buckets: Range<usize>) -> Result<Range<u64>> {
        let at = |bucket: usize| {
            let place = &self.index[bucket * OFFSET_BYTES..(bucket + 1) * OFFSET_BYTES];
            place.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        };
        let place = at(buckets.start)..at(buckets.end);
        let is_sound = place.start <= place.end && place.end + self.index.len() as u64 <= self.bytes;
        if is_sound { Ok(place) } else { Err(Error::Damaged { path: self.path.clone() }) }
    }

    fn buckets(&self) -> usize {
        1 << self.layout.bucket_bits
    }

    /// The bytes of a bucket without its checksum, which must match.
    fn content<'b>(&self, bucket: usize, bytes: &'b [u8]) -> Result<&'b [u8]> {
        let content = if self.has_checksums { checked(bucket as u64, bytes) } else { Some(bytes) };
        content.ok_or_else(|| Error::Damaged { path: self.path.clone() })
    }

    /// Reads every bucket and compares it with its checksum.
    pub fn verify(&self) -> Result<()> {
        let mut reader = self.read();
        while reader.peek()?.is_some() {
            reader.at = reader.ready.len();
        }
        Ok(())
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The size of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Passes the blocks of a fingerprint to `take`, in ascending order, until it returns false.
    pub(crate) fn look_up(
        &mut self,
        fingerprint: u64,
        buffer: &mut Vec<u8>,
        mut take: impl FnMut(BlockId) -> bool,
    ) -> Result<()> {
        let bucket = (fingerprint >> self.layout.rest_bits()) as usize;
        let Range { start, end } = self.byte_range(bucket..bucket + 1)?;
        self.lookups += 1;
        if self.lookups * READ_BYTES == self.bytes.next_multiple_of(READ_BYTES) && self.bytes <= SMALL_BYTES {
            self.whole.resize(self.bytes as usize, 0);
            read_at(&self.file, &mut self.whole, 0, &self.path)?;
        }
        let bytes = if self.whole.is_empty() {
            buffer.resize((end - start) as usize, 0);
            read_at(&self.file, buffer, start, &self.path)?;
            &buffer[..]
        } else {
            &self.whole[start as usize..end as usize]
        };
        self.layout.decode(bucket, self.content(bucket, bytes)?, |known, block| {
            known < fingerprint || known == fingerprint && take(block)
        });
        Ok(())
    }

    /// Reads all fingerprints in order.
    pub(crate) fn read(&self) -> RunReader<'_> {
        RunReader { run: self, bucket: 0, ready: Vec::new(), at: 0, buffer: Vec::new() }
    }
}

/// A sequential reader of a run.
pub(crate) struct RunReader<'a> {
    run: &'a FingerprintRun,
    bucket: usize,
    ready: Vec<(u64, BlockId)>,
    at: usize,
    buffer: Vec<u8>,
}

impl RunReader<'_> {
    /// The next fingerprint, without consuming it.
    #[inline]
    fn peek(&mut self) -> Result<Option<(u64, BlockId)>> {
        if self.at == self.ready.len() {
            self.refill()?;
        }
        Ok(self.ready.get(self.at).copied())
    }

    fn refill(&mut self) -> Result<()> {
        let run = self.run;
        self.ready.clear();
        self.at = 0;
        while self.ready.is_empty() && self.bucket < run.buckets() {
            let last = (self.bucket + STRIDE).min(run.buckets());
            let range = run.byte_range(self.bucket..last)?;
            self.buffer.resize((range.end - range.start) as usize, 0);
            read_at(&run.file, &mut self.buffer, range.start, &run.path)?;
            for bucket in self.bucket..last {
                let place = run.byte_range(bucket..bucket + 1)?;
                let [from, to] = [place.start, place.end].map(|at| at.saturating_sub(range.start) as usize);
                let bytes = self.buffer.get(from..to).ok_or_else(|| Error::Damaged { path: run.path.clone() })?;
                run.layout.decode(bucket, run.content(bucket, bytes)?, |fingerprint, block| {
                    self.ready.push((fingerprint, block));
                    true
                });
            }
            self.bucket = last;
        }
        Ok(())
    }
}

/// Merges runs into one: all fingerprints, or those of the wanted blocks.
///
/// The encoding depends only on the contents, so the same fingerprints give the same bytes regardless of the runs they came
/// from.
pub fn merge(
    runs: &[&FingerprintRun],
    path: &Path,
    wanted: Option<&dyn Fn(BlockId) -> bool>,
) -> Result<FingerprintRun> {
    let (mut len, mut last_block) = (0, 0);
    let is_wanted = |block| wanted.is_none_or(|wanted| wanted(block));
    for run in runs {
        if wanted.is_none() {
            len += run.len;
            last_block = last_block.max(run.last_block);
            continue;
        }
        let mut reader = run.read();
        while let Some((_, block)) = reader.peek()? {
            reader.at += 1;
            if is_wanted(block) {
                len += 1;
                last_block = last_block.max(block);
            }
        }
    }
    let mut writer = RunWriter::create(path, len, last_block)?;
    let mut readers: Vec<RunReader<'_>> = runs.iter().map(|run| run.read()).collect();
    // An exhausted reader sorts last: no fingerprint is this large.
    let ended = (u64::MAX, BlockId::MAX);
    let mut heads = Vec::with_capacity(readers.len());
    for reader in &mut readers {
        heads.push(reader.peek()?.unwrap_or(ended));
    }
    loop {
        let (mut from, mut next) = (0, ended);
        for (at, head) in heads.iter().enumerate() {
            if *head < next {
                (from, next) = (at, *head);
            }
        }
        if next == ended {
            return writer.finish();
        }
        if is_wanted(next.1) {
            writer.push(next.0, next.1)?;
        }
        readers[from].at += 1;
        heads[from] = readers[from].peek()?.unwrap_or(ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write(folder: &Path, name: &str, pairs: &mut [(u64, BlockId)]) -> FingerprintRun {
        pairs.sort_unstable();
        let last = pairs.iter().map(|pair| pair.1).max().unwrap_or(0);
        let mut writer = RunWriter::create(&folder.join(name), pairs.len() as u64, last).unwrap();
        pairs.iter().for_each(|(fingerprint, block)| writer.push(*fingerprint, *block).unwrap());
        writer.finish().unwrap()
    }

    fn read(run: &FingerprintRun) -> Vec<(u64, BlockId)> {
        let mut reader = run.read();
        std::iter::from_fn(|| {
            let next = reader.peek().unwrap();
            reader.at += 1;
            next
        })
        .collect()
    }

    fn pairs() -> impl Strategy<Value = Vec<(u64, BlockId)>> {
        prop::collection::vec((prop_oneof![0..1u64 << FINGERPRINT_BITS, 0..64u64], any::<u32>()), 0..300)
    }

    proptest! {
        #[test]
        fn a_merged_run_is_the_union_and_the_same_bytes_however_it_came_about(
            mut one in pairs(), mut two in pairs(), mut three in pairs()
        ) {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            let runs = [write(folder.path(), "1", &mut one), write(folder.path(), "2", &mut two), write(folder.path(), "3", &mut three)];
            let first = merge(&[&runs[0], &runs[1]], &at("12"), None).unwrap();
            let mut whole = merge(&[&first, &runs[2]], &at("123"), None).unwrap();
            let at_once = merge(&[&runs[2], &runs[0], &runs[1]], &at("321"), None).unwrap();
            let mut all = [one, two, three].concat();
            all.sort_unstable();
            prop_assert_eq!(read(&whole), all.clone());
            prop_assert_eq!(std::fs::read(whole.path()).unwrap(), std::fs::read(at_once.path()).unwrap());
            let mut buffer = Vec::new();
            for (fingerprint, _) in &all {
                let mut found = Vec::new();
                let take = |block| {
                    found.push(block);
                    true
                };
                whole.look_up(*fingerprint, &mut buffer, take).unwrap();
                let expected: Vec<BlockId> = all.iter().filter(|pair| pair.0 == *fingerprint).map(|pair| pair.1).collect();
                prop_assert_eq!(found, expected);
            }
            let even = merge(&[&at_once], &at("even"), Some(&|block| block % 2 == 0)).unwrap();
            let mut evens: Vec<_> = all.into_iter().filter(|pair| pair.1 % 2 == 0).collect();
            prop_assert_eq!(read(&even), evens.clone());
            let directly = write(folder.path(), "directly", &mut evens);
            prop_assert_eq!(std::fs::read(even.path()).unwrap(), std::fs::read(directly.path()).unwrap());
        }

        #[test]
        fn a_damaged_or_truncated_run_is_refused(
            mut one in pairs(), at in any::<prop::sample::Index>(), flip in 1..=u8::MAX, cut in any::<prop::sample::Index>()
        ) {
            let folder = tempfile::tempdir().unwrap();
            let run = write(folder.path(), "1", &mut one);
            let sound = std::fs::read(run.path()).unwrap();
            let mut damaged = sound.clone();
            damaged[at.index(sound.len())] ^= flip;
            for bytes in [&damaged[..], &sound[..cut.index(sound.len())]] {
                std::fs::write(run.path(), bytes).unwrap();
                prop_assert!(FingerprintRun::open(run.path()).and_then(|run| run.verify()).is_err());
            }
        }

        #[test]
        fn a_damaged_run_of_version_1_gives_nonsense_but_never_panics(
            mut one in pairs(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()
        ) {
            let folder = tempfile::tempdir().unwrap();
            let run = write(folder.path(), "1", &mut one);
            let mut bytes = version_1(&run);
            let place = at.index(bytes.len());
            bytes[place] = byte;
            for len in [bytes.len(), cut.index(bytes.len())] {
                std::fs::write(run.path(), &bytes[..len]).unwrap();
                if let Ok(mut run) = FingerprintRun::open(run.path()) {
                    let mut reader = run.read();
                    while reader.peek().is_ok_and(|next| next.is_some()) {
                        reader.at += 1;
                    }
                    let _ = run.look_up(one.first().map_or(0, |pair| pair.0), &mut Vec::new(), |_| true);
                }
            }
        }

        #[test]
        fn a_run_of_version_1_is_read(mut one in pairs()) {
            let folder = tempfile::tempdir().unwrap();
            let run = write(folder.path(), "1", &mut one);
            std::fs::write(run.path(), version_1(&run)).unwrap();
            prop_assert_eq!(read(&FingerprintRun::open(run.path()).unwrap()), one);
        }
    }

    /// The bytes of a run in version 1.
    fn version_1(run: &FingerprintRun) -> Vec<u8> {
        let bytes = std::fs::read(run.path()).unwrap();
        let mut old = [MAGIC_1.as_slice(), &bytes[8..HEADER_BYTES as usize]].concat();
        let mut offsets = vec![old.len()];
        for bucket in 0..run.buckets() {
            let range = run.byte_range(bucket..bucket + 1).unwrap();
            old.extend(run.content(bucket, &bytes[range.start as usize..range.end as usize]).unwrap());
            offsets.push(old.len());
        }
        offsets.iter().for_each(|offset| old.extend(&(*offset as u64).to_le_bytes()[..OFFSET_BYTES]));
        old
    }
}
