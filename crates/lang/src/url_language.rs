//! Languages that URLs name: `/en/`, `cs.example.org`, `?lang=de`.

use url::Url;

use crate::registry::language;

/// Segments of a path that are looked at.
const MAX_SEGMENTS: usize = 4;
/// Parameters of a query that are looked at.
const MAX_PARAMETERS: usize = 20;

/// The codes of the languages named in a URL: in a path segment, the first label or a query parameter.
///
/// ```
/// let named = |url: &str| tidings_lang::named_languages(&url.parse().unwrap());
/// assert_eq!(named("https://example.org/cs/zpravy"), ["cs"]);
/// assert_eq!(named("https://de.example.org/x?lang=en-US"), ["de", "en"]);
/// assert!(named("https://example.org/is/de-mail").is_empty());
/// ```
pub fn named_languages(url: &Url) -> Vec<&'static str> {
    let mut named = Vec::new();
    named.extend(url.path_segments().into_iter().flatten().take(MAX_SEGMENTS).filter_map(code_of));
    let mut labels = url.host_str().unwrap_or_default().split('.');
    if let Some(first) = labels.next().filter(|_| labels.count() >= 2) {
        named.extend(code_of(first));
    }
    let parameter = |key: &str| matches!(key, "lang" | "language" | "hl" | "locale" | "l");
    let parameters = url.query_pairs().take(MAX_PARAMETERS).filter(|pair| parameter(&pair.0));
    named.extend(parameters.filter_map(|pair| code_of(&pair.1)));
    named
}

/// The language of a code as URLs have it, if the code is no common word.
fn code_of(word: &str) -> Option<&'static str> {
    // `en` and `en-us` are codes, `de-mail` is a word.
    let primary = word.split(['-', '_']).next().unwrap_or_default();
    let whole = primary.len() == word.len() || word.len() == 5;
    if !whole || word.eq_ignore_ascii_case("uk") {
        return None;
    }
    let known = language(primary)?;
    (known.is_url_code && known.code.eq_ignore_ascii_case(primary)).then_some(known.code)
}
