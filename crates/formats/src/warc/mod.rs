//! WARC, the format of web archives, and WET, its text-only sibling.
//!
//! [`RecordReader`] gives records, [`PageReader`] the web pages among them, [`Writer`] writes records as gzip members.

mod pages;
mod read;
mod record;
mod write;

pub(crate) use pages::MAX_RECORD_BYTES;
pub use pages::{ArchivedPage, PageReader};
pub use read::{Position, RecordEvent, RecordReader};
pub use record::{Headers, HttpResponse, Record};
pub use write::{Exchange, PageRecords, Writer};
