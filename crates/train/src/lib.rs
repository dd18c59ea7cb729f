//! Learns the models of `tidings-annotate`: parts of speech, lemmas and morphological features, from treebanks.
//!
//! The same text gives the same bytes on every run, however many languages are learned at once: whatever is shuffled
//! takes a fixed seed, and everything is summed up in a fixed order. Machines whose `exp` rounds otherwise may differ.

pub mod adagrad;
mod cases;
pub mod feats;
pub mod lemmas;
mod linear;
pub mod model;
mod rng;
pub mod score;
pub mod tags;
pub mod treebank;
pub mod treebank_list;
