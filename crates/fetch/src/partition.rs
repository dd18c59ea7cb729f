//! The part of the web that a crawl may ask, when other machines ask the rest.

use std::fmt;
use std::net::IpAddr;

/// Decides which hosts belong to this crawl. A job that leads to another host ends as
/// [`MovedShard`](tidings_model::FailureKind::MovedShard), with the URL of that host, which is not asked.
///
/// Policy files are exempt: a robots.txt that redirects to a host of another machine is read there, as RFC 9309 demands.
pub trait Partition: fmt::Debug + Send + Sync {
    /// Whether a host may be asked, by its name.
    fn owns_host(&self, host: &str) -> bool;

    /// Whether a host may be asked at its IP address. Called when the name was resolved, before a request to it.
    fn owns_address(&self, host: &str, ip: IpAddr) -> bool;
}
