//! Input that is a file, an object, or a file that stands for an object.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{Context, Result};
use crate::object_url::ObjectUrl;
use crate::objects::{Bucket, ObjectFailure, ObjectFault, ObjectReader, about};
use crate::pointer::{self, Pointer};
use crate::storage::Stat;

/// Open input.
#[derive(Debug)]
pub enum Source {
    /// A local file.
    File(File),
    /// An object.
    Object(Box<ObjectReader>),
}

impl Source {
    /// Opens input of a user: a file, or the object of an address such as `s3://bucket/key`. A pointer, which may come from
    /// anywhere, is not followed.
    pub fn open(path: &Path) -> Result<Source> {
        Source::open_or_else(path, |Pointer { url, .. }| {
            let told = format!("its data is in an object store; give {url} instead");
            Err(io::Error::new(io::ErrorKind::InvalidInput, told))
        })
    }

    /// The same for a file of a home, which may stand for an object.
    pub fn stored(path: &Path) -> Result<Source> {
        Source::open_or_else(path, |Pointer { url, bytes }| Ok(ObjectReader::open_known(&url, bytes)?))
    }

    fn open_or_else(path: &Path, follow: impl FnOnce(Pointer) -> io::Result<ObjectReader>) -> Result<Source> {
        if let Some(url) = address(path, "open")? {
            return Ok(Source::Object(Box::new(about(ObjectReader::open(&url), "open", &url)?)));
        }
        let file = File::open(path).context("open", path)?;
        match Pointer::in_file(&file).context("read", path)? {
            Some(pointer) => Ok(Source::Object(Box::new(follow(pointer).context("open", path)?))),
            None => Ok(Source::File(file)),
        }
    }

    /// The size of the input.
    pub fn size(&self) -> io::Result<u64> {
        match self {
            Source::File(file) => Ok(file.metadata()?.len()),
            Source::Object(object) => Ok(object.len()),
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File(file) => file.read(buffer),
            Source::Object(object) => object.read(buffer),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Source::File(file) => file.seek(to),
            Source::Object(object) => object.seek(to),
        }
    }
}

/// The address that a path stands for; `None` if it is a path of files.
fn address(path: &Path, doing: &'static str) -> Result<Option<ObjectUrl>> {
    let invalid = |fault| io::Error::new(io::ErrorKind::InvalidInput, fault);
    Ok(ObjectUrl::of_path(path).transpose().map_err(invalid).context(doing, path)?)
}

/// Size and age of an input; `None` if it is missing or a folder.
pub fn stat(path: &Path) -> Result<Option<Stat>> {
    if let Some(url) = address(path, "inspect")? {
        let found = about(Bucket::of(&url).and_then(|bucket| bucket.stat(&url.key)), "inspect", &url)?;
        return Ok(found.map(|found| Stat { bytes: found.bytes, modified: Some(found.modified) }));
    }
    Ok(stat_of_file(path).context("inspect", path)?)
}

fn stat_of_file(path: &Path) -> io::Result<Option<Stat>> {
    let meta = match fs::metadata(path) {
        Ok(meta) if meta.is_file() => meta,
        Ok(_) => return Ok(None),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    // Looking for work inspects thousands of files: only small ones are opened.
    let pointer = if meta.len() < pointer::MAX_BYTES { Pointer::at(path)? } else { None };
    let bytes = pointer.map_or(meta.len(), |pointer| pointer.bytes);
    Ok(Some(Stat { bytes, modified: meta.modified().ok() }))
}

/// Deletes a file or an object.
pub fn remove(path: &Path) -> Result<()> {
    match address(path, "remove")? {
        None => crate::file::remove(path),
        Some(url) => about(Bucket::of(&url).and_then(|bucket| bucket.delete(&url.key)), "remove", &url),
    }
}

/// Whether an error is one of an object store that may pass, and not one of the data that was read.
pub fn is_unavailable(error: &io::Error) -> bool {
    use ObjectFailure::{Changed, Denied, NoBucket, NoCredentials, NotBuilt, Other, Unavailable};
    ObjectFault::of(error).is_some_and(|fault| {
        matches!(fault.failure, Unavailable | Denied | NoCredentials | NoBucket | Changed | NotBuilt | Other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_opened_as_it_is_and_missing_input_is_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gz");
        fs::write(&path, b"rain").unwrap();
        let mut text = String::new();
        let mut source = Source::open(&path).unwrap();
        source.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), source.size().unwrap()), ("rain", 4));
        assert_eq!(stat(&path).unwrap().unwrap().bytes, 4);
        assert_eq!(stat(folder.path()).unwrap(), None);
        assert!(Source::open(&folder.path().join("b")).unwrap_err().is_not_found());
        remove(&path).unwrap();
        assert_eq!(stat(&path).unwrap(), None);
    }

    #[test]
    fn an_invalid_address_says_what_is_wrong() {
        let error = Source::open(Path::new("s3://corpora//a")).unwrap_err();
        let text = tidings_model::in_full(&error);
        assert!(text.contains("cannot open s3://corpora//a") && text.contains("invalid key"), "{text}");
    }

    #[cfg(feature = "object-storage")]
    #[test]
    fn a_file_that_stands_for_an_object_is_read_from_the_bucket() {
        let folder = tempfile::tempdir().unwrap();
        let url = ObjectUrl::parse("memory://source/pages/a.jsonl.zst").unwrap().unwrap();
        Bucket::of(&url).unwrap().put(&url.key, b"pages of a day", true).unwrap();
        let path = folder.path().join("a.jsonl.zst");
        fs::write(&path, Pointer { url: url.clone(), bytes: 14 }.encode()).unwrap();
        let told = tidings_model::in_full(&Source::open(&path).unwrap_err());
        assert!(told.contains("give memory://source/pages/a.jsonl.zst instead"), "{told}");
        for (path, opened) in [(&path, Source::stored(&path)), (&url.to_path(), Source::open(&url.to_path()))] {
            let mut source = opened.unwrap();
            source.seek(SeekFrom::Start(9)).unwrap();
            let mut text = String::new();
            source.read_to_string(&mut text).unwrap();
            assert_eq!((text.as_str(), stat(path).unwrap().unwrap().bytes), ("a day", 14));
        }
        remove(&url.to_path()).unwrap();
        assert_eq!(stat(&url.to_path()).unwrap(), None);
    }
}
