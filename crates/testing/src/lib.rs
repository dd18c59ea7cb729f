//! Support for the tests of all crates; no production code depends on it.
//!
//! A test that needs a tool or data that this machine does not have calls [`skip`] and returns. With `TIDINGS_TESTS=all`,
//! which continuous integration sets, a skip is a failure, so that a missing tool cannot pass for a passed test.
//!
//! ```
//! fn unpacked() -> Option<Vec<u8>> {
//!     let ran = std::process::Command::new("true").output().ok();
//!     if ran.is_none() {
//!         tidings_testing::skip("there is no `true`");
//!     }
//!     ran.map(|ran| ran.stdout)
//! }
//! # assert!(unpacked().is_some());
//! ```

mod growth;
mod wait;

use std::path::{Path, PathBuf};

pub use growth::superlinear;
pub use wait::{WATCHDOG, until};

/// The variable that turns skips into failures when it is `all`.
pub const TESTS: &str = "TIDINGS_TESTS";

/// The variable that names the folder of development data.
pub const DATA: &str = "TIDINGS_DATA";

/// Says why a test is skipped.
///
/// # Panics
/// If `TIDINGS_TESTS` is `all`.
#[track_caller]
pub fn skip(reason: &str) {
    let all = std::env::var_os(TESTS).is_some_and(|value| value == "all");
    assert!(!all, "{reason}, and {TESTS}=all allows no skips");
    eprintln!("skipped: {reason}");
}

/// A file or folder of the development data, which are too large or not free enough for the repository.
///
/// They are in the folder that `TIDINGS_DATA` names, or in `shared` beside the repository. With `TIDINGS_DATA=none` this machine is
/// declared to have none, and the tests of scores are skipped even where `TIDINGS_TESTS` is `all`.
///
/// # Panics
/// If the data are missing, `TIDINGS_TESTS` is `all` and `TIDINGS_DATA` is not `none`.
#[track_caller]
pub fn data(path: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let named = std::env::var_os(DATA).filter(|named| !named.is_empty());
    if named.as_ref().is_some_and(|named| named == "none") {
        eprintln!("skipped: {DATA}=none, so {path} is not compared");
        return None;
    }
    let found = named.map_or_else(beside, PathBuf::from).join(path);
    if !found.exists() {
        skip(&format!("there are no development data at {}; {DATA} names their folder", found.display()));
        return None;
    }
    Some(found)
}
