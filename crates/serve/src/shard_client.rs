//! The connection of a gateway to one shard: requests for parts over HTTP, with connections that are kept open.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::response::Body;

/// The longest answer of a shard to the request for a part.
const MAX_PART_BYTES: usize = 512 << 20;
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
    #[error("its answer is longer than {MAX_PART_BYTES} bytes")]
    TooLong,
}

/// A shard with its open connections.
#[derive(Debug)]
pub(crate) struct ShardClient {
    pub address: ShardAddress,
    token: String,
    idle: Mutex<Vec<SendRequest<Body>>>,
}

impl ShardClient {
    pub fn new(address: ShardAddress, token: &str) -> Arc<ShardClient> {
        Arc::new(ShardClient { address, token: format!("Bearer {token}"), idle: Mutex::default() })
    }

    /// Asks the shard; the status and the body of its answer.
    pub async fn post(
        &self,
        path: &str,
        body: Bytes,
        time_limit: Duration,
    ) -> Result<(StatusCode, Bytes), ShardFailure> {
        let asked = async {
            // The shard may have closed a connection that was kept; a new one decides.
            while let Some(connection) = self.kept() {
                match self.send(connection, path, body.clone()).await {
                    Err(ShardFailure::Connection(_)) => {}
                    answered => return answered,
                }
            }
            self.send(self.connect().await?, path, body).await
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
    ) -> Result<(StatusCode, Bytes), ShardFailure> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(HOST, &self.address.authority)
            .header(AUTHORIZATION, &self.token)
            .header(CONTENT_TYPE, "application/json")
            .body(Body::of(body))
            .expect("paths and tokens are plain ASCII");
        connection.ready().await?;
        let response = connection.send_request(request).await?;
        let status = response.status();
        let bytes = read_body(response.into_body(), MAX_PART_BYTES).await?.ok_or(ShardFailure::TooLong)?;
        let mut idle = self.idle.lock().expect("no panic while held");
        if idle.len() < MAX_IDLE {
            idle.push(connection);
        }
        Ok((status, bytes))
    }
}

/// Reads a body to its end; nothing if it is too long.
pub(crate) async fn read_body(mut body: Incoming, max_bytes: usize) -> Result<Option<Bytes>, hyper::Error> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame?;
        if let Some(data) = frame.data_ref() {
            if bytes.len() + data.len() > max_bytes {
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
