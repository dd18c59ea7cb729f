//! Events of a run and their receivers.
//!
//! Engines emit [`Event`]s; a [`Reporter`] displays them: progress bars, log lines, JSON objects, or nothing. The
//! library itself never writes to a terminal.

use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::stage::{StageId, StageOutcome};

/// Something that happened in a run.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event<'a> {
    /// A stage begins its work.
    StageBegan {
        /// The stage.
        stage: StageId,
    },
    /// Progress of the current work.
    Progress(Progress<'a>),
    /// The work of the last [`Event::Progress`] has ended.
    ProgressEnded,
    /// A stage has ended.
    StageEnded {
        /// The stage.
        stage: StageId,
        /// Its outcome.
        outcome: &'a StageOutcome,
    },
}

/// The progress of a piece of work.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Progress<'a> {
    /// The unit that is counted, such as `days`.
    pub unit: &'a str,
    /// Number of units done.
    pub done: u64,
    /// Total number of units; `None` if it is not known before the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// More, for people: a name, a rate.
    pub detail: &'a str,
}

impl fmt::Display for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.total {
            Some(total) => write!(f, "{} of {total} {}", self.done, self.unit),
            None => write!(f, "{} {}", self.done, self.unit),
        }
    }
}

/// Receives the events of runs.
pub trait Reporter: Send + Sync {
    /// Handles an event. Called from several threads and often; it must not block for long.
    fn event(&self, event: &Event<'_>);
}

/// Reports nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn event(&self, _: &Event<'_>) {}
}

/// Writes progress to the log, at most once in thirty seconds.
#[derive(Debug, Default)]
pub struct LogLines {
    spoken: Mutex<Option<Instant>>,
}

/// The minimum time between two progress lines in a log.
const LINE_EVERY: Duration = Duration::from_secs(30);

impl Reporter for LogLines {
    fn event(&self, event: &Event<'_>) {
        let mut spoken = self.spoken.lock().expect("no panic while held");
        match event {
            // The first line is delayed too: short runs need none.
            Event::Progress(_) if spoken.is_none() => *spoken = Some(Instant::now()),
            Event::Progress(progress) if spoken.is_some_and(|at| at.elapsed() >= LINE_EVERY) => {
                *spoken = Some(Instant::now());
                log::info!("{progress}, {}", progress.detail);
            }
            Event::ProgressEnded => *spoken = None,
            _ => {}
        }
    }
}

/// Writes every event as a line of JSON.
pub struct JsonLines<W>(Mutex<W>);

impl<W: Write> JsonLines<W> {
    /// Writes events to this writer.
    pub fn new(writer: W) -> JsonLines<W> {
        JsonLines(Mutex::new(writer))
    }
}

impl<W: Write + Send> Reporter for JsonLines<W> {
    fn event(&self, event: &Event<'_>) {
        let mut writer = self.0.lock().expect("no panic while held");
        // A closed pipe does not end a run.
        if serde_json::to_writer(&mut *writer, event).is_ok() {
            let _ = writer.write_all(b"\n");
        }
    }
}

/// Reports the progress of one piece of work, and its end on drop.
pub struct ProgressScope {
    reporter: Arc<dyn Reporter>,
    unit: &'static str,
    total: Option<u64>,
    done: AtomicU64,
}

impl ProgressScope {
    /// Begins to report work over `total` units.
    pub fn begin(reporter: &Arc<dyn Reporter>, unit: &'static str, total: u64) -> ProgressScope {
        let mut scope = ProgressScope::counting(reporter, unit);
        scope.set_total(total);
        scope
    }

    /// Begins to report work whose size is not known before its end.
    pub fn counting(reporter: &Arc<dyn Reporter>, unit: &'static str) -> ProgressScope {
        ProgressScope { reporter: reporter.clone(), unit, total: None, done: AtomicU64::new(0) }
    }

    /// Sets the number of units, if it is only known later.
    pub fn set_total(&mut self, total: u64) {
        self.total = Some(total);
    }

    /// Reports that this many units are done.
    pub fn show(&self, done: u64, detail: &str) {
        self.done.store(done, Ordering::Relaxed);
        self.report(done, detail);
    }

    /// Reports that some more units are done.
    pub fn advance(&self, units: u64, detail: &str) {
        let before = self.done.fetch_add(units, Ordering::Relaxed);
        self.report(before + units, detail);
    }

    fn report(&self, done: u64, detail: &str) {
        let done = self.total.map_or(done, |total| done.min(total));
        let progress = Progress { unit: self.unit, done, total: self.total, detail };
        self.reporter.event(&Event::Progress(progress));
    }
}

impl Drop for ProgressScope {
    fn drop(&mut self) {
        self.reporter.event(&Event::ProgressEnded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn events_become_lines_of_json() {
        let written = Shared::default();
        let reporter: Arc<dyn Reporter> = Arc::new(JsonLines::new(written.clone()));
        reporter.event(&Event::StageBegan { stage: StageId::Clean });
        ProgressScope::begin(&reporter, "days", 3).show(5, "2026-03-01");
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                r#"{"event":"stage-began","stage":"clean"}"#,
                r#"{"event":"progress","unit":"days","done":3,"total":3,"detail":"2026-03-01"}"#,
                r#"{"event":"progress-ended"}"#,
            ]
        );
    }

    #[test]
    fn the_end_of_a_stage_is_reported_with_its_outcome() {
        let written = Shared::default();
        let outcome = StageOutcome::Clean(Default::default());
        JsonLines::new(written.clone()).event(&Event::StageEnded { stage: StageId::Clean, outcome: &outcome });
        let line: serde_json::Value = serde_json::from_slice(&written.0.lock().unwrap()).unwrap();
        assert_eq!((&line["event"], &line["stage"]), (&"stage-ended".into(), &"clean".into()));
        assert_eq!(line["outcome"]["done"], false);
    }

    #[test]
    fn a_closed_pipe_does_not_end_a_run() {
        struct Closed;

        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }

        JsonLines::new(Closed).event(&Event::ProgressEnded);
    }

    #[test]
    fn a_total_set_later_bounds_the_progress() {
        let recorded = crate::testing::Recorded::shared();
        let reporter: Arc<dyn Reporter> = recorded.clone();
        let mut scope = ProgressScope::begin(&reporter, "days", 0);
        scope.show(2, "");
        scope.set_total(5);
        scope.show(2, "");
        drop(scope);
        assert_eq!(recorded.lines(), ["0 of 0 days", "2 of 5 days", "progress ended"]);
    }

    #[test]
    fn work_of_unknown_size_is_counted() {
        let recorded = crate::testing::Recorded::shared();
        let reporter: Arc<dyn Reporter> = recorded.clone();
        let scope = ProgressScope::counting(&reporter, "pages");
        scope.advance(3, "a.warc");
        scope.advance(4, "a.warc");
        assert_eq!(recorded.lines(), ["3 pages", "7 pages"]);
    }
}
