//! Who asks: how often they may, and with which right.

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
use crate::rights::Right;
use crate::settings::Settings;

/// So many clients are remembered; when there are more, those who have been quiet are forgotten.
const MOST_CLIENTS: usize = 10_000;

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub right: Right,
    /// The name of the token, for the log.
    pub token: Option<String>,
}

impl Client {
    /// Tells who asks by the token, or by where the request comes from.
    pub fn of(
        headers: &HeaderMap,
        peer: IpAddr,
        registry: &CorpusRegistry,
        settings: &Settings,
    ) -> Result<Client, ApiError> {
        let with = |scope, token| Client { right: Right { scope, default: settings.default_availability }, token };
        let Some(header) = headers.get(AUTHORIZATION) else {
            let owner = settings.is_private() && peer.is_loopback();
            return Ok(with(settings.loopback_scope.filter(|_| owner), None));
        };
        let secret = header.to_str().ok().and_then(|text| {
            let (scheme, secret) = text.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(secret.trim())
        });
        let known = registry.tokens()?;
        let token = secret.and_then(|secret| tokens::find(&known, secret, Timestamp::now()));
        match token {
            Some(token) => Ok(with(token.scope, Some(token.name.clone()))),
            None => Err(ApiError::new(
                StatusCode::UNAUTHORIZED,
                "this token is unknown or its time is over; `tidings token list` tells, `tidings token add` makes another",
            )),
        }
    }
}

/// The address that is counted: of the client, also if it comes through a proxy on this machine.
pub(crate) fn rate_limit_address(headers: &HeaderMap, peer: IpAddr, settings: &Settings) -> IpAddr {
    // Only a proxy of the owner's can come from loopback to a public server; of what it says, the last is its own word.
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back().and_then(|header| header.to_str().ok());
    let last = forwarded.and_then(|list| list.rsplit(',').next()?.trim().parse().ok());
    match last {
        Some(address) if settings.public && peer.is_loopback() => address,
        _ => peer,
    }
}

/// Whether a request means us. A web page can give our address another name and would then be read as ours (DNS
/// rebinding), so that a server for its owner only listens to names of this machine.
pub(crate) fn is_expected_host(headers: &HeaderMap, settings: &Settings) -> bool {
    if !settings.is_private() {
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

/// How many connections each client has open.
#[derive(Debug, Default)]
pub(crate) struct ConnectionLimiter(Mutex<HashMap<IpAddr, usize>>);

/// A connection of a client's, until it ends.
#[derive(Debug)]
pub(crate) struct ConnectionPermit(Option<(Arc<ConnectionLimiter>, IpAddr)>);

impl ConnectionLimiter {
    /// Lets a client have another connection, unless it has so many. Whoever is on this machine may have any number.
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

/// How often each client may ask: a bucket of requests that fills again with time.
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

    /// Takes one request out of a client's bucket; if there is none, in how many seconds there will be.
    pub fn take(&self, client: IpAddr, now: Instant) -> Result<(), u64> {
        if self.per_minute == 0.0 {
            return Ok(());
        }
        let per_second = self.per_minute / 60.0;
        // A page that is opened sends several requests at once; a minute's worth may come in one go.
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

/// Whoever has one IPv6 address has a network of them.
fn network(client: IpAddr) -> IpAddr {
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
    use std::time::Duration;

    #[test]
    fn a_bucket_fills_with_time_and_clients_do_not_share_it() {
        let (rate_limiter, start) = (RateLimiter::new(60), Instant::now());
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse::<IpAddr>().unwrap());
        assert!((0..60).all(|_| rate_limiter.take(one, start).is_ok()));
        assert_eq!(rate_limiter.take(one, start), Err(1));
        assert_eq!(rate_limiter.take(other, start), Ok(()));
        assert_eq!(rate_limiter.take(one, start + Duration::from_secs(1)), Ok(()));
        assert!(rate_limiter.take(one, start + Duration::from_secs(1)).is_err());
    }

    #[test]
    fn nobody_takes_all_seats_and_who_leaves_is_forgotten() {
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
    fn the_neighbours_in_a_network_share_a_bucket() {
        let (rate_limiter, start) = (RateLimiter::new(1), Instant::now());
        assert_eq!(rate_limiter.take("2001:db8::1".parse().unwrap(), start), Ok(()));
        assert!(rate_limiter.take("2001:db8::2".parse().unwrap(), start).is_err());
        assert_eq!(rate_limiter.take("2001:db8:0:1::1".parse().unwrap(), start), Ok(()));
    }

    #[test]
    fn the_table_of_clients_does_not_grow_without_end() {
        let (rate_limiter, start) = (RateLimiter::new(1), Instant::now());
        let client = |number: u32| IpAddr::from(std::net::Ipv4Addr::from(number));
        assert!((0..MOST_CLIENTS as u32).all(|number| rate_limiter.take(client(number), start).is_ok()));
        assert!(rate_limiter.take(client(1 << 20), start).is_err());
        assert_eq!(rate_limiter.take(client(1 << 20), start + Duration::from_secs(61)), Ok(()));
        assert_eq!(rate_limiter.buckets.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_private_server_answers_to_names_of_this_machine_only() {
        let settings = Settings::default();
        let meant = |host: &str| is_expected_host(&HeaderMap::from_iter([(HOST, host.parse().unwrap())]), &settings);
        assert!(meant("localhost:7878") && meant("127.0.0.1") && meant("[::1]:80") && meant("LOCALHOST"));
        assert!(!meant("rebound.example:7878") && !is_expected_host(&HeaderMap::new(), &settings));
        assert!(is_expected_host(&HeaderMap::new(), &Settings { public: true, ..settings }));
    }

    #[test]
    fn a_proxy_is_believed_only_on_loopback_and_only_its_own_word() {
        let headers =
            HeaderMap::from_iter([("x-forwarded-for".parse().unwrap(), "198.51.100.9, 192.0.2.7".parse().unwrap())]);
        let public = Settings { public: true, ..Settings::default() };
        let [local, far, client] = ["127.0.0.1", "203.0.113.1", "192.0.2.7"].map(|text| text.parse().unwrap());
        assert_eq!(rate_limit_address(&headers, local, &public), client);
        assert_eq!(rate_limit_address(&headers, far, &public), far);
        assert_eq!(rate_limit_address(&headers, local, &Settings::default()), local);
    }
}
