//! Sites, registrable domains and the languages of top-level domains.

use url::Url;

/// The site of a URL: the host without `www.`, with the port if it is not the default.
///
/// Subdomains are separate sites: `blog.example.org` may have a feed where `example.org` has none.
pub fn site(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let host = url.host_str().filter(|host| !host.is_empty())?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

/// The registrable domain (eTLD+1): `example.co.uk` of `news.example.co.uk`. Hosting services with a subdomain per
/// customer count as public suffixes. `None` for IP addresses.
pub fn registrable(host: &str) -> Option<&str> {
    let is_number = host.starts_with('[') || host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if is_number { None } else { tidings_model::registered_domain(host) }
}

/// Returns true for hosts shared by many publishers, where one without a feed says nothing about the others.
pub fn is_shared(host: &str) -> bool {
    const SHARED: &[&str] = &[
        "youtube.com",
        "reddit.com",
        "github.com",
        "gitlab.com",
        "codeberg.org",
        "vimeo.com",
        "medium.com",
        "bsky.app",
        "facebook.com",
        "x.com",
        "twitter.com",
        "instagram.com",
        "linkedin.com",
        "tiktok.com",
        "t.co",
        "bit.ly",
        "youtu.be",
        "dailymotion.com",
        "pinterest.com",
        "sites.google.com",
        "feeds.feedburner.com",
        "feedburner.com",
        "mastodon.social",
        "threads.net",
        "t.me",
        "archive.org",
        "web.archive.org",
    ];
    let host = host.split(':').next().unwrap_or(host);
    SHARED.iter().any(|shared| host == *shared || host.strip_suffix(shared).is_some_and(|rest| rest.ends_with('.')))
}

/// Languages of the country of a top-level domain; empty for generic domains and those used
/// world-wide (`.tv`, `.io`).
pub fn languages_of_tld(host: &str) -> Vec<&'static str> {
    let host = host.split(':').next().unwrap_or(host);
    let tld = host.rsplit('.').next().unwrap_or_default();
    let written_there = tidings_lang::languages().iter().filter(|language| language.site_tlds.contains(&tld));
    // Norwegian is declared as `no` more often than as `nb`: codes of two letters are as good as ours.
    let codes = |language: &'static tidings_lang::Language| {
        let short = language.other_codes.iter().copied().filter(|code| code.len() == 2);
        std::iter::once(language.code).chain(short)
    };
    written_there.flat_map(codes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_its_host_without_www() {
        assert_eq!(site("https://www.Example.org/a/b?c").as_deref(), Some("example.org"));
        assert_eq!(site("http://127.1.0.1:8080/").as_deref(), Some("127.1.0.1:8080"));
        assert_eq!(site("mailto:a@b.c"), None);
    }

    #[test]
    fn subdomains_of_hosting_services_are_registrable_domains() {
        assert_eq!(registrable("news.example.co.uk"), Some("example.co.uk"));
        assert_eq!(registrable("anna.blogspot.com"), Some("anna.blogspot.com"));
        assert_eq!(registrable("127.1.0.1"), None);
        assert!(is_shared("www.youtube.com") && !is_shared("notyoutube.com"));
    }

    #[test]
    fn national_domains_have_languages_and_generic_ones_do_not() {
        assert_eq!(languages_of_tld("zeitung.example.ch"), ["de", "fr", "it", "rm"]);
        assert!(languages_of_tld("example.com").is_empty() && languages_of_tld("example.tv").is_empty());
    }
}
