//! Checksums of the corpora, for citations.
//!
//! They are those of `tidings digest --lang CODE`, equal on machines that hold the same text. The text of days whose checksum is not
//! stored must be read, so that they are made by a thread in the background, and not at all if that is too much.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tidings_store::{Home, digest, in_full};

use crate::low_priority;

/// The most compressed text that is read for a checksum; `tidings digest` stores those of larger corpora.
const MAX_UNREAD_BYTES: u64 = 2 << 30;

/// The checksums of one state of the home.
#[derive(Debug, Default)]
struct Known {
    /// The number of generations that were opened when they were asked for.
    opened: Option<u64>,
    by_language: Arc<BTreeMap<String, String>>,
}

/// Checksums by language.
#[derive(Debug, Default)]
pub(crate) struct CorpusDigests(Arc<Mutex<Known>>);

impl CorpusDigests {
    /// The checksums of a state of the home; empty until a thread has made them.
    pub fn of(&self, home: &Home, opened: u64) -> Arc<BTreeMap<String, String>> {
        let mut known = self.0.lock().expect("no panic while held");
        if known.opened == Some(opened) {
            return known.by_language.clone();
        }
        *known = Known { opened: Some(opened), by_language: Arc::default() };
        let (home, shared) = (home.clone(), self.0.clone());
        let work = move || {
            low_priority::lower_priority();
            match digest::of_languages(&home, MAX_UNREAD_BYTES) {
                Ok(None) => log::info!("no checksum of the corpus: run `tidings digest` once to store it"),
                Ok(Some(made)) => {
                    let mut known = shared.lock().expect("no panic while held");
                    // A newer state has a thread of its own.
                    if known.opened == Some(opened) {
                        known.by_language = Arc::new(made);
                    }
                }
                Err(error) => log::warn!("no checksum of the corpus: {}", in_full(&error)),
            }
        };
        if let Err(error) = std::thread::Builder::new().name("corpus-digest".to_owned()).spawn(work) {
            log::warn!("no checksum of the corpus: {error}");
        }
        Arc::default()
    }
}
