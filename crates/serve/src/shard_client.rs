//! The connection of a gateway to one shard: requests for parts over HTTP, with connections that are kept open.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::response::Body;
use crate::settings::Secret;

/// The most bytes of the answers of all shards to the request for a part.
pub(crate) const MAX_PART_BYTES: usize = 512 << 20;
/// The longest answer of a shard that refuses.
const MAX_REFUSAL_BYTES: usize = 64 << 10;
/// The header with the version of a shard.
pub(crate) const VERSION_HEADER: &str = "tidings-version";
/// The version of this program, with that of the parts: gateways and shards understand each other if they have the same.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (parts 3)");
/// Time to connect to a shard.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Connections to a shard that are kept open.
const MAX_IDLE: usize = 16;

/// The address of a shard: `http://host:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardAddress {
    /// Host and port, as in the header `Host`.
    authority: String,
}

impl FromStr for ShardAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<ShardAddress, String> {
        let url = url::Url::parse(text.trim()).map_err(|_| format!("`{text}` is no address; {FORM}"))?;
        let is_root = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let has_user = !url.username().is_empty() || url.password().is_some();
        match (url.scheme(), url.host_str(), is_root && !has_user) {
            ("http", Some(host), true) => {
                Ok(ShardAddress { authority: format!("{host}:{}", url.port_or_known_default().unwrap_or(80)) })
            }
            ("https", ..) => Err(format!(
                "`{text}`: shards are asked over plain HTTP; put them on a private network or behind a tunnel, and give \
                 the address with http"
            )),
            _ => Err(format!("`{text}` is no address of a shard; {FORM}")),
        }
    }
}

/// What an address looks like.
const FORM: &str = "give one such as http://10.0.0.5:7878";

impl fmt::Display for ShardAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.authority)
    }
}

/// The reason why a shard did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShardFailure {
    #[error("cannot connect: {0}")]
    Connect(std::io::Error),
    #[error("the connection broke: {0}")]
    Connection(#[from] hyper::Error),
    #[error("no answer in time")]
    Timeout,
    #[error("the answers of the shards are longer than {MAX_PART_BYTES} bytes; ask for a smaller part of the corpus")]
    TooLong,
    #[error("it is no shard, or of another version ({0}) than this gateway ({VERSION})")]
    Version(String),
    #[error("the client no longer waits")]
    Cancelled,
}

/// The answer of a shard.
#[derive(Debug)]
pub(crate) struct ShardAnswer {
    pub status: StatusCode,
    pub body: Bytes,
}

/// A shard with its open connections.
pub(crate) struct ShardClient {
    pub address: ShardAddress,
    token: Secret,
    idle: Mutex<Vec<SendRequest<Body>>>,
}

impl fmt::Debug for ShardClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShardClient({})", self.address)
    }
}

impl ShardClient {
    pub fn new(address: ShardAddress, token: &Secret) -> Arc<ShardClient> {
        let token = Secret::from(format!("Bearer {}", token.text()));
        Arc::new(ShardClient { address, token, idle: Mutex::default() })
    }

    /// Asks the shard. Answers take their bytes from what is left for those of all shards.
    pub async fn post(
        &self,
        path: &str,
        body: Bytes,
        time_limit: Duration,
        bytes_left: &AtomicUsize,
    ) -> Result<ShardAnswer, ShardFailure> {
        let asked = async {
            // The shard may have closed a connection that was kept; a new one decides.
            while let Some(connection) = self.kept() {
                match self.send(connection, path, body.clone(), bytes_left).await {
                    Err(ShardFailure::Connection(_)) => {}
                    answered => return answered,
                }
            }
            self.send(self.connect().await?, path, body, bytes_left).await
        };
        tokio::time::timeout(time_limit, asked).await.map_err(|_| ShardFailure::Timeout)?
    }

    fn kept(&self) -> Option<SendRequest<Body>> {
        let mut idle = self.idle.lock().expect("no panic while held");
        idle.retain(|connection| connection.is_ready());
        idle.pop()
    }

    async fn connect(&self) -> Result<SendRequest<Body>, ShardFailure> {
        let connecting = TcpStream::connect(&self.address.authority);
        let stream = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await.map_err(|_| ShardFailure::Timeout)?;
        let stream = stream.map_err(ShardFailure::Connect)?;
        let _ = stream.set_nodelay(true);
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(async move {
            // Its end shows at the next request.
            let _ = connection.await;
        });
        Ok(sender)
    }

    async fn send(
        &self,
        mut connection: SendRequest<Body>,
        path: &str,
        body: Bytes,
        bytes_left: &AtomicUsize,
    ) -> Result<ShardAnswer, ShardFailure> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(HOST, &self.address.authority)
            .header(AUTHORIZATION, self.token.text())
            .header(VERSION_HEADER, VERSION)
            .header(CONTENT_TYPE, "application/json")
            .body(Body::of(body))
            .expect("paths and tokens are plain ASCII");
        connection.ready().await?;
        let response = connection.send_request(request).await?;
        let status = response.status();
        let version = response.headers().get(VERSION_HEADER).map(HeaderValue::as_bytes);
        if version != Some(VERSION.as_bytes()) {
            let known = version.map_or("unknown".into(), String::from_utf8_lossy);
            return Err(ShardFailure::Version(known.chars().filter(|c| !c.is_control()).take(60).collect()));
        }
        let taken = AtomicUsize::new(MAX_REFUSAL_BYTES);
        let left = if status == StatusCode::OK { bytes_left } else { &taken };
        let body = read_body_within(response.into_body(), left).await?.ok_or(ShardFailure::TooLong)?;
        let mut idle = self.idle.lock().expect("no panic while held");
        if idle.len() < MAX_IDLE {
            idle.push(connection);
        }
        Ok(ShardAnswer { status, body })
    }
}

/// Reads a body to its end; nothing if it is too long.
pub(crate) async fn read_body(body: Incoming, max_bytes: usize) -> Result<Option<Bytes>, hyper::Error> {
    read_body_within(body, &AtomicUsize::new(max_bytes)).await
}

/// Reads a body to its end and takes its bytes from those that are left; nothing if it is longer.
async fn read_body_within(mut body: Incoming, bytes_left: &AtomicUsize) -> Result<Option<Bytes>, hyper::Error> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame?;
        if let Some(data) = frame.data_ref() {
            let take = |left: usize| left.checked_sub(data.len());
            if bytes_left.fetch_update(Relaxed, Relaxed, take).is_err() {
                return Ok(None);
            }
            bytes.extend_from_slice(data);
        }
    }
    Ok(Some(bytes.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_in_no_debug_text() {
        let client = ShardClient::new("http://a".parse().unwrap(), &Secret::from("tiddly-winks".to_owned()));
        assert_eq!(format!("{client:?} {:?}", client.token), "ShardClient(http://a:80) Secret(…)");
    }

    #[test]
    fn addresses_of_shards_are_plain_and_have_no_path() {
        let address: ShardAddress = "http://10.0.0.5:7878/".parse().unwrap();
        assert_eq!(address.to_string(), "http://10.0.0.5:7878");
        assert_eq!("http://shard.example".parse::<ShardAddress>().unwrap().to_string(), "http://shard.example:80");
        for wrong in
            ["", "shard", "10.0.0.5:7878", "ftp://a", "http://a/api", "http://u:p@a", "http://a?b", "https://a"]
        {
            assert!(wrong.parse::<ShardAddress>().is_err(), "{wrong}");
        }
    }
}
