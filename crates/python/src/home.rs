//! Pipelines: the work that commands do on a home, with progress and cancellation.
//!
//! Each function returns the outcome that the command prints with `--json`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tidings_pipeline::Pipeline;
use tidings_pipeline::cancel::{CancelToken, StopReason};
use tidings_pipeline::reporter::{Event, Reporter};
use tidings_pipeline::round::{RoundOptions, run_round};
use tidings_pipeline::stage::StageId;
use tidings_pipeline::{discover, export, health, import, init, takedown, why};
use tidings_store::{Home, candidates, feeds};

use crate::errors::failed;
use crate::home_options::{DiscoverCall, ExportCall, ImportCall, RemoveCall, RunCall};
use crate::worker::{self, Events};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("STAGES", StageId::ALL.iter().map(|stage| stage.name()).collect::<Vec<_>>())?;
    module.add_function(wrap_pyfunction!(home_create, module)?)?;
    module.add_function(wrap_pyfunction!(home_add_feeds, module)?)?;
    module.add_function(wrap_pyfunction!(home_call, module)?)
}

/// Creates a home, as `tidings init` does; existing files stay unchanged. Returns the names of the files it made.
#[pyfunction]
#[pyo3(signature = (path, contact=None, plan=None))]
fn home_create(
    py: Python<'_>,
    path: PathBuf,
    contact: Option<String>,
    plan: Option<PathBuf>,
) -> PyResult<Vec<&'static str>> {
    let options = init::Options { folder: path, plan, contact, ..init::Options::default() };
    py.detach(|| init::run(&options)).map(|outcome| outcome.made).map_err(failed)
}

/// Adds feeds to the list of a home. Returns those that were not in it before.
#[pyfunction]
fn home_add_feeds(
    py: Python<'_>,
    path: PathBuf,
    urls: Vec<String>,
    labels: Vec<(String, String)>,
) -> PyResult<Vec<String>> {
    let add = || -> Result<Vec<String>> {
        let home = Home::at(&path)?;
        let _lock = home.lock()?;
        let mut known: Vec<String> = feeds::list(&home)?.feeds.into_iter().map(|feed| feed.url).collect();
        let mut added = Vec::new();
        for url in urls {
            if tidings_feeds::discover::site(&url).is_none() || url.contains(['\t', '\n', '\r']) {
                bail!("`{url}` is not an http or https URL; add_feeds takes the URLs of feeds");
            }
            if !known.contains(&url) {
                known.push(url.clone());
                added.push(url);
            }
        }
        let label = |(name, value): &(String, String)| format!("\t{name}={}", value.replace(['\t', '\n', '\r'], " "));
        let labels: String = labels.iter().map(label).collect();
        let line = |url: &String| ("added from Python".to_owned(), format!("{url}{labels}"));
        candidates::append_feeds(&home, &added.iter().map(line).collect::<Vec<_>>())?;
        Ok(added)
    };
    py.detach(add).map_err(failed)
}

/// Does the work that a verb names, with options as JSON, and returns its outcome as JSON. `progress` is called with
/// each event as JSON, on this thread. Ctrl-C cancels the work as SIGINT does, and so does an exception of `progress`.
#[pyfunction]
#[pyo3(signature = (path, verb, options, progress=None))]
fn home_call(
    py: Python<'_>,
    path: PathBuf,
    verb: &str,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let call = Call::parse(verb, options).map_err(failed)?;
    let token = CancelToken::new();
    let cancel = token.clone();
    let work = move |events: Events<Result<String>>| -> Result<String> {
        let reporter = PythonReporter { events: Mutex::new(events), pace: Mutex::default() };
        let pipeline = Pipeline::open(&path)?.with_reporter(Arc::new(reporter)).with_cancel(token);
        call.run(pipeline)
    };
    let on_event = |event: Value| match &progress {
        Some(callback) => callback.call1((event.to_string(),)).map(drop),
        None => Ok(()),
    };
    let ended = worker::run(py, work, |cause| cancel.cancel(StopReason::Cancelled(cause.name().to_owned())), on_event)?;
    ended.map_err(failed)
}

/// A piece of work with its options.
enum Call {
    Run(RunCall),
    Import(ImportCall),
    Export(ExportCall),
    Discover(DiscoverCall),
    Status,
    Why(String),
    Remove(RemoveCall),
}

fn options_of<T: DeserializeOwned>(options: &str) -> Result<T> {
    serde_json::from_str(options).context("wrong options")
}

/// The outcome as `--json` prints it: a value first, which gives numbers their digits.
fn outcome(outcome: &impl Serialize) -> Result<String> {
    let value = serde_json::to_value(outcome).context("cannot write the outcome as JSON")?;
    Ok(value.to_string())
}

impl Call {
    fn parse(verb: &str, options: &str) -> Result<Call> {
        Ok(match verb {
            "run" => Call::Run(options_of(options)?),
            "import" => Call::Import(options_of(options)?),
            "export" => Call::Export(options_of(options)?),
            "discover" => Call::Discover(options_of(options)?),
            "status" => Call::Status,
            "why" => Call::Why(options_of(options)?),
            "remove" => Call::Remove(options_of(options)?),
            _ => bail!("no such work: {verb}"),
        })
    }

    fn run(self, pipeline: Pipeline) -> Result<String> {
        match self {
            Call::Run(call) => run_stages(&pipeline, call),
            Call::Import(call) => {
                let options = call.options()?;
                outcome(&import::run(&pipeline, &options)?)
            }
            Call::Export(call) => {
                let (options, target) = call.options()?;
                outcome(&export::run(&pipeline, &options, export::Destination::Path(target), &mut |_| {})?)
            }
            Call::Discover(call) => {
                let mut config = pipeline.config().clone();
                let options = call.options(&mut config);
                outcome(&discover::run(&pipeline.with_config(config), &options)?)
            }
            Call::Status => outcome(&health::status::status(&pipeline)?),
            Call::Why(thing) => outcome(&why::trace(&pipeline, &thing)?),
            Call::Remove(call) if call.dry_run => {
                let what = call.what.as_deref().ok_or_else(|| anyhow!("dry_run: give what to remove"))?;
                outcome(&takedown::preview(&pipeline, what, call.exports.as_deref())?)
            }
            Call::Remove(call) => outcome(&takedown::run(&pipeline, &call.options())?),
        }
    }
}

/// Runs a round of all stages, or of the given ones.
fn run_stages(pipeline: &Pipeline, call: RunCall) -> Result<String> {
    let _lock = pipeline.home().lock_rounds()?;
    let options = RoundOptions { from: None, stages: call.stages()?, time_limit: call.time_limit()? };
    outcome(&run_round(pipeline, &options, &|_| {}, &|_, _| {})?)
}

/// The minimum time between two reports of progress: the callback may be slow, and work must not wait for it.
const REPORT_EVERY: Duration = Duration::from_millis(50);

/// Sends events to the thread that called.
struct PythonReporter {
    events: Mutex<Events<Result<String>>>,
    pace: Mutex<Pace>,
}

/// The last report of progress, and a later one that is not sent yet.
#[derive(Default)]
struct Pace {
    stage: Option<StageId>,
    sent: Option<Instant>,
    waiting: Option<Value>,
}

impl PythonReporter {
    fn send(&self, event: Value) {
        self.events.lock().expect("no panic while held").send(event);
    }
}

impl Reporter for PythonReporter {
    fn event(&self, event: &Event<'_>) {
        let mut value = serde_json::to_value(event).unwrap_or_default();
        let mut pace = self.pace.lock().expect("no panic while held");
        match event {
            Event::StageBegan { stage } => pace.stage = Some(*stage),
            Event::Progress(_) => {
                value["stage"] = json!(pace.stage);
                if pace.sent.is_some_and(|sent| sent.elapsed() < REPORT_EVERY) {
                    pace.waiting = Some(value);
                    return;
                }
                pace.sent = Some(Instant::now());
                pace.waiting = None;
            }
            Event::ProgressEnded | Event::StageEnded { .. } => {
                pace.sent = None;
                if let Some(last) = pace.waiting.take() {
                    self.send(last);
                }
            }
        }
        drop(pace);
        self.send(value);
    }
}
