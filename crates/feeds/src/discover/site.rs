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
    if is_number { None } else { psl::domain_str(host) }
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

/// National top-level domains with the languages of the country. Domains used world-wide (`.tv`, `.io`, `.me`) are left
/// out.
const NATIONAL: &[(&str, &str)] = &[
    ("ae", "ar"),
    ("al", "sq"),
    ("am", "hy"),
    ("ar", "es"),
    ("at", "de"),
    ("au", "en"),
    ("az", "az"),
    ("ba", "bs hr sr"),
    ("bd", "bn"),
    ("be", "nl fr de"),
    ("bg", "bg"),
    ("bo", "es"),
    ("br", "pt"),
    ("by", "be ru"),
    ("ca", "en fr"),
    ("cat", "ca"),
    ("ch", "de fr it rm"),
    ("cl", "es"),
    ("cn", "zh"),
    ("cr", "es"),
    ("cu", "es"),
    ("cy", "el tr"),
    ("cymru", "cy"),
    ("cz", "cs"),
    ("de", "de"),
    ("dk", "da"),
    ("do", "es"),
    ("dz", "ar fr"),
    ("ec", "es"),
    ("ee", "et"),
    ("eg", "ar"),
    ("es", "es ca gl eu"),
    ("eus", "eu"),
    ("fi", "fi sv"),
    ("fo", "fo"),
    ("fr", "fr"),
    ("gal", "gl"),
    ("ge", "ka"),
    ("gr", "el"),
    ("gt", "es"),
    ("hk", "zh en"),
    ("hn", "es"),
    ("hr", "hr"),
    ("hu", "hu"),
    ("id", "id"),
    ("ie", "en ga"),
    ("il", "he"),
    ("in", "en hi bn ta te mr gu kn ml pa ur"),
    ("iq", "ar ku"),
    ("ir", "fa"),
    ("is", "is"),
    ("it", "it"),
    ("jo", "ar"),
    ("jp", "ja"),
    ("ke", "en sw"),
    ("kr", "ko"),
    ("kz", "kk ru"),
    ("li", "de"),
    ("lk", "si ta en"),
    ("lt", "lt"),
    ("lu", "lb fr de"),
    ("lv", "lv"),
    ("ma", "ar fr"),
    ("md", "ro ru"),
    ("mk", "mk"),
    ("mn", "mn"),
    ("mt", "mt en"),
    ("mx", "es"),
    ("my", "ms en"),
    ("ng", "en"),
    ("ni", "es"),
    ("nl", "nl fy"),
    ("no", "no nb nn"),
    ("np", "ne"),
    ("nz", "en mi"),
    ("pe", "es"),
    ("ph", "en tl"),
    ("pk", "ur en"),
    ("pl", "pl"),
    ("pt", "pt"),
    ("py", "es gn"),
    ("qa", "ar"),
    ("ro", "ro"),
    ("rs", "sr"),
    ("ru", "ru"),
    ("sa", "ar"),
    ("scot", "en gd"),
    ("se", "sv"),
    ("sg", "en zh"),
    ("si", "sl"),
    ("sk", "sk"),
    ("su", "ru"),
    ("sv", "es"),
    ("th", "th"),
    ("tj", "tg"),
    ("tn", "ar fr"),
    ("tr", "tr"),
    ("tw", "zh"),
    ("ua", "uk"),
    ("uk", "en cy gd"),
    ("us", "en"),
    ("uy", "es"),
    ("uz", "uz"),
    ("ve", "es"),
    ("vn", "vi"),
    ("za", "en af"),
    ("xn--p1ai", "ru"),
];

/// The languages of the country of a host's top-level domain; empty for generic domains.
pub fn languages_of_tld(host: &str) -> Vec<&'static str> {
    let host = host.split(':').next().unwrap_or(host);
    let tld = host.rsplit('.').next().unwrap_or_default();
    let row = NATIONAL.iter().find(|row| row.0 == tld);
    row.map(|row| row.1.split(' ').collect()).unwrap_or_default()
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
