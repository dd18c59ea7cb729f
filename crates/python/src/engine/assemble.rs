//! The home that takes files that were cleaned elsewhere.

use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::Context as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tidings_pipeline::Pipeline;
use tidings_pipeline::stage::clean::CleanedFile;
use tidings_pipeline::stage::clean::assemble;
use tidings_store::file_frames::PartitionFrames;

use crate::errors::{detached, failed, internal_error};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Assembler>()
}

/// A locked home that takes cleaned files day by day.
#[pyclass(frozen, module = "tidings._tidings")]
struct Assembler(Mutex<Option<assemble::Assembler>>);

impl Assembler {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut assemble::Assembler) -> anyhow::Result<T> + Send,
    ) -> PyResult<T> {
        detached(py, || {
            let mut held = self.0.lock().map_err(|_| internal_error())?;
            let assembler = held.as_mut().ok_or_else(|| PyValueError::new_err("the assembler is closed"))?;
            work(assembler).map_err(failed)
        })?
    }
}

#[pymethods]
impl Assembler {
    #[new]
    fn new(py: Python<'_>, home: PathBuf) -> PyResult<Assembler> {
        let open = || assemble::Assembler::open(&Pipeline::open(&home)?);
        Ok(Assembler(Mutex::new(Some(detached(py, open)?.map_err(failed)?))))
    }

    /// The days that are to be cleaned, with their files of pages in order.
    fn due(&self, py: Python<'_>) -> PyResult<Vec<(String, Vec<String>)>> {
        self.with(py, |assembler| assembler.due())
    }

    /// Begins a day.
    fn begin(&self, py: Python<'_>, day: &str) -> PyResult<()> {
        self.with(py, |assembler| assembler.begin(day))
    }

    /// Adds the next file of the day: its summary and the partition, lines and frames of each part.
    fn add(&self, py: Python<'_>, summary: &str, frames: Vec<(String, u64, Vec<u8>)>) -> PyResult<()> {
        self.with(py, |assembler| {
            let file: CleanedFile = serde_json::from_str(summary).context("not a file that Tidings cleaned")?;
            let part = |(partition, lines, frames)| PartitionFrames { partition, lines, frames };
            assembler.add(file, frames.into_iter().map(part).collect())
        })
    }

    /// Publishes the day; returns its pages.
    fn publish(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |assembler| Ok(assembler.publish()?.pages))
    }

    /// Ends the work and unlocks the home; returns the outcome as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let ended = detached(py, || {
            let mut held = self.0.lock().map_err(|_| internal_error())?;
            let assembler = held.take().ok_or_else(|| PyValueError::new_err("the assembler is closed"))?;
            assembler.finish().map_err(failed)
        })??;
        serde_json::to_string(&ended).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Drops what was not published, and unlocks the home.
    fn close(&self) {
        if let Ok(mut held) = self.0.lock() {
            drop(held.take());
        }
    }
}
