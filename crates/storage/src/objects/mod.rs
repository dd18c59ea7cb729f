//! Object stores: S3, Google Cloud Storage and Azure behind blocking functions with bounded memory.
//!
//! | file | content |
//! |---|---|
//! | `bucket.rs` | [`Bucket`]: read ranges, list, put, put only if absent, delete |
//! | `reader.rs` | [`ObjectReader`], a stream over ranges that goes on after broken connections |
//! | `upload.rs` | [`Upload`], a stream into an object that appears when it is published |
//! | `http.rs` | connections |
//! | `credentials.rs` | profiles in `~/.aws`; all other credentials come from the environment |
//! | `fault.rs` | [`ObjectFault`]: which request failed, why, and what to do |
//! | `absent.rs` | the same functions in a program without the feature `object-storage`, where they fail |

#[cfg(not(feature = "object-storage"))]
mod absent;
#[cfg(feature = "object-storage")]
mod bucket;
#[cfg(feature = "object-storage")]
mod credentials;
mod fault;
#[cfg(feature = "object-storage")]
mod http;
#[cfg(feature = "object-storage")]
mod reader;
#[cfg(feature = "object-storage")]
mod runtime;
#[cfg(feature = "object-storage")]
mod upload;

use std::time::SystemTime;

#[cfg(not(feature = "object-storage"))]
pub use absent::{Bucket, ObjectReader, Upload};
#[cfg(feature = "object-storage")]
pub use bucket::Bucket;
pub use fault::{ObjectFailure, ObjectFault, about};
#[cfg(feature = "object-storage")]
pub use reader::ObjectReader;
#[cfg(feature = "object-storage")]
pub use upload::Upload;

/// An object of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectAbout {
    /// Its key in the bucket.
    pub key: String,
    /// Its size.
    pub bytes: u64,
    /// The time of its last change.
    pub modified: SystemTime,
    /// The tag of its content, which changes when it is replaced.
    pub tag: Option<String>,
}
