//! Identity of URLs in the seen-set, and the shard of a domain.

use tidings_model::address;
use xxhash_rust::xxh3::xxh3_64;

/// The number of shards: all state of a registered domain is in one of them.
pub const SHARDS: usize = 256;

/// The shard of a registered domain.
pub fn shard(domain: &str) -> u8 {
    (xxh3_64(domain.as_bytes()) >> 56) as u8
}

/// The name of a shard: two hexadecimal digits.
pub(crate) fn shard_name(shard: u8) -> String {
    format!("{shard:02x}")
}

/// The fingerprint of a normalised URL. The scheme, the order of query keys and a default document do not distinguish
/// pages: permuted facets are one page, and a site without TLS has the same texts.
pub fn fingerprint(url: &str) -> u64 {
    let form = address::fingerprint_form(url);
    xxh3_64(form.split_once("://").map_or(&*form, |(_, rest)| rest).as_bytes())
}

/// The fingerprint of a normalised URL without its host: mirrors have it in common.
pub(crate) fn path_print(url: &str) -> u64 {
    let form = address::fingerprint_form(url);
    let rest = form.split_once("://").map_or(&*form, |(_, rest)| rest);
    xxh3_64(rest.find('/').map_or("", |at| &rest[at..]).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_page_have_one_fingerprint() {
        for (one, other) in [
            ("http://a.example/x?b=2&a=1", "http://a.example/x?a=1&b=2"),
            ("http://a.example/x?a=1", "https://a.example/x?a=1"),
            ("http://a.example/x/index.html", "http://a.example/x/"),
        ] {
            assert_eq!(fingerprint(one), fingerprint(other), "{one} {other}");
        }
    }

    #[test]
    fn different_pages_have_different_fingerprints() {
        let urls = [
            "a.example/x",
            "a.example/x/",
            "b.example/x",
            "a.example/x?a=1",
            "a.example/x?a=2",
            "a.example/xindex.html",
        ];
        let prints: std::collections::HashSet<u64> =
            urls.iter().map(|url| fingerprint(&format!("http://{url}"))).collect();
        assert_eq!(prints.len(), urls.len());
    }

    #[test]
    fn mirrors_have_equal_paths() {
        assert_eq!(path_print("http://a.example/x?b=2&a=1"), path_print("https://www.b.example/x?a=1&b=2"));
        assert_ne!(path_print("http://a.example/x"), path_print("http://a.example/y"));
    }

    #[test]
    fn domains_are_spread_over_all_shards() {
        let used: std::collections::HashSet<u8> = (0..4000).map(|n| shard(&format!("site{n}.example"))).collect();
        assert!(used.len() > 250, "{}", used.len());
        assert_eq!((shard_name(7), shard_name(255)), ("07".to_owned(), "ff".to_owned()));
    }
}
