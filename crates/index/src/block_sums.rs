//! Digests of the blocks of an index file, in a file beside it.
//!
//! The section table of an index file has one digest for each section, and sections have megabytes. The digests of their
//! blocks stand in a file of their own, `NAME.sums`, so that index files stay as they are. It is an accelerator: where it
//! is missing or damaged, whole sections are compared with the digests of the table.

use std::path::{Path, PathBuf};

use tidings_storage::AtomicFile;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::checked::CHECK_BYTES;
use crate::error::Result;

const MAGIC: &[u8; 16] = b"tidings sums 1\n\0";
/// Magic, digest of the section table, size of blocks.
const HEADER_BYTES: usize = 32;
const DIGEST_BYTES: usize = 8;
/// Ending that is appended to the name of the index file.
pub(crate) const ENDING: &str = ".sums";

/// Number of blocks of a section.
pub(crate) fn blocks_for(bytes: usize) -> usize {
    bytes.div_ceil(CHECK_BYTES)
}

/// The path of the file with the digests of the blocks of an index file.
pub(crate) fn path_of(index_file: &Path) -> PathBuf {
    let mut name = index_file.as_os_str().to_owned();
    name.push(ENDING);
    PathBuf::from(name)
}

/// Returns true if a file of an index has the digests of the blocks of another.
pub fn has_block_sums(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(ENDING.as_bytes())
}

/// Digests of blocks while sections are written; each section begins a block.
#[derive(Default)]
pub(crate) struct BlockHasher {
    sums: Vec<u64>,
    hasher: Xxh3,
    /// Bytes of the unfinished block.
    pending: usize,
    /// Whether a section has several blocks, so that the digest of the section is not enough.
    has_long_section: bool,
    /// Blocks of the section so far.
    blocks: usize,
}

impl BlockHasher {
    pub(crate) fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let count = bytes.len().min(CHECK_BYTES - self.pending);
            let (now, rest) = bytes.split_at(count);
            self.hasher.update(now);
            self.pending += count;
            if self.pending == CHECK_BYTES {
                self.end_block();
            }
            bytes = rest;
        }
    }

    fn end_block(&mut self) {
        self.sums.push(self.hasher.digest());
        self.hasher.reset();
        self.pending = 0;
        self.blocks += 1;
        self.has_long_section |= self.blocks > 1;
    }

    pub(crate) fn end_section(&mut self) {
        if self.pending > 0 {
            self.end_block();
        }
        self.blocks = 0;
    }

    /// Publishes the digests beside the index file, if a section has several blocks.
    pub(crate) fn publish(self, index_file: &Path, table_digest: u64) -> Result<()> {
        if !self.has_long_section {
            return Ok(());
        }
        let mut bytes = header(table_digest).to_vec();
        bytes.extend(self.sums.iter().flat_map(|sum| sum.to_le_bytes()));
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        let mut draft = AtomicFile::create(&path_of(index_file))?;
        draft.write(&bytes)?;
        Ok(draft.publish()?)
    }
}

fn header(table_digest: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..16].copy_from_slice(MAGIC);
    header[16..24].copy_from_slice(&table_digest.to_le_bytes());
    header[24..].copy_from_slice(&(CHECK_BYTES as u64).to_le_bytes());
    header
}

/// Reads the digests of the `blocks` blocks of an index file; `None` if they are missing, damaged, or those of a file with
/// another section table.
pub(crate) fn read(index_file: &Path, table_digest: u64, blocks: usize) -> Option<Vec<u64>> {
    let bytes = std::fs::read(path_of(index_file)).ok()?;
    let (body, digest) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST_BYTES)?)?;
    let (found, sums) = body.split_at_checked(HEADER_BYTES)?;
    let is_ours =
        found == header(table_digest) && sums.len() == blocks * DIGEST_BYTES && xxh3_64(body).to_le_bytes() == *digest;
    let numbers = sums.chunks_exact(DIGEST_BYTES).map(|sum| u64::from_le_bytes(sum.try_into().expect("eight bytes")));
    is_ours.then(|| numbers.collect())
}
