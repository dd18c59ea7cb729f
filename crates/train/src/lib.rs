//! Trains the models of `tidings-annotate` on treebanks: part-of-speech tags ([`tags`], a
//! linear-chain CRF), lemmas ([`lemmas`], ranked edit scripts) and morphological features
//! ([`feats`]).
//!
//! Training is reproducible: shuffling and dropout use fixed seeds, and sums have a fixed order, so
//! the same treebanks give the same bytes for any number of threads. Platforms whose `exp` rounds
//! differently may give other bytes.

pub mod adagrad;
mod cases;
pub mod feats;
mod forward_backward;
pub mod lemmas;
mod linear;
pub mod model;
mod rng;
pub mod score;
pub mod tags;
pub mod treebank;
pub mod treebank_list;
