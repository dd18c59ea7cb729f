//! Plants words with a known course of time among words that do nothing, and counts how many the trends
//! of `tidings-query` find again, how many others they name, and how long it takes.

pub mod churn;
pub mod measure;
pub mod plant;
pub mod world;
