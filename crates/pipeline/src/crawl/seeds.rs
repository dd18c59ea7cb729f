//! The seeds of a crawl: sites and URLs that a user names, lists of them, and the sites that a home knows already.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, Result, bail};
use tidings_feeds::discover;
use tidings_model::address;
use tidings_store::feeds::SourceKind;
use tidings_store::{Home, feeds, plan, rules, yields};
use url::Url;

/// A list of seeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeedSource {
    /// A file with a site or URL in each line.
    File(PathBuf),
    /// The same from standard input.
    StandardInput,
    /// The sites of the feeds in `feeds.txt`, and its front pages (`kind=page`).
    Feeds,
    /// The sites of entries in the plan.
    Plan,
    /// The sites of stored pages that gave documents.
    Pages,
    /// The sites with a known sitemap: in `feeds.txt` or in a stored robots.txt.
    Sitemaps,
}

impl FromStr for SeedSource {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<SeedSource, Infallible> {
        Ok(match text {
            "-" => SeedSource::StandardInput,
            "feeds" => SeedSource::Feeds,
            "plan" => SeedSource::Plan,
            "pages" => SeedSource::Pages,
            "sitemaps" => SeedSource::Sitemaps,
            path => SeedSource::File(PathBuf::from(path)),
        })
    }
}

impl fmt::Display for SeedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeedSource::File(path) => write!(f, "{}", path.display()),
            SeedSource::StandardInput => f.write_str("standard input"),
            SeedSource::Feeds => f.write_str("feeds.txt"),
            SeedSource::Plan => f.write_str("the plan"),
            SeedSource::Pages => f.write_str("the list of hosts with documents"),
            SeedSource::Sitemaps => f.write_str("the list of known sitemaps"),
        }
    }
}

impl SeedSource {
    /// The seeds of the list, each once.
    pub fn read(&self, home: &Home) -> Result<Vec<String>> {
        let seeds = match self {
            SeedSource::File(path) => {
                let text =
                    std::fs::read_to_string(path).with_context(|| format!("cannot read seeds from {}", path.display()));
                return lines(&text?).with_context(|| path.display().to_string());
            }
            SeedSource::StandardInput => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text).context("cannot read seeds from standard input")?;
                return lines(&text).context("standard input");
            }
            SeedSource::Feeds => of_feeds(home)?,
            SeedSource::Plan => {
                let mut origins = BTreeSet::new();
                plan::read(home, |row| {
                    let end = row.url.find("://").and_then(|at| row.url[at + 3..].find('/').map(|more| at + 3 + more));
                    let origin = end.map_or(row.url, |end| &row.url[..end]);
                    if !origins.contains(origin) {
                        origins.insert(origin.to_owned());
                    }
                })?;
                origins.iter().filter_map(|origin| front_page(origin)).collect()
            }
            SeedSource::Pages => {
                let mut hosts = BTreeSet::new();
                yields::read(home, |row| {
                    if row.kind == "host" && row.sum.documents > 0 {
                        hosts.extend(front_page(&format!("https://{}/", row.name)));
                    }
                })?;
                hosts
            }
            SeedSource::Sitemaps => of_sitemaps(home)?,
        };
        Ok(seeds.into_iter().collect())
    }
}

/// Front pages of the feeds' sites. A host that many publishers share says nothing about a site.
fn of_feeds(home: &Home) -> Result<BTreeSet<String>> {
    let listed = feeds::list(home)?.feeds.into_iter().filter(|feed| feed.kind != SourceKind::Sitemap);
    let is_own = |url: &str| address::host(url).is_some_and(|host| !discover::is_shared(host));
    let seed = |feed: feeds::ListedFeed| match feed.kind {
        SourceKind::Page => address::normalise(&feed.url, None),
        _ => front_page(&feed.url).filter(|url| is_own(url)),
    };
    Ok(listed.filter_map(seed).collect())
}

fn of_sitemaps(home: &Home) -> Result<BTreeSet<String>> {
    let listed = feeds::list(home)?.feeds.into_iter().filter(|feed| feed.kind == SourceKind::Sitemap);
    let mut seeds: BTreeSet<String> = listed.filter_map(|feed| front_page(&feed.url)).collect();
    let is_robots = |answer: &rules::RulesAnswer| answer.kind == "robots";
    rules::read(home, is_robots, |answer| {
        if !discover::in_robots(answer.body.as_deref().unwrap_or_default(), &answer.origin).is_empty() {
            seeds.extend(front_page(&answer.origin));
        }
    })?;
    Ok(seeds)
}

/// The front page of the site of a URL.
fn front_page(url: &str) -> Option<String> {
    let origin = Url::parse(url).ok()?.origin().ascii_serialization();
    address::normalise(&format!("{origin}/"), None)
}

/// The seeds that arguments name: URLs, sites without a scheme, or files with one of them in each line.
pub fn seeds(arguments: &[String]) -> Result<Vec<String>> {
    let mut seeds = Vec::new();
    for argument in arguments {
        match argument.contains("://") || !Path::new(argument).is_file() {
            true => seeds.push(seed(argument)?),
            false => {
                let text = std::fs::read_to_string(argument).with_context(|| format!("cannot read {argument}"))?;
                seeds.extend(lines(&text).with_context(|| argument.clone())?);
            }
        }
    }
    Ok(seeds)
}

/// The seeds in the lines of a text: the first field of each, so that a list of feeds is one of seeds.
fn lines(text: &str) -> Result<Vec<String>> {
    let rows = text.lines().map(|line| line.trim_start_matches('\u{feff}').trim());
    let rows = rows.enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    rows.map(|(at, line)| {
        let first = line.split('\t').next().unwrap_or(line).trim_end();
        seed(first).with_context(|| format!("line {}", at + 1))
    })
    .collect()
}

fn seed(text: &str) -> Result<String> {
    let url = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let url = address::normalise(&url, None).filter(|_| !text.contains(char::is_whitespace));
    let is_site = |host: &str| host.contains(['.', ':']) || host == "localhost";
    match url {
        // A word without a dot is a mistyped option or file rather than a host.
        Some(url) if address::host(&url).is_some_and(|host| text.contains("://") || is_site(host)) => Ok(url),
        _ => bail!(
            "`{text}` is neither a site, a URL nor a file; give one such as example.org or https://example.org/news/"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home_with_feeds;

    #[test]
    fn sites_urls_and_files_are_seeds() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sites.txt");
        std::fs::write(&file, "# sites\nexample.org\n\nhttps://b.example/x\tlang=de\n").unwrap();
        let given = ["c.example:8080".to_owned(), "d.example/news".to_owned(), file.display().to_string()];
        let expected =
            ["https://c.example:8080/", "https://d.example/news", "https://example.org/", "https://b.example/x"];
        assert_eq!(seeds(&given).unwrap(), expected);
        for nonsense in ["no such file.txt", "nonsense", "ftp://a.example/", ""] {
            assert!(seeds(&[nonsense.to_owned()]).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn an_error_in_a_list_names_the_file_and_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let (_home, pipeline) = home_with_feeds("");
        let file = folder.path().join("sites.txt");
        std::fs::write(&file, "example.org\nnot a site\n").unwrap();
        let error = SeedSource::File(file.clone()).read(pipeline.home()).unwrap_err();
        let text = format!("{error:#}");
        assert!(text.contains("sites.txt: line 2: `not a site` is neither"), "{text}");
        let error = SeedSource::File(file.with_extension("gone")).read(pipeline.home()).unwrap_err();
        assert!(error.to_string().starts_with("cannot read seeds from"), "{error}");
    }

    #[test]
    fn the_sites_of_a_home_are_seeds() {
        let (_home, pipeline) = home_with_feeds(
            "https://a.example/feed.xml\nhttps://b.example/news/\tkind=page\n\
             https://c.example/sitemap.xml\tkind=sitemap\nhttps://a.example/sport.xml\n",
        );
        let read = |name: &str| name.parse::<SeedSource>().unwrap().read(pipeline.home()).unwrap();
        assert_eq!(read("feeds"), ["https://a.example/", "https://b.example/news/"]);
        assert_eq!(read("sitemaps"), ["https://c.example/"]);
        assert!(read("plan").is_empty() && read("pages").is_empty());
    }

    #[test]
    fn words_name_parts_of_the_home_and_paths_name_files() {
        let source = |text: &str| text.parse::<SeedSource>().unwrap();
        assert_eq!((source("-"), source("plan")), (SeedSource::StandardInput, SeedSource::Plan));
        assert_eq!(source("./feeds"), SeedSource::File("./feeds".into()));
    }
}
