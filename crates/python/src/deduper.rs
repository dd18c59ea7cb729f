//! Duplicate detection over a stream of documents.

use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tidings_dedup::Scope;
use tidings_pipeline::filter::MAX_LINE_BYTES;
use tidings_pipeline::filter::dedup::{LineJudge, Mark};

use crate::errors::{detached, failed, internal_error};
use crate::text::check_size;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Deduper>()
}

/// The state of a deduplicator, for the Python class of this name.
#[pyclass(frozen, module = "tidings._tidings")]
struct Deduper(Mutex<LineJudge>);

/// The verdict on a unit as a tuple: kept, why, share, of.
type MarkRow = (bool, Option<&'static str>, f32, Option<String>);

#[pymethods]
impl Deduper {
    #[new]
    #[pyo3(signature = (rule, scope, memory_mib))]
    fn new(py: Python<'_>, rule: String, scope: &str, memory_mib: u32) -> PyResult<Deduper> {
        if !(1..=1_000_000).contains(&memory_mib) {
            return Err(PyValueError::new_err("memory_mib must be from 1 to 1000000"));
        }
        let scope: Scope = scope.parse().map_err(|error: String| PyValueError::new_err(error))?;
        let Some(rule) = tidings_dedup::preset(&rule).map(|preset| preset.rule) else {
            let known = tidings_dedup::PRESETS.map(|preset| preset.name).join(", ");
            return Err(PyValueError::new_err(format!("unknown rule {rule:?}; known rules: {known}")));
        };
        let judge = detached(py, || LineJudge::new(rule, scope, (memory_mib as usize) << 20))?;
        Ok(Deduper(Mutex::new(judge.map_err(failed)?)))
    }

    /// Judges a document given as a line of JSON: verdicts on paragraphs and sentences, words, removed words.
    fn judge(&self, py: Python<'_>, line: &[u8]) -> PyResult<(Vec<MarkRow>, Vec<MarkRow>, usize, usize)> {
        check_size("the document", line.len(), MAX_LINE_BYTES)?;
        let judged = detached(py, || {
            // A judge that panicked may have stored half a document.
            let mut judge = self.0.lock().map_err(|_| internal_error())?;
            let document = judge.parse(line.to_vec()).map_err(|fault| PyValueError::new_err(fault.error))?;
            judge.judge(&document).map_err(failed)
        })?;
        let verdict = judged?;
        let rows = |units: &[tidings_dedup::UnitVerdict]| {
            let row = |unit: &tidings_dedup::UnitVerdict| {
                let mark = Mark::new(unit, &verdict);
                (mark.kept, mark.why.map(tidings_dedup::MatchKind::name), mark.share, mark.of.map(str::to_owned))
            };
            units.iter().map(row).collect()
        };
        Ok((rows(&verdict.paragraphs), rows(&verdict.sentences), verdict.words, verdict.removed))
    }
}
