//! WARC, the format of web archives, and WET, its text-only variant.
//!
//! [`RecordReader`] reads records, [`PageReader`] the web pages among them, [`Writer`] writes records as gzip members.

mod pages;
mod read;
mod record;
mod stored;
mod write;

pub(crate) use pages::MAX_RECORD_BYTES;
pub use pages::{ArchivedPage, PageReader};
pub use read::{Position, RecordEvent, RecordReader};
pub use record::{Headers, HttpResponse, Record};
pub use stored::{PageRecords, target_uri};
pub use write::{Exchange, Writer};

#[cfg(test)]
mod testing {
    /// A WARC record as an archive holds it.
    pub(super) fn record(kind: &str, url: &str, block: &str) -> String {
        let length = block.len();
        let head = format!("WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Length: {length}");
        format!("{head}\r\n\r\n{block}\r\n\r\n")
    }
}
