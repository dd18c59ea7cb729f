//! Sites: class, hosts, sections, manners.

use std::net::Ipv4Addr;

use jiff::Timestamp;

use super::random::{beta, key, lognormal, normal, pareto, weighted};
use super::section::{PathPattern, SECTION_NAMES, Section, text_share};
use super::spec::{GraphSpec, Quality, SiteClass, buckets};
use super::trap::TrapKind;
use crate::profile::{Template, address};
use crate::rng::Rng;

/// Mean bytes of a page without text.
pub const PAGE_BYTES: f64 = 38_000.0;
/// The most sections of a site.
pub const MAX_SECTIONS: u64 = 8;
/// The most pages of a section.
const MAX_PAGES: f64 = 20_000.0;
/// The fewest pages of a site with text.
const LEAST_PAGES: f64 = 24.0;

/// What a site lists in its sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SitemapKind {
    /// All pages with their dates.
    Complete,
    /// An index with a map for each month.
    IndexByMonth,
    /// The latest pages, with the elements of news sitemaps.
    News,
    /// All pages, as a gzip file.
    Gzip,
    /// XML that breaks off.
    Broken,
    /// All pages, with the same date for each.
    LyingDates,
    /// None.
    Absent,
}

/// The canonical links of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canonical {
    /// Each page names its own URL, and copies the original's.
    Right,
    /// All pages name the front page.
    FrontPage,
    /// No page has one.
    Absent,
}

/// Where a site declares its feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedLink {
    /// On every page.
    EveryPage,
    /// On the front page.
    FrontPage,
    /// There is no feed.
    Absent,
}

/// The manner in which a dead site is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Its name does not resolve.
    NoAddress,
    /// It refuses connections.
    Refused,
    /// It answers 503.
    Unavailable,
    /// It answers 403.
    Forbidden,
    /// Its robots.txt disallows everything.
    RobotsClosed,
}

/// The frame of a mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MirrorOf {
    /// The number of the original.
    pub original: u32,
    /// Whether it has the template of the original.
    pub exact: bool,
}

/// A site.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its number.
    pub number: u32,
    /// The class.
    pub class: SiteClass,
    /// The amount of text.
    pub quality: Quality,
    /// The language of most of its text.
    pub language: &'static str,
    /// The registered domain.
    pub domain: String,
    /// The canonical host.
    pub host: String,
    /// The IP address.
    pub ip: Ipv4Addr,
    /// The sections.
    pub sections: Vec<Section>,
    /// The trap, if it has one.
    pub trap: Option<TrapKind>,
    /// The sitemap.
    pub sitemap: SitemapKind,
    /// Whether robots.txt names the sitemap.
    pub sitemap_in_robots: bool,
    /// The canonical links.
    pub canonical: Canonical,
    /// The declaration of the feed.
    pub feed: FeedLink,
    /// The index of the section that robots.txt disallows.
    pub closed_section: Option<usize>,
    /// The original, for a mirror.
    pub mirror: Option<MirrorOf>,
    /// The failure, for a dead site.
    pub failure: Option<Failure>,
    pub(super) template: Template,
    /// The share of its texts that other pages have too.
    pub(super) duplicates: f64,
    /// The weight as the target of links.
    pub(super) popularity: f64,
    /// Whether its texts are filled templates; else machine-made text is always new.
    pub(super) spun: bool,
    /// The registrar of a parked domain.
    pub(super) registrar: u32,
    /// The time at which the graph is crawled.
    pub(super) now: Timestamp,
}

impl Site {
    /// The number of its pages with content, without lists and traps.
    pub fn pages(&self) -> u64 {
        self.sections.iter().map(|section| u64::from(section.pages)).sum()
    }

    /// The number of the site whose texts it shows.
    pub(super) fn content_site(&self) -> u32 {
        self.mirror.map_or(self.number, |mirror| mirror.original)
    }
}

/// Creates all sites of a graph.
pub fn create(spec: &GraphSpec) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::with_capacity(spec.sites);
    let classes = classes(spec);
    for (number, class) in classes.iter().enumerate() {
        sites.push(create_one(spec, number, *class));
    }
    let rich: Vec<u32> = sites.iter().filter(|site| site.class == SiteClass::Rich).map(|site| site.number).collect();
    for number in 0..sites.len() {
        if sites[number].class == SiteClass::Mirror && !rich.is_empty() {
            let mut rng = Rng::named(&[spec.seed, 0x313, number as u64]);
            let original = rng.pick(&rich);
            let copied = sites[original as usize].clone();
            let exact = rng.chance(50);
            let site = &mut sites[number];
            site.mirror = Some(MirrorOf { original, exact });
            site.sections = copied.sections;
            site.language = copied.language;
            if exact {
                site.template = copied.template;
            }
        }
    }
    sites
}

/// The classes of all sites: exact shares, in random order.
fn classes(spec: &GraphSpec) -> Vec<SiteClass> {
    let mut classes: Vec<SiteClass> = Vec::with_capacity(spec.sites);
    let mut share_so_far = 0;
    for (class, share) in SiteClass::SHARES {
        share_so_far += share;
        let until = (spec.sites as u64 * share_so_far).div_ceil(100) as usize;
        classes.resize(until.max(classes.len()), class);
    }
    let mut rng = Rng::named(&[spec.seed, 0xC1A5]);
    for at in (1..classes.len()).rev() {
        classes.swap(at, rng.below(at as u64 + 1) as usize);
    }
    classes
}

fn create_one(spec: &GraphSpec, number: usize, class: SiteClass) -> Site {
    let mut rng = Rng::named(&[spec.seed, 0x517E, number as u64]);
    let (quality, language) = quality_and_language(spec, class, &mut rng);
    let domain = domain(spec, number, language, &mut rng);
    let host = if rng.chance(40) { format!("www.{domain}") } else { domain.clone() };
    let registrar = rng.below(5) as u32;
    let sections = sections(spec, class, quality, language, &mut rng);
    let good = matches!(class, SiteClass::Rich | SiteClass::Mixed | SiteClass::Foreign);
    let closed_section = (good && sections.len() > 2 && rng.chance(20)).then(|| sections.len() - 1);
    let (canonical, template) = canonical_and_template(&mut rng);
    Site {
        number: number as u32,
        class,
        quality,
        language,
        domain,
        host,
        ip: ip(spec, number, class, registrar, &mut rng),
        sections,
        trap: (good && rng.chance(25)).then(|| rng.pick(&TrapKind::ALL)),
        sitemap: sitemap_kind(&mut rng),
        sitemap_in_robots: rng.chance(75),
        canonical,
        feed: rng.pick(&[
            FeedLink::EveryPage,
            FeedLink::EveryPage,
            FeedLink::FrontPage,
            FeedLink::Absent,
            FeedLink::Absent,
        ]),
        closed_section,
        mirror: None,
        failure: (class == SiteClass::Dead).then(|| {
            rng.pick(&[
                Failure::NoAddress,
                Failure::Refused,
                Failure::Unavailable,
                Failure::Forbidden,
                Failure::RobotsClosed,
            ])
        }),
        template,
        duplicates: beta(&mut rng, 1.2, 2.0),
        popularity: pareto(&mut rng, 1.1),
        spun: rng.chance(67),
        registrar,
        now: spec.now,
    }
}

fn quality_and_language(spec: &GraphSpec, class: SiteClass, rng: &mut Rng) -> (Quality, &'static str) {
    let quality = match class {
        SiteClass::Rich | SiteClass::Mirror | SiteClass::Machine => Quality::Rich,
        SiteClass::Mixed => Quality::Mixed,
        SiteClass::Foreign => rng.pick(&[Quality::Rich, Quality::Rich, Quality::Mixed, Quality::Mixed, Quality::Mixed]),
        SiteClass::Poor | SiteClass::Parked | SiteClass::LinkFarm | SiteClass::Dead => Quality::Poor,
    };
    let language = match class {
        SiteClass::Foreign if rng.chance(30) => spec.scarce,
        SiteClass::Foreign => rng.pick(spec.foreign),
        SiteClass::Rich | SiteClass::Mixed | SiteClass::Mirror => spec.target,
        _ if rng.chance(75) => spec.target,
        _ => rng.pick(spec.foreign),
    };
    (quality, language)
}

fn canonical_and_template(rng: &mut Rng) -> (Canonical, Template) {
    let canonical = [Canonical::Right, Canonical::FrontPage, Canonical::Absent][weighted(rng, [60, 5, 35].into_iter())];
    let template = match canonical {
        // The semantic template always has a canonical link.
        Canonical::Absent => rng.pick(&[Template::Portal, Template::Press, Template::Plain]),
        _ => rng.pick(&[Template::Semantic, Template::Portal, Template::Press, Template::Plain]),
    };
    (canonical, template)
}

fn sitemap_kind(rng: &mut Rng) -> SitemapKind {
    const SHARES: [(SitemapKind, u64); 7] = [
        (SitemapKind::Complete, 40),
        (SitemapKind::IndexByMonth, 20),
        (SitemapKind::News, 10),
        (SitemapKind::Gzip, 10),
        (SitemapKind::Broken, 5),
        (SitemapKind::LyingDates, 5),
        (SitemapKind::Absent, 10),
    ];
    SHARES[weighted(rng, SHARES.iter().map(|(_, share)| *share))].0
}

/// A name under a reserved top-level domain. Most names of the target language are under `test`, most others under
/// `example`, like national domains.
fn domain(spec: &GraphSpec, number: usize, language: &str, rng: &mut Rng) -> String {
    const STARTS: [&str; 16] =
        ["ba", "ke", "lo", "mi", "nu", "pra", "sto", "ver", "gra", "hin", "dor", "fel", "tam", "zu", "wol", "ris"];
    const ENDS: [&str; 12] = ["ben", "dorf", "ka", "lin", "mar", "na", "post", "ro", "stadt", "ten", "web", "zeit"];
    let mut name = String::new();
    for _ in 0..1 + rng.below(3) {
        name.push_str(rng.pick(&STARTS));
    }
    name.push_str(rng.pick(&ENDS));
    let at_home = rng.chance(if language == spec.target { 80 } else { 20 });
    format!("{name}{number}.{}", spec.top_level[usize::from(!at_home)])
}

/// Half of the sites have an address of their own; the others share those of hosting companies and registrars.
fn ip(spec: &GraphSpec, number: usize, class: SiteClass, registrar: u32, rng: &mut Rng) -> Ipv4Addr {
    const SITES_PER_SHARED_ADDRESS: usize = 8;
    let companies = (spec.sites / 2 / SITES_PER_SHARED_ADDRESS).max(1);
    if class == SiteClass::Parked {
        return address(spec.sites + companies + registrar as usize);
    }
    // Parked domains are a part of the half that shares.
    match rng.chance(57) {
        true => address(number),
        false => address(spec.sites + rng.below(companies as u64) as usize),
    }
}

fn sections(
    spec: &GraphSpec,
    class: SiteClass,
    quality: Quality,
    language: &'static str,
    rng: &mut Rng,
) -> Vec<Section> {
    if matches!(class, SiteClass::Parked | SiteClass::Dead | SiteClass::LinkFarm) {
        return Vec::new();
    }
    let table = buckets(quality);
    let chosen = weighted(rng, table.clone().map(|bucket| bucket.domains));
    let bucket = table.clone().nth(chosen).expect("the draw is an index of the table");
    // A poor site in seven has no text at all.
    let site_yield = match class {
        SiteClass::Poor if rng.chance(14) => 0.0,
        _ => bucket.low * (bucket.high / bucket.low).powf(rng.unit()),
    };
    let bytes = lognormal(rng, bucket.bytes * spec.size, 1.0);
    let pages = (bytes / PAGE_BYTES).clamp(LEAST_PAGES, MAX_PAGES);
    let count = 1 + rng.below(MAX_SECTIONS).min(rng.below(MAX_SECTIONS));
    let flat = rng.chance(20);
    let parts: Vec<(f64, f64)> =
        (0..count).map(|_| (-(1.0 - rng.unit()).ln() + 0.05, (1.2 * normal(rng)).exp())).collect();
    let size: f64 = parts.iter().map(|(size, _)| size).sum();
    let worth: f64 = parts.iter().map(|(part, worth)| part / size * worth).sum();
    let first_name = rng.below(SECTION_NAMES.len() as u64) as usize;
    parts
        .iter()
        .enumerate()
        .map(|(at, (part, relative))| {
            let section_yield = site_yield * relative / worth;
            let other_language = class == SiteClass::Mixed && rng.chance(6);
            let (text_percent, markup_share) = text_share(section_yield, rng);
            Section {
                name: SECTION_NAMES[(first_name + at * 5) % SECTION_NAMES.len()],
                pattern: if flat { PathPattern::Flat } else { rng.pick(&PathPattern::OF_SECTIONS) },
                pages: (pages * part / size).ceil().max(3.0) as u32,
                text_share: text_percent,
                markup_share,
                branching: 2 + rng.below(7) as u8,
                language: if other_language { rng.pick(spec.foreign) } else { language },
                key: key(&[spec.seed, 0x5EC, rng.bits()]),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_their_shares_in_graphs_of_any_size() {
        for (sites, rich, dead) in [(60, 8, 1), (1000, 120, 30)] {
            let all = create(&GraphSpec { sites, ..GraphSpec::default() });
            let of = |class| all.iter().filter(|site| site.class == class).count();
            assert_eq!((all.len(), of(SiteClass::Rich), of(SiteClass::Dead)), (sites, rich, dead));
        }
    }

    #[test]
    fn a_quarter_of_the_good_sites_has_a_trap_and_half_of_all_share_addresses() {
        let all = create(&GraphSpec { sites: 2000, ..GraphSpec::default() });
        let good = all.iter().filter(|site| matches!(site.class, SiteClass::Rich | SiteClass::Mixed));
        let trapped = good.clone().filter(|site| site.trap.is_some()).count() as f64 / good.count() as f64;
        assert!((0.2..0.3).contains(&trapped), "{trapped}");
        let sharing = all.iter().filter(|site| all.iter().filter(|other| other.ip == site.ip).count() > 1).count();
        assert!((900..1150).contains(&sharing), "{sharing}");
    }

    #[test]
    fn domains_are_reserved_names_and_differ() {
        let all = create(&GraphSpec { sites: 500, ..GraphSpec::default() });
        let names: std::collections::HashSet<&str> = all.iter().map(|site| site.domain.as_str()).collect();
        assert_eq!(names.len(), 500);
        assert!(all.iter().all(|site| site.domain.ends_with(".test") || site.domain.ends_with(".example")));
        assert!(all.iter().all(|site| site.ip.is_loopback() && site.sections.len() <= MAX_SECTIONS as usize));
    }
}
