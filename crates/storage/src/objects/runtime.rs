//! The threads that wait for object stores, so that the rest of the program need not be asynchronous.

use std::future::Future;
use std::sync::{LazyLock, mpsc};

use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("object-storage")
        .enable_all()
        .build()
        .expect("the system has threads")
});

/// A request in progress.
pub(super) struct Pending<T>(mpsc::Receiver<T>);

/// Starts a request.
pub(super) fn start<T: Send + 'static>(request: impl Future<Output = T> + Send + 'static) -> Pending<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    RUNTIME.spawn(async move {
        // Nobody waits for a range that was read ahead of a seek.
        let _ = sender.send(request.await);
    });
    Pending(receiver)
}

impl<T> Pending<T> {
    /// Waits for its end. Unlike `Runtime::block_on` this works in threads of other runtimes.
    pub(super) fn wait(self) -> T {
        self.0.recv().expect("requests do not panic")
    }
}

/// Makes a request and waits for its end.
pub(super) fn wait<T: Send + 'static>(request: impl Future<Output = T> + Send + 'static) -> T {
    start(request).wait()
}
