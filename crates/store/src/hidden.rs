//! Hidden documents: URLs and ids in `hidden.tsv`, one per line.

use std::collections::BTreeSet;
use tidings_storage::write_atomic;

use crate::error::Result;
use crate::home::Home;
use crate::table::{self, columns};

/// A document that is hidden: its address, or its id.
#[derive(Default)]
struct Hidden(String);

columns!(Hidden { "document" = 0 });

/// All hidden documents.
pub fn read(home: &Home) -> Result<BTreeSet<String>> {
    let mut hidden = BTreeSet::new();
    table::read(&home.root().join("hidden.tsv"), |row: Hidden| {
        hidden.insert(row.0);
    })?;
    Ok(hidden)
}

/// Replaces the list of hidden documents.
pub fn write(home: &Home, hidden: &BTreeSet<String>) -> Result<()> {
    let rows = hidden.iter().cloned().map(Hidden);
    Ok(write_atomic(&home.root().join("hidden.tsv"), table::text(rows).as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    #[test]
    fn hidden_documents_are_written_and_read_as_a_list() {
        let (_folder, home) = home();
        assert!(read(&home).unwrap().is_empty());
        for names in [&["b", "a\tb"][..], &["c"], &[]] {
            let hidden: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
            write(&home, &hidden).unwrap();
            assert_eq!(read(&home).unwrap(), hidden);
        }
    }
}
