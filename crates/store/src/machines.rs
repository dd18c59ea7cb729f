//! Domains that changed their machine in a harvest on several ones, in `state/machines.tsv`.
//!
//! By its name, each registered domain belongs to one machine. A domain whose IP address belongs to another one is
//! handed over to it, once; a domain that was asked stays where it was asked.

use std::collections::BTreeMap;

use tidings_storage::write_atomic;

use crate::error::Result;
use crate::home::Home;
use crate::table::{self, columns};

/// A registered domain with its machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DomainOwner {
    /// The domain.
    pub domain: String,
    /// The machine that has it.
    pub machine: String,
    /// Whether that machine was told: `yes`, or empty.
    pub told: String,
}

columns!(DomainOwner { domain, machine, told });

/// The rows by domain.
pub fn read(home: &Home) -> Result<BTreeMap<String, DomainOwner>> {
    let mut rows = BTreeMap::new();
    table::read(&home.state("machines.tsv"), |row: DomainOwner| {
        rows.insert(row.domain.clone(), row);
    })?;
    Ok(rows)
}

/// Replaces all rows.
pub fn write(home: &Home, rows: BTreeMap<String, DomainOwner>) -> Result<()> {
    Ok(write_atomic(&home.state("machines.tsv"), table::text(rows.into_values()).as_bytes())?)
}
