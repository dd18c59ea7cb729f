//! Decisions about new words, in `neologisms.tsv`, and lists of words to leave out, in `neologism-lists.tsv`.
//!
//! Decisions are a history: the last one about a word counts, and the earlier ones stay, so that a reader can see who changed
//! what and when. They are about words, not about a run, and so hold for all later ones.

use tidings_storage::write_atomic;

use crate::error::Result;
use crate::home::Home;
use crate::table::{self, columns};

/// The most decisions of a home.
pub const MAX_DECISIONS: usize = 200_000;
/// The most words on all lists.
pub const MAX_LISTED: usize = 200_000;
/// The longest word, and the longest note, in characters.
pub const MAX_WORD_CHARS: usize = 100;
/// The longest note in characters.
pub const MAX_NOTE_CHARS: usize = 2000;

/// A decision about a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    /// The time.
    pub decided: String,
    /// The language of the corpus.
    pub lang: String,
    /// The word in lower case.
    pub word: String,
    /// `accepted`, `rejected`, `later`, or `open`, which takes a decision back.
    pub status: String,
    /// The word that this is a variant of, in lower case; empty if of none.
    pub variant_of: String,
    /// The note.
    pub note: String,
}

columns!(Decision { decided, lang, word, status, variant_of, note });

/// A word on a list of words to leave out.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedWord {
    /// The language of the corpus.
    pub lang: String,
    /// The name of the list.
    pub list: String,
    /// The word in lower case.
    pub word: String,
}

columns!(ListedWord { lang, list, word });

/// The states that decisions give.
pub const STATES: [&str; 4] = ["open", "accepted", "rejected", "later"];

/// The form in which words are decided about and listed: lower case, single blanks. An error says what is wrong with it.
pub fn key(word: &str) -> std::result::Result<String, String> {
    let key = word.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    match key.chars().count() {
        1..=MAX_WORD_CHARS if !key.chars().any(char::is_control) => Ok(key),
        _ => Err(format!("a word has 1 to {MAX_WORD_CHARS} characters")),
    }
}

/// Appends a decision. An error says what is wrong with it.
pub fn decide(known: &mut Vec<Decision>, new: Decision) -> std::result::Result<Decision, String> {
    let mut new = Decision { word: key(&new.word)?, note: new.note.trim().to_owned(), ..new };
    if !STATES.contains(&new.status.as_str()) {
        return Err(format!("no such status `{}`; give one of {}", new.status, STATES.join(", ")));
    }
    if new.note.chars().count() > MAX_NOTE_CHARS {
        return Err(format!("a note has at most {MAX_NOTE_CHARS} characters"));
    }
    if !new.variant_of.is_empty() {
        new.variant_of = key(&new.variant_of)?;
        if chain(known, &new.lang, &new.variant_of).any(|word| word == new.word) {
            return Err(format!("`{}` would be a variant of itself", new.word));
        }
    }
    if known.len() >= MAX_DECISIONS {
        return Err(format!("there are {MAX_DECISIONS} decisions already"));
    }
    known.push(new.clone());
    Ok(new)
}

/// A word and what it is a variant of, one after the other.
fn chain<'k>(known: &'k [Decision], lang: &'k str, word: &'k str) -> impl Iterator<Item = &'k str> {
    let next = move |word: &&str| {
        let last = known.iter().rev().find(|decision| decision.lang == lang && decision.word == **word);
        last.map(|decision| decision.variant_of.as_str()).filter(|next| !next.is_empty())
    };
    std::iter::successors(Some(word), next).take(known.len() + 1)
}

/// The decisions that count for a language: the last one about each word.
pub fn latest(known: Vec<Decision>, lang: &str) -> std::collections::BTreeMap<String, Decision> {
    let of_language = known.into_iter().filter(|decision| decision.lang == lang);
    of_language.map(|decision| (decision.word.clone(), decision)).collect()
}

/// Puts words on a list; returns how many are new on it.
pub fn list_words(
    known: &mut Vec<ListedWord>,
    (lang, list): (&str, &str),
    words: impl IntoIterator<Item = String>,
) -> std::result::Result<usize, String> {
    let before = known.len();
    let mut there: std::collections::BTreeSet<ListedWord> = known.drain(..).collect();
    for word in words {
        there.insert(ListedWord { lang: lang.to_owned(), list: list.to_owned(), word: key(&word)? });
    }
    known.extend(there);
    match known.len() <= MAX_LISTED {
        true => Ok(known.len().saturating_sub(before)),
        false => Err(format!("all lists together have at most {MAX_LISTED} words")),
    }
}

/// All decisions, the oldest first.
pub fn read(home: &Home) -> Result<Vec<Decision>> {
    let mut known = Vec::new();
    table::read(&home.root().join("neologisms.tsv"), |decision| known.push(decision))?;
    Ok(known)
}

/// Replaces all decisions.
pub fn write(home: &Home, known: Vec<Decision>) -> Result<()> {
    Ok(write_atomic(&home.root().join("neologisms.tsv"), table::text(known.into_iter()).as_bytes())?)
}

/// All listed words.
pub fn read_lists(home: &Home) -> Result<Vec<ListedWord>> {
    let mut known = Vec::new();
    table::read(&home.root().join("neologism-lists.tsv"), |word| known.push(word))?;
    Ok(known)
}

/// Replaces all listed words.
pub fn write_lists(home: &Home, mut known: Vec<ListedWord>) -> Result<()> {
    known.sort();
    known.dedup();
    Ok(write_atomic(&home.root().join("neologism-lists.tsv"), table::text(known.into_iter()).as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    #[test]
    fn decisions_are_stored_in_their_order_and_lists_without_repetition() {
        let (_folder, home) = home();
        assert!(read(&home).unwrap().is_empty() && read_lists(&home).unwrap().is_empty());
        let decision = |status: &str, note: &str| Decision {
            lang: "en".into(),
            word: "rainbank".into(),
            status: status.into(),
            note: note.into(),
            ..Decision::default()
        };
        let decisions = vec![decision("later", "two\tcolumns\nand lines"), decision("accepted", "")];
        assert_eq!(latest(decisions.clone(), "en")["rainbank"].status, "accepted");
        write(&home, decisions.clone()).unwrap();
        assert_eq!(read(&home).unwrap(), decisions);
        let word = |word: &str| ListedWord { lang: "en".into(), list: "firms".into(), word: word.into() };
        write_lists(&home, vec![word("b"), word("a"), word("b")]).unwrap();
        assert_eq!(read_lists(&home).unwrap(), [word("a"), word("b")]);
    }

    #[test]
    fn decisions_are_checked_before_they_are_kept() {
        let decision = |word: &str, status: &str, variant_of: &str| Decision {
            lang: "en".into(),
            word: word.into(),
            status: status.into(),
            variant_of: variant_of.into(),
            ..Decision::default()
        };
        let mut known = Vec::new();
        assert_eq!(decide(&mut known, decision(" Rain  Bank ", "later", "")).unwrap().word, "rain bank");
        decide(&mut known, decision("rain bank", "open", "Rainbank")).unwrap();
        decide(&mut known, decision("rainbank", "accepted", "regenbank")).unwrap();
        assert!(
            decide(&mut known, decision("regenbank", "open", "rain bank")).unwrap_err().contains("variant of itself")
        );
        assert!(decide(&mut known, decision("x", "maybe", "")).unwrap_err().contains("accepted, rejected"));
        assert!(decide(&mut known, decision(" ", "open", "")).is_err());
        assert!(decide(&mut known, decision("a\u{7}", "open", "")).is_err());
        assert_eq!(known.len(), 3);
    }

    #[test]
    fn words_are_on_a_list_once() {
        let mut known = Vec::new();
        let words = || ["Acme".to_owned(), "acme".to_owned(), "Zeta".to_owned()];
        assert_eq!(list_words(&mut known, ("en", "firms"), words()), Ok(2));
        assert_eq!(list_words(&mut known, ("en", "firms"), words()), Ok(0));
        assert!(list_words(&mut known, ("en", "firms"), ["x".repeat(101)]).is_err());
    }
}
