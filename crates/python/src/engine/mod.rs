//! Functions for tasks of a cluster: files of pages, documents, lines and keys as Arrow batches.
//!
//! `python/tidings/spark` calls them inside the tasks of an engine. Nothing here depends on the order of rows.

mod assemble;
mod counts;
mod dedup;
mod lines;
mod pages;

use pyo3::prelude::*;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    assemble::register(module)?;
    counts::register(module)?;
    dedup::register(module)?;
    lines::register(module)?;
    pages::register(module)
}
