//! The part of Bonito's JSON that clients of (No)Sketch Engine use: `/bonito/run.cgi/METHOD?corpname=LANG&…`.
//!
//! | method | question |
//! |---|---|
//! | `corp_info` | corpora |
//! | `view`, `first` | concordance |
//! | `wordlist` | words |
//! | `freqs`, `freqml`, `freqtt` | group |
//! | `collx` | collocates |
//!
//! Parameters and fields have the names of Sketch Engine's documentation. A parameter that changes the answer and is not
//! supported is refused by name, never ignored; errors are `{"error": …}` with status 200, as Bonito sends them, unless the server
//! is busy or the client may not ask.

mod counts;
mod lines;
mod query;

use hyper::{Response, StatusCode};
use serde_json::{Map, Value, json};

use super::{CorpusName, ToolRequest, is_of_request};
use crate::api_error::ApiError;
use crate::response::{Body, json_response};

const ROOT: &str = "/bonito/run.cgi/";
const METHODS: [&str; 8] = ["corp_info", "view", "first", "wordlist", "freqs", "freqml", "freqtt", "collx"];

/// Parameters of every method that change nothing in an answer of this server.
const IGNORED: &[&str] = &[
    "format",
    "asyn",
    "api_key",
    "username",
    "attrs",
    "ctxattrs",
    "attr_allpos",
    "structs",
    "viewmode",
    "refs",
    "reload",
    "json",
    "gdex_enabled",
    "show_gdex_scores",
    "default_attr",
    "iquery_attrs",
    "errcorr_switch",
    "cup_hl",
    "cup_err_code",
    "cup_err",
    "cup_corr",
    "structattrs",
    "interface",
    "results_url",
    "random",
    "fc_lemword_window_type",
    "itemsPerPage",
];

/// A request of Bonito for one corpus.
struct Bonito<'r> {
    request: &'r ToolRequest<'r>,
    corpus: CorpusName,
}

/// Answers a request of Bonito.
pub(super) async fn answer(request: &ToolRequest<'_>) -> Result<Response<Body>, ApiError> {
    let answer = match method(request).await {
        Ok(Value::Object(mut answer)) => {
            answer.insert("request".to_owned(), echo(request));
            answer.insert("api_version".to_owned(), json!(concat!("tidings-", env!("CARGO_PKG_VERSION"))));
            Value::Object(answer)
        }
        Ok(other) => other,
        Err(error) if is_of_request(&error) => json!({ "error": error.error, "request": echo(request) }),
        Err(error) => return Err(error),
    };
    Ok(json_response(StatusCode::OK, &answer))
}

async fn method(request: &ToolRequest<'_>) -> Result<Value, ApiError> {
    let name = request.path.strip_prefix(ROOT).unwrap_or_default();
    if !METHODS.contains(&name) {
        return Err(ApiError::unknown(format!("unknown method `{name}`; available: {}", METHODS.join(", "))));
    }
    if let Some(format) = request.get("format").filter(|format| !["", "json"].contains(format)) {
        return Err(ApiError::wrong(
            "format",
            format!("format={format} is not supported; use json, or the API for CSV"),
        ));
    }
    let wanted = request.get("corpname").unwrap_or_default();
    // Sketch Engine's names have a folder: preloaded/NAME, user/USER/NAME.
    let code = wanted.rsplit('/').next().unwrap_or_default();
    let corpora = request.corpora().await?;
    let codes: Vec<&str> = corpora.iter().map(|corpus| corpus.corpus.as_str()).collect();
    let Some(at) = codes.iter().position(|known| *known == code) else {
        let message = format!("no corpus `{wanted}`; corpname is one of {}", codes.join(", "));
        return Err(ApiError::wrong("corpname", message));
    };
    let bonito = Bonito { corpus: corpora[at].clone(), request };
    match name {
        "corp_info" => bonito.corp_info().await,
        "view" | "first" => bonito.view().await,
        "wordlist" => bonito.wordlist().await,
        "collx" => bonito.collx().await,
        _ => bonito.freqs().await,
    }
}

/// The parameters of the request without secrets; those that are repeated as a list.
fn echo(request: &ToolRequest<'_>) -> Value {
    let mut echo = Map::new();
    for (name, value) in request.parameters.iter().filter(|(name, _)| name != "api_key" && name != "username") {
        match echo.get_mut(name) {
            None => drop(echo.insert(name.clone(), json!(value))),
            Some(Value::Array(values)) => values.push(json!(value)),
            Some(known) => *known = json!([known.clone(), value]),
        }
    }
    Value::Object(echo)
}

impl Bonito<'_> {
    fn lang(&self) -> &str {
        &self.corpus.corpus
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.request.get(name).map(str::trim).filter(|value| !value.is_empty())
    }

    fn number(&self, name: &str, usual: u64) -> Result<u64, ApiError> {
        self.get(name).map_or(Ok(usual), |text| {
            text.parse().map_err(|_| ApiError::wrong(name.to_owned(), format!("{name} = {text}: give a whole number")))
        })
    }

    /// Refuses parameters that are not among the known ones and would change the answer.
    fn check_names(&self, known: &[&str]) -> Result<(), ApiError> {
        let always = ["corpname", "usesubcorp", "q"];
        let is_known = |name: &str| known.contains(&name) || always.contains(&name) || IGNORED.contains(&name);
        match self.request.parameters.iter().find(|(name, value)| !value.is_empty() && !is_known(name)) {
            None => Ok(()),
            Some((name, _)) => {
                let name: String = name.chars().take(40).collect();
                let message = format!("the parameter `{name}` is not supported; available: {}", known.join(", "));
                Err(ApiError::wrong(name, message))
            }
        }
    }

    /// The attribute of Tidings; names of attributes in Sketch Engine are those of its usual corpora.
    fn attribute(&self, name: &str) -> Result<String, ApiError> {
        let name = match name {
            "pos" => "tag",
            "lemma_lc" => "lemma",
            name => name,
        };
        match self.corpus.attributes.iter().any(|known| known == name) {
            true => Ok(name.to_owned()),
            false => {
                let message = format!("no attribute `{name}`; available: {}", self.corpus.attributes.join(", "));
                Err(ApiError::wrong("attribute", message))
            }
        }
    }

    async fn corp_info(&self) -> Result<Value, ApiError> {
        self.check_names(&["struct_attr_stats", "subcorpora", "gramrels", "corpcheck"])?;
        #[derive(serde::Deserialize)]
        struct Count {
            hits: u64,
        }
        let count = async |query: &str| -> Result<u64, ApiError> {
            let count: Count = self.request.ask(self.lang(), "count", &[("q", query)]).await?;
            Ok(count.hits)
        };
        let (sentences, paragraphs) = (count("<s/>").await?, count("<p/>").await?);
        let words = count("[word=\".*[\\p{L}\\p{N}].*\"]").await?;
        let CorpusName { corpus, tokens, documents, attributes, fields } = &self.corpus;
        let attribute =
            |name: &String| json!({ "name": name, "label": name, "id_range": null, "fromattr": "", "dynamic": "" });
        let field = |name: &String| json!({ "name": name, "label": name, "dynamic": "", "fromattr": "", "size": null });
        let structure = |name: &str, size: u64, fields: Vec<Value>| json!({ "name": name, "label": name, "attributes": fields, "size": size.to_string() });
        Ok(json!({
            "name": format!("Tidings {corpus}"),
            "lang": tidings_lang::language_name(corpus).unwrap_or(corpus),
            "encoding": "UTF-8",
            "compiled": "",
            "info": "News from the web",
            "infohref": format!("{}/?lang={corpus}", self.request.base),
            "wposlist": [], "lposlist": [], "gramrels": [], "subcorpora": [], "freqttattrs": fields, "subcorpattrs": fields,
            "docstructure": "doc", "termdef": "", "defaultattr": "word",
            "sizes": {
                "tokencount": tokens.to_string(),
                "wordcount": words.to_string(),
                "doccount": documents.to_string(),
                "parcount": paragraphs.to_string(),
                "sentcount": sentences.to_string(),
            },
            "attributes": attributes.iter().map(attribute).collect::<Vec<_>>(),
            "structures": [
                structure("doc", *documents, fields.iter().map(field).collect()),
                structure("p", paragraphs, Vec::new()),
                structure("s", sentences, Vec::new()),
            ],
        }))
    }
}
