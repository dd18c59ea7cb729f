//! Sites and what the plan knows of them: the shapes of their articles, and a sample of articles that feeds brought.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Result, bail};
use jiff::civil::Date;
use tidings_feeds::discover;
use tidings_model::{Fingerprint, Row, is_archive};
use tidings_store::{Home, feeds, plan};
use url::Url;

use super::article::ArticleRule;

/// A site: host without `www.`, with the port if it is not the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The name, as in `archive:NAME`.
    pub name: String,
    /// The scheme and host, without a final slash.
    pub origin: String,
}

/// The days of a backfill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DateRange {
    /// The first day.
    pub since: Option<Date>,
    /// The last day.
    pub until: Option<Date>,
}

impl DateRange {
    /// Whether a day is in the range.
    pub fn contains(&self, day: Date) -> bool {
        self.since.is_none_or(|since| day >= since) && self.until.is_none_or(|until| day <= until)
    }
}

/// What the plan knows of a site.
#[derive(Debug, Default)]
pub struct KnownSite {
    /// What counts as an article.
    pub rule: ArticleRule,
    /// The articles that feeds brought, within the range.
    pub sample: Vec<Fingerprint>,
    /// The scheme and host of the newest entry.
    pub origin: Option<String>,
    /// The newest entry, for the order of origins.
    seen: String,
}

/// The site of a URL in the plan, without parsing all of it.
pub fn site_of(url: &str) -> &str {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = host.strip_prefix("www.").unwrap_or(host);
    let default_port = if scheme == "https" { ":443" } else { ":80" };
    host.strip_suffix(default_port).unwrap_or(host)
}

/// The day of an entry: as published, else as first seen.
pub fn day_of(row: &Row<'_>) -> Option<Date> {
    let date = if row.published.is_empty() { row.seen } else { row.published };
    date.get(..10)?.parse().ok()
}

/// The sites that a user names, or those of all feeds in the list.
pub fn select(home: &Home, given: &[String]) -> Result<Vec<Site>> {
    if given.is_empty() {
        return of_feeds(home);
    }
    given
        .iter()
        .map(|text| {
            let address = if text.contains("://") { text.clone() } else { format!("https://{text}") };
            match (discover::site(&address), Url::parse(&address)) {
                (Some(name), Ok(url)) if name.contains(['.', '[']) || name.starts_with("localhost") => {
                    // Without a scheme, the plan knows which one the site has.
                    let origin = if text.contains("://") { url.origin().ascii_serialization() } else { String::new() };
                    Ok(Site { name, origin })
                }
                _ => bail!("`{text}` is not a site; give a host name such as example.org or a URL"),
            }
        })
        .collect()
}

/// The sites of the feeds in the list: those of most of their articles, else their own.
fn of_feeds(home: &Home) -> Result<Vec<Site>> {
    let list = feeds::list(home)?;
    let mut counts: HashMap<String, HashMap<String, u64>> =
        list.feeds.iter().map(|feed| (feed.url.clone(), HashMap::new())).collect();
    plan::read(home, |row| {
        if let Some(sites) = counts.get_mut(row.feed) {
            match sites.get_mut(site_of(row.url)) {
                Some(count) => *count += 1,
                None => _ = sites.insert(site_of(row.url).to_owned(), 1),
            }
        }
    })?;
    let mut sites = BTreeMap::new();
    for feed in &list.feeds {
        let most = counts[&feed.url].iter().max_by_key(|(site, count)| (**count, std::cmp::Reverse((*site).clone())));
        let name = most.map(|(site, _)| site.clone()).or_else(|| discover::site(&feed.url)).unwrap_or_default();
        let host = name.split(':').next().unwrap_or_default();
        if name.is_empty() || discover::is_shared(host) {
            log::warn!("{}: its articles are on {name}, which many publishers share; it has no backfill", feed.url);
            continue;
        }
        let own = discover::site(&feed.url).filter(|site| *site == name);
        let origin = own.and_then(|_| Url::parse(&feed.url).ok()).map(|url| url.origin().ascii_serialization());
        sites.entry(name.clone()).or_insert(Site { name, origin: origin.unwrap_or_default() });
    }
    Ok(sites.into_values().collect())
}

/// Reads the plan once for all sites. Only entries of feeds count as known: those of an earlier backfill would confirm
/// themselves.
pub fn knowledge(home: &Home, sites: &mut [Site], range: DateRange) -> Result<HashMap<String, KnownSite>> {
    let mut known: HashMap<String, KnownSite> =
        sites.iter().map(|site| (site.name.clone(), KnownSite::default())).collect();
    plan::read(home, |row| {
        let Some(site) = known.get_mut(site_of(row.url)) else { return };
        if is_archive(row.feed) {
            return;
        }
        let Ok(url) = Url::parse(row.url) else { return };
        site.rule.learn(&url);
        if day_of(row).is_none_or(|day| range.contains(day)) {
            site.sample.push(Fingerprint::of(row.url));
        }
        if site.seen.as_str() <= row.seen {
            row.seen.clone_into(&mut site.seen);
            site.origin = Some(url.origin().ascii_serialization());
        }
    })?;
    for site in sites.iter_mut().filter(|site| site.origin.is_empty()) {
        let origin = known.get(&site.name).and_then(|known| known.origin.clone());
        site.origin = origin.unwrap_or_else(|| format!("https://{}", site.name));
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FEED, home_with_feeds, plan_entries};

    #[test]
    fn the_site_of_a_url_is_that_of_discovery() {
        for url in [
            "https://www.gazette.example/a",
            "http://gazette.example:8080/?a=1",
            "https://gazette.example",
            "http://127.1.0.1:999/x",
            "https://blog.gazette.example/a#b",
        ] {
            assert_eq!(Some(site_of(url).to_owned()), discover::site(url), "{url}");
        }
        assert_eq!(site_of("http://a.example:80/"), "a.example");
    }

    #[test]
    fn sites_are_given_by_name_or_taken_from_the_feeds() {
        let (_folder, pipeline) = home_with_feeds(&format!("{FEED}\nhttps://feeds.feedburner.com/x\n"));
        plan_entries(
            pipeline.home(),
            &["http://www.paper.example/2026/03/01/a", "http://www.paper.example/2026/03/02/b"],
        );
        let mut sites = select(pipeline.home(), &[]).unwrap();
        let known = knowledge(pipeline.home(), &mut sites, DateRange::default()).unwrap();
        assert_eq!(sites, [Site { name: "paper.example".into(), origin: "http://www.paper.example".into() }]);
        assert_eq!(known["paper.example"].sample.len(), 2);
        let given = select(pipeline.home(), &["https://www.b.example/x".into(), "c.example".into()]).unwrap();
        let names: Vec<&str> = given.iter().map(|site| site.name.as_str()).collect();
        assert_eq!(names, ["b.example", "c.example"]);
        assert!(select(pipeline.home(), &["nonsense".into()]).is_err());
    }
}
