//! Fetched pages of a graph: cleaned once, whichever crawls ask for them.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::rc::Rc;

use jiff::civil::Date;
use tidings_clean::postprocess::PostprocessOptions;
use tidings_clean::{Options, clean_with_links};
use tidings_crawl::{link_language::LinkEvidence, shape, text::TextFingerprint, trap::hard_trap};
use tidings_model::{LinkRegion, Page, PageLinks, address};
use tidings_simweb::graph::{Expected, Graph, Truth, UrlTruth};
use url::Url;

/// The number of a URL.
pub type UrlId = u32;

/// The day of the crawl.
const TODAY: Date = Date::constant(2026, 3, 1);

/// A URL that some page links to.
#[derive(Debug)]
pub struct UrlRow {
    /// The URL.
    pub url: Box<str>,
    /// The registered domain.
    pub domain: Box<str>,
    /// The host.
    pub host: Box<str>,
    /// The section, as a crawler sees it.
    pub section: Box<str>,
    /// Whether its form shows that it is a trap.
    pub refused: bool,
    /// What an oracle knows of it.
    pub expected: Option<Expected>,
}

/// A link of a fetched page.
#[derive(Debug, Clone, Copy)]
pub struct PageLinkRow {
    /// The target.
    pub target: UrlId,
    /// Where it stands.
    pub region: LinkRegion,
    /// Whether it leads to another domain and promises text in the language of the crawl.
    pub wanted_language: bool,
}

/// A fetched page.
#[derive(Debug)]
pub struct PageRow {
    /// The status; 0 without a connection.
    pub status: u16,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Tokens of the clean text in the language of the crawl.
    pub tokens: u64,
    /// Bytes of the same.
    pub clean_bytes: u64,
    /// The fingerprint of the same.
    pub text: Option<TextFingerprint>,
    /// The language of its text; without a text, the one that it declares.
    pub language: Option<String>,
    /// Whether it has text in another language than that of the crawl.
    pub foreign: bool,
    /// Links that may be followed.
    pub links: Vec<PageLinkRow>,
    /// The target of a redirect.
    pub redirect: Option<UrlId>,
    /// The canonical URL, if it is another one of the same host and not the front page.
    pub canonical: Option<UrlId>,
    /// The truth.
    pub truth: Option<UrlTruth>,
}

/// All URLs and pages of a graph that were met so far.
#[derive(Debug)]
pub struct Pages<'g> {
    /// The graph.
    pub graph: &'g Graph,
    /// Its truth.
    pub truth: Truth<'g>,
    /// The language of the crawl.
    pub language: &'static str,
    /// The URLs.
    pub urls: Vec<UrlRow>,
    ids: HashMap<Box<str>, UrlId>,
    pages: HashMap<UrlId, Rc<PageRow>>,
    ips: HashMap<Box<str>, Option<Ipv4Addr>>,
}

impl<'g> Pages<'g> {
    /// No page is known.
    pub fn new(graph: &'g Graph, language: &'static str) -> Pages<'g> {
        Pages {
            graph,
            truth: Truth::new(graph),
            language,
            urls: Vec::new(),
            ids: HashMap::new(),
            pages: HashMap::new(),
            ips: HashMap::new(),
        }
    }

    /// The number of pages that were cleaned.
    pub fn cleaned(&self) -> usize {
        self.pages.len()
    }

    /// The number of a URL in normal form; none for what is no URL of the web.
    pub fn id(&mut self, url: &str) -> Option<UrlId> {
        let form = address::fingerprint_form(url);
        if let Some(id) = self.ids.get(form.as_ref()) {
            return Some(*id);
        }
        let parsed = Url::parse(url).ok()?;
        let id = self.urls.len() as UrlId;
        self.ids.insert(form.into(), id);
        self.urls.push(UrlRow {
            url: url.into(),
            domain: shape::domain(&parsed).into(),
            host: parsed.host_str()?.into(),
            section: shape::section(&parsed).into(),
            refused: hard_trap(&parsed, TODAY).is_some(),
            expected: self.truth.expected(url, self.language),
        });
        Some(id)
    }

    /// Whether most names under the top-level domain of a host are of sites in the language of the crawl.
    pub fn is_national(&self, host: &str) -> bool {
        let spec = self.graph.spec();
        self.language == spec.target && host.rsplit('.').next() == Some(spec.top_level[0])
    }

    /// The address of a host.
    pub fn ip(&mut self, host: &str) -> Option<Ipv4Addr> {
        if let Some(ip) = self.ips.get(host) {
            return *ip;
        }
        let ip = self.graph.resolve(host);
        self.ips.insert(host.into(), ip);
        ip
    }

    /// The page at a URL.
    pub fn page(&mut self, id: UrlId) -> Rc<PageRow> {
        if let Some(page) = self.pages.get(&id) {
            return Rc::clone(page);
        }
        let page = Rc::new(self.fetch(id));
        self.pages.insert(id, Rc::clone(&page));
        page
    }

    fn fetch(&mut self, id: UrlId) -> PageRow {
        let url = self.urls[id as usize].url.clone();
        let response = self.graph.fetch(&url);
        let mut row = PageRow {
            status: response.status,
            bytes: response.wire_bytes,
            tokens: 0,
            clean_bytes: 0,
            text: None,
            language: None,
            foreign: false,
            links: Vec::new(),
            redirect: None,
            canonical: None,
            truth: self.truth.of(&url),
        };
        if let Some(location) = response.header("Location").map(str::to_owned) {
            row.redirect = address::normalise(&location, Some(&url)).and_then(|target| self.id(&target));
        }
        let content_type = response.header("Content-Type").unwrap_or_default().to_owned();
        if response.status != 200 || !content_type.starts_with("text/html") {
            return row;
        }
        let page = Page {
            url: url.to_string(),
            final_url: url.to_string(),
            status: 200,
            content_type,
            downloaded: "2026-03-01T12:00:00Z".to_owned(),
            body: response.body,
            ..Page::default()
        };
        let (document, mut links) = clean_with_links(&page, &Options::default(), &PostprocessOptions::default());
        row.language = links.language.take();
        if let Ok(document) = &document {
            row.language = Some(document.language_code());
            row.foreign = document.language_code() != self.language;
        }
        if let Some(document) = document.ok().filter(|_| !row.foreign) {
            let text = document.text();
            row.tokens = tidings_lang::word_count(&text) as u64;
            row.clean_bytes = text.len() as u64;
            row.text = Some(TextFingerprint::of(&text, &self.urls[id as usize].domain));
        }
        self.follow(id, links, &mut row);
        row
    }

    fn follow(&mut self, id: UrlId, links: PageLinks, row: &mut PageRow) {
        if let Some(canonical) = links.canonical.and_then(|url| self.id(&url)) {
            let (own, other) = (&self.urls[id as usize], &self.urls[canonical as usize]);
            let is_front = Url::parse(&other.url).is_ok_and(|url| url.path() == "/");
            row.canonical = (canonical != id && own.host == other.host && !is_front).then_some(canonical);
        }
        if links.nofollow {
            return;
        }
        for link in links.links.into_iter().filter(|link| !link.nofollow) {
            if let (Some(target), Ok(url)) = (self.id(&link.url), Url::parse(&link.url)) {
                let page = row.language.as_deref();
                let evidence = LinkEvidence { url: &url, hreflang: None, anchor: &link.anchor, page };
                let is_own = self.urls[target as usize].domain == self.urls[id as usize].domain;
                let wanted_language = !is_own && evidence.promises(|code| code == self.language);
                row.links.push(PageLinkRow { target, region: link.region, wanted_language });
            }
        }
    }
}
