//! Feeds: links to them in pages, and their entries.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tidings_feeds::discover;
use tidings_pipeline::config::Config;
use tidings_pipeline::extract::MAX_PAGE_BYTES;
use tidings_pipeline::filter::feed::{Answer, Entry, MAX_FEED_BYTES, read};
use tidings_pipeline::http_get::HttpGet;

use crate::errors::{detached, failed};
use crate::text::{TextOrBytes, check_size};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(find_feeds, module)?)?;
    module.add_function(wrap_pyfunction!(fetch_feeds, module)?)?;
    module.add_function(wrap_pyfunction!(parse_feed, module)?)
}

/// A link to a feed as a tuple: URL, title, media type, evidence.
type LinkRow = (String, Option<String>, Option<String>, &'static str);

fn links(page: &[u8], url: &str) -> Vec<LinkRow> {
    let row = |link: tidings_feeds::links::FeedLink| {
        (link.url, link.title, link.media_type, discover::Evidence::of_link(link.evidence).name())
    };
    tidings_feeds::links::find(page, url).into_iter().map(row).collect()
}

/// Finds the links to feeds in a page.
#[pyfunction]
#[pyo3(signature = (html, url))]
fn find_feeds(py: Python<'_>, html: TextOrBytes<'_>, url: Option<&str>) -> PyResult<Vec<LinkRow>> {
    check_size("the page", html.bytes().len(), MAX_PAGE_BYTES)?;
    detached(py, || links(html.bytes(), url.unwrap_or_default()))
}

/// Fetches a page and finds its links to feeds. The settings come from the environment, as without a home.
#[pyfunction]
#[pyo3(signature = (url))]
fn fetch_feeds(py: Python<'_>, url: &str) -> PyResult<Vec<LinkRow>> {
    let fetched = detached(py, || {
        let config = Config::without_home(&|name| std::env::var(name).ok())?;
        let mut pages = HttpGet::new(config, None).pages(&[url.to_owned()])?;
        let page = pages.pop().expect("every URL has a result")?;
        Ok(links(&page.body, &page.url))
    })?;
    fetched.map_err(failed)
}

/// An entry as a tuple, in the order of the fields of [`Entry`].
type EntryRow = (
    Option<String>,
    String,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    Vec<String>,
    Option<String>,
    Option<String>,
);

fn entry_row(entry: Entry) -> EntryRow {
    let Entry { link, title, id, published, updated, author, categories, summary, content_html } = entry;
    let time = |time: jiff::Timestamp| time.to_string();
    (link, title, id, published.map(time), updated.map(time), author, categories, summary, content_html)
}

/// Reads a feed: format, title, language, entries.
#[pyfunction]
#[pyo3(signature = (body, url, content_type))]
fn parse_feed(
    py: Python<'_>,
    body: TextOrBytes<'_>,
    url: Option<&str>,
    content_type: Option<&str>,
) -> PyResult<(String, String, Option<String>, Vec<EntryRow>)> {
    check_size("the feed", body.bytes().len(), MAX_FEED_BYTES as u64)?;
    // A text is decoded already, whatever its declaration says.
    let decoded = matches!(body, TextOrBytes::Text(_)).then_some("application/xml; charset=utf-8");
    let content_type = content_type.or(decoded);
    let feed = detached(py, || read(body.bytes(), content_type, url.unwrap_or_default()).map(Answer::from))?;
    let Answer { format, title, language, entries } = feed.map_err(PyValueError::new_err)?;
    Ok((format.to_string(), title, language, entries.into_iter().map(entry_row).collect()))
}
