//! URL normalisation.
//!
//! Feeds decorate links for their statistics: campaign parameters, click ids, fragments, session ids. Each variant would
//! count as a new article and cost the publisher another request, so URLs are normalised before they enter the plan.
//! URLs that are equal by RFC 3986, section 6.2.2, have one form: case of percent-encodings, encoded unreserved
//! characters, dot segments, default port, empty path.

use std::borrow::Cow;

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

/// Names of parameters that identify the session of a visitor, in paths (`/a;jsessionid=1`) and queries.
const SESSION: &[&str] = &["jsessionid", "phpsessid"];

/// Least length of a session id in the path of ASP.NET, `/(S(24 characters))/`.
const MIN_ASP_ID_BYTES: usize = 16;

fn is_session(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or(pair);
    SESSION.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// True for a segment such as `(S(lit3py55t21z5v55vlm25s55))` or `(X(1)S(…))`.
fn is_asp_session(segment: &str) -> bool {
    let Some(mut rest) = segment.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return false };
    let mut has_id = false;
    while !rest.is_empty() {
        let Some((id, after)) = rest.get(1..).and_then(|rest| rest.strip_prefix('(')?.split_once(')')) else {
            return false;
        };
        if !matches!(rest.as_bytes()[0], b'A' | b'F' | b'S' | b'X') {
            return false;
        }
        has_id |= id.len() >= MIN_ASP_ID_BYTES;
        rest = after;
    }
    has_id
}

/// A path without session ids.
fn without_sessions(path: &str) -> Cow<'_, str> {
    if memchr::memchr2(b';', b'(', path.as_bytes()).is_none() {
        return Cow::Borrowed(path);
    }
    let segments = path.split('/').filter(|segment| !is_asp_session(segment)).map(|segment| {
        let mut parts = segment.split(';');
        let head = parts.next().unwrap_or_default().to_owned();
        parts.filter(|part| !is_session(part)).fold(head, |kept, part| kept + ";" + part)
    });
    Cow::Owned(segments.collect::<Vec<_>>().join("/"))
}

/// The character that a percent-encoding at the start of a text stands for.
fn encoded_byte(text: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
    match text {
        [b'%', high, low, ..] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// A text with percent-encodings in upper case and without those of unreserved characters.
fn canonical_escapes(text: &str) -> Cow<'_, str> {
    let mut canonical = Cow::Borrowed(text);
    // Decoding may complete another escape behind a stray percent sign.
    while has_odd_escapes(&canonical) {
        canonical = Cow::Owned(decode_unreserved(&canonical));
    }
    canonical
}

fn decode_unreserved(text: &str) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, ..] = rest {
        let byte = encoded_byte(rest);
        match byte {
            Some(byte) if is_unreserved(byte) => decoded.push(byte),
            Some(_) => decoded.extend(rest[..3].iter().map(u8::to_ascii_uppercase)),
            None => decoded.push(*first),
        }
        rest = &rest[if byte.is_some() { 3 } else { 1 }..];
    }
    String::from_utf8(decoded).expect("only ASCII characters were replaced, by ASCII ones")
}

/// True if [`canonical_escapes`] would change a text.
fn has_odd_escapes(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'%', bytes).any(|at| {
        encoded_byte(&bytes[at..])
            .is_some_and(|byte| is_unreserved(byte) || bytes[at + 1..at + 3].iter().any(u8::is_ascii_lowercase))
    })
}

fn is_tracking(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or(pair);
    let starts = |prefix: &&str| name.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix));
    TRACKING_PREFIXES.iter().any(starts) || TRACKING.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns true if [`normalise`] might change a well-formed URL. A cheap check that spares millions of plan rows a full
/// parse.
pub(crate) fn is_decorated(address: &str) -> bool {
    let path_end = memchr::memchr2(b'?', b'#', address.as_bytes()).unwrap_or(address.len());
    let (path, rest) = address.split_at(path_end);
    let is_odd_pair = |pair: &str| is_tracking(pair) || is_session(pair);
    let is_odd_rest = match rest.as_bytes().first() {
        None => false,
        Some(b'#') => true,
        Some(_) => rest.contains('#') || rest[1..].split('&').any(is_odd_pair) || rest.len() == 1,
    };
    is_odd_rest || has_odd_escapes(address) || without_sessions(path) != path || has_escaped_host(address)
}

/// Returns true if the host has percent-encodings: `exampl%65.org` is another spelling of `example.org`.
fn has_escaped_host(address: &str) -> bool {
    host(address).is_some_and(|host| host.contains('%'))
}

/// Returns true if another URL may have the same normal form. Also true for many that have none.
pub fn may_have_equivalents(address: &str) -> bool {
    memchr::memchr3(b'%', b'~', b';', address.as_bytes()).is_some() || address.contains("/(")
}

/// The forms in which version 0.1.0 may have stored a normalised URL: it left percent-encodings as they were given.
pub fn earlier_forms(address: &str) -> Vec<String> {
    let lower = lower_case_escapes(address);
    let mut forms = vec![lower.clone()];
    for tilde in ["%7E", "%7e"] {
        forms.extend([address, &lower].map(|base| base.replace('~', tilde)));
    }
    forms.retain(|form| form != address);
    forms.sort_unstable();
    forms.dedup();
    forms
}

fn lower_case_escapes(address: &str) -> String {
    let mut bytes = address.as_bytes().to_vec();
    for at in memchr::memchr_iter(b'%', address.as_bytes()) {
        if encoded_byte(&address.as_bytes()[at..]).is_some() {
            bytes[at + 1..at + 3].make_ascii_lowercase();
        }
    }
    String::from_utf8(bytes).expect("only the case of ASCII letters was changed")
}

/// Normalises a URL: absolute, http or https, in the canonical form of RFC 3986, without fragment, credentials, session
/// ids and tracking parameters. Returns `None` if it is not the URL of a web page.
pub fn normalise(raw: &str, base: Option<&str>) -> Option<String> {
    canonical(parse(raw, base)?)
}

/// Resolves a link of a page against the base of the page and normalises it, as [`normalise`] does. Spares parsing the
/// base for each link.
pub fn resolve(raw: &str, base: &Url) -> Option<String> {
    let raw = raw.trim();
    if raw.is_empty() || raw.len() > MAX_ADDRESS_BYTES {
        return None;
    }
    canonical(base.join(raw).ok()?)
}

fn canonical(mut url: Url) -> Option<String> {
    let path = without_sessions(&canonical_escapes(url.path())).into_owned();
    if path != url.path() {
        url.set_path(&path);
    }
    if let Some(query) = url.query() {
        let query = canonical_escapes(query);
        let kept: Vec<&str> = query.split('&').filter(|pair| !is_session(pair)).collect();
        let query = kept.join("&");
        url.set_query(Some(&query));
    }
    strip(url)
}

/// The form of a URL in the ids of documents: as [`normalise`], but with escapes and session ids as they are. Ids must
/// not change between versions.
pub fn identity(raw: &str) -> Option<String> {
    strip(parse(raw, None)?)
}

/// Documents that servers return for the folder itself.
const DEFAULT_DOCUMENTS: &[&str] = &[
    "index.html",
    "index.htm",
    "index.php",
    "index.asp",
    "index.aspx",
    "index.jsp",
    "index.shtml",
    "default.asp",
    "default.aspx",
    "default.htm",
    "default.html",
];

/// Names of parameters that identify a session only if their value looks like an identifier: on other sites `sid` is
/// the number of a story.
const PERHAPS_SESSION: &[&str] = &["sid", "sessid", "sessionid", "session_id", "session", "oscsid", "zenid", "cftoken"];

/// Least length of a hexadecimal session id.
const MIN_SESSION_ID_BYTES: usize = 16;

fn is_session_id(pair: &str) -> bool {
    pair.split_once('=').is_some_and(|(name, value)| names_session(name, value))
}

/// Returns true for a segment of a path such as `sid-0123456789abcdef`.
fn is_session_segment(segment: &str) -> bool {
    segment.split_once(['-', '_', '=', ':']).is_some_and(|(name, value)| names_session(name, value))
}

fn names_session(name: &str, value: &str) -> bool {
    PERHAPS_SESSION.iter().any(|known| name.eq_ignore_ascii_case(known))
        && value.len() >= MIN_SESSION_ID_BYTES
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().any(|byte| byte.is_ascii_digit())
}

/// The form of a normalised URL under which a crawl knows it: without repeated slashes, default documents and further
/// session ids, with sorted query parameters. Only for comparison: servers may return something else for it, so it is
/// never requested or stored instead of the URL.
pub fn fingerprint_form(address: &str) -> Cow<'_, str> {
    let Some(path_at) = address.find("://").and_then(|at| Some(at + 3 + address[at + 3..].find('/')?)) else {
        return Cow::Borrowed(address);
    };
    let (origin, rest) = address.split_at(path_at);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let is_kept = |segment: &&str| !segment.is_empty() && !is_session_segment(segment);
    let mut segments: Vec<&str> = path.split('/').filter(is_kept).collect();
    let mut is_folder = path.ends_with('/');
    let is_default = |name: &&str| DEFAULT_DOCUMENTS.iter().any(|known| name.eq_ignore_ascii_case(known));
    if segments.last().is_some_and(is_default) {
        segments.pop();
        is_folder = true;
    }
    let mut form = String::with_capacity(address.len());
    form.push_str(origin);
    segments.iter().for_each(|segment| form.extend(["/", segment]));
    if is_folder || segments.is_empty() {
        form.push('/');
    }
    let mut pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !is_session_id(pair)).collect();
    pairs.sort_unstable();
    for (at, pair) in pairs.iter().enumerate() {
        form.push(if at == 0 { '?' } else { '&' });
        form.push_str(pair);
    }
    Cow::Owned(form)
}

fn parse(raw: &str, base: Option<&str>) -> Option<Url> {
    let raw = raw.trim();
    if raw.is_empty() || raw.len() > MAX_ADDRESS_BYTES {
        return None;
    }
    match base {
        Some(base) => Url::parse(base).ok()?.join(raw).ok(),
        None => Url::parse(raw).ok(),
    }
}

/// Removes fragment, credentials and tracking parameters.
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
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn normalisation_is_idempotent_and_known_to_the_cheap_check(path in "[a-c~%27EeCc3;=().?&/_-]{0,24}") {
            if let Some(once) = normalise(&format!("http://e.org/{path}"), None) {
                let twice = normalise(&once, None);
                prop_assert_eq!(twice.as_deref(), Some(once.as_str()));
                prop_assert!(!is_decorated(&once), "{} of {}", once, path);
            }
        }
    }

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
    fn urls_that_are_equal_by_rfc_3986_have_one_form() {
        let groups: [&[&str]; 6] = [
            &["https://e.org/caf%C3%A9", "https://e.org/caf%c3%a9", "https://e.org/café", "https://e.org/c%61f%c3%A9"],
            &["https://e.org/~ada/x", "https://e.org/%7Eada/x", "https://e.org/%7eada/x"],
            &["https://e.org/a-b_c.d", "https://e.org/a%2Db%5fc%2Ed"],
            &["https://e.org/", "https://e.org", "HTTPS://E.org:443", "https://e.org/a/..", "https://e.org/./%2e%2E/"],
            &["https://e.org/?q=%C3%A9~", "https://e.org/?q=%c3%a9%7E", "https://e.org/?utm%5Fsource=x&q=%c3%a9~"],
            // Reserved characters are not decoded: they may mean another page.
            &["https://e.org/a%2Fb%25c", "https://e.org/a%2fb%25c"],
        ];
        for group in groups {
            for raw in group {
                assert_eq!(normalise(raw, None).as_deref(), Some(group[0]), "{raw}");
            }
            assert!(!is_decorated(group[0]), "{}", group[0]);
        }
        assert_eq!(normalise("https://e.org/100%", None).as_deref(), Some("https://e.org/100%"));
        assert_eq!(normalise("https://e.org/%zz%7", None).as_deref(), Some("https://e.org/%zz%7"));
    }

    #[test]
    fn session_ids_in_paths_and_queries_are_removed() {
        let cases = [
            ("https://e.org/a;jsessionid=1E2F!node1?id=7", "https://e.org/a?id=7"),
            ("https://e.org/a;JSESSIONID=1;v=2/b", "https://e.org/a;v=2/b"),
            ("https://e.org/a;PHPSESSID=x9", "https://e.org/a"),
            ("https://e.org/(S(lit3py55t21z5v55vlm25s55))/news/1.aspx", "https://e.org/news/1.aspx"),
            ("https://e.org/x/(X(1)S(lit3py55t21z5v55vlm25s55))/1", "https://e.org/x/1"),
            ("https://e.org/?PHPSESSID=1&id=7", "https://e.org/?id=7"),
            ("https://e.org/a?jsessionid=1", "https://e.org/a"),
        ];
        for (raw, expected) in cases {
            assert_eq!(normalise(raw, None).as_deref(), Some(expected), "{raw}");
            assert!(is_decorated(raw) && !is_decorated(expected), "{raw}");
        }
        for kept in
            ["https://e.org/a;v=1", "https://e.org/(S(3))/x", "https://e.org/wiki/Mercury_(planet)", "https://e.org/()"]
        {
            assert_eq!(normalise(kept, None).as_deref(), Some(kept));
            assert!(!is_decorated(kept), "{kept}");
        }
    }

    #[test]
    fn percent_escapes_in_hosts_are_other_spellings_of_the_host() {
        for raw in ["http://exampl%65.org/a", "http://EXAMPL%65.org:80/a", "http://%65xample.org/a"] {
            assert_eq!(normalise(raw, None).as_deref(), Some("http://example.org/a"), "{raw}");
            assert_eq!(identity(raw).as_deref(), Some("http://example.org/a"), "{raw}");
            assert!(is_decorated(raw), "{raw}");
        }
        let letters = ["http://b%C3%BCcher.example/", "http://bücher.example/", "http://xn--bcher-kva.example/"];
        assert!(letters.iter().all(|raw| normalise(raw, None).as_deref() == Some(letters[2])));
        assert!(is_decorated(letters[0]) && !is_decorated(letters[2]));
        assert_eq!(normalise("http://exa%2Fmple.org/", None), None);
    }

    #[test]
    fn equal_pages_have_one_fingerprint_form_and_keep_their_urls() {
        let groups: [&[&str]; 6] = [
            &["https://e.org/a/b", "https://e.org//a///b"],
            &["https://e.org/a/", "https://e.org/a//", "https://e.org/a/index.html", "https://e.org/a/Index.PHP"],
            &["https://e.org/", "https://e.org/index.html", "https://e.org//default.aspx"],
            &["https://e.org/l?a=1&b=2", "https://e.org/l?b=2&a=1", "https://e.org/l?b=2&sid=0123456789abcdef&a=1"],
            &["https://e.org/?x=1", "https://e.org/index.php?x=1"],
            &[
                "https://e.org/a/b",
                "https://e.org/sid-0123456789abcdef/a/b",
                "https://e.org/a/session=0f0f0f0f0f0f0f0f/b",
            ],
        ];
        for group in groups {
            for url in group {
                assert_eq!(fingerprint_form(url), group[0], "{url}");
                assert_eq!(normalise(url, None).as_deref(), Some(*url), "the URL itself stays");
            }
        }
        let kept = ["https://e.org/story?sid=12345", "https://e.org/a", "https://e.org/?session=summer"];
        for kept in kept.into_iter().chain(["https://e.org/session-of-the-town-council/", "https://e.org/sid-12345/"]) {
            assert_eq!(fingerprint_form(kept), kept);
        }
    }

    #[test]
    fn links_are_resolved_as_they_are_normalised() {
        let base = Url::parse("https://e.org/b/c").unwrap();
        for raw in ["../a#x", "//f.org/x?utm_source=1", "mailto:a@b.c", " d;jsessionid=1 ", "", "%7Eada"] {
            assert_eq!(resolve(raw, &base), normalise(raw, Some(base.as_str())), "{raw}");
        }
    }

    #[test]
    fn the_form_of_ids_keeps_escapes_and_session_ids() {
        let old = "https://e.org/%7eada/caf%c3%a9;jsessionid=1";
        assert_eq!(identity(old).as_deref(), Some(old));
        assert_eq!(identity("https://e.org/a?utm_source=x#c").as_deref(), Some("https://e.org/a"));
    }

    #[test]
    fn earlier_forms_have_the_normal_form_of_the_url() {
        let url = "https://e.org/~ada/caf%C3%A9";
        let forms = earlier_forms(url);
        assert!(forms.contains(&"https://e.org/~ada/caf%c3%a9".to_owned()), "{forms:?}");
        assert!(forms.contains(&"https://e.org/%7Eada/caf%C3%A9".to_owned()), "{forms:?}");
        assert!(forms.iter().all(|form| normalise(form, None).as_deref() == Some(url)), "{forms:?}");
        assert!(earlier_forms("https://e.org/plain").is_empty());
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
