//! Virtual corpora: filters with names, in `corpora.tsv`.

use crate::disk;
use crate::error::Result;
use crate::home::Home;
use crate::table::{self, Tabular};

/// A filter with a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The filter, as text.
    pub filter: String,
}

impl Tabular for Named {
    const COLUMNS: &'static [&'static str] = &["name", "filter"];

    fn fields(&self) -> Vec<String> {
        vec![self.name.clone(), self.filter.clone()]
    }

    fn from_fields(field: &dyn Fn(&str) -> String) -> Named {
        Named { name: field("name"), filter: field("filter") }
    }
}

/// All that are named.
pub fn read(home: &Home) -> Result<Vec<Named>> {
    let mut known = Vec::new();
    table::read(&home.root().join("corpora.tsv"), |named| known.push(named))?;
    Ok(known)
}

/// Makes these all that are named.
pub fn write(home: &Home, known: Vec<Named>) -> Result<()> {
    disk::write_whole(&home.root().join("corpora.tsv"), table::text(known.into_iter()).as_bytes())
}
