//! Addresses of objects: `s3://BUCKET/KEY`, `gs://BUCKET/KEY`, `az://CONTAINER/KEY`.

use std::fmt;
use std::path::{Path, PathBuf};

/// The kind of an object store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// Amazon S3 and servers that speak its protocol.
    S3,
    /// Google Cloud Storage.
    Gs,
    /// Azure Blob Storage.
    Az,
    /// A store in the memory of this process, for unit tests.
    #[cfg(test)]
    Memory,
}

impl Scheme {
    /// The beginning of addresses.
    pub fn prefix(self) -> &'static str {
        match self {
            Scheme::S3 => "s3://",
            Scheme::Gs => "gs://",
            Scheme::Az => "az://",
            #[cfg(test)]
            Scheme::Memory => "memory://",
        }
    }
}

/// All kinds.
#[cfg(not(test))]
const SCHEMES: [Scheme; 3] = [Scheme::S3, Scheme::Gs, Scheme::Az];
#[cfg(test)]
const SCHEMES: [Scheme; 4] = [Scheme::S3, Scheme::Gs, Scheme::Az, Scheme::Memory];

/// The longest key that stores accept.
const MAX_KEY_BYTES: usize = 1024;

/// The address of an object, or of all objects under a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectUrl {
    /// The kind of the store.
    pub scheme: Scheme,
    /// The bucket, or the container of Azure.
    pub bucket: String,
    /// The key without slashes at its ends; empty for the whole bucket.
    pub key: String,
}

impl ObjectUrl {
    /// Parses an address; `None` if the text is none of an object store, such as a local path.
    pub fn parse(text: &str) -> Option<Result<ObjectUrl, String>> {
        let scheme = SCHEMES.into_iter().find(|scheme| text.starts_with(scheme.prefix()))?;
        let (bucket, key) =
            text[scheme.prefix().len()..].split_once('/').unwrap_or((&text[scheme.prefix().len()..], ""));
        let key = key.trim_end_matches('/');
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if bucket.is_empty() || !bucket.chars().all(is_name) {
            return Some(Err(format!("`{text}` names no bucket; write {}BUCKET/KEY", scheme.prefix())));
        }
        let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.chars().any(char::is_control);
        if !(key.is_empty() || key.split('/').all(is_part)) || key.len() > MAX_KEY_BYTES {
            return Some(Err(format!(
                "`{text}` has an invalid key; parts between slashes must not be empty, `.` or `..`, and the key has at \
                 most {MAX_KEY_BYTES} bytes"
            )));
        }
        Some(Ok(ObjectUrl { scheme, bucket: bucket.to_owned(), key: key.to_owned() }))
    }

    /// The address that a path stands for; `None` if it is a path of files.
    pub fn of_path(path: &Path) -> Option<Result<ObjectUrl, String>> {
        ObjectUrl::parse(path.to_str()?)
    }

    /// The address with this key below it.
    pub fn join(&self, key: &str) -> ObjectUrl {
        let key = if self.key.is_empty() { key.to_owned() } else { format!("{}/{key}", self.key) };
        ObjectUrl { key, ..self.clone() }
    }

    /// The same bucket with another key.
    pub fn with_key(&self, key: &str) -> ObjectUrl {
        ObjectUrl { key: key.to_owned(), ..self.clone() }
    }

    /// The last part of the key.
    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or_default()
    }

    /// The address as a path, for functions that take files as well as objects, and for messages.
    pub fn to_path(&self) -> PathBuf {
        PathBuf::from(self.to_string())
    }
}

impl fmt::Display for ObjectUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.scheme.prefix(), self.bucket)?;
        if self.key.is_empty() { Ok(()) } else { write!(f, "/{}", self.key) }
    }
}

/// Whether a path is the address of an object, valid or not.
pub fn is_object(path: &Path) -> bool {
    ObjectUrl::of_path(path).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> ObjectUrl {
        ObjectUrl::parse(text).unwrap().unwrap()
    }

    #[test]
    fn an_address_has_a_bucket_and_a_key() {
        let url = parsed("s3://corpora/news/pages/a.jsonl.zst");
        assert_eq!((url.scheme, &*url.bucket, &*url.key), (Scheme::S3, "corpora", "news/pages/a.jsonl.zst"));
        assert_eq!((url.name(), url.to_path()), ("a.jsonl.zst", PathBuf::from("s3://corpora/news/pages/a.jsonl.zst")));
        assert_eq!(parsed("gs://corpora").join("a/b").to_string(), "gs://corpora/a/b");
        assert_eq!(parsed("az://corpora/news/").join("a").to_string(), "az://corpora/news/a");
        assert!(is_object(Path::new("s3://")) && !is_object(Path::new("/s3://a")));
    }

    #[test]
    fn paths_of_files_are_no_addresses_and_bad_addresses_say_what_is_wrong() {
        for path in ["/data/a.warc.gz", "a", "s3:/a/b", "https://e.org/a", "./s3://a"] {
            assert!(ObjectUrl::parse(path).is_none(), "{path}");
        }
        for (url, fault) in [
            ("s3://", "names no bucket"),
            ("s3:///a", "names no bucket"),
            ("s3://a b/c", "names no bucket"),
            ("s3://a@evil.example/c", "names no bucket"),
            ("s3://a/b//c", "invalid key"),
            ("s3://a/../b", "invalid key"),
            ("s3://a/b\nc", "invalid key"),
        ] {
            assert!(ObjectUrl::parse(url).unwrap().unwrap_err().contains(fault), "{url}");
        }
    }

    proptest! {
        #[test]
        fn a_parsed_address_is_printed_as_it_was(text in "(s3|gs|az)://[a-z0-9.-]{1,9}(/[^/\\p{C}]{1,9}){0,4}") {
            if let Some(Ok(url)) = ObjectUrl::parse(&text) {
                prop_assert_eq!(url.to_string(), text);
            }
        }
    }
}
