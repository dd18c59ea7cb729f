//! Questions to the index of a home, answered as the HTTP API answers them.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyLookupError, PyOSError, PyPermissionError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;
use tidings_pipeline::config::Config;
use tidings_pipeline::corpus::Corpus;
use tidings_pipeline::guard::guarded;
use tidings_pipeline::usage_error::UsageError;
use tidings_pipeline::{document_pairs, frozen, neologisms, virtual_corpora};
use tidings_query::engine::{Engine, Limits};
use tidings_query::question::{
    Answered, Availability, CorpusRow, Cursor, FrozenState, Privacy, QuestionContext, QuestionError, QuestionInfo,
    RowData, RowSink, Values, given,
};
use tidings_query::trend::Bin;
use tidings_store::day_stats::DayStatsCache;
use tidings_store::{Home, digest, text};

use crate::errors::{InternalError, TidingsError, failed, internal_error};
use crate::table::question;
use crate::worker::{self, STACK_BYTES};

/// The time limit of searches if none is given, as on the command line. Lists and tests over the whole vocabulary have
/// none: a part of them has no result.
const SEARCH_TIME_LIMIT: Duration = Duration::from_secs(60);
/// Size of a chunk of rows, and how many may be queued: the memory of a stream, however many rows it has.
const CHUNK_BYTES: usize = 64 << 10;
const QUEUED_CHUNKS: usize = 4;
/// The most compressed text that is read for a checksum, which takes seconds; `tidings digest` stores those of larger
/// corpora.
const MAX_UNREAD_BYTES: u64 = 256 << 20;
/// Rows that were found are passed on after this time, however few they are.
const CHUNK_TIME: Duration = Duration::from_millis(100);

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CorpusFiles>()?;
    module.add_class::<RowStream>()?;
    module.add_function(wrap_pyfunction!(indexed_languages, module)?)
}

/// The languages of a home that have an index.
#[pyfunction]
fn indexed_languages(py: Python<'_>, path: PathBuf) -> PyResult<Vec<String>> {
    py.detach(|| Ok(Home::at(&path)?.indexed()?)).map_err(failed)
}

/// The index of one language of a home.
#[pyclass(frozen, module = "tidings._tidings")]
struct CorpusFiles {
    index: Arc<OpenIndex>,
}

/// An open index with what its answers depend on.
struct OpenIndex {
    home: Home,
    language: String,
    engine: Mutex<Arc<Engine>>,
    default_availability: Availability,
    /// The frozen state that is asked instead of the newest generation.
    frozen: Option<FrozenState>,
}

/// A question with its checked parameters.
#[derive(Clone)]
struct Asked {
    question: &'static QuestionInfo,
    values: Values,
}

#[pymethods]
impl CorpusFiles {
    #[new]
    #[pyo3(signature = (path, language=None, as_of=None))]
    fn new(py: Python<'_>, path: PathBuf, language: Option<String>, as_of: Option<String>) -> PyResult<CorpusFiles> {
        let open = || -> anyhow::Result<OpenIndex> {
            let home = Home::at(&path)?;
            let default_availability = Config::of_home(&home)?.serve.settings()?.default_availability;
            let Corpus { language, engine, frozen } = Corpus::open_as_of(&home, language.as_deref(), as_of.as_deref())?;
            Ok(OpenIndex { home, language, engine: Mutex::new(Arc::new(engine)), default_availability, frozen })
        };
        // A state that there is not is a wrong key, as a language that there is not.
        let index = py.detach(open).map_err(|error| match error.is::<UsageError>() {
            true => PyLookupError::new_err(error.to_string()),
            false => failed(error),
        })?;
        Ok(CorpusFiles { index: Arc::new(index) })
    }

    /// The language.
    #[getter]
    fn language(&self) -> &str {
        &self.index.language
    }

    /// The state, checksum, size and annotation of the corpus as JSON, as the HTTP API lists them.
    fn about(&self, py: Python<'_>) -> PyResult<String> {
        let index = self.index.clone();
        let work = move |_| -> anyhow::Result<String> {
            let engine = index.newest()?;
            let digest = digest::of_languages(&index.home, MAX_UNREAD_BYTES)?.unwrap_or_default();
            let layers = text::layers(&index.home)?;
            let (language, layers) = (&index.language, layers.get(&index.language));
            let digest = match &index.frozen {
                Some(frozen) => frozen.digest.clone(),
                None => digest.get(language).cloned(),
            };
            let states = frozen::list(&index.home)?.into_iter().filter(|row| row.corpus == *language);
            let states = states.map(|row| frozen::frozen_state(&row.record)).collect();
            let about = CorpusRow { frozen: states, ..CorpusRow::new(language, &engine, digest, layers) };
            engine.intact()?;
            Ok(serde_json::to_string(&about)?)
        };
        worker::run(py, work, |_| (), |_| Ok(()))?.map_err(failed)
    }

    /// The answer to a question as JSON. Parameters are texts, as in an address of the HTTP API.
    #[pyo3(signature = (question_name, parameters, time_limit=None))]
    fn answer(
        &self,
        py: Python<'_>,
        question_name: &str,
        parameters: Vec<(String, String)>,
        time_limit: Option<f64>,
    ) -> PyResult<String> {
        let asked = Asked::check(question(question_name)?, parameters)?;
        let cancelled = Arc::new(AtomicBool::new(false));
        let (limits, vocabulary_limits) = limits(time_limit, Some(SEARCH_TIME_LIMIT), &cancelled)?;
        let index = self.index.clone();
        let work = move |_| -> Result<String, QuestionFailure> {
            let engine = index.newest()?;
            asked.check_cursor(&engine)?;
            let link = asked.link(&index.language, index.frozen.as_ref().map(|frozen| frozen.name.as_str()))?;
            let answered = index.with(&engine, (limits, vocabulary_limits), false, |context| {
                (asked.question.answer)(asked.values, context)
            })?;
            let mut answer = serde_json::to_value(answered).expect("answers serialise");
            answer["link"] = link.into();
            Ok(answer.to_string())
        };
        let cancel = |_| cancelled.store(true, Ordering::Relaxed);
        worker::run(py, work, cancel, |_| Ok(()))?.map_err(PyErr::from)
    }

    /// The rows of the answer to a question as they are found. There is no time limit unless one is given.
    #[pyo3(signature = (question_name, parameters, time_limit=None))]
    fn stream(
        &self,
        py: Python<'_>,
        question_name: &str,
        parameters: Vec<(String, String)>,
        time_limit: Option<f64>,
    ) -> PyResult<RowStream> {
        let asked = Asked::check(question(question_name)?, parameters)?;
        let cancelled = Arc::new(AtomicBool::new(false));
        let limits = limits(time_limit, None, &cancelled)?;
        let (sender, receiver) = sync_channel(QUEUED_CHUNKS);
        let index = self.index.clone();
        let work = move || {
            let mut sink = ChunkSink { sender, rows: Vec::new(), sent: Instant::now() };
            let answered = guarded(|| {
                let engine = index.newest()?;
                asked.check_cursor(&engine)?;
                let ask = |context: &QuestionContext<'_>| (asked.question.stream)(asked.values, context, &mut sink);
                index.with(&engine, limits, true, ask)
            });
            let _ = sink.send_rows();
            let ended = answered.unwrap_or(Err(QuestionFailure::Panicked));
            if let Err(error) = ended {
                let _ = sink.sender.send(Chunk::Failed(error));
            }
        };
        let thread = std::thread::Builder::new().name("tidings-rows".to_owned()).stack_size(STACK_BYTES).spawn(work);
        drop(thread.map_err(|error| PyOSError::new_err(format!("cannot start a thread: {error}")))?);
        let stream = RowStream { receiver: Mutex::new(Some(receiver)), head: Mutex::default(), cancelled };
        stream.read_head(py)?;
        Ok(stream)
    }
}

/// The limits of searches, and those of lists and tests over the vocabulary.
fn limits(given: Option<f64>, usual: Option<Duration>, cancelled: &Arc<AtomicBool>) -> PyResult<(Limits, Limits)> {
    let wrong = |_| PyValueError::new_err("time_limit: give seconds");
    let given = given.map(Duration::try_from_secs_f64).transpose().map_err(wrong)?;
    let within =
        |limit: Option<Duration>| match limit.and_then(|limit| Some((Instant::now().checked_add(limit)?, limit))) {
            Some((until, limit)) => Limits::until_or_cancelled(until, limit, cancelled.clone()),
            None => Limits::cancelled_by(cancelled.clone()),
        };
    let limits = within(given.or(usual));
    let vocabulary_limits = if given.is_some() { limits.clone() } else { within(None) };
    Ok((limits, vocabulary_limits))
}

impl OpenIndex {
    /// The engine over the newest generation of the index.
    fn newest(&self) -> anyhow::Result<Arc<Engine>> {
        let folder = match &self.frozen {
            Some(frozen) => tidings_store::frozen::index_of(&self.home, &self.language, &frozen.name),
            None => self.home.index_of(&self.language),
        };
        let mut engine = self.engine.lock().expect("no panic while held");
        if !engine.snapshot().is_newest(&folder)? {
            *engine = Arc::new(Engine::new(engine.snapshot().refresh(&folder)?));
        }
        Ok(engine.clone())
    }

    /// Passes the corpus to a question, with the rights of the owner of the home.
    fn with<T>(
        &self,
        engine: &Engine,
        (limits, vocabulary_limits): (Limits, Limits),
        streams: bool,
        ask: impl FnOnce(&QuestionContext<'_>) -> Result<T, QuestionError>,
    ) -> Result<T, QuestionFailure> {
        let find_filter = |name: &str| {
            let not_found =
                |error: anyhow::Error| QuestionError::NotFound { parameter: "in", message: format!("{error:#}") };
            virtual_corpora::find(&self.home, name).map_err(not_found)
        };
        let find_decisions = || {
            let broken = |error: anyhow::Error| QuestionError::Request(format!("{error:#}"));
            neologisms::decisions(&self.home, &self.language).map_err(broken)
        };
        let find_other = |code: &str| {
            let not_found =
                |error: anyhow::Error| QuestionError::NotFound { parameter: "to", message: format!("{error:#}") };
            let as_of = self.frozen.as_ref().map(|frozen| frozen.name.as_str());
            document_pairs::other_corpus(&self.home, code, as_of).map_err(not_found)
        };
        let run_days = |bins: &[Bin]| {
            let mut days = DayStatsCache::default();
            days.refresh(&self.home).ok()?;
            days.days_with_runs(bins.iter().map(|bin| (bin.first.to_string(), bin.last.to_string())))
        };
        // A takedown may have changed the state since the corpus was opened.
        let record = match &self.frozen {
            Some(known) => {
                tidings_store::frozen::read(&self.home, &self.language, &known.name).map_err(anyhow::Error::from)?
            }
            None => None,
        };
        let frozen = record.as_ref().map(frozen::frozen_state);
        let context = QuestionContext {
            limits,
            vocabulary_limits,
            privacy: Privacy::owner(self.default_availability),
            find_filter: &find_filter,
            find_decisions: &find_decisions,
            find_other: &find_other,
            run_days: &run_days,
            streams,
            frozen: frozen.as_ref(),
            ..QuestionContext::new(engine, &self.language)
        };
        Ok(ask(&context)?)
    }
}

impl Asked {
    /// Checks parameters as the HTTP API does.
    fn check(question: &'static QuestionInfo, given: Vec<(String, String)>) -> Result<Asked, QuestionFailure> {
        let parameters = (question.parameters)();
        let mut values = Values::new();
        for (name, text) in given {
            let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
                let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
                let message = format!("unknown parameter `{name}`; available: {}", known.join(", "));
                return Err(QuestionError::Request(message).into());
            };
            let value = parameter.parse(&text).map_err(|error| QuestionError::of_value(parameter, &text, error))?;
            values.insert(name, value);
        }
        if let Some(missing) = parameters.iter().find(|known| known.required && !values.contains_key(&known.name)) {
            let message = format!("{} is missing: {}", missing.name, missing.help);
            return Err(QuestionError::Parameter { parameter: missing.name.clone().into(), message }.into());
        }
        Ok(Asked { question, values })
    }

    /// Refuses a cursor of another generation of the index, whose rows may have other numbers.
    fn check_cursor(&self, engine: &Engine) -> Result<(), QuestionFailure> {
        let Some(text) = self.values.get("cursor").and_then(Value::as_str) else { return Ok(()) };
        let cursor: Cursor = text.parse()?;
        if cursor.generation == engine.snapshot().generation() {
            return Ok(());
        }
        let message = "the corpus has changed since this cursor was issued; request the first page again";
        Err(QuestionError::parameter("cursor", message).into())
    }

    /// The address of the HTTP API that asks the same, in one order and without defaults.
    fn link(&self, language: &str, as_of: Option<&str>) -> Result<String, QuestionFailure> {
        let (canonical, _) = (self.question.canonical)(self.values.clone())?;
        let mut path = format!("/api/v1/{language}/{}", self.question.path);
        let mut parameters = (self.question.parameters)();
        parameters.retain(|parameter| {
            let brace = format!("{{{}}}", parameter.name);
            let is_in_path = path.contains(&brace);
            path = path.replace(&brace, canonical[&parameter.name].as_str().unwrap_or_default());
            !is_in_path
        });
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        given(&parameters, &canonical).iter().for_each(|(name, text)| _ = query.append_pair(name, text));
        as_of.into_iter().for_each(|name| _ = query.append_pair("as_of", name));
        let query = query.finish();
        Ok(if query.is_empty() { path } else { format!("{path}?{query}") })
    }
}

/// The reason why there is no answer.
#[derive(Debug)]
enum QuestionFailure {
    Question(QuestionError),
    Files(anyhow::Error),
    Panicked,
}

impl From<QuestionError> for QuestionFailure {
    fn from(error: QuestionError) -> QuestionFailure {
        QuestionFailure::Question(error)
    }
}

impl From<anyhow::Error> for QuestionFailure {
    fn from(error: anyhow::Error) -> QuestionFailure {
        QuestionFailure::Files(error)
    }
}

impl From<QuestionFailure> for PyErr {
    fn from(failure: QuestionFailure) -> PyErr {
        let error = match failure {
            QuestionFailure::Question(error) => error,
            QuestionFailure::Files(error) => return failed(error),
            QuestionFailure::Panicked => return internal_error(),
        };
        let message = error.to_string();
        match error {
            QuestionError::Parameter { .. }
            | QuestionError::Syntax { .. }
            | QuestionError::TooLarge { .. }
            | QuestionError::Request(_) => PyValueError::new_err(message),
            QuestionError::NotFound { .. } => PyLookupError::new_err(message),
            QuestionError::Forbidden { .. } => PyPermissionError::new_err(message),
            QuestionError::Timeout
            | QuestionError::Engine(_)
            | QuestionError::Shard { .. }
            | QuestionError::ShardsChanged
            | QuestionError::NotMerged(_) => TidingsError::new_err(message),
        }
    }
}

/// A part of a streamed answer.
enum Chunk {
    /// The answer without rows, as JSON.
    Head(String),
    /// Rows as lines of JSON.
    Rows(Vec<u8>),
    Failed(QuestionFailure),
}

/// Collects rows into chunks. It waits while the queue is full, and breaks when the reader has gone.
struct ChunkSink {
    sender: SyncSender<Chunk>,
    rows: Vec<u8>,
    sent: Instant,
}

impl ChunkSink {
    fn send_rows(&mut self) -> ControlFlow<()> {
        self.sent = Instant::now();
        if self.rows.is_empty() {
            return ControlFlow::Continue(());
        }
        let rows = std::mem::take(&mut self.rows);
        if self.sender.send(Chunk::Rows(rows)).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

impl RowSink for ChunkSink {
    fn head(&mut self, head: Answered<Value>) {
        let head = serde_json::to_string(&head).expect("answers serialise");
        let _ = self.sender.send(Chunk::Head(head));
    }

    fn row(&mut self, row: &dyn RowData) -> ControlFlow<()> {
        row.write_json(&mut self.rows);
        self.rows.push(b'\n');
        if self.rows.len() < CHUNK_BYTES && self.sent.elapsed() < CHUNK_TIME {
            return ControlFlow::Continue(());
        }
        self.send_rows()
    }
}

/// The rows of an answer, in chunks of JSON lines.
#[pyclass(frozen, module = "tidings._tidings")]
struct RowStream {
    receiver: Mutex<Option<Receiver<Chunk>>>,
    head: Mutex<String>,
    cancelled: Arc<AtomicBool>,
}

impl Drop for RowStream {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl RowStream {
    fn next_chunk(&self, py: Python<'_>) -> PyResult<Option<Chunk>> {
        let mut place = self
            .receiver
            .try_lock()
            .map_err(|_| PyRuntimeError::new_err("the rows of an answer can be read by one thread at a time"))?;
        let Some(receiver) = place.take() else { return Ok(None) };
        let (receiver, chunk) = worker::next(py, receiver)?;
        match chunk {
            Some(Chunk::Failed(failure)) => Err(failure.into()),
            Some(chunk) => {
                *place = Some(receiver);
                Ok(Some(chunk))
            }
            None => Ok(None),
        }
    }

    fn read_head(&self, py: Python<'_>) -> PyResult<()> {
        match self.next_chunk(py)? {
            Some(Chunk::Head(head)) => {
                *self.head.lock().expect("no panic while held") = head;
                Ok(())
            }
            _ => Err(InternalError::new_err("a stream has no head")),
        }
    }
}

#[pymethods]
impl RowStream {
    /// The answer without its rows, as JSON.
    #[getter]
    fn head(&self) -> String {
        self.head.lock().expect("no panic while held").clone()
    }

    /// Ends the search. Later chunks are not read.
    fn close(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
        if let Ok(mut receiver) = self.receiver.try_lock() {
            receiver.take();
        }
    }

    fn __iter__(stream: PyRef<'_, RowStream>) -> PyRef<'_, RowStream> {
        stream
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        loop {
            match self.next_chunk(py)? {
                Some(Chunk::Rows(rows)) => return Ok(Some(PyBytes::new(py, &rows))),
                Some(Chunk::Head(_)) => {}
                Some(Chunk::Failed(failure)) => return Err(failure.into()),
                None => return Ok(None),
            }
        }
    }
}
