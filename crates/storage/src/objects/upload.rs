//! Writing an object as a stream: parts are sent while the object grows, and it appears as a whole when it is published.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use object_store::path::Path as Key;
use object_store::{MultipartUpload, ObjectStoreExt as _, PutPayload};

use super::bucket::{Bucket, Result};
use super::runtime::{self, Pending};
use crate::object_url::ObjectUrl;

/// The size of a part. S3 wants at least 5 MiB and at most 10,000 parts, so that an object has at most 80 GB at first;
/// parts double every 1,000 parts, which allows the 5 TB of an object.
const PART_BYTES: usize = 8 << 20;
const DOUBLED_EVERY: usize = 1000;

/// The store's half of an upload, which parts share.
type Parts = Arc<Mutex<Box<dyn MultipartUpload>>>;

/// An object in progress. Without publication it never appears, and its parts are deleted.
pub struct Upload {
    bucket: Arc<Bucket>,
    path: Key,
    key: String,
    /// Bytes that are not sent yet.
    buffer: Vec<u8>,
    parts: Option<Parts>,
    sent: usize,
    /// A part that is being sent while the next one is filled.
    pending: Option<Pending<object_store::Result<()>>>,
    bytes: u64,
}

impl std::fmt::Debug for Upload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Upload({}, {} bytes)", self.bucket.url(&self.key), self.bytes)
    }
}

impl Upload {
    /// Begins an object. Nothing is sent before a part is full or the upload is sealed.
    pub fn begin(url: &ObjectUrl) -> Result<Upload> {
        let bucket = Bucket::of(url)?;
        let path = bucket.key(&url.key)?;
        let key = url.key.clone();
        Ok(Upload { bucket, path, key, buffer: Vec::new(), parts: None, sent: 0, pending: None, bytes: 0 })
    }

    /// The number of bytes written.
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Appends bytes.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        let full = PART_BYTES << (self.sent / DOUBLED_EVERY).min(8);
        while self.buffer.len() + bytes.len() >= full {
            let (now, later) = bytes.split_at(full - self.buffer.len());
            self.buffer.extend_from_slice(now);
            self.send()?;
            bytes = later;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Sends the buffer as a part.
    fn send(&mut self) -> Result<()> {
        self.settle()?;
        let parts = match &self.parts {
            Some(parts) => Arc::clone(parts),
            None => {
                let (store, path) = (Arc::clone(&self.bucket.store), self.path.clone());
                let begun = runtime::wait(async move { store.put_multipart(&path).await });
                let parts = Arc::new(Mutex::new(begun.map_err(|error| self.bucket.fault(&self.key, &error))?));
                self.parts = Some(Arc::clone(&parts));
                parts
            }
        };
        let payload = PutPayload::from(std::mem::take(&mut self.buffer));
        self.sent += 1;
        let part = parts.lock().expect("no panic while held").put_part(payload);
        self.pending = Some(runtime::start(part));
        Ok(())
    }

    /// Waits for the part that is being sent.
    fn settle(&mut self) -> Result<()> {
        match self.pending.take().map(Pending::wait) {
            Some(Err(error)) => Err(self.bucket.fault(&self.key, &error)),
            _ => Ok(()),
        }
    }

    /// Sends what is left, so that the object needs no memory until it is published.
    pub fn seal(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            self.send()?;
        }
        self.settle()
    }

    /// Makes the object appear, in place of the one under its key.
    pub fn publish(mut self) -> Result<()> {
        if self.parts.is_none() {
            return self.bucket.put(&self.key, &self.buffer, false);
        }
        self.seal()?;
        let parts = self.parts.take().expect("checked above");
        let completed = runtime::wait(async move {
            let mut parts = std::mem::replace(&mut *parts.lock().expect("no panic while held"), Box::new(Ended));
            parts.complete().await
        });
        completed.map(drop).map_err(|error| self.bucket.fault(&self.key, &error))
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let Some(parts) = self.parts.take() else { return };
        drop(self.pending.take().map(Pending::wait));
        // Parts that cannot be deleted now are deleted by the rule of the bucket for incomplete uploads.
        let _ = runtime::wait(async move {
            let mut parts = std::mem::replace(&mut *parts.lock().expect("no panic while held"), Box::new(Ended));
            parts.abort().await
        });
    }
}

/// An upload that was completed or aborted.
#[derive(Debug)]
struct Ended;

#[async_trait::async_trait]
impl MultipartUpload for Ended {
    fn put_part(&mut self, _: PutPayload) -> object_store::UploadPart {
        unreachable!("an upload is taken when it ends")
    }

    async fn complete(&mut self) -> object_store::Result<object_store::PutResult> {
        unreachable!("an upload is taken when it ends")
    }

    async fn abort(&mut self) -> object_store::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(key: &str) -> ObjectUrl {
        ObjectUrl::parse(&format!("memory://uploads/{key}")).unwrap().unwrap()
    }

    fn read(url: &ObjectUrl) -> Option<Vec<u8>> {
        Bucket::of(url).unwrap().read(&url.key).unwrap()
    }

    #[test]
    fn an_upload_of_several_parts_appears_as_a_whole_when_it_is_published() {
        let url = url("large");
        let bytes: Vec<u8> = (0..PART_BYTES * 2 + 5).map(|at| (at % 13) as u8).collect();
        let mut upload = Upload::begin(&url).unwrap();
        bytes.chunks(1 << 20).for_each(|chunk| upload.write_all(chunk).unwrap());
        assert_eq!((upload.len(), upload.sent), (bytes.len() as u64, 2));
        upload.seal().unwrap();
        assert_eq!(read(&url), None, "invisible before publication");
        assert!(upload.buffer.is_empty(), "a sealed upload needs no memory");
        upload.publish().unwrap();
        assert!(read(&url).unwrap() == bytes);
    }

    #[test]
    fn an_upload_that_is_dropped_changes_nothing() {
        let url = url("dropped");
        Bucket::of(&url).unwrap().put(&url.key, b"old", true).unwrap();
        let mut upload = Upload::begin(&url).unwrap();
        upload.write_all(&vec![1; PART_BYTES + 1]).unwrap();
        drop(upload);
        assert_eq!(read(&url).unwrap(), b"old");
    }

    #[test]
    fn small_and_empty_objects_are_published() {
        for text in [&b""[..], b"rain"] {
            let url = url("small");
            let mut upload = Upload::begin(&url).unwrap();
            upload.write_all(text).unwrap();
            upload.publish().unwrap();
            assert_eq!(read(&url).unwrap(), text);
            assert!(Upload::begin(&url).unwrap().is_empty());
        }
    }
}
