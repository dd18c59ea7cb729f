//! Protocols of other tools: CLARIN FCS, Bonito of Sketch Engine, KorAP.
//!
//! A request is translated to questions of the API, which are asked as any client asks them ([`ask`]): with the same checks,
//! rights, limits and admission, also over shards. The setting `serve.tools` names the protocols that are on; by default none is.

mod bonito;
mod fcs;
mod korap;
mod xml;

use std::sync::Arc;

use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tidings_query::question::ConcordanceLine;
use url::form_urlencoded::Serializer;

use crate::api_error::ApiError;
use crate::client::Client;
use crate::endpoint::Endpoint;
use crate::query_params::{QueryParams, decoded};
use crate::respond;
use crate::response::{Body, Format, ResponseOptions};
use crate::server::AppState;

tidings_query::choices! {
    /// A protocol of another tool.
    pub enum Tool {
        /// Federated Content Search of CLARIN: SRU at `/fcs`.
        Fcs = "fcs",
        /// JSON of Bonito, the server of (No)Sketch Engine: `/bonito/run.cgi`.
        Bonito = "bonito",
        /// Search of KorAP: `/korap/LANG/api/v1.0`.
        Korap = "korap",
    }
}

impl Tool {
    /// The protocol that a path belongs to.
    pub(crate) fn of_path(path: &str) -> Option<Tool> {
        match path.split('/').nth(1)? {
            "fcs" => Some(Tool::Fcs),
            "bonito" => Some(Tool::Bonito),
            "korap" => Some(Tool::Korap),
            _ => None,
        }
    }
}

/// A request of another tool.
pub(crate) struct ToolRequest<'r> {
    pub state: &'r Arc<AppState>,
    pub client: &'r Client,
    pub path: &'r str,
    /// The parameters in their order; names may be repeated.
    pub parameters: Vec<(String, String)>,
    /// The base URL of this server as the client sees it.
    pub base: String,
}

/// Answers a request of another tool.
pub(crate) async fn answer(tool: Tool, request: &ToolRequest<'_>) -> Result<Response<Body>, ApiError> {
    if !request.state.settings.tools.contains(&tool) {
        let name = tool.name();
        return Err(ApiError::unknown(format!("{name} is off on this server; serve.tools = [\"{name}\"] turns it on")));
    }
    match tool {
        Tool::Fcs => fcs::answer(request).await,
        Tool::Bonito => bonito::answer(request).await,
        Tool::Korap => korap::answer(request).await,
    }
}

/// The parameters of a form, decoded.
pub(crate) fn parameters(form: &str) -> Result<Vec<(String, String)>, ApiError> {
    let pairs = form.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((decoded(name)?, decoded(value)?))
    });
    pairs.collect()
}

impl ToolRequest<'_> {
    /// The first value of a parameter.
    fn get(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All values of a parameter.
    fn all<'r>(&'r self, name: &'r str) -> impl Iterator<Item = &'r str> {
        self.parameters.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Asks a question of the API for this client.
    async fn ask<T: DeserializeOwned>(
        &self,
        lang: &str,
        question: &str,
        parameters: &[(&str, &str)],
    ) -> Result<T, ApiError> {
        let path = if lang.is_empty() { format!("/api/v1/{question}") } else { format!("/api/v1/{lang}/{question}") };
        let query = Serializer::new(String::new()).extend_pairs(parameters).finish();
        let bytes = answer_bytes(self.state, self.client, &self.base, &path, &query).await?;
        serde_json::from_slice(&bytes).map_err(|error| ApiError::broken("cannot read an answer of the API", &error))
    }

    /// The corpora that the client can ask.
    async fn corpora(&self) -> Result<Vec<CorpusName>, ApiError> {
        Ok(self.ask::<Corpora>("", "corpora", &[]).await?.corpora)
    }
}

/// Answers a request to an endpoint of the API as JSON, with the rights and limits of a client.
pub(crate) async fn answer_bytes(
    state: &Arc<AppState>,
    client: &Client,
    base: &str,
    path: &str,
    query: &str,
) -> Result<bytes::Bytes, ApiError> {
    let (endpoint, values) = Endpoint::find(path).ok_or_else(|| ApiError::unknown("no such corpus"))?;
    let values: Vec<String> = values.into_iter().map(str::to_owned).collect();
    let params = match &state.gateway {
        Some(_) => QueryParams::read_for_gateway(endpoint, &values, query)?,
        None => QueryParams::read(endpoint, &values, query)?,
    };
    let options = ResponseOptions {
        format: Format::Json,
        link: path.to_owned(),
        base: base.to_owned(),
        gzip: false,
        state: String::new(),
    };
    let mut found = respond::run(state, endpoint, params, values, options, client).await?;
    match found.body_mut() {
        Body::Whole(Some(bytes)) => Ok(std::mem::take(bytes)),
        _ => Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "a question has no answer")),
    }
}

#[derive(Deserialize)]
struct Corpora {
    corpora: Vec<CorpusName>,
}

/// A corpus, as the API lists it.
#[derive(Debug, Clone, Deserialize)]
struct CorpusName {
    corpus: String,
    tokens: u64,
    documents: u64,
    attributes: Vec<String>,
    fields: Vec<String>,
}

/// A concordance, as the API answers it.
#[derive(Debug, Deserialize)]
struct ConcordancePage {
    about: PageAbout,
    #[serde(default)]
    hits: Option<u64>,
    #[serde(default)]
    per_million: Option<f64>,
    #[serde(default)]
    withheld: Option<u64>,
    lines: Vec<ConcordanceLine>,
}

#[derive(Debug, Deserialize)]
struct PageAbout {
    generation: u64,
    exactness: PageExactness,
}

#[derive(Debug, Deserialize)]
struct PageExactness {
    kind: String,
}

impl ConcordancePage {
    /// The hits that have lines.
    fn shown_hits(&self) -> u64 {
        self.hits.unwrap_or(0).saturating_sub(self.withheld.unwrap_or(0))
    }

    fn is_exact(&self) -> bool {
        self.about.exactness.kind == "exact"
    }
}

/// Whether an error says that the request itself cannot be answered, and not that the server is busy or the client may not ask.
fn is_of_request(error: &ApiError) -> bool {
    let statuses = [
        StatusCode::BAD_REQUEST,
        StatusCode::NOT_FOUND,
        StatusCode::PAYLOAD_TOO_LARGE,
        StatusCode::UNPROCESSABLE_ENTITY,
    ];
    statuses.contains(&error.status)
}

/// A response with a text.
fn text_response(kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::of(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_their_protocol() {
        assert_eq!(Tool::of_path("/fcs"), Some(Tool::Fcs));
        assert_eq!(Tool::of_path("/bonito/run.cgi/view"), Some(Tool::Bonito));
        assert_eq!(Tool::of_path("/korap/en/api/v1.0/search"), Some(Tool::Korap));
        assert_eq!((Tool::of_path("/fcs2"), Tool::of_path("/api/v1/fcs"), Tool::of_path("/")), (None, None, None));
    }

    #[test]
    fn forms_keep_repeated_names_in_order() {
        let pairs = parameters("q=q%5B%5D&q=r10&&x").unwrap();
        assert_eq!(pairs, [("q", "q[]"), ("q", "r10"), ("x", "")].map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert!(parameters("q=%zz").is_err());
    }
}
