//! The graph on loopback addresses: one listener for all sites, distinguished by the host that the client names.
//!
//! Every site answers at every address 127.x.y.z. A client finds the address of a name through [`Graph::resolve`],
//! [`GraphServer::hosts_file`], names under `localhost`, or by using the server as its proxy.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

use super::journal::{GraphPoliteness, GraphRequest};
use super::truth::Truth;
use super::{Graph, GraphSpec, Response};
use crate::server::head;

/// Idle connections are closed after this time.
const IDLE: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct Shared {
    graph: Graph,
    began: Instant,
    requests: Mutex<Vec<GraphRequest>>,
}

/// A running server of a graph. It ends when this is dropped.
#[derive(Debug)]
pub struct GraphServer {
    shared: Arc<Shared>,
    port: u16,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl GraphServer {
    /// Serves the graph of a description; `port` 0 is any. The URLs of the graph have the port.
    pub fn start(spec: GraphSpec, port: u16) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))?;
        let port = socket.local_addr()?.port();
        let graph = Graph::new(GraphSpec { port: Some(port), ..spec });
        let shared = Arc::new(Shared { graph, began: Instant::now(), requests: Mutex::default() });
        let (stop, mut stopped) = watch::channel(false);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_name("graph").enable_all().build()?;
        let inside = runtime.enter();
        let listener = socket.listen(4096)?;
        drop(inside);
        let accepting = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("graph".to_owned()).spawn(move || {
            let serving = runtime.spawn(accept(accepting, listener));
            runtime.block_on(async {
                let _ = stopped.wait_for(|stopped| *stopped).await;
                serving.abort();
            });
            runtime.shutdown_timeout(Duration::from_millis(200));
        })?;
        Ok(GraphServer { shared, port, stop, thread: Some(thread) })
    }

    /// The port of every site.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.shared.graph
    }

    /// All requests so far, in the order of arrival.
    pub fn requests(&self) -> Vec<GraphRequest> {
        lock(&self.shared.requests).clone()
    }

    /// The number of requests so far.
    pub fn request_count(&self) -> usize {
        lock(&self.shared.requests).len()
    }

    /// The politeness of all requests so far.
    pub fn politeness(&self) -> GraphPoliteness {
        GraphPoliteness::of(&self.requests(), Truth::new(&self.shared.graph))
    }

    /// The addresses of all hosts in the format of `/etc/hosts`, without wildcard hosts.
    pub fn hosts_file(&self) -> String {
        let graph = &self.shared.graph;
        let names = graph.sites().iter().flat_map(|site| {
            ["", "www.", "m.", "go."]
                .map(|label| format!("{label}{}", site.domain))
                .into_iter()
                .filter_map(|host| graph.resolve(&host).map(|ip| format!("{ip} {host}\n")))
        });
        names.collect()
    }
}

impl Drop for GraphServer {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been reported.
            let _ = thread.join();
        }
    }
}

async fn accept(shared: Arc<Shared>, listener: TcpListener) {
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // Probably out of file descriptors: some will be closed.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        if let (true, Ok(SocketAddr::V4(local))) = (peer.ip().is_loopback(), stream.local_addr()) {
            let _ = stream.set_nodelay(true);
            tokio::spawn(serve(Arc::clone(&shared), stream, *local.ip()));
        }
    }
}

/// Answers the requests of a connection.
async fn serve(shared: Arc<Shared>, mut stream: TcpStream, ip: Ipv4Addr) {
    let mut buffer = Vec::with_capacity(2048);
    loop {
        let length = loop {
            if let Some(length) = head::length(&buffer) {
                break length;
            }
            let read = tokio::time::timeout(IDLE, stream.read_buf(&mut buffer)).await;
            if !matches!(read, Ok(Ok(1..))) || buffer.len() > head::MAX_HEAD_BYTES {
                return;
            }
        };
        let start_us = shared.now_us();
        let bytes: Vec<u8> = buffer.drain(..length).collect();
        let Some(request) = head::read(&bytes) else { return };
        let host = request.host.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let url = format!("http://{host}{}{}", shared.graph.port, request.target);
        let place = shared.begin(GraphRequest {
            url: url.clone(),
            host,
            ip,
            start_us,
            end_us: None,
            status: 0,
            bytes: 0,
            user_agent: request.user_agent.to_owned(),
        });
        let response = shared.graph.fetch(&url);
        let wire = wire(&response, request.method == "HEAD", request.close);
        shared.end(place, response.status, wire.len() as u64);
        if response.status == 0 || stream.write_all(&wire).await.is_err() || request.close {
            return;
        }
    }
}

/// A response as bytes.
fn wire(response: &Response, head_only: bool, close: bool) -> Vec<u8> {
    if response.status == 0 {
        return Vec::new();
    }
    let mut head = format!("HTTP/1.1 {} Simulated\r\n", response.status);
    for (name, value) in &response.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let connection = if close { "Connection: close\r\n" } else { "" };
    head.push_str(&format!("{connection}Content-Length: {}\r\n\r\n", response.body.len()));
    let mut wire = head.into_bytes();
    if !head_only {
        wire.extend_from_slice(&response.body);
    }
    wire
}

impl Shared {
    fn now_us(&self) -> u64 {
        self.began.elapsed().as_micros() as u64
    }

    fn begin(&self, request: GraphRequest) -> usize {
        let mut requests = lock(&self.requests);
        requests.push(request);
        requests.len() - 1
    }

    /// Notes the end of a response just before its bytes are sent: a fast client must not seem to overlap with itself.
    fn end(&self, place: usize, status: u16, bytes: u64) {
        let now = self.now_us();
        let mut requests = lock(&self.requests);
        let request = &mut requests[place];
        (request.end_us, request.status, request.bytes) = (Some(now), status, bytes);
    }
}

/// A poisoned lock is ignored: the list stays usable after a panic.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn ask(server: &GraphServer, address: Ipv4Addr, host: &str, target: &str) -> String {
        let mut stream = std::net::TcpStream::connect((address, server.port())).expect("the server listens");
        write!(stream, "GET {target} HTTP/1.1\r\nHost: {host}:{}\r\nConnection: close\r\n\r\n", server.port())
            .expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the server answers");
        answer
    }

    #[test]
    fn the_served_bytes_are_those_of_the_graph() {
        let server = GraphServer::start(GraphSpec::default(), 0).expect("a port is free");
        let url = &server.graph().seeds("de", 1)[0];
        let host = url.split('/').nth(2).and_then(|authority| authority.split(':').next()).expect("a host");
        let ip = server.graph().resolve(host).expect("a host of the graph");
        let answer = ask(&server, ip, host, "/");
        let body = server.graph().fetch(url).body;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.as_bytes().ends_with(&body));
        let log = server.requests();
        assert_eq!((log.len(), log[0].ip, log[0].url.as_str(), log[0].status), (1, ip, url.as_str(), 200));
        assert!(server.hosts_file().contains(&format!("{ip} {host}\n")));
    }

    #[test]
    fn forbidden_requests_are_counted() {
        let server = GraphServer::start(GraphSpec { sites: 200, ..GraphSpec::default() }, 0).expect("a port is free");
        let site = server.graph().sites().iter().find(|site| site.closed_section.is_some()).expect("a closed section");
        let section = &site.sections[site.closed_section.expect("a closed section")];
        ask(&server, site.ip, &site.host, &format!("/{}/", section.name));
        ask(&server, site.ip, &site.host, "/user/7/");
        ask(&server, site.ip, &site.host, "/robots.txt");
        let seen = server.politeness();
        assert_eq!((seen.requests, seen.disallowed, seen.nofollow_only, seen.traps), (3, 1, 1, 0));
        assert!(seen.smallest_host_gap_us.is_some() && seen.max_in_flight_host == 1);
    }

    #[test]
    fn a_proxy_request_reaches_the_host_of_its_url() {
        let server = GraphServer::start(GraphSpec::default(), 0).expect("a port is free");
        let url = &server.graph().seeds("de", 1)[0];
        let answer = ask(&server, Ipv4Addr::LOCALHOST, "proxy", url);
        assert!(answer.starts_with("HTTP/1.1 200"), "{url}");
    }
}
