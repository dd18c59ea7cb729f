//! Extraction as a filter: HTML pages → texts with metadata.
//!
//! A page without text gets a result too, with the drop reason and its metadata.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_clean::{DropReason, Options};
use tidings_model::{Document, Licence};

use super::{Filter, required};
use crate::extract::MAX_PAGE_BYTES;
use crate::extract_guarded;

/// Extracts the texts of pages.
#[derive(Debug, Clone, Default)]
pub struct Extract {
    /// The settings of the extractor.
    pub options: Options,
}

/// A page.
#[derive(Debug, Deserialize)]
pub struct Question<'a> {
    #[serde(default)]
    id: Value,
    #[serde(borrow, default)]
    url: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    html: Option<Cow<'a, str>>,
    /// The language, if known; jusText uses its stop words.
    #[serde(borrow, default)]
    lang: Option<Cow<'a, str>>,
}

impl super::Question for Question<'_> {
    fn id(&self) -> &Value {
        &self.id
    }
}

/// The text and metadata of a page.
#[derive(Debug, Serialize)]
pub struct Answer<'q> {
    url: &'q str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    title: String,
    author: String,
    authors: Vec<String>,
    date: Option<String>,
    date_source: Option<String>,
    modified: String,
    language: String,
    description: String,
    sitename: String,
    site: String,
    categories: Vec<String>,
    tags: Vec<String>,
    licence: Option<Licence>,
    canonical: String,
    image: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    comments: Option<String>,
    extractor: String,
}

impl Filter for Extract {
    type Question<'a> = Question<'a>;
    type Answer<'q> = Answer<'q>;

    const MAX_LINE_BYTES: u64 = MAX_PAGE_BYTES;

    fn answer<'q>(&'q self, question: &'q Question<'_>) -> Result<Answer<'q>, String> {
        let html = required(&question.html, "html")?;
        let url = question.url.as_deref().unwrap_or_default();
        let (document, reason) = match extract_guarded::read_html(html, url, question.lang.as_deref(), &self.options) {
            Ok(document) => (document, None),
            Err(reason) => (extract_guarded::describe(html, url), Some(reason)),
        };
        Ok(self.describe(url, document, reason))
    }
}

impl Extract {
    fn describe<'q>(&self, url: &'q str, document: Document, reason: Option<DropReason>) -> Answer<'q> {
        let text = document.text();
        let comments = self
            .options
            .comments
            .then(|| document.comments.iter().map(|paragraph| paragraph.text.as_str()).collect::<Vec<_>>().join("\n"));
        let Document { about, dated, site, extractor, .. } = document;
        let (date, date_source) = dated.map(|dated| (dated.day, dated.source)).unzip();
        Answer {
            url,
            text,
            reason: reason.map(DropReason::name),
            title: about.title,
            author: about.authors.join("; "),
            authors: about.authors,
            date,
            date_source,
            modified: about.modified,
            language: about.language,
            description: about.description,
            sitename: about.site_name,
            site,
            categories: about.categories,
            tags: about.tags,
            licence: about.licence,
            canonical: about.canonical,
            image: about.image,
            comments,
            extractor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::tests::answers;
    use serde_json::json;

    #[test]
    fn every_line_gets_a_result() {
        let page = json!({ "id": "a", "url": "http://e.org/a", "html": "<p>It rained for three days, and then it did not.</p>" });
        let input = format!(
            "{page}\nnonsense\n\n[1]\n{{\"id\":7,\"html\":3}}\n{{\"id\":8}}\n{{\"id\":9,\"html\":\"\"}}\n{{\"html\":\"<p>\"}}"
        );
        let (got, faulty) = answers(&Extract::default(), &input, 2);
        assert_eq!((got.len(), faulty), (7, 4));
        assert_eq!((&got[0]["id"], &got[0]["url"]), (&json!("a"), &json!("http://e.org/a")));
        assert!(got[0]["text"].as_str().unwrap().contains("three days"));
        for at in [1, 2, 3, 4] {
            assert!(got[at]["error"].is_string() && got[at].get("text").is_none(), "{}", got[at]);
        }
        assert_eq!(got[1].get("id"), None);
        assert_eq!((&got[3]["id"], &got[4]["id"]), (&json!(7), &json!(8)));
        assert_eq!((&got[5]["id"], &got[5]["text"], &got[5]["reason"]), (&json!(9), &json!(""), &json!("no-text")));
        assert_eq!(got[6]["id"], Value::Null);
    }
}
