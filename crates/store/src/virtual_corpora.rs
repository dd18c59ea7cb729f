//! Virtual corpora: filters with names, in `corpora.tsv`.

use tidings_storage::write_atomic;

use crate::error::Result;
use crate::home::Home;
use crate::table::{self, columns};

/// A filter with a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VirtualCorpus {
    /// The name.
    pub name: String,
    /// The filter, as text.
    pub filter: String,
}

columns!(VirtualCorpus { name, filter });

/// All virtual corpora.
pub fn read(home: &Home) -> Result<Vec<VirtualCorpus>> {
    let mut known = Vec::new();
    table::read(&home.root().join("corpora.tsv"), |named| known.push(named))?;
    Ok(known)
}

/// Replaces all virtual corpora.
pub fn write(home: &Home, known: Vec<VirtualCorpus>) -> Result<()> {
    Ok(write_atomic(&home.root().join("corpora.tsv"), table::text(known.into_iter()).as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    #[test]
    fn filters_are_stored_by_name() {
        let (_folder, home) = home();
        assert!(read(&home).unwrap().is_empty());
        let corpus = |name: &str, filter: &str| VirtualCorpus { name: name.into(), filter: filter.into() };
        let known = vec![corpus("north", "site=\"a.example\"\tlang=de"), corpus("all", "")];
        write(&home, known.clone()).unwrap();
        assert_eq!(read(&home).unwrap(), known);
    }
}
