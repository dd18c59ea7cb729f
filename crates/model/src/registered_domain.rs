//! Registered domains, by the public suffix list.
//!
//! The list is generic code, a function for each label, which is compiled anew in each crate that asks it: 0.77 MB and nine
//! CPU seconds. So one crate asks it for all.

/// The registered domain of a host: `example.co.uk` of `news.example.co.uk`. Hosting services with a subdomain per
/// customer count as public suffixes; a host that is one itself has none.
#[inline(never)]
pub fn registered_domain(host: &str) -> Option<&str> {
    psl::domain_str(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_below_a_public_suffix_have_the_domain_of_their_owner() {
        for (host, domain) in [
            ("news.example.co.uk", Some("example.co.uk")),
            ("example.org", Some("example.org")),
            ("somebody.github.io", Some("somebody.github.io")),
            ("co.uk", None),
            ("", None),
        ] {
            assert_eq!(registered_domain(host), domain, "{host}");
        }
    }
}
