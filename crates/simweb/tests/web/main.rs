//! The simulated web as its clients see it.

mod client;
mod encrypted;
mod faulty;
mod healthy;
mod hidden;
mod sources;
