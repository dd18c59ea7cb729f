//! Signals: SIGINT and SIGTERM cancel the work of this process, SIGHUP reloads settings.
//!
//! A handler replaces the default action for the rest of the process, so one thread handles signals for all stages,
//! from the first command that can be cancelled.

use std::sync::{LazyLock, Once};
use std::time::Instant;

use tidings_pipeline::cancel::{CancelToken, StopReason};
use tokio::signal::unix::{Signal, SignalKind, signal};

static TOKEN: LazyLock<CancelToken> = LazyLock::new(CancelToken::new);
static LISTENING: Once = Once::new();

/// The token that SIGINT and SIGTERM cancel from now on. A second signal ends the process, and so does the end of the
/// [grace period](CancelToken::grace).
pub fn cancel_token() -> &'static CancelToken {
    LISTENING.call_once(listen);
    &TOKEN
}

/// Calls `reload` at each SIGHUP from now on, instead of ending the process.
pub fn on_hangup(mut reload: impl FnMut() + Send + 'static) {
    on_thread(async move {
        let mut hangup = signals(SignalKind::hangup());
        while hangup.recv().await.is_some() {
            reload();
        }
    });
}

fn listen() {
    // Callers may rely on the handlers once this returns.
    let (ready, is_ready) = std::sync::mpsc::channel();
    on_thread(async move {
        let (mut interrupt, mut terminate) = (signals(SignalKind::interrupt()), signals(SignalKind::terminate()));
        let _ = ready.send(());
        let mut deadline: Option<Instant> = None;
        loop {
            let too_late = async {
                match deadline {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            let name = tokio::select! {
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
                () = too_late => {
                    log::info!("grace period over: unfinished work is discarded; the next run repeats it");
                    std::process::exit(1);
                }
            };
            if TOKEN.is_cancelled() {
                // Journals and temporary files make this safe.
                std::process::exit(1);
            }
            log::info!("{name}: finishing the current work; a second signal stops at once");
            deadline = TOKEN.grace().map(|grace| Instant::now() + grace);
            TOKEN.cancel(StopReason::Cancelled(name.to_owned()));
        }
    });
    let _ = is_ready.recv();
}

fn signals(kind: SignalKind) -> Signal {
    signal(kind).expect("signal handlers can be installed")
}

fn on_thread(listening: impl Future<Output = ()> + Send + 'static) {
    let listen = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a current-thread runtime starts").block_on(listening);
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen).expect("a thread can be started");
}
