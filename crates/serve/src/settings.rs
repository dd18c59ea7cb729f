//! Settings of the server.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use tidings_store::tokens::Scope;
use url::Url;

use crate::first_run::FirstRunHandle;
use crate::gateway::MAX_SHARDS;
use crate::proxy::{Network, SignIn};
use crate::rights::Availability;
use crate::server::Error;
use crate::shard_client::ShardAddress;
use crate::tls::TlsFiles;
use crate::tools::Tool;

/// Address, limits and access rules of a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address to listen on.
    pub bind: IpAddr,
    /// Port; 0 picks a free one.
    pub port: u16,
    /// Accepts requests from other machines; text then needs a token, also on loopback.
    pub public: bool,
    /// Time limit of one request.
    pub time_limit: Duration,
    /// Expensive requests that run at the same time.
    pub heavy_requests: usize,
    /// Requests per minute and client; 0 means no limit.
    pub requests_per_minute: u32,
    /// Lines of a `kwic` document that a client of scope `text` is shown on one day by a public server.
    pub kwic_windows_per_day: u32,
    /// Open connections; more wait to be accepted.
    pub most_connections: usize,
    /// Open connections per client; loopback is exempt.
    pub connections_per_client: usize,
    /// Time in which a client must send its request head.
    pub head_patience: Duration,
    /// The public address of the server, for links in citations; none if it has no public address.
    pub address: Option<String>,
    /// Contact for publishers.
    pub contact: Option<String>,
    /// Origin allowed by CORS; none if absent.
    pub cors: Option<String>,
    /// Availability of documents that do not state one.
    pub default_availability: Availability,
    /// Scope of loopback clients without a token on a private server.
    pub loopback_scope: Option<Scope>,
    /// Reverse proxies whose headers are believed.
    pub proxy: Vec<Network>,
    /// Users whom the proxy signs in.
    pub sign_in: SignIn,
    /// Certificate and key; without them the server speaks plain HTTP.
    pub tls: Option<TlsFiles>,
    /// The shards that this server puts answers together from, instead of the indexes of its home.
    pub shards: Vec<ShardAddress>,
    /// The secret that a gateway and its shards share.
    pub shard_token: Option<Secret>,
    /// Protocols of other tools that are on.
    pub tools: Vec<Tool>,
    /// Metrics of the home, which `/metrics` shows after those of the server.
    pub home_metrics: Option<HomeMetrics>,
    /// What collects the first documents of a home when its owner asks for it in the page.
    pub first_run: Option<FirstRunHandle>,
}

/// A function that reads metrics of the home, in the Prometheus text format.
#[derive(Clone)]
pub struct HomeMetrics(pub Arc<dyn Fn() -> String + Send + Sync>);

impl fmt::Debug for HomeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HomeMetrics")
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 7878,
            public: false,
            time_limit: Duration::from_secs(30),
            heavy_requests: 2,
            requests_per_minute: 600,
            kwic_windows_per_day: 50,
            most_connections: 1024,
            connections_per_client: 64,
            head_patience: Duration::from_secs(10),
            address: None,
            contact: None,
            cors: None,
            default_availability: Availability::Kwic,
            loopback_scope: Some(Scope::Admin),
            proxy: Vec::new(),
            sign_in: SignIn::default(),
            tls: None,
            shards: Vec::new(),
            shard_token: None,
            tools: Vec::new(),
            home_metrics: None,
            first_run: None,
        }
    }
}

impl Settings {
    /// Refuses settings that would open text to web pages of others, and warns about tokens that others on the way can read.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.cors.as_deref() {
            Some("*") if self.is_private() => return Err(Error::OpenCors),
            Some(origin) if origin != "*" && !is_origin(origin) => return Err(Error::Cors(origin.to_owned())),
            _ => {}
        }
        if self.sign_in != SignIn::default() && self.proxy.is_empty() {
            return Err(Error::SignInWithoutProxy);
        }
        if self.shards.len() > MAX_SHARDS {
            return Err(Error::TooManyShards);
        }
        if let Some(twice) = (1..self.shards.len()).find(|at| self.shards[..*at].contains(&self.shards[*at])) {
            return Err(Error::ShardTwice(self.shards[twice].to_string()));
        }
        if !self.shards.is_empty() && self.shard_token.is_none() {
            return Err(Error::ShardsWithoutToken);
        }
        if self.shard_token.as_ref().is_some_and(|token| !is_secret(token.text())) {
            return Err(Error::WeakShardToken);
        }
        if self.sends_tokens_in_the_clear() {
            log::warn!(
                "access tokens travel without encryption, because the server listens at {} without TLS; set \
                 serve.tls_certificate and serve.tls_key, or bind to loopback behind a proxy that speaks TLS",
                self.bind
            );
        }
        Ok(())
    }

    /// Returns true if tokens of other machines come over connections without TLS.
    fn sends_tokens_in_the_clear(&self) -> bool {
        !self.bind.is_loopback() && self.tls.is_none()
    }

    /// Returns `true` if only this machine can connect.
    pub(crate) fn is_private(&self) -> bool {
        self.bind.is_loopback() && !self.public
    }
}

/// A secret, which no text for debugging shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The secret itself.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Secret {
        Secret(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Returns true if a text can be the secret of shards: printable ASCII without blanks, hard to guess.
fn is_secret(text: &str) -> bool {
    text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns true if a text is an origin as browsers send it: scheme, host and port, and nothing else.
pub fn is_origin(text: &str) -> bool {
    Url::parse(text)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_origins_are_allowed_by_cors() {
        for origin in ["https://corpus.example", "http://localhost:8000", "https://xn--mnchen-3ya.example"] {
            assert!(is_origin(origin), "{origin}");
        }
        for other in [
            "",
            "corpus.example",
            "https://corpus.example/",
            "https://a.example https://b.example",
            "ftp://a.example",
            "https://user@a.example",
            "https://a.example\r\nX: y",
            "null",
            "https://A.example",
            "https://a.example:443",
        ] {
            assert!(!is_origin(other), "{other}");
        }
    }

    #[test]
    fn all_origins_are_allowed_on_public_servers_only() {
        let all = Settings { cors: Some("*".to_owned()), ..Settings::default() };
        assert!(matches!(all.check(), Err(Error::OpenCors)));
        assert!(Settings { public: true, ..all.clone() }.check().is_ok());
        let wrong = Settings { cors: Some("corpus.example".to_owned()), ..Settings::default() };
        assert!(matches!(wrong.check(), Err(Error::Cors(_))));
    }

    #[test]
    fn shards_need_a_strong_secret_and_different_addresses() {
        let address = |text: &str| text.parse::<ShardAddress>().unwrap();
        let gateway = Settings { shards: vec![address("http://a"), address("http://b")], ..Settings::default() };
        assert!(matches!(gateway.check(), Err(Error::ShardsWithoutToken)));
        let with = |token: &str| Settings { shard_token: Some(token.to_owned().into()), ..gateway.clone() };
        assert!(matches!(with("secret").check(), Err(Error::WeakShardToken)));
        assert!(with(&"x".repeat(40)).check().is_ok());
        let twice = Settings { shards: vec![address("http://a"), address("http://a:80/")], ..with(&"x".repeat(40)) };
        assert!(matches!(twice.check(), Err(Error::ShardTwice(_))));
    }

    #[test]
    fn tokens_are_in_the_clear_beyond_loopback_without_tls() {
        let settings = Settings::default();
        assert!(!settings.sends_tokens_in_the_clear());
        let open = Settings { bind: "0.0.0.0".parse().unwrap(), ..settings };
        assert!(open.sends_tokens_in_the_clear());
        let tls = Some(TlsFiles { certificate: "c.pem".into(), key: "k.pem".into() });
        assert!(!Settings { tls, ..open }.sends_tokens_in_the_clear());
    }

    #[test]
    fn users_are_signed_in_through_a_named_proxy_only() {
        let user_header = Some(hyper::header::HeaderName::from_static("x-remote-user"));
        let settings = Settings { sign_in: SignIn { user_header, ..SignIn::default() }, ..Settings::default() };
        assert!(matches!(settings.check(), Err(Error::SignInWithoutProxy)));
    }
}
