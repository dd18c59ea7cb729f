//! Clients: authentication by token, rate limit (token bucket) and connection limit per address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use hyper::header::{AUTHORIZATION, HOST};
use hyper::{HeaderMap, StatusCode};
use jiff::Timestamp;
use tidings_store::tokens;

use crate::api_error::ApiError;
use crate::corpus_registry::CorpusRegistry;
use crate::proxy;
use crate::rights::Right;
use crate::settings::Settings;
use crate::window_limiter::ClientId;

/// Addresses with a token bucket; full buckets are dropped when there are more.
const MOST_CLIENTS: usize = 10_000;

/// An authenticated or anonymous client.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub right: Right,
    /// The name of the token, for the log.
    pub token: Option<String>,
    /// The client as limits see it.
    pub id: ClientId,
    /// Whether a trusted proxy says that the client speaks TLS with it.
    pub is_https: bool,
}

impl Client {
    /// Authenticates a request by its bearer token, by the user whom a trusted proxy names, or by its address.
    pub fn of(
        headers: &HeaderMap,
        (peer, client): (IpAddr, IpAddr),
        registry: &CorpusRegistry,
        settings: &Settings,
    ) -> Result<Client, ApiError> {
        // What the proxy passes on is not the owner's, wherever the proxy runs.
        let is_private = settings.is_private() && !settings.is_proxy(peer);
        let with = |scope, token: Option<String>| Client {
            right: Right { scope, default: settings.default_availability, is_private },
            id: token.clone().map_or_else(|| ClientId::of_address(client), ClientId::Named),
            is_https: proxy::is_https(headers, peer, settings),
            token,
        };
        let header = headers.get(AUTHORIZATION);
        let secret = header.and_then(|header| header.to_str().ok()).and_then(|text| {
            let (scheme, secret) = text.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(secret.trim())
        });
        if let (None, Some(signed_in)) = (secret, proxy::signed_in(headers, peer, settings)) {
            return Ok(with(signed_in.scope, Some(signed_in.user)));
        }
        if header.is_none() {
            let owner = is_private && peer.is_loopback();
            return Ok(with(settings.loopback_scope.filter(|_| owner), None));
        }
        let known = registry.tokens()?;
        let token = secret.and_then(|secret| tokens::find(&known, secret, Timestamp::now()));
        match token {
            Some(token) => Ok(with(token.scope, Some(token.name.clone()))),
            None => Err(ApiError::new(
                StatusCode::UNAUTHORIZED,
                "unknown or expired token; see `tidings token list`, create one with `tidings token add`",
            )),
        }
    }
}

/// Returns `true` if the Host header names this machine. A private server rejects other names, because a web page could
/// point its own host name at this address and read the answers (DNS rebinding). A proxy in the settings may pass on others.
pub(crate) fn is_expected_host(headers: &HeaderMap, peer: IpAddr, settings: &Settings) -> bool {
    if !settings.is_private() || settings.is_proxy(peer) {
        return true;
    }
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Limits open connections per client.
#[derive(Debug, Default)]
pub(crate) struct ConnectionLimiter(Mutex<HashMap<IpAddr, usize>>);

/// One open connection of a client; released on drop.
#[derive(Debug)]
pub(crate) struct ConnectionPermit(Option<(Arc<ConnectionLimiter>, IpAddr)>);

impl ConnectionLimiter {
    /// Takes a permit for another connection, or `None` at `most`. Loopback clients are not limited.
    pub fn enter(self: &Arc<ConnectionLimiter>, client: IpAddr, most: usize) -> Option<ConnectionPermit> {
        if client.to_canonical().is_loopback() {
            return Some(ConnectionPermit(None));
        }
        let client = network(client);
        let mut open = self.0.lock().expect("no panic while held");
        let count = open.entry(client).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(ConnectionPermit(Some((self.clone(), client))))
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let Some((connection_limiter, client)) = &self.0 else { return };
        let mut open = connection_limiter.0.lock().expect("no panic while held");
        if let Some(count) = open.get_mut(client) {
            *count -= 1;
            if *count == 0 {
                open.remove(client);
            }
        }
    }
}

/// Token-bucket rate limiter per client address.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    per_minute: f64,
    buckets: Mutex<HashMap<IpAddr, TokenBucket>>,
}

#[derive(Debug, Clone, Copy)]
struct TokenBucket {
    left: f64,
    at: Instant,
}

impl RateLimiter {
    pub fn new(per_minute: u32) -> RateLimiter {
        RateLimiter { per_minute: f64::from(per_minute), buckets: Mutex::default() }
    }

    /// Takes one token from the client's bucket; the error is the number of seconds until the next one.
    pub fn take(&self, client: IpAddr, now: Instant) -> Result<(), u64> {
        if self.per_minute == 0.0 {
            return Ok(());
        }
        let per_second = self.per_minute / 60.0;
        // Opening the web page sends a burst of requests: a full minute's budget may be spent at once.
        let full = self.per_minute;
        let filled = |bucket: &TokenBucket| {
            (bucket.left + now.saturating_duration_since(bucket.at).as_secs_f64() * per_second).min(full)
        };
        let mut buckets = self.buckets.lock().expect("no panic while held");
        if buckets.len() >= MOST_CLIENTS && !buckets.contains_key(&client) {
            buckets.retain(|_, bucket| filled(bucket) < full);
            if buckets.len() >= MOST_CLIENTS {
                return Err(60);
            }
        }
        let bucket = buckets.entry(network(client)).or_insert(TokenBucket { left: full, at: now });
        let left = filled(bucket);
        *bucket = TokenBucket { left: if left >= 1.0 { left - 1.0 } else { left }, at: now };
        if left >= 1.0 { Ok(()) } else { Err(((1.0 - left) / per_second).ceil().max(1.0) as u64) }
    }
}

/// The /64 network of an IPv6 address: one client usually owns all of it.
pub(crate) fn network(client: IpAddr) -> IpAddr {
    match client {
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => IpAddr::V4(address),
            None => IpAddr::V6((u128::from(address) & (u128::MAX << 64)).into()),
        },
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::client_address;
    use std::time::Duration;

    #[test]
    fn a_token_bucket_refills_and_is_per_client() {
        let (rate_limiter, start) = (RateLimiter::new(60), Instant::now());
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse::<IpAddr>().unwrap());
        assert!((0..60).all(|_| rate_limiter.take(one, start).is_ok()));
        assert_eq!(rate_limiter.take(one, start), Err(1));
        assert_eq!(rate_limiter.take(other, start), Ok(()));
        assert_eq!(rate_limiter.take(one, start + Duration::from_secs(1)), Ok(()));
        assert!(rate_limiter.take(one, start + Duration::from_secs(1)).is_err());
    }

    #[test]
    fn connections_are_limited_per_client_and_released_on_drop() {
        let connection_limiter: Arc<ConnectionLimiter> = Arc::default();
        let [far, other, here] = ["192.0.2.1", "192.0.2.2", "::ffff:127.0.0.1"].map(|text| text.parse().unwrap());
        let seats: Vec<ConnectionPermit> = (0..3).filter_map(|_| connection_limiter.enter(far, 2)).collect();
        assert_eq!(seats.len(), 2);
        assert!(
            connection_limiter.enter(other, 2).is_some() && (0..9).all(|_| connection_limiter.enter(here, 2).is_some())
        );
        drop(seats);
        assert!(connection_limiter.0.lock().unwrap().is_empty());
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_a_bucket() {
        let (rate_limiter, start) = (RateLimiter::new(1), Instant::now());
        assert_eq!(rate_limiter.take("2001:db8::1".parse().unwrap(), start), Ok(()));
        assert!(rate_limiter.take("2001:db8::2".parse().unwrap(), start).is_err());
        assert_eq!(rate_limiter.take("2001:db8:0:1::1".parse().unwrap(), start), Ok(()));
    }

    #[test]
    fn the_number_of_buckets_is_bounded() {
        let (rate_limiter, start) = (RateLimiter::new(1), Instant::now());
        let client = |number: u32| IpAddr::from(std::net::Ipv4Addr::from(number));
        assert!((0..MOST_CLIENTS as u32).all(|number| rate_limiter.take(client(number), start).is_ok()));
        assert!(rate_limiter.take(client(1 << 20), start).is_err());
        assert_eq!(rate_limiter.take(client(1 << 20), start + Duration::from_secs(61)), Ok(()));
        assert_eq!(rate_limiter.buckets.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_private_server_rejects_foreign_host_names() {
        let settings = Settings::default();
        let here: IpAddr = "127.0.0.1".parse().unwrap();
        let meant =
            |host: &str| is_expected_host(&HeaderMap::from_iter([(HOST, host.parse().unwrap())]), here, &settings);
        assert!(meant("localhost:7878") && meant("127.0.0.1") && meant("[::1]:80") && meant("LOCALHOST"));
        assert!(!meant("rebound.example:7878") && !is_expected_host(&HeaderMap::new(), here, &settings));
        assert!(is_expected_host(&HeaderMap::new(), here, &Settings { public: true, ..settings }));
    }

    #[test]
    fn forwarded_addresses_are_trusted_from_a_loopback_proxy_only() {
        let headers =
            HeaderMap::from_iter([("x-forwarded-for".parse().unwrap(), "198.51.100.9, 192.0.2.7".parse().unwrap())]);
        let public = Settings { public: true, ..Settings::default() };
        let [local, far, client] = ["127.0.0.1", "203.0.113.1", "192.0.2.7"].map(|text| text.parse().unwrap());
        assert_eq!(client_address(&headers, local, &public), client);
        assert_eq!(client_address(&headers, far, &public), far);
        assert_eq!(client_address(&headers, local, &Settings::default()), local);
    }
}
