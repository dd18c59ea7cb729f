//! HTTP API over the indexes of a home, and the web page that uses it.
//!
//! [`Server`] listens. `endpoint` is the table of endpoints, from which the router and the OpenAPI document are made. The
//! server only reads the corpus: answers come from the indexes and tables of the home, and it picks up new generations by
//! itself. The owner on the same machine can save searches and virtual corpora (`changes`). A server can be a shard of a
//! corpus (`shard_endpoint`), which a gateway puts together (`gateway`).
//!
//! A request passes `server` (connections), `respond` (rate limit, admission, cache), `client` (authentication), `endpoint` and
//! `query_params` (routing, parameters), a file of `handler` (the answer) and `response` (JSON, JSON Lines, CSV, RSS).

mod admission;
mod api_error;
mod assets;
mod cache;
mod changes;
mod client;
mod compression;
mod compute_accounts;
mod connections;
mod corpus_digest;
mod corpus_registry;
mod crawler_page;
mod endpoint;
mod first_run;
mod frozen_states;
mod gateway;
mod handler;
mod headers;
mod homes_of_shards;
mod lanes;
mod low_priority;
mod metrics;
mod openapi;
mod proxy;
mod query_params;
mod respond;
mod response;
mod rights;
mod rss;
mod search_feed;
mod server;
mod settings;
mod shard_client;
mod shard_endpoint;
mod tls;
mod tools;
mod window_limiter;
mod write_timeout;

pub use first_run::{FirstRun, FirstRunHandle, FirstRunProgress, FirstRunStep, NewSources};
pub use frozen_states::frozen_state;
pub use openapi::document as openapi;
pub use proxy::{Network, SignIn};
pub use rights::Availability;
pub use server::{Error, Server};
pub use settings::{HomeMetrics, Secret, Settings, is_origin};
pub use shard_client::ShardAddress;
pub use tls::TlsFiles;
pub use tools::Tool;
