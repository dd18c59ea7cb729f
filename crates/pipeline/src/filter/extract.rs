//! Extraction as a filter: HTML pages → texts with metadata.
//!
//! A page without text gets a result too, with the drop reason and its metadata.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_clean::{DropReason, Options};
use tidings_model::{CommentStart, Document, Licence, Page, Paragraph};

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
#[derive(Debug, Default, Deserialize)]
pub struct Question<'a> {
    /// The id of the line.
    #[serde(default)]
    pub id: Value,
    /// The URL of the page.
    #[serde(borrow, default)]
    pub url: Option<Cow<'a, str>>,
    /// The page, decoded.
    #[serde(borrow, default)]
    pub html: Option<Cow<'a, str>>,
    /// The language, if known; jusText uses its stop words.
    #[serde(borrow, default)]
    pub lang: Option<Cow<'a, str>>,
}

impl super::Question for Question<'_> {
    fn id(&self) -> &Value {
        &self.id
    }
}

/// The text and metadata of a page.
#[derive(Debug, Serialize)]
pub struct Answer<'q> {
    /// The URL of the page.
    pub url: &'q str,
    /// The text, one paragraph per line; empty if there is none.
    pub text: String,
    /// The reason why there is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The headline.
    pub title: String,
    /// The authors in one string.
    pub author: String,
    /// The authors.
    pub authors: Vec<String>,
    /// The day of publication, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// The source of the date.
    pub date_source: Option<String>,
    /// The day of the last modification.
    pub modified: String,
    /// The language (BCP 47), identified from the text; `und` if it is uncertain. Of a page without text, the declared
    /// one.
    pub language: String,
    /// The declared language, if the text is in another one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub declared_language: String,
    /// The description for link previews.
    pub description: String,
    /// The type of the page: `article`, `forum`, `documentation`, `product` or `listing`; empty if it has no text.
    pub page_type: String,
    /// The name of the site.
    pub sitename: String,
    /// The host.
    pub site: String,
    /// Sections of the site.
    pub categories: Vec<String>,
    /// Keywords.
    pub tags: Vec<String>,
    /// The licence that the page states.
    pub licence: Option<Licence>,
    /// The canonical URL.
    pub canonical: String,
    /// The URL of the main image.
    pub image: String,
    /// Reader comments, one per line, if they are extracted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments: Option<String>,
    /// The reader comments with their authors and days, if they are extracted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment_list: Option<Vec<Comment>>,
    /// The extractor and its version.
    pub extractor: String,
}

/// A reader comment.
#[derive(Debug, Serialize)]
pub struct Comment {
    /// The name of its author as displayed; empty if there is none.
    pub author: String,
    /// The day on which it was written, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Its text, one paragraph per line.
    pub text: String,
}

impl Comment {
    /// The comments of a document.
    fn all(document: &Document) -> Vec<Comment> {
        let starts = &document.comment_starts;
        let ends = starts.iter().skip(1).map(|start| start.paragraph).chain([document.comments.len()]);
        let comment = |(start, end): (&CommentStart, usize)| Comment {
            author: start.author.clone(),
            date: Some(start.date.clone()).filter(|date| !date.is_empty()),
            text: joined(document.comments.get(start.paragraph..end).unwrap_or_default()),
        };
        starts.iter().zip(ends).map(comment).collect()
    }
}

/// The text of paragraphs, one per line.
fn joined(paragraphs: &[Paragraph]) -> String {
    paragraphs.iter().map(|paragraph| paragraph.text.as_str()).collect::<Vec<_>>().join("\n")
}

impl Filter for Extract {
    type Question<'a> = Question<'a>;
    type Answer<'q> = Answer<'q>;

    const MAX_LINE_BYTES: u64 = MAX_PAGE_BYTES;

    fn answer<'q>(&'q self, question: &'q Question<'_>) -> Result<Answer<'q>, String> {
        let html = required(&question.html, "html")?;
        let url = question.url.as_deref().unwrap_or_default();
        let document = Markup::Text(html).read(url, question.lang.as_deref(), &self.options);
        Ok(self.describe(url, document, || Markup::Text(html).metadata(url)))
    }
}

/// A page as a program has it: as a decoded text or as bytes.
#[derive(Debug, Clone, Copy)]
pub enum Markup<'a> {
    /// Decoded HTML.
    Text(&'a str),
    /// The bytes of a file or an HTTP response, whose encoding is detected.
    Bytes(&'a [u8]),
}

impl Markup<'_> {
    /// The size in bytes.
    pub fn len(self) -> usize {
        match self {
            Markup::Text(text) => text.len(),
            Markup::Bytes(bytes) => bytes.len(),
        }
    }

    /// Whether there is nothing to read.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Extracts the document of the page, whose language may be known.
    pub fn read(self, url: &str, lang: Option<&str>, options: &Options) -> Result<Document, DropReason> {
        match self {
            Markup::Text(html) => extract_guarded::read_html(html, url, lang, options),
            Markup::Bytes(bytes) => {
                let (url, final_url) = (url.to_owned(), url.to_owned());
                extract_guarded::read_page(&Page { url, final_url, body: bytes.to_vec(), ..Page::default() }, options)
            }
        }
    }

    /// Returns the metadata of a page without text.
    pub fn metadata(self, url: &str) -> Document {
        match self {
            Markup::Text(html) => extract_guarded::describe(html, url),
            Markup::Bytes(bytes) => {
                let host = url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
                extract_guarded::describe(&tidings_clean::decode::decode(bytes, None, host.as_deref()).0, url)
            }
        }
    }
}

impl Extract {
    /// The text and metadata of a page whose document was extracted, or else its metadata with the drop reason.
    pub fn describe<'q>(
        &self,
        url: &'q str,
        document: Result<Document, DropReason>,
        metadata: impl FnOnce() -> Document,
    ) -> Answer<'q> {
        let (document, reason) = match document {
            Ok(document) => (document, None),
            Err(reason) => (metadata(), Some(reason)),
        };
        let text = document.text();
        let comments = self.options.comments.then(|| joined(&document.comments));
        let comment_list = self.options.comments.then(|| Comment::all(&document));
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
            declared_language: about.declared_language,
            description: about.description,
            page_type: about.page_type,
            sitename: about.site_name,
            site,
            categories: about.categories,
            tags: about.tags,
            licence: about.licence,
            canonical: about.canonical,
            image: about.image,
            comments,
            comment_list,
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
    fn comments_have_authors_and_days() {
        let html = "<article><h1>Rain</h1><p>It rained for three days, and on the fourth the river came into the town.</p>\
            <p>People carried their chairs upstairs, and waited for the water to leave again.</p></article>\
            <ol class=commentlist><li class=comment><div class=comment-author>Old Salt</div><div class=comment-meta>\
            <time datetime=2019-05-03>3 May</time></div><p>About time, is all that I have to say.</p><p>And again, about time.</p></li>\
            <li class=comment><div class=comment-author>Islander</div><p>My arms will be grateful for the bridge.</p></li></ol>";
        let page = json!({ "id": 1, "html": html });
        let filter = Extract { options: Options { comments: true, ..Options::default() } };
        let (got, _) = answers(&filter, &page.to_string(), 1);
        assert_eq!(
            got[0]["comment_list"],
            json!([
                { "author": "Old Salt", "date": "2019-05-03", "text": "About time, is all that I have to say.\nAnd again, about time." },
                { "author": "Islander", "date": null, "text": "My arms will be grateful for the bridge." },
            ])
        );
        assert!(!got[0]["text"].as_str().unwrap().contains("grateful"));
    }

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
