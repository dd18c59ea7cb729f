//! The truth about every URL, whatever a crawler thinks of it.

use jiff::civil::Date;
use serde::Serialize;

use super::content::{PageText, path_of};
use super::locate::{Address, Target};
use super::score::{Score, Scorer};
use super::section::Section;
use super::site::{PAGE_BYTES, Site};
use super::spec::{Quality, SiteClass};
use super::text::{self, TEXT_BYTES, TEXT_TOKENS};
use super::trap::{TrapKind, TrapTarget};
use super::{Graph, Place, sitemap};
use crate::robots::Rules;
use crate::world::day_of;

/// The truth about a URL.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UrlTruth {
    /// The number of the site.
    pub site: u32,
    /// The class of the site.
    pub class: SiteClass,
    /// The index of the section, for a page of one.
    pub section: Option<usize>,
    /// The language of the text, or of the site.
    pub language: &'static str,
    /// The words that a perfect cleaner keeps: none of lists, errors, link farms and machine-made text.
    pub tokens: u64,
    /// The cluster of near-duplicates, for a page with text.
    pub cluster: Option<u64>,
    /// The URL of the page that this is another URL of.
    pub alias_of: Option<String>,
    /// The date of a page of a section.
    pub date: Option<Date>,
    /// The trap, for a URL inside one.
    pub trap: Option<TrapKind>,
    /// Whether robots.txt disallows it.
    pub disallowed: bool,
    /// Whether only links with `nofollow` lead to it.
    pub nofollow_only: bool,
}

/// The expected content of a URL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// New tokens of the language. Of a hub: those of a page of the best section of its site.
    pub tokens: f64,
    /// Bytes of the page.
    pub bytes: f64,
    /// Whether it is a front page or a list, which has links instead of text.
    pub is_hub: bool,
}

impl Expected {
    /// Tokens a byte.
    pub fn rate(&self) -> f64 {
        self.tokens / self.bytes
    }
}

/// The truth about the URLs of a graph.
#[derive(Clone, Copy, Debug)]
pub struct Truth<'g> {
    graph: &'g Graph,
}

impl<'g> Truth<'g> {
    /// The truth about a graph.
    pub fn new(graph: &'g Graph) -> Self {
        Truth { graph }
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// The truth about a URL; none for URLs outside the graph.
    pub fn of(&self, url: &str) -> Option<UrlTruth> {
        let address = Address::parse(url)?;
        let site = self.graph.site_of(&address)?;
        let place = self.graph.place(site, &address);
        let mut truth = UrlTruth {
            site: site.number,
            class: site.class,
            section: None,
            language: site.language,
            tokens: 0,
            cluster: None,
            alias_of: None,
            date: None,
            trap: None,
            disallowed: !Rules::read(&sitemap::robots(self.graph, site)).allow(address.target),
            nofollow_only: false,
        };
        match &place {
            Place::Target(target) => self.describe(&mut truth, site, target),
            Place::Moved(url) => truth.alias_of = Some(url.clone()),
            Place::Trap(trap) => {
                truth.trap = site.trap;
                if let TrapTarget::Copy(inner) | TrapTarget::Session(_, inner) = trap {
                    self.describe(&mut truth, site, inner);
                    truth.alias_of = Some(self.graph.url(site, &path_of(self.graph, site, inner)));
                }
            }
            Place::NoAddress | Place::Refused | Place::Status(_) | Place::Farm => {}
        }
        Some(truth)
    }

    /// The score of a set of fetched URLs, for a crawl of a language.
    pub fn score<'u>(&self, urls: impl IntoIterator<Item = &'u str>, language: &'static str) -> Score {
        let mut scorer = Scorer::new(*self, language);
        for url in urls {
            scorer.add(url);
        }
        scorer.score()
    }

    /// The tokens of a language that the whole graph has, each cluster once. Writes every text: slow for languages of
    /// many sites.
    pub fn findable(&self, language: &str) -> u64 {
        let mut clusters = std::collections::HashMap::new();
        for site in self.graph.sites.iter().filter(|site| site.failure.is_none()) {
            for (index, section) in site.sections.iter().enumerate().filter(|(_, section)| section.language == language)
            {
                if site.closed_section == Some(index) {
                    continue;
                }
                for number in 0..section.pages {
                    if let PageText::Human(id) = PageText::of(self.graph, site, index, number) {
                        clusters.entry(id.cluster).or_insert_with(|| text::compose(id).tokens());
                    }
                }
            }
        }
        clusters.values().sum()
    }

    /// What an oracle knows about a URL before it is fetched: means of its section, not of the page. None for URLs that
    /// give neither text nor links to text.
    pub fn expected(&self, url: &str, language: &str) -> Option<Expected> {
        let address = Address::parse(url)?;
        let site = self.graph.site_of(&address)?;
        let of = |section: &Section| expected(site, section, language);
        let best = || site.sections.iter().map(of).max_by(|one, other| one.rate().total_cmp(&other.rate()));
        match self.graph.place(site, &address) {
            Place::Target(Target::Page { section, .. }) => Some(of(&site.sections[section])),
            Place::Target(Target::Front | Target::List { .. }) => best().map(|best| Expected { is_hub: true, ..best }),
            Place::Moved(_) => best().map(|best| Expected { is_hub: true, ..best }),
            _ => None,
        }
    }

    /// Whether a site counts as text-rich in a language.
    pub fn is_rich(&self, site: &Site, language: &str) -> bool {
        site.quality == Quality::Rich
            && site.language == language
            && matches!(site.class, SiteClass::Rich | SiteClass::Foreign)
    }

    fn describe(&self, truth: &mut UrlTruth, site: &Site, target: &Target) {
        match target {
            Target::Page { section, number } => {
                let own = &site.sections[*section];
                truth.section = Some(*section);
                truth.language = own.language;
                truth.date = Some(day_of(own.date(*number, self.graph.spec.now)));
                if let PageText::Human(id) = PageText::of(self.graph, site, *section, *number) {
                    truth.cluster = Some(id.cluster);
                    truth.tokens = text::compose(id).tokens();
                }
            }
            Target::User(_) => truth.nofollow_only = true,
            _ => {}
        }
    }
}

fn expected(site: &Site, section: &Section, language: &str) -> Expected {
    let bytes = section.text_share * TEXT_BYTES / section.markup_share + (1.0 - section.text_share) * PAGE_BYTES;
    let copied = matches!(site.class, SiteClass::Machine | SiteClass::Mirror);
    // Of the duplicates, few are the first of their cluster.
    let new_share = if copied || section.language != language { 0.0 } else { 1.0 - 0.9 * site.duplicates };
    Expected { tokens: section.text_share * TEXT_TOKENS * new_share, bytes, is_hub: false }
}
