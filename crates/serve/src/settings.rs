//! Settings of the server.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use tidings_store::tokens::Scope;

use crate::rights::Availability;

/// Address, limits and access rules of a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address to listen on.
    pub bind: IpAddr,
    /// Port; 0 picks a free one.
    pub port: u16,
    /// Accepts requests from other machines; text then needs a token, also on loopback.
    pub public: bool,
    /// Time limit of one request.
    pub time_limit: Duration,
    /// Expensive requests that run at the same time.
    pub heavy_requests: usize,
    /// Requests per minute and client; 0 means no limit.
    pub requests_per_minute: u32,
    /// Lines of a `kwic` document that a client of scope `text` is shown on one day by a public server.
    pub kwic_windows_per_day: u32,
    /// Open connections; more wait to be accepted.
    pub most_connections: usize,
    /// Open connections per client; loopback is exempt.
    pub connections_per_client: usize,
    /// Time in which a client must send its request head.
    pub head_patience: Duration,
    /// Contact for publishers.
    pub contact: Option<String>,
    /// Origin allowed by CORS; none if absent.
    pub cors: Option<String>,
    /// Availability of documents that do not state one.
    pub default_availability: Availability,
    /// Scope of loopback clients without a token on a private server.
    pub loopback_scope: Option<Scope>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 7878,
            public: false,
            time_limit: Duration::from_secs(30),
            heavy_requests: 2,
            requests_per_minute: 600,
            kwic_windows_per_day: 50,
            most_connections: 1024,
            connections_per_client: 64,
            head_patience: Duration::from_secs(10),
            contact: None,
            cors: None,
            default_availability: Availability::Kwic,
            loopback_scope: Some(Scope::Text),
        }
    }
}

impl Settings {
    /// Returns `true` if only this machine can connect.
    pub(crate) fn is_private(&self) -> bool {
        self.bind.is_loopback() && !self.public
    }
}
