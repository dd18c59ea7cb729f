//! What the head of a page says about its use, copied as it stands. Nothing is judged here.

use std::collections::BTreeMap;

use crate::facts::Facts;

/// The metas that speak of use.
const NAMES: [&str; 3] = ["robots", "tdm-reservation", "tdm-policy"];
/// No value is kept longer.
const MOST_BYTES: usize = 500;

/// The words of each meta that speaks of use; several of one name are joined, as for headers.
pub fn rights(facts: &Facts<'_>) -> BTreeMap<String, String> {
    let mut rights = BTreeMap::new();
    for name in NAMES {
        let mut words =
            facts.meta(name).map(str::trim).filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ");
        words.truncate(words.floor_char_boundary(MOST_BYTES));
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
    fn the_head_is_heard_and_other_metas_are_not() {
        let html = "<meta name=Robots content='noindex'><meta name=robots content=' noai '><meta name=viewport content=1>\
            <meta name=tdm-reservation content=1>";
        let tree = tree::parse(html);
        let rights = rights(&Facts::read(&tree));
        assert_eq!(
            rights.into_iter().collect::<Vec<_>>(),
            [("robots".to_owned(), "noindex, noai".to_owned()), ("tdm-reservation".to_owned(), "1".to_owned())]
        );
    }
}
