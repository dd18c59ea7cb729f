//! Object stores in a program without the feature `object-storage`: every request fails and says so.

use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use super::{ObjectAbout, ObjectFailure, ObjectFault};
use crate::object_url::ObjectUrl;

type Result<T> = std::result::Result<T, ObjectFault>;

fn absent<T>(url: &ObjectUrl) -> Result<T> {
    Err(ObjectFault::new(url, ObjectFailure::NotBuilt, ""))
}

/// A bucket; there is none.
#[derive(Debug)]
pub enum Bucket {}

#[allow(missing_docs)] // As with the feature.
impl Bucket {
    pub fn of(url: &ObjectUrl) -> Result<Arc<Bucket>> {
        absent(url)
    }

    pub fn stat(&self, _: &str) -> Result<Option<ObjectAbout>> {
        match *self {}
    }

    pub fn read(&self, _: &str) -> Result<Option<Vec<u8>>> {
        match *self {}
    }

    pub fn put(&self, _: &str, _: &[u8], _: bool) -> Result<()> {
        match *self {}
    }

    pub fn delete(&self, _: &str) -> Result<()> {
        match *self {}
    }

    pub fn list(&self, _: &str) -> Result<Vec<ObjectAbout>> {
        match *self {}
    }
}

/// An open object; there is none.
#[derive(Debug)]
pub enum ObjectReader {}

#[allow(missing_docs)] // As with the feature.
impl ObjectReader {
    pub fn open(url: &ObjectUrl) -> Result<ObjectReader> {
        absent(url)
    }

    pub fn open_known(url: &ObjectUrl, _: u64) -> Result<ObjectReader> {
        absent(url)
    }

    pub fn len(&self) -> u64 {
        match *self {}
    }

    pub fn is_empty(&self) -> bool {
        match *self {}
    }
}

impl Read for ObjectReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

impl BufRead for ObjectReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match *self {}
    }

    fn consume(&mut self, _: usize) {
        match *self {}
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        match *self {}
    }
}

/// An object in progress; there is none.
#[derive(Debug)]
pub enum Upload {}

#[allow(missing_docs)] // As with the feature.
impl Upload {
    pub fn begin(url: &ObjectUrl) -> Result<Upload> {
        absent(url)
    }

    pub fn len(&self) -> u64 {
        match *self {}
    }

    pub fn is_empty(&self) -> bool {
        match *self {}
    }

    pub fn push(&mut self, _: &[u8]) -> Result<()> {
        match *self {}
    }

    pub fn seal(&mut self) -> Result<()> {
        match *self {}
    }

    pub fn publish(self) -> Result<()> {
        match self {}
    }
}

impl Write for Upload {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}
