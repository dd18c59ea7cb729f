//! Pointers: small files that stand for an object in a bucket, under the name that its data would have in the home.
//!
//! A pointer is a skippable zstd frame, so that programs without object storage see a file of a newer version, and never
//! one without pages. It is replaced atomically, and is the commit point of an object: an object without a pointer does
//! not count. Lists, sizes and times of files are those of pointers, so that looking for work costs no requests.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::object_url::ObjectUrl;

/// The magic number of a skippable zstd frame.
const MAGIC: [u8; 4] = 0x184D_2A50u32.to_le_bytes();
/// The first line of a pointer.
const FORMAT: &str = "tidings object 1";
const FAMILY: &str = "tidings object ";
/// A pointer is smaller than this, whatever its key.
pub(crate) const MAX_BYTES: u64 = 2048;

/// An object that a file of the home stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    /// Its address.
    pub url: ObjectUrl,
    /// Its size.
    pub bytes: u64,
}

/// Whether a file of this name may be a pointer: compressed data, never tables, recipes and journals.
pub fn may_be_pointer(name: &str) -> bool {
    name.ends_with(".zst") || name.ends_with(".gz")
}

impl Pointer {
    /// The bytes of the file.
    pub fn encode(&self) -> Vec<u8> {
        let text = format!("{FORMAT}\n{}\n{}\n", self.url, self.bytes);
        let mut frame = MAGIC.to_vec();
        frame.extend((text.len() as u32).to_le_bytes());
        frame.extend(text.as_bytes());
        frame
    }

    /// Reads the pointer in a file; `None` if the file has data of its own. The position of the file is not changed.
    pub fn in_file(file: &File) -> io::Result<Option<Pointer>> {
        let bytes = file.metadata()?.len();
        if !(8..MAX_BYTES).contains(&bytes) {
            return Ok(None);
        }
        let mut head = [0; 8 + FAMILY.len()];
        let is_pointer = match file.read_exact_at(&mut head, 0) {
            Ok(()) => head.starts_with(&MAGIC) && head[8..] == *FAMILY.as_bytes(),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(error),
        };
        if !is_pointer {
            return Ok(None);
        }
        let mut text = vec![0; bytes as usize];
        file.read_exact_at(&mut text, 0)?;
        Pointer::decode(&text).map(Some).map_err(io::Error::other)
    }

    /// Reads the pointer at a path; `None` if the file is missing or has data of its own.
    pub fn at(path: &Path) -> io::Result<Option<Pointer>> {
        if !path.file_name().and_then(|name| name.to_str()).is_some_and(may_be_pointer) {
            return Ok(None);
        }
        match File::open(path) {
            Ok(file) => Pointer::in_file(&file),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn decode(bytes: &[u8]) -> Result<Pointer, String> {
        let mut text = String::new();
        let read = bytes.get(8..).unwrap_or_default().read_to_string(&mut text);
        let mut lines = text.lines();
        match lines.next() {
            Some(FORMAT) if read.is_ok() => {}
            _ => return Err("it stands for an object in a way that only newer versions of Tidings know".to_owned()),
        }
        let (url, size) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let url = ObjectUrl::parse(url).ok_or("it is damaged and names no object")??;
        let bytes = size.parse().map_err(|_| "it is damaged and has no size".to_owned())?;
        Ok(Pointer { url, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    fn found(bytes: &[u8]) -> io::Result<Option<Pointer>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl.zst");
        fs::write(&path, bytes).unwrap();
        Pointer::at(&path)
    }

    fn pointer() -> Pointer {
        let url = ObjectUrl::parse("s3://corpora/news/pages/2026-03-01/run.0.0123.jsonl.zst").unwrap().unwrap();
        Pointer { url, bytes: 1 << 40 }
    }

    #[test]
    fn a_pointer_is_read_as_it_was_written_and_other_files_are_none() {
        assert_eq!(found(&pointer().encode()).unwrap(), Some(pointer()));
        let page_header = [&MAGIC[..], &[15, 0, 0, 0], b"tidings pages 1"].concat();
        for other in [&b""[..], b"\x28\xb5\x2f\xfd", &page_header, &[0; 5000]] {
            assert_eq!(found(other).unwrap(), None);
        }
        assert_eq!(Pointer::at(Path::new("/missing/a.zst")).unwrap(), None);
    }

    #[test]
    fn a_pointer_of_a_newer_version_is_refused() {
        let text = String::from_utf8(pointer().encode()[8..].to_vec()).unwrap().replace("object 1", "object 2");
        let newer = [&pointer().encode()[..8], text.as_bytes()].concat();
        assert!(found(&newer).unwrap_err().to_string().contains("newer versions"));
    }

    proptest! {
        #[test]
        fn damaged_pointers_are_errors_or_no_pointers(at in 0usize..90, byte: u8, cut in 0usize..90) {
            let mut bytes = pointer().encode();
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = found(&bytes);
            let _ = found(&bytes[..cut.min(bytes.len())]);
        }
    }
}
