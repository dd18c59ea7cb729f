//! The corpus index: immutable, memory-mapped segments of annotated documents.
//!
//! An index is a folder with a [manifest](Snapshot) that lists its files, an append-only
//! [lexicon](lexicon::Lexicon), and [segments](segment::Segment) of documents sorted by day: a
//! forward index (token column) and an inverted index (delta-coded, bit-packed posting lists). A
//! [`Writer`] adds and deletes documents at a cost proportional to the change, and merges segments;
//! a [`Snapshot`] is one generation, which never changes.
//!
//! ```
//! use tidings_index::{Settings, Snapshot, Writer, lexicon::Layer};
//! use tidings_formats::vertical::Reader;
//!
//! let folder = tempfile::tempdir().unwrap();
//! let text = "<doc id=\"a\" date=\"2026-03-01\" site=\"e.org\">\n<p>\n<s>\nRain\train\tNOUN\n<g/>\n!\t!\tPUNCT\n</s>\n</p>\n</doc>\n";
//! let mut writer = Writer::open(folder.path(), Settings::default()).unwrap();
//! writer.read(&mut Reader::new(text.as_bytes(), "day.vert".as_ref())).unwrap();
//! writer.commit(Vec::new()).unwrap();
//!
//! let index = Snapshot::open(folder.path()).unwrap();
//! let segment = index.segments()[0].segment();
//! assert_eq!(index.lexicon().text(segment.lexeme_at(0), Layer::Lemma), "rain");
//! assert!(segment.no_space_before(1));
//! assert_eq!(segment.field("site").unwrap().of(0), "e.org");
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

#[cfg(test)]
extern crate self as tidings_index;

/// Version of how text is indexed: increased whenever the same text gives different answers.
/// Manifests record it, so that an upgrade rebuilds an index only when it must. File formats have
/// their own versions.
pub const BEHAVIOUR_VERSION: u32 = 1;

mod block_sums;
mod casefold;
mod checked;
pub mod codec;
mod error;
mod freeze;
pub mod lexicon;
mod manifest;
mod sections;
pub mod segment;
mod snapshot;
mod writer;

pub use block_sums::has_block_sums;
pub use casefold::look_up_key;
pub use checked::CheckedSlice;
pub use error::{Error, Result};
pub use freeze::freeze;
pub use manifest::Input;
pub use segment::Segment;
pub use snapshot::{LiveSegment, Snapshot};
pub use tidings_mapped::FileState;
pub use tidings_model::Day;

pub use writer::{Deletion, Settings, Writer, build};

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
