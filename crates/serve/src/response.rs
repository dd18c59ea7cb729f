//! Responses: JSON and RSS as one body, JSON Lines and CSV streamed row by row.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use hyper::header::{CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, LINK};
use hyper::{Response, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tidings_formats::csv::quoted;
use tidings_query::question::{Answered, Column, RowData};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::api_error::ApiError;
use crate::compression::GzipStream;
use crate::endpoint::Endpoint;
use crate::rss;

/// Size of a chunk of a stream, and how many may be queued.
const CHUNK_BYTES: usize = 32 << 10;
const QUEUED_CHUNKS: usize = 4;
/// A client that accepts no chunk for this long counts as gone.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// Cancels the worker thread of a response when the response is dropped.
#[derive(Debug)]
pub(crate) struct CancelOnDrop(pub Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The body of a response.
#[derive(Debug)]
pub(crate) enum Body {
    Whole(Option<Bytes>),
    Chunks(mpsc::Receiver<Result<Bytes, Truncated>>, Option<CancelOnDrop>),
}

/// Aborts the connection in the middle of a stream, so that the client notices that rows are missing.
#[derive(Debug, thiserror::Error)]
#[error("the response is incomplete")]
pub(crate) struct Truncated;

impl Body {
    pub fn of(bytes: impl Into<Bytes>) -> Body {
        Body::Whole(Some(bytes.into()))
    }

    /// Cancels the worker when the body of a stream is dropped.
    pub fn cancel_on_drop(&mut self, cancel_on_drop: CancelOnDrop) {
        if let Body::Chunks(_, kept) = self {
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
            Body::Chunks(chunks, _) => chunks.poll_recv(context).map(|chunk| chunk.map(|chunk| chunk.map(Frame::data))),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Body::Chunks(..) => SizeHint::default(),
        }
    }
}

tidings_query::choices! {
    /// The format of a response.
    pub(crate) enum Format {
        /// One JSON object.
        Json = "json",
        /// A JSON object for each row, as rows are found.
        Jsonl = "jsonl",
        /// Comma-separated values, as rows are found.
        Csv = "csv",
        /// A feed (RSS 2.0).
        Rss = "rss",
    }
}

/// The parameter of endpoints with rows.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FormatParams {
    /// The format of the response: one JSON object, or rows as they are found as jsonl or csv.
    #[serde(default = "json_format")]
    format: Format,
}

/// The parameter of questions to a corpus.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StateParams {
    /// Answer from a frozen state of the corpus instead of the present one: its name, or the day on which it was frozen.
    #[serde(default)]
    #[schemars(extend("x-value-name" = "NAME|DATE"))]
    as_of: Option<String>,
}

impl tidings_query::question::Request for StateParams {
    fn example() -> StateParams {
        StateParams { as_of: None }
    }
}

fn json_format() -> Format {
    Format::Json
}

impl tidings_query::question::Request for FormatParams {
    fn example() -> FormatParams {
        FormatParams { format: Format::Csv }
    }
}

impl Format {
    /// Returns `true` if rows are streamed.
    pub fn is_stream(self) -> bool {
        matches!(self, Format::Jsonl | Format::Csv)
    }
}

/// The form in which an answer is sent.
#[derive(Debug, Clone)]
pub(crate) struct ResponseOptions {
    pub format: Format,
    /// Canonical path and query of the request.
    pub link: String,
    /// Base URL of the server as the client sees it.
    pub base: String,
    /// The client accepts gzip.
    pub gzip: bool,
    /// The corpus and the beginning of its checksum, as a part of file names; empty for questions about the home.
    pub state: String,
}

/// Marks a response that is a pure function of request and corpus generation, and may be cached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exact;

/// The client has disconnected.
pub(crate) struct ClientGone;

/// Writes a response: head properties first, then rows.
pub(crate) struct ResponseWriter {
    endpoint: &'static Endpoint,
    options: ResponseOptions,
    head: Map<String, Value>,
    /// Rows of an RSS feed; other formats write rows to `buffer` at once.
    rows: Vec<Value>,
    columns: Vec<Column>,
    buffer: Vec<u8>,
    chunks: Option<mpsc::Sender<Result<Bytes, Truncated>>>,
    encoder: Option<GzipStream>,
    first: Option<oneshot::Sender<Result<Response<Body>, ApiError>>>,
}

impl ResponseWriter {
    /// A writer whose head or error goes to `first`. `fields` are the columns of maps.
    pub fn new(
        endpoint: &'static Endpoint,
        options: ResponseOptions,
        fields: &[&str],
        first: oneshot::Sender<Result<Response<Body>, ApiError>>,
    ) -> ResponseWriter {
        let columns = if options.format == Format::Csv { endpoint.columns(fields) } else { Vec::new() };
        ResponseWriter {
            endpoint,
            encoder: (options.gzip && options.format.is_stream()).then(GzipStream::new),
            options,
            head: Map::new(),
            rows: Vec::new(),
            columns,
            buffer: Vec::new(),
            chunks: None,
            first: Some(first),
        }
    }

    /// Returns `true` if rows are streamed.
    pub fn is_stream(&self) -> bool {
        self.options.format.is_stream()
    }

    /// Takes the answer to a question without its rows.
    pub fn head(&mut self, answered: Answered<Value>) {
        let Value::Object(head) = serde_json::to_value(answered).expect("answers serialise") else { return };
        self.head.extend(head);
    }

    /// Takes a whole answer: its rows one by one, and the rest.
    pub fn body(&mut self, body: Value) -> Result<(), ClientGone> {
        let Value::Object(body) = body else { return Ok(()) };
        let mut rows = Vec::new();
        for (name, value) in body {
            match value {
                Value::Array(list) if name == self.endpoint.rows => rows = list,
                value => _ = self.head.insert(name, value),
            }
        }
        rows.iter().try_for_each(|row| self.row(row))
    }

    /// Takes a row. In a stream, the rest of the answer must have been taken before.
    pub fn row(&mut self, row: &dyn RowData) -> Result<(), ClientGone> {
        if self.is_stream() {
            self.begin();
        }
        match self.options.format {
            Format::Rss => self.rows.push(row.to_value()),
            Format::Json => {
                if !self.buffer.is_empty() {
                    self.buffer.push(b',');
                }
                row.write_json(&mut self.buffer);
            }
            Format::Csv => {
                let row = row.to_value();
                let cells: Vec<String> = self.columns.iter().map(|column| quoted(&column.text(&row))).collect();
                self.buffer.extend(cells.join(",").bytes());
                self.buffer.extend(b"\r\n");
            }
            Format::Jsonl => {
                row.write_json(&mut self.buffer);
                self.buffer.push(b'\n');
            }
        }
        if self.is_stream() && self.buffer.len() >= CHUNK_BYTES { self.send() } else { Ok(()) }
    }

    /// Sends the head of a stream on the first call.
    fn begin(&mut self) {
        let Some(first) = self.first.take() else { return };
        let (sender, receiver) = mpsc::channel(QUEUED_CHUNKS);
        self.chunks = Some(sender);
        let mut response = Response::new(Body::Chunks(receiver, None));
        let (kind, ending) = match self.options.format {
            Format::Csv => ("text/csv; charset=utf-8; header=present", "csv"),
            _ => ("application/x-ndjson", "jsonl"),
        };
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        // A saved file names the state of the corpus that it comes from.
        let file = format!("attachment; filename=\"tidings-{}{}.{ending}\"", self.endpoint.name, self.options.state);
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
            let names: Vec<String> = self.columns.iter().map(|column| quoted(&column.name())).collect();
            self.buffer.extend(names.join(",").bytes());
            self.buffer.extend(b"\r\n");
        }
    }

    fn send(&mut self) -> Result<(), ClientGone> {
        let buffer = std::mem::take(&mut self.buffer);
        let chunk = match &mut self.encoder {
            Some(encoder) if !buffer.is_empty() => encoder.chunk(&buffer),
            _ => buffer,
        };
        self.send_chunk(chunk)
    }

    fn send_chunk(&self, chunk: Vec<u8>) -> Result<(), ClientGone> {
        let chunk = Bytes::from(chunk);
        let Some(chunks) = self.chunks.as_ref().filter(|_| !chunk.is_empty()) else { return Ok(()) };
        let sent = Handle::current().block_on(tokio::time::timeout(SEND_TIMEOUT, chunks.send(Ok(chunk))));
        if matches!(sent, Ok(Ok(()))) { Ok(()) } else { Err(ClientGone) }
    }

    /// Sends the rest of the response.
    pub fn finish(mut self) {
        if self.is_stream() {
            self.begin();
            if self.send().is_ok()
                && let Some(encoder) = self.encoder.take()
            {
                let _ = self.send_chunk(encoder.end());
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

    /// Sends an error, or aborts the stream if rows have been sent.
    pub fn fail(mut self, error: ApiError) {
        if let Some(first) = self.first.take() {
            let _ = first.send(Err(error));
        } else if self.send().is_ok()
            && let Some(chunks) = &self.chunks
        {
            let _ = Handle::current().block_on(tokio::time::timeout(SEND_TIMEOUT, chunks.send(Err(Truncated))));
        }
    }
}

/// The JSON body of properties (never empty) and rows that are JSON text already.
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

/// A response with a JSON body.
pub(crate) fn json_response(status: StatusCode, body: &Value) -> Response<Body> {
    let mut text = body.to_string();
    text.push('\n');
    json_bytes(status, text.into())
}

/// The same for serialised JSON.
pub(crate) fn json_bytes(status: StatusCode, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::of(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// JSON with non-ASCII characters escaped, for a header.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_carry_any_letter() {
        let value = json!({ "query": "ä😀\n" });
        let text = ascii(&value);
        assert!(text.is_ascii());
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
