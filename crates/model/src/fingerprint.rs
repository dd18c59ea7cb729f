//! Eight bytes that stand for an address.
//!
//! The plan outgrows memory long before a corpus is finished. What must be remembered about each
//! of its entries while a run lasts is remembered under a fingerprint, never under the address.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::address;
use xxhash_rust::xxh3::xxh3_64;

/// A 64-bit fingerprint of an article's or a feed's address.
///
/// Two of a billion addresses share one with a chance of about three in a hundred, and one page
/// in a billion billion lookups would be taken for a known one: rarer than a server's own errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// The fingerprint of an address. Decorations do not count, so that plans written by other
    /// programs, which keep them, still match.
    pub fn of(address: &str) -> Fingerprint {
        if address::is_decorated(address)
            && let Some(plain) = address::normalise(address, None)
        {
            return Fingerprint(xxh3_64(plain.as_bytes()));
        }
        Fingerprint(xxh3_64(address.as_bytes()))
    }
}

/// A hasher for keys that are hashes already.
#[derive(Default)]
pub struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// A map from fingerprints.
pub type FingerprintMap<V> = HashMap<Fingerprint, V, BuildHasherDefault<AlreadyHashed>>;
/// A set of fingerprints.
pub type FingerprintSet = HashSet<Fingerprint, BuildHasherDefault<AlreadyHashed>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decorated_address_has_the_fingerprint_of_the_plain_one() {
        assert_eq!(Fingerprint::of("http://e.org/a?utm_source=b#c"), Fingerprint::of("http://e.org/a"));
        assert_ne!(Fingerprint::of("http://e.org/a?x=1"), Fingerprint::of("http://e.org/a"));
    }
}
