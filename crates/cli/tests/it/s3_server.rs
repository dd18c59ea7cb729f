//! A server of S3 in a process of its own (moto, from the packages of `.ci/tools`), and a proxy that breaks connections.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::Corpus;

/// Objects that were written with a signature are only shown to requests with one.
const SIGNATURE: &str =
    "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";

/// A server with buckets.
pub struct S3Server {
    child: Child,
    address: SocketAddr,
}

impl S3Server {
    /// Starts a server with a bucket `corpora`; `None` if the machine has no moto, and tests may be skipped.
    pub fn start() -> Option<S3Server> {
        S3Server::with(&[])
    }

    /// The same with variables in its environment.
    pub fn with(environment: &[(&str, &str)]) -> Option<S3Server> {
        let Ok(python) = std::env::var("TIDINGS_TOOLS") else {
            tidings_testing::skip("TIDINGS_TOOLS names no Python with the packages of .ci/tools/requirements.txt");
            return None;
        };
        // The port is free now; nobody else takes it in the moment until the server has it.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let server = S3Server { child: spawn(&python, address, environment), address };
        server.wait_until_up();
        assert_eq!(server.request("PUT", "/corpora", b"").0, 200);
        Some(server)
    }

    fn wait_until_up(&self) {
        let is_up = || match TcpStream::connect(self.address) {
            Ok(_) => true,
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => false,
            Err(error) => panic!("{error}"),
        };
        tidings_testing::until("the server of S3 answers", is_up);
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A request whose signature moto does not check.
    pub fn request(&self, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: {SIGNATURE}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("an answer has a head") + 4;
        let status = String::from_utf8_lossy(&answer[9..12]).parse().unwrap();
        (status, answer.split_off(end))
    }

    pub fn put(&self, key: &str, bytes: &[u8]) {
        assert_eq!(self.request("PUT", &format!("/corpora/{key}"), bytes).0, 200, "{key}");
    }

    /// The bytes of an object; `None` if there is none.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let (status, bytes) = self.request("GET", &format!("/corpora/{key}"), b"");
        (status == 200).then_some(bytes)
    }

    /// The keys below a prefix.
    pub fn keys(&self, prefix: &str) -> Vec<String> {
        let (status, answer) = self.request("GET", &format!("/corpora?list-type=2&prefix={prefix}"), b"");
        assert_eq!(status, 200);
        let answer = String::from_utf8(answer).unwrap();
        let keys = answer.split("<Key>").skip(1).map(|rest| rest.split("</Key>").next().unwrap().to_owned());
        keys.collect()
    }

    /// The program with the credentials and the address of the server.
    pub fn command(&self, corpus: &Corpus, args: &str) -> Command {
        command_at(corpus, args, self.address)
    }

    pub fn run(&self, corpus: &Corpus, args: &str) -> crate::support::Ran {
        corpus.launch(self.command(corpus, args)).wait()
    }
}

/// The program with credentials and the address of a server.
pub fn command_at(corpus: &Corpus, args: &str, address: SocketAddr) -> Command {
    let mut command = corpus.command(args);
    command
        .env("AWS_ENDPOINT_URL", format!("http://{address}"))
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("AWS_REGION", "us-east-1")
        .env("HOME", corpus.beside("nowhere"));
    command
}

fn spawn(python: &str, address: SocketAddr, environment: &[(&str, &str)]) -> Child {
    let mut command = Command::new(python);
    command.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &address.port().to_string()]);
    command.envs(environment.iter().copied()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("Python starts")
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a proxy does with the bytes between the program and the server.
#[derive(Debug, Clone, Copy)]
pub enum Trouble {
    /// Breaks every second connection after so many bytes of answers.
    Break(u64),
    /// Stops for ever after so many bytes of requests.
    Stall(u64),
}

/// A proxy on loopback.
pub struct Proxy {
    pub address: SocketAddr,
    /// Connections that it broke.
    broken: Arc<AtomicU64>,
    /// Bytes of requests that arrived.
    received: Arc<AtomicU64>,
}

impl Proxy {
    pub fn start(server: SocketAddr, trouble: Trouble) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (broken, received) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (counter, requests) = (Arc::clone(&broken), Arc::clone(&received));
        // The threads end with the process of the tests.
        std::thread::spawn(move || {
            for (number, client) in listener.incoming().flatten().enumerate() {
                let Ok(upstream) = TcpStream::connect(server) else { return };
                let answers = match trouble {
                    Trouble::Break(bytes) if number % 2 == 0 => bytes,
                    _ => u64::MAX,
                };
                let (from, to) = (upstream.try_clone().unwrap(), client.try_clone().unwrap());
                let counter = Arc::clone(&counter);
                std::thread::spawn(move || {
                    if !forward(from, to, answers, &AtomicU64::new(0)) {
                        counter.fetch_add(1, Ordering::SeqCst);
                    }
                });
                let requests = Arc::clone(&requests);
                let limit = if let Trouble::Stall(bytes) = trouble { bytes } else { u64::MAX };
                std::thread::spawn(move || {
                    let kept = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
                    if !stall(client, upstream, limit, &requests) {
                        // The connection stays open, and nothing comes out of it.
                        loop {
                            std::thread::park();
                            let _ = &kept;
                        }
                    }
                });
            }
        });
        Proxy { address, broken, received }
    }

    pub fn broken(&self) -> u64 {
        self.broken.load(Ordering::SeqCst)
    }

    pub fn received(&self) -> u64 {
        self.received.load(Ordering::SeqCst)
    }
}

/// Copies bytes until the end or a limit, then closes both sides; false at the limit.
fn forward(mut from: TcpStream, mut to: TcpStream, limit: u64, seen: &AtomicU64) -> bool {
    let is_whole = copy(&mut from, &mut to, limit, seen);
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    is_whole
}

/// The same; at the limit both sides stay open.
fn stall(mut from: TcpStream, mut to: TcpStream, limit: u64, seen: &AtomicU64) -> bool {
    let is_whole = copy(&mut from, &mut to, limit, seen);
    if is_whole {
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
    is_whole
}

fn copy(from: &mut TcpStream, to: &mut TcpStream, limit: u64, seen: &AtomicU64) -> bool {
    let mut buffer = vec![0; 16 << 10];
    let mut copied = 0;
    while let Ok(read) = from.read(&mut buffer) {
        seen.fetch_add(read as u64, Ordering::SeqCst);
        copied += read as u64;
        if copied > limit {
            return false;
        }
        if read == 0 || to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    true
}
