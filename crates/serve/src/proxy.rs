//! Requests that come through a reverse proxy.
//!
//! A proxy on this machine makes every client look local. The server therefore believes what headers say about a client only
//! if the connection comes from a proxy that `serve.proxy` names, and a private server refuses requests that a proxy it does
//! not know has passed on.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use hyper::header::{FORWARDED, HeaderName, VIA};
use hyper::{HeaderMap, StatusCode, Version};
use tidings_store::tokens::Scope;

use crate::api_error::ApiError;
use crate::settings::Settings;

/// An address, or a network of addresses such as `10.1.0.0/16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// Returns true if the network has an address. IPv4 addresses that are written as IPv6 are those addresses.
    pub fn contains(&self, address: IpAddr) -> bool {
        let bits = |address: IpAddr| match address.to_canonical() {
            IpAddr::V4(v4) => (u128::from(u32::from(v4)) << 96, 32),
            IpAddr::V6(v6) => (u128::from(v6), 128),
        };
        let ((own, width), (other, other_width)) = (bits(self.address), bits(address));
        let mask = if self.prefix == 0 { 0 } else { u128::MAX << (128 - u32::from(self.prefix)) };
        width == other_width && own & mask == other & mask
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let wrong = || format!("`{text}` is no address or network; give one such as 127.0.0.1 or 10.1.0.0/16");
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address = address.trim().parse::<IpAddr>().map_err(|_| wrong())?.to_canonical();
        let widest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(widest), |prefix| prefix.trim().parse().map_err(|_| wrong()))?;
        if prefix > widest { Err(wrong()) } else { Ok(Network { address, prefix }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

/// Identity and groups of users that a trusted proxy has signed in, for example with OpenID Connect or Shibboleth.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignIn {
    /// The header with the name of the user.
    pub user_header: Option<HeaderName>,
    /// The header with the groups of the user, separated by commas or semicolons.
    pub groups_header: Option<HeaderName>,
    /// The scope of each group.
    pub groups: Vec<(String, Scope)>,
}

/// A user whom the proxy has signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignedIn {
    pub user: String,
    pub scope: Option<Scope>,
}

impl SignIn {
    fn headers(&self) -> impl Iterator<Item = &HeaderName> {
        self.user_header.iter().chain(&self.groups_header)
    }
}

impl Settings {
    /// Returns true if an address is that of a proxy in the settings.
    pub(crate) fn is_proxy(&self, peer: IpAddr) -> bool {
        self.proxy.iter().any(|network| network.contains(peer))
    }

    /// Returns true if forwarded addresses of a peer are believed. On a public server without `serve.proxy`, only a proxy of
    /// the owner connects from loopback.
    fn is_forwarder(&self, peer: IpAddr) -> bool {
        self.is_proxy(peer) || self.proxy.is_empty() && self.public && peer.to_canonical().is_loopback()
    }
}

/// Returns true if a header is one that proxies add.
fn is_forwarding(name: &HeaderName) -> bool {
    *name == FORWARDED || *name == VIA || *name == "x-real-ip" || name.as_str().starts_with("x-forwarded-")
}

/// Refuses requests of a proxy that is not in the settings on a private server, and identities that no trusted proxy vouches
/// for on any.
pub(crate) fn check(headers: &HeaderMap, version: Version, peer: IpAddr, settings: &Settings) -> Result<(), ApiError> {
    if settings.is_proxy(peer) {
        return Ok(());
    }
    if let Some(name) = settings.sign_in.headers().find(|name| headers.contains_key(*name)) {
        let error = format!("the header {name} is accepted from the proxy in serve.proxy only");
        return Err(ApiError::new(StatusCode::FORBIDDEN, error));
    }
    // Reverse proxies speak HTTP/1.0 by default (nginx), browsers and libraries HTTP/1.1.
    let is_forwarded = headers.keys().any(is_forwarding) || version < Version::HTTP_11;
    if settings.is_private() && is_forwarded {
        let error = "this request came through a proxy, and the server is private; set serve.public = true to give other \
                     people access, or name the proxy in serve.proxy";
        return Err(ApiError::new(StatusCode::FORBIDDEN, error));
    }
    Ok(())
}

/// The address of the client: that of the connection, or what a trusted proxy says.
pub(crate) fn client_address(headers: &HeaderMap, peer: IpAddr, settings: &Settings) -> IpAddr {
    if !settings.is_forwarder(peer) {
        return peer;
    }
    // The last address of a list is the one that the proxy added; earlier ones are the client's claims. Proxies in the
    // settings may follow each other.
    let texts =
        |name: HeaderName| headers.get_all(name).iter().filter_map(|header| header.to_str().ok()).collect::<Vec<_>>();
    let x_forwarded = texts(HeaderName::from_static("x-forwarded-for")).join(",");
    let forwarded = texts(FORWARDED).join(",");
    let listed: Vec<&str> = match x_forwarded.is_empty() {
        false => x_forwarded.split(',').collect(),
        true => forwarded.split(',').filter_map(for_of).collect(),
    };
    for text in listed.into_iter().rev() {
        match address(text) {
            Some(address) if settings.is_proxy(address) => {}
            Some(address) => return address,
            None => return peer,
        }
    }
    peer
}

/// The value of `for` in an element of `Forwarded` (RFC 7239).
fn for_of(element: &str) -> Option<&str> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(name, _)| name.trim().eq_ignore_ascii_case("for")).map(|(_, value)| value)
}

/// An address with or without a port, quotes and brackets.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    if let Some(rest) = text.strip_prefix('[') {
        return rest.split(']').next()?.parse().ok();
    }
    text.parse().ok().or_else(|| text.rsplit_once(':')?.0.parse().ok())
}

/// Returns true if a trusted proxy says that the client speaks TLS with it.
pub(crate) fn is_https(headers: &HeaderMap, peer: IpAddr, settings: &Settings) -> bool {
    settings.is_forwarder(peer) && headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https")
}

/// The user whom a trusted proxy has signed in.
pub(crate) fn signed_in(headers: &HeaderMap, peer: IpAddr, settings: &Settings) -> Option<SignedIn> {
    if !settings.is_proxy(peer) {
        return None;
    }
    let sign_in = &settings.sign_in;
    let text = |name: &Option<HeaderName>| headers.get(name.as_ref()?)?.to_str().ok().map(str::trim);
    let user = text(&sign_in.user_header).filter(|user| !user.is_empty())?;
    let groups = text(&sign_in.groups_header).unwrap_or_default();
    let scope = groups
        .split([',', ';'])
        .map(str::trim)
        .filter_map(|group| sign_in.groups.iter().find(|(known, _)| known == group).map(|(_, scope)| *scope));
    Some(SignedIn { user: user.to_owned(), scope: scope.max() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        headers
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn behind(proxy: &str) -> Settings {
        Settings { proxy: vec![proxy.parse().unwrap()], ..Settings::default() }
    }

    #[test]
    fn networks_have_the_addresses_of_their_prefix() {
        let network: Network = "10.1.0.0/16".parse().unwrap();
        assert!(network.contains(ip("10.1.255.1")) && network.contains(ip("::ffff:10.1.2.3")));
        assert!(!network.contains(ip("10.2.0.1")) && !network.contains(ip("::1")));
        assert!("2001:db8::/32".parse::<Network>().unwrap().contains(ip("2001:db8:1::1")));
        assert!("0.0.0.0/0".parse::<Network>().unwrap().contains(ip("192.0.2.1")));
        for wrong in ["", "10.1.0.0/33", "proxy.example", "10.1.0.0/x", "::/129"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_private_server_refuses_what_an_unknown_proxy_passes_on() {
        let refused = |lines: &[(&str, &str)], version, settings: &Settings| {
            check(&headers(lines), version, ip("127.0.0.1"), settings).is_err()
        };
        let private = Settings::default();
        for name in ["Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Via", "X-Real-IP"] {
            assert!(refused(&[(name, "x")], Version::HTTP_11, &private), "{name}");
            assert!(!refused(&[(name, "x")], Version::HTTP_11, &behind("127.0.0.1")), "{name}");
            assert!(
                !refused(&[(name, "x")], Version::HTTP_11, &Settings { public: true, ..private.clone() }),
                "{name}"
            );
        }
        assert!(refused(&[], Version::HTTP_10, &private) && !refused(&[("Accept", "*/*")], Version::HTTP_11, &private));
        assert!(refused(&[("Via", "x")], Version::HTTP_11, &behind("192.0.2.1")));
    }

    #[test]
    fn the_client_address_is_what_the_nearest_trusted_proxy_saw() {
        let lines = [("x-forwarded-for", "198.51.100.9, 192.0.2.7"), ("x-forwarded-for", "10.0.0.2")];
        let of =
            |lines: &[(&str, &str)], peer, settings: &Settings| client_address(&headers(lines), ip(peer), settings);
        let settings = Settings {
            proxy: vec!["127.0.0.1".parse().unwrap(), "10.0.0.0/8".parse().unwrap()],
            ..Settings::default()
        };
        assert_eq!(of(&lines, "127.0.0.1", &settings), ip("192.0.2.7"));
        assert_eq!(of(&lines, "203.0.113.1", &settings), ip("203.0.113.1"));
        assert_eq!(of(&lines, "127.0.0.1", &Settings::default()), ip("127.0.0.1"));
        let forwarded = [("forwarded", "for=198.51.100.9, for=\"[2001:db8::7]:4711\";proto=https")];
        assert_eq!(of(&forwarded, "127.0.0.1", &settings), ip("2001:db8::7"));
        assert_eq!(of(&[("x-forwarded-for", "192.0.2.7:4711")], "127.0.0.1", &settings), ip("192.0.2.7"));
        assert_eq!(of(&[("x-forwarded-for", "unknown")], "127.0.0.1", &settings), ip("127.0.0.1"));
    }

    #[test]
    fn users_are_signed_in_by_the_trusted_proxy_alone() {
        let mut settings = behind("127.0.0.1");
        settings.sign_in = SignIn {
            user_header: Some(HeaderName::from_static("x-remote-user")),
            groups_header: Some(HeaderName::from_static("x-remote-groups")),
            groups: vec![("readers".into(), Scope::Text), ("staff".into(), Scope::Admin)],
        };
        let lines = |groups| headers(&[("x-remote-user", "ada@uni.example"), ("x-remote-groups", groups)]);
        let scope = |groups| signed_in(&lines(groups), ip("127.0.0.1"), &settings).unwrap().scope;
        assert_eq!(scope("students; readers"), Some(Scope::Text));
        assert_eq!(scope("readers,staff"), Some(Scope::Admin));
        assert_eq!(scope("students"), None);
        assert_eq!(signed_in(&lines("staff"), ip("192.0.2.1"), &settings), None);
        assert!(check(&lines("staff"), Version::HTTP_11, ip("192.0.2.1"), &settings).is_err());
        assert_eq!(signed_in(&headers(&[("x-remote-user", " ")]), ip("127.0.0.1"), &settings), None);
    }
}
