//! Doors in: what other programs wrote, read as it lies there.
//!
//! Whatever comes through a door was written by strangers. It may be larger than memory, cut off, damaged, or made to
//! do harm; every reader here has a limit in bytes, and a record that cannot be used costs itself. What came in is
//! entered in a [`ledger`], so that an import that was stopped goes on where it was and one that is repeated does
//! nothing.

pub mod by_language;
pub mod conllu;
pub mod ledger;
mod members;
pub mod records;
pub mod zip;
