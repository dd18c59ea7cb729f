//! Documents that must not be shown: addresses and ids in `hidden.tsv`, one a line.

use std::collections::BTreeSet;

use crate::disk;
use crate::error::Result;
use crate::home::Home;
use crate::table::{self, Tabular};

/// A document that is hidden: its address, or its id.
struct Hidden(String);

impl Tabular for Hidden {
    const COLUMNS: &'static [&'static str] = &["document"];

    fn fields(&self) -> Vec<String> {
        vec![self.0.clone()]
    }

    fn from_fields(field: &dyn Fn(&str) -> String) -> Hidden {
        Hidden(field("document"))
    }
}

/// All that are hidden.
pub fn read(home: &Home) -> Result<BTreeSet<String>> {
    let mut hidden = BTreeSet::new();
    table::read(&home.root().join("hidden.tsv"), |row: Hidden| {
        hidden.insert(row.0);
    })?;
    Ok(hidden)
}

/// Makes these all that are hidden.
pub fn write(home: &Home, hidden: &BTreeSet<String>) -> Result<()> {
    let rows = hidden.iter().cloned().map(Hidden);
    disk::write_whole(&home.root().join("hidden.tsv"), table::text(rows).as_bytes())
}
