//! Opens connections: name resolution, address check, TCP, TLS, HTTP handshake.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hickory_resolver::TokioResolver;
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tidings_model::Status;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};
use url::{Host, Url};

use crate::Error;
use crate::guard::Guard;
use crate::happy_eyeballs::{self, attempt_order};
use crate::settings::Settings;

/// Failure to connect.
#[derive(Debug)]
pub(crate) enum ConnectError {
    /// Failure of the host or the network: its status in the plan and the message of the system.
    Remote(Status, String),
    /// This machine has no file descriptor or port left: the host was not tried.
    OutOfSockets,
}

fn remote(name: &'static str) -> impl Fn(String) -> ConnectError {
    move |detail| ConnectError::Remote(Status::failed(name), detail)
}

fn no_address() -> ConnectError {
    remote("connect")("the name has no IP address".to_owned())
}

/// An open connection that can carry one request at a time.
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    /// Address of the server in canonical form.
    pub(crate) ip: IpAddr,
    /// TLS or not, and the port: requests to other ports of the host need another one.
    pub(crate) endpoint: (bool, u16),
}

pub(crate) enum Sender {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    /// True if the server has not closed it yet, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        match &self.sender {
            Sender::One(sender) => !sender.is_closed(),
            Sender::Two(sender) => !sender.is_closed(),
        }
    }

    pub(crate) fn can_reach(&self, url: &Url) -> bool {
        self.endpoint == endpoint(url)
    }
}

fn endpoint(url: &Url) -> (bool, u16) {
    (url.scheme() == "https", url.port_or_known_default().unwrap_or(80))
}

/// Opens connections.
pub(crate) struct Connector {
    guard: Guard,
    hosts: BTreeMap<String, SocketAddr>,
    resolver: Option<TokioResolver>,
    tls: TlsConnector,
    max_header_bytes: usize,
}

impl Connector {
    pub(crate) fn new(settings: &Settings) -> Result<Connector, Error> {
        // Without a name server only IP addresses can be reached; requests to names then fail with `dns`.
        let resolver = TokioResolver::builder_tokio().ok().and_then(|mut builder| {
            builder.options_mut().cache_size = 16 << 10;
            builder.build().ok()
        });
        Ok(Connector {
            guard: settings.guard.clone(),
            hosts: settings.hosts.clone(),
            resolver,
            tls: TlsConnector::from(Arc::new(tls_config(settings)?)),
            max_header_bytes: settings.max_header_bytes.max(8 << 10),
        })
    }

    /// Finds the address that a connection to the host of a URL tries first.
    pub(crate) async fn first_address(&self, url: &Url) -> Result<IpAddr, ConnectError> {
        let addresses = attempt_order(self.allowed_addresses(url).await?);
        addresses.first().copied().ok_or_else(no_address)
    }

    /// Opens a connection to the host of a URL, at the preferred address if it has that one and it answers.
    pub(crate) async fn open(&self, url: &Url, preferred: Option<IpAddr>) -> Result<Connection, ConnectError> {
        let (secure, port) = endpoint(url);
        let (stream, ip) = self.connect(url, port, preferred).await?;
        if !secure {
            let sender = self.handshake_http1(stream).await?;
            return Ok(Connection { sender, ip, endpoint: (secure, port) });
        }
        let name = match url.host() {
            Some(Host::Domain(name)) => {
                ServerName::try_from(name.to_owned()).map_err(|e| remote("tls")(e.to_string()))?
            }
            Some(Host::Ipv4(ip)) => ServerName::IpAddress(IpAddr::V4(ip).into()),
            Some(Host::Ipv6(ip)) => ServerName::IpAddress(IpAddr::V6(ip).into()),
            None => return Err(remote("bad-url")("no host".to_owned())),
        };
        let stream = self.tls.connect(name, stream).await.map_err(|error| remote("tls")(error.to_string()))?;
        let sender = if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            self.handshake_http2(stream).await?
        } else {
            self.handshake_http1(stream).await?
        };
        Ok(Connection { sender, ip, endpoint: (secure, port) })
    }

    async fn connect(
        &self,
        url: &Url,
        port: u16,
        preferred: Option<IpAddr>,
    ) -> Result<(TcpStream, IpAddr), ConnectError> {
        let mut addresses = self.allowed_addresses(url).await?;
        // Stable: the others keep their order.
        addresses.sort_by_key(|ip| Some(ip.to_canonical()) != preferred);
        let port = self.fixed_address(url).map_or(port, |address| address.port());
        let connect = |ip| TcpStream::connect(SocketAddr::new(ip, port));
        let stagger = || tokio::time::sleep(happy_eyeballs::STAGGER);
        match happy_eyeballs::race(attempt_order(addresses), connect, stagger, is_shortage).await {
            Ok((stream, ip)) => {
                let _ = stream.set_nodelay(true);
                Ok((stream, ip.to_canonical()))
            }
            Err(failures) if failures.iter().any(|(_, error)| is_shortage(error)) => Err(ConnectError::OutOfSockets),
            Err(failures) if failures.is_empty() => Err(no_address()),
            Err(failures) => {
                let list: Vec<String> = failures.iter().map(|(ip, error)| format!("{ip}: {error}")).collect();
                Err(remote("connect")(list.join("; ")))
            }
        }
    }

    /// The addresses of a host, if all of them may be contacted.
    async fn allowed_addresses(&self, url: &Url) -> Result<Vec<IpAddr>, ConnectError> {
        let addresses = self.resolve(url).await?;
        // A name with public and private addresses is an attempt at DNS rebinding, so all must be allowed.
        match addresses.iter().find(|ip| !self.guard.allows(**ip)) {
            Some(ip) => Err(remote("private")(format!("{ip} is not a public address"))),
            None => Ok(addresses),
        }
    }

    /// The address that the settings give the host of a URL.
    fn fixed_address(&self, url: &Url) -> Option<SocketAddr> {
        self.hosts.get(url.domain()?.trim_end_matches('.')).copied()
    }

    async fn resolve(&self, url: &Url) -> Result<Vec<IpAddr>, ConnectError> {
        let name = match url.host() {
            Some(Host::Ipv4(ip)) => return Ok(vec![ip.into()]),
            Some(Host::Ipv6(ip)) => return Ok(vec![ip.into()]),
            Some(Host::Domain(name)) => name.trim_end_matches('.'),
            None => return Err(remote("bad-url")("no host".to_owned())),
        };
        if let Some(address) = self.fixed_address(url) {
            return Ok(vec![address.ip()]);
        }
        if name == "localhost" || name.ends_with(".localhost") {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let resolver =
            self.resolver.as_ref().ok_or_else(|| remote("dns")("this machine has no name server".to_owned()))?;
        // The final dot keeps the resolver from trying search domains.
        let found = resolver.lookup_ip(format!("{name}.")).await.map_err(|error| {
            let unknown = error.is_nx_domain() || error.is_no_records_found();
            remote("dns")(if unknown { format!("no such host: {name}") } else { error.to_string() })
        })?;
        Ok(found.iter().collect())
    }

    async fn handshake_http1<S>(&self, stream: S) -> Result<Sender, ConnectError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(self.max_header_bytes)
            .max_headers(512)
            .handshake(TokioIo::new(SmallReads(stream)))
            .await
            .map_err(|error| remote("protocol")(error.to_string()))?;
        tokio::spawn(connection);
        Ok(Sender::One(sender))
    }

    async fn handshake_http2<S>(&self, stream: S) -> Result<Sender, ConnectError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(256 << 10)
            .initial_connection_window_size(256 << 10)
            .max_header_list_size(self.max_header_bytes as u32)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| remote("protocol")(error.to_string()))?;
        tokio::spawn(connection);
        Ok(Sender::Two(sender))
    }
}

/// A stream whose reads are limited in size.
///
/// hyper doubles a connection's buffer whenever a read fills it and never shrinks it. Thousands of
/// connections are idle between two requests, so each must stay small: a read that never quite
/// fills the first buffer keeps it at its first size.
struct SmallReads<S>(S);

/// One byte less than hyper's first buffer.
const MAX_READ_BYTES: usize = 8 * 1024 - 1;

impl<S: AsyncRead + Unpin> AsyncRead for SmallReads<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let limit = MAX_READ_BYTES.min(buf.remaining());
        let mut portion = ReadBuf::new(buf.initialize_unfilled_to(limit));
        ready!(Pin::new(&mut self.0).poll_read(context, &mut portion))?;
        let read = portion.filled().len();
        buf.advance(read);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for SmallReads<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// True if the system has no more file descriptors, memory or ports.
fn is_shortage(error: &io::Error) -> bool {
    const NO_FILES_SYSTEM: i32 = 23;
    const NO_FILES: i32 = 24;
    const NO_PORTS: i32 = 99;
    const NO_BUFFERS: i32 = 105;
    matches!(error.raw_os_error(), Some(NO_FILES_SYSTEM | NO_FILES | NO_PORTS | NO_BUFFERS))
}

fn tls_config(settings: &Settings) -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(path) = &settings.extra_roots {
        let bad = |error: &dyn std::fmt::Display| Error::Roots { path: path.clone(), fault: error.to_string() };
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| bad(&error))? {
            roots.add(certificate.map_err(|error| bad(&error))?).map_err(|error| bad(&error))?;
        }
        if roots.len() == webpki_roots::TLS_SERVER_ROOTS.len() {
            return Err(bad(&"no certificate in the file"));
        }
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring supports the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
