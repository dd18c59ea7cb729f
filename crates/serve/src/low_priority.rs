//! Threads for questions that take long. They give way: whenever a quick request wants a core, it gets one.
//!
//! A core that counts a hundred million tokens for somebody is a core that somebody else's first page waits for, however
//! the requests stand in line. The system's scheduler can do better than any line of ours, if it knows who may wait.

/// How much heavy threads give way. The weight of a thread falls by a fifth with each step: at 15 a core that is wanted by both
/// spends a thirtieth of its time on heavy questions, so that they go on, slowly, whatever the others do.
const NICENESS: i32 = 15;

/// Does work on a thread of its own, which gives way to others. It ends with the work, also if that panics.
pub(crate) fn spawn_low_priority(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let runtime = tokio::runtime::Handle::current();
    let thread = std::thread::Builder::new().name("heavy".to_owned());
    thread.spawn(move || {
        let _entered = runtime.enter();
        lower_priority();
        work();
    })?;
    Ok(())
}

/// Lowers the priority of this thread alone: on Linux every thread has its own.
#[cfg(target_os = "linux")]
fn lower_priority() {
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS) {
        log::debug!("heavy questions cannot give way: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {
    let _ = NICENESS;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn heavy_threads_give_way_and_the_others_do_not() {
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
