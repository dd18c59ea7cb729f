//! Exceptions, and the guard that turns a panic into one.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use tidings_pipeline::guard::{Panicked, guarded};

create_exception!(tidings, TidingsError, PyException, "Work that Tidings could not do.");
create_exception!(tidings, InternalError, PyRuntimeError, "A bug in Tidings; please report it.");

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("TidingsError", module.py().get_type::<TidingsError>())?;
    module.add("InternalError", module.py().get_type::<InternalError>())?;
    module.add_function(wrap_pyfunction!(panic_for_tests, module)?)
}

/// The exception for a panic.
pub fn internal_error() -> PyErr {
    InternalError::new_err(Panicked.to_string())
}

/// The exception for an error of the pipeline: `OSError` for files, else `TidingsError`.
pub fn failed(error: anyhow::Error) -> PyErr {
    // The message of the store has the remedy of the command line.
    if let Some(tidings_store::Error::NoHome { start }) = error.chain().find_map(|cause| cause.downcast_ref()) {
        return TidingsError::new_err(format!(
            "{} is not a Tidings home (no tidings.toml here or above); create one with tidings.Home.create({:?})",
            start.display(),
            start.display().to_string()
        ));
    }
    let message = format!("{error:#}");
    match error.chain().any(|cause| cause.is::<std::io::Error>()) {
        true => PyOSError::new_err(message),
        false => TidingsError::new_err(message),
    }
}

/// Runs work without the interpreter lock. A panic becomes an `InternalError`.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| guarded(work)).map_err(|_| internal_error())
}

/// Panics, to test the guard.
#[pyfunction]
#[pyo3(name = "_panic")]
fn panic_for_tests(py: Python<'_>) -> PyResult<()> {
    detached(py, || panic!("a test of the panic guard"))
}
