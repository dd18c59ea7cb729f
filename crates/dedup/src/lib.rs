//! Duplicate detection: finds which paragraphs of a document were published before, and in which document.
//!
//! News is copied and edited. A [`Deduplicator`] takes documents in chronological order and gives a [`Verdict`] on
//! each paragraph: new, an exact copy or a near copy. Candidates are found by fingerprints of *selected n-grams*
//! (hash sampling, Manber 1994, plus the minimum hash of each unit, as in winnowing, Schleimer et al. 2003) and
//! then compared n-gram by n-gram under Onion's rule (Pomikálek 2011). Nothing is deleted: verdicts are a view.
//!
//! Fingerprints live on disk in a log-structured merge tree ([`lsm_levels`]), so memory and time per day stay
//! constant as the collection grows.
//!
//! ```
//! use tidings_dedup::{Deduplicator, FingerprintStore, Origin, StoreFiles, Rule, Scope, Text};
//! # fn main() -> tidings_dedup::Result<()> {
//! # let folder = std::env::temp_dir().join(format!("tidings-dedup-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! let rule = Rule::default();
//! let store = FingerprintStore::new(StoreFiles::default(), &folder, 1 << 20)?;
//! let mut deduplicator = Deduplicator::new(rule, Scope::All, store);
//! let story = Text::new(["The avalanche reached the village at dawn."], &rule);
//! let first = deduplicator.judge(&story, &Origin { name: "gazette", ..Origin::default() })?;
//! let again = deduplicator.judge(&story, &Origin { name: "courier", ..Origin::default() })?;
//! assert!(first.paragraphs[0].duplicate.is_none());
//! assert_eq!(again.source(), Some("gazette"));
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

/// The version of the stage's behaviour. It grows when the same documents and rule give other verdicts. The state
/// of a home records it, so an upgrade repeats deduplication only then.
pub const BEHAVIOUR_VERSION: u32 = 2;

mod blocks;
mod checksum;
mod deduplicator;
mod error;
mod fingerprint_index;
mod fingerprint_store;
mod hash;
mod keys;
pub mod lsm_levels;
mod memtable;
mod presets;
mod rice;
mod rule;
mod scope;
mod trace;
mod units;
mod verdict;
mod words;

pub use blocks::{BlockFile, join};
pub use deduplicator::Deduplicator;
pub use error::{Error, Result};
pub use fingerprint_index::{BlockId, FingerprintRun, merge};
pub use fingerprint_store::{FingerprintStore, FlushedFiles, StoreFiles};
pub use keys::keys;
pub use presets::{PRESETS, Preset, preset};
pub use rule::{Level, Levels, Rule};
pub use scope::{Origin, Scope};
pub use trace::{ChangedFingerprints, Trace};
pub use units::Text;
pub use verdict::{MatchKind, UnitVerdict, Verdict};
