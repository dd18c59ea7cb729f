//! Questions that cost much: what they may use, and what is left for others.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use jiff::Timestamp;
use tidings_serve::Settings;
use tidings_store::tokens::{self, Scope, Token};
use tidings_testing::{WATCHDOG, until};

use crate::test_server::{TestServer, document, received, weather};

/// 8,000 equal words.
fn much() -> String {
    let sentence = "word ".repeat(400) + ".";
    (1..=20).map(|day| document(&format!("2026-01-{day:02}"), "a.example", "", &sentence)).collect()
}

#[test]
fn a_page_that_needs_too_much_memory_is_refused_with_a_remedy() {
    let server = TestServer::with(&much(), Settings::default());
    let refused = server.get("/api/v1/en/query?q=word&size=10000&context=200").is(413).json();
    assert_eq!(refused["parameter"], "size");
    assert!(refused["error"].as_str().unwrap().contains("format=jsonl"), "{refused}");
    // Rare words may have as much context, and a stream has no limit.
    server.get("/api/v1/en/query?q=quiet&size=10000&context=200").is(200);
    let stream = server.get("/api/v1/en/query?q=word&size=1000&context=200&format=jsonl").is(200);
    assert!(stream.whole && stream.body.lines().count() == 1000);
    server.get("/api/v1/en/query?q=word&size=8000").is(200);
}

#[test]
fn a_query_of_many_equal_alternatives_costs_no_more_than_one() {
    let server = TestServer::new();
    let one = server.get("/api/v1/en/count?q=%5B%5D").is(200).json();
    let many = server.get(&format!("/api/v1/en/count?q=%5B%5D{}", "%7C%5B%5D".repeat(1899))).is(200).json();
    assert_eq!((&one["hits"], &one["tokens"]), (&many["hits"], &many["tokens"]));
}

fn token(server: &TestServer, name: &str) -> String {
    let now = Timestamp::now();
    let end = Timestamp::from_second(now.as_second() + 86_400).unwrap();
    let mut known = tokens::read(&server.home()).unwrap();
    let (token, secret) = Token::make(name, Scope::Text, now, Some(end)).unwrap();
    known.push(token);
    tokens::write(&server.home(), known).unwrap();
    secret
}

#[test]
fn one_client_does_not_take_all_places_for_heavy_requests() {
    let settings = Settings { public: true, heavy_requests: 2, time_limit: WATCHDOG * 2, ..Settings::default() };
    let server = TestServer::with(&much(), settings);
    let (greedy, modest) = (token(&server, "greedy"), token(&server, "modest"));
    let request = format!(
        "GET /api/v1/en/query?q=word&context=200&format=jsonl HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {greedy}\r\n\r\n"
    );
    // Streams that are not read hold their places.
    let mut first = server.open();
    first.write_all(request.as_bytes()).unwrap();
    first.read_exact(&mut [0; 1]).unwrap();
    let mut second = server.open();
    second.write_all(request.as_bytes()).unwrap();
    // The client has its share: its second stream is sent away, and others have the rest.
    server.get_as("/api/v1/en/words", &modest).is(200);
    received(second).is(503);
    server.get_as("/api/v1/en/words", &modest).is(200);
    drop(first);
    until("the place is free", || server.get_as("/api/v1/en/words", &greedy).status == 200);
}

/// A connection from an address of the loopback network.
fn open_from(source: Ipv4Addr, target: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((source, 0))).unwrap();
        socket.connect(target).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(WATCHDOG)).unwrap();
    stream
}

#[test]
#[cfg(target_os = "linux")]
fn connections_of_one_address_do_not_lock_out_others() {
    are_served_beside(8, 1);
}

#[test]
#[cfg(target_os = "linux")]
fn connections_of_sixteen_addresses_do_not_lock_out_others() {
    are_served_beside(64, 16);
}

/// Fills a server with more unfinished requests than it has places, from some addresses, and sends others.
#[cfg(target_os = "linux")]
fn are_served_beside(most_connections: usize, addresses: u8) {
    let settings = Settings { most_connections, head_patience: WATCHDOG * 2, ..Settings::default() };
    let server = TestServer::with(&weather(), settings);
    let sources = (0..addresses).cycle().map(|number| Ipv4Addr::new(127, 0, 0, 10 + number));
    let connect = |source| open_from(source, server.address);
    let mut held: Vec<_> = sources.take(most_connections + most_connections / 2).map(connect).collect();
    held.iter_mut().for_each(|stream| drop(stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: loc")));
    for _ in 0..4 {
        let mut other = open_from(Ipv4Addr::new(127, 0, 0, 3), server.address);
        other.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        received(other).is(200);
    }
}
