//! A published article: the ground truth to compare the results of a crawl with.

use jiff::Timestamp;
use serde::Serialize;

use crate::text::{Block, BlockKind};

/// An article with its metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Article {
    /// The site that published it.
    pub site: usize,
    /// Its number on the site, from 0, in the order of publication.
    pub number: u64,
    /// The canonical URL, without tracking parameters or fragment.
    pub url: String,
    /// The time of publication by the publishing clock.
    pub date: Timestamp,
    /// The time of its last change; the date of publication if it was never revised.
    pub updated: Timestamp,
    /// The code of its language.
    pub language: String,
    /// Its title.
    pub title: String,
    /// The author.
    pub author: String,
    /// The categories in the feed.
    pub topics: Vec<String>,
    /// The article itself, as plain text, in order.
    pub blocks: Vec<Block>,
    /// The body as HTML, for an article out of an archive.
    #[serde(skip)]
    pub html: Option<String>,
}

impl Article {
    /// The running text by paragraph, without headings, quotes and lists.
    pub fn paragraphs(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter(|block| block.kind == BlockKind::Paragraph).map(|block| block.text.as_str())
    }

    /// All text, one block per line, without the title.
    pub fn text(&self) -> String {
        let lines: Vec<&str> = self.blocks.iter().map(|block| block.text.as_str()).collect();
        lines.join("\n")
    }

    /// The first paragraph, which feeds contain as the summary.
    pub fn lead(&self) -> &str {
        self.paragraphs().next().unwrap_or_default()
    }

    /// The body as HTML: blocks in their elements, or the markup of the archive.
    pub(crate) fn body_html(&self) -> String {
        if let Some(html) = &self.html {
            return html.clone();
        }
        let mut out = String::new();
        let mut in_list = false;
        for block in &self.blocks {
            let is_item = block.kind == BlockKind::ListItem;
            if is_item != in_list {
                out.push_str(if is_item { "<ul>\n" } else { "</ul>\n" });
                in_list = is_item;
            }
            let (open, close) = match block.kind {
                BlockKind::Heading => ("<h2>", "</h2>\n"),
                BlockKind::Paragraph => ("<p>", "</p>\n"),
                BlockKind::Quote => ("<blockquote><p>", "</p></blockquote>\n"),
                BlockKind::ListItem => ("<li>", "</li>\n"),
            };
            out.push_str(open);
            crate::markup::push_escaped(&mut out, &block.text);
            out.push_str(close);
        }
        if in_list {
            out.push_str("</ul>\n");
        }
        out
    }
}
