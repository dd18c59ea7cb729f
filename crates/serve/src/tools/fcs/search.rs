//! The operation `searchRetrieve`: hits of all resources that are asked, one record each.

use tidings_query::question::{ConcordanceLine, KwicToken, text_of};
use tidings_query::translate::{contextual, fcs_ql};

use super::super::xml::Xml;
use super::super::{ConcordancePage, ToolRequest, is_of_request};
use super::explain::LAYERS;
use super::response::{Version, diagnostics, diagnostics_only, open_record};
use super::{Diagnostic, MAX_RECORDS, USUAL_RECORDS, layer_id, pid};
use crate::api_error::ApiError;

const SCHEMA: &str = "http://clarin.eu/fcs/resource";
/// Resources that are searched if the client names none.
const MAX_RESOURCES: usize = 16;
/// Tokens on each side of a hit.
const CONTEXT: &str = "20";

/// A checked request.
struct Asked {
    /// The query in CQL of Tidings.
    query: String,
    /// The first record, from 1.
    start: u64,
    records: u64,
    languages: Vec<String>,
}

/// A record with the language of its resource.
struct Record {
    lang: String,
    line: ConcordanceLine,
}

pub(super) async fn answer(
    request: &ToolRequest<'_>,
    version: Version,
    mut notes: Vec<Diagnostic>,
) -> Result<String, ApiError> {
    let known: Vec<String> = request.corpora().await?.into_iter().map(|corpus| corpus.corpus).collect();
    let asked = match check(request, version, &known, &mut notes) {
        Ok(asked) => asked,
        Err(fatal) => {
            notes.push(*fatal);
            return Ok(diagnostics_only(version, &notes));
        }
    };
    let mut records = Vec::new();
    let (mut number, mut is_exact, mut failed) = (0, true, 0);
    let mut skip = asked.start - 1;
    for lang in &asked.languages {
        let missing = asked.records - records.len() as u64;
        match of_resource(request, lang, &asked.query, skip, missing).await {
            Ok(found) => {
                number += found.hits;
                is_exact &= found.is_exact;
                skip = skip.saturating_sub(found.hits);
                records.extend(found.lines.into_iter().map(|line| Record { lang: lang.clone(), line }));
            }
            Err(error) if is_of_request(&error) => {
                failed += 1;
                let details = format!("{}: {}", pid(&request.base, lang), error.error);
                notes.push(Diagnostic::sru(47, details, "Cannot process query"));
            }
            // The server is busy, or the client may not ask: that is no property of the query.
            Err(error) => return Err(error),
        }
    }
    if failed == asked.languages.len() {
        return Ok(diagnostics_only(version, &notes));
    }
    if asked.start > number.max(1) {
        notes.push(Diagnostic::sru(61, asked.start.to_string(), "First record position out of range"));
        return Ok(diagnostics_only(version, &notes));
    }
    Ok(render(request, version, &asked, &records, (number, is_exact), &notes))
}

/// Checks the parameters; the error is a diagnostic that ends the search.
fn check(
    request: &ToolRequest<'_>,
    version: Version,
    known: &[String],
    notes: &mut Vec<Diagnostic>,
) -> Result<Asked, Box<Diagnostic>> {
    let value = |name: &str| request.get(name).filter(|value| !value.is_empty());
    let number = |name: &str, usual: u64, least: u64| match value(name) {
        None => Ok(usual),
        Some(text) => match text.parse::<u64>() {
            Ok(number) if number >= least => Ok(number),
            _ => Err(Box::new(Diagnostic::sru(6, name, format!("Unsupported parameter value {text}")))),
        },
    };
    let (start, records) = (number("startRecord", 1, 1)?, number("maximumRecords", USUAL_RECORDS, 0)?);
    for name in ["recordSchema", "responseItemType"] {
        if let Some(schema) = value(name).filter(|schema| ![SCHEMA, "fcs"].contains(schema)) {
            return Err(Box::new(Diagnostic::sru(66, schema, "Unknown schema for retrieval")));
        }
    }
    for name in ["recordPacking", "recordXMLEscaping"] {
        // In SRU 2.0 recordPacking says which fields of a record are wanted.
        let usual: &[&str] =
            if name == "recordPacking" && version == Version::V20 { &["packed", "unpacked"] } else { &["xml"] };
        if let Some(packing) = value(name).filter(|packing| !usual.contains(packing)) {
            return Err(Box::new(Diagnostic::sru(71, packing, "Unsupported record packing")));
        }
    }
    if let Some(keys) = value("sortKeys") {
        notes.push(Diagnostic::sru(80, keys, "Sort not supported"));
    }
    for view in value("x-fcs-dataviews").unwrap_or_default().split(',').map(str::trim) {
        if !["", "hits", "adv"].contains(&view) {
            notes.push(Diagnostic::fcs(4, view, "Requested Data View not valid for this resource"));
        }
    }
    let Some(query) = request.get("query") else {
        return Err(Box::new(Diagnostic::sru(7, "query", "Mandatory parameter not supplied")));
    };
    let query = match value("queryType").unwrap_or("cql") {
        "cql" => contextual::translate(query).map_err(|refusal| Diagnostic::of_refusal(&refusal, false)),
        "fcs" if version == Version::V20 => {
            fcs_ql::translate(query).map_err(|refusal| Diagnostic::of_refusal(&refusal, true))
        }
        other => Err(Diagnostic::sru(6, "queryType", format!("Unsupported parameter value {other}"))),
    };
    let languages = resources(request, known, notes)?;
    Ok(Asked { query: query.map_err(Box::new)?, start, records: records.min(MAX_RECORDS), languages })
}

/// The languages of the resources that are searched.
fn resources(
    request: &ToolRequest<'_>,
    known: &[String],
    notes: &mut Vec<Diagnostic>,
) -> Result<Vec<String>, Box<Diagnostic>> {
    let context = request.get("x-fcs-context").filter(|context| !context.is_empty());
    let Some(context) = context else {
        if known.len() > MAX_RESOURCES {
            let message = "Resource set too large. Query context automatically adjusted.";
            let pids = known[..MAX_RESOURCES].iter().map(|lang| pid(&request.base, lang));
            notes.extend(pids.map(|pid| Diagnostic::fcs(2, pid, message)));
        }
        return Ok(known.iter().take(MAX_RESOURCES).cloned().collect());
    };
    let mut languages: Vec<String> = Vec::new();
    for wanted in context.split(',').map(str::trim) {
        match known.iter().find(|lang| pid(&request.base, lang) == wanted) {
            Some(lang) if languages.contains(lang) => {}
            Some(lang) => languages.push(lang.clone()),
            None => {
                let message = "Persistent identifier passed by the Client for restricting the search is invalid.";
                notes.push(Diagnostic::fcs(1, wanted, message));
            }
        }
    }
    match languages.len() {
        0 => Err(Box::new(Diagnostic::sru(47, context, "Cannot process query; no resource is left to search"))),
        1..=MAX_RESOURCES => Ok(languages),
        _ => Err(Box::new(Diagnostic::fcs(3, "x-fcs-context", "Resource set too large. Cannot perform Query."))),
    }
}

/// The hits of one resource.
struct Found {
    hits: u64,
    is_exact: bool,
    lines: Vec<ConcordanceLine>,
}

/// Counts the hits of a resource and shows up to `records` of those behind the first `skip` ones.
async fn of_resource(
    request: &ToolRequest<'_>,
    lang: &str,
    query: &str,
    skip: u64,
    records: u64,
) -> Result<Found, ApiError> {
    let usual = [("q", query), ("context", CONTEXT), ("fields", "url"), ("order", "newest")];
    let size = if skip == 0 { records.to_string() } else { "0".to_owned() };
    let with = |more: &[(&'static str, &str)]| -> Vec<(String, String)> {
        let pairs = usual.iter().copied().chain(more.iter().copied());
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    async fn page(
        request: &ToolRequest<'_>,
        lang: &str,
        parameters: Vec<(String, String)>,
    ) -> Result<ConcordancePage, ApiError> {
        let pairs: Vec<(&str, &str)> = parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        request.ask(lang, "query", &pairs).await
    }
    let first = page(request, lang, with(&[("size", &size)])).await?;
    let (hits, is_exact) = (first.shown_hits(), first.is_exact());
    let mut lines = first.lines;
    if skip > 0 && skip < hits && records > 0 {
        // The page starts in the middle of one generation of the index.
        let cursor = format!("{}-{skip}", first.about.generation);
        let parameters = with(&[("size", &records.to_string()), ("cursor", &cursor), ("count", "false")]);
        lines = page(request, lang, parameters).await?.lines;
    }
    Ok(Found { hits, is_exact, lines })
}

fn render(
    request: &ToolRequest<'_>,
    version: Version,
    asked: &Asked,
    records: &[Record],
    (number, is_exact): (u64, bool),
    notes: &[Diagnostic],
) -> String {
    let mut xml = Xml::new();
    xml.open("sru:searchRetrieveResponse", &[("xmlns:sru", version.name_space())]);
    xml.leaf("sru:version", &[], version.name());
    xml.leaf("sru:numberOfRecords", &[], &number.to_string());
    if !records.is_empty() {
        xml.open("sru:records", &[]);
        for (position, record) in (asked.start..).zip(records) {
            open_record(&mut xml, version, SCHEMA);
            resource(&mut xml, &request.base, record, version);
            xml.close();
            xml.leaf("sru:recordPosition", &[], &position.to_string());
            xml.close();
        }
        xml.close();
    }
    let next = asked.start + records.len() as u64;
    if !records.is_empty() && next <= number {
        xml.leaf("sru:nextRecordPosition", &[], &next.to_string());
    }
    xml.open("sru:echoedSearchRetrieveRequest", &[]);
    xml.leaf("sru:version", &[], version.name());
    xml.leaf("sru:query", &[], request.get("query").unwrap_or_default());
    xml.leaf("sru:startRecord", &[], &asked.start.to_string());
    xml.close();
    diagnostics(&mut xml, version, notes);
    if version == Version::V20 {
        let precision = if is_exact { "exact" } else { "minimum" };
        let precision = format!("info:srw/vocabulary/resultCountPrecision/1/{precision}");
        xml.leaf("sru:resultCountPrecision", &[], &precision);
    }
    xml.finish()
}

/// A hit with its data views.
fn resource(xml: &mut Xml, base: &str, record: &Record, version: Version) {
    let tokens = |tokens: &Option<Vec<KwicToken>>| tokens.clone().unwrap_or_default();
    let [left, node, right] = [&record.line.left, &record.line.node, &record.line.right].map(tokens);
    let url = record.line.fields.get("url").map(String::as_str).unwrap_or_default();
    let pid = pid(base, &record.lang);
    let mut attributes = vec![("xmlns:fcs", SCHEMA), ("pid", pid.as_str())];
    // Texts without an address have a name that is no URI.
    if url.starts_with("http://") || url.starts_with("https://") {
        attributes.push(("ref", url));
    }
    xml.open("fcs:Resource", &attributes);
    xml.open("fcs:ResourceFragment", &[]);
    xml.open("fcs:DataView", &[("type", "application/x-clarin-fcs-hits+xml")]);
    xml.open("hits:Result", &[("xmlns:hits", "http://clarin.eu/fcs/dataview/hits")]);
    xml.text(&text_of(&left));
    let hit = text_of(&node);
    xml.leaf("hits:Hit", &[], hit.trim_end());
    xml.text(&hit[hit.trim_end().len()..]);
    xml.text(text_of(&right).trim_end());
    xml.close();
    xml.close();
    // SRU 1.2 is the protocol of FCS 1.0, whose clients do not know the advanced view.
    if version == Version::V20 {
        xml.open("fcs:DataView", &[("type", "application/x-clarin-fcs-adv+xml")]);
        advanced(xml, base, [&left, &node, &right]);
        xml.close();
    }
    xml.close();
    xml.close();
}

/// The Advanced data view: segments by their characters, counted from 1, and the value of each layer.
fn advanced(xml: &mut Xml, base: &str, parts: [&[KwicToken]; 3]) {
    xml.open("adv:Advanced", &[("unit", "item"), ("xmlns:adv", "http://clarin.eu/fcs/dataview/advanced")]);
    let tokens: Vec<(&KwicToken, bool)> = parts
        .iter()
        .zip([false, true, false])
        .flat_map(|(part, is_hit)| part.iter().map(move |t| (t, is_hit)))
        .collect();
    xml.open("adv:Segments", &[]);
    let mut at = 1;
    for (number, (token, _)) in tokens.iter().enumerate() {
        let length = token.word.chars().count().max(1);
        let (start, end) = (at.to_string(), (at + length - 1).to_string());
        xml.empty("adv:Segment", &[("id", &format!("s{number:x}")), ("start", &start), ("end", &end)]);
        at += length + usize::from(token.space_after);
    }
    xml.close();
    xml.open("adv:Layers", &[]);
    for (id, _, attribute) in LAYERS {
        let value = |token: &KwicToken| match attribute {
            "lemma" => token.lemma.clone(),
            "tag" => token.tag.clone(),
            _ => token.word.clone(),
        };
        if attribute != "word" && tokens.iter().all(|(token, _)| value(token).is_empty()) {
            continue;
        }
        xml.open("adv:Layer", &[("id", &layer_id(base, id))]);
        for (number, (token, is_hit)) in tokens.iter().enumerate() {
            let segment = format!("s{number:x}");
            let mut attributes = vec![("ref", segment.as_str())];
            attributes.extend(is_hit.then_some(("highlight", "h1")));
            xml.leaf("adv:Span", &attributes, &value(token));
        }
        xml.close();
    }
    xml.close();
    xml.close();
}
