//! Gathers candidates from stored pages, archives and streams of links.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::Value;
use tidings_feeds::discover::{Evidence, FeedSightings, common_paths, is_substantial, own_address, site};
use tidings_fetch::decode::{Ceiling, Decoder};
use tidings_formats::saved_page;
use tidings_formats::warc::PageReader as WarcReader;
use tidings_model::{AGENT, RobotsDirectives};
use tidings_store::candidates::{self, Candidate, CandidateStatus, Searched};
use tidings_store::input_files;
use tidings_store::pages::{self, PageReader};

use super::{CandidateSource, filter, listed, plain};
use crate::context::RunContext;
use crate::display::{count, span_s};

/// The maximum number of distinct feeds that are counted; a crawl of one country has fewer.
const MAX_FEEDS: usize = 4_000_000;
/// Common paths probed on the site of a feed that passed the filter.
const EXPANSIONS: usize = 3;
/// Maximum depth at which a JSON line is searched for links.
const MAX_JSON_DEPTH: usize = 12;

/// The outcome of gathering.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Gathered {
    /// Pages or links that were searched.
    pub pages: u64,
    /// Different feeds and sites that were met.
    #[serde(rename = "candidates")]
    pub links: u64,
    /// Of these, in the list of feeds already.
    pub known: u64,
    /// Candidates that were rejected by language or country.
    pub rejected: u64,
    /// Candidates that pass the filter, among all candidates.
    pub fit: u64,
    /// Paths that were guessed.
    pub expanded: u64,
    /// Duration in seconds.
    #[serde(skip)]
    pub seconds: f64,
}

impl fmt::Display for Gathered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} searched, {} found: {} already in feeds.txt, {} in other languages or countries; \
             {} {} the filter",
            count(self.pages, "page"),
            count(self.links, "candidate"),
            self.known,
            self.rejected,
            count(self.fit, "candidate"),
            if self.fit == 1 { "passes" } else { "pass" },
        )?;
        if self.expanded > 0 {
            write!(f, ", {} added from common paths", count(self.expanded, "path"))?;
        }
        writeln!(f, ", {}", span_s(self.seconds))
    }
}

/// Reads a source and adds its links to the candidates. A file read before would be counted twice, so it is skipped
/// unless `again` is set.
pub fn gather(
    context: &RunContext,
    source: CandidateSource,
    paths: &[String],
    expand: bool,
    again: bool,
) -> Result<Gathered> {
    let mut sightings = FeedSightings::new(MAX_FEEDS);
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    let mut known = HashSet::new();
    candidates::read_searched(&context.home, |row| {
        known.insert(row.file);
    })?;
    let files = match source {
        CandidateSource::Pages if paths.is_empty() => pages::files(&context.home)?,
        CandidateSource::Links if paths.is_empty() => vec![PathBuf::from("-")],
        CandidateSource::Pages | CandidateSource::Links => paths,
        CandidateSource::Warc | CandidateSource::Html => need(paths)?,
    };
    let mut searched = Vec::new();
    for file in files {
        let shown = context.home.shown(&file);
        // Streams and folders change; files of pages and archives do not.
        let is_fixed = matches!(source, CandidateSource::Pages | CandidateSource::Warc);
        if is_fixed && !again && known.contains(&shown) {
            log::debug!("{shown} was searched before; skipped");
            continue;
        }
        let before = sightings.pages;
        match source {
            CandidateSource::Pages => read_pages(&file, &mut sightings)?,
            CandidateSource::Warc => read_warc(context, &file, &mut sightings)?,
            CandidateSource::Html => read_html(&file, &mut sightings)?,
            CandidateSource::Links => input_files::lines(&file, |line| read_line(line, &mut sightings))?,
        }
        if source != CandidateSource::Links {
            searched.push(Searched { file: shown, pages: sightings.pages - before });
        }
    }
    if sightings.forgotten() > 0 {
        log::warn!("{} with few links were dropped: too many distinct feeds", count(sightings.forgotten(), "feed"));
    }
    let mut gathered = add(context, sightings, expand)?;
    gathered.seconds = context.seconds();
    candidates::add_searched(&context.home, searched)?;
    Ok(gathered)
}

fn need(paths: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    if paths.is_empty() {
        bail!("no files or folders given to search");
    }
    Ok(paths)
}

fn read_pages(file: &Path, sightings: &mut FeedSightings) -> Result<()> {
    for page in PageReader::open(file)? {
        let page = page?;
        let is_html = page.content_type.is_empty() || page.content_type.to_ascii_lowercase().contains("html");
        if is_html {
            let header = page.rights.headers.get("x-robots-tag").map(String::as_str);
            let header = RobotsDirectives::of_header(header, AGENT);
            sightings.page(&page.body, &page.final_url, header, is_substantial(&page.body));
        }
    }
    Ok(())
}

fn read_warc(context: &RunContext, path: &Path, sightings: &mut FeedSightings) -> Result<()> {
    let fetch = &context.config.fetch;
    let mut decoder = Decoder::new(Ceiling { max_bytes: fetch.max_page_mib << 20, max_ratio: fetch.max_unpack_ratio });
    for page in WarcReader::open(path)? {
        if page.is_text {
            sightings.text(&page.url, page.body.len() >= 800);
            continue;
        }
        // Some archives keep the header and not the encoding.
        let body = decoder.decode(&page.encodings, &page.body).unwrap_or(page.body);
        let header = RobotsDirectives::of_header([page.robots_tag.as_str()], AGENT);
        sightings.page(&body, &page.url, header, is_substantial(&body));
    }
    Ok(())
}

fn read_html(path: &Path, sightings: &mut FeedSightings) -> Result<()> {
    let mut homeless = 0;
    for file in input_files::html_files(path)? {
        let body = saved_page::read_html(&file)?;
        let inside = file.strip_prefix(path).unwrap_or(&file);
        let Some(address) = own_address(&body).or_else(|| saved_page::mirrored(inside)) else {
            log::debug!("{}: skipped, the URL of the page is unknown", file.display());
            sightings.pages += 1;
            homeless += 1;
            continue;
        };
        sightings.page(&body, &address, RobotsDirectives::default(), is_substantial(&body));
    }
    if homeless > 0 {
        log::warn!(
            "{}: {} skipped because their URL is unknown (no canonical link, no path such as \
             host/page.html)",
            path.display(),
            count(homeless, "page")
        );
    }
    Ok(())
}

/// Reads a line of a stream: JSON with links in any field, or plain URLs.
fn read_line(line: &str, sightings: &mut FeedSightings) {
    let line = line.trim();
    sightings.pages += u64::from(!line.is_empty());
    match serde_json::from_str::<Value>(line) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            // Reposts are skipped: they add no new links.
            let again = ["repost", "reblog", "retweeted_status", "is_repost"];
            let marks = again.iter().filter_map(|key| value.get(key));
            if marks.into_iter().all(|mark| matches!(mark, Value::Null | Value::Bool(false))) {
                links_in(&value, MAX_JSON_DEPTH, sightings);
            }
        }
        _ => line.split_whitespace().for_each(|word| sightings.link(word, "")),
    }
}

fn links_in(value: &Value, depth: usize, sightings: &mut FeedSightings) {
    match value {
        Value::String(text) if depth > 0 => {
            let words = text.split(|c: char| c.is_whitespace() || "\"'<>()".contains(c));
            words.filter(|word| word.starts_with("http://") || word.starts_with("https://")).for_each(|word| {
                sightings.link(word.trim_end_matches(['.', ',', ';', '!', '?', ':']), "");
            });
        }
        Value::Array(values) if depth > 0 => values.iter().for_each(|value| links_in(value, depth - 1, sightings)),
        Value::Object(fields) if depth > 0 => fields.values().for_each(|value| links_in(value, depth - 1, sightings)),
        _ => {}
    }
}

/// Adds sightings to the candidates and counts those that pass the filter.
pub(super) fn add(context: &RunContext, sightings: FeedSightings, expand: bool) -> Result<Gathered> {
    let filter = filter(context);
    let in_list = listed(context)?;
    let mut gathered = Gathered { pages: sightings.pages, ..Gathered::default() };
    let (feeds, good_pages) = sightings.finish();
    gathered.links = feeds.len() as u64;
    let mut rows = Vec::new();
    for sighting in feeds {
        if in_list.contains(&plain(&sighting.feed)) {
            gathered.known += 1;
            continue;
        }
        let site = site(&sighting.feed).unwrap_or_default();
        let good = good_pages.get(&site).copied().unwrap_or(0);
        let unfit = filter.check(&sighting.feed, sighting.seen, good).err().filter(|unfit| unfit.is_final());
        gathered.rejected += u64::from(unfit.is_some());
        rows.push(Candidate {
            site,
            evidence: sighting.evidence.name().to_owned(),
            seen: sighting.seen,
            found_on: sighting.found_on,
            status: if unfit.is_some() { CandidateStatus::Rejected } else { CandidateStatus::New },
            reason: unfit.map(|unfit| unfit.reason()).unwrap_or_default(),
            good_pages: good,
            title: sighting.title,
            feed: sighting.feed,
            ..Candidate::default()
        });
    }
    candidates::add(&context.home, rows)?;

    let (mut known, mut sites) = (HashSet::new(), Vec::new());
    candidates::read(&context.home, |row| {
        if row.status == CandidateStatus::New && super::fits(&filter, &row) {
            gathered.fit += 1;
            sites.push(row.clone());
        }
        known.insert(plain(&row.feed));
    })?;
    if expand {
        let mut guesses = Vec::new();
        for row in sites {
            let Some(root) = url::Url::parse(&row.feed).ok().and_then(|url| url.join("/").ok()) else { continue };
            for path in common_paths().iter().take(EXPANSIONS) {
                let Ok(url) = root.join(path) else { continue };
                if known.insert(plain(url.as_str())) && !in_list.contains(&plain(url.as_str())) {
                    guesses.push(Candidate {
                        feed: url.into(),
                        evidence: Evidence::Path.name().to_owned(),
                        found_on: row.feed.clone(),
                        title: String::new(),
                        ..row.clone()
                    });
                }
            }
        }
        gathered.expanded = guesses.len() as u64;
        candidates::add(&context.home, guesses)?;
    }
    Ok(gathered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{article, context, home, home_with_feeds, page, store_pages};

    #[test]
    fn links_are_found_in_any_field_of_a_line() {
        let mut sightings = FeedSightings::new(100);
        read_line(
            r#"{"text": "look: https://a.example/x.", "embeds": [{"url": "https://b.example/rss.xml"}]}"#,
            &mut sightings,
        );
        read_line(r#"{"repost": true, "url": "https://c.example/"}"#, &mut sightings);
        read_line("https://d.example/y and https://e.example/feed\n", &mut sightings);
        read_line("", &mut sightings);
        assert_eq!(sightings.pages, 3);
        let feeds: Vec<String> = sightings.finish().0.into_iter().map(|sighting| sighting.feed).collect();
        assert_eq!(
            feeds,
            ["https://a.example/", "https://b.example/rss.xml", "https://d.example/", "https://e.example/feed"]
        );
    }

    fn gathered(pipeline: &crate::Pipeline, expand: bool, again: bool) -> Gathered {
        gather(&context(pipeline), CandidateSource::Pages, &[], expand, again).unwrap()
    }

    fn linking(url: &str, feed: &str) -> tidings_model::Page {
        let link = format!("<link rel=\"alternate\" type=\"application/rss+xml\" href=\"{feed}\">");
        page(url, &article("ferry").replace("<head>", &format!("<head>{link}")))
    }

    #[test]
    fn pages_are_searched_once_unless_requested_again() {
        let (_folder, pipeline) = home();
        store_pages(&pipeline, "2026-03-01", &[linking("https://a.example/1", "/feed")]);
        let first = gathered(&pipeline, false, false);
        assert_eq!((first.pages, first.links), (1, 1));
        assert_eq!(gathered(&pipeline, false, false).pages, 0);
        assert_eq!(gathered(&pipeline, false, true).pages, 1);
    }

    #[test]
    fn feeds_in_the_list_are_counted_as_known() {
        let (_folder, pipeline) = home_with_feeds("https://a.example/feed\n");
        store_pages(&pipeline, "2026-03-01", &[linking("https://a.example/1", "/feed")]);
        let gathered = gathered(&pipeline, false, false);
        assert_eq!((gathered.links, gathered.known, gathered.fit), (1, 1, 0));
    }

    #[test]
    fn common_paths_are_added_for_sites_that_pass() {
        let (_folder, pipeline) = home();
        let pages: Vec<_> = (0..60).map(|at| linking(&format!("https://a.example/{at}"), "/the-feed.xml")).collect();
        store_pages(&pipeline, "2026-03-01", &pages);
        let gathered = gathered(&pipeline, true, false);
        assert_eq!((gathered.fit, gathered.expanded), (1, EXPANSIONS as u64));
        let mut guessed = 0;
        candidates::read(pipeline.home(), |row| guessed += usize::from(row.evidence == Evidence::Path.name())).unwrap();
        assert_eq!(guessed, EXPANSIONS);
    }

    #[test]
    fn archives_must_be_given() {
        let (_folder, pipeline) = home();
        let error = gather(&context(&pipeline), CandidateSource::Warc, &[], false, false).unwrap_err();
        assert_eq!(error.to_string(), "no files or folders given to search");
    }

    #[test]
    fn links_deep_in_a_line_are_found_up_to_a_bound() {
        let nested = |depth: usize| format!("{}\"https://a.example/feed\"{}", "[".repeat(depth), "]".repeat(depth));
        for (depth, found) in [(MAX_JSON_DEPTH - 1, 1), (MAX_JSON_DEPTH + 1, 0)] {
            let mut sightings = FeedSightings::new(10);
            read_line(&nested(depth), &mut sightings);
            assert_eq!(sightings.finish().0.len(), found, "{depth}");
        }
    }

    #[test]
    fn the_outcome_is_one_line() {
        let gathered = Gathered { pages: 1, links: 2, known: 1, fit: 1, expanded: 3, ..Gathered::default() };
        assert_eq!(
            gathered.to_string(),
            "1 page searched, 2 candidates found: 1 already in feeds.txt, 0 in other languages or countries; \
             1 candidate passes the filter, 3 paths added from common paths, 0.0 s\n"
        );
    }
}
