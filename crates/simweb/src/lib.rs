//! A web that is not there: thousands of sites on loopback, for tests, benchmarks and the demo.
//!
//! (documentation follows)

mod archive;
mod article;
mod clock;
mod fault;
mod feed;
mod log;
mod markup;
mod page;
mod politeness;
mod profile;
mod rng;
mod robots;
mod server;
mod spec;
mod state;
mod text;
mod web;
mod world;

pub use archive::ArchiveError;
pub use article::Article;
pub use fault::{Ailment, Fault, Part, UnknownFault};
pub use log::{Host, Kind, Request};
pub use politeness::{HostManners, Politeness};
pub use profile::{FeedFormat, INTERNAL_HOST, SHARED_HOST};
pub use spec::{Source, Spec};
pub use text::{Block, BlockKind, Shape, Trend};
pub use web::{Error, SimWeb, Site, Truth};
