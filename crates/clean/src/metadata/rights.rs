//! Usage rights declared in the head of a page, copied verbatim.

use std::collections::BTreeMap;

use crate::declared_metadata::DeclaredMetadata;

/// `<meta>` elements about usage.
const NAMES: [&str; 3] = ["robots", "tdm-reservation", "tdm-policy"];
/// Maximum length of a value.
const MAX_BYTES: usize = 500;

/// The values of the usage metas; several values of one name are joined, as for HTTP headers.
pub fn rights(declared: &DeclaredMetadata<'_>) -> BTreeMap<String, String> {
    let mut rights = BTreeMap::new();
    for name in NAMES {
        let mut words =
            declared.meta(name).map(str::trim).filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ");
        words.truncate(words.floor_char_boundary(MAX_BYTES));
        if !words.is_empty() {
            rights.insert(name.to_owned(), words);
        }
    }
    rights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    #[test]
    fn usage_metas_are_copied_and_others_ignored() {
        let html = "<meta name=Robots content='noindex'><meta name=robots content=' noai '><meta name=viewport content=1>\
            <meta name=tdm-reservation content=1>";
        let tree = tree::parse(html);
        let rights = rights(&DeclaredMetadata::read(&tree));
        assert_eq!(
            rights.into_iter().collect::<Vec<_>>(),
            [("robots".to_owned(), "noindex, noai".to_owned()), ("tdm-reservation".to_owned(), "1".to_owned())]
        );
    }
}
