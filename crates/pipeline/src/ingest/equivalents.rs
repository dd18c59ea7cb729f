//! Entries of the plan whose URLs are equal by RFC 3986: version 0.1.0 stored them as several.

use tidings_model::{Fingerprint, FingerprintSet, address};

/// Finds the due entries that another entry stands for. Only URLs that may be equal to others are remembered, which are
/// few.
#[derive(Default)]
pub struct Equivalents {
    settled: FingerprintSet,
    due: Vec<(Fingerprint, String)>,
}

impl Equivalents {
    /// Notes an entry that is not fetched.
    pub fn settle(&mut self, url: &str) {
        if address::may_have_equivalents(url) {
            self.settled.insert(Fingerprint::of(url));
        }
    }

    /// Keeps a due entry back until all others are known; false if its URL can have no equal.
    pub fn hold(&mut self, url: &str, line: impl FnOnce() -> String) -> bool {
        let is_held = address::may_have_equivalents(url);
        if is_held {
            self.due.push((Fingerprint::of(url), line()));
        }
        is_held
    }

    /// The due entries that were kept back and that no other entry stands for, in the order of the plan.
    pub fn unique(self) -> impl Iterator<Item = String> {
        let mut known = self.settled;
        self.due.into_iter().filter(move |(fingerprint, _)| known.insert(*fingerprint)).map(|(_, line)| line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_urls_one_is_fetched_and_none_if_one_was() {
        let mut entries = Equivalents::default();
        let hold = |entries: &mut Equivalents, url: &str| entries.hold(url, || url.to_owned());
        assert!(hold(&mut entries, "http://e.org/%7eada"));
        assert!(hold(&mut entries, "http://e.org/~bob"));
        assert!(hold(&mut entries, "http://e.org/%7Ebob"));
        assert!(hold(&mut entries, "http://e.org/a;jsessionid=1"));
        assert!(hold(&mut entries, "http://e.org/a;jsessionid=2"));
        assert!(!hold(&mut entries, "http://e.org/plain"));
        entries.settle("http://e.org/~ada");
        assert_eq!(entries.unique().collect::<Vec<_>>(), ["http://e.org/~bob", "http://e.org/a;jsessionid=1"]);
    }
}
