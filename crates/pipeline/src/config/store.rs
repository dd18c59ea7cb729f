//! Settings of storage.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use tidings_storage::ObjectUrl;

use super::within;

/// The `[store]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to users.
pub struct StoreConfig {
    pub history: usize,
    pub prune_after: u32,
    pub runs_days: u32,
    pub compression: i32,
    pub min_free_mib: u64,
    pub bucket: String,
}

impl Default for StoreConfig {
    fn default() -> StoreConfig {
        StoreConfig {
            history: 12,
            prune_after: 100,
            runs_days: 400,
            compression: 3,
            min_free_mib: 512,
            bucket: String::new(),
        }
    }
}

impl StoreConfig {
    pub(super) fn check(&self) -> Result<()> {
        within("store.", [("compression", self.compression, 1..=19)])?;
        match (&*self.bucket, ObjectUrl::parse(&self.bucket)) {
            ("", _) | (_, Some(Ok(_))) => Ok(()),
            (_, Some(Err(fault))) => bail!("store.bucket: {fault}"),
            (other, None) => bail!(
                "store.bucket is `{other}`; write s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX, or \"\" for \
                 the home itself"
            ),
        }
    }

    /// The place of the data of pages and documents, if it is a bucket.
    pub fn bucket(&self) -> Option<ObjectUrl> {
        ObjectUrl::parse(&self.bucket)?.ok()
    }
}
