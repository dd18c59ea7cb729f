//! What the process is told from outside: to end, or to read its settings again.
//!
//! Signals belong to the process and not to a stage: once somebody waits for one, its usual effect is gone for
//! good, also for the stages that follow in the same process. So one thread listens, from the first time that
//! somebody cares, and remembers what it heard.

use std::sync::{Condvar, Mutex, Once};
use std::time::{Duration, Instant};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::session::{Stop, Stopper};

/// What was heard.
struct Heard {
    /// The signal by which somebody asked for an end.
    end: Option<&'static str>,
    /// Whose work ends then.
    stopper: Option<Stopper>,
    /// How long the work may take to notice. What it then has in hand is given up: it can be done again.
    grace: Option<Duration>,
}

static HEARD: Mutex<Heard> = Mutex::new(Heard { end: None, stopper: None, grace: None });
static SOMETHING: Condvar = Condvar::new();
static LISTENING: Once = Once::new();

/// Lets SIGINT and SIGTERM end some work, instead of the process; the second of them ends that too. Work that cannot
/// notice soon, but that is safe to cut, names a time of grace.
pub fn heed(stopper: &Stopper, grace: Option<Duration>) {
    let mut heard = HEARD.lock().expect("no panic while held");
    heard.stopper = Some(stopper.clone());
    heard.grace = grace;
    if let Some(name) = heard.end {
        stopper.stop(Stop::Signal(name));
    }
    drop(heard);
    LISTENING.call_once(|| listen(SignalKind::interrupt(), SignalKind::terminate()));
}

/// The signal by which somebody asked for an end, if one did.
pub fn asked_to_end() -> Option<&'static str> {
    HEARD.lock().expect("no panic while held").end
}

/// Waits for so long, or until somebody asks for an end; tells whether somebody did.
pub fn wait(time: Duration) -> bool {
    let heard = HEARD.lock().expect("no panic while held");
    let until = SOMETHING.wait_timeout_while(heard, time, |heard| heard.end.is_none());
    until.expect("no panic while held").0.end.is_some()
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

fn listen(interrupt: SignalKind, terminate: SignalKind) {
    // Whoever asked to heed signals may rely on it when this returns.
    let (ready, is_ready) = std::sync::mpsc::channel();
    on_thread(async move {
        let (mut interrupt, mut terminate) = (signals(interrupt), signals(terminate));
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
                    log::info!("what is in hand is given up; the next run does it again");
                    std::process::exit(1);
                }
            };
            let mut heard = HEARD.lock().expect("no panic while held");
            if heard.end.is_some() {
                // Whoever asks twice means it. Journals and drafts make this safe.
                std::process::exit(1);
            }
            log::info!("{name}: finishing what is in hand; once more ends at once");
            heard.end = Some(name);
            deadline = heard.grace.map(|grace| Instant::now() + grace);
            if let Some(stopper) = &heard.stopper {
                stopper.stop(Stop::Signal(name));
            }
            SOMETHING.notify_all();
        }
    });
    let _ = is_ready.recv();
}

fn signals(kind: SignalKind) -> Signal {
    signal(kind).expect("signals can be waited for")
}

fn on_thread(listening: impl Future<Output = ()> + Send + 'static) {
    let listen = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime without threads").block_on(listening);
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen).expect("there is room for a thread");
}
