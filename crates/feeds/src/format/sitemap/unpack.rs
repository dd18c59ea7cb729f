//! Decompression of gzip files up to the limit of the protocol.

use std::borrow::Cow;
use std::io::Read as _;

use tidings_model::Repair;

use super::MAX_BYTES;
use crate::repairs::Repairs;

/// The content of a body, unpacked if it is a gzip file; `None` if nothing of it can be unpacked. A damaged or overlong
/// file is read up to the damage or the limit.
pub(super) fn unpack<'a>(body: &'a [u8], repairs: &mut Repairs) -> Option<Cow<'a, [u8]>> {
    if !body.starts_with(&[0x1f, 0x8b]) {
        let cut = body.len().min(MAX_BYTES);
        if cut < body.len() {
            repairs.add(Repair::LimitReached);
        }
        return Some(Cow::Borrowed(&body[..cut]));
    }
    let mut bytes = Vec::new();
    let mut stream = flate2::read::MultiGzDecoder::new(body).take(MAX_BYTES as u64 + 1);
    if stream.read_to_end(&mut bytes).is_err() {
        if bytes.is_empty() {
            return None;
        }
        repairs.add(Repair::Truncated);
    }
    if bytes.len() > MAX_BYTES {
        repairs.add(Repair::LimitReached);
        bytes.truncate(MAX_BYTES);
    }
    // A file that was packed twice is not unpacked again: its content is not a sitemap.
    Some(Cow::Owned(bytes))
}
