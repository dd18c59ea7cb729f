//! Duplicates: what of a document was said before, and in which.
//!
//! News is copied. A judge takes documents in the order of time, compares each with what it remembers, and
//! says of every paragraph whether it is new; what is new is remembered. Nothing is removed: verdicts
//! are a view. The memory lies on disk and is read in short steps, so that neither its size nor its age
//! tells in memory or time.
//!
//! ```
//! use tidings_dedup::{Judge, Memory, Origin, Past, Rule, Scope, Text};
//! # fn main() -> tidings_dedup::Result<()> {
//! # let folder = std::env::temp_dir().join(format!("tidings-dedup-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! let rule = Rule::default();
//! let mut judge = Judge::new(rule, Scope::All, Memory::new(Past::default(), &folder, 1 << 20)?);
//! let story = Text::new(["The avalanche reached the village at dawn."], &rule);
//! let first = judge.judge(&story, &Origin { name: "gazette", ..Origin::default() })?;
//! let again = judge.judge(&story, &Origin { name: "courier", ..Origin::default() })?;
//! assert!(first.paragraphs[0].duplicate.is_none());
//! assert_eq!(again.source(), Some("gazette"));
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok(())
//! # }
//! ```

/// The version of how duplicates are told. It grows whenever the same documents and rule give other verdicts; the state of
/// a home names it, so that an upgrade judges again only then.
pub const BEHAVIOUR_VERSION: u32 = 1;

pub mod ages;
mod bits;
mod error;
mod hash;
mod judge;
mod keys;
mod memory;
mod pieces;
mod presets;
mod recent;
mod rule;
mod scope;
mod units;
mod verdict;
mod words;

pub use error::{Error, Result};
pub use judge::Judge;
pub use keys::{KeyRun, PieceNumber, merge};
pub use memory::{Memory, Past, Sealed};
pub use pieces::{PieceFile, join};
pub use presets::{PRESETS, Preset, preset};
pub use rule::{Level, Levels, Rule};
pub use scope::{Origin, Scope};
pub use units::Text;
pub use verdict::{Finding, Verdict, Why};
