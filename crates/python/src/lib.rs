//! The Python package `tidings`: texts, batches, corpora and pipelines, and the command line.
//!
//! The extension module `tidings._tidings` is thin: it converts arguments and results, and releases the interpreter lock
//! around all work. What a function does is defined by the crates below; the Python files beside it (`python/tidings`)
//! hold what is written better in Python.

mod arrow_io;
mod batch;
mod columns;
mod command_line;
mod corpus;
mod deduper;
mod document;
mod engine;
mod errors;
mod feeds;
mod home;
mod home_options;
mod logging;
mod table;
mod text;
mod worker;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
fn _tidings(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    logging::install();
    batch::register(module)?;
    command_line::register(module)?;
    corpus::register(module)?;
    errors::register(module)?;
    home::register(module)?;
    table::register(module)?;
    deduper::register(module)?;
    engine::register(module)?;
    feeds::register(module)?;
    text::register(module)?;
    Ok(())
}
