//! The HTTP connections to object stores: HTTP/1.1 over TCP or TLS (rustls with ring), kept for reuse.
//!
//! `object_store` would bring reqwest with a second TLS stack; it takes any [`HttpService`] instead. The crawler's client
//! is not used, because it refuses addresses that are not public, waits between requests and follows robots.txt.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use std::{env, io};

use async_trait::async_trait;
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue};
use hyper_util::rt::TokioIo;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpResponseBody,
    HttpService,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The server that gives machines of a cloud their credentials. It is near, or this machine is in no cloud.
const METADATA_SERVER: &str = "169.254.169.254";
const METADATA_TIMEOUT: Duration = Duration::from_secs(1);
/// From the first byte of a request to the head of its answer. A part of an upload is sent within this time.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// Between two pieces of a body.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Unused connections that are kept for a server.
const MAX_IDLE: usize = 8;
/// The file with certificates of further authorities, as in the tools of AWS.
const CA_BUNDLE: &str = "AWS_CA_BUNDLE";

type Sender = http1::SendRequest<HttpRequestBody>;

/// A server: whether TLS is used, the name and the port.
type Server = (bool, String, u16);

/// Makes clients for `object_store`.
#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let tls = tls_config().map_err(|error| object_store::Error::Generic {
            store: "TLS",
            source: format!("{CA_BUNDLE}: {error}").into(),
        })?;
        Ok(HttpClient::new(Client { tls: TlsConnector::from(Arc::new(tls)), idle: Arc::default() }))
    }
}

fn tls_config() -> io::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(path) = env::var_os(CA_BUNDLE) {
        for certificate in CertificateDer::pem_file_iter(path).map_err(io::Error::other)? {
            roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has the default versions");
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Connections that are not in use.
type Idle = Arc<Mutex<HashMap<Server, Vec<Sender>>>>;

struct Client {
    tls: TlsConnector,
    idle: Idle,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

#[async_trait]
impl HttpService for Client {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let server = server_of(request.uri())?;
        let mut sender = match self.reused(&server).await {
            Some(sender) => sender,
            None => self.open(&server).await?,
        };
        if !request.headers().contains_key(HOST) {
            let authority = request.uri().authority().map_or("", |authority| authority.as_str());
            let host = HeaderValue::from_str(authority).map_err(|error| failed(HttpErrorKind::Unknown, error))?;
            request.headers_mut().insert(HOST, host);
        }
        let target = request.uri().path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = target.parse().map_err(|error| failed(HttpErrorKind::Unknown, error))?;
        let answer = timeout(ANSWER_TIMEOUT, sender.send_request(request)).await;
        let answer = answer.map_err(|error| failed(HttpErrorKind::Timeout, error))?.map_err(of_hyper)?;
        let (parts, body) = answer.into_parts();
        let mut body = Answer { body, sender: Some(sender), server, idle: Arc::clone(&self.idle), wait: None };
        if body.body.is_end_stream() {
            body.give_back();
        }
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(SyncBody(Mutex::new(body)))))
    }
}

impl Client {
    async fn reused(&self, server: &Server) -> Option<Sender> {
        loop {
            let mut sender = self.idle.lock().expect("no panic while held").get_mut(server)?.pop()?;
            if !sender.is_closed() && sender.ready().await.is_ok() {
                return Some(sender);
            }
        }
    }

    async fn open(&self, server: &Server) -> Result<Sender, HttpError> {
        let (secure, host, port) = server;
        let limit = if host == METADATA_SERVER { METADATA_TIMEOUT } else { CONNECT_TIMEOUT };
        let connected = timeout(limit, TcpStream::connect((host.as_str(), *port))).await;
        let connected = connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        let named = |error: io::Error| failed(HttpErrorKind::Connect, NamedError(format!("{host}:{port}: {error}")));
        let stream = connected.map_err(named)?;
        let _ = stream.set_nodelay(true);
        if !secure {
            return handshake(stream).await;
        }
        let name = ServerName::try_from(host.clone()).map_err(|error| failed(HttpErrorKind::Connect, error))?;
        let stream = timeout(CONNECT_TIMEOUT, self.tls.connect(name, stream)).await;
        handshake(stream.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(named)?).await
    }
}

async fn handshake<S>(stream: S) -> Result<Sender, HttpError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(HttpErrorKind::Connect, error))?;
    tokio::spawn(connection);
    Ok(sender)
}

fn server_of(uri: &hyper::Uri) -> Result<Server, HttpError> {
    let secure = uri.scheme_str() == Some("https");
    let host =
        uri.host().ok_or_else(|| failed(HttpErrorKind::Unknown, NamedError("a URL without a host".to_owned())))?;
    let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
    Ok((secure, host.trim_matches(['[', ']']).to_owned(), port))
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NamedError(String);

fn failed<E: std::error::Error + Send + Sync + 'static>(kind: HttpErrorKind, error: E) -> HttpError {
    HttpError::new(kind, error)
}

fn of_hyper(error: hyper::Error) -> HttpError {
    let kind = if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_canceled() || error.is_closed() || error.is_incomplete_message() || error.is_body_write_aborted()
    {
        // The server closed a kept connection, or its connection while it received: the request is repeated.
        HttpErrorKind::Request
    } else {
        HttpErrorKind::Interrupted
    };
    HttpError::new(kind, error)
}

/// The body of an answer, which returns its connection when it was read to its end.
struct Answer {
    body: Incoming,
    sender: Option<Sender>,
    server: Server,
    idle: Idle,
    wait: Option<Pin<Box<Sleep>>>,
}

impl Answer {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            self.wait = None;
            if frame.is_none() || self.body.is_end_stream() {
                self.give_back();
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(of_hyper)));
        }
        let wait = self.wait.get_or_insert_with(|| Box::pin(tokio::time::sleep(IDLE_TIMEOUT)));
        ready!(wait.as_mut().poll(cx));
        Poll::Ready(Some(Err(failed(HttpErrorKind::Timeout, NamedError("the store stopped sending".to_owned())))))
    }

    fn give_back(&mut self) {
        let Some(sender) = self.sender.take().filter(|sender| !sender.is_closed()) else { return };
        let mut idle = self.idle.lock().expect("no panic while held");
        let kept = idle.entry(self.server.clone()).or_default();
        if kept.len() < MAX_IDLE {
            kept.push(sender);
        }
    }
}

/// [`HttpResponseBody`] wants a body that threads can share; only one ever polls it.
struct SyncBody(Mutex<Answer>);

impl Body for SyncBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        self.get_mut().0.get_mut().expect("no panic while held").poll(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().expect("no panic while held").body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.0.lock().expect("no panic while held").body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_its_url() {
        let server = |url: &str| server_of(&url.parse().unwrap()).unwrap();
        assert_eq!(server("http://127.0.0.1:9000/a?b"), (false, "127.0.0.1".to_owned(), 9000));
        assert_eq!(server("https://[::1]/a"), (true, "::1".to_owned(), 443));
        assert_eq!(server("http://e.org/"), (false, "e.org".to_owned(), 80));
    }
}
