//! The server itself, and what the client may do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidings_query::answer;
use tidings_query::question::Request;

use super::{HomeContext, HomeQuestion};
use crate::api_error::ApiError;

/// Describes the server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ServerRequest {}

answer! {
    /// The server and the client.
    pub struct ServerInfo {
        /// The version of the program.
        pub version: String,
        /// The public address of the server (setting serve.address); null if it has none.
        pub address: Option<String>,
        /// Whether the client is the owner of the home on the same machine, who may save searches.
        pub owner: bool,
    }
}

impl Request for ServerRequest {
    fn example() -> ServerRequest {
        ServerRequest {}
    }
}

impl HomeQuestion for ServerRequest {
    const NAME: &'static str = "server";
    const SUMMARY: &'static str = "Describe the server: version, public address, and what the client may do";
    const ROWS: &'static str = "";
    type Answer = ServerInfo;

    fn answer(&self, context: &HomeContext<'_>) -> Result<ServerInfo, ApiError> {
        Ok(ServerInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            address: context.settings.address.clone(),
            owner: context.right.is_owner(),
        })
    }
}
