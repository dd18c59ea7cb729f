//! The simulated web as its clients see it.

mod client;
mod faulty;
mod healthy;
mod sources;
