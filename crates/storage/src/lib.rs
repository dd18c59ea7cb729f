//! Durable storage: the operations by which bytes survive a power failure, behind one interface.
//!
//! | file | content |
//! |---|---|
//! | `storage.rs` | [`Storage`], an object-safe trait over keys such as `docs/de/2026-03-01.jsonl.zst` |
//! | `local.rs` | [`LocalStorage`], its implementation over a folder |
//! | [`objects`](mod@objects) | buckets of S3, Google Cloud Storage and Azure (feature `object-storage`) |
//! | `object_url.rs` | [`ObjectUrl`], such as `s3://corpora/news` |
//! | `pointer.rs` | [`Pointer`], a small file that stands for an object |
//! | `source.rs` | [`Source`], input that is a file or an object |
//! | `bucketed.rs` | [`BucketPrefix`], the data of files of a home in a bucket |
//! | `overlay.rs` | [`OverlayStorage`], in which some folders are a draft in another place |
//! | [`file`](mod@file) | the operations on local paths below it: [`AtomicFile`], [`Appender`], rename, remove, sync |
//! | `crash.rs` | crash injection for tests |
//!
//! Raw pages, documents, recipes and exports use [`Storage`], so that an object store can hold them. Locks, journals,
//! scratch files and memory-mapped indexes need a local file system and use [`file`](mod@file) directly. Growing files
//! are drafted locally and moved to the storage by [`Storage::publish_file`].
//!
//! ```
//! use tidings_storage::{LocalStorage, Storage};
//!
//! let folder = std::env::temp_dir().join(format!("tidings-storage-{}", std::process::id()));
//! let storage = LocalStorage::new(&folder);
//! storage.put_atomic("docs/de/2026-03-01.txt", b"Regen\n")?;
//! assert_eq!(storage.read_range("docs/de/2026-03-01.txt", 0..3)?, b"Reg");
//! assert_eq!(storage.list("docs/de")?, ["docs/de/2026-03-01.txt"]);
//! storage.remove("docs/de/2026-03-01.txt")?;
//! assert!(storage.stat("docs/de/2026-03-01.txt")?.is_none());
//! # std::fs::remove_dir_all(&folder).ok();
//! # Ok::<(), tidings_storage::Error>(())
//! ```

mod bucketed;
mod crash;
mod error;
pub mod file;
mod local;
mod object_url;
pub mod objects;
mod overlay;
mod pointer;
pub mod source;
mod storage;

pub use bucketed::{BucketPrefix, Swept};
pub use error::{Error, Result};
pub use file::{Appender, AtomicFile, write_atomic};
pub use local::LocalStorage;
pub use object_url::{ObjectUrl, Scheme, is_object};
pub use overlay::OverlayStorage;
pub use pointer::{Pointer, may_be_pointer};
pub use source::Source;
pub use storage::{AtomicWrite, Stat, Storage};
