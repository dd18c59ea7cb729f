//! Exports to an object store: files are uploaded while they are written, and appear when the export is published.
//!
//! Nothing is visible before: parts of an unfinished upload are no object. At the end the old manifest is deleted, the
//! files appear, what an earlier export left in the folder is deleted, and the new manifest is written last. Without
//! `force` the manifest is only written if there is none, so that of two exports to one place one fails.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use tidings_storage::ObjectUrl;
use tidings_storage::objects::{self, Bucket, ObjectFailure, ObjectFault, Upload};

use crate::error::{Context, Error, Result};

/// A target in an object store.
#[derive(Debug)]
pub(crate) struct ObjectOutput {
    target: ObjectUrl,
    is_folder: bool,
    force: bool,
    /// Finished files.
    uploads: Vec<(ObjectUrl, Upload)>,
}

/// The result of a request with its address and what was being done.
fn about<T>(done: std::result::Result<T, ObjectFault>, doing: &'static str, url: &ObjectUrl) -> Result<T> {
    Ok(objects::about(done, doing, url)?)
}

impl ObjectOutput {
    /// Starts an export; `None` if the target is a local path.
    pub(crate) fn create(target: &Path, is_folder: bool, force: bool) -> Result<Option<ObjectOutput>> {
        let Some(url) = ObjectUrl::of_path(target) else { return Ok(None) };
        let refused = |fault| Err(Error::Output { path: target.to_owned(), fault });
        let invalid = |fault| io::Error::new(io::ErrorKind::InvalidInput, fault);
        let url = url.map_err(invalid).context("write", target)?;
        if url.key.is_empty() {
            return refused("is a bucket; give a name in it");
        }
        let output = ObjectOutput { target: url, is_folder, force, uploads: Vec::new() };
        let (bucket, manifest) = (output.bucket()?, output.manifest());
        let stat = |url: &ObjectUrl| about(bucket.stat(&url.key), "inspect", url);
        let below = about(bucket.list(&output.target.key), "list", &output.target)?;
        match (is_folder, stat(&output.target)?.is_some(), !below.is_empty()) {
            (true, true, _) => return refused("is an object; give a folder"),
            (false, _, true) => return refused("is a folder; give a file"),
            (true, _, true) if stat(&manifest)?.is_none() => {
                return refused("is not an export and not empty; give another folder");
            }
            (true, _, true) | (false, true, _) if !force => {
                return refused("already exists; add --force to replace it");
            }
            _ => {}
        }
        Ok(Some(output))
    }

    fn bucket(&self) -> Result<std::sync::Arc<Bucket>> {
        about(Bucket::of(&self.target), "open", &self.target)
    }

    fn manifest(&self) -> ObjectUrl {
        self.target.with_key(&format!("{}.manifest.json", self.target.key))
    }

    /// The address of a file: in a folder by its name, otherwise the target itself or one next to it.
    fn url(&self, full_name: &str) -> ObjectUrl {
        match (self.is_folder, self.target.key.rsplit_once('/')) {
            (true, _) => self.target.join(full_name),
            (false, Some((folder, _))) => self.target.with_key(&format!("{folder}/{full_name}")),
            (false, None) => self.target.with_key(full_name),
        }
    }

    /// Begins a file.
    pub(crate) fn begin(&self, full_name: &str) -> Result<Upload> {
        let url = self.url(full_name);
        about(Upload::begin(&url), "write", &url)
    }

    /// Adds a finished file. All of it has been sent then: it needs no more memory.
    pub(crate) fn add(&mut self, full_name: &str, mut upload: Upload) -> Result<()> {
        let url = self.url(full_name);
        about(upload.seal(), "write", &url)?;
        self.uploads.push((url, upload));
        Ok(())
    }

    /// Makes the files appear, the manifest last.
    pub(crate) fn publish(self, manifest: &[u8]) -> Result<()> {
        let (bucket, beside) = (self.bucket()?, self.manifest());
        if self.force {
            about(bucket.delete(&beside.key), "remove", &beside)?;
        }
        let mut names = BTreeSet::new();
        for (url, upload) in self.uploads {
            about(upload.publish(), "write", &url)?;
            names.insert(url.key);
        }
        if self.is_folder && self.force {
            for old in about(bucket.list(&self.target.key), "list", &self.target)? {
                if !names.contains(&old.key) {
                    about(bucket.delete(&old.key), "remove", &self.target.with_key(&old.key))?;
                }
            }
        }
        match bucket.put(&beside.key, manifest, !self.force) {
            Err(fault) if fault.failure == ObjectFailure::AlreadyExists => Err(Error::Output {
                path: self.target.to_path(),
                fault: "was written by another export at the same time; add --force to replace it",
            }),
            put => about(put, "write", &beside),
        }
    }
}
