//! Settings of the server.

use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use tidings_serve::{Availability, Network, ShardAddress, SignIn, TlsFiles, Tool};
use tidings_store::tokens;

use super::{seconds, within};

/// The `[serve]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to users.
pub struct ServeConfig {
    pub bind: IpAddr,
    pub port: u16,
    pub public: bool,
    pub address: String,
    pub time_limit_s: f64,
    pub heavy_requests: usize,
    pub requests_per_minute: u32,
    pub kwic_windows_per_day: u32,
    pub cors: String,
    pub tools: Vec<String>,
    pub default_availability: String,
    pub loopback_scope: String,
    pub proxy: Vec<String>,
    pub proxy_user_header: String,
    pub proxy_groups_header: String,
    pub proxy_groups: Vec<String>,
    pub tls_certificate: PathBuf,
    pub tls_key: PathBuf,
    pub shards: Vec<String>,
    pub shard_token_file: PathBuf,
}

impl Default for ServeConfig {
    fn default() -> ServeConfig {
        let usual = tidings_serve::Settings::default();
        ServeConfig {
            bind: usual.bind,
            port: usual.port,
            public: usual.public,
            address: String::new(),
            time_limit_s: usual.time_limit.as_secs_f64(),
            heavy_requests: usual.heavy_requests,
            requests_per_minute: usual.requests_per_minute,
            kwic_windows_per_day: usual.kwic_windows_per_day,
            cors: String::new(),
            tools: Vec::new(),
            default_availability: usual.default_availability.name().to_owned(),
            loopback_scope: usual.loopback_scope.map_or("none", tokens::Scope::name).to_owned(),
            proxy: Vec::new(),
            proxy_user_header: String::new(),
            proxy_groups_header: String::new(),
            proxy_groups: Vec::new(),
            tls_certificate: PathBuf::new(),
            tls_key: PathBuf::new(),
            shards: Vec::new(),
            shard_token_file: PathBuf::new(),
        }
    }
}

/// The addresses of shards.
pub fn shard_addresses(texts: &[String]) -> std::result::Result<Vec<ShardAddress>, String> {
    texts.iter().map(|text| text.parse()).collect()
}

impl ServeConfig {
    /// The settings in the form that the server expects.
    pub fn settings(&self) -> Result<tidings_serve::Settings> {
        within("serve.", [("time_limit_s", self.time_limit_s, 0.1..=3600.0)])?;
        within("serve.", [("heavy_requests", self.heavy_requests, 1..=1024)])?;
        let Some(default_availability) = Availability::named(&self.default_availability) else {
            bail!(
                "serve.default_availability: unknown value `{}`; give open, kwic or metadata",
                self.default_availability
            );
        };
        let loopback_scope = match self.loopback_scope.as_str() {
            "none" => None,
            name => Some(
                tokens::Scope::named(name)
                    .ok_or_else(|| anyhow!("serve.loopback_scope: unknown value `{name}`; give none, text or admin"))?,
            ),
        };
        if !self.cors.is_empty() && self.cors != "*" && !tidings_serve::is_origin(&self.cors) {
            bail!("serve.cors: invalid origin `{}`; give one such as \"https://corpus.example\"", self.cors);
        }
        let is_address = |text: &str| {
            url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        };
        if !self.address.is_empty() && !is_address(&self.address) {
            bail!("serve.address: invalid address `{}`; give one such as \"https://corpus.example\"", self.address);
        }
        Ok(tidings_serve::Settings {
            address: Some(self.address.clone()).filter(|address| !address.is_empty()),
            bind: self.bind,
            port: self.port,
            public: self.public,
            time_limit: seconds(self.time_limit_s),
            heavy_requests: self.heavy_requests,
            requests_per_minute: self.requests_per_minute,
            kwic_windows_per_day: self.kwic_windows_per_day,
            cors: Some(self.cors.clone()).filter(|origin| !origin.is_empty()),
            tools: self.tools()?,
            default_availability,
            loopback_scope,
            proxy: self.proxy()?,
            sign_in: self.sign_in()?,
            tls: self.tls()?,
            shards: shard_addresses(&self.shards).map_err(|error| anyhow!("serve.shards: {error}"))?,
            ..tidings_serve::Settings::default()
        })
    }

    fn tools(&self) -> Result<Vec<Tool>> {
        let tool = |name: &String| {
            Tool::named(name)
                .ok_or_else(|| anyhow!("serve.tools: unknown protocol `{name}`; give fcs, bonito or korap"))
        };
        self.tools.iter().map(tool).collect()
    }

    fn proxy(&self) -> Result<Vec<Network>> {
        let networks =
            self.proxy.iter().map(|text| text.parse().map_err(|error: String| anyhow!("serve.proxy: {error}")));
        networks.collect()
    }

    fn sign_in(&self) -> Result<SignIn> {
        let header = |key: &str, name: &str| match name {
            "" => Ok(None),
            name => name.parse().map(Some).map_err(|_| anyhow!("serve.{key}: `{name}` is no name of a header")),
        };
        let group = |text: &String| {
            // Names of groups may have equals signs, as in LDAP.
            let (group, scope) = text.rsplit_once('=').unwrap_or((text, ""));
            let scope = tokens::Scope::named(scope.trim());
            let scope = scope
                .ok_or_else(|| anyhow!("serve.proxy_groups: `{text}` has no scope; give one such as \"staff=text\""));
            Ok::<_, anyhow::Error>((group.trim().to_owned(), scope?))
        };
        Ok(SignIn {
            user_header: header("proxy_user_header", &self.proxy_user_header)?,
            groups_header: header("proxy_groups_header", &self.proxy_groups_header)?,
            groups: self.proxy_groups.iter().map(group).collect::<Result<_>>()?,
        })
    }

    fn tls(&self) -> Result<Option<TlsFiles>> {
        match (self.tls_certificate.as_os_str().is_empty(), self.tls_key.as_os_str().is_empty()) {
            (true, true) => Ok(None),
            (false, false) => {
                Ok(Some(TlsFiles { certificate: self.tls_certificate.clone(), key: self.tls_key.clone() }))
            }
            (true, false) => bail!("serve.tls_key needs serve.tls_certificate, the file of the certificate"),
            (false, true) => bail!("serve.tls_certificate needs serve.tls_key, the file of its key"),
        }
    }
}
