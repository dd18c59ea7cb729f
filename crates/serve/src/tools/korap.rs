//! Search of KorAP: `/korap/LANG/api/v1.0/search` and `/statistics`, with virtual corpora defined by `cq`.
//!
//! Queries are in `ql=cqp` (CQL of Tidings), `fcsql` or `cql` (that of the Library of Congress). Definitions of virtual corpora
//! become filters ([`collection`]). Errors are `{"errors": [[code, message]]}`, as KorAP sends them.

use hyper::{Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use tidings_query::question::{KwicToken, text_of};
use tidings_query::translate::collection::{self, Collection, FIELDS};
use tidings_query::translate::{Refusal, contextual, fcs_ql};

use super::{ConcordancePage, CorpusName, ToolRequest, is_of_request};
use crate::api_error::ApiError;
use crate::response::{Body, json_response};
use crate::rss::escaped;

/// Matches of a page if the client names no number, and at most.
const USUAL_MATCHES: u64 = 25;
const MAX_MATCHES: u64 = 1000;
/// The number of an error in a query, in KorAP's list of errors.
const QUERY_ERROR: u32 = 302;

/// Parameters that change nothing in an answer of this server.
const IGNORED: &[&str] =
    &["show-tokens", "show-snippet", "access-rewrite-disabled", "engine", "v", "cutoff", "timeout", "pipes"];

/// Answers a request of KorAP.
pub(super) async fn answer(request: &ToolRequest<'_>) -> Result<Response<Body>, ApiError> {
    match method(request).await {
        Ok(answer) => Ok(json_response(StatusCode::OK, &answer)),
        Err(error) if is_of_request(&error) => {
            Ok(json_response(error.status, &json!({ "errors": [[QUERY_ERROR, error.error]] })))
        }
        Err(error) => Err(error),
    }
}

async fn method(request: &ToolRequest<'_>) -> Result<Value, ApiError> {
    let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
    let (lang, method) = match parts[..] {
        ["korap", lang, "api", version, method] if version.starts_with("v1") => (lang, method),
        _ => {
            return Err(ApiError::unknown("there are /korap/LANG/api/v1.0/search and /korap/LANG/api/v1.0/statistics"));
        }
    };
    let corpora = request.corpora().await?;
    let Some(corpus) = corpora.iter().find(|corpus| corpus.corpus == lang) else {
        let codes: Vec<&str> = corpora.iter().map(|corpus| corpus.corpus.as_str()).collect();
        return Err(ApiError::unknown(format!("no corpus `{lang}`; available: {}", codes.join(", "))));
    };
    match method {
        "search" => search(request, corpus).await,
        "statistics" => statistics(request, corpus).await,
        other => Err(ApiError::unknown(format!("no method `{other}`; there are search and statistics"))),
    }
}

fn refused(parameter: &'static str, refusal: &Refusal) -> ApiError {
    ApiError::wrong(parameter, refusal.to_string())
}

/// Refuses parameters that would change the answer and are not known.
fn check_names(request: &ToolRequest<'_>, known: &[&str]) -> Result<(), ApiError> {
    let is_known = |name: &str| known.contains(&name) || IGNORED.contains(&name);
    match request.parameters.iter().find(|(name, value)| !value.is_empty() && !is_known(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let name: String = name.chars().take(40).collect();
            Err(ApiError::wrong(
                name.clone(),
                format!("the parameter `{name}` is not supported; available: {}", known.join(", ")),
            ))
        }
    }
}

/// The parameters of the documents that `cq` defines.
fn scope(request: &ToolRequest<'_>, corpus: &CorpusName) -> Result<Vec<(&'static str, String)>, ApiError> {
    let fields: Vec<&str> = corpus.fields.iter().map(String::as_str).collect();
    let definition = request.get("cq").or_else(|| request.get("corpusQuery")).or_else(|| request.get("collection"));
    let found =
        collection::translate(definition.unwrap_or_default(), &fields).map_err(|error| refused("cq", &error))?;
    let Collection { filter, refers_to } = found;
    Ok(filter.map(|filter| ("filter", filter)).into_iter().chain(refers_to.map(|name| ("in", name))).collect())
}

async fn search(request: &ToolRequest<'_>, corpus: &CorpusName) -> Result<Value, ApiError> {
    let known = ["q", "ql", "cq", "corpusQuery", "collection", "count", "offset", "page", "context", "fields"];
    check_names(request, &known)?;
    let query = request.get("q").ok_or_else(|| ApiError::wrong("q", "q is missing: the query"))?;
    let translated = match request.get("ql").unwrap_or("cqp") {
        "cqp" | "" => query.to_owned(),
        "fcsql" => fcs_ql::translate(query).map_err(|error| refused("q", &error))?,
        "cql" => contextual::translate(query).map_err(|error| refused("q", &error))?,
        other => {
            return Err(ApiError::wrong(
                "ql",
                format!("the query language {other} is not supported; use cqp, fcsql or cql"),
            ));
        }
    };
    let number = |name: &'static str, usual: u64| {
        request.get(name).filter(|text| !text.is_empty()).map_or(Ok(usual), |text| {
            text.parse::<u64>().map_err(|_| ApiError::wrong(name, format!("{name} = {text}: give a whole number")))
        })
    };
    let count = number("count", USUAL_MATCHES)?.min(MAX_MATCHES);
    let page = number("page", 1)?.max(1);
    let offset = number("offset", (page - 1).saturating_mul(count))?;
    let context = context(request.get("context").filter(|text| !text.is_empty()).unwrap_or("40-t,40-t"))?;
    let mut parameters = scope(request, corpus)?;
    parameters.extend([
        ("q", translated.clone()),
        ("context", context.to_string()),
        ("fields", "site,title,author,date,url".to_owned()),
    ]);
    let ask = async |more: &[(&'static str, String)]| -> Result<ConcordancePage, ApiError> {
        let pairs = parameters.iter().chain(more).map(|(name, value)| (*name, value.as_str()));
        request.ask(&corpus.corpus, "query", &pairs.collect::<Vec<_>>()).await
    };
    let mut answer = ask(&[("size", if offset == 0 { count } else { 0 }.to_string())]).await?;
    if offset > 0 && offset < answer.shown_hits() && count > 0 {
        let cursor = format!("{}-{offset}", answer.about.generation);
        answer.lines =
            ask(&[("size", count.to_string()), ("cursor", cursor), ("count", "false".to_owned())]).await?.lines;
    }
    let hits = answer.shown_hits();
    let matches = answer.lines.iter().map(|line| {
        let part = |tokens: &Option<Vec<KwicToken>>| escaped(&text_of(tokens.as_deref().unwrap_or_default()));
        let field = |name: &str| line.fields.get(name).cloned().unwrap_or_default();
        let snippet = format!(
            "<span class=\"context-left\">{}</span><span class=\"match\"><mark>{}</mark></span><span class=\"context-right\">{}</span>",
            part(&line.left),
            part(&line.node).trim_end(),
            part(&line.right)
        );
        let position = line.position.unwrap_or(0);
        let end = position as usize + line.node.as_ref().map_or(0, Vec::len);
        json!({
            "matchID": format!("match-{}-p{position}-{end}", line.document), "textSigle": line.document, "UID": 0,
            "corpusTitle": field("site"), "docTitle": field("site"), "title": field("title"), "author": field("author"),
            "pubDate": field("date"), "textExternalLink": field("url"), "snippet": snippet, "hasSnippet": true,
        })
    });
    let definition: Vec<&str> =
        parameters.iter().filter(|(name, _)| *name == "filter").map(|(_, text)| text.as_str()).collect();
    Ok(json!({
        "meta": {
            "count": count, "startIndex": offset, "itemsPerPage": count, "totalResults": hits, "version": "1.0",
            "timeExceeded": !answer.is_exact(), "serialQuery": translated,
            "context": { "left": ["token", context], "right": ["token", context] },
            "fields": ["textSigle", "corpusTitle", "title", "author", "pubDate"],
        },
        "collection": { "@type": "tidings:filter", "filter": definition.first() },
        "matches": matches.collect::<Vec<_>>(),
    }))
}

/// Tokens on each side: `40-t,40-t`; the larger of both sides. Characters are as many tokens as fit with one character each.
fn context(text: &str) -> Result<u64, ApiError> {
    let wrong = || ApiError::wrong("context", format!("context = {text}: give tokens on both sides, as in 10-t,10-t"));
    let side = |side: &str| -> Result<u64, ApiError> {
        let (number, unit) = side.trim().split_once('-').ok_or_else(wrong)?;
        if !matches!(unit, "t" | "token") {
            return Err(wrong());
        }
        number.parse().map_err(|_| wrong())
    };
    let (left, right) = text.split_once(',').unwrap_or((text, text));
    Ok(side(left)?.max(side(right)?).min(200))
}

async fn statistics(request: &ToolRequest<'_>, corpus: &CorpusName) -> Result<Value, ApiError> {
    check_names(request, &["cq", "corpusQuery", "collection"])?;
    #[derive(Deserialize)]
    struct Documents {
        documents: u64,
        tokens: u64,
    }
    #[derive(Deserialize)]
    struct Count {
        hits: u64,
    }
    let scope = scope(request, corpus)?;
    let pairs = |more: &[(&'static str, &'static str)]| -> Vec<(String, String)> {
        let own = scope.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        own.chain(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))).collect()
    };
    async fn ask<T: serde::de::DeserializeOwned>(
        request: &ToolRequest<'_>,
        lang: &str,
        question: &str,
        pairs: Vec<(String, String)>,
    ) -> Result<T, ApiError> {
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        request.ask(lang, question, &pairs).await
    }
    let lang = corpus.corpus.as_str();
    let size: Documents = ask(request, lang, "documents", pairs(&[("size", "0")])).await?;
    let sentences: Count = ask(request, lang, "count", pairs(&[("q", "<s/>")])).await?;
    let paragraphs: Count = ask(request, lang, "count", pairs(&[("q", "<p/>")])).await?;
    Ok(json!({
        "documents": size.documents, "tokens": size.tokens, "sentences": sentences.hits, "paragraphs": paragraphs.hits,
        "fields": FIELDS.iter().map(|(theirs, _)| *theirs).collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_given_in_tokens() {
        assert_eq!(context("40-t,12-token").unwrap(), 40);
        assert_eq!(context("9999-t,1-t").unwrap(), 200);
        assert!(["sentence", "40-c,40-c", "x-t,1-t", "40"].iter().all(|text| context(text).is_err()));
    }
}
