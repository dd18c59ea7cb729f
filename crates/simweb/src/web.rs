//! The handle of a running web.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use jiff::Timestamp;
use tokio::net::TcpSocket;

use crate::archive::{Archive, ArchiveError};
use crate::article::Article;
use crate::country::{Country, OUTLETS};
use crate::fault::{Fault, SiteFault};
use crate::hiding::Hiding;
use crate::history::HistoryAccess;
use crate::log::{Log, Request};
use crate::politeness::Politeness;
use crate::profile::{FeedFormat, MAX_SITES, address};
use crate::server::pool::Pool;
use crate::server::tls::Tls;
use crate::server::{Server, Shared, warm};
use crate::spec::{Spec, TextSource};
use crate::state::Conditions;
use crate::text::grammar;
use crate::truth::Truth;
use crate::world::{Extent, Source, World};

/// Errors of starting a web.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The port cannot be had.
    #[error("cannot listen on port {port}")]
    Listen {
        /// The requested port; 0 is any.
        port: u16,
        /// The cause.
        source: io::Error,
    },
    /// The archive cannot be used.
    #[error("cannot publish an archive")]
    Archive(#[from] ArchiveError),
    /// The story of the country cannot be read.
    #[error("cannot read the story of the demo: {0}")]
    Country(String),
    /// Too many or no sites, or more faults than sites.
    #[error(
        "cannot create {sites} sites with {faults} faults: between 1 and {MAX_SITES} sites are possible, with at most one fault each"
    )]
    Sites {
        /// The requested number of sites.
        sites: usize,
        /// The requested number of faults.
        faults: usize,
    },
    /// A language is unknown to the generators.
    #[error("no text generator for the language {code}")]
    Language {
        /// The requested code.
        code: String,
    },
}

/// A running web. It ends when this is dropped.
#[derive(Debug)]
pub struct SimWeb {
    // Declared first so that it is dropped first: connections end before the data they use.
    server: Server,
    shared: Arc<Shared>,
    authority: Option<String>,
}

/// One site of a running web.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    web: &'a SimWeb,
    number: usize,
}

impl SimWeb {
    /// Starts a web.
    pub fn start(spec: Spec) -> Result<Self, Error> {
        check(&spec)?;
        let source = match &spec.source {
            TextSource::Generated => Source::Generated,
            TextSource::Archive(path) => Source::Archive(Archive::read(path)?),
            TextSource::Country => Source::Country(Country::new(spec.seed).map_err(Error::Country)?),
        };
        let listening = |source| Error::Listen { port: spec.port, source };
        let socket = bind(spec.port).map_err(listening)?;
        let port = socket.local_addr().map_err(listening)?.port();
        let (mut tls_port, mut second, mut authority) = (None, None, None);
        if spec.tls {
            let tls = Tls::new(spec.sites).map_err(listening)?;
            let socket = bind(0).map_err(listening)?;
            tls_port = Some(socket.local_addr().map_err(listening)?.port());
            authority = Some(tls.authority_pem);
            second = Some((socket, tls.acceptor));
        }
        let conditions = Conditions::new(spec.sites, &spec.faults, spec.crawl_delay);
        let log = Log::new(spec.sites, spec.log_limit);
        let world = World::new(spec.clone(), port, tls_port, source);
        let pool = spec.page_bytes.map(|bytes| Pool::new(&world, bytes));
        let shared = Arc::new(Shared { world, conditions, log, pool, open: AtomicUsize::new(0) });
        warm(&shared);
        let server = Server::start(Arc::clone(&shared), socket, second).map_err(listening)?;
        Ok(SimWeb { server, shared, authority })
    }

    /// The port of every site.
    pub fn port(&self) -> u16 {
        self.shared.world.port
    }

    /// The TLS port, with [`Spec::tls`].
    pub fn tls_port(&self) -> Option<u16> {
        self.shared.world.tls_port
    }

    /// The certificate of the authority as PEM, with [`Spec::tls`]. It is new for every web: the only part that does
    /// not follow from the seed.
    pub fn authority_pem(&self) -> Option<&str> {
        self.authority.as_deref()
    }

    /// The URLs of all feeds: one per site in its own format, or with [`Spec::twins`] the RSS and the Atom feed of
    /// each. Hidden feeds are listed with their true URLs.
    pub fn feeds(&self) -> Vec<String> {
        let twins = self.shared.world.spec.twins;
        if !self.shared.world.spec.hiding.is_empty() {
            return self.sites().filter_map(|site| site.true_feed()).collect();
        }
        self.sites()
            .flat_map(|site| {
                if twins {
                    vec![site.feed_as(FeedFormat::Rss2), site.feed_as(FeedFormat::Atom)]
                } else {
                    vec![site.feed()]
                }
            })
            .collect()
    }

    /// The addresses of the host names in the URLs of the country of the demo; empty for other sources of text, whose
    /// URLs have addresses.
    pub fn hosts(&self) -> BTreeMap<String, SocketAddr> {
        let named = self.sites().filter(|_| self.shared.world.is_country());
        named.map(|site| (OUTLETS[site.number].host.to_owned(), (site.address(), self.port()).into())).collect()
    }

    /// One site.
    ///
    /// # Panics
    /// If there is no site of this number.
    pub fn site(&self, number: usize) -> Site<'_> {
        assert!(number < self.shared.world.spec.sites, "no site {number}");
        Site { web: self, number }
    }

    /// All sites.
    pub fn sites(&self) -> impl Iterator<Item = Site<'_>> {
        (0..self.shared.world.spec.sites).map(|number| Site { web: self, number })
    }

    /// The sites with a fault on any part.
    pub fn sites_with(&self, fault: Fault) -> impl Iterator<Item = Site<'_>> {
        self.sites().filter(move |site| site.faults().iter().any(|site_fault| site_fault.fault == fault))
    }

    /// The sites without faults.
    pub fn healthy_sites(&self) -> impl Iterator<Item = Site<'_>> {
        self.sites().filter(|site| site.faults().is_empty())
    }

    /// The publishing clock.
    pub fn now(&self) -> Timestamp {
        self.shared.world.clock.now()
    }

    /// Advances the publishing clock and publishes the articles that are due.
    pub fn advance(&self, by: Duration) {
        self.shared.world.clock.advance(by);
    }

    /// Changes a published article: it gets another title and, unless it is empty, a further paragraph. Its feed lists
    /// it as updated now.
    pub fn revise(&self, article: &Article, title: &str, paragraph: &str) {
        let now = self.now();
        self.shared.world.revisions.revise(article.site, article.number, title, paragraph, now);
    }

    /// Sets whether the feed of a site gives the current time as the update of every article.
    pub fn set_restless(&self, site: usize, is_restless: bool) {
        self.shared.world.revisions.set_restless(site, is_restless);
    }

    /// Every article published so far, site by site, generated lazily.
    pub fn articles(&self) -> impl Iterator<Item = Article> {
        self.sites().flat_map(|site| site.articles())
    }

    /// The planted words.
    pub fn truth(&self) -> Truth {
        let world = &self.shared.world;
        let mut languages: Vec<&'static str> = self.sites().map(|site| site.language()).collect();
        languages.sort_unstable();
        languages.dedup();
        let generated = world.spec.source == TextSource::Generated;
        let own = languages.into_iter().map(grammar);
        let trends = own.filter(|_| generated).flat_map(|own| own.trends.clone()).collect();
        Truth::new(world.story(), trends)
    }

    /// All requests so far, in the order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.log.requests()
    }

    /// Clears the request log and the politeness statistics.
    pub fn clear_log(&self) {
        self.shared.log.clear();
    }

    /// The politeness statistics.
    pub fn politeness(&self) -> Politeness {
        self.shared.log.politeness()
    }

    /// Gives a site only this fault.
    pub fn set_fault(&self, site: usize, fault: impl Into<SiteFault>) {
        self.shared.conditions.change(site, |condition| condition.faults = vec![fault.into()]);
    }

    /// Removes all faults of a site.
    pub fn heal(&self, site: usize) {
        self.shared.conditions.change(site, |condition| condition.faults.clear());
    }

    /// Gives a site a further fault.
    pub fn add_fault(&self, site: usize, fault: impl Into<SiteFault>) {
        self.shared.conditions.change(site, |condition| condition.faults.push(fault.into()));
    }

    /// Replaces the robots.txt of a site, or restores its default.
    pub fn set_robots(&self, site: usize, text: Option<&str>) {
        self.shared.conditions.change(site, |condition| condition.robots = text.map(Into::into));
    }

    /// Starts or ends an outage: all connections are reset, including new ones.
    pub fn set_down(&self, down: bool) {
        self.server.set_down(down);
    }
}

/// Binds a port on all loopback addresses.
fn bind(port: u16) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))?;
    Ok(socket)
}

fn check(spec: &Spec) -> Result<(), Error> {
    let max_sites = if spec.source == TextSource::Country { OUTLETS.len() } else { MAX_SITES };
    if spec.sites == 0 || spec.sites > max_sites || spec.faults.len() > spec.sites {
        return Err(Error::Sites { sites: spec.sites, faults: spec.faults.len() });
    }
    match spec.languages.iter().find(|code| !crate::text::CODES.contains(&code.as_str())) {
        Some(code) => Err(Error::Language { code: code.clone() }),
        None => Ok(()),
    }
}

impl<'a> Site<'a> {
    /// Its number, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.web.shared.world.site_name(self.number)
    }

    /// Its address.
    pub fn address(&self) -> Ipv4Addr {
        address(self.number)
    }

    /// The URL of a path on it.
    pub fn url(&self, path: &str) -> String {
        self.web.shared.world.url(self.number, path)
    }

    /// The URL of a path on it without TLS.
    pub fn plain_url(&self, path: &str) -> String {
        format!("http://{}:{}{path}", self.address(), self.web.port())
    }

    /// The URL of its feed in the format it prefers.
    pub fn feed(&self) -> String {
        self.feed_as(self.format())
    }

    /// The URL of its only feed on a web that hides feeds; otherwise the feed in its format.
    pub fn true_feed(&self) -> Option<String> {
        match self.web.shared.world.hidden(self.number) {
            Some(hidden) => (hidden.way != Hiding::Nowhere).then(|| self.url(&hidden.target)),
            None => Some(self.feed()),
        }
    }

    /// The way in which the site shows its old articles, with [`Spec::histories`].
    pub fn history(&self) -> Option<HistoryAccess> {
        self.web.shared.world.history(self.number)
    }

    /// The way in which it hides its feed, if it does.
    pub fn hiding(&self) -> Option<Hiding> {
        self.web.shared.world.hidden(self.number).map(|hidden| hidden.way)
    }

    /// The URL of its feed in another format; every site offers all.
    pub fn feed_as(&self, format: FeedFormat) -> String {
        self.url(format.path())
    }

    /// The format it prefers.
    pub fn format(&self) -> FeedFormat {
        self.web.shared.world.profile(self.number).format
    }

    /// The code of its language.
    pub fn language(&self) -> &'static str {
        self.web.shared.world.profile(self.number).language
    }

    /// The name of the character set of its pages and XML feeds.
    pub fn charset(&self) -> &'static str {
        self.web.shared.world.profile(self.number).charset.name()
    }

    /// Its first fault, if there is one.
    pub fn fault(&self) -> Option<Fault> {
        self.faults().first().map(|fault| fault.fault)
    }

    /// All of its faults with the affected parts.
    pub fn faults(&self) -> Vec<SiteFault> {
        self.web.shared.conditions.with(self.number, |condition| condition.faults.clone())
    }

    /// All articles published so far, the oldest first, generated lazily.
    pub fn articles(&self) -> impl Iterator<Item = Article> + use<'a> {
        let world = &self.web.shared.world;
        let number = self.number;
        (0..world.published(number)).map(move |article| world.article(number, article, Extent::Whole))
    }

    /// The articles in its feed, the latest first.
    pub fn listed(&self) -> impl Iterator<Item = Article> + use<'a> {
        let world = &self.web.shared.world;
        let number = self.number;
        world.listed(number).map(move |article| world.article(number, article, Extent::Whole))
    }
}
