//! The panic guard: a bug costs one item and not the whole run.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A piece of work panicked. Its partial results are lost; the process continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panicked;

impl std::fmt::Display for Panicked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("internal error: this is a bug in Tidings, please report it")
    }
}

impl std::error::Error for Panicked {}

/// Runs a closure and turns a panic into an error. The closure must not leave shared state half changed.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(guarded(|| 7), Ok(7));
        assert_eq!(guarded(|| -> u8 { panic!("a mistake") }), Err(Panicked));
    }

    #[test]
    fn the_message_asks_for_a_report() {
        assert!(Panicked.to_string().contains("please report it"));
    }
}
