//! The simulated web as its clients see it.

mod client;
mod healthy;
