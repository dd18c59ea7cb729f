//! The listening server: accepts connections, limits them, and shuts down gracefully.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tidings_query::engine::MemoryPool;
use tidings_store::Home;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::cache::Cache;
use crate::client::{ConnectionLimiter, RateLimiter};
use crate::compression::CompressionCache;
use crate::connections::{Connection, ConnectionTable};
use crate::corpus_registry::CorpusRegistry;
use crate::gateway::{Gateway, MAX_SHARDS};
use crate::lanes::Lanes;
use crate::metrics::Metrics;
use crate::respond::respond;
use crate::settings::Settings;
use crate::tls::Tls;
use crate::window_limiter::WindowLimiter;
use crate::write_timeout::WriteTimeout;

/// The longest request head, including the request line.
const MAX_HEAD_BYTES: usize = 64 << 10;
const MAX_HEADERS: usize = 64;
/// The longest life of a connection, busy or not.
const MAX_CONNECTION_AGE: Duration = Duration::from_secs(600);
/// Time that an accepted connection waits for a place among the open ones.
const PLACE_PATIENCE: Duration = Duration::from_secs(30);
/// A client that takes no byte of its answer for this long is disconnected.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The memory of all questions at once, and of one. What the system maps of the index is not part of it.
const MAX_MEMORY: u64 = 256 << 20;
const MAX_QUESTION_MEMORY: u64 = 64 << 20;
/// Time that requests in flight get to complete at shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// Errors that prevent the server from starting.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is in use or not local.
    #[error("cannot listen at {address}; choose another with --bind and --port")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("cannot use {}: {cause}; give a certificate with its chain and its key, both in PEM format", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// The reason.
        cause: String,
    },
    /// CORS names no origin.
    #[error("serve.cors: invalid origin `{0}`; give one such as \"https://corpus.example\"")]
    Cors(String),
    /// CORS would allow any web page to read the text that the owner may read.
    #[error(
        "serve.cors = \"*\" would let every web page that you visit read your corpus; name one origin, or make the server \
         public with serve.public = true"
    )]
    OpenCors,
    /// Too many shards.
    #[error("a gateway asks at most {MAX_SHARDS} shards")]
    TooManyShards,
    /// A shard is named twice, and would count twice.
    #[error("the shard {0} is named twice")]
    ShardTwice(String),
    /// The shards would refuse the gateway.
    #[error("a gateway needs serve.shard_token_file, a file with the secret that it shares with its shards")]
    ShardsWithoutToken,
    /// The secret can be guessed.
    #[error(
        "the secret in serve.shard_token_file must have at least 32 characters and no blanks; make one with \
         `openssl rand -hex 32`"
    )]
    WeakShardToken,
    /// Identities would come from nowhere.
    #[error(
        "serve.proxy_user_header and serve.proxy_groups_header need serve.proxy, the address of the proxy that sends them"
    )]
    SignInWithoutProxy,
}

/// A bound, listening server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<Tls>,
    state: Arc<AppState>,
}

/// State shared by all requests.
#[derive(Debug)]
pub(crate) struct AppState {
    pub registry: CorpusRegistry,
    /// The shards that questions are answered from, instead of the registry.
    pub gateway: Option<Gateway>,
    pub settings: Settings,
    pub metrics: Metrics,
    pub rate_limiter: RateLimiter,
    pub window_limiter: WindowLimiter,
    pub cache: Cache,
    pub compressed: CompressionCache,
    pub connection_limiter: Arc<ConnectionLimiter>,
    /// Makes ETags of this process differ from those of an earlier one.
    pub seed: u64,
    pub lanes: Arc<Lanes>,
    pub connections: Arc<ConnectionTable>,
    /// The memory that all questions share.
    pub memory: Arc<MemoryPool>,
}

impl Server {
    /// Opens the indexes of a home and binds the listening socket.
    pub async fn bind(home: Home, settings: Settings) -> Result<Server, Error> {
        settings.check()?;
        let tls = settings.tls.as_ref().map(Tls::open).transpose()?;
        let address = SocketAddr::new(settings.bind, settings.port);
        let listener = TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })?;
        let address = listener.local_addr().map_err(|source| Error::Listen { address, source })?;
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let lanes = Lanes::new(cores, settings.heavy_requests.max(1), !settings.is_private());
        let state = AppState {
            registry: CorpusRegistry::open(home),
            gateway: settings
                .shard_token
                .as_ref()
                .filter(|_| !settings.shards.is_empty())
                .map(|token| Gateway::new(&settings.shards, token)),
            metrics: Metrics::default(),
            rate_limiter: RateLimiter::new(settings.requests_per_minute),
            window_limiter: WindowLimiter::default(),
            cache: Cache::default(),
            compressed: CompressionCache::default(),
            connection_limiter: Arc::default(),
            seed: jiff::Timestamp::now().as_nanosecond() as u64,
            lanes: Arc::new(lanes),
            connections: ConnectionTable::new(settings.most_connections),
            memory: MemoryPool::new(MAX_MEMORY, MAX_QUESTION_MEMORY),
            settings,
        };
        Ok(Server { listener, address, tls, state: Arc::new(state) })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of the web page.
    pub fn url(&self) -> String {
        format!("{}://{}/", if self.tls.is_some() { "https" } else { "http" }, self.address)
    }

    /// Codes of the languages that have an index.
    pub fn corpora(&self) -> Vec<String> {
        self.state.registry.corpora().into_iter().map(|(code, _)| code).collect()
    }

    /// Serves until `stop` resolves, then lets requests in flight complete.
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        let (shut_down, shutting_down) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = self.listener.accept() => accepted,
            };
            while connections.try_join_next().is_some() {}
            match accepted {
                Ok((stream, peer)) => {
                    let (state, shutting_down) = (self.state.clone(), shutting_down.clone());
                    let _ = stream.set_nodelay(true);
                    // Clients over their connection limit are disconnected. Behind a proxy this is the proxy's task.
                    let Some(permit) = state.connection_limiter.enter(peer.ip(), state.settings.connections_per_client)
                    else {
                        continue;
                    };
                    let acceptor = self.tls.as_mut().map(Tls::acceptor);
                    connections.spawn(async move {
                        let _held = permit;
                        let place = state.connections.enter_within(peer.ip(), PLACE_PATIENCE).await;
                        let Some(slot) = place else { return };
                        state.metrics.connections.fetch_add(1, Relaxed);
                        let stream = WriteTimeout::new(stream, WRITE_TIMEOUT, slot.connection.clone());
                        match acceptor {
                            None => serve_connection(&state, stream, peer.ip(), &slot.connection, shutting_down).await,
                            Some(acceptor) => {
                                // Clients that do not finish the handshake are disconnected like those without a request.
                                let handshake =
                                    tokio::time::timeout(state.settings.head_patience, acceptor.accept(stream)).await;
                                if let Ok(Ok(stream)) = handshake {
                                    serve_connection(&state, stream, peer.ip(), &slot.connection, shutting_down).await;
                                }
                            }
                        }
                        state.metrics.connections.fetch_sub(1, Relaxed);
                    });
                }
                // Most likely out of file descriptors: wait for open connections to close.
                Err(error) => {
                    log::warn!("cannot accept a connection: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
        drop(self.listener);
        let _ = shut_down.send(true);
        let _ = tokio::time::timeout(SHUTDOWN_GRACE, async { while connections.join_next().await.is_some() {} }).await;
    }
}

/// Serves the requests of one connection until it closes or expires.
async fn serve_connection(
    state: &Arc<AppState>,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    peer: IpAddr,
    known: &Arc<Connection>,
    mut shutting_down: watch::Receiver<bool>,
) {
    let service = service_fn(|request| {
        let (state, busy) = (state.clone(), known.begin_request());
        async move {
            let _busy = busy;
            Ok::<_, Infallible>(respond(&state, request, peer).await)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(state.settings.head_patience)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let shutdown = async { drop(shutting_down.wait_for(|is_set| *is_set).await) };
    let served = async {
        tokio::select! {
            _ = connection.as_mut() => {}
            () = known.evicted() => {}
            () = shutdown => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.as_mut().await;
            }
        }
    };
    // Disconnects, malformed requests and slow clients end here and are not logged.
    let _ = tokio::time::timeout(MAX_CONNECTION_AGE, served).await;
}
