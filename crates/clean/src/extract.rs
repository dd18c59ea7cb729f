//! Page to document, or the reason why there is none.

use jiff::Timestamp;
use serde_json::Value;
use tidings_lang::StopList;
use tidings_model::{CommentStart, Document, Page, PageLinks, PageOrigin, Paragraph, Rights, is_archive};
use url::Url;

use crate::article::blocks;
use crate::article::declared_text::DeclaredBody;
use crate::article::features::FeatureMatrix;
use crate::article::page_type::PageType;
use crate::article::reader_comments;
use crate::article::render::{self, Links};
use crate::article::script_state;
use crate::article::select::{self, ThresholdBias};
use crate::article::weights::Weights;
use crate::article::words::each_word;
use crate::date::{self, KnownDates};
use crate::declared_metadata::{DeclaredMetadata, is_article};
use crate::decode::decode;
use crate::feed_text;
use crate::gate::{Gate, Rejection};
use crate::imported;
use crate::justext::{self, JustextOptions, JustextParagraph};
use crate::length::check_length;
use crate::links;
use crate::metadata;
use crate::not_article;
use crate::postprocess::{PostprocessOptions, normalise_unicode, postprocess};
use crate::tree::{self, Tree};
use crate::version;

/// An HTML page to extract from.
#[derive(Debug, Clone, Copy, Default)]
pub struct HtmlInput<'a> {
    /// The markup.
    pub html: &'a str,
    /// URL of the page.
    pub url: Option<&'a str>,
    /// Dates known from outside the page.
    pub known_dates: KnownDates,
    /// Stop words for the jusText preset; by default those of the declared language.
    pub stop_list: Option<&'a StopList>,
}

/// Extraction options.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Method and strictness.
    pub preset: Preset,
    /// Whether to keep links.
    pub links: bool,
    /// Whether to extract reader comments, separately from the text.
    pub comments: bool,
    /// Whether the visible beginning of a paywalled article counts as a document.
    pub stubs: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { preset: Preset::Balanced, links: false, comments: false, stubs: true }
    }
}

/// Extraction method and strictness.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Preset {
    /// Balances precision and recall.
    #[default]
    Balanced,
    /// Favours precision: fewer wrong paragraphs.
    Precision,
    /// Favours recall: fewer missing paragraphs.
    Recall,
    /// jusText: paragraph length, link density and stop words.
    Justext(JustextOptions),
}

impl Preset {
    /// The name used in settings and documents.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Balanced => "balanced",
            Preset::Precision => "precision",
            Preset::Recall => "recall",
            Preset::Justext(_) => "justext",
        }
    }
}

/// Reason why a page yields no document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DropReason {
    /// Not HTML, by content type or by content.
    NotHtml,
    /// No text found.
    NoText,
    /// Only the visible beginning of a paywalled article.
    PaywallStub,
    /// The front page of the site or of a section, to which the link of an article redirects.
    FrontPage,
    /// The same text as under several other addresses of the site, without the titles of the feed: a consent wall, a
    /// login page or an error page.
    SameText,
    /// Rejected by the quality gate.
    Rejected(Rejection),
    /// The extractor panicked, which is a bug.
    Error,
}

impl DropReason {
    /// The name used in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::NotHtml => "not-html",
            DropReason::NoText => "no-text",
            DropReason::PaywallStub => "paywall-stub",
            DropReason::FrontPage => "front-page",
            DropReason::SameText => "same-text",
            DropReason::Rejected(rejection) => rejection.rule,
            DropReason::Error => "error",
        }
    }
}

/// Converts a stored page to a document: extraction, then postprocessing. If the page lacks the text that its feed has,
/// the document may be made from the feed.
pub fn clean(page: &Page, options: &Options, postprocess_options: &PostprocessOptions) -> Result<Document, DropReason> {
    clean_page(page, options, postprocess_options, None)
}

/// As [`clean`], with the links of the page from the same parse; none if the page is not HTML.
pub fn clean_with_links(
    page: &Page,
    options: &Options,
    postprocess_options: &PostprocessOptions,
) -> (Result<Document, DropReason>, PageLinks) {
    let mut links = PageLinks::default();
    let document = clean_page(page, options, postprocess_options, Some(&mut links));
    (document, links)
}

fn clean_page(
    page: &Page,
    options: &Options,
    postprocess_options: &PostprocessOptions,
    links: Option<&mut PageLinks>,
) -> Result<Document, DropReason> {
    let document = clean_body(page, options, postprocess_options, links).and_then(|document| {
        match not_article::is_front_page(page, &document) {
            true => Err(DropReason::FrontPage),
            false => Ok(document),
        }
    });
    if page.feed_text.is_empty() {
        return document;
    }
    let from_feed = clean_body(&feed_text::as_page(page), options, postprocess_options, None);
    match (document, from_feed) {
        (Err(_), Ok(from_feed)) => Ok(from_feed),
        (Ok(document), Ok(from_feed)) if feed_text::is_better(&from_feed, page, &document) => Ok(from_feed),
        (document, _) => document,
    }
}

/// Converts the body of a stored page.
fn clean_body(
    page: &Page,
    options: &Options,
    postprocess_options: &PostprocessOptions,
    links: Option<&mut PageLinks>,
) -> Result<Document, DropReason> {
    let mut document = read_with_links(page, options, links)?;
    // Also without the gate: the limit protects memory, not quality.
    check_length(&document).map_err(DropReason::Rejected)?;
    let imported_id = imported::imported_id(&document);
    if imported::is_ungated(page) {
        postprocess(&mut document, &PostprocessOptions { gate: Gate::off(), ..postprocess_options.clone() })
    } else {
        postprocess(&mut document, postprocess_options)
    }
    .map_err(DropReason::Rejected)?;
    if let Some(id) = imported_id.filter(|_| imported::has_only_imported_tokens(&document)) {
        document.id = id;
    }
    Ok(document)
}

/// Extracts a document from a stored page, without postprocessing.
pub fn read(page: &Page, options: &Options) -> Result<Document, DropReason> {
    read_with_links(page, options, None)
}

fn read_with_links(page: &Page, options: &Options, links: Option<&mut PageLinks>) -> Result<Document, DropReason> {
    let address = if page.final_url.is_empty() { &page.url } else { &page.final_url };
    let listed = page.published.parse().ok();
    let modified = page.headers.get("last-modified").and_then(|date| http_date(date));
    // A backfill knows when a page was last changed, not when it was published: the dates on the page come first.
    let (feed, last_modified) = if is_archive(&page.feed) { (None, listed.or(modified)) } else { (listed, modified) };
    let known_dates = KnownDates {
        feed,
        last_modified,
        seen: page.seen.parse().ok(),
        downloaded: page.downloaded.parse().ok(),
        latest: None,
    };
    let mut document = match imported::document(page, &known_dates) {
        Some(document) => document?,
        None if !is_html(page) => return Err(DropReason::NotHtml),
        None => {
            let url = Url::parse(address).ok();
            let (html, _) = decode(&page.body, Some(&page.content_type), url.as_ref().and_then(Url::host_str));
            let html = match page.origin {
                PageOrigin::Web => html,
                PageOrigin::Feed => feed_text::html(&page.title, &html).into(),
            };
            let tree = tree::parse(&html);
            if let Some(links) = links {
                *links = links::of_tree(&tree, address);
            }
            extract_tree(&tree, &HtmlInput { html: &html, url: Some(address), known_dates, stop_list: None }, options)?
        }
    };
    // A document that was just extracted has an id that does not know the address in the plan yet.
    let imported_id = imported::is_imported(page).then(|| imported::imported_id(&document)).flatten();
    document.url = page.url.clone();
    document.feed = page.feed.clone();
    document.downloaded = page.downloaded.clone();
    if page.origin == PageOrigin::Feed {
        feed_text::mark(&mut document, page);
    }
    // Rights declared in the page are added to those of its host and headers.
    let declared_rights = std::mem::take(&mut document.rights.page);
    document.rights = page.rights.clone();
    document.rights.page.extend(declared_rights);
    document.identify();
    document.id = imported_id.unwrap_or(document.id);
    Ok(document)
}

/// Parses the date of an HTTP header.
fn http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.timestamp())
}

/// Returns whether a page should be parsed as HTML; images, PDF and data should not.
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

/// Extracts the document from an HTML page.
pub fn extract(input: &HtmlInput<'_>, options: &Options) -> Result<Document, DropReason> {
    extract_tree(&tree::parse(input.html), input, options)
}

/// Extracts the document from a parsed HTML page.
fn extract_tree(tree: &Tree, input: &HtmlInput<'_>, options: &Options) -> Result<Document, DropReason> {
    let declared = DeclaredMetadata::read(tree);
    let url = input.url.and_then(|url| Url::parse(url).ok());
    let ExtractedText { paragraphs, comments, comment_starts, page_type } = match options.preset {
        Preset::Justext(parameters) => ExtractedText {
            paragraphs: extract_justext(tree, &declared, input, &parameters),
            ..ExtractedText::default()
        },
        Preset::Balanced => extract_article(tree, &declared, url.as_ref(), ThresholdBias::BALANCED, options),
        Preset::Precision => extract_article(tree, &declared, url.as_ref(), ThresholdBias::PRECISION, options),
        Preset::Recall => extract_article(tree, &declared, url.as_ref(), ThresholdBias::RECALL, options),
    };
    let words = count_words(&paragraphs);
    if words == 0 {
        return Err(DropReason::NoText);
    }
    if !options.stubs && words < MAX_STUB_WORDS && is_paywalled(&declared) {
        return Err(DropReason::PaywallStub);
    }
    let extractor = format!("{} {}", version(), options.preset.name());
    let mut document =
        Document { paragraphs, comments, comment_starts, extractor, ..described(tree, &declared, input, url.as_ref()) };
    document.about.page_type = page_type.map(|kind| kind.name().to_owned()).unwrap_or_default();
    normalise_unicode(&mut document);
    document.identify();
    Ok(document)
}

/// Reads only the metadata and date of a page; it need not contain any text.
pub fn describe(input: &HtmlInput<'_>) -> Document {
    let tree = tree::parse(input.html);
    let url = input.url.and_then(|url| Url::parse(url).ok());
    described(&tree, &DeclaredMetadata::read(&tree), input, url.as_ref())
}

fn described(tree: &Tree, declared: &DeclaredMetadata<'_>, input: &HtmlInput<'_>, url: Option<&Url>) -> Document {
    let dates = date::read(tree, declared, input.url, &input.known_dates);
    let mut about = metadata::read(tree, declared, url);
    about.modified = dates.modified.map(|day| day.to_string()).unwrap_or_default();
    Document {
        url: input.url.unwrap_or_default().to_owned(),
        site: url.and_then(Url::host_str).unwrap_or_default().to_owned(),
        dated: dates.published,
        rights: Rights { page: metadata::rights(declared), ..Rights::default() },
        about,
        ..Document::default()
    }
}

/// The text of a page.
#[derive(Default)]
struct ExtractedText {
    paragraphs: Vec<Paragraph>,
    comments: Vec<Paragraph>,
    comment_starts: Vec<CommentStart>,
    page_type: Option<PageType>,
}

/// Extracts the article and its comments with the forests.
fn extract_article(
    tree: &Tree,
    declared: &DeclaredMetadata<'_>,
    url: Option<&Url>,
    bias: ThresholdBias,
    options: &Options,
) -> ExtractedText {
    let weights = Weights::get();
    let links = if options.links { Links::Keep(url) } else { Links::Drop };
    let ExtractedText { mut paragraphs, mut comments, mut comment_starts, mut page_type } = ExtractedText::default();
    for blocks in blocks::segment(tree).into_parts() {
        let matrix = FeatureMatrix::of(tree, blocks, declared, url, weights);
        page_type = page_type.or(Some(matrix.page_type()));
        let p = select::predict(&matrix, weights);
        let rows = select::choose(&matrix, &p, bias);
        paragraphs.extend(render::paragraphs(tree, &matrix.blocks, &rows, links));
        if options.comments {
            let day_of = date::day_reader(declared.language, url.map(Url::as_str));
            for comment in reader_comments::find(tree, &matrix, &rows, day_of) {
                let date = comment.day.map(|day| day.to_string()).unwrap_or_default();
                comment_starts.push(CommentStart { paragraph: comments.len(), author: comment.author, date });
                comments.extend(render::paragraphs(tree, &matrix.blocks, &comment.rows, links));
            }
        }
    }
    if let Some(body) = DeclaredBody::read(declared).filter(|body| body.replaces(count_words(&paragraphs))) {
        paragraphs = body.text.lines().filter(|line| !line.trim().is_empty()).map(plain_paragraph).collect();
    }
    let shown = count_words(&paragraphs);
    if shown < MAX_DRAWN_WORDS
        && let Some(body) = script_state::article(tree)
    {
        let drawn = whole_text(&body, links);
        if count_words(&drawn) > MIN_GAIN * shown.max(1) {
            paragraphs = drawn;
        }
    }
    ExtractedText { paragraphs, comments, comment_starts, page_type }
}

/// A page that shows more words than this is not drawn by scripts alone.
pub(crate) const MAX_DRAWN_WORDS: usize = 60;
/// The state of a page is its article if it has this many times the words that the page shows.
const MIN_GAIN: usize = 3;

/// All paragraphs of a text that may have markup.
fn whole_text(text: &str, links: Links<'_>) -> Vec<Paragraph> {
    if !text.contains('<') {
        return text.lines().filter(|line| !line.trim().is_empty()).map(plain_paragraph).collect();
    }
    let tree = tree::parse(text);
    let blocks = blocks::segment(&tree);
    let rows: Vec<usize> = (0..blocks.list.len()).collect();
    render::paragraphs(&tree, &blocks, &rows, links)
}

/// Extracts the good paragraphs of jusText.
fn extract_justext(
    tree: &Tree,
    declared: &DeclaredMetadata<'_>,
    input: &HtmlInput<'_>,
    parameters: &JustextOptions,
) -> Vec<Paragraph> {
    let off = StopList::off();
    let stop_list = match input.stop_list {
        Some(list) => list,
        None => declared.language.and_then(tidings_lang::stop_list).unwrap_or(&off),
    };
    let found = justext::paragraphs(tree, stop_list, parameters);
    found
        .into_iter()
        .filter(JustextParagraph::is_good)
        .map(|paragraph| Paragraph {
            kind: render::kind(tree, paragraph.node),
            text: paragraph.text,
            ..Paragraph::default()
        })
        .collect()
}

fn count_words(paragraphs: &[Paragraph]) -> usize {
    let mut words = 0.0;
    for paragraph in paragraphs {
        each_word(&paragraph.text, |_, _, weight| words += weight);
    }
    f32::ceil(words) as usize
}

/// Maximum number of words of a paywall stub.
const MAX_STUB_WORDS: usize = 120;

/// Returns whether the page declares that its text is for subscribers.
fn is_paywalled(declared: &DeclaredMetadata<'_>) -> bool {
    let refused = |value: &Value| match value {
        Value::Bool(free) => !free,
        Value::String(free) => free.trim().eq_ignore_ascii_case("false"),
        _ => false,
    };
    let by_data = declared.objects_of(is_article).any(|object| object.get("isAccessibleForFree").is_some_and(refused));
    by_data || declared.meta("article:content_tier").any(|tier| matches!(tier.trim(), "locked" | "metered"))
}

fn plain_paragraph(line: &str) -> Paragraph {
    Paragraph { text: line.trim().to_owned(), ..Paragraph::default() }
}
