//! Reads listings: sitemaps and pages that list articles. Articles go to the journal, everything else to the planner.

use std::sync::{Arc, Mutex};

use http::header;
use jiff::civil::Date;
use tidings_crawl::trap::date_in_path;
use tidings_feeds::sitemap::{self, Scope, SitemapEntry};
use tidings_fetch::decode::{Ceiling, Decoder};
use tidings_fetch::rights::robots_directives;
use tidings_fetch::{FetchResult, HttpResponse};
use tidings_model::{ARCHIVE, FailureKind, Fingerprint, Status, address};
use tidings_store::archive::ListingSource;
use tidings_store::journal::Record;
use tidings_store::rfc3339;
use url::Url;

use super::article::{ArticleRule, LinkTarget};
use super::planner::{ListingContent, ListingResult};
use super::sequence::period_of;
use super::site::DateRange;
use crate::ingest::{Batch, Processor};

/// The longest title of a sitemap that is kept.
const MAX_TITLE_CHARS: usize = 500;

/// A listing that is asked for.
#[derive(Clone)]
pub struct ListingJob {
    /// The number of its site in this run.
    pub site: usize,
    /// Its number in the planner.
    pub listing: usize,
    /// Its address.
    pub url: String,
    /// Its source.
    pub source: ListingSource,
}

/// What a processor must know of a site.
#[derive(Clone)]
pub struct SiteRules {
    /// The name of the site.
    pub name: String,
    /// Its address.
    pub origin: String,
    /// What counts as an article.
    pub rule: Arc<ArticleRule>,
    /// The days of the backfill.
    pub range: DateRange,
}

/// The work of a round.
pub struct ListingWork {
    /// Listings by job.
    pub jobs: Vec<ListingJob>,
    /// Sites by number.
    pub sites: Vec<SiteRules>,
    /// The day of the run.
    pub today: Date,
    /// Receives the results: job and content.
    pub results: Mutex<Vec<(u32, ListingResult)>>,
}

/// Reads listings.
pub struct ListingProcessor {
    work: Arc<ListingWork>,
    decoder: Decoder,
}

/// An article of a listing.
struct FoundArticle {
    url: String,
    published: String,
    title: String,
}

impl ListingProcessor {
    /// A processor for the listings of a round.
    pub fn new(work: Arc<ListingWork>, ceiling: Ceiling) -> ListingProcessor {
        ListingProcessor { work, decoder: Decoder::new(ceiling) }
    }

    fn process_one(&mut self, result: &FetchResult, batch: &mut Batch) -> ListingResult {
        let answer = match &result.result {
            Ok(answer) => answer,
            Err((status, detail)) => {
                let may_pass = status.is_network_trouble() || *status == Status::Failed(FailureKind::RobotsUnreachable);
                let reason = if detail.is_empty() { status.to_string() } else { format!("{status}: {detail}") };
                return if may_pass { ListingResult::Postponed(reason) } else { ListingResult::Failed(reason) };
            }
        };
        match answer.status.as_u16() {
            200..300 => self.read(result, answer, batch).unwrap_or_else(ListingResult::Failed),
            code @ (429 | 500..600) => ListingResult::Postponed(code.to_string()),
            code => ListingResult::Failed(code.to_string()),
        }
    }

    fn read(
        &mut self,
        result: &FetchResult,
        answer: &HttpResponse,
        batch: &mut Batch,
    ) -> Result<ListingResult, String> {
        let work = self.work.clone();
        let job = &work.jobs[result.job as usize];
        let site = &work.sites[job.site];
        let text = |name: &header::HeaderName| {
            answer.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let encodings = text(&header::CONTENT_ENCODING).unwrap_or_default();
        let content_type = text(&header::CONTENT_TYPE);
        let (articles, content) = if job.source.is_sitemap() {
            // The reader of sitemaps unpacks files itself, up to the limit of the protocol.
            let body = self.decoder.decode(&encodings, &answer.body).map_err(|status| status.to_string())?;
            self.sitemap(&body, content_type.as_deref(), &result.url, site)?
        } else {
            if robots_directives(&answer.headers).nofollow {
                return Err("nofollow: the X-Robots-Tag of the page forbids following its links".to_owned());
            }
            let body = self.decoder.decode(&encodings, &answer.body).map_err(|status| status.to_string())?;
            self.page(&body, content_type.as_deref(), &result.url, job, site)?
        };
        self.list(&articles, site, &rfc3339(result.at), batch);
        Ok(ListingResult::Read(ListingContent {
            articles: articles.iter().map(|article| Fingerprint::of(&article.url)).collect(),
            ..content
        }))
    }

    fn sitemap(
        &self,
        body: &[u8],
        content_type: Option<&str>,
        url: &str,
        site: &SiteRules,
    ) -> Result<(Vec<FoundArticle>, ListingContent), String> {
        let map =
            sitemap::read(body, content_type, url, Scope::NamedBy(&site.origin)).map_err(|error| error.to_string())?;
        let maps = map.maps.into_iter().map(|map| (map.url, map.modified)).collect();
        let articles = map.entries.into_iter().filter_map(|entry| self.entry(entry, site)).collect();
        Ok((articles, ListingContent { maps, ..ListingContent::default() }))
    }

    fn entry(&self, entry: SitemapEntry, site: &SiteRules) -> Option<FoundArticle> {
        let url = address::normalise(&entry.url, None)?;
        let parsed = Url::parse(&url).ok()?;
        if !site.rule.is_article_of_sitemap(&parsed, self.work.today) {
            return None;
        }
        // The time of the last change is the weakest of the three: an edit of an old article moves it.
        let day = date_in_path(&parsed);
        let published = entry.published.map(rfc3339).or_else(|| day.map(|day| format!("{day}T00:00:00Z")));
        let published = published.or_else(|| entry.modified.map(rfc3339)).unwrap_or_default();
        let is_outside =
            published.get(..10).and_then(|day| day.parse().ok()).is_some_and(|day| !site.range.contains(day));
        let title = entry.title.chars().filter(|c| !c.is_control()).take(MAX_TITLE_CHARS).collect();
        (!is_outside).then_some(FoundArticle { url, published, title })
    }

    fn page(
        &self,
        body: &[u8],
        content_type: Option<&str>,
        url: &str,
        job: &ListingJob,
        site: &SiteRules,
    ) -> Result<(Vec<FoundArticle>, ListingContent), String> {
        let page = Url::parse(url).map_err(|error| error.to_string())?;
        let found = tidings_clean::links::of_bytes(body, content_type, url);
        if found.nofollow {
            return Err("nofollow: the <meta name=\"robots\"> of the page forbids following its links".to_owned());
        }
        let (mut articles, mut content) =
            (Vec::new(), ListingContent { next: found.next, ..ListingContent::default() });
        for link in found.links.into_iter().filter(|link| !link.nofollow) {
            let Ok(target) = Url::parse(&link.url) else { continue };
            match site.rule.target(&target, &page, self.work.today) {
                LinkTarget::Article => {
                    let day = date_in_path(&target);
                    if day.is_none_or(|day| site.range.contains(day)) {
                        let published = day.map(|day| format!("{day}T00:00:00Z")).unwrap_or_default();
                        articles.push(FoundArticle { url: link.url, published, title: String::new() });
                    }
                }
                LinkTarget::Other => {}
                other => content.links.push((other, link.url)),
            }
        }
        if job.source == ListingSource::Dated
            && let Some((first, last)) = period_of(&page)
        {
            let day = |article: &FoundArticle| article.published.get(..10).and_then(|day| day.parse::<Date>().ok());
            let mut days = articles.iter().filter_map(day).peekable();
            content.is_other_period = days.peek().is_some() && !days.any(|day| (first..=last).contains(&day));
        }
        if job.source == ListingSource::Front {
            content.origin = Some(page.origin().ascii_serialization());
        }
        Ok((articles, content))
    }

    /// Adds articles to the journal, the newest first.
    fn list(&self, articles: &[FoundArticle], site: &SiteRules, seen: &str, batch: &mut Batch) {
        let mut newest: Vec<&FoundArticle> = articles.iter().collect();
        newest.sort_by(|a, b| b.published.cmp(&a.published));
        let feed = format!("{ARCHIVE}{}", site.name);
        for article in newest {
            batch.step.push(&Record::Listed {
                feed: feed.as_str().into(),
                seen: seen.into(),
                published: article.published.as_str().into(),
                url: article.url.as_str().into(),
                title: article.title.as_str().into(),
                updated: "".into(),
                text: None,
            });
        }
    }
}

impl Processor for ListingProcessor {
    fn process(&mut self, results: Vec<FetchResult>) -> Batch {
        let mut batch = Batch::default();
        for result in results {
            let listed = self.process_one(&result, &mut batch);
            let word = match &listed {
                ListingResult::Read(_) => "read".to_owned(),
                ListingResult::Failed(reason) | ListingResult::Postponed(reason) => {
                    log::debug!("{}: {reason}", result.url);
                    reason.split(':').next().unwrap_or_default().to_owned()
                }
            };
            batch.counters.add(word, 1);
            self.work.results.lock().expect("no panic while held").push((result.job, listed));
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{answer, answered, apply, failed, home, planned};

    const ORIGIN: &str = "https://gazette.example";

    fn work(source: ListingSource, path: &str) -> Arc<ListingWork> {
        let mut rule = ArticleRule::default();
        for known in ["/article/1", "/article/2"] {
            rule.learn(&Url::parse(&format!("{ORIGIN}{known}")).unwrap());
        }
        let range = DateRange { since: Some(Date::constant(2019, 1, 1)), until: None };
        let site = SiteRules { name: "gazette.example".into(), origin: ORIGIN.into(), rule: Arc::new(rule), range };
        let job = ListingJob { site: 0, listing: 0, url: format!("{ORIGIN}{path}"), source };
        Arc::new(ListingWork {
            jobs: vec![job],
            sites: vec![site],
            today: Date::constant(2026, 3, 1),
            results: Mutex::default(),
        })
    }

    /// The batch and the result of an answer.
    fn processed(source: ListingSource, path: &str, result: FetchResult) -> (Batch, ListingResult) {
        let work = work(source, path);
        let ceiling = Ceiling { max_bytes: 1 << 20, max_ratio: 100 };
        let batch = ListingProcessor::new(work.clone(), ceiling).process(vec![result]);
        let result = work.results.lock().unwrap().remove(0).1;
        (batch, result)
    }

    fn content(result: ListingResult) -> ListingContent {
        match result {
            ListingResult::Read(content) => content,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn articles_of_a_sitemap_are_planned_within_the_range() {
        let map = "<urlset><url><loc>/article/7</loc><lastmod>2020-05-01</lastmod></url>\
            <url><loc>/article/6</loc><lastmod>2018-05-01</lastmod></url><url><loc>/2021/03/04/a-b</loc></url>\
            <url><loc>/tag/x</loc></url><url><loc>https://other.example/article/1</loc></url></urlset>";
        let url = format!("{ORIGIN}/sitemap.xml");
        let response = answered(0, &url, answer(200, &[], map.as_bytes()));
        let (batch, result) = processed(ListingSource::Robots, "/sitemap.xml", response);
        assert_eq!(content(result).articles.len(), 2);
        let (_folder, pipeline) = home();
        apply(pipeline.home(), "20260301T120000000Z-crawl", batch.step);
        let urls: Vec<String> = planned(pipeline.home()).into_iter().map(|row| row.0).collect();
        assert_eq!(urls, [format!("{ORIGIN}/2021/03/04/a-b"), format!("{ORIGIN}/article/7")]);
        let mut rows = Vec::new();
        tidings_store::plan::read(pipeline.home(), |row| rows.push((row.feed.to_owned(), row.published.to_owned())))
            .unwrap();
        assert!(rows.iter().all(|row| row.0 == "archive:gazette.example"));
        assert!(
            rows[0].1.starts_with("2021-03-04") && rows[1].1.starts_with("2020-05-01"),
            "the newest first: {rows:?}"
        );
    }

    #[test]
    fn a_page_gives_articles_and_further_lists() {
        let html = "<html><body><ul><li><a href='/article/9'>Nine</a></li><li><a href='/article/8'>Eight</a></li></ul>\
            <a href='/?page=2'>older</a><a href='/2021/03/'>March</a><a rel=nofollow href='/article/3'>x</a></body></html>";
        let response =
            answered(0, &format!("{ORIGIN}/"), answer(200, &[("content-type", "text/html")], html.as_bytes()));
        let content = content(processed(ListingSource::Front, "/", response).1);
        assert_eq!((content.articles.len(), content.links.len()), (2, 2));
        assert_eq!(content.origin.as_deref(), Some(ORIGIN));
        assert!(content.links.iter().any(|(target, _)| *target == LinkTarget::Page(2)));
    }

    #[test]
    fn a_month_with_articles_of_another_one_is_not_that_month() {
        let page = |day: &str| {
            let html = format!("<html><body><p><a href='/{day}/the-long-way-home'>A title</a></p></body></html>");
            let url = format!("{ORIGIN}/2021/03/");
            content(
                processed(ListingSource::Dated, "/2021/03/", answered(0, &url, answer(200, &[], html.as_bytes()))).1,
            )
        };
        assert!(!page("2021/03/09").is_other_period && page("2026/02/09").is_other_period);
    }

    #[test]
    fn what_may_pass_is_postponed_and_the_rest_has_failed() {
        let url = format!("{ORIGIN}/");
        let of = |result| processed(ListingSource::Front, "/", result).1;
        let status = |code, headers: &[(&'static str, &str)]| of(answered(0, &url, answer(code, headers, b"<p>x")));
        assert!(matches!(status(503, &[]), ListingResult::Postponed(_)));
        assert!(matches!(status(404, &[]), ListingResult::Failed(_)));
        assert!(matches!(status(200, &[("x-robots-tag", "nofollow")]), ListingResult::Failed(_)));
        assert!(matches!(of(failed(0, &url, FailureKind::Timeout)), ListingResult::Postponed(_)));
        assert!(matches!(of(failed(0, &url, FailureKind::Robots)), ListingResult::Failed(_)));
    }
}
