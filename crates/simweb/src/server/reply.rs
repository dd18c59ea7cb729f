//! An answer before it is sent.

use std::time::Duration;

use bytes::Bytes;

/// The way in which a response is sent.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// As it should be, with its length.
    Whole,
    /// In chunks.
    Chunked,
    /// Never.
    Hang,
    /// By closing the connection.
    Cut,
    /// Byte by byte.
    Drip,
    /// Without end.
    Endless,
    /// Up to the middle.
    Truncated,
    /// As a stream that expands to this many bytes.
    Bomb(u64),
    /// With a prepared head.
    Prepared(Bytes),
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    /// Header lines with line ends; length and connection are added on sending.
    pub headers: String,
    pub body: Bytes,
    pub delivery: Delivery,
    /// Whether the connection is closed after this response.
    pub close: bool,
    /// The value of `Retry-After`.
    pub retry_after: Option<Duration>,
}

impl Reply {
    /// An answer that is sent as it should be.
    pub fn new(status: u16, headers: String, body: impl Into<Bytes>) -> Self {
        Reply { status, headers, body: body.into(), delivery: Delivery::Whole, close: false, retry_after: None }
    }

    /// A short page with the status as its text.
    pub fn short(status: u16) -> Self {
        let body = format!("<!DOCTYPE html><title>{status}</title><h1>{status} {}</h1>\n", reason(status));
        Reply::new(status, "Content-Type: text/html; charset=utf-8\r\n".to_string(), body)
    }

    /// A redirect, absolute or within the site.
    pub fn redirect(status: u16, location: &str) -> Self {
        let mut reply = Reply::short(status);
        reply.headers.push_str(&format!("Location: {location}\r\n"));
        reply
    }

    /// The same with another delivery.
    pub fn sent(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// The same with a `Retry-After`.
    pub fn waiting(mut self, wait: Duration) -> Self {
        self.headers.push_str(&format!("Retry-After: {}\r\n", wait.as_secs()));
        self.retry_after = Some(wait);
        self
    }
}

/// The reason phrase of a status.
pub fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Unknown",
    }
}
