//! Short names of layers and spans.

use std::fmt;

/// The maximum length of a name in bytes.
const MAX_BYTES: usize = 32;

/// The name of a layer, a span or an attribute of spans: up to 32 ASCII letters, digits and underscores. It is copied like
/// a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// ASCII, padded with zeros.
    bytes: [u8; MAX_BYTES],
}

impl Name {
    /// The name of a text, if it can be one.
    pub fn new(text: &str) -> Option<Name> {
        let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name || !(1..=MAX_BYTES).contains(&text.len()) {
            return None;
        }
        let mut bytes = [0; MAX_BYTES];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Some(Name { bytes })
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        let end = self.bytes.iter().position(|byte| *byte == 0).unwrap_or(MAX_BYTES);
        std::str::from_utf8(&self.bytes[..end]).unwrap_or_default()
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
