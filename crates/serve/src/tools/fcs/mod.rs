//! Federated Content Search (CLARIN FCS 2.0) over SRU 2.0 and 1.2.
//!
//! `/fcs` explains the server and its resources, one for each language, and answers `searchRetrieve` with queries in CQL of the
//! Library of Congress (`queryType=cql`) or FCS-QL (`queryType=fcs`). Each hit is a record with the Generic Hits and the Advanced
//! data view. What is not supported is answered with a diagnostic of SRU or FCS.

mod explain;
mod response;
mod search;

use hyper::Response;
use tidings_query::translate::{Refusal, RefusalKind};

use super::{ToolRequest, text_response};
use crate::api_error::ApiError;
use crate::response::Body;
use response::Version;

/// Records in a response if the client names no number, and at most.
const USUAL_RECORDS: u64 = 100;
const MAX_RECORDS: u64 = 1000;

/// A condition that is reported in the response.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Diagnostic {
    uri: String,
    details: String,
    message: String,
}

impl Diagnostic {
    /// A diagnostic of SRU, by its number.
    fn sru(number: u32, details: impl Into<String>, message: impl Into<String>) -> Diagnostic {
        let uri = format!("info:srw/diagnostic/1/{number}");
        Diagnostic { uri, details: details.into(), message: message.into() }
    }

    /// A diagnostic of FCS, by its number.
    fn fcs(number: u32, details: impl Into<String>, message: impl Into<String>) -> Diagnostic {
        let uri = format!("http://clarin.eu/fcs/diagnostic/{number}");
        Diagnostic { uri, details: details.into(), message: message.into() }
    }

    /// The diagnostic of a query that has no translation.
    fn of_refusal(refusal: &Refusal, is_fcs_ql: bool) -> Diagnostic {
        let number = match refusal.kind {
            RefusalKind::Syntax if is_fcs_ql => {
                return Diagnostic::fcs(10, refusal.to_string(), "General query syntax error");
            }
            RefusalKind::TooLarge => {
                return Diagnostic::fcs(11, refusal.to_string(), "Query too complex. Cannot perform Query");
            }
            RefusalKind::Syntax => 10,
            RefusalKind::ContextSet => 15,
            RefusalKind::Index => 16,
            RefusalKind::Relation => 19,
            RefusalKind::RelationModifier => 20,
            RefusalKind::EmptyTerm => 27,
            RefusalKind::Anchor => 31,
            RefusalKind::Boolean => 37,
            RefusalKind::BooleanModifier => 46,
            RefusalKind::Feature => 48,
            RefusalKind::Sort => 80,
        };
        Diagnostic::sru(number, refusal.to_string(), message_of(number))
    }
}

/// The texts that SRU gives to its diagnostics.
fn message_of(number: u32) -> &'static str {
    match number {
        10 => "Query syntax error",
        15 => "Unsupported context set",
        16 => "Unsupported index",
        19 => "Unsupported relation",
        20 => "Unsupported relation modifier",
        27 => "Empty term unsupported",
        31 => "Anchoring character not supported",
        37 => "Unsupported boolean operator",
        46 => "Unsupported boolean modifier",
        48 => "Query feature unsupported",
        80 => "Sort not supported",
        _ => "Cannot process query",
    }
}

/// Parameters of SRU that need no action: the response is the same with and without them.
const IGNORED: &[&str] = &[
    "httpAccept",
    "renderedBy",
    "responseType",
    "resultSetTTL",
    "stylesheet",
    "extraRequestData",
    "facetLimit",
    "facetSort",
    "facetRangeField",
    "facetLowValue",
    "facetHighValue",
    "facetCount",
    "facetStart",
];

/// Parameters that have a meaning here.
const KNOWN: &[&str] = &[
    "operation",
    "version",
    "query",
    "queryType",
    "startRecord",
    "maximumRecords",
    "recordSchema",
    "responseItemType",
    "recordPacking",
    "recordXMLEscaping",
    "sortKeys",
    "scanClause",
];

/// Answers a request of SRU.
pub(super) async fn answer(request: &ToolRequest<'_>) -> Result<Response<Body>, ApiError> {
    if !matches!(request.path, "/fcs" | "/fcs/") {
        return Err(ApiError::unknown("the endpoint of FCS is /fcs"));
    }
    let operation = match request.get("operation") {
        Some(operation) => operation,
        None if request.get("query").is_some() => "searchRetrieve",
        None if request.get("scanClause").is_some() => "scan",
        None => "explain",
    };
    let (version, mut diagnostics) = match request.get("version") {
        None | Some("2.0") => (Version::V20, Vec::new()),
        Some("1.2") => (Version::V12, Vec::new()),
        Some(other) => {
            (Version::V12, vec![Diagnostic::sru(5, "1.2", format!("Unsupported version {other}; use 1.2 or 2.0"))])
        }
    };
    let is_known = |name: &str| name.starts_with("x-") || KNOWN.contains(&name) || IGNORED.contains(&name);
    let unknown = request.parameters.iter().map(|(name, _)| name).filter(|name| !is_known(name));
    diagnostics.extend(unknown.map(|name| Diagnostic::sru(8, name.clone(), "Unsupported parameter")));
    let is_fatal = diagnostics.iter().any(|diagnostic| diagnostic.uri.ends_with("/5"));
    let text = match operation {
        "explain" => explain::answer(request, version, &diagnostics).await?,
        "searchRetrieve" if is_fatal => response::diagnostics_only(version, &diagnostics),
        "searchRetrieve" => search::answer(request, version, diagnostics).await?,
        "scan" => response::diagnostics_only(version, &[Diagnostic::sru(4, "scan", "Unsupported operation")]),
        other => response::diagnostics_only(version, &[Diagnostic::sru(4, other, "Unsupported operation")]),
    };
    Ok(text_response("application/sru+xml; charset=utf-8", text))
}

/// The identifier of the resource of a language.
fn pid(base: &str, lang: &str) -> String {
    format!("{base}/?lang={lang}")
}

/// The identifier of a layer in results.
fn layer_id(base: &str, layer: &str) -> String {
    format!("{base}/fcs/layer/{layer}")
}
