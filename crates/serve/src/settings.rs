//! What a server is told before it begins.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use tidings_store::tokens::Scope;

use crate::rights::Availability;

/// How a server behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens.
    pub bind: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// Whether others than the owner of the machine ask: then text needs a token, also on loopback.
    pub public: bool,
    /// How long one request may take.
    pub time_limit: Duration,
    /// How many questions that take long are answered at once.
    pub heavy_requests: usize,
    /// Requests that one client may send in a minute; 0 is no limit.
    pub requests_per_minute: u32,
    /// Connections that are open at once; more wait to be accepted.
    pub most_connections: usize,
    /// How many of them one client may have, unless it is on this machine.
    pub connections_per_client: usize,
    /// A client that has not sent its head after so long is not going to.
    pub head_patience: Duration,
    /// Whom publishers may write to.
    pub contact: Option<String>,
    /// The origin whose pages may read the answers; nobody's if there is none.
    pub cors: Option<String>,
    /// The availability of documents that do not tell theirs.
    pub default_availability: Availability,
    /// What somebody may do who asks from this machine without a token, unless the server is public.
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
    /// Whether only the owner of the machine asks.
    pub(crate) fn is_private(&self) -> bool {
        self.bind.is_loopback() && !self.public
    }
}
