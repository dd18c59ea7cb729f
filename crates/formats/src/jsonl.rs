//! Documents in the layout of large text collections: one JSON object per line with `id`, `text`, `source`, `created`,
//! `added`, and everything else in `metadata`.

use std::collections::BTreeMap;

use serde::Serialize;
use tidings_model::{Attributes, Document, Licence, Rights};

#[derive(Serialize)]
struct JsonlDocument<'a> {
    id: &'a str,
    text: String,
    source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    added: &'a str,
    metadata: Metadata<'a>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    title: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    authors: &'a [String],
    language: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    language_score: Option<f32>,
    #[serde(skip_serializing_if = "str::is_empty")]
    declared_language: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    site_name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    categories: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    date_source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_confidence: Option<f32>,
    #[serde(skip_serializing_if = "str::is_empty")]
    modified: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    feed: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    canonical: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    alternates: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    licence: Option<&'a Licence>,
    #[serde(skip_serializing_if = "Rights::is_empty")]
    rights: &'a Rights,
    /// Labels of its feed, and other fields for filters.
    fields: serde_json::Map<String, serde_json::Value>,
    extractor: &'a str,
}

/// Fields with another position in the line.
const ELSEWHERE: [&str; 7] = ["site", "feed", "lang", "licence", "section", "author", "dated_by"];

/// The line of a document, with its end.
pub fn write(document: &Document, attributes: &Attributes) -> Vec<u8> {
    let about = &document.about;
    let others = attributes.fields.iter().filter(|(name, _)| !ELSEWHERE.contains(&name.as_str()));
    let line = JsonlDocument {
        id: &document.id,
        text: document.text(),
        source: &document.site,
        created: document.dated.as_ref().map(|dated| format!("{}T00:00:00.000Z", dated.day)),
        added: &document.downloaded,
        metadata: Metadata {
            url: &document.url,
            title: &about.title,
            authors: &about.authors,
            language: &about.language,
            language_score: about.language_score,
            declared_language: &about.declared_language,
            site_name: &about.site_name,
            description: &about.description,
            categories: &about.categories,
            tags: &about.tags,
            date_source: document.dated.as_ref().map(|dated| dated.source.as_str()),
            date_confidence: document.dated.as_ref().map(|dated| dated.confidence),
            modified: &about.modified,
            feed: &document.feed,
            canonical: &about.canonical,
            alternates: &about.alternates,
            licence: about.licence.as_ref(),
            rights: &document.rights,
            fields: others.map(|(name, value)| (name.clone(), value.clone().into())).collect(),
            extractor: &document.extractor,
        },
    };
    let mut out = serde_json::to_vec(&line).expect("documents serialise");
    out.push(b'\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_line_has_the_expected_fields() {
        let attributes = Attributes {
            fields: [("site", "e.org"), ("topic", "weather")].map(|(n, v)| (n.to_owned(), v.to_owned())).into(),
            ..Attributes::default()
        };
        let line = write(&sample::article(), &attributes);
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!((&value["source"], &value["created"]), (&"e.org".into(), &"2026-03-01T00:00:00.000Z".into()));
        assert!(value["text"].as_str().unwrap().starts_with("Rain & flood\nIt rained"));
        assert_eq!(value["metadata"]["licence"]["name"], "CC-BY-4.0");
        assert_eq!(value["metadata"]["fields"], serde_json::json!({ "topic": "weather" }));
    }
}
