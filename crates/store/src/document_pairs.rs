//! Pairs of documents that are translations of each other, in `pairs.tsv`.

use std::collections::BTreeMap;

use tidings_storage::write_atomic;

use crate::error::Result;
use crate::home::Home;
use crate::table::{self, columns};

/// The most pairs of a home.
pub const MAX_PAIRS: usize = 5_000_000;

/// Two documents that are translations of each other, by their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentPair {
    /// The lesser id.
    one: u128,
    /// The greater id.
    other: u128,
}

impl DocumentPair {
    /// The pair of two documents, whichever comes first; nothing for a document and itself.
    pub fn new(one: u128, other: u128) -> Option<DocumentPair> {
        (one != other).then(|| DocumentPair { one: one.min(other), other: one.max(other) })
    }

    /// Both ids.
    pub fn ids(self) -> (u128, u128) {
        (self.one, self.other)
    }
}

/// Where a pair comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairOrigin {
    /// Each page names the other as its version in another language.
    Links,
    /// The user.
    Given,
}

impl PairOrigin {
    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            PairOrigin::Links => "links",
            PairOrigin::Given => "given",
        }
    }
}

/// A line of the file.
#[derive(Debug, Default)]
struct Line {
    one: String,
    other: String,
    origin: String,
}

columns!(Line { one, other, origin });

/// All pairs with their origin.
pub fn read(home: &Home) -> Result<BTreeMap<DocumentPair, PairOrigin>> {
    let mut known = BTreeMap::new();
    let id = |text: &str| u128::from_str_radix(text, 16).ok();
    table::read(&home.root().join("pairs.tsv"), |line: Line| {
        // The file may be edited: a line that is no pair is none.
        let (Some(one), Some(other)) = (id(&line.one), id(&line.other)) else { return };
        let Some(pair) = DocumentPair::new(one, other).filter(|_| known.len() < MAX_PAIRS) else { return };
        let origin = if line.origin == PairOrigin::Links.name() { PairOrigin::Links } else { PairOrigin::Given };
        known.insert(pair, origin);
    })?;
    Ok(known)
}

/// Replaces all pairs.
pub fn write(home: &Home, known: &BTreeMap<DocumentPair, PairOrigin>) -> Result<()> {
    let lines = known.iter().map(|(pair, origin)| Line {
        one: format!("{:032x}", pair.one),
        other: format!("{:032x}", pair.other),
        origin: origin.name().to_owned(),
    });
    Ok(write_atomic(&home.root().join("pairs.tsv"), table::text(lines).as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    #[test]
    fn pairs_are_stored_in_either_order_and_once() {
        let (_folder, home) = home();
        assert!(read(&home).unwrap().is_empty());
        let pairs = [DocumentPair::new(7, 3).unwrap(), DocumentPair::new(3, 7).unwrap()];
        assert_eq!(pairs[0], pairs[1]);
        assert!(DocumentPair::new(3, 3).is_none());
        let known =
            BTreeMap::from([(pairs[0], PairOrigin::Links), (DocumentPair::new(9, 8).unwrap(), PairOrigin::Given)]);
        write(&home, &known).unwrap();
        assert_eq!(read(&home).unwrap(), known);
    }

    #[test]
    fn lines_that_are_no_pairs_are_left_out() {
        let (_folder, home) = home();
        let text = "one\tother\torigin\nx\t2\tlinks\n3\t3\tlinks\n4\t5\tsomewhere\n";
        std::fs::write(home.root().join("pairs.tsv"), text).unwrap();
        assert_eq!(read(&home).unwrap(), BTreeMap::from([(DocumentPair::new(4, 5).unwrap(), PairOrigin::Given)]));
    }
}
