//! Text files with a URL in each line.

use tidings_model::Repair;
use url::Url;

use super::{MAX_URLS, Sitemap, SitemapEntry};
use crate::repairs::Repairs;

/// The first URL of a text, if its first line that is not blank is one.
pub(super) fn first_url(text: &str) -> Option<Url> {
    text.lines().map(str::trim).find(|line| !line.is_empty()).and_then(url_of)
}

/// Reads a list of URLs; `None` if fewer than half of the lines are URLs.
pub(super) fn read(text: &str, repairs: &mut Repairs) -> Option<Sitemap> {
    let (mut entries, mut others) = (Vec::new(), 0_usize);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match url_of(line) {
            Some(_) if entries.len() >= MAX_URLS => {
                repairs.add(Repair::TooManyEntries);
                break;
            }
            Some(url) => entries.push(SitemapEntry { url: url.into(), ..SitemapEntry::default() }),
            None => others += 1,
        }
    }
    (!entries.is_empty() && entries.len() >= others).then(|| Sitemap { entries, ..Sitemap::default() })
}

fn url_of(line: &str) -> Option<Url> {
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    if line.contains(char::is_whitespace) { None } else { Url::parse(line).ok().filter(is_web) }
}
