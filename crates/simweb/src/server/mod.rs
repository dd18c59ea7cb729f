//! The server: one listener for all sites, distinguished by the destination address.
//!
//! All loopback addresses 127.x.y.z reach a listener bound to all addresses, so thousands of hosts need only one
//! socket. HTTP is implemented here because most of the faults violate the protocol.

mod answer;
pub mod coding;
mod connection;
mod content;
mod deliver;
pub mod head;
mod misbehave;
pub mod pool;
pub mod reply;
mod target;
pub mod tls;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::log::{Host, Log};
use crate::profile::{SHARED_HOST, site_at};
use crate::state::Conditions;
use crate::world::World;

/// Everything that the connections share.
#[derive(Debug)]
pub struct Shared {
    pub world: World,
    pub conditions: Conditions,
    pub log: Log,
    pub pool: Option<pool::Pool>,
    pub open: AtomicUsize,
}

impl Shared {
    /// The host at an address.
    pub fn host_at(&self, address: Ipv4Addr) -> Host {
        match site_at(address, self.world.spec.sites) {
            Some(site) => Host::Site(site),
            None if address == SHARED_HOST => Host::Shared,
            None => Host::Internal,
        }
    }
}

/// Prepares the feeds of all sites, for the benchmark mode.
pub fn warm(shared: &Shared) {
    let Some(pool) = &shared.pool else { return };
    let world = &shared.world;
    let threads = world.spec.threads.max(1);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for site in (thread..world.spec.sites).step_by(threads) {
                    let format = world.profile(site).format;
                    let prepare = || answer::prepare_feed(shared, site, format);
                    pool.feed(site, format, world.published(site), prepare);
                }
            });
        }
    });
}

/// The length of the accept queue. If it is full, clients retry only after a second, which a benchmark would measure.
const BACKLOG: u32 = 4096;

/// The server thread; it ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    stop: watch::Sender<Status>,
    thread: Option<JoinHandle<()>>,
}

/// The state of the whole web.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The web answers.
    Up,
    /// An outage: all connections are reset, including new ones.
    Down,
    /// The web has ended.
    Over,
}

impl Server {
    /// Starts to serve on a socket that is already bound.
    pub fn start(shared: Arc<Shared>, socket: TcpSocket, tls: Option<(TcpSocket, TlsAcceptor)>) -> io::Result<Self> {
        let (stop, status) = watch::channel(Status::Up);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(shared.world.spec.threads.max(1))
            .thread_name("simweb-worker")
            .enable_all()
            .build()?;
        // Listening needs the runtime, which receives the events of new connections.
        let inside = runtime.enter();
        let listener = socket.listen(BACKLOG)?;
        let tls = match tls {
            Some((socket, acceptor)) => Some((socket.listen(BACKLOG)?, acceptor)),
            None => None,
        };
        drop(inside);
        let thread = std::thread::Builder::new().name("simweb".to_string()).spawn(move || {
            // Accepting runs on a worker, without a hop between threads.
            if let Some((listener, acceptor)) = tls {
                runtime.spawn(tls::accept(Arc::clone(&shared), listener, acceptor, status.clone()));
            }
            let serving = runtime.spawn(accept(shared, listener, status.clone()));
            runtime.block_on(async {
                let mut status = status;
                let _ = status.wait_for(|status| *status == Status::Over).await;
                serving.abort();
            });
            runtime.shutdown_timeout(Duration::from_millis(200));
        })?;
        Ok(Server { stop, thread: Some(thread) })
    }

    /// Starts or ends an outage of the whole web.
    pub fn set_down(&self, down: bool) {
        self.stop.send_replace(if down { Status::Down } else { Status::Up });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(Status::Over);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been reported.
            let _ = thread.join();
        }
    }
}

async fn accept(shared: Arc<Shared>, listener: TcpListener, status: watch::Receiver<Status>) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => welcome(&shared, stream, peer, &status, None),
            // Probably out of file descriptors: some will be closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Accepts a connection from this machine and rejects all others.
fn welcome(
    shared: &Arc<Shared>,
    stream: TcpStream,
    peer: SocketAddr,
    status: &watch::Receiver<Status>,
    acceptor: Option<&TlsAcceptor>,
) {
    if !peer.ip().is_loopback() {
        return;
    }
    let Ok(SocketAddr::V4(local)) = stream.local_addr() else {
        return;
    };
    if *status.borrow() != Status::Up {
        connection::reset(stream);
        return;
    }
    if shared.open.fetch_add(1, Ordering::Relaxed) >= shared.world.spec.max_connections {
        shared.open.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    let _ = stream.set_nodelay(true);
    let (shared, status, acceptor) = (Arc::clone(shared), status.clone(), acceptor.cloned());
    tokio::spawn(async move {
        match acceptor {
            Some(acceptor) => tls::serve(&shared, stream, *local.ip(), acceptor, status).await,
            None => connection::serve(&shared, stream, *local.ip(), status).await,
        }
        shared.open.fetch_sub(1, Ordering::Relaxed);
    });
}
