//! Generated prose in many languages, from word lists and sentence frames.
//!
//! Tests of extraction, language identification and trends need text with known ground truth. The generator writes
//! plausible news in each language; [`trend`] plants words whose frequencies follow known curves.

mod babble;
mod grammar;
mod names;
mod prose;
mod trend;

pub use babble::Lexicon;
pub use grammar::{CODES, Grammar, Section, grammar};
pub use prose::{Block, BlockKind, compose, compose_head, filled, filler_sentence};
pub use trend::{Story, Trend, TrendShape};
