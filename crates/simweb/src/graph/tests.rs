//! Tests of the graph as a whole.

use std::collections::HashSet;

use super::*;

fn graph() -> Graph {
    Graph::new(GraphSpec { seed: 5, sites: 200, ..GraphSpec::default() })
}

/// The `href`s of a page, resolved as far as this graph needs it.
fn links(url: &str, html: &str) -> Vec<String> {
    let address = Address::parse(url).expect("a URL");
    let origin = format!("http://{}", address.host);
    let folder = &address.target[..=address.target.split('?').next().and_then(|path| path.rfind('/')).unwrap_or(0)];
    html.split("<a ")
        .skip(1)
        .filter_map(|tag| tag.split('>').next()?.split("href=\"").nth(1)?.split('"').next())
        .map(|href| href.replace("&amp;", "&"))
        .filter(|href| !href.starts_with('#'))
        .map(|href| match href.as_bytes().first() {
            _ if href.starts_with("http://") => href,
            Some(b'/') => format!("{origin}{href}"),
            _ => format!("{origin}{folder}{href}"),
        })
        .collect()
}

#[test]
fn the_same_description_gives_the_same_bytes() {
    let (one, other) = (graph(), graph());
    for site in one.sites() {
        let url = one.url(site, "/");
        assert_eq!(one.fetch(&url), other.fetch(&url));
        for link in links(&url, &one.fetch(&url).text()).iter().take(5) {
            assert_eq!(one.fetch(link), other.fetch(link), "{link}");
        }
    }
    let third = Graph::new(GraphSpec { seed: 6, sites: 200, ..GraphSpec::default() });
    assert_ne!(one.sites()[0].domain, third.sites()[0].domain);
}

#[test]
fn links_never_leave_reserved_names_and_loopback() {
    let graph = graph();
    let mut waiting: Vec<String> = graph.seeds("de", 30);
    let mut seen: HashSet<String> = waiting.iter().cloned().collect();
    let mut answered = 0;
    while let Some(url) = waiting.pop().filter(|_| seen.len() < 20_000) {
        let response = graph.fetch(&url);
        assert!(response.ip.is_none_or(|ip| ip.is_loopback()), "{url}");
        answered += u32::from(response.status == 200);
        for link in links(&url, &response.text()) {
            let host = Address::parse(&link).unwrap_or_else(|| panic!("{link} on {url}")).host;
            assert!(host.ends_with(".test") || host.ends_with(".example"), "{link} on {url}");
            if seen.insert(link.clone()) {
                waiting.push(link);
            }
        }
    }
    assert!(answered > 500, "{answered}");
}

#[test]
fn links_of_a_site_without_trap_lead_to_pages() {
    let graph = graph();
    let site = graph.sites().iter().find(|site| site.class == SiteClass::Rich && site.trap.is_none()).expect("a site");
    let front = graph.url(site, "/");
    let mut waiting = vec![front.clone()];
    let mut seen = HashSet::from([front]);
    let mut pages = HashSet::new();
    let truth = Truth::new(&graph);
    while let Some(url) = waiting.pop() {
        let response = graph.fetch(&url);
        assert_eq!(response.status, 200, "{url}");
        let about = truth.of(&url).expect("a URL of the graph");
        assert_eq!((about.site, about.trap), (site.number, None));
        if about.section.is_some() {
            pages.insert(url.clone());
        }
        for link in links(&url, &response.text()) {
            let own = Address::parse(&link).is_some_and(|address| address.host == site.host);
            if own && seen.insert(link.clone()) {
                waiting.push(link);
            }
        }
    }
    assert_eq!(pages.len() as u64, site.pages(), "links reach every page");
}

#[test]
fn every_trap_but_twins_is_endless() {
    let graph = Graph::new(GraphSpec { sites: 3000, ..GraphSpec::default() });
    for kind in TrapKind::ALL {
        let site = graph.sites().iter().find(|site| site.trap == Some(kind)).unwrap_or_else(|| panic!("{kind:?}"));
        let truth = Truth::new(&graph);
        let mut waiting = vec![graph.url(site, "/"), graph.page_url(site, 0, 0)];
        let mut seen: HashSet<String> = waiting.iter().cloned().collect();
        let mut trapped = 0;
        // Depth first and only into the trap, a crawl falls without end.
        while let Some(url) = waiting.pop().filter(|_| trapped < 300) {
            let response = graph.fetch(&url);
            let found = match response.header("Location") {
                Some(location) => vec![location.to_owned()],
                None => links(&url, &response.text()),
            };
            for link in found {
                let inside = truth.of(&link).is_some_and(|about| about.trap == Some(kind) && about.site == site.number);
                if inside && seen.insert(link.clone()) {
                    trapped += 1;
                    waiting.push(link);
                }
            }
        }
        let expected = if kind == TrapKind::Twins { 2 } else { 300 };
        assert!(trapped >= expected, "{kind:?}: {trapped}");
    }
}

#[test]
fn a_cluster_counts_once_and_a_mirror_adds_nothing() {
    let graph = graph();
    let truth = Truth::new(&graph);
    let mirror = graph.sites().iter().find(|site| site.class == SiteClass::Mirror).expect("a mirror");
    let original = &graph.sites()[mirror.mirror.expect("an original").original as usize];
    let pages = |site: &Site| -> Vec<String> { (0..20).map(|number| graph.page_url(site, 0, number)).collect() };
    let section = original.sections[0].pages.min(20) as usize;
    let (first, second) = (pages(original)[..section].to_vec(), pages(mirror)[..section].to_vec());
    let alone = truth.score(first.iter().map(String::as_str), "de");
    let both = truth.score(first.iter().chain(&second).map(String::as_str), "de");
    assert!(alone.tokens > 0);
    assert_eq!((alone.tokens, alone.clusters), (both.tokens, both.clusters));
    assert_eq!(both.requests, 2 * alone.requests);
    assert_eq!(both.by_class[&SiteClass::Mirror], section as u64);
}

#[test]
fn yields_of_rich_sites_are_above_those_of_poor_ones() {
    let graph = graph();
    let truth = Truth::new(&graph);
    let mut shares = Vec::new();
    for class in [SiteClass::Rich, SiteClass::Mixed, SiteClass::Poor] {
        let (mut tokens, mut bytes) = (0, 0);
        for site in graph.sites().iter().filter(|site| site.class == class) {
            for (index, section) in site.sections.iter().enumerate() {
                for number in (0..section.pages).step_by(section.pages as usize / 4 + 1) {
                    let url = graph.page_url(site, index, number);
                    tokens += truth.of(&url).map_or(0, |about| about.tokens);
                    bytes += graph.fetch(&url).wire_bytes;
                }
            }
        }
        shares.push(tokens as f64 * 1000.0 / bytes as f64);
    }
    assert!(shares[0] > 2.0 * shares[1] && shares[1] > 2.0 * shares[2], "{shares:?}");
}

#[test]
fn hosts_that_are_not_in_the_graph_do_not_resolve() {
    let graph = graph();
    let site = graph.sites().iter().find(|site| site.class == SiteClass::Poor).expect("a poor site");
    assert_eq!(graph.resolve(&site.host), Some(site.ip));
    assert_eq!(graph.resolve(&format!("nothing.{}", site.domain)), None);
    assert_eq!(graph.resolve("www.example"), None);
    assert_eq!(graph.fetch("http://www.elsewhere.test/").status, 0);
    let farm = graph.sites().iter().find(|site| site.class == SiteClass::LinkFarm).expect("a farm");
    assert_eq!(graph.resolve(&format!("x123.{}", farm.domain)), Some(farm.ip));
}

/// The URLs of the sitemap of a site, with the maps of its index.
fn mapped(graph: &Graph, site: &Site) -> Vec<String> {
    let response = graph.fetch(&graph.url(site, sitemap::path(site.sitemap)));
    assert_eq!(response.status, 200, "{}", site.host);
    let text = match site.sitemap {
        SitemapKind::Gzip => {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&response.body[..]), &mut text).unwrap();
            text
        }
        _ => response.text().into_owned(),
    };
    let locations = |text: &str| -> Vec<String> {
        let parts = text.split("<loc>").skip(1).filter_map(|part| part.split_once("</loc>"));
        parts.map(|(url, _)| url.replace("&amp;", "&")).collect()
    };
    match site.sitemap {
        SitemapKind::IndexByMonth => {
            locations(&text).iter().flat_map(|map| locations(&graph.fetch(map).text())).collect()
        }
        _ => locations(&text),
    }
}

#[test]
fn sitemaps_of_every_quality_list_pages() {
    let graph = graph();
    for kind in [SitemapKind::Complete, SitemapKind::IndexByMonth, SitemapKind::Gzip, SitemapKind::LyingDates] {
        let site = graph.sites().iter().find(|site| site.sitemap == kind && site.pages() > 0 && site.pages() < 3000);
        let site = site.unwrap_or_else(|| panic!("{kind:?}"));
        let urls: HashSet<String> = mapped(&graph, site).into_iter().collect();
        assert_eq!(urls.len() as u64, site.pages(), "{kind:?}");
        assert!(urls.iter().take(20).all(|url| graph.fetch(url).status == 200), "{kind:?}");
    }
    for kind in [SitemapKind::News, SitemapKind::Broken] {
        let site = graph.sites().iter().find(|site| site.sitemap == kind && site.pages() > 1000).expect("a large site");
        let count = mapped(&graph, site).len() as u64;
        assert!(count > 0 && count < site.pages(), "{kind:?}: {count}");
    }
}

#[test]
fn other_urls_of_a_page_are_its_aliases() {
    let graph = Graph::new(GraphSpec { sites: 3000, ..GraphSpec::default() });
    let truth = Truth::new(&graph);
    let with = |kind| graph.sites().iter().find(|site| site.trap == Some(kind)).expect("a site with the trap");
    let site = with(TrapKind::Twins);
    let page = graph.page_url(site, 0, 1);
    let path = page.strip_prefix(&graph.url(site, "")).expect("a page of the site").to_owned();
    let twins = [
        graph.url(site, &format!("/print{path}")),
        format!("{page}{}amp=1", if page.contains('?') { '&' } else { '?' }),
        format!("http://m.{}{path}", site.domain),
    ];
    for twin in twins {
        let (about, original) = (truth.of(&twin).expect("a URL"), truth.of(&page).expect("a URL"));
        assert_eq!(about.alias_of.as_deref(), Some(page.as_str()), "{twin}");
        assert_eq!(
            (about.cluster, about.tokens, about.trap),
            (original.cluster, original.tokens, Some(TrapKind::Twins))
        );
        assert_eq!(graph.fetch(&twin).status, 200);
    }
    let site = with(TrapKind::Session);
    let page = graph.page_url(site, 0, 1);
    let path = page.strip_prefix(&graph.url(site, "")).expect("a page of the site").to_owned();
    let session = graph.url(site, &trap::session_path(7, &path));
    assert_eq!(truth.of(&session).expect("a URL").alias_of, Some(page));
}

#[test]
fn robots_and_nofollow_are_part_of_the_truth() {
    let graph = graph();
    let truth = Truth::new(&graph);
    let site = graph.sites().iter().find(|site| site.closed_section.is_some()).expect("a site with a closed section");
    let name = site.sections[site.closed_section.expect("a closed section")].name;
    assert!(graph.fetch(&graph.url(site, "/robots.txt")).text().contains(&format!("Disallow: /{name}/")));
    assert!(truth.of(&graph.url(site, &format!("/{name}/"))).expect("a URL").disallowed);
    assert!(!truth.of(&graph.url(site, "/")).expect("a URL").disallowed);
    assert!(truth.of(&graph.url(site, "/user/3/")).expect("a URL").nofollow_only);
}
