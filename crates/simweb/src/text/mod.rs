//! Prose in many languages, from word lists and sentence frames of our own.
//!
//! Tests of extraction, language identification and trends need text whose truth is known. The
//! generator writes plausible news in each language; [`trend`] plants words whose frequency
//! follows a known curve.

mod babble;
mod grammar;
mod names;
mod prose;
mod trend;

pub use babble::Lexicon;
pub use grammar::{CODES, Grammar, Section, grammar};
pub use prose::{Block, BlockKind, compose, compose_head, filled, filler_sentence};
pub use trend::{Shape, Story, Trend};
