//! Reading an object as a stream over ranges.
//!
//! Every range is a request of its own, repeated when the connection breaks, so that a stream of hours survives broken
//! connections and needs no more memory than two ranges: the one that is read and the one that is fetched meanwhile. The
//! tag of the object makes sure that all ranges are of the same version.

use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path as Key;

use super::bucket::{Bucket, Result};
use super::runtime::Pending;
use super::{ObjectFailure, ObjectFault};
use crate::object_url::ObjectUrl;

/// The first range, for the heads of files, and the largest: ranges double while the object is read in order.
const FIRST_RANGE: u64 = 256 << 10;
const MAX_RANGE: u64 = 8 << 20;
/// Attempts for a range beyond the retries of its requests, for connections that break within the answer.
const ATTEMPTS: u32 = 4;

/// An open object.
pub struct ObjectReader {
    bucket: Arc<Bucket>,
    path: Key,
    key: String,
    tag: Option<String>,
    bytes: u64,
    /// The offset of the next byte that is returned.
    at: u64,
    /// The rest of the current range, which begins at `at`.
    chunk: Bytes,
    /// The size of the next range.
    range: u64,
    /// The next range, if it is being fetched.
    ahead: Option<(u64, u64, Pending<object_store::Result<Bytes>>)>,
    /// A failure stays: readers of archives look for the next sound record after an error.
    failed: Option<ObjectFault>,
}

impl std::fmt::Debug for ObjectReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ObjectReader({}, at {} of {})", self.bucket.url(&self.key), self.at, self.bytes)
    }
}

impl ObjectReader {
    /// Opens an object.
    pub fn open(url: &ObjectUrl) -> Result<ObjectReader> {
        let bucket = Bucket::of(url)?;
        let about = bucket.stat(&url.key)?.ok_or_else(|| ObjectFault::new(url, ObjectFailure::NotFound, ""))?;
        ObjectReader::of(bucket, url, about.bytes, about.tag)
    }

    /// Opens an object of known size without a request.
    pub fn open_known(url: &ObjectUrl, bytes: u64) -> Result<ObjectReader> {
        ObjectReader::of(Bucket::of(url)?, url, bytes, None)
    }

    fn of(bucket: Arc<Bucket>, url: &ObjectUrl, bytes: u64, tag: Option<String>) -> Result<ObjectReader> {
        let path = bucket.key(&url.key)?;
        let key = url.key.clone();
        let chunk = Bytes::new();
        Ok(ObjectReader { bucket, path, key, tag, bytes, at: 0, chunk, range: FIRST_RANGE, ahead: None, failed: None })
    }

    /// The size of the object.
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Whether the object is empty.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    fn start(&self, at: u64, length: u64) -> Pending<object_store::Result<Bytes>> {
        self.bucket.start_range(&self.path, at..at + length, self.tag.as_deref())
    }

    /// Fetches the range at the current offset, and starts to fetch the one after it if the object is read in order.
    fn advance(&mut self) -> Result<()> {
        let length = self.range.min(self.bytes - self.at);
        let (mut pending, length) = match self.ahead.take() {
            Some((at, length, pending)) if at == self.at => (pending, length),
            _ => (self.start(self.at, length), length),
        };
        let is_in_order = self.range > FIRST_RANGE;
        self.range = (self.range * 2).min(MAX_RANGE);
        let next = self.at + length;
        if is_in_order && next < self.bytes {
            let length = self.range.min(self.bytes - next);
            self.ahead = Some((next, length, self.start(next, length)));
        }
        let mut attempt = 1;
        loop {
            let fault = match pending.wait() {
                Ok(bytes) if bytes.len() as u64 == length => {
                    self.chunk = bytes;
                    return Ok(());
                }
                Ok(bytes) => {
                    let detail = format!("{} of {length} bytes arrived", bytes.len());
                    ObjectFault::new(&self.bucket.url(&self.key), ObjectFailure::Unavailable, detail)
                }
                Err(error) => self.bucket.fault(&self.key, &error),
            };
            if fault.failure != ObjectFailure::Unavailable || attempt == ATTEMPTS {
                // What was there when the object was opened has been deleted since.
                let is_gone = fault.failure == ObjectFailure::NotFound && self.at > 0;
                return Err(match is_gone {
                    true => ObjectFault::new(&self.bucket.url(&self.key), ObjectFailure::Changed, fault.detail),
                    false => fault,
                });
            }
            attempt += 1;
            pending = self.start(self.at, length);
        }
    }
}

impl BufRead for ObjectReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.chunk.is_empty() && self.at < self.bytes {
            if let Some(fault) = &self.failed {
                return Err(fault.clone().into());
            }
            if let Err(fault) = self.advance() {
                self.failed = Some(fault.clone());
                return Err(fault.into());
            }
        }
        Ok(&self.chunk)
    }

    fn consume(&mut self, bytes: usize) {
        let bytes = bytes.min(self.chunk.len());
        let _ = self.chunk.split_to(bytes);
        self.at += bytes as u64;
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, offset) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(offset) => (self.at, offset),
            SeekFrom::End(offset) => (self.bytes, offset),
        };
        let at = base.checked_add_signed(offset).ok_or(io::ErrorKind::InvalidInput)?;
        match at.checked_sub(self.at) {
            Some(skipped) if skipped <= self.chunk.len() as u64 => self.consume(skipped as usize),
            _ => {
                (self.chunk, self.ahead, self.range) = (Bytes::new(), None, FIRST_RANGE);
            }
        }
        self.at = at;
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn object(name: &str, bytes: &[u8]) -> ObjectUrl {
        let url = ObjectUrl::parse(&format!("memory://reader/{name}")).unwrap().unwrap();
        Bucket::of(&url).unwrap().put(&url.key, bytes, false).unwrap();
        url
    }

    fn numbers(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn an_object_of_many_ranges_is_read_in_order() {
        let bytes = numbers(20 << 20);
        let mut reader = ObjectReader::open(&object("large", &bytes)).unwrap();
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert!(read == bytes && reader.len() == bytes.len() as u64);
        assert_eq!(reader.range, MAX_RANGE);
    }

    #[test]
    fn an_object_that_is_replaced_while_it_is_read_is_an_error() {
        let url = object("changed", &numbers(2 << 20));
        let mut reader = ObjectReader::open(&url).unwrap();
        reader.fill_buf().unwrap();
        object("changed", &vec![0; 2 << 20]);
        let error = io::copy(&mut reader, &mut io::sink()).unwrap_err();
        assert_eq!(ObjectFault::of(&error).unwrap().failure, ObjectFailure::Changed);
        // The failure stays.
        assert!(reader.fill_buf().is_err());
    }

    #[test]
    fn a_missing_object_is_not_found_and_an_empty_one_is_empty() {
        let url = object("empty", b"");
        assert_eq!(ObjectReader::open(&url).unwrap().fill_buf().unwrap(), b"");
        let fault = ObjectReader::open(&url.with_key("none")).unwrap_err();
        assert_eq!(fault.failure, ObjectFailure::NotFound);
        let mut gone = ObjectReader::open_known(&url.with_key("none"), 3).unwrap();
        assert_eq!(gone.fill_buf().unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn seeks_and_reads_are_those_of_a_cursor(steps in prop::collection::vec((0u64..700_000, 0usize..400_000), 1..8)) {
            let bytes = numbers(600_000);
            let mut reader = ObjectReader::open(&object("seeks", &bytes)).unwrap();
            let mut cursor = io::Cursor::new(&bytes);
            for (at, length) in steps {
                prop_assert_eq!(reader.seek(SeekFrom::Start(at)).unwrap(), cursor.seek(SeekFrom::Start(at)).unwrap());
                let (mut read, mut expected) = (Vec::new(), Vec::new());
                (&mut reader).take(length as u64).read_to_end(&mut read).unwrap();
                (&mut cursor).take(length as u64).read_to_end(&mut expected).unwrap();
                prop_assert!(read == expected);
            }
        }
    }
}
