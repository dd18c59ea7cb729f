//! One request and its answer, within limits of time, speed and size.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body as _, Incoming};
use tidings_model::Status;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use crate::connect::{Connection, Connector, NoConnection, Sender};
use crate::settings::Settings;

/// A small body of an answer that is no page is read to its end, so that the connection can go on.
const WORTH_DRAINING_BYTES: u64 = 64 << 10;

/// What is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) url: Url,
    /// What the client would like to have.
    pub(crate) accept: &'static str,
    /// Validators and the like.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// Whether bodies that cannot be text are unwanted.
    pub(crate) text_only: bool,
    pub(crate) max_body_bytes: usize,
    /// Whether the beginning of a body that is too large is better than nothing.
    pub(crate) beginning_will_do: bool,
}

/// An answer.
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body as received, content encoding kept.
    pub body: Vec<u8>,
    /// The version it came in.
    pub version: Version,
    /// Who answered.
    pub ip: IpAddr,
    /// The request's headers, for the record.
    pub asked: HeaderMap,
    /// The room for the body; it is given back with the answer.
    held: Held,
}

impl Answer {
    /// Whether it takes up one of the few large rooms, and should be put away soon.
    pub fn is_large(&self) -> bool {
        self.held.bytes > 128 << 10
    }
}

/// How an exchange ended.
pub(crate) struct Exchanged {
    pub(crate) result: Result<Answer, NoAnswer>,
    /// The connection, if it can carry another request.
    pub(crate) connection: Option<Connection>,
    pub(crate) reused: bool,
    pub(crate) bytes: u64,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    Failed(Status, String),
    /// This machine lacked a socket: the request was never sent.
    OutOfSockets,
    /// The server closed a connection that had served before. It may have seen the request, so
    /// asking again has to wait for its turn.
    Unheard(Status, String),
}

/// Room for bodies on their way: a little for everybody, and larger rooms to share.
///
/// Rooms come in sizes with a budget each. A body that outgrows its room waits for one of the next
/// size while it keeps its own, so the holders of the largest rooms never wait and everybody gets
/// on; no body, however large or slow, can take the room of the ordinary ones.
#[derive(Clone)]
pub(crate) struct Rooms {
    small_bytes: usize,
    shared: [(usize, Arc<Semaphore>); 3],
}

/// Rooms that an answer holds until it is put away.
#[derive(Default)]
struct Held {
    bytes: usize,
    permits: Vec<OwnedSemaphorePermit>,
}

impl Rooms {
    pub(crate) fn new(settings: &Settings, concurrency: usize) -> Rooms {
        let budget = settings.body_memory_bytes / 4;
        let sizes = [128 << 10, 1 << 20, settings.max_body_bytes];
        Rooms {
            small_bytes: (budget / concurrency.max(1)).clamp(16 << 10, 128 << 10),
            shared: sizes.map(|bytes| (bytes, Arc::new(Semaphore::new((budget / bytes).max(2))))),
        }
    }

    /// Sees to it that `held` is room for so many bytes.
    async fn enlarge(&self, held: &mut Held, bytes: usize) {
        if held.bytes == 0 {
            held.bytes = self.small_bytes;
        }
        let fitting = self.shared.iter().find(|(size, _)| *size >= bytes && *size > held.bytes);
        if let Some((size, rooms)) = fitting.filter(|_| bytes > held.bytes) {
            held.permits.extend(rooms.clone().acquire_owned().await);
            held.bytes = *size;
        }
    }
}

/// Asks questions over connections that it opens or is lent.
pub(crate) struct Asker {
    connector: Connector,
    settings: Settings,
    user_agent: HeaderValue,
    rooms: Rooms,
}

impl Asker {
    pub(crate) fn new(settings: &Settings, concurrency: usize) -> Result<Asker, crate::Error> {
        let user_agent = HeaderValue::from_str(&settings.user_agent)
            .map_err(|_| crate::Error::UserAgent { given: settings.user_agent.clone() })?;
        Ok(Asker {
            connector: Connector::new(settings)?,
            settings: settings.clone(),
            user_agent,
            rooms: Rooms::new(settings, concurrency),
        })
    }

    /// Asks, over the lent connection if it still serves.
    pub(crate) async fn ask(&self, ask: &Ask, lent: Option<Connection>) -> Exchanged {
        let deadline = Instant::now() + self.settings.total_timeout;
        if let Some(connection) = lent.filter(|lent| lent.is_open() && lent.can_reach(&ask.url)) {
            match self.over(connection, ask, deadline).await {
                // The idle connection was closed before anything was sent: ask over a new one.
                Err(Trouble { stale: Stale::Unsent, .. }) => {}
                Err(Trouble { stale: Stale::Perhaps, status, detail, .. }) => {
                    return Exchanged { reused: true, ..none(NoAnswer::Unheard(status, detail)) };
                }
                outcome => return settle(outcome, true),
            }
        }
        // Boxed, because the state of a handshake is large and most requests need none.
        let opening = Box::pin(self.connector.open(&ask.url));
        let connection = match timeout(self.settings.connect_timeout, opening).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(NoConnection::OutOfSockets)) => return none(NoAnswer::OutOfSockets),
            Ok(Err(NoConnection::Theirs(status, detail))) => return none(NoAnswer::Failed(status, detail)),
            Err(_) => {
                let detail = format!("no connection within {} s", self.settings.connect_timeout.as_secs());
                return none(NoAnswer::Failed(Status::failed("timeout"), detail));
            }
        };
        settle(self.over(connection, ask, deadline).await, false)
    }

    async fn over(&self, mut connection: Connection, ask: &Ask, deadline: Instant) -> Result<Done, Trouble> {
        let request = self.request(ask, &connection);
        let asked = request.headers().clone();
        let sent = async {
            match &mut connection.sender {
                Sender::One(sender) => {
                    sender.ready().await?;
                    sender.send_request(request).await
                }
                Sender::Two(sender) => {
                    sender.ready().await?;
                    sender.send_request(request).await
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
                    Stale::Perhaps
                } else {
                    Stale::No
                };
                return Err(Trouble { stale, ..Trouble::from(error) });
            }
            Err(_) => return Err(Trouble::new("timeout", "no answer in time")),
        };
        self.receive(connection, response, asked, ask, deadline).await
    }

    fn request(&self, ask: &Ask, connection: &Connection) -> Request<Empty<Bytes>> {
        let url = &ask.url;
        let mut request = Request::new(Empty::new());
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let headers_of = |request: &mut Request<Empty<Bytes>>| {
            let headers = request.headers_mut();
            headers.insert(header::USER_AGENT, self.user_agent.clone());
            headers.insert(header::ACCEPT, HeaderValue::from_static(ask.accept));
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, zstd"));
            headers.extend(ask.headers.iter().cloned());
        };
        match connection.sender {
            Sender::One(_) => {
                *request.uri_mut() = path.parse().unwrap_or_default();
                let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
                if let Ok(host) = HeaderValue::from_str(host) {
                    request.headers_mut().insert(header::HOST, host);
                }
            }
            Sender::Two(_) => *request.uri_mut() = url.as_str().parse().unwrap_or_default(),
        }
        headers_of(&mut request);
        request
    }

    async fn receive(
        &self,
        connection: Connection,
        response: Response<Incoming>,
        asked: HeaderMap,
        ask: &Ask,
        deadline: Instant,
    ) -> Result<Done, Trouble> {
        let (head, mut body) = response.into_parts();
        let mut answer = Answer {
            status: head.status,
            headers: head.headers,
            body: Vec::new(),
            version: head.version,
            ip: connection.ip,
            asked,
            held: Held::default(),
        };
        let told = body.size_hint().exact();
        if !answer.status.is_success() {
            let whole = self.drain(&mut body, told).await;
            return Ok(Done { answer, connection: whole.then_some(connection) });
        }
        if ask.text_only && !can_be_text(&answer.headers) {
            return Err(Trouble::new("not-text", "the content type cannot be text"));
        }
        if told.is_some_and(|told| told > ask.max_body_bytes as u64) && !ask.beginning_will_do {
            return Err(Trouble::new("too-large", "the announced length is larger than allowed"));
        }
        answer.body.reserve(told.unwrap_or(0).min(self.rooms.small_bytes as u64) as usize);
        let ended_whole = self.read(&mut body, &mut answer, ask, deadline).await?;
        Ok(Done { answer, connection: ended_whole.then_some(connection) })
    }

    /// Reads a body into the answer; true if it came to its end.
    async fn read(
        &self,
        body: &mut Incoming,
        answer: &mut Answer,
        ask: &Ask,
        mut deadline: Instant,
    ) -> Result<bool, Trouble> {
        let window = self.settings.speed_window;
        let mut window_ends = Instant::now() + window;
        let mut window_bytes = 0;
        loop {
            let frame = match timeout_at(window_ends.min(deadline), body.frame()).await {
                Ok(None) => return Ok(true),
                Ok(Some(Ok(frame))) => frame,
                Ok(Some(Err(error))) => {
                    return Err(Trouble { bytes: answer.body.len() as u64, ..Trouble::from(error) });
                }
                Err(_) if Instant::now() >= deadline => return Err(Trouble::new("timeout", "the body took too long")),
                Err(_) if window_bytes < self.settings.min_bytes_per_window => {
                    return Err(Trouble::new("slow", "the body dripped"));
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
                    return Err(Trouble::new("slow", "the body dripped"));
                }
                (window_ends, window_bytes) = (Instant::now() + window, 0);
            }
            let len = answer.body.len() + data.len();
            if len > ask.max_body_bytes && ask.beginning_will_do {
                return Ok(false);
            }
            if len > ask.max_body_bytes {
                return Err(Trouble {
                    bytes: len as u64,
                    ..Trouble::new("too-large", "the body is larger than allowed")
                });
            }
            if len > answer.held.bytes {
                // Waiting for room is our own doing, so it does not count against the server.
                let waited_from = Instant::now();
                self.rooms.enlarge(&mut answer.held, len).await;
                let waited = waited_from.elapsed();
                deadline += waited;
                window_ends += waited;
            }
            answer.body.extend_from_slice(&data);
        }
    }

    /// Reads what is not wanted, if it is little; true if it was read to the end.
    async fn drain(&self, body: &mut Incoming, told: Option<u64>) -> bool {
        if told.is_some_and(|told| told > WORTH_DRAINING_BYTES) {
            return false;
        }
        let mut read = 0;
        let all = async {
            while let Some(Ok(frame)) = body.frame().await {
                read += frame.data_ref().map_or(0, Bytes::len) as u64;
                if read > WORTH_DRAINING_BYTES {
                    return false;
                }
            }
            body.is_end_stream()
        };
        timeout(Duration::from_secs(2), all).await.unwrap_or(false)
    }
}

struct Done {
    answer: Answer,
    connection: Option<Connection>,
}

struct Trouble {
    status: Status,
    detail: String,
    bytes: u64,
    stale: Stale,
}

/// Whether a connection may have been closed before the server saw the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stale {
    No,
    /// The request never left.
    Unsent,
    /// The request left, and nobody can tell.
    Perhaps,
}

impl Trouble {
    fn new(name: &'static str, detail: &str) -> Trouble {
        Trouble { status: Status::failed(name), detail: detail.to_owned(), bytes: 0, stale: Stale::No }
    }
}

impl From<hyper::Error> for Trouble {
    fn from(error: hyper::Error) -> Trouble {
        let name = if error.is_parse() {
            // Only the words tell this case from the others.
            if error.to_string().contains("too large") { "headers" } else { "protocol" }
        } else if error.is_timeout() {
            "timeout"
        } else {
            "cut"
        };
        Trouble::new(name, &error.to_string())
    }
}

fn settle(outcome: Result<Done, Trouble>, reused: bool) -> Exchanged {
    match outcome {
        Ok(Done { answer, connection }) => {
            let bytes = answer.body.len() as u64;
            Exchanged { result: Ok(answer), connection, reused, bytes }
        }
        Err(Trouble { status, detail, bytes, .. }) => {
            Exchanged { result: Err(NoAnswer::Failed(status, detail)), connection: None, reused, bytes }
        }
    }
}

fn none(why: NoAnswer) -> Exchanged {
    Exchanged { result: Err(why), connection: None, reused: false, bytes: 0 }
}

/// Whether a content type leaves hope for text. No type at all does.
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
        // What is no content type at all says nothing.
        _ => true,
    }
}

/// The first lines of a message as HTTP/1.1 writes them, for archives.
pub fn head_text(first_line: &str, headers: &HeaderMap) -> Vec<u8> {
    let mut text = format!("{first_line}\r\n").into_bytes();
    for (name, value) in headers {
        // The body is stored without its transfer encoding, so the header would be a lie.
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
