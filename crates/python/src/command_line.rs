//! The command `tidings`.

use std::ffi::OsString;

use pyo3::prelude::*;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(main, module)?)
}

/// Runs the command line with these arguments, the program's name first, and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    crate::logging::leave_to_command_line();
    py.detach(|| tidings_cli::main(arguments))
}
