//! The topic of a crawl: terms that a page must have to count ("instant corpus").
//!
//! Terms are matched on the clean text, without regard to case: menus and link lists name many topics. One mention says
//! little about a text, so a page needs several terms, or one of them often.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use tidings_lang::is_unspaced;
use url::Url;

/// The reason for which pages without the terms are not kept.
pub(super) const OFF_TOPIC: &str = "off-topic";
/// The number of different terms that a page needs, if there are so many.
const MIN_TERMS: usize = 2;
/// The longest distance between two mentions on such a page, in words on average.
const WORDS_A_MENTION: usize = 300;
/// The number of mentions that make up for different terms.
const MANY_MENTIONS: usize = 3;
/// The longest distance between two of these.
const WORDS_OF_MANY: usize = 100;

/// The terms of arguments: separated by commas, or files with a term in each line.
pub fn terms(arguments: &[String]) -> Result<Vec<String>> {
    let mut terms = Vec::new();
    for argument in arguments {
        let text = match Path::new(argument).is_file() {
            true => std::fs::read_to_string(argument).with_context(|| format!("cannot read {argument}"))?,
            false => argument.clone(),
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        terms.extend(lines.flat_map(|line| line.split(',')).map(|term| term.trim().to_lowercase()));
    }
    terms.retain(|term| !term.is_empty());
    terms.sort();
    terms.dedup();
    match terms.iter().find(|term| words(term).next().is_none()) {
        Some(term) => bail!("the topic word `{term}` has no letters; give words such as `glacier` or `glaci*`"),
        None if terms.is_empty() && !arguments.is_empty() => {
            bail!("--topic has no words; give some such as `glacier, ice sheet`, or a file with one in each line")
        }
        None => Ok(terms),
    }
}

/// A word of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TermWord {
    text: String,
    /// Whether any ending may follow: `glaci*`.
    is_prefix: bool,
}

impl TermWord {
    fn matches(&self, word: &str) -> bool {
        if self.is_prefix { word.starts_with(&self.text) } else { word == self.text }
    }
}

/// The terms of a topic, ready to be searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Topic {
    /// The words of each term.
    terms: Vec<Vec<TermWord>>,
    /// Terms by their first word.
    by_word: HashMap<String, Vec<usize>>,
    /// Terms whose first word is a prefix.
    by_prefix: Vec<usize>,
    /// Terms in scripts without spaces, which may stand inside a run of letters.
    unspaced: Vec<(usize, String)>,
}

impl Topic {
    pub(super) fn of(terms: &[String]) -> Topic {
        let mut topic = Topic::default();
        for (at, term) in terms.iter().enumerate() {
            let pattern: Vec<TermWord> = term
                .split_whitespace()
                .flat_map(|part| {
                    let last = words(part).count().saturating_sub(1);
                    let is_prefix = part.ends_with('*');
                    words(part).enumerate().map(move |(at, text)| TermWord { text, is_prefix: is_prefix && at == last })
                })
                .collect();
            match pattern.first() {
                Some(_) if term.chars().any(is_unspaced) => {
                    topic.unspaced.push((at, term.replace('*', "").to_lowercase()));
                }
                Some(first) if first.is_prefix => topic.by_prefix.push(at),
                Some(first) => topic.by_word.entry(first.text.clone()).or_default().push(at),
                None => {}
            }
            topic.terms.push(pattern);
        }
        topic
    }

    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether a text is about the topic. A crawl without a topic takes every text.
    pub(super) fn covers(&self, text: &str) -> bool {
        if self.is_empty() {
            return true;
        }
        let found = self.find(text);
        let needed = MIN_TERMS.min(self.terms.len());
        found.terms >= needed && found.mentions * WORDS_A_MENTION >= found.words
            || found.mentions >= MANY_MENTIONS && found.mentions * WORDS_OF_MANY >= found.words
    }

    /// Whether a link promises a page about the topic: its anchor or its URL has a term.
    pub(super) fn is_in_link(&self, anchor: &str, url: &Url) -> bool {
        if self.is_empty() {
            return false;
        }
        // Letters beyond ASCII are escaped in paths.
        let path = url::form_urlencoded::parse(url.path().as_bytes());
        self.find(anchor).mentions > 0
            || path.into_iter().any(|(name, value)| self.find(&name).mentions + self.find(&value).mentions > 0)
    }

    fn find(&self, text: &str) -> Mentions {
        let all: Vec<String> = words(text).collect();
        let mut counts = vec![0; self.terms.len()];
        for (at, word) in all.iter().enumerate() {
            let exact = self.by_word.get(word).into_iter().flatten();
            for term in exact.chain(&self.by_prefix) {
                let pattern = &self.terms[*term];
                let is_here = all.get(at..at + pattern.len());
                if is_here.is_some_and(|here| pattern.iter().zip(here).all(|(known, word)| known.matches(word))) {
                    counts[*term] += 1;
                }
            }
        }
        if !self.unspaced.is_empty() {
            let text = text.to_lowercase();
            for (term, pattern) in &self.unspaced {
                counts[*term] += text.matches(pattern.as_str()).count();
            }
        }
        // A run of letters in a script without spaces is not one word: two letters are about one.
        let unspaced = if self.unspaced.is_empty() { 0 } else { text.chars().filter(|c| is_unspaced(*c)).count() / 2 };
        Mentions {
            terms: counts.iter().filter(|count| **count > 0).count(),
            mentions: counts.iter().sum(),
            words: all.len() + unspaced,
        }
    }
}

/// Mentions of terms in a text.
struct Mentions {
    /// Different terms.
    terms: usize,
    mentions: usize,
    /// Words of the text.
    words: usize,
}

/// The words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    // Combining marks are parts of words in many scripts.
    let is_part =
        |c: char| c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{dff}' | '\u{200d}');
    text.split(move |c: char| !is_part(c)).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(text: &str) -> Topic {
        Topic::of(&terms(&[text.to_owned()]).unwrap())
    }

    fn filler(words: usize) -> String {
        "word ".repeat(words)
    }

    #[test]
    fn a_page_needs_two_different_terms_that_are_not_far_apart() {
        let topic = topic("glacier, ice sheet, moraine");
        assert!(topic.covers("The Glacier left a moraine behind."));
        assert!(topic.covers("The ICE sheet and the glacier"));
        assert!(!topic.covers("The glacier is far away."), "one mention");
        assert!(!topic.covers("The sheet of ice and the glacier"), "the words of a term stand together");
        assert!(!topic.covers(&format!("glacier moraine {}", filler(700))), "two mentions in a long text");
        assert!(topic.covers(&format!("glacier moraine {}", filler(500))));
    }

    #[test]
    fn one_term_that_is_mentioned_often_is_enough() {
        let topic = topic("glacier, moraine");
        assert!(topic.covers(&format!("glacier glacier glacier {}", filler(200))));
        assert!(!topic.covers(&format!("glacier glacier glacier {}", filler(400))));
    }

    #[test]
    fn a_single_term_must_occur() {
        let topic = topic("glacier");
        assert!(topic.covers("A glacier.") && !topic.covers("Glaciers are cold."));
        assert!(Topic::default().covers("anything"));
    }

    #[test]
    fn an_asterisk_stands_for_any_ending_and_case_does_not_matter() {
        let topic = topic("Gletscher*, МОРЕНА*");
        assert!(topic.covers("Die Gletscherzunge und eine моренами"));
        assert!(!topic.covers("Schneegletscher"));
    }

    #[test]
    fn scripts_without_spaces_are_searched_inside_runs() {
        let topic = topic("氷河, 気候");
        assert!(topic.covers("この氷河は気候変動で後退している。"));
        assert!(!topic.covers("この山は高い。"));
    }

    #[test]
    fn links_are_promising_by_their_anchor_or_url() {
        let ice = topic("ice sheet, glacier");
        let link = |anchor: &str, url: &str| ice.is_in_link(anchor, &Url::parse(url).unwrap());
        assert!(link("The ice sheet shrinks", "http://a.example/1"));
        assert!(link("Read more", "http://a.example/2026/a-glacier-is-gone.html"));
        assert!(topic("ледник").is_in_link("", &Url::parse("http://a.example/новый-ледник").unwrap()));
        assert!(!link("Read more", "http://glacier.example/1") && !link("Ice cream", "http://a.example/1"));
        assert!(!Topic::default().is_in_link("glacier", &Url::parse("http://a.example/").unwrap()));
    }

    #[test]
    fn terms_are_separated_by_commas_or_lines_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("topic.txt");
        std::fs::write(&file, "# ice\nGlacier\n\nice sheet, moraine\n").unwrap();
        let given = [file.display().to_string(), "glacier,  Firn".to_owned()];
        assert_eq!(terms(&given).unwrap(), ["firn", "glacier", "ice sheet", "moraine"]);
        assert!(terms(&[]).unwrap().is_empty());
        assert!(terms(&[" , ".to_owned()]).unwrap_err().to_string().contains("--topic has no words"));
        assert!(terms(&["***".to_owned()]).unwrap_err().to_string().contains("no letters"));
    }
}
