//! 64-bit fingerprints of URLs.
//!
//! The plan outgrows memory, so state about its entries during a run is keyed by fingerprint instead of URL.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::address;
use xxhash_rust::xxh3::xxh3_64;

/// A 64-bit fingerprint of the URL of an article or feed.
///
/// Among a billion URLs a collision has a probability of about 3 %; a lookup of one new URL among a billion gives a
/// false positive about once in 18 billion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// The fingerprint of a URL. It is normalised first, so that plans written by other programs match.
    pub fn of(address: &str) -> Fingerprint {
        if address::is_decorated(address)
            && let Some(plain) = address::normalise(address, None)
        {
            return Fingerprint(xxh3_64(plain.as_bytes()));
        }
        Fingerprint(xxh3_64(address.as_bytes()))
    }
}

impl Fingerprint {
    /// The fingerprints that version 0.1.0 gave a normalised URL, in the forms in which it may have stored it.
    pub fn earlier(address: &str) -> impl Iterator<Item = Fingerprint> {
        address::earlier_forms(address).into_iter().map(|form| Fingerprint(xxh3_64(form.as_bytes())))
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

/// A map keyed by fingerprints.
pub type FingerprintMap<V> = HashMap<Fingerprint, V, BuildHasherDefault<AlreadyHashed>>;
/// A set of fingerprints.
pub type FingerprintSet = HashSet<Fingerprint, BuildHasherDefault<AlreadyHashed>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_with_tracking_parameters_has_the_fingerprint_of_the_plain_one() {
        assert_eq!(Fingerprint::of("http://e.org/a?utm_source=b#c"), Fingerprint::of("http://e.org/a"));
        assert_ne!(Fingerprint::of("http://e.org/a?x=1"), Fingerprint::of("http://e.org/a"));
    }

    #[test]
    fn a_url_in_the_form_of_an_earlier_version_has_the_fingerprint_of_the_normal_one() {
        let (old, new) = ("http://e.org/%7eada/%c3%a9", "http://e.org/~ada/%C3%A9");
        assert_eq!(Fingerprint::of(old), Fingerprint::of(new));
        assert!(Fingerprint::earlier(new).any(|earlier| earlier == Fingerprint(xxh3_64(old.as_bytes()))));
    }
}
