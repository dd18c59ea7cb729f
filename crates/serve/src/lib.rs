//! The reading state: an HTTP API over the indexes of a home, and a page that asks it.
//!
//! [`Server`] listens; `endpoint` is the table of everything that can be asked, from which both the router and the
//! OpenAPI document are made. The server only reads: whatever it says comes from the indexes and tables of the home, and
//! it notices by itself when those change.
//!
//! A request walks through `server` (connections, limits), `client` (who asks, how often, with which right), `endpoint` and
//! `query_params` (the question), `handler` (the answer), and `response` (JSON, JSON lines or CSV).

mod api_error;
mod assets;
mod cache;
mod client;
mod compression;
mod corpus_registry;
mod crawler_page;
mod endpoint;
mod handler;
mod low_priority;
mod metrics;
mod openapi;
mod query_params;
mod response;
mod rights;
mod rss;
mod server;
mod settings;

pub use openapi::document as openapi;
pub use rights::Availability;
pub use server::{Error, Server};
pub use settings::Settings;
