//! The operation `explain`: the server, and on request its resources, layers and data views.

use url::Url;

use super::super::xml::Xml;
use super::super::{CorpusName, ToolRequest};
use super::response::{Version, diagnostics, open_record};
use super::{Diagnostic, MAX_RECORDS, USUAL_RECORDS, layer_id, pid};
use crate::api_error::ApiError;

const RECORD_SCHEMA: &str = "http://explain.z3950.org/dtd/2.0/";
/// The layers of FCS with the attributes of Tidings.
pub(super) const LAYERS: [(&str, &str, &str); 3] =
    [("word", "text", "word"), ("lemma", "lemma", "lemma"), ("pos", "pos", "tag")];

pub(super) async fn answer(
    request: &ToolRequest<'_>,
    version: Version,
    all: &[Diagnostic],
) -> Result<String, ApiError> {
    let corpora = request.corpora().await?;
    let mut xml = Xml::new();
    xml.open("sru:explainResponse", &[("xmlns:sru", version.name_space())]);
    xml.leaf("sru:version", &[], version.name());
    open_record(&mut xml, version, RECORD_SCHEMA);
    explain(&mut xml, &request.base, version);
    xml.close();
    xml.close();
    xml.open("sru:echoedExplainRequest", &[]);
    xml.leaf("sru:version", &[], version.name());
    xml.close();
    diagnostics(&mut xml, version, all);
    if request.get("x-fcs-endpoint-description") == Some("true") {
        xml.open("sru:extraResponseData", &[]);
        endpoint_description(&mut xml, &request.base, &corpora);
        xml.close();
    }
    Ok(xml.finish())
}

fn explain(xml: &mut Xml, base: &str, version: Version) {
    let url = Url::parse(base).ok();
    let host = url.as_ref().and_then(|url| url.host_str()).unwrap_or("localhost").to_owned();
    let port = url.as_ref().and_then(Url::port_or_known_default).unwrap_or(80).to_string();
    let primary = [("lang", "en"), ("primary", "true")];
    xml.open("zr:explain", &[("xmlns:zr", RECORD_SCHEMA)]);
    let scheme = url.as_ref().map_or("http", Url::scheme);
    xml.open("zr:serverInfo", &[("protocol", "SRU"), ("version", version.name()), ("transport", scheme)]);
    xml.leaf("zr:host", &[], &host);
    xml.leaf("zr:port", &[], &port);
    xml.leaf("zr:database", &[], "fcs");
    xml.close();
    xml.open("zr:databaseInfo", &[]);
    xml.leaf("zr:title", &primary, "Tidings: corpora of news");
    xml.leaf("zr:description", &primary, "Monitor corpora of news from the web, one for each language");
    xml.close();
    xml.open("zr:schemaInfo", &[]);
    xml.open("zr:schema", &[("identifier", "http://clarin.eu/fcs/resource"), ("name", "fcs")]);
    xml.leaf("zr:title", &primary, "CLARIN Content Search");
    xml.close();
    xml.close();
    xml.open("zr:configInfo", &[]);
    xml.leaf("zr:default", &[("type", "numberOfRecords")], &USUAL_RECORDS.to_string());
    xml.leaf("zr:setting", &[("type", "maximumRecords")], &MAX_RECORDS.to_string());
    xml.close();
    xml.close();
}

/// The layers of a corpus.
fn layers_of(corpus: &CorpusName) -> impl Iterator<Item = &'static str> {
    let has = |attribute: &str| attribute == "word" || corpus.attributes.iter().any(|known| known == attribute);
    LAYERS.iter().filter(move |(_, _, attribute)| has(attribute)).map(|(id, ..)| *id)
}

fn endpoint_description(xml: &mut Xml, base: &str, corpora: &[CorpusName]) {
    let name_space = "http://clarin.eu/fcs/endpoint-description";
    xml.open("ed:EndpointDescription", &[("xmlns:ed", name_space), ("version", "2")]);
    xml.open("ed:Capabilities", &[]);
    for capability in ["basic-search", "advanced-search"] {
        xml.leaf("ed:Capability", &[], &format!("http://clarin.eu/fcs/capability/{capability}"));
    }
    xml.close();
    xml.open("ed:SupportedDataViews", &[]);
    for id in ["hits", "adv"] {
        let kind = format!("application/x-clarin-fcs-{id}+xml");
        xml.leaf("ed:SupportedDataView", &[("id", id), ("delivery-policy", "send-by-default")], &kind);
    }
    xml.close();
    xml.open("ed:SupportedLayers", &[]);
    for (id, layer, _) in LAYERS {
        xml.leaf("ed:SupportedLayer", &[("id", id), ("result-id", &layer_id(base, id))], layer);
    }
    xml.close();
    xml.open("ed:Resources", &[]);
    for corpus in corpora {
        let language = tidings_lang::language(&corpus.corpus);
        let name = language.map_or(corpus.corpus.as_str(), |language| language.name);
        xml.open("ed:Resource", &[("pid", &pid(base, &corpus.corpus))]);
        xml.leaf("ed:Title", &[("xml:lang", "en")], &format!("News in {name}"));
        let (documents, tokens) = (corpus.documents, corpus.tokens);
        let description = format!("News from the web in {name}: {documents} documents with {tokens} tokens");
        xml.leaf("ed:Description", &[("xml:lang", "en")], &description);
        xml.leaf("ed:LandingPageURI", &[], &pid(base, &corpus.corpus));
        xml.open("ed:Languages", &[]);
        xml.leaf("ed:Language", &[], three_letters(&corpus.corpus));
        xml.close();
        xml.empty("ed:AvailableDataViews", &[("ref", "hits adv")]);
        xml.empty("ed:AvailableLayers", &[("ref", &layers_of(corpus).collect::<Vec<_>>().join(" "))]);
        xml.close();
    }
    xml.close();
    xml.close();
}

/// The code of a language in ISO 639-3; `und` if it is not known.
fn three_letters(code: &str) -> &str {
    let is_three = |code: &&str| code.len() == 3;
    let other = || tidings_lang::language(code)?.other_codes.iter().copied().find(is_three);
    if code.len() == 3 { code } else { other().unwrap_or("und") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_have_three_letters() {
        assert_eq!(["de", "en", "fr", "cs"].map(three_letters), ["deu", "eng", "fra", "ces"]);
        assert_eq!((three_letters("gsw"), three_letters("xx")), ("gsw", "und"));
    }
}
