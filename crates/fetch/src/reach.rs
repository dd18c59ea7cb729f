//! Connectivity check for diagnostics: DNS lookup and TCP connection, without a request.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::guard::Guard;

/// Result of the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A connection opened.
    Connected(SocketAddr),
    /// The name has no address.
    NoName(String),
    /// All its addresses are refused by the guard.
    Private(SocketAddr),
    /// No connection opens.
    NoAnswer(SocketAddr, String),
}

/// Checks a host.
pub fn reach(host: &str, port: u16, guard: &Guard, timeout: Duration) -> Reach {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found: Vec<SocketAddr> = match (bare, port).to_socket_addrs() {
        Ok(found) => found.collect(),
        Err(error) => return Reach::NoName(error.to_string()),
    };
    let Some(first) = found.first() else { return Reach::NoName("no IP address".to_owned()) };
    let mut ended = Reach::Private(*first);
    // Several addresses, because IPv6 alone may be broken.
    for address in found.iter().filter(|address| guard.allows(address.ip())).take(4) {
        match TcpStream::connect_timeout(address, timeout) {
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
    fn a_listener_is_reached_and_a_private_address_is_not_contacted() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let timeout = Duration::from_secs(5);
        let open = Guard { allowed: vec!["127.0.0.0/8".parse().unwrap()] };
        assert_eq!(reach("127.0.0.1", address.port(), &open, timeout), Reach::Connected(address));
        let shut = Guard { allowed: Vec::new() };
        assert_eq!(reach("127.0.0.1", address.port(), &shut, timeout), Reach::Private(address));
        drop(listener);
        assert!(matches!(reach("127.0.0.1", address.port(), &open, timeout), Reach::NoAnswer(..)));
    }
}
