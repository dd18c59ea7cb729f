//! Crash injection: in debug builds `TIDINGS_CRASH_AT=N` aborts the process at its Nth durable operation.
//!
//! Bytes that were appended but not synced are cut in half first, as in a power failure: an incomplete end is harder to
//! recover from than a clean cut.

#[cfg(debug_assertions)]
mod injected {
    use std::fs::OpenOptions;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{LazyLock, Mutex};

    static OPERATIONS: AtomicU64 = AtomicU64::new(0);
    static CRASH_AT: LazyLock<Option<u64>> =
        LazyLock::new(|| std::env::var("TIDINGS_CRASH_AT").ok().and_then(|number| number.parse().ok()));
    /// Files opened for appending, with their length at the last sync.
    static SYNCED: Mutex<Vec<(PathBuf, u64)>> = Mutex::new(Vec::new());

    pub(crate) fn point() {
        if CRASH_AT.is_some_and(|at| OPERATIONS.fetch_add(1, Ordering::SeqCst) + 1 == at) {
            for (path, synced) in SYNCED.lock().expect("no panic while held").iter() {
                if let Ok(file) = OpenOptions::new().write(true).open(path) {
                    let len = file.metadata().map_or(0, |meta| meta.len());
                    let _ = file.set_len(synced + len.saturating_sub(*synced) / 2);
                }
            }
            std::process::abort();
        }
    }

    pub(crate) fn synced(path: &Path, len: u64) {
        // Without a planned crash the list would only grow.
        if CRASH_AT.is_none() {
            return;
        }
        let mut files = SYNCED.lock().expect("no panic while held");
        files.retain(|(known, _)| known != path);
        files.push((path.to_owned(), len));
    }

    pub(crate) fn all_synced() {
        for (path, synced) in SYNCED.lock().expect("no panic while held").iter_mut() {
            *synced = path.metadata().map_or(0, |meta| meta.len());
        }
    }
}

#[cfg(not(debug_assertions))]
mod injected {
    pub(crate) fn point() {}
    pub(crate) fn synced(_: &std::path::Path, _: u64) {}
    pub(crate) fn all_synced() {}
}

/// Records that all bytes of all files are on disk.
pub(crate) use injected::all_synced;
/// A durable operation begins here.
pub(crate) use injected::point;
/// Records that the first bytes of a file are on disk.
pub(crate) use injected::synced;
