//! Whether a host can be reached at all: a name that resolves, a connection that opens.
//!
//! No request is sent. This is for somebody who wants to know why nothing comes, before a harvest tells.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::guard::Guard;

/// How far we came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A connection opened.
    Connected(SocketAddr),
    /// The name has no address.
    NoName(String),
    /// It has only addresses that may not be asked.
    Private(SocketAddr),
    /// Nobody answers there.
    NoAnswer(SocketAddr, String),
}

/// Tries to reach a host.
pub fn reach(host: &str, port: u16, guard: &Guard, patience: Duration) -> Reach {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found: Vec<SocketAddr> = match (bare, port).to_socket_addrs() {
        Ok(found) => found.collect(),
        Err(error) => return Reach::NoName(error.to_string()),
    };
    let Some(first) = found.first() else { return Reach::NoName("it has no address".to_owned()) };
    let mut ended = Reach::Private(*first);
    // The first of each kind of address: a broken IPv6 is no reason to call a host lost.
    for address in found.iter().filter(|address| guard.allows(address.ip())).take(4) {
        match TcpStream::connect_timeout(address, patience) {
            Ok(_) => return Reach::Connected(*address),
            Err(error) => ended = Reach::NoAnswer(*address, error.to_string()),
        }
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_is_reached_and_who_is_private_is_not_asked() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let patience = Duration::from_secs(5);
        let open = Guard { allowed: vec!["127.0.0.0/8".parse().unwrap()] };
        assert_eq!(reach("127.0.0.1", address.port(), &open, patience), Reach::Connected(address));
        let shut = Guard { allowed: Vec::new() };
        assert_eq!(reach("127.0.0.1", address.port(), &shut, patience), Reach::Private(address));
        drop(listener);
        assert!(matches!(reach("127.0.0.1", address.port(), &open, patience), Reach::NoAnswer(..)));
    }
}
