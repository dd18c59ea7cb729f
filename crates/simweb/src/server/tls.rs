//! The second port: TLS, with HTTP/2 for clients that offer it.
//!
//! The first sites of a web have a certificate for their address, to test the TLS code of clients. The protocol is
//! implemented by hyper; the content of responses is the same, but faults that violate the protocol have no effect.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::answer;
use super::head::Head;
use super::reply::{Delivery, Reply};
use super::target::Visit;
use super::{Shared, Status};
use crate::log::Host;
use crate::profile::address;

/// The number of sites with a certificate.
pub const TLS_SITES: usize = 64;

/// The handshake timeout.
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(10);

/// The TLS configuration.
pub struct Tls {
    pub acceptor: TlsAcceptor,
    /// The certificate that clients have to trust, as PEM.
    pub authority_pem: String,
}

impl Tls {
    /// Creates an unknown certificate authority and a certificate for the first sites.
    pub fn new(sites: usize) -> io::Result<Self> {
        let failed = |error: rcgen::Error| io::Error::other(error);
        let mut authority = CertificateParams::new(Vec::new()).map_err(failed)?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.distinguished_name.push(DnType::CommonName, "simweb test authority");
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let authority_key = KeyPair::generate().map_err(failed)?;
        let authority = CertifiedIssuer::self_signed(authority, authority_key).map_err(failed)?;

        let names: Vec<String> = (0..sites.min(TLS_SITES)).map(|site| address(site).to_string()).collect();
        let key = KeyPair::generate().map_err(failed)?;
        let params = CertificateParams::new(names).map_err(failed)?;
        let certificate = params.signed_by(&key, &authority).map_err(failed)?;

        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(io::Error::other)?;
        let mut config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .map_err(io::Error::other)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Tls { acceptor: TlsAcceptor::from(Arc::new(config)), authority_pem: authority.pem() })
    }
}

/// Accepts connections on the second port.
pub async fn accept(
    shared: Arc<Shared>,
    listener: TcpListener,
    acceptor: TlsAcceptor,
    status: watch::Receiver<Status>,
) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => super::welcome(&shared, stream, peer, &status, Some(&acceptor)),
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Processes a connection until one side closes it, or an outage begins.
pub async fn serve(
    shared: &Arc<Shared>,
    stream: TcpStream,
    address: Ipv4Addr,
    acceptor: TlsAcceptor,
    mut status: watch::Receiver<Status>,
) {
    let host = shared.host_at(address);
    let connection = shared.log.connected(host);
    let talk = async {
        let handshake = tokio::time::timeout(HANDSHAKE_PATIENCE, acceptor.accept(stream)).await;
        let Ok(Ok(stream)) = handshake else { return };
        let speaks_h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let service = service_fn(|request| {
            let shared = Arc::clone(shared);
            async move { Ok::<_, Infallible>(respond(&shared, host, address, connection, &request).await) }
        });
        let io = TokioIo::new(stream);
        // Errors of a connection end that connection only.
        if speaks_h2 {
            let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new()).serve_connection(io, service).await;
        } else {
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
        }
    };
    tokio::select! {
        biased;
        _ = status.wait_for(|status| *status != Status::Up) => {}
        () = talk => {}
    }
}

async fn respond(
    shared: &Shared,
    host: Host,
    address: Ipv4Addr,
    connection: u64,
    request: &hyper::Request<Incoming>,
) -> hyper::Response<Full<Bytes>> {
    let start_us = shared.log.now_us();
    let field = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let head = Head {
        method: request.method().as_str(),
        host: field("host").unwrap_or_default(),
        target,
        if_none_match: field("if-none-match"),
        if_modified_since: field("if-modified-since"),
        user_agent: field("user-agent").unwrap_or_default(),
        accept_encoding: field("accept-encoding").unwrap_or_default(),
        close: false,
        body_bytes: 0,
    };
    let (asked, mut open_request) = Visit { host, address, start_us, connection }.begin(shared, &head).await;
    let reply = answer::answer(shared, &asked);
    open_request.end(reply.status, reply.body.len() as u64, reply.retry_after);
    translate(reply, head.method == "HEAD")
}

/// Converts a response to a hyper response.
fn translate(reply: Reply, head_only: bool) -> hyper::Response<Full<Bytes>> {
    let prepared = match &reply.delivery {
        Delivery::Prepared(head) => String::from_utf8_lossy(head).into_owned(),
        _ => String::new(),
    };
    let lines = prepared.lines().skip(1).chain(reply.headers.lines());
    let mut response = hyper::Response::builder().status(reply.status);
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        if !name.eq_ignore_ascii_case("content-length") {
            response = response.header(name, value);
        }
    }
    let body = if head_only || reply.status == 304 { Bytes::new() } else { reply.body };
    response.body(Full::new(body)).expect("our own headers are valid")
}
