//! Answers on their way: JSON and RSS in one piece, JSON lines and CSV row by row.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use hyper::header::{CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, LINK};
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tidings_formats::csv::quoted;
use tidings_query::answer::About;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::api_error::ApiError;
use crate::compression::FrameEncoder;
use crate::endpoint::Endpoint;
use crate::rss;

/// Rows are sent in pieces of this size, and so many pieces may wait.
const PIECE_BYTES: usize = 32 << 10;
const PIECES_WAITING: usize = 4;
/// A client that takes no piece for so long has gone, whatever its connection says.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tells the thread that works on an answer when nobody wants it any more.
#[derive(Debug)]
pub(crate) struct CancelOnDrop(pub Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Body {
    Whole(Option<Bytes>),
    Pieces(mpsc::Receiver<Result<Bytes, Truncated>>, Option<CancelOnDrop>),
}

/// The answer is not whole: the connection ends in the middle, so that nobody takes it for all there is.
#[derive(Debug, thiserror::Error)]
#[error("the answer was cut off")]
pub(crate) struct Truncated;

impl Body {
    pub fn of(bytes: impl Into<Bytes>) -> Body {
        Body::Whole(Some(bytes.into()))
    }

    /// Keeps the sign that the answer is cancel_on_drop as long as the body lives.
    pub fn cancel_on_drop(&mut self, cancel_on_drop: CancelOnDrop) {
        if let Body::Pieces(_, kept) = self {
            *kept = Some(cancel_on_drop);
        }
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Truncated;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Truncated>>> {
        match self.get_mut() {
            Body::Whole(bytes) => {
                Poll::Ready(bytes.take().filter(|bytes| !bytes.is_empty()).map(|bytes| Ok(Frame::data(bytes))))
            }
            Body::Pieces(pieces, _) => pieces.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data))),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Body::Pieces(..) => SizeHint::default(),
        }
    }
}

/// In what form an answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Jsonl,
    Csv,
    /// A feed, where rows are something to read.
    Rss,
}

/// The formats by name.
pub(crate) const FORMATS: &[&str] = &["json", "jsonl", "csv"];

impl Format {
    /// Whether rows leave as they come, so that there may be many.
    pub fn is_stream(self) -> bool {
        matches!(self, Format::Jsonl | Format::Csv)
    }

    pub fn named(name: &str) -> Format {
        match name {
            "jsonl" => Format::Jsonl,
            "csv" => Format::Csv,
            "rss" => Format::Rss,
            _ => Format::Json,
        }
    }
}

/// How an answer is cancel_on_drop.
#[derive(Debug, Clone)]
pub(crate) struct ResponseOptions {
    pub format: Format,
    /// The address that asks the same, without the server's.
    pub link: String,
    /// The address of the server, as the client knows it.
    pub base: String,
    /// Whether the client understands gzip.
    pub gzip: bool,
}

/// A mark of answers that are the same whenever the same is asked of the same state of a corpus.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exact;

/// Nobody wants the rest.
pub(crate) struct ClientGone;

/// An answer that is being made.
pub(crate) struct ResponseWriter {
    endpoint: &'static Endpoint,
    options: ResponseOptions,
    head: Map<String, Value>,
    /// Rows of a feed; those of other answers are text already.
    rows: Vec<Value>,
    columns: Vec<Vec<String>>,
    buffer: Vec<u8>,
    pieces: Option<mpsc::Sender<Result<Bytes, Truncated>>>,
    encoder: Option<FrameEncoder>,
    first: Option<oneshot::Sender<Result<Response<Body>, ApiError>>>,
}

impl ResponseWriter {
    /// An answer that goes to somebody who waits for its beginning. `fields` are the columns of maps.
    pub fn new(
        endpoint: &'static Endpoint,
        options: ResponseOptions,
        fields: &[&str],
        first: oneshot::Sender<Result<Response<Body>, ApiError>>,
    ) -> ResponseWriter {
        let schema = (endpoint.answer)();
        let columns = schema.items_of(endpoint.rows).map(|row| row.columns(fields)).unwrap_or_default();
        ResponseWriter {
            endpoint,
            encoder: (options.gzip && options.format.is_stream()).then(FrameEncoder::new),
            options,
            head: Map::new(),
            rows: Vec::new(),
            columns,
            buffer: Vec::new(),
            pieces: None,
            first: Some(first),
        }
    }

    /// Whether rows leave as they come.
    pub fn is_stream(&self) -> bool {
        self.options.format.is_stream()
    }

    /// Says something about the whole.
    pub fn set(&mut self, name: &str, value: impl Serialize) {
        self.head.insert(name.to_owned(), serde_json::to_value(value).expect("answers serialise"));
    }

    /// Says what was asked of what.
    pub fn about(&mut self, about: About) {
        self.set("about", about);
    }

    /// Says all that an answer says: its rows one by one, and the rest about the whole.
    pub fn body(&mut self, body: impl Serialize) -> Result<(), ClientGone> {
        let Value::Object(body) = serde_json::to_value(body).expect("answers serialise") else { return Ok(()) };
        let mut rows = Vec::new();
        for (name, value) in body {
            match value {
                Value::Array(list) if name == self.endpoint.rows => rows = list,
                value => _ = self.head.insert(name, value),
            }
        }
        rows.into_iter().try_for_each(|row| self.row(row))
    }

    /// Gives a row. What is said about the whole must have been said, if rows leave as they come.
    pub fn row(&mut self, row: impl Serialize) -> Result<(), ClientGone> {
        let value = |row| serde_json::to_value(row).expect("rows serialise");
        if self.is_stream() {
            self.begin();
        }
        match self.options.format {
            Format::Rss => self.rows.push(value(row)),
            Format::Json => {
                if !self.buffer.is_empty() {
                    self.buffer.push(b',');
                }
                serde_json::to_writer(&mut self.buffer, &row).expect("a buffer takes everything");
            }
            Format::Csv => {
                let row = value(row);
                let cells: Vec<String> = self.columns.iter().map(|path| quoted(&cell(&row, path))).collect();
                self.buffer.extend(cells.join(",").bytes());
                self.buffer.extend(b"\r\n");
            }
            Format::Jsonl => {
                serde_json::to_writer(&mut self.buffer, &row).expect("a buffer takes everything");
                self.buffer.push(b'\n');
            }
        }
        if self.is_stream() && self.buffer.len() >= PIECE_BYTES { self.send() } else { Ok(()) }
    }

    /// Sends the head of a stream, once.
    fn begin(&mut self) {
        let Some(first) = self.first.take() else { return };
        let (sender, receiver) = mpsc::channel(PIECES_WAITING);
        self.pieces = Some(sender);
        let mut response = Response::new(Body::Pieces(receiver, None));
        let (kind, ending) = match self.options.format {
            Format::Csv => ("text/csv; charset=utf-8; header=present", "csv"),
            _ => ("application/x-ndjson", "jsonl"),
        };
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        let file = format!("attachment; filename=\"tidings-{}.{ending}\"", self.endpoint.name);
        for (name, text) in [
            (CONTENT_DISPOSITION, file),
            (LINK, format!("<{}>; rel=\"canonical\"", self.options.link)),
            (hyper::header::HeaderName::from_static("tidings-about"), ascii(&Value::Object(self.head.clone()))),
        ] {
            headers.extend(HeaderValue::from_str(&text).ok().map(|value| (name, value)));
        }
        if self.encoder.is_some() {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let _ = first.send(Ok(response));
        if self.options.format == Format::Csv {
            let names: Vec<String> =
                self.columns.iter().map(|path| quoted(&path.join(".").replace("fields.", ""))).collect();
            self.buffer.extend(names.join(",").bytes());
            self.buffer.extend(b"\r\n");
        }
    }

    fn send(&mut self) -> Result<(), ClientGone> {
        let buffer = std::mem::take(&mut self.buffer);
        let piece = match &mut self.encoder {
            Some(encoder) if !buffer.is_empty() => encoder.piece(&buffer),
            _ => buffer,
        };
        self.send_piece(piece)
    }

    fn send_piece(&self, piece: Vec<u8>) -> Result<(), ClientGone> {
        let piece = Bytes::from(piece);
        let Some(pieces) = self.pieces.as_ref().filter(|_| !piece.is_empty()) else { return Ok(()) };
        let sent = Handle::current().block_on(tokio::time::timeout(PATIENCE, pieces.send(Ok(piece))));
        if matches!(sent, Ok(Ok(()))) { Ok(()) } else { Err(ClientGone) }
    }

    /// Sends what is left.
    pub fn finish(mut self) {
        if self.is_stream() {
            self.begin();
            if self.send().is_ok()
                && let Some(encoder) = self.encoder.take()
            {
                let _ = self.send_piece(encoder.end());
            }
            return;
        }
        let Some(first) = self.first.take() else { return };
        let is_exact = self.head.get("about").is_some_and(|about| about["exactness"]["kind"] == "exact");
        let (mut head, rows) = (std::mem::take(&mut self.head), std::mem::take(&mut self.rows));
        let mut response = match self.options.format {
            Format::Rss => {
                let text = rss::render(&head, &rows, &self.options.base, &self.options.link);
                let mut response = Response::new(Body::of(text));
                let kind = HeaderValue::from_static("application/rss+xml; charset=utf-8");
                response.headers_mut().insert(CONTENT_TYPE, kind);
                response
            }
            _ => {
                head.insert("link".to_owned(), json!(self.options.link));
                json_bytes(StatusCode::OK, whole(&head, self.endpoint.rows, &self.buffer).into())
            }
        };
        if is_exact {
            response.extensions_mut().insert(Exact);
        }
        let _ = first.send(Ok(response));
    }

    /// Refuses, unless something was sent already: then the answer is cut off.
    pub fn refuse(mut self, error: ApiError) {
        if let Some(first) = self.first.take() {
            let _ = first.send(Err(error));
        } else if self.send().is_ok()
            && let Some(pieces) = &self.pieces
        {
            let _ = Handle::current().block_on(tokio::time::timeout(PATIENCE, pieces.send(Err(Truncated))));
        }
    }
}

/// An answer of what is said about the whole, which is never nothing, and of rows that are JSON already.
fn whole(head: &Map<String, Value>, name: &str, rows: &[u8]) -> Vec<u8> {
    let mut text = serde_json::to_vec(head).expect("answers serialise");
    if !name.is_empty() {
        text.pop();
        text.extend(format!(",\"{name}\":[").bytes());
        text.extend_from_slice(rows);
        text.extend(b"]}");
    }
    text.push(b'\n');
    text
}

/// A response with a body of JSON.
pub(crate) fn json_response(status: StatusCode, body: &Value) -> Response<Body> {
    let mut text = body.to_string();
    text.push('\n');
    json_bytes(status, text.into())
}

/// The same of what is JSON already.
pub(crate) fn json_bytes(status: StatusCode, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::of(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// JSON without letters that a header cannot carry.
fn ascii(value: &Value) -> String {
    let mut text = String::new();
    for c in value.to_string().chars() {
        match c {
            ' '..='~' => text.push(c),
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    text
}

/// What stands in a cell of a table.
fn cell(row: &Value, path: &[String]) -> String {
    let value = path.iter().try_fold(row, |value, name| value.get(name));
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) if items.first().is_some_and(|item| item.get("word").is_some()) => {
            let mut text = String::new();
            for token in items {
                text.push_str(token["word"].as_str().unwrap_or_default());
                text.push_str(if token["space_after"] == true { " " } else { "" });
            }
            text.trim().to_owned()
        }
        Some(Value::Array(items)) => items.iter().map(|item| cell(item, &[])).collect::<Vec<_>>().join(" "),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_become_text_and_lists_become_words() {
        let row = json!({ "left": [{ "word": "it", "space_after": true }, { "word": "rained", "space_after": false },
            { "word": ",", "space_after": true }], "rates": [1.5, 2], "band": null });
        let at = |name: &str| cell(&row, &[name.to_owned()]);
        assert_eq!(
            (at("left"), at("rates"), at("band"), at("none")),
            ("it rained,".into(), "1.5 2".into(), "".into(), "".into())
        );
    }

    #[test]
    fn headers_carry_any_letter() {
        let value = json!({ "query": "ä😀\n" });
        let text = ascii(&value);
        assert!(text.is_ascii());
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
