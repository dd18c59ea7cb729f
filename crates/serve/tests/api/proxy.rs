//! Requests through reverse proxies with the headers that nginx and Caddy send, sign-in by a proxy, and TLS.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use tidings_serve::{Availability, Network, Settings, SignIn, TlsFiles};
use tidings_store::tokens::Scope;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::test_server::{TestServer, weather};

const LINES: &str = "/api/v1/en/query?q=storm&filter=site%3Db.example";

/// What Caddy sends, and nginx as the how-to configures it.
const FORWARDED: &str =
    "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: corpus.example\r\n";

fn loopback() -> Vec<Network> {
    vec!["127.0.0.0/8".parse().unwrap()]
}

#[test]
fn a_private_server_behind_an_unknown_proxy_answers_nothing() {
    let server = TestServer::new();
    assert!(server.get(LINES).is(200).body.contains("storm"));
    for headers in [FORWARDED, "Via: 1.1 Caddy\r\n", "Forwarded: for=203.0.113.9\r\n", "X-Real-IP: 203.0.113.9\r\n"] {
        let refused = server.ask("GET", LINES, headers).is(403);
        assert!(refused.body.contains("serve.proxy") && !refused.body.contains("storm"), "{refused:?}");
    }
    // The default of nginx: HTTP/1.0, and the name of the upstream as Host.
    let host = server.address;
    server.send(&format!("GET {LINES} HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\n\r\n")).is(403);
    server.send(&format!("GET {LINES} HTTP/1.1\r\nHost: corpus.example\r\nConnection: close\r\n\r\n")).is(421);
}

#[test]
fn requests_of_a_named_proxy_have_no_rights_of_the_owner() {
    let server = TestServer::with(&weather(), Settings { proxy: loopback(), ..Settings::default() });
    for headers in [FORWARDED, ""] {
        let answer = server.ask("GET", LINES, headers).is(200).json();
        assert!(answer["lines"].as_array().unwrap().is_empty(), "{answer}");
    }
    let request = format!("GET {LINES} HTTP/1.1\r\nHost: corpus.example\r\n{FORWARDED}Connection: close\r\n\r\n");
    server.send(&request).is(200);
}

#[test]
fn clients_behind_a_proxy_have_rate_limits_of_their_own() {
    let settings = Settings { public: true, proxy: loopback(), requests_per_minute: 2, ..Settings::default() };
    let server = TestServer::with(&weather(), settings);
    let from = |address: &str| server.ask("GET", "/healthz", &format!("X-Forwarded-For: {address}\r\n")).status;
    assert_eq!([from("192.0.2.1"), from("192.0.2.1"), from("192.0.2.1")], [200, 200, 429]);
    // Claims of the client come before the address that the proxy adds.
    assert_eq!([from("192.0.2.9, 192.0.2.1"), from("192.0.2.2")], [429, 200]);
}

#[test]
fn users_of_an_institution_have_the_scope_of_their_groups() {
    let sign_in = SignIn {
        user_header: Some("x-remote-user".parse().unwrap()),
        groups_header: Some("x-remote-groups".parse().unwrap()),
        groups: vec![("researchers".to_owned(), Scope::Text), ("admins".to_owned(), Scope::Admin)],
    };
    let settings = Settings { public: true, proxy: loopback(), sign_in, ..Settings::default() };
    let server = TestServer::with(&weather(), settings.clone());
    let shows = |headers: &str| {
        let answer = server.ask("GET", LINES, headers).is(200).json();
        !answer["lines"].as_array().unwrap().is_empty()
    };
    assert!(shows("X-Remote-User: ada\r\nX-Remote-Groups: students, researchers\r\n"));
    assert!(!shows("X-Remote-User: ada\r\nX-Remote-Groups: students\r\n"));
    assert!(!shows("X-Remote-Groups: researchers\r\n") && !shows(""));
    let metrics = |groups: &str| {
        server.ask("GET", "/metrics", &format!("X-Remote-User: ada\r\nX-Remote-Groups: {groups}\r\n")).status
    };
    assert_eq!([metrics("admins"), metrics("researchers")], [200, 403]);
    // From any other address the headers are refused.
    let elsewhere = Settings { proxy: vec!["192.0.2.1".parse().unwrap()], ..settings };
    let server = TestServer::with(&weather(), elsewhere);
    server.ask("GET", LINES, "X-Remote-User: ada\r\nX-Remote-Groups: admins\r\n").is(403);
}

#[test]
fn the_server_speaks_tls_with_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = TlsFiles { certificate: folder.path().join("certificate.pem"), key: folder.path().join("key.pem") };
    std::fs::write(&files.certificate, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    let settings = Settings { tls: Some(files), default_availability: Availability::Open, ..Settings::default() };
    let server = TestServer::with(&weather(), settings);
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(client, server.open());
    write!(stream, "GET {LINES} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("storm"), "{answer}");
    // A client without TLS gets no answer.
    assert!(!server.get(LINES).head.contains("200"));
}
