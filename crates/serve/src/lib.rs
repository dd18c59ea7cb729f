//! The reading room: an HTTP API over the indexes of a home, and a page that asks it.
//!
//! [`Server`] listens; `endpoint` is the table of everything that can be asked, from which both the router and the
//! OpenAPI document are made. The server only reads: whatever it says comes from the indexes and tables of the home, and
//! it notices by itself when those change.
//!
//! A request walks through `server` (connections, limits), `client` (who asks, how often, with which right), `endpoint` and
//! `given` (what is asked), a file of `ask` (the answer), and `reply` (JSON, JSON lines or CSV).

mod ask;
mod bot;
mod cache;
mod client;
mod endpoint;
mod feed;
mod given;
mod house;
mod metrics;
mod openapi;
mod packing;
mod page;
mod refusal;
mod reply;
mod rights;
mod schema;
mod server;
mod settings;
mod thread;

pub use openapi::document as openapi;
pub use rights::Availability;
pub use server::{Error, Server};
pub use settings::Settings;
