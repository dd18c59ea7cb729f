//! Settings of the server.

use std::net::IpAddr;

use anyhow::{Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use tidings_serve::Availability;
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
    pub time_limit_s: f64,
    pub heavy_requests: usize,
    pub requests_per_minute: u32,
    pub kwic_windows_per_day: u32,
    pub cors: String,
    pub default_availability: String,
    pub loopback_scope: String,
}

impl Default for ServeConfig {
    fn default() -> ServeConfig {
        let usual = tidings_serve::Settings::default();
        ServeConfig {
            bind: usual.bind,
            port: usual.port,
            public: usual.public,
            time_limit_s: usual.time_limit.as_secs_f64(),
            heavy_requests: usual.heavy_requests,
            requests_per_minute: usual.requests_per_minute,
            kwic_windows_per_day: usual.kwic_windows_per_day,
            cors: String::new(),
            default_availability: usual.default_availability.name().to_owned(),
            loopback_scope: usual.loopback_scope.map_or("none", tokens::Scope::name).to_owned(),
        }
    }
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
        let is_origin = self.cors == "*" || self.cors.starts_with("http://") || self.cors.starts_with("https://");
        if !self.cors.is_empty() && (!is_origin || self.cors.ends_with('/') || !self.cors.is_ascii()) {
            bail!("serve.cors: invalid origin `{}`; give one such as \"https://corpus.example\"", self.cors);
        }
        Ok(tidings_serve::Settings {
            bind: self.bind,
            port: self.port,
            public: self.public,
            time_limit: seconds(self.time_limit_s),
            heavy_requests: self.heavy_requests,
            requests_per_minute: self.requests_per_minute,
            kwic_windows_per_day: self.kwic_windows_per_day,
            cors: Some(self.cors.clone()).filter(|origin| !origin.is_empty()),
            default_availability,
            loopback_scope,
            ..tidings_serve::Settings::default()
        })
    }
}
