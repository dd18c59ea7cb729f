//! Work on a thread of its own, while the calling thread watches for signals and passes events on to Python.
//!
//! Python handles signals on its main thread between two byte codes. A long call into Rust would not notice Ctrl-C, so
//! the caller waits in short steps and asks the interpreter between them. Events arrive on the calling thread, too: a
//! progress bar is drawn by the thread that made it.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use serde_json::Value;
use tidings_pipeline::guard::{Panicked, guarded};

use crate::errors::internal_error;
use crate::logging;

/// The interval between two looks at the signals.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The stack of a thread: that of the main thread of a program.
pub const STACK_BYTES: usize = 8 << 20;

/// The cause of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelCause {
    /// Ctrl-C.
    Interrupt,
    /// The callback raised an exception.
    Callback,
}

impl CancelCause {
    /// The cause as outcomes name it.
    pub fn name(self) -> &'static str {
        match self {
            CancelCause::Interrupt => "SIGINT",
            CancelCause::Callback => "an exception of the progress callback",
        }
    }
}

enum Message<T> {
    Event(Value),
    Ended(Result<T, Panicked>),
}

/// Sends events of the work to the calling thread.
pub struct Events<T>(Sender<Message<T>>);

impl<T> Clone for Events<T> {
    fn clone(&self) -> Events<T> {
        Events(self.0.clone())
    }
}

impl<T> Events<T> {
    /// Sends an event; it is dropped if the caller has gone.
    pub fn send(&self, event: Value) {
        let _ = self.0.send(Message::Event(event));
    }
}

/// Runs `work` on another thread and waits for its end. After Ctrl-C or an exception of `on_event`, `cancel` is called,
/// the work is awaited, and the exception is raised. A second Ctrl-C does not wait: the work ends by itself.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(Events<T>) -> T + Send + 'static,
    cancel: impl Fn(CancelCause),
    mut on_event: impl FnMut(Value) -> PyResult<()>,
) -> PyResult<T> {
    logging::follow_level(py)?;
    let (sender, mut receiver) = mpsc::channel();
    let events = Events(sender.clone());
    let on_thread = move || {
        let ended = guarded(|| work(events));
        let _ = sender.send(Message::Ended(ended));
    };
    let thread = std::thread::Builder::new().name("tidings".to_owned()).stack_size(STACK_BYTES).spawn(on_thread);
    drop(thread.map_err(|error| PyOSError::new_err(format!("cannot start a thread: {error}")))?);
    let mut raised: Option<PyErr> = None;
    loop {
        let message;
        (receiver, message) = wait(py, receiver);
        match message {
            Ok(Message::Ended(ended)) => {
                let ended = ended.map_err(|_| internal_error());
                return raised.map_or(ended, Err);
            }
            Ok(Message::Event(event)) if raised.is_none() => {
                if let Err(error) = on_event(event) {
                    cancel(CancelCause::Callback);
                    raised = Some(error);
                }
            }
            Ok(Message::Event(_)) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(internal_error()),
        }
        if let Err(interrupt) = py.check_signals() {
            if raised.is_some() {
                return Err(interrupt);
            }
            cancel(CancelCause::Interrupt);
            raised = Some(interrupt);
        }
    }
}

/// Waits for a message without the interpreter lock.
fn wait<M: Send>(py: Python<'_>, receiver: Receiver<M>) -> (Receiver<M>, Result<M, RecvTimeoutError>) {
    py.detach(move || {
        let message = receiver.recv_timeout(LOOK_EVERY);
        (receiver, message)
    })
}

/// Waits for a message without the interpreter lock until a signal arrives; `None` if the sender has gone.
pub fn next<M: Send>(py: Python<'_>, mut receiver: Receiver<M>) -> PyResult<(Receiver<M>, Option<M>)> {
    loop {
        let message;
        (receiver, message) = wait(py, receiver);
        match message {
            Ok(message) => return Ok((receiver, Some(message))),
            Err(RecvTimeoutError::Disconnected) => return Ok((receiver, None)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
        }
    }
}
