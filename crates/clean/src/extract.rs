//! From a page to a document, or to the reason why there is none.

use jiff::Timestamp;
use serde_json::Value;
use tidings_lang::StopList;
use tidings_model::{Document, Page, Paragraph, Rights};
use url::Url;

use crate::article::blocks;
use crate::article::features::FeatureMatrix;
use crate::article::render::{self, Links};
use crate::article::select::{self, ThresholdBias};
use crate::article::weights::Weights;
use crate::article::words::each_word;
use crate::date::{self, KnownDates};
use crate::declared_metadata::{DeclaredMetadata, is_article};
use crate::decode::decode;
use crate::gate::{Gate, Refusal};
use crate::imported;
use crate::justext::{self, JustextOptions, JustextParagraph};
use crate::metadata;
use crate::postprocess::{PostprocessOptions, normalise_unicode, postprocess};
use crate::tree::{self, Tree};
use crate::version;

/// A page to be read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Source<'a> {
    /// Its markup.
    pub html: &'a str,
    /// Where it came from.
    pub url: Option<&'a str>,
    /// What else is known of its time.
    pub known_dates: KnownDates,
    /// The stop words to go by, for the preset that needs any; without them, those of the language
    /// that the page declares.
    pub stop_list: Option<&'a StopList>,
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
    /// Whether the beginning of a text that must be paid for is a document.
    pub stubs: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { preset: Preset::Balanced, links: false, comments: false, stubs: true }
    }
}

/// How to tell text from the rest.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Preset {
    /// Loses as much as it lets through.
    #[default]
    Balanced,
    /// Lets little through.
    Precision,
    /// Loses little.
    Recall,
    /// The classic rule of paragraph length, link density and stop words.
    Justext(JustextOptions),
}

impl Preset {
    /// Its name in settings and records.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Balanced => "balanced",
            Preset::Precision => "precision",
            Preset::Recall => "recall",
            Preset::Justext(_) => "justext",
        }
    }
}

/// Why a page gives no document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DropReason {
    /// The server says it is something else, or its bytes do.
    NotHtml,
    /// It holds no text at all.
    NoText,
    /// It holds the beginning of a text that must be paid for.
    PaywallStub,
    /// It holds a text that the gate refuses.
    Refused(Refusal),
    /// Reading it failed, which is our mistake.
    Error,
}

impl DropReason {
    /// Its name in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::NotHtml => "not-html",
            DropReason::NoText => "no-text",
            DropReason::PaywallStub => "paywall-stub",
            DropReason::Refused(refusal) => refusal.rule,
            DropReason::Error => "error",
        }
    }
}

/// Makes a document for the corpus of a page of the archive.
pub fn clean(page: &Page, options: &Options, postprocess_options: &PostprocessOptions) -> Result<Document, DropReason> {
    let mut document = read(page, options)?;
    let own_id = imported::own_id(page);
    if imported::is_ungated(page) {
        postprocess(&mut document, &PostprocessOptions { gate: Gate::off(), ..postprocess_options.clone() })
    } else {
        postprocess(&mut document, postprocess_options)
    }
    .map_err(DropReason::Refused)?;
    if let Some(id) = own_id.filter(|_| imported::is_as_it_came(&document)) {
        document.id = id;
    }
    Ok(document)
}

/// Reads a page as it was fetched.
pub fn read(page: &Page, options: &Options) -> Result<Document, DropReason> {
    let address = if page.final_url.is_empty() { &page.url } else { &page.final_url };
    let known_dates = KnownDates {
        feed: page.published.parse().ok(),
        last_modified: page.headers.get("last-modified").and_then(|date| http_date(date)),
        seen: page.seen.parse().ok(),
        downloaded: page.downloaded.parse().ok(),
        latest: None,
    };
    let mut document = match imported::document(page, &known_dates) {
        Some(given) => given?,
        None if !is_html(page) => return Err(DropReason::NotHtml),
        None => {
            let url = Url::parse(address).ok();
            let (html, _) = decode(&page.body, Some(&page.content_type), url.as_ref().and_then(Url::host_str));
            extract(&Source { html: &html, url: Some(address), known_dates, stop_list: None }, options)?
        }
    };
    document.url = page.url.clone();
    document.feed = page.feed.clone();
    document.downloaded = page.downloaded.clone();
    // What the page itself says joins what is known of its host and its headers.
    let said = std::mem::take(&mut document.rights.page);
    document.rights = page.rights.clone();
    document.rights.page.extend(said);
    document.identify();
    Ok(document)
}

/// The date of an HTTP header.
fn http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.timestamp())
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
pub fn extract(source: &Source<'_>, options: &Options) -> Result<Document, DropReason> {
    let tree = tree::parse(source.html);
    let declared = DeclaredMetadata::read(&tree);
    let url = source.url.and_then(|url| Url::parse(url).ok());
    let (paragraphs, comments) = match options.preset {
        Preset::Justext(parameters) => (classic(&tree, &declared, source, &parameters), Vec::new()),
        Preset::Balanced => found(&tree, &declared, url.as_ref(), ThresholdBias::BALANCED, options),
        Preset::Precision => found(&tree, &declared, url.as_ref(), ThresholdBias::PRECISION, options),
        Preset::Recall => found(&tree, &declared, url.as_ref(), ThresholdBias::RECALL, options),
    };
    let words = count_words(&paragraphs);
    if words == 0 {
        return Err(DropReason::NoText);
    }
    if !options.stubs && words < LONGEST_STUB && must_be_paid_for(&declared) {
        return Err(DropReason::PaywallStub);
    }
    let extractor = format!("{} {}", version(), options.preset.name());
    let mut document =
        Document { paragraphs, comments, extractor, ..described(&tree, &declared, source, url.as_ref()) };
    normalise_unicode(&mut document);
    document.identify();
    Ok(document)
}

/// Reads only what a page says about itself, which it may do without holding any text.
pub fn describe(source: &Source<'_>) -> Document {
    let tree = tree::parse(source.html);
    let url = source.url.and_then(|url| Url::parse(url).ok());
    described(&tree, &DeclaredMetadata::read(&tree), source, url.as_ref())
}

fn described(tree: &Tree, declared: &DeclaredMetadata<'_>, source: &Source<'_>, url: Option<&Url>) -> Document {
    let dates = date::read(tree, declared, source.url, &source.known_dates);
    let mut about = metadata::read(tree, declared, url);
    about.modified = dates.modified.map(|day| day.to_string()).unwrap_or_default();
    Document {
        url: source.url.unwrap_or_default().to_owned(),
        site: url.and_then(Url::host_str).unwrap_or_default().to_owned(),
        dated: dates.published,
        rights: Rights { page: metadata::rights(declared), ..Rights::default() },
        about,
        ..Document::default()
    }
}

/// The article and its comments, by the forests.
fn found(
    tree: &Tree,
    declared: &DeclaredMetadata<'_>,
    url: Option<&Url>,
    bias: ThresholdBias,
    options: &Options,
) -> (Vec<Paragraph>, Vec<Paragraph>) {
    let weights = Weights::get();
    let links = if options.links { Links::Keep(url) } else { Links::Drop };
    let (mut paragraphs, mut comments) = (Vec::new(), Vec::new());
    for blocks in blocks::segment(tree).into_parts() {
        let matrix = FeatureMatrix::of(tree, blocks, declared, url, weights);
        let p = select::predict(&matrix, weights);
        let rows = select::choose(&matrix, &p, bias);
        paragraphs.extend(render::paragraphs(tree, &matrix.blocks, &rows, links));
        if options.comments {
            let rows = select::comments(&matrix, &rows);
            comments.extend(render::paragraphs(tree, &matrix.blocks, &rows, links));
        }
    }
    if let Some(body) = select::declared_body_if_longer(declared, count_words(&paragraphs)) {
        paragraphs = body.lines().filter(|line| !line.trim().is_empty()).map(plain).collect();
    }
    (paragraphs, comments)
}

/// The good paragraphs by jusText's rule.
fn classic(
    tree: &Tree,
    declared: &DeclaredMetadata<'_>,
    source: &Source<'_>,
    parameters: &JustextOptions,
) -> Vec<Paragraph> {
    let off = StopList::off();
    let stop_list = match source.stop_list {
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

/// A text this short behind a paywall is its beginning.
const LONGEST_STUB: usize = 120;

/// Whether the page says that its text is for subscribers.
fn must_be_paid_for(declared: &DeclaredMetadata<'_>) -> bool {
    let refused = |value: &Value| match value {
        Value::Bool(free) => !free,
        Value::String(free) => free.trim().eq_ignore_ascii_case("false"),
        _ => false,
    };
    let by_data = declared.things_of(is_article).any(|thing| thing.get("isAccessibleForFree").is_some_and(refused));
    by_data || declared.meta("article:content_tier").any(|tier| matches!(tier.trim(), "locked" | "metered"))
}

fn plain(line: &str) -> Paragraph {
    Paragraph { text: line.trim().to_owned(), ..Paragraph::default() }
}
