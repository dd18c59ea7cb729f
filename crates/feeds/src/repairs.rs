//! The set of repairs made while parsing.
//!
//! A defect may occur a million times in one document but is reported once, so this is a bit set.

use tidings_model::Repair;

const ALL: [Repair; 18] = [
    Repair::Mislabelled,
    Repair::BadBytes,
    Repair::ControlCharacters,
    Repair::LeadingJunk,
    Repair::Escaped,
    Repair::BareAmpersand,
    Repair::BareLessThan,
    Repair::UnknownEntity,
    Repair::BrokenTag,
    Repair::StrayEndTag,
    Repair::MissingEndTag,
    Repair::BrokenCdata,
    Repair::BrokenComment,
    Repair::UndeclaredPrefix,
    Repair::Truncated,
    Repair::LooseJson,
    Repair::LimitReached,
    Repair::TooManyEntries,
];

/// A set of repairs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Repairs(u32);

impl Repairs {
    /// Adds a repair.
    pub(crate) fn add(&mut self, repair: Repair) {
        self.0 |= 1 << repair as u32;
    }

    /// Adds all repairs of another set.
    pub(crate) fn extend(&mut self, other: Repairs) {
        self.0 |= other.0;
    }

    /// The repairs in the order of the enumeration.
    pub(crate) fn list(self) -> Vec<Repair> {
        ALL.into_iter().filter(|repair| self.0 & (1 << *repair as u32) != 0).collect()
    }
}
