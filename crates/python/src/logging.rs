//! Log lines of the pipeline in Python's `logging`.
//!
//! The module `tidings_pipeline::round` logs as `tidings.pipeline.round`, with Python's levels. Before each piece of work
//! the level of the logger `tidings` becomes the limit here, so that lines no handler wants cost nothing: they are
//! neither formatted nor wait for the interpreter lock.

use std::sync::atomic::{AtomicBool, Ordering};

use log::{Level, LevelFilter, Log, Metadata, Record};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Python's number of a level; it has no name for `Trace`.
const fn python_level(level: Level) -> u8 {
    match level {
        Level::Error => 40,
        Level::Warn => 30,
        Level::Info => 20,
        Level::Debug => 10,
        Level::Trace => 5,
    }
}

/// The most verbose level that a logger with this number passes on.
fn filter_of(number: u8) -> LevelFilter {
    let wanted = Level::iter().filter(|level| python_level(*level) >= number);
    wanted.map(|level| level.to_level_filter()).max().unwrap_or(LevelFilter::Off)
}

/// Set when this process runs the command line, which prints messages itself.
static COMMAND_LINE: AtomicBool = AtomicBool::new(false);

struct PythonLogger;

impl Log for PythonLogger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        match COMMAND_LINE.load(Ordering::Relaxed) {
            true => tidings_cli::logger().enabled(metadata),
            false => metadata.target().starts_with("tidings"),
        }
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        if COMMAND_LINE.load(Ordering::Relaxed) {
            return tidings_cli::logger().log(record);
        }
        let name = record.target().replacen('_', ".", 1).replace("::", ".");
        let message = record.args().to_string();
        // None while the interpreter ends. A handler that fails reports it itself, and stops no run.
        let _ = Python::try_attach(|py| -> PyResult<()> {
            let logger = get_logger(py)?.call1((name,))?;
            logger.call_method1("log", (python_level(record.level()), "%s", message)).map(drop)
        });
    }

    fn flush(&self) {}
}

fn get_logger(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static GET_LOGGER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    GET_LOGGER.import(py, "logging", "getLogger")
}

/// Passes log lines on from now on. Python's default shows warnings and errors.
pub fn install() {
    if log::set_logger(&PythonLogger).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
}

/// Takes over the level of the logger `tidings`.
pub fn follow_level(py: Python<'_>) -> PyResult<()> {
    let number: i64 = get_logger(py)?.call1(("tidings",))?.call_method0("getEffectiveLevel")?.extract()?;
    log::set_max_level(filter_of(number.clamp(0, i64::from(u8::MAX)) as u8));
    Ok(())
}

/// Leaves messages to the command line, which sets its level itself.
pub fn leave_to_command_line() {
    COMMAND_LINE.store(true, Ordering::Relaxed);
}
