//! Worker threads: at normal priority for quick requests, at low priority for expensive ones and for quick ones that turn out
//! to take long.
//!
//! Counting a hundred million tokens occupies a core that the first page of another client waits for, whatever the order in
//! the queue. The scheduler of the operating system preempts such a thread as soon as a quick request needs the core.

use std::time::Duration;

/// The nice value. Each step lowers the weight of a thread by a fifth: at 15 a contended core spends a thirtieth of its time on
/// expensive requests, so that they still make progress.
const NICENESS: i32 = 15;

/// Runs `work` on a thread of its own. A thread cannot raise its priority again, so that none is used twice.
pub(crate) fn spawn_worker(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let runtime = tokio::runtime::Handle::current();
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(move || {
        let _entered = runtime.enter();
        work();
    })?;
    Ok(())
}

/// Runs `work` on a thread of its own at low priority.
pub(crate) fn spawn_low_priority(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    spawn_worker("heavy", move || {
        lower_priority();
        work();
    })
}

/// The computing time that this thread has used.
#[cfg(target_os = "linux")]
pub(crate) fn thread_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The time that this thread has run, where the computing time is not known.
#[cfg(not(target_os = "linux"))]
pub(crate) fn thread_cpu_time() -> Duration {
    thread_local!(static BEGAN: std::time::Instant = std::time::Instant::now());
    BEGAN.with(std::time::Instant::elapsed)
}

/// Lowers the priority of this thread, once; on Linux each thread has its own.
#[cfg(target_os = "linux")]
pub(crate) fn lower_priority() {
    thread_local!(static IS_LOW: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    if IS_LOW.replace(true) {
        return;
    }
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS) {
        log::debug!("cannot lower the priority of a thread: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn lower_priority() {
    let _ = NICENESS;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn spawned_threads_have_low_priority_and_the_caller_keeps_its_own() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _entered = runtime.enter();
        let (sender, receiver) = std::sync::mpsc::channel();
        let priority = || rustix::process::getpriority_process(Some(rustix::thread::gettid())).unwrap();
        let before = priority();
        spawn_low_priority(move || sender.send(priority()).unwrap()).unwrap();
        assert_eq!(receiver.recv().unwrap(), NICENESS.max(before));
        assert_eq!(priority(), before);
    }
}
