//! Gold annotation and scores of annotation layers.

pub mod archive;
pub mod foreign;
pub mod frequent;
pub mod marked;
pub mod names;
pub mod quotations;
