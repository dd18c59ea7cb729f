//! Limits the lines of a `kwic` document that one client is shown on one day.
//!
//! Lines overlap: with enough of them a document can be read from its first token to its last. A client may see the same line
//! again as often as it likes; another position of the same document is another line.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

use jiff::civil::Date;

use crate::client::network;

/// Lines that are remembered in all, and of one client. A client above its limit gets no further lines on that day.
const MOST_LINES: usize = 1 << 20;
const MOST_LINES_OF_CLIENT: usize = 1 << 17;

/// A client as limits see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ClientId {
    /// The name of a token, or of a user whom the proxy names.
    Named(String),
    /// The network of an address.
    Network(IpAddr),
}

impl ClientId {
    /// The client of a request without a token.
    pub fn of_address(address: IpAddr) -> ClientId {
        ClientId::Network(network(address))
    }
}

/// The lines that clients were shown today.
#[derive(Debug, Default)]
pub(crate) struct WindowLimiter(Mutex<Shown>);

#[derive(Debug, Default)]
struct Shown {
    day: Option<Date>,
    clients: HashMap<ClientId, ShownTo>,
    lines: usize,
}

#[derive(Debug, Default)]
struct ShownTo {
    /// The positions of each document.
    documents: HashMap<String, Vec<u64>>,
    lines: usize,
}

impl WindowLimiter {
    /// Takes a line of a document for a client; false if it has had `per_day` others of it today.
    pub fn take(&self, client: &ClientId, document: &str, position: u64, per_day: usize, today: Date) -> bool {
        let mut shown = self.0.lock().expect("no panic while held");
        if shown.day != Some(today) {
            *shown = Shown { day: Some(today), ..Shown::default() };
        }
        let Shown { clients, lines, .. } = &mut *shown;
        if !clients.contains_key(client) {
            clients.insert(client.clone(), ShownTo::default());
        }
        let of_client = clients.get_mut(client).expect("just inserted");
        if let Some(positions) = of_client.documents.get(document) {
            if positions.contains(&position) {
                return true;
            }
            if positions.len() >= per_day {
                return false;
            }
        }
        if per_day == 0 || of_client.lines >= MOST_LINES_OF_CLIENT || *lines >= MOST_LINES {
            return false;
        }
        of_client.documents.entry(document.to_owned()).or_default().push(position);
        of_client.lines += 1;
        *lines += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_so_many_lines_of_a_document_each_day() {
        let (limiter, today) = (WindowLimiter::default(), Date::constant(2026, 5, 5));
        let [one, other] = ["one", "other"].map(|name| ClientId::Named(name.to_owned()));
        assert!((0..3).all(|position| limiter.take(&one, "a", position, 3, today)));
        assert!(!limiter.take(&one, "a", 3, 3, today) && limiter.take(&one, "a", 1, 3, today));
        assert!(limiter.take(&one, "b", 3, 3, today) && limiter.take(&other, "a", 3, 3, today));
        assert!(limiter.take(&one, "a", 3, 3, Date::constant(2026, 5, 6)));
    }

    #[test]
    fn addresses_of_one_network_are_one_client() {
        let of = |text: &str| ClientId::of_address(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::2"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
