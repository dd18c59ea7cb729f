//! Runs of keys: which pieces of text hold what.
//!
//! A key stands for a unit of text or for one of the few word n-grams by which a text is recognised. A run
//! is a file of keys in ascending order, each with the number of the piece that it came from, cut into
//! buckets by the leading bits of the key. Keys are evenly spread, so that the bucket of a key is known
//! without searching, and looking a key up costs one short read however large the run is. Runs never
//! change; several become one by merging.
//!
//! ```text
//! magic (8) | keys (8) | last piece (4) | bits of the bucket, low bits of a gap, bits of a piece (1 each), zero
//! | buckets: gaps in Rice's code, each followed by the piece | where each bucket begins (5 bytes each, and the end)
//! ```

use std::fs::File;
use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::bits::{BitReader, BitWriter, low_bits};
use crate::error::{During, Error, Result, refuse_newer};

/// The number of a piece of text, in the order of time.
pub type PieceNumber = u32;

/// Bits of a key. A billion keys answer a wrong question with one chance in 70 million.
pub(crate) const KEY_BITS: u32 = 56;

const MAGIC: &[u8; 8] = b"TIDKEYS1";
const HEADER_BYTES: u64 = 24;
/// Keys of a bucket, on average, in a small run and in a large one: a bucket is read in one go and decoded in
/// less than a microsecond.
const BUCKET_KEYS: u64 = 32;
const LARGE_BUCKET_KEYS: u64 = 1024;
/// The places of buckets are read whenever a run is opened: from this many on, buckets grow instead.
const FEW_BUCKET_BITS: u32 = 17;
/// More buckets than this have no run of ours.
const MAX_BUCKET_BITS: u32 = 26;
/// Bytes of a bucket's place in the file.
const PLACE_BYTES: usize = 5;
/// A small run that is asked often is read whole: as soon as its buckets would have taken as long, and each
/// of them takes as long as so many bytes in one go.
const READ_BYTES: u64 = 2048;
const SMALL_BYTES: u64 = 1 << 20;
/// What a reader of a whole run reads at once, in buckets.
const STRIDE: usize = 2048;

/// How the keys of a run are written.
#[derive(Debug, Clone, Copy)]
struct Shape {
    bucket_bits: u32,
    low: u32,
    piece_bits: u32,
}

impl Shape {
    fn new(keys: u64, last_piece: PieceNumber) -> Shape {
        let bits = |size: u64| (keys / size).max(1).ilog2();
        let bucket_bits = bits(BUCKET_KEYS).min(FEW_BUCKET_BITS).max(bits(LARGE_BUCKET_KEYS)).min(MAX_BUCKET_BITS);
        let piece_bits = PieceNumber::BITS - last_piece.leading_zeros();
        Shape { bucket_bits, low: low_bits(KEY_BITS, keys), piece_bits }
    }

    fn rest_bits(self) -> u32 {
        KEY_BITS - self.bucket_bits
    }

    /// The keys of a bucket with their pieces, in order, until `see` says that it has seen enough.
    fn decode(self, bucket: usize, bytes: &[u8], mut see: impl FnMut(u64, PieceNumber) -> bool) {
        let Some((count, bytes)) = bytes.split_at_checked(2) else { return };
        let count = u16::from_le_bytes([count[0], count[1]]);
        let base = (bucket as u64) << self.rest_bits();
        let mut reader = BitReader::new(bytes);
        let mut rest = 0u64;
        for _ in 0..count {
            rest = rest.wrapping_add(reader.take_rice(self.low));
            let piece = reader.take(self.piece_bits) as PieceNumber;
            if !see(base.wrapping_add(rest), piece) {
                return;
            }
        }
    }
}

/// A run while it is being written.
pub struct KeyWriter {
    path: PathBuf,
    file: BufWriter<File>,
    shape: Shape,
    places: Vec<u64>,
    at: u64,
    bits: BitWriter,
    count: u16,
    last: u64,
    keys: u64,
    last_piece: PieceNumber,
}

impl KeyWriter {
    /// Begins a run for about that many keys, of pieces up to that one.
    pub fn create(path: &Path, keys: u64, last_piece: PieceNumber) -> Result<KeyWriter> {
        let mut file = BufWriter::with_capacity(1 << 18, File::create(path).during("create", path)?);
        file.write_all(&[0; HEADER_BYTES as usize]).during("write", path)?;
        let shape = Shape::new(keys, last_piece);
        Ok(KeyWriter {
            path: path.to_owned(),
            file,
            shape,
            places: Vec::new(),
            at: HEADER_BYTES,
            bits: BitWriter::default(),
            count: 0,
            last: 0,
            keys: 0,
            last_piece: 0,
        })
    }

    /// Adds a key; keys ascend.
    pub fn push(&mut self, key: u64, piece: PieceNumber) -> Result<()> {
        let bucket = (key >> self.shape.rest_bits()) as usize;
        while self.places.len() <= bucket {
            self.turn()?;
        }
        // A key that thousands of pieces share tells nothing; whoever remembers keeps to a handful.
        if self.count < u16::MAX {
            let rest = key & ((1 << self.shape.rest_bits()) - 1);
            self.bits.push_rice(rest - self.last, self.shape.low);
            self.bits.push(u64::from(piece), self.shape.piece_bits);
            self.last = rest;
            self.count += 1;
            self.keys += 1;
            self.last_piece = self.last_piece.max(piece);
        }
        Ok(())
    }

    /// Ends the bucket in hand, if there is one, and begins the next.
    fn turn(&mut self) -> Result<()> {
        if !self.places.is_empty() {
            let bytes = self.bits.finish();
            let written = self.file.write_all(&self.count.to_le_bytes()).and_then(|()| self.file.write_all(bytes));
            written.during("write", &self.path)?;
            self.at += 2 + bytes.len() as u64;
            self.bits.clear();
        }
        (self.count, self.last) = (0, 0);
        self.places.push(self.at);
        Ok(())
    }

    /// Ends the run and opens it.
    pub fn finish(mut self) -> Result<KeyRun> {
        while self.places.len() <= 1 << self.shape.bucket_bits {
            self.turn()?;
        }
        let mut header = Vec::with_capacity(HEADER_BYTES as usize);
        header.extend(MAGIC);
        header.extend(self.keys.to_le_bytes());
        header.extend(self.last_piece.to_le_bytes());
        header.extend([self.shape.bucket_bits as u8, self.shape.low as u8, self.shape.piece_bits as u8, 0]);
        let mut write = || {
            for place in &self.places {
                self.file.write_all(&place.to_le_bytes()[..PLACE_BYTES])?;
            }
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(&header)?;
            self.file.flush()
        };
        write().during("write", &self.path)?;
        KeyRun::open(&self.path)
    }
}

/// A run on disk.
pub struct KeyRun {
    path: PathBuf,
    file: File,
    shape: Shape,
    /// Where buckets begin, as it lies on disk: a day asks for few of them.
    index: Vec<u8>,
    keys: u64,
    last_piece: PieceNumber,
    bytes: u64,
    asked: u64,
    /// All of it, if it is small and asked often.
    whole: Vec<u8>,
}

impl KeyRun {
    /// Opens a run.
    pub fn open(path: &Path) -> Result<KeyRun> {
        let file = File::open(path).during("open", path)?;
        let bytes = file.metadata().during("look at", path)?.len();
        let damaged = || Error::Damaged { path: path.to_owned() };
        let mut header = [0; HEADER_BYTES as usize];
        if bytes < HEADER_BYTES {
            return Err(damaged());
        }
        file.read_exact_at(&mut header, 0).during("read", path)?;
        refuse_newer(path, &header, MAGIC)?;
        let keys = u64::from_le_bytes(header[8..16].try_into().expect("eight bytes"));
        let last_piece = u32::from_le_bytes(header[16..20].try_into().expect("four bytes"));
        let [bucket_bits, low, piece_bits] = [header[20], header[21], header[22]].map(u32::from);
        let index_bytes = (PLACE_BYTES as u64) * ((1 << bucket_bits.min(MAX_BUCKET_BITS)) + 1);
        let is_ours = &header[..8] == MAGIC
            && bucket_bits <= MAX_BUCKET_BITS
            && low <= KEY_BITS
            && piece_bits <= PieceNumber::BITS
            && bytes >= HEADER_BYTES + index_bytes;
        if !is_ours {
            return Err(damaged());
        }
        let mut index = vec![0; index_bytes as usize];
        file.read_exact_at(&mut index, bytes - index_bytes).during("read", path)?;
        let shape = Shape { bucket_bits, low, piece_bits };
        Ok(KeyRun { path: path.to_owned(), file, shape, index, keys, last_piece, bytes, asked: 0, whole: Vec::new() })
    }

    /// Where a stretch of buckets lies.
    fn place(&self, buckets: Range<usize>) -> Result<Range<u64>> {
        let at = |bucket: usize| {
            let place = &self.index[bucket * PLACE_BYTES..(bucket + 1) * PLACE_BYTES];
            place.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        };
        let place = at(buckets.start)..at(buckets.end);
        let is_sound = place.start <= place.end && place.end + self.index.len() as u64 <= self.bytes;
        if is_sound { Ok(place) } else { Err(Error::Damaged { path: self.path.clone() }) }
    }

    fn buckets(&self) -> usize {
        1 << self.shape.bucket_bits
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many keys it holds.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// Its size on disk.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds the pieces that a key came from.
    pub(crate) fn look_up(&mut self, key: u64, buffer: &mut Vec<u8>, found: &mut Vec<PieceNumber>) -> Result<()> {
        let bucket = (key >> self.shape.rest_bits()) as usize;
        let Range { start, end } = self.place(bucket..bucket + 1)?;
        self.asked += 1;
        if self.asked * READ_BYTES == self.bytes.next_multiple_of(READ_BYTES) && self.bytes <= SMALL_BYTES {
            self.whole.resize(self.bytes as usize, 0);
            self.file.read_exact_at(&mut self.whole, 0).during("read", &self.path)?;
        }
        let bytes = if self.whole.is_empty() {
            buffer.resize((end - start) as usize, 0);
            self.file.read_exact_at(buffer, start).during("read", &self.path)?;
            &buffer[..]
        } else {
            &self.whole[start as usize..end as usize]
        };
        self.shape.decode(bucket, bytes, |known, piece| {
            if known == key {
                found.push(piece);
            }
            known <= key
        });
        Ok(())
    }

    /// All keys with their pieces, in order.
    pub(crate) fn read(&self) -> KeyReader<'_> {
        KeyReader { run: self, bucket: 0, ready: Vec::new(), at: 0, buffer: Vec::new() }
    }
}

/// Reads a run from its beginning.
pub(crate) struct KeyReader<'a> {
    run: &'a KeyRun,
    bucket: usize,
    ready: Vec<(u64, PieceNumber)>,
    at: usize,
    buffer: Vec<u8>,
}

impl KeyReader<'_> {
    /// The key that comes next.
    #[inline]
    fn peek(&mut self) -> Result<Option<(u64, PieceNumber)>> {
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
            let stretch = run.place(self.bucket..last)?;
            self.buffer.resize((stretch.end - stretch.start) as usize, 0);
            run.file.read_exact_at(&mut self.buffer, stretch.start).during("read", &run.path)?;
            for bucket in self.bucket..last {
                let place = run.place(bucket..bucket + 1)?;
                let [from, to] = [place.start, place.end].map(|at| at.saturating_sub(stretch.start) as usize);
                let bytes = self.buffer.get(from..to).ok_or_else(|| Error::Damaged { path: run.path.clone() })?;
                run.shape.decode(bucket, bytes, |key, piece| {
                    self.ready.push((key, piece));
                    true
                });
            }
            self.bucket = last;
        }
        Ok(())
    }
}

/// Makes one run of several: every key with every piece, or with those that are wanted.
///
/// The shape depends on what is in the new run and on nothing else, so that the same keys are the same
/// bytes, whatever runs they came from.
pub fn merge(runs: &[&KeyRun], path: &Path, wanted: Option<&dyn Fn(PieceNumber) -> bool>) -> Result<KeyRun> {
    let (mut keys, mut last_piece) = (0, 0);
    let is_wanted = |piece| wanted.is_none_or(|wanted| wanted(piece));
    for run in runs {
        if wanted.is_none() {
            keys += run.keys;
            last_piece = last_piece.max(run.last_piece);
            continue;
        }
        let mut reader = run.read();
        while let Some((_, piece)) = reader.peek()? {
            reader.at += 1;
            if is_wanted(piece) {
                keys += 1;
                last_piece = last_piece.max(piece);
            }
        }
    }
    let mut writer = KeyWriter::create(path, keys, last_piece)?;
    let mut readers: Vec<KeyReader<'_>> = runs.iter().map(|run| run.read()).collect();
    // Whoever has ended waits behind everybody: no key is as large.
    let ended = (u64::MAX, PieceNumber::MAX);
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

    fn write(folder: &Path, name: &str, pairs: &mut [(u64, PieceNumber)]) -> KeyRun {
        pairs.sort_unstable();
        let last = pairs.iter().map(|pair| pair.1).max().unwrap_or(0);
        let mut writer = KeyWriter::create(&folder.join(name), pairs.len() as u64, last).unwrap();
        pairs.iter().for_each(|(key, piece)| writer.push(*key, *piece).unwrap());
        writer.finish().unwrap()
    }

    fn read(run: &KeyRun) -> Vec<(u64, PieceNumber)> {
        let mut reader = run.read();
        std::iter::from_fn(|| {
            let next = reader.peek().unwrap();
            reader.at += 1;
            next
        })
        .collect()
    }

    fn pairs() -> impl Strategy<Value = Vec<(u64, PieceNumber)>> {
        prop::collection::vec((prop_oneof![0..1u64 << KEY_BITS, 0..64u64], any::<u32>()), 0..300)
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
            for (key, _) in &all {
                let mut found = Vec::new();
                whole.look_up(*key, &mut buffer, &mut found).unwrap();
                let expected: Vec<PieceNumber> = all.iter().filter(|pair| pair.0 == *key).map(|pair| pair.1).collect();
                prop_assert_eq!(found, expected);
            }
            let even = merge(&[&at_once], &at("even"), Some(&|piece| piece % 2 == 0)).unwrap();
            let mut evens: Vec<_> = all.into_iter().filter(|pair| pair.1 % 2 == 0).collect();
            prop_assert_eq!(read(&even), evens.clone());
            let directly = write(folder.path(), "directly", &mut evens);
            prop_assert_eq!(std::fs::read(even.path()).unwrap(), std::fs::read(directly.path()).unwrap());
        }

        #[test]
        fn a_damaged_run_is_refused_or_gives_nonsense_but_never_panics(
            mut one in pairs(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()
        ) {
            let folder = tempfile::tempdir().unwrap();
            let run = write(folder.path(), "1", &mut one);
            let mut bytes = std::fs::read(run.path()).unwrap();
            let place = at.index(bytes.len());
            bytes[place] = byte;
            for len in [bytes.len(), cut.index(bytes.len())] {
                std::fs::write(run.path(), &bytes[..len]).unwrap();
                if let Ok(mut run) = KeyRun::open(run.path()) {
                    let mut reader = run.read();
                    while reader.peek().is_ok_and(|next| next.is_some()) {
                        reader.at += 1;
                    }
                    let _ = run.look_up(one.first().map_or(0, |pair| pair.0), &mut Vec::new(), &mut Vec::new());
                }
            }
        }
    }
}
