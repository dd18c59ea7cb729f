//! URL normalisation.
//!
//! Feeds decorate links for their statistics: campaign parameters, click ids, fragments. Each variant would
//! count as a new article and cost the publisher another request, so URLs are normalised before they enter the plan.

use url::Url;

/// Longer URLs are rejected.
pub const MAX_ADDRESS_BYTES: usize = 8 * 1024;

/// Query parameters that identify the referrer, not the article.
const TRACKING: &[&str] = &[
    "fbclid",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "msclkid",
    "yclid",
    "ysclid",
    "twclid",
    "ttclid",
    "igshid",
    "igsh",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "_hsenc",
    "_hsmi",
    "__hssc",
    "__hstc",
    "__hsfp",
    "hsctatracking",
    "oly_anon_id",
    "oly_enc_id",
    "vero_id",
    "vero_conv",
    "wickedid",
    "rb_clickid",
    "s_cid",
    "ns_mchannel",
    "ns_source",
    "ns_campaign",
    "ns_linkname",
    "ns_fee",
    "xtor",
    "at_medium",
    "at_campaign",
    "at_custom1",
    "at_custom2",
    "at_custom3",
    "at_custom4",
    "cmpid",
    "ito",
    "_ga",
    "_gl",
    "wt_mc",
    "wt.mc_id",
    "spm",
    "srsltid",
    "guccounter",
    "guce_referrer",
    "guce_referrer_sig",
    "ncid",
    "sr_share",
    "ftag",
    "ftcamp",
];

/// Prefixes of families of such parameters.
const TRACKING_PREFIXES: &[&str] = &["utm_", "mtm_", "pk_", "piwik_", "matomo_", "hsa_", "itm_", "stm_"];

fn is_tracking(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or(pair);
    let starts = |prefix: &&str| name.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix));
    TRACKING_PREFIXES.iter().any(starts) || TRACKING.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns true if [`normalise`] might change a well-formed URL. A cheap check that spares millions of plan rows a full
/// parse.
pub(crate) fn is_decorated(address: &str) -> bool {
    match address.find(['?', '#']) {
        None => false,
        Some(at) if address.as_bytes()[at] == b'#' => true,
        Some(at) => {
            address[at + 1..].contains('#') || address[at + 1..].split('&').any(is_tracking) || address.ends_with('?')
        }
    }
}

/// Normalises a URL: absolute, http or https, without fragment, credentials and tracking parameters. Returns
/// `None` if it is not the URL of a web page.
pub fn normalise(raw: &str, base: Option<&str>) -> Option<String> {
    let raw = raw.trim();
    if raw.is_empty() || raw.len() > MAX_ADDRESS_BYTES {
        return None;
    }
    let parsed = match base {
        Some(base) => Url::parse(base).ok()?.join(raw).ok()?,
        None => Url::parse(raw).ok()?,
    };
    strip(parsed)
}

fn strip(mut url: Url) -> Option<String> {
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return None;
    }
    url.set_fragment(None);
    // Credentials in a public feed are a mistake; keep them out of requests and logs.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    if let Some(query) = url.query() {
        let kept: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !is_tracking(pair)).collect();
        let kept = (!kept.is_empty()).then(|| kept.join("&"));
        url.set_query(kept.as_deref());
    }
    let address = String::from(url);
    (address.len() <= MAX_ADDRESS_BYTES).then_some(address)
}

/// The host of a URL without the port: the unit of politeness.
pub fn host(address: &str) -> Option<&str> {
    let rest = address.split_once("://")?.1;
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let authority = authority.rsplit('@').next().unwrap_or(authority);
    let host = match authority.strip_prefix('[') {
        Some(v6) => &authority[..v6.find(']')? + 2],
        None => authority.split(':').next().unwrap_or(authority),
    };
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracking_parameters_fragments_and_credentials_are_removed() {
        let cases = [
            ("http://Example.ORG:80/a/../b", "http://example.org/b"),
            ("https://e.org/a?utm_source=x&id=7&fbclid=1#c", "https://e.org/a?id=7"),
            ("https://e.org/a?utm_source=x", "https://e.org/a"),
            ("https://e.org/a?b=2&a=1", "https://e.org/a?b=2&a=1"),
            ("https://e.org/?p=1&&q", "https://e.org/?p=1&q"),
            ("https://user:secret@e.org/x", "https://e.org/x"),
            (" https://e.org/ž \n", "https://e.org/%C5%BE"),
        ];
        for (raw, expected) in cases {
            let got = normalise(raw, None).unwrap();
            assert_eq!(got, expected);
            assert_eq!(normalise(&got, None).unwrap(), got, "normalisation is idempotent");
            assert!(!is_decorated(&got));
        }
    }

    #[test]
    fn only_web_pages_have_a_normalised_url() {
        for raw in ["mailto:a@b.c", "file:///etc/passwd", "javascript:void(0)", "", "http://", "/relative"] {
            assert_eq!(normalise(raw, None), None, "{raw}");
        }
    }

    #[test]
    fn relative_links_are_resolved() {
        assert_eq!(normalise("../a#x", Some("https://e.org/b/c/feed")).unwrap(), "https://e.org/b/a");
    }

    #[test]
    fn hosts_are_parsed_without_a_full_url_parser() {
        assert_eq!(host("https://e.org:8080/x?y"), Some("e.org"));
        assert_eq!(host("http://[::1]:80/x"), Some("[::1]"));
        assert_eq!(host("http://u@e.org"), Some("e.org"));
        assert_eq!(host("nonsense"), None);
    }
}
