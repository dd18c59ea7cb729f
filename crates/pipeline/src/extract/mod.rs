//! Extraction of single pages: files, folders, patterns, URLs and standard input → texts.
//!
//! ```text
//!  arguments ──▶ [`Input`]s ──▶ pages, read on all cores ──▶ documents ──▶ texts in the order of the inputs, or files
//! ```

pub(crate) mod glob;
mod inputs;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail};
use serde::Serialize;
use tidings_clean::DropReason;
use tidings_formats::Format;
use tidings_model::{Document, Page};

pub use inputs::Input;

use crate::display::{count, grouped, span_s};
use crate::extract_guarded;
use crate::http_get::{Fetched, HttpGet};
use crate::outcome::{Outcome, Status};
use crate::parallel::{self, Bounds};
use crate::reporter::{ProgressScope, Reporter};

/// The maximum size of a page; larger files are not web pages.
pub const MAX_PAGE_BYTES: u64 = 64 << 20;

/// The memory for pages in progress, estimated from their sizes: a parsed tree takes about ten times the page.
const MEMORY_BYTES: usize = 1 << 30;
const EXPANSION: usize = 10;

/// Settings of an extraction.
#[derive(Debug, Clone)]
pub struct Options {
    /// The settings of the extractor.
    pub extractor: tidings_clean::Options,
    /// The URL of a page read from a file or standard input; empty if unknown.
    pub url: String,
    /// The format of the texts.
    pub format: Format,
    /// The folder that receives a file per page; without it, texts are passed to the caller.
    pub output: Option<PathBuf>,
    /// Pages read at the same time.
    pub threads: usize,
}

/// Counts of an extraction.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ExtractOutcome {
    /// Whether there is at least one document.
    pub done: bool,
    /// Pages read.
    pub pages: u64,
    /// Pages that gave a text.
    pub documents: u64,
    /// Pages without a document, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Pages that could not be read, and texts that could not be written.
    pub failed: u64,
    /// The time it took.
    pub seconds: f64,
}

impl Outcome for ExtractOutcome {
    fn status(&self) -> Status {
        match self.documents {
            0 => Status::NotDone,
            documents if documents < self.pages => Status::Partly,
            _ => Status::Done,
        }
    }
}

impl fmt::Display for ExtractOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} read: {}", count(self.pages, "page"), count(self.documents, "document"))?;
        let left_out: u64 = self.left_out.values().sum();
        if left_out > 0 {
            let reasons: Vec<String> =
                self.left_out.iter().map(|(name, number)| format!("{} {name}", grouped(*number))).collect();
            write!(f, ", {} dropped ({})", grouped(left_out), reasons.join(", "))?;
        }
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        writeln!(f, ", {}", span_s(self.seconds))
    }
}

/// Extracts the texts of all inputs. Web pages are fetched with the client that `http` creates. Without an output
/// folder, texts are passed to `write` in the order of the inputs.
pub fn run(
    inputs: &[Input],
    options: &Options,
    http: impl FnOnce() -> Result<HttpGet>,
    reporter: &Arc<dyn Reporter>,
    write: &mut dyn FnMut(&str),
) -> Result<ExtractOutcome> {
    let began = Instant::now();
    let is_alone = inputs.len() == 1;
    let job = Job {
        options,
        is_alone,
        web_pages: fetch(inputs, http)?,
        outputs: options.output.as_ref().map(|folder| inputs::outputs(inputs, folder, options.format.ending())),
    };
    let is_list = options.output.is_none() && !is_alone;
    if is_list {
        write(&options.format.opening());
    }
    let mut outcome = job.run(inputs, reporter, write)?;
    if is_list {
        write(options.format.closing());
    }
    outcome.done = outcome.documents > 0;
    outcome.seconds = began.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Fetches the inputs that are URLs.
fn fetch(inputs: &[Input], http: impl FnOnce() -> Result<HttpGet>) -> Result<HashMap<String, Result<Page>>> {
    let web_address = |input: &Input| match input {
        Input::Web(url) => Some(url.clone()),
        _ => None,
    };
    let urls: Vec<String> = inputs.iter().filter_map(web_address).collect();
    if urls.is_empty() {
        return Ok(HashMap::new());
    }
    let page = |url: &String, fetched: Fetched| Page {
        url: url.clone(),
        final_url: fetched.url,
        content_type: fetched.content_type.unwrap_or_default(),
        body: fetched.body,
        ..Page::default()
    };
    let results = http()?.pages(&urls)?;
    Ok(urls.iter().zip(results).map(|(url, result)| (url.clone(), result.map(|fetched| page(url, fetched)))).collect())
}

/// The shared state of the work on inputs.
struct Job<'a> {
    options: &'a Options,
    /// Whether there is only one input, whose text needs no name.
    is_alone: bool,
    web_pages: HashMap<String, Result<Page>>,
    /// The output file of each input, if texts are written to files.
    outputs: Option<Vec<PathBuf>>,
}

/// The result of one input.
enum Extracted {
    Text(String),
    Written,
    LeftOut(DropReason),
    Failed(anyhow::Error),
}

impl Job<'_> {
    fn run(
        &self,
        inputs: &[Input],
        reporter: &Arc<dyn Reporter>,
        write: &mut dyn FnMut(&str),
    ) -> Result<ExtractOutcome> {
        let mut outcome = ExtractOutcome::default();
        let progress = ProgressScope::begin(reporter, "pages", inputs.len() as u64);
        let mut places = 0..inputs.len();
        let source = || Ok(places.next().map(|place| (place, weight(&inputs[place]))));
        let bounds = Bounds { threads: self.options.threads.min(inputs.len()), weight: MEMORY_BYTES };
        let work = |place: usize| (place, self.extract(place, &inputs[place]));
        parallel::ordered(bounds, source, work, |(place, extracted)| {
            outcome.pages += 1;
            match extracted {
                Extracted::Text(text) => {
                    outcome.documents += 1;
                    write(&text);
                }
                Extracted::Written => outcome.documents += 1,
                Extracted::LeftOut(reason) => {
                    *outcome.left_out.entry(reason.name()).or_default() += 1;
                    log::warn!("{}: {} ({})", inputs[place].name(), explain(reason), reason.name());
                }
                Extracted::Failed(error) => {
                    outcome.failed += 1;
                    log::error!("{error:#}");
                }
            }
            progress.show(outcome.pages, &count(outcome.documents, "document"));
            Ok(())
        })?;
        Ok(outcome)
    }

    fn extract(&self, place: usize, input: &Input) -> Extracted {
        let document = match self.read(input) {
            Ok(Ok(document)) => document,
            Ok(Err(reason)) => return Extracted::LeftOut(reason),
            Err(error) => return Extracted::Failed(error),
        };
        let format = self.options.format;
        let Some(outputs) = &self.outputs else {
            return Extracted::Text(match self.is_alone {
                true => format.write(&document),
                false => format.item(&input.name(), &document),
            });
        };
        match tidings_storage::write_atomic(&outputs[place], format.write(&document).as_bytes()) {
            Ok(()) => Extracted::Written,
            Err(error) => Extracted::Failed(error.into()),
        }
    }

    fn read(&self, input: &Input) -> Result<Result<Document, DropReason>> {
        let body = match input {
            Input::Web(url) => {
                return match &self.web_pages[url] {
                    Ok(page) => Ok(extract_guarded::read_page(page, &self.options.extractor)),
                    Err(error) => Err(anyhow!("{error:#}")),
                };
            }
            Input::File { path, .. } => File::open(path)
                .map_err(anyhow::Error::from)
                .and_then(bounded)
                .with_context(|| format!("cannot read {}", path.display()))?,
            Input::Standard => bounded(std::io::stdin().lock()).context("cannot read standard input")?,
        };
        let url = &self.options.url;
        let page = Page { url: url.clone(), final_url: url.clone(), body, ..Page::default() };
        Ok(extract_guarded::read_page(&page, &self.options.extractor))
    }
}

/// Reads to the end, up to the size of a page.
fn bounded(input: impl Read) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    input.take(MAX_PAGE_BYTES + 1).read_to_end(&mut body)?;
    if body.len() as u64 > MAX_PAGE_BYTES {
        bail!("larger than {} MiB, the limit for a web page", MAX_PAGE_BYTES >> 20);
    }
    Ok(body)
}

/// The expected memory of an input.
fn weight(input: &Input) -> usize {
    let bytes = match input {
        Input::File { path, .. } => path.metadata().map_or(0, |meta| meta.len().min(MAX_PAGE_BYTES)) as usize,
        _ => 1 << 20,
    };
    bytes * EXPANSION
}

/// The description of a drop reason.
fn explain(reason: DropReason) -> &'static str {
    match reason {
        DropReason::NotHtml => "not an HTML page",
        DropReason::NoText => "no text found",
        DropReason::PaywallStub => "only the beginning is available, the rest is behind a paywall",
        DropReason::FrontPage => "a redirect to the front page instead of the article",
        DropReason::SameText => "the same text as under other addresses of the site, not the article",
        DropReason::Rejected(_) => "the text did not pass the quality gate",
        DropReason::Error => "internal error in the extractor (a bug in Tidings)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::Silent;

    const PAGE: &str = "<html><body><p>It rained for three days, and then it did not. The river rose to the bridge.</p>\
        <p>On the fourth day people went to the market again, and the sun was out until the evening.</p></body></html>";

    fn extract(folder: &std::path::Path, names: &[&str], output: Option<PathBuf>) -> (ExtractOutcome, String) {
        let arguments: Vec<String> = names.iter().map(|name| folder.join(name).display().to_string()).collect();
        let options = Options {
            extractor: tidings_clean::Options::default(),
            url: String::new(),
            format: "txt".parse().unwrap(),
            output,
            threads: 2,
        };
        let mut text = String::new();
        let reporter: Arc<dyn Reporter> = Arc::new(Silent);
        let no_web = || bail!("no network in tests");
        let inputs = Input::find(&arguments).unwrap();
        let outcome = run(&inputs, &options, no_web, &reporter, &mut |part| text.push_str(part)).unwrap();
        (outcome, text)
    }

    #[test]
    fn texts_are_passed_on_and_pages_without_text_are_counted_by_reason() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.html"), PAGE).unwrap();
        std::fs::write(folder.path().join("b.html"), "").unwrap();
        let (outcome, text) = extract(folder.path(), &["a.html"], None);
        assert!(text.contains("three days"), "{text}");
        assert_eq!((outcome.pages, outcome.documents, outcome.status()), (1, 1, Status::Done));
        let (outcome, _) = extract(folder.path(), &["a.html", "b.html"], None);
        assert_eq!((outcome.pages, outcome.documents, outcome.status()), (2, 1, Status::Partly));
        assert!(outcome.to_string().starts_with("2 pages read: 1 document, 1 dropped (1 "), "{outcome}");
        let (outcome, _) = extract(folder.path(), &["b.html"], None);
        assert_eq!((outcome.done, outcome.status()), (false, Status::NotDone));
    }

    #[test]
    fn with_a_folder_every_page_gets_a_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.html"), PAGE).unwrap();
        let (outcome, text) = extract(folder.path(), &["a.html"], Some(folder.path().join("out")));
        assert_eq!((outcome.documents, text.as_str()), (1, ""));
        assert!(std::fs::read_to_string(folder.path().join("out/a.txt")).unwrap().contains("three days"));
    }
}
