//! HTTP client: one request and its response, within limits of time, speed and size.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Incoming};
use tidings_model::Status;
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use crate::body_budget::{BodyBudget, Reservation};
use crate::connect::{ConnectError, Connection, Connector, Sender};
use crate::decode::{Ceiling, Decoder};
use crate::settings::Settings;

/// The body of an error response is read to its end up to this size, so that the connection can be used again.
const MAX_DRAIN_BYTES: u64 = 64 << 10;

/// A GET request, or a POST request if it has a body, with its limits.
#[derive(Debug, Clone)]
pub(crate) struct HttpRequest {
    pub(crate) url: Url,
    /// Address that is free for this request: it is tried first, and a connection to another one is not used yet.
    pub(crate) address: Option<IpAddr>,
    /// Value of the `Accept` header.
    pub(crate) accept: &'static str,
    /// Additional headers, such as validators.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// True to reject bodies that cannot be text.
    pub(crate) text_only: bool,
    pub(crate) max_body_bytes: usize,
    /// True if a body that is too large is truncated instead of rejected.
    pub(crate) truncate: bool,
    /// True to decode the content encoding.
    pub(crate) decode: bool,
    /// The body of a POST request, as JSON.
    pub(crate) json: Option<Bytes>,
}

/// An HTTP response with its body.
pub struct HttpResponse {
    /// Status code.
    pub status: StatusCode,
    /// Response headers.
    pub headers: HeaderMap,
    /// Body as received, content encoding kept.
    pub body: Vec<u8>,
    /// HTTP version.
    pub version: Version,
    /// Address of the server.
    pub ip: IpAddr,
    /// Headers of the request, for archives.
    pub request_headers: HeaderMap,
    /// Memory of the body; it returns to the budget when the response is dropped.
    reservation: Reservation,
}

impl HttpResponse {
    /// True if its body holds a permit of one of the few large size classes and should be dropped soon.
    pub fn is_large(&self) -> bool {
        self.reservation.is_large()
    }

    /// Undoes the content encoding of a successful response.
    pub(crate) fn decode_body(&mut self, ceiling: Ceiling) -> Result<(), Status> {
        if !self.status.is_success() {
            return Ok(());
        }
        let values = self.headers.get_all(header::CONTENT_ENCODING).iter();
        let encodings: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        self.body = Decoder::new(ceiling).decode(&encodings.join(","), &self.body)?;
        Ok(())
    }

    /// A response that did not come over the network, such as one from an archive.
    pub fn from_parts(status: StatusCode, headers: HeaderMap, body: Vec<u8>) -> HttpResponse {
        HttpResponse {
            status,
            headers,
            body,
            version: Version::HTTP_11,
            ip: IpAddr::from([192, 0, 2, 1]),
            request_headers: HeaderMap::new(),
            reservation: Reservation::default(),
        }
    }

    /// A response for tests.
    #[cfg(test)]
    pub(crate) fn for_test(status: u16, headers: &[(&'static str, &str)], body: Vec<u8>) -> HttpResponse {
        let headers = headers.iter().map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a valid header value"))
        });
        let status = StatusCode::from_u16(status).expect("a valid status");
        HttpResponse::from_parts(status, headers.collect(), body)
    }
}

/// Result of an exchange.
pub(crate) struct Exchange {
    pub(crate) result: Result<HttpResponse, RequestError>,
    /// The connection, if it can be used again.
    pub(crate) connection: Option<Connection>,
    pub(crate) reused: bool,
    pub(crate) bytes: u64,
    /// Address to which the request was sent; `None` if it never left.
    pub(crate) peer: Option<IpAddr>,
}

/// Failure of a request.
#[derive(Debug)]
pub(crate) enum RequestError {
    Failed(Status, String),
    /// This machine has no socket left: the request was not sent.
    OutOfSockets,
    /// The connection has another address than the one that is free: the request was not sent.
    OtherAddress(IpAddr),
    /// The server closed an idle connection while the request was sent on it. It may have received the request, so the
    /// retry waits for the next turn of the host.
    StaleConnection(Status, String),
}

/// The HTTP client: opens connections or uses idle ones.
pub(crate) struct HttpClient {
    connector: Connector,
    settings: Settings,
    user_agent: HeaderValue,
    body_budget: BodyBudget,
}

impl HttpClient {
    pub(crate) fn new(settings: &Settings, concurrency: usize) -> Result<HttpClient, crate::Error> {
        let user_agent = HeaderValue::from_str(&settings.user_agent)
            .map_err(|_| crate::Error::UserAgent { given: settings.user_agent.clone() })?;
        Ok(HttpClient {
            connector: Connector::new(settings)?,
            settings: settings.clone(),
            user_agent,
            body_budget: BodyBudget::new(settings, concurrency),
        })
    }

    /// Sends a request, over the idle connection if it is still open.
    pub(crate) async fn send(&self, request: &HttpRequest, idle: Option<Connection>) -> Exchange {
        let deadline = Instant::now() + self.settings.total_timeout;
        let is_usable = |idle: &Connection| {
            idle.is_open() && idle.can_reach(&request.url) && request.address.is_none_or(|ip| ip == idle.ip)
        };
        if let Some(connection) = idle.filter(is_usable) {
            let peer = Some(connection.ip);
            match self.send_over(connection, request, deadline).await {
                // The idle connection was closed before anything was sent: open a new one.
                Err(ExchangeError { stale: Stale::Unsent, .. }) => {}
                Err(ExchangeError { stale: Stale::MaybeSent, status, detail, .. }) => {
                    return Exchange { reused: true, peer, ..failed(RequestError::StaleConnection(status, detail)) };
                }
                outcome => return finish(outcome, true, peer),
            }
        }
        // Boxed, because the state of a handshake is large and most requests need none.
        let opening = Box::pin(self.connector.open(&request.url, request.address));
        let connection = match self.in_time(opening).await {
            Ok(connection) => connection,
            Err(error) => return failed(error),
        };
        let ip = connection.ip;
        if request.address.is_some_and(|expected| expected != ip) {
            return Exchange { connection: Some(connection), ..failed(RequestError::OtherAddress(ip)) };
        }
        finish(self.send_over(connection, request, deadline).await, false, Some(ip))
    }

    /// Finds the IP address that a connection to the host of a URL would have.
    pub(crate) async fn resolve(&self, url: &Url) -> Result<IpAddr, RequestError> {
        self.in_time(self.connector.first_address(url)).await
    }

    /// Limits the time of a step towards a connection.
    async fn in_time<T>(&self, step: impl Future<Output = Result<T, ConnectError>>) -> Result<T, RequestError> {
        match timeout(self.settings.connect_timeout, step).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(ConnectError::OutOfSockets)) => Err(RequestError::OutOfSockets),
            Ok(Err(ConnectError::Remote(status, detail))) => Err(RequestError::Failed(status, detail)),
            Err(_) => {
                let detail = format!("no connection within {} s", self.settings.connect_timeout.as_secs());
                Err(RequestError::Failed(Status::failed("timeout"), detail))
            }
        }
    }

    async fn send_over(
        &self,
        mut connection: Connection,
        request: &HttpRequest,
        deadline: Instant,
    ) -> Result<Received, ExchangeError> {
        let message = self.message(request, &connection);
        let request_headers = message.headers().clone();
        let sent = async {
            match &mut connection.sender {
                Sender::One(sender) => {
                    sender.ready().await?;
                    sender.send_request(message).await
                }
                Sender::Two(sender) => {
                    sender.ready().await?;
                    sender.send_request(message).await
                }
            }
        };
        let until = deadline.min(Instant::now() + self.settings.head_timeout);
        let response = match timeout_at(until, sent).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                let stale = if error.is_canceled() || error.is_closed() {
                    Stale::Unsent
                } else if error.is_incomplete_message() {
                    Stale::MaybeSent
                } else {
                    Stale::No
                };
                return Err(ExchangeError { stale, ..ExchangeError::from(error) });
            }
            Err(_) => return Err(ExchangeError::new("timeout", "no response in time")),
        };
        self.receive(connection, response, request_headers, request, deadline).await
    }

    fn message(&self, request: &HttpRequest, connection: &Connection) -> Request<Full<Bytes>> {
        let url = &request.url;
        let mut message = Request::new(Full::new(request.json.clone().unwrap_or_default()));
        if request.json.is_some() {
            *message.method_mut() = Method::POST;
            message.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let add_headers = |message: &mut Request<Full<Bytes>>| {
            let headers = message.headers_mut();
            headers.insert(header::USER_AGENT, self.user_agent.clone());
            headers.insert(header::ACCEPT, HeaderValue::from_static(request.accept));
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, zstd"));
            headers.extend(request.headers.iter().cloned());
        };
        match connection.sender {
            Sender::One(_) => {
                *message.uri_mut() = path.parse().unwrap_or_default();
                let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
                if let Ok(host) = HeaderValue::from_str(host) {
                    message.headers_mut().insert(header::HOST, host);
                }
            }
            Sender::Two(_) => *message.uri_mut() = url.as_str().parse().unwrap_or_default(),
        }
        add_headers(&mut message);
        message
    }

    async fn receive(
        &self,
        connection: Connection,
        response: Response<Incoming>,
        request_headers: HeaderMap,
        request: &HttpRequest,
        deadline: Instant,
    ) -> Result<Received, ExchangeError> {
        let (head, mut body) = response.into_parts();
        let mut response = HttpResponse {
            status: head.status,
            headers: head.headers,
            body: Vec::new(),
            version: head.version,
            ip: connection.ip,
            request_headers,
            reservation: Reservation::default(),
        };
        let announced = body.size_hint().exact();
        if !response.status.is_success() {
            let whole = self.drain(&mut body, announced).await;
            return Ok(Received { response, connection: whole.then_some(connection) });
        }
        if request.text_only && !can_be_text(&response.headers) {
            return Err(ExchangeError::new("not-text", "the content type cannot be text"));
        }
        if announced.is_some_and(|announced| announced > request.max_body_bytes as u64) && !request.truncate {
            return Err(ExchangeError::new("too-large", "the announced length is larger than allowed"));
        }
        response.body.reserve(announced.unwrap_or(0).min(self.body_budget.small_bytes as u64) as usize);
        let ended_whole = self.read(&mut body, &mut response, request, deadline).await?;
        Ok(Received { response, connection: ended_whole.then_some(connection) })
    }

    /// Reads a body into the response; true if it ended.
    async fn read(
        &self,
        body: &mut Incoming,
        response: &mut HttpResponse,
        request: &HttpRequest,
        mut deadline: Instant,
    ) -> Result<bool, ExchangeError> {
        let window = self.settings.speed_window;
        let mut window_ends = Instant::now() + window;
        let mut window_bytes = 0;
        loop {
            let frame = match timeout_at(window_ends.min(deadline), body.frame()).await {
                Ok(None) => return Ok(true),
                Ok(Some(Ok(frame))) => frame,
                Ok(Some(Err(error))) => {
                    return Err(ExchangeError { bytes: response.body.len() as u64, ..ExchangeError::from(error) });
                }
                Err(_) if Instant::now() >= deadline => {
                    return Err(ExchangeError::new("timeout", "the body took too long"));
                }
                Err(_) if window_bytes < self.settings.min_bytes_per_window => {
                    return Err(ExchangeError::new("slow", "the body was too slow"));
                }
                Err(_) => {
                    (window_ends, window_bytes) = (Instant::now() + window, 0);
                    continue;
                }
            };
            let Ok(data) = frame.into_data() else { continue };
            window_bytes += data.len() as u64;
            if Instant::now() >= window_ends {
                if window_bytes < self.settings.min_bytes_per_window {
                    return Err(ExchangeError::new("slow", "the body was too slow"));
                }
                (window_ends, window_bytes) = (Instant::now() + window, 0);
            }
            let len = response.body.len() + data.len();
            if len > request.max_body_bytes && request.truncate {
                return Ok(false);
            }
            if len > request.max_body_bytes {
                return Err(ExchangeError {
                    bytes: len as u64,
                    ..ExchangeError::new("too-large", "the body is larger than allowed")
                });
            }
            if len > response.reservation.bytes() {
                // Waiting for memory does not count against the server.
                let waited_from = Instant::now();
                self.body_budget.enlarge(&mut response.reservation, len).await;
                let waited = waited_from.elapsed();
                deadline += waited;
                window_ends += waited;
            }
            response.body.extend_from_slice(&data);
        }
    }

    /// Discards a short body; true if it ended.
    async fn drain(&self, body: &mut Incoming, announced: Option<u64>) -> bool {
        if announced.is_some_and(|announced| announced > MAX_DRAIN_BYTES) {
            return false;
        }
        let mut read = 0;
        let all = async {
            while let Some(Ok(frame)) = body.frame().await {
                read += frame.data_ref().map_or(0, Bytes::len) as u64;
                if read > MAX_DRAIN_BYTES {
                    return false;
                }
            }
            body.is_end_stream()
        };
        timeout(Duration::from_secs(2), all).await.unwrap_or(false)
    }
}

struct Received {
    response: HttpResponse,
    connection: Option<Connection>,
}

struct ExchangeError {
    status: Status,
    detail: String,
    bytes: u64,
    stale: Stale,
}

/// The certainty that a connection was closed before the server received the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stale {
    No,
    /// The request was not sent.
    Unsent,
    /// The request was sent, and whether the server read it is unknown.
    MaybeSent,
}

impl ExchangeError {
    fn new(name: &'static str, detail: &str) -> ExchangeError {
        ExchangeError { status: Status::failed(name), detail: detail.to_owned(), bytes: 0, stale: Stale::No }
    }
}

impl From<hyper::Error> for ExchangeError {
    fn from(error: hyper::Error) -> ExchangeError {
        let name = if error.is_parse() {
            // hyper tells this case from the others only by its message.
            if error.to_string().contains("too large") { "headers" } else { "protocol" }
        } else if error.is_timeout() {
            "timeout"
        } else {
            "cut"
        };
        ExchangeError::new(name, &error.to_string())
    }
}

/// The result of an exchange over a connection to `peer`.
fn finish(outcome: Result<Received, ExchangeError>, reused: bool, peer: Option<IpAddr>) -> Exchange {
    match outcome {
        Ok(Received { response, connection }) => {
            let bytes = response.body.len() as u64;
            Exchange { result: Ok(response), connection, reused, bytes, peer }
        }
        Err(ExchangeError { status, detail, bytes, stale }) => Exchange {
            result: Err(RequestError::Failed(status, detail)),
            connection: None,
            reused,
            bytes,
            peer: peer.filter(|_| stale != Stale::Unsent),
        },
    }
}

/// The result of an exchange in which nothing was sent.
fn failed(error: RequestError) -> Exchange {
    Exchange { result: Err(error), connection: None, reused: false, bytes: 0, peer: None }
}

/// True if a content type can be text. A missing one can.
fn can_be_text(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return true };
    let value = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
    let essence = value.split(';').next().unwrap_or_default().trim();
    match essence.split_once('/') {
        Some(("text", _)) => true,
        Some(("application", sub)) => {
            matches!(sub, "xhtml+xml" | "xml" | "json" | "html" | "xhtml" | "vnd.wap.xhtml+xml")
                || sub.ends_with("+xml")
                || sub.ends_with("+json")
        }
        Some(("image" | "audio" | "video" | "font" | "model" | "multipart" | "message", _)) => false,
        // A malformed content type is ignored.
        _ => true,
    }
}

/// Start line and headers of a message in HTTP/1.1 syntax, for archives.
pub fn head_text(first_line: &str, headers: &HeaderMap) -> Vec<u8> {
    let mut text = format!("{first_line}\r\n").into_bytes();
    for (name, value) in headers {
        // The body is stored without its transfer encoding, so the header would be wrong.
        if name != header::TRANSFER_ENCODING {
            text.extend_from_slice(name.as_str().as_bytes());
            text.extend_from_slice(b": ");
            text.extend_from_slice(value.as_bytes());
            text.extend_from_slice(b"\r\n");
        }
    }
    text.extend_from_slice(b"\r\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(content_type: &str) -> HeaderMap {
        [(header::CONTENT_TYPE, HeaderValue::from_str(content_type).unwrap())].into_iter().collect()
    }

    #[test]
    fn text_and_unknown_types_can_be_text_and_media_cannot() {
        let text =
            ["text/html; charset=utf-8", "TEXT/PLAIN", "application/xhtml+xml", "application/ld+json", "html", ""];
        for name in text {
            assert!(can_be_text(&headers(name)), "{name}");
        }
        for name in ["image/png", "application/pdf", "application/octet-stream", "video/mp4", "font/woff2"] {
            assert!(!can_be_text(&headers(name)), "{name}");
        }
        assert!(can_be_text(&HeaderMap::new()));
    }

    #[test]
    fn the_head_of_a_message_has_http_1_syntax_without_the_transfer_encoding() {
        let mut map = headers("text/html");
        map.insert(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        assert_eq!(head_text("HTTP/1.1 200 OK", &map), b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n");
    }

    #[test]
    fn the_encoding_of_a_policy_file_is_decoded_and_damage_is_an_error() {
        let ceiling = Ceiling { max_bytes: 1 << 20, max_ratio: 100 };
        let packed = zstd::encode_all(&b"User-agent: *"[..], 3).unwrap();
        let mut response = HttpResponse::for_test(200, &[("content-encoding", "zstd")], packed);
        assert_eq!(response.decode_body(ceiling), Ok(()));
        assert_eq!(response.body, b"User-agent: *");
        response.body = b"\x00damaged".to_vec();
        assert_eq!(response.decode_body(ceiling), Err(Status::failed("encoding")));
        let mut missing = HttpResponse::for_test(404, &[("content-encoding", "gzip")], b"x".to_vec());
        assert_eq!(missing.decode_body(ceiling), Ok(()));
    }

    #[test]
    fn an_invalid_user_agent_is_rejected() {
        let settings = Settings { user_agent: "two\nlines".to_owned(), ..Settings::default() };
        let error = HttpClient::new(&settings, 1).err().expect("refused");
        assert!(error.to_string().contains("two\nlines"), "{error}");
    }

    #[test]
    fn only_a_failure_in_transit_is_a_failed_request() {
        let failed = finish(Err(ExchangeError { bytes: 7, ..ExchangeError::new("slow", "detail") }), true, None);
        assert!(failed.reused && failed.bytes == 7 && failed.connection.is_none());
        assert!(matches!(failed.result, Err(RequestError::Failed(status, _)) if status == Status::failed("slow")));
    }
}
