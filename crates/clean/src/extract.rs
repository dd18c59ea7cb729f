//! From a page to a document, or to the reason why there is none.

use tidings_model::{Document, Page, Paragraph};
use url::Url;

use crate::article::features::Survey;
use crate::article::render::{self, Links};
use crate::article::select::{self, Sureness};
use crate::article::weights::Weights;
use crate::article::words::each_word;
use crate::decode::decode;
use crate::facts::Facts;
use crate::tree;

/// A page to be read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Source<'a> {
    /// Its markup.
    pub html: &'a str,
    /// Where it came from.
    pub url: Option<&'a str>,
}

/// What to look for and how strictly.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How to tell text from the rest.
    pub preset: Preset,
    /// Whether links are kept.
    pub links: bool,
    /// Whether what readers wrote is given, apart from the text.
    pub comments: bool,
    /// Documents with fewer words than this are none.
    pub least_words: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { preset: Preset::Balanced, links: false, comments: false, least_words: 0 }
    }
}

/// How to tell text from the rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Preset {
    /// Loses as much as it lets through.
    #[default]
    Balanced,
    /// Lets little through.
    Precision,
    /// Loses little.
    Recall,
}

/// Why a page gives no document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unfit {
    /// The server says it is something else, or its bytes do.
    NotHtml,
    /// It holds no text at all.
    NoText,
    /// It holds less text than asked for.
    TooShort,
    /// It holds the beginning of a text that must be paid for.
    PaywallStub,
    /// Reading it failed, which is our mistake.
    Error,
}

impl Unfit {
    /// Every reason.
    pub const ALL: [Unfit; 5] = [Unfit::NotHtml, Unfit::NoText, Unfit::TooShort, Unfit::PaywallStub, Unfit::Error];

    /// Its name in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Unfit::NotHtml => "not-html",
            Unfit::NoText => "no-text",
            Unfit::TooShort => "too-short",
            Unfit::PaywallStub => "paywall-stub",
            Unfit::Error => "error",
        }
    }
}

/// Reads a page of the archive.
pub fn clean(page: &Page, options: &Options) -> Result<Document, Unfit> {
    if !is_html(page) {
        return Err(Unfit::NotHtml);
    }
    let address = if page.final_url.is_empty() { &page.url } else { &page.final_url };
    let url = Url::parse(address).ok();
    let host = url.as_ref().and_then(Url::host_str);
    let (html, _) = decode(&page.body, Some(&page.content_type), host);
    let mut document = extract(&Source { html: &html, url: Some(address) }, options)?;
    document.site = host.unwrap_or_default().to_owned();
    document.url = page.url.clone();
    document.feed = page.feed.clone();
    document.downloaded = page.downloaded.clone();
    Ok(document)
}

/// Whether a page is worth reading as HTML: pictures, papers and data are not.
fn is_html(page: &Page) -> bool {
    let kind = page.content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let declared =
        matches!(kind.as_str(), "" | "text/html" | "application/xhtml+xml" | "text/plain" | "application/octet-stream");
    let start = &page.body[..page.body.len().min(1024)];
    let binary = [&b"%PDF"[..], b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"RIFF"];
    let is_binary = binary.iter().any(|mark| start.starts_with(mark));
    let tagged = memchr::memchr(b'<', start).is_some();
    !is_binary
        && if declared {
            kind == "text/html" || kind == "application/xhtml+xml" || tagged
        } else {
            looks_like_html(start)
        }
}

fn looks_like_html(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start).to_ascii_lowercase();
    text.contains("<!doctype html") || text.contains("<html")
}

/// Reads a page.
pub fn extract(source: &Source<'_>, options: &Options) -> Result<Document, Unfit> {
    let tree = tree::parse(source.html);
    let facts = Facts::read(&tree);
    let url = source.url.and_then(|url| Url::parse(url).ok());
    let weights = Weights::get();
    let survey = Survey::of(&tree, &facts, source.url, weights);
    let p = select::weigh(&survey, weights);
    let sureness = match options.preset {
        Preset::Balanced => Sureness::BALANCED,
        Preset::Precision => Sureness::PRECISION,
        Preset::Recall => Sureness::RECALL,
    };
    let choice = select::choose(&survey, &p, sureness, &facts);
    let links = if options.links { Links::Keep(url.as_ref()) } else { Links::Drop };
    let paragraphs = match &choice.declared {
        Some(body) => body.lines().filter(|line| !line.trim().is_empty()).map(plain).collect(),
        None => render::paragraphs(&tree, &survey.blocks, &choice.rows, links),
    };
    let comments = match options.comments {
        true => render::paragraphs(&tree, &survey.blocks, &select::comments(&survey, &choice.rows), links),
        false => Vec::new(),
    };
    if paragraphs.is_empty() {
        return Err(Unfit::NoText);
    }
    if words(&paragraphs) < options.least_words as f32 {
        return Err(Unfit::TooShort);
    }
    Ok(Document { url: source.url.unwrap_or_default().to_owned(), paragraphs, comments, ..Document::default() })
}

/// How many words there are, counted as everywhere else here.
fn words(paragraphs: &[Paragraph]) -> f32 {
    let mut words = 0.0;
    for paragraph in paragraphs {
        each_word(&paragraph.text, |_, _, weight| words += weight);
    }
    words
}

fn plain(line: &str) -> Paragraph {
    Paragraph { text: line.trim().to_owned(), ..Paragraph::default() }
}
