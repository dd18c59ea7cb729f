//! Stop words, the most frequent words of a language: they separate running text from menus.
//!
//! Most lists are those of jusText, a few thousand of the most frequent words of a Wikipedia each, because the thresholds of
//! jusText hold for these lists only. The build script takes them from the crate `justext` (BSD-2-Clause). A language
//! without such a list may have one in its folder, `stop-words.txt`, and users can bring their own with
//! [`StopList::from_lines`].

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use xxhash_rust::xxh3::Xxh3Default;

use crate::registry::{StopWords, language, primary};

// Only words from the web are looked up, and the words of a list are fixed: a hash without protection against collisions
// is safe.
type Words = HashSet<Box<str>, BuildHasherDefault<Xxh3Default>>;

/// The stop words of a language.
#[derive(Debug, Default)]
pub struct StopList {
    /// None if words are not separated by spaces.
    words: Option<Words>,
}

impl StopList {
    /// Reads a list of one word a line; empty lines and lines that begin with `#` are skipped.
    pub fn from_lines(text: &str) -> StopList {
        let words = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        StopList::of(words.map(str::to_lowercase))
    }

    /// The list of languages written without spaces, where words cannot be looked up.
    pub const fn off() -> StopList {
        StopList { words: None }
    }

    fn of(words: impl Iterator<Item = String>) -> StopList {
        StopList { words: Some(words.map(String::into_boxed_str).collect()) }
    }

    /// Returns true for languages written without spaces.
    pub fn is_off(&self) -> bool {
        self.words.is_none()
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.words.as_ref().map_or(0, HashSet::len)
    }

    /// Returns true if the list has no word.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The words in lower case, in no order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().flatten().map(|word| &**word)
    }

    /// Returns true if the word, in any case, is on the list.
    pub fn contains(&self, word: &str) -> bool {
        let Some(words) = &self.words else { return false };
        if word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
            return words.contains(word);
        }
        words.contains(word.to_lowercase().as_str())
    }
}

/// The stop words of a language, by code or tag (`de-AT`, `pt_BR`, `zh-Hant`). Languages written without spaces have a
/// list that is off.
pub fn stop_list(tag: &str) -> Option<&'static StopList> {
    static OFF: StopList = StopList::off();

    let known = language(tag).filter(|known| known.has_code(primary(tag)))?;
    let list = |read: &dyn Fn() -> StopList| known.stop_list.get_or_init(read);
    match known.stop_words {
        StopWords::Missing => None,
        StopWords::Off => Some(&OFF),
        StopWords::Own(text) => Some(list(&|| StopList::from_lines(text))),
        // Unlike in lists of our own, a `#` begins a word.
        StopWords::JusText(text) => Some(list(&|| StopList::of(text.lines().map(str::to_owned)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_list_exists() {
        let mut lists = 0;
        for language in crate::languages() {
            let Some(list) = stop_list(language.code) else { continue };
            assert!(list.is_off() || list.len() >= 10, "{} has {} words", language.code, list.len());
            lists += 1;
        }
        assert!(lists > 100, "{lists}");
    }

    #[test]
    fn region_and_script_are_ignored() {
        assert!(std::ptr::eq(stop_list("pt_BR").unwrap(), stop_list("por").unwrap()));
        assert!(stop_list("zh-Hant-TW").unwrap().is_off());
        assert!(stop_list("tlh").is_none());
        assert!(stop_list("prs").is_none(), "the list of Persian is not used for Dari");
        assert!(stop_list("").is_none());
    }

    #[test]
    fn words_are_found_in_any_case() {
        let french = stop_list("FR").unwrap();
        assert!(french.contains("À") && french.contains("les") && !french.contains("pamplemousse"));
    }

    #[test]
    fn a_list_is_read_from_lines() {
        let own = StopList::from_lines("# Klingon, for a start\nghaH\r\n\n'ej \n");
        assert_eq!(own.len(), 2);
        assert!(own.contains("GHAH") && own.contains("'ej") && !own.is_off());
    }
}
