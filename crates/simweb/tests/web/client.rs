//! A minimal HTTP client that exposes what an HTTP library would hide.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A response as received.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    headers: HashMap<String, String>,
    pub body: Vec<u8>,
    /// Whether all announced bytes were received.
    pub complete: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("the body is UTF-8")
    }

    /// The body without its gzip coding.
    pub fn unzipped(&self) -> Vec<u8> {
        let mut out = Vec::new();
        flate2::read::GzDecoder::new(&self.body[..]).read_to_end(&mut out).expect("the body is gzip");
        out
    }
}

/// A connection that can be used again.
pub struct Connection {
    stream: TcpStream,
    host: String,
    pending: Vec<u8>,
}

/// Splits an address into host with port, and path.
pub fn split(url: &str) -> (String, String) {
    let rest = url.strip_prefix("http://").expect("only http here");
    let at = rest.find('/').expect("every address has a path");
    (rest[..at].to_string(), rest[at..].to_string())
}

impl Connection {
    pub fn open(url: &str) -> io::Result<Self> {
        let (host, _) = split(url);
        let address: SocketAddr = host.parse().expect("hosts are addresses");
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Connection { stream, host, pending: Vec::new() })
    }

    pub fn set_patience(&self, patience: Duration) {
        self.stream.set_read_timeout(Some(patience)).unwrap();
    }

    pub fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)]) -> io::Result<()> {
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: tester\r\n", self.host);
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        self.stream.write_all(request.as_bytes())
    }

    fn more(&mut self) -> io::Result<usize> {
        let mut piece = [0; 65536];
        let count = self.stream.read(&mut piece)?;
        self.pending.extend_from_slice(&piece[..count]);
        Ok(count)
    }

    /// Reads an answer with a body of at most this many bytes.
    pub fn receive(&mut self, method: &str, limit: usize) -> io::Result<Answer> {
        let end = loop {
            if let Some(at) = self.pending.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            if self.more()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        };
        let head = String::from_utf8(self.pending.drain(..end).collect()).expect("heads are text");
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap()[9..12].parse().unwrap();
        let headers: HashMap<String, String> = lines
            .map(|line| line.split_once(": ").expect("a header has a name and a value"))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_string()))
            .collect();
        let mut answer = Answer { status, headers, body: Vec::new(), complete: true };
        if method == "HEAD" || status == 304 {
            return Ok(answer);
        }
        if answer.header("transfer-encoding") == "chunked" {
            self.receive_chunks(&mut answer)?;
            return Ok(answer);
        }
        let announced = answer.header("content-length").parse().unwrap_or(usize::MAX);
        while self.pending.len() < announced.min(limit) {
            if self.more()? == 0 {
                break;
            }
        }
        let taken = self.pending.len().min(announced).min(limit);
        answer.body = self.pending.drain(..taken).collect();
        answer.complete = taken == announced;
        Ok(answer)
    }

    fn receive_chunks(&mut self, answer: &mut Answer) -> io::Result<()> {
        loop {
            let Some(line_end) = self.pending.windows(2).position(|window| window == b"\r\n") else {
                self.more()?;
                continue;
            };
            let size = std::str::from_utf8(&self.pending[..line_end]).unwrap();
            let size = usize::from_str_radix(size, 16).expect("a chunk begins with its size");
            while self.pending.len() < line_end + 2 + size + 2 {
                self.more()?;
            }
            let chunk: Vec<u8> = self.pending.drain(..line_end + 2 + size + 2).collect();
            answer.body.extend_from_slice(&chunk[line_end + 2..line_end + 2 + size]);
            if size == 0 {
                return Ok(());
            }
        }
    }

    pub fn get(&mut self, path: &str, headers: &[(&str, &str)]) -> io::Result<Answer> {
        self.send("GET", path, headers)?;
        self.receive("GET", usize::MAX)
    }
}

/// Sends one request on its own connection.
pub fn try_get(url: &str, headers: &[(&str, &str)]) -> io::Result<Answer> {
    Connection::open(url)?.get(&split(url).1, headers)
}

/// Sends one request and expects a response.
pub fn get(url: &str) -> Answer {
    try_get(url, &[]).unwrap_or_else(|error| panic!("{url}: {error}"))
}
