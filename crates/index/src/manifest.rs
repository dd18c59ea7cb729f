//! The manifest: the list of files of one generation of the index.
//!
//! It consists of a line of JSON and a line with its digest, and is replaced by rename. Index files
//! in the folder that it does not list are left over from an interrupted writer.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tidings_storage::AtomicFile;
use tidings_storage::file::remove;
use xxhash_rust::xxh3::xxh3_64;

use crate::block_sums::ENDING;
use crate::error::{Error, IoContext, Result, damaged};
use crate::lexicon::DeclaredLayers;

const NAME: &str = "MANIFEST";
const FORMAT: &str = "tidings index ";
const VERSION: u32 = 1;

/// Files of one generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: String,
    /// Behaviour version that built the index; see [`BEHAVIOUR_VERSION`](crate::BEHAVIOUR_VERSION).
    #[serde(default = "first_version", skip_serializing_if = "is_first_version")]
    pub(crate) behaviour: u32,
    /// Number of changes of the index.
    pub(crate) generation: u64,
    /// Number in the name of the next file; never reused.
    pub(crate) next_file: u64,
    /// Lexicon segments, oldest first.
    pub(crate) lexicon: Vec<String>,
    /// Layers besides those of every index.
    #[serde(default, skip_serializing_if = "DeclaredLayers::is_empty")]
    pub(crate) layers: DeclaredLayers,
    /// Segments in the order in which they were written.
    pub(crate) segments: Vec<SegmentEntry>,
    /// Input files.
    pub(crate) inputs: Vec<Input>,
}

/// Behaviour version of manifests without the field.
fn first_version() -> u32 {
    1
}

fn is_first_version(version: &u32) -> bool {
    *version == first_version()
}

/// A segment in the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentEntry {
    pub(crate) file: String,
    pub(crate) tokens: u64,
    /// The file with its deleted documents.
    #[serde(default, rename = "removed", skip_serializing_if = "Option::is_none")]
    pub(crate) deleted: Option<String>,
}

/// Input file of the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Path in the home.
    pub file: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Digest.
    pub xxh3: String,
}

impl Default for Manifest {
    fn default() -> Manifest {
        Manifest {
            format: format!("{FORMAT}{VERSION}"),
            behaviour: crate::BEHAVIOUR_VERSION,
            generation: 0,
            next_file: 1,
            lexicon: Vec::new(),
            layers: DeclaredLayers::default(),
            segments: Vec::new(),
            inputs: Vec::new(),
        }
    }
}

impl Manifest {
    /// Reads the manifest of a folder; `None` if there is none.
    pub(crate) fn read(folder: &Path) -> Result<Option<Manifest>> {
        let path = folder.join(NAME);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => return Err(Error::Foreign { path }),
            Err(error) => return Err(error).context("read", &path),
        };
        let (json, digest) = text.trim_end().split_once('\n').unwrap_or((&text, ""));
        let as_value: Option<serde_json::Value> = serde_json::from_str(json).ok();
        let format = as_value.as_ref().and_then(|value| value.get("format")?.as_str()?.strip_prefix(FORMAT));
        let Some(version) = format.and_then(|version| version.parse::<u32>().ok()) else {
            return Err(Error::Foreign { path });
        };
        if version > VERSION {
            return Err(Error::Newer { path, found: version, known: VERSION });
        }
        if format!("{:016x}", xxh3_64(json.as_bytes())) != digest {
            return damaged(&path, "digest mismatch");
        }
        let manifest: Manifest = match serde_json::from_str(json) {
            Ok(manifest) => manifest,
            Err(fault) => return damaged(&path, fault.to_string()),
        };
        if manifest.files().any(|name| name.contains(['/', '\\'])) {
            return damaged(&path, "it lists files outside of the folder");
        }
        if !manifest.layers.is_sound() {
            return damaged(&path, "it declares layers with wrong names");
        }
        Ok(Some(manifest))
    }

    /// Publishes this manifest in a folder.
    pub(crate) fn publish(&self, folder: &Path) -> Result<()> {
        let json = serde_json::to_string(self).expect("plain values");
        let mut draft = AtomicFile::create(&folder.join(NAME))?;
        draft.write(format!("{json}\n{:016x}\n", xxh3_64(json.as_bytes())).as_bytes())?;
        Ok(draft.publish()?)
    }

    /// All listed files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        let deleted = self.segments.iter().filter_map(|segment| segment.deleted.as_deref());
        let segments = self.segments.iter().map(|segment| segment.file.as_str());
        self.lexicon.iter().map(String::as_str).chain(segments).chain(deleted)
    }

    /// Name of a new file.
    pub(crate) fn new_name(&mut self, ending: &str) -> String {
        self.next_file += 1;
        format!("{:06}.{ending}", self.next_file - 1)
    }

    /// Removes index files that are not listed.
    pub(crate) fn sweep(&self, folder: &Path) -> Result<()> {
        for entry in std::fs::read_dir(folder).context("list", folder)? {
            let path = entry.context("list", folder)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_ours =
                [".segment", ".lexicon", ".removed", ".tmp", ENDING].iter().any(|ending| name.ends_with(ending));
            // Digests of blocks belong to the file before their ending.
            let listed = name.strip_suffix(ENDING).unwrap_or(name);
            if is_ours && !self.files().any(|known| known == listed) {
                remove(&path)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
