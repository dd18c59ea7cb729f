//! Single POST requests: notifications that a home sends to addresses which its owner names.
//!
//! The request goes through the same client as a crawl: the guard against non-public addresses, the time limits and the
//! user agent apply. Redirects are not followed, because they would send the body to another address.

use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Builder;
use url::Url;

use crate::client::{HttpClient, HttpRequest, RequestError};
use crate::settings::Settings;

/// The longest response that is read; nothing in it is used.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// The reason why a notification did not arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostError {
    /// The cause.
    pub message: String,
    /// Whether the same request may succeed later.
    pub is_transient: bool,
}

impl std::fmt::Display for PostError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PostError {}

/// Sends JSON to an address; a response with a status of 200 to 299 is a success.
pub fn post_json(settings: &Settings, url: &str, body: Vec<u8>, total_timeout: Duration) -> Result<(), PostError> {
    let failed = |message: String, is_transient| PostError { message, is_transient };
    let target = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let target = target.ok_or_else(|| failed(format!("{url}: not a valid http or https URL"), false))?;
    let settings = Settings { total_timeout, ..settings.clone() };
    let client = HttpClient::new(&settings, 1).map_err(|error| failed(error.to_string(), false))?;
    let request = HttpRequest {
        url: target,
        address: None,
        accept: "*/*",
        headers: Vec::new(),
        text_only: false,
        max_body_bytes: MAX_RESPONSE_BYTES,
        truncate: true,
        decode: false,
        json: Some(Bytes::from(body)),
    };
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(error.to_string(), true))?;
    match runtime.block_on(client.send(&request, None)).result {
        Ok(response) if response.status.is_success() => Ok(()),
        Ok(response) => {
            let is_transient = response.status.is_server_error() || response.status.as_u16() == 429;
            Err(failed(format!("HTTP status {}", response.status.as_u16()), is_transient))
        }
        Err(RequestError::Failed(status, detail)) => Err(failed(format!("{status}: {detail}"), !status.is_final())),
        Err(error) => Err(failed(format!("{error:?}"), true)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use super::*;
    use crate::guard::Guard;

    const TIME: Duration = Duration::from_secs(10);

    /// Settings that allow requests to loopback addresses.
    fn local() -> Settings {
        let guard = Guard { allowed: vec!["127.0.0.0/8".parse().unwrap()] };
        Settings { guard, ..Settings::default() }
    }

    /// A server that answers one request with a status; returns its address and what it received.
    fn answering(status: u16) -> (String, thread::JoinHandle<(String, String)>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/hook?key=1", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            reader.into_inner().write_all(answer.as_bytes()).unwrap();
            (head, String::from_utf8(body).unwrap())
        });
        (url, server)
    }

    #[test]
    fn a_body_arrives_as_json() {
        let (url, server) = answering(204);
        post_json(&local(), &url, b"{\"hits\":1}".to_vec(), TIME).unwrap();
        let (head, body) = server.join().unwrap();
        assert!(head.starts_with("POST /hook?key=1 HTTP/1.1\r\n"), "{head}");
        assert!(head.to_ascii_lowercase().contains("content-type: application/json"), "{head}");
        assert_eq!(body, "{\"hits\":1}");
    }

    #[test]
    fn errors_of_the_server_are_transient_and_refusals_are_not() {
        for (status, is_transient) in [(500, true), (429, true), (404, false), (302, false)] {
            let (url, server) = answering(status);
            let error = post_json(&local(), &url, Vec::new(), TIME).unwrap_err();
            assert_eq!((error.is_transient, error.message), (is_transient, format!("HTTP status {status}")));
            server.join().unwrap();
        }
    }

    #[test]
    fn addresses_that_are_not_public_are_refused_unless_they_are_allowed() {
        let error = post_json(&Settings::default(), "http://127.0.0.1:9/", Vec::new(), TIME).unwrap_err();
        assert!(!error.is_transient && !error.message.contains("HTTP status"), "{error}");
        let error = post_json(&local(), "ftp://e.org/", Vec::new(), TIME).unwrap_err();
        assert!(!error.is_transient && error.message.contains("not a valid http"), "{error}");
    }
}
