//! How an extraction is scored: stretches found and leaked, shared runs of four words, and for what is
//! said about a page, equality of days, headlines and names.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

/// Counts of annotated stretches over pages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Segments {
    /// Wanted and there.
    pub found: usize,
    /// Wanted and not there.
    pub missed: usize,
    /// Unwanted and there.
    pub leaked: usize,
    /// Unwanted and not there.
    pub kept_out: usize,
}

impl Segments {
    /// Counts the stretches of one page.
    pub fn of(text: &str, with: &[String], without: &[String]) -> Segments {
        let text = squash(text);
        let there = |segment: &&String| text.contains(&squash(segment));
        let found = with.iter().filter(there).count();
        let leaked = without.iter().filter(there).count();
        Segments { found, missed: with.len() - found, leaked, kept_out: without.len() - leaked }
    }

    /// Adds another page.
    pub fn add(&mut self, other: Segments) {
        self.found += other.found;
        self.missed += other.missed;
        self.leaked += other.leaked;
        self.kept_out += other.kept_out;
    }

    /// The share of what is there that is wanted.
    pub fn precision(&self) -> f64 {
        self.found as f64 / (self.found + self.leaked) as f64
    }

    /// The share of what is wanted that is there.
    pub fn recall(&self) -> f64 {
        self.found as f64 / (self.found + self.missed) as f64
    }

    /// The harmonic mean of both.
    pub fn f(&self) -> f64 {
        2.0 * self.found as f64 / (2 * self.found + self.leaked + self.missed) as f64
    }
}

/// Mean precision and recall over pages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shingles {
    pages: usize,
    precision: f64,
    recall: f64,
}

impl Shingles {
    /// Adds a page.
    pub fn add(&mut self, (precision, recall): (f64, f64)) {
        self.pages += 1;
        self.precision += precision;
        self.recall += recall;
    }

    /// Mean precision.
    pub fn precision(&self) -> f64 {
        self.precision / self.pages as f64
    }

    /// Mean recall.
    pub fn recall(&self) -> f64 {
        self.recall / self.pages as f64
    }

    /// The harmonic mean of both means.
    pub fn f(&self) -> f64 {
        2.0 * self.precision() * self.recall() / (self.precision() + self.recall()).max(f64::MIN_POSITIVE)
    }
}

/// Precision and recall of one page in runs of four words.
pub fn shingles(text: &str, gold: &str) -> (f64, f64) {
    let (ours, theirs) = (counts(text), counts(gold));
    let total = |counts: &HashMap<u64, usize>| counts.values().sum::<usize>();
    let shared: usize = ours.iter().map(|(run, count)| (*count).min(theirs.get(run).copied().unwrap_or(0))).sum();
    let share = |of: usize| if of == 0 { 0.0 } else { shared as f64 / of as f64 };
    (share(total(&ours)), share(total(&theirs)))
}

fn counts(text: &str) -> HashMap<u64, usize> {
    let mut counts = HashMap::new();
    for run in runs(&words(text)) {
        *counts.entry(run).or_default() += 1;
    }
    counts
}

/// The runs of four words, hashed; a shorter text is one run.
pub fn runs(words: &[u64]) -> impl Iterator<Item = u64> {
    let length = words.len().clamp(1, 4);
    words.windows(length).map(|run| {
        let bytes: Vec<u8> = run.iter().flat_map(|word| word.to_le_bytes()).collect();
        xxh3_64(&bytes)
    })
}

/// The words of a text, hashed: runs of word characters, or single characters of Chinese and Japanese.
pub fn words(text: &str) -> Vec<u64> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        let alone = is_cjk(c);
        if !alone && (c.is_alphanumeric() || c == '_') {
            start.get_or_insert(at);
            continue;
        }
        if let Some(start) = start.take() {
            words.push(xxh3_64(&text.as_bytes()[start..at]));
        }
        if alone {
            words.push(u64::from(c));
        }
    }
    if let Some(start) = start {
        words.push(xxh3_64(&text.as_bytes()[start..]));
    }
    words
}

fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

/// Days given, right, wrong and missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dates {
    /// Given and right.
    pub right: usize,
    /// Given and not the day.
    pub wrong: usize,
    /// Not given, although the page has one.
    pub missing: usize,
    /// Given, although people found none.
    pub invented: usize,
    /// Rightly not given.
    pub none: usize,
}

impl Dates {
    /// Counts a page. Only the day counts, so a time of day may follow; no day is an empty string.
    pub fn add(&mut self, given: Option<&str>, gold: &str) {
        let given = given.map(|given| given.get(..10).unwrap_or(given)).filter(|given| !given.is_empty());
        match given {
            Some(_) if gold.is_empty() => self.invented += 1,
            Some(given) if given == gold => self.right += 1,
            Some(_) => self.wrong += 1,
            None if gold.is_empty() => self.none += 1,
            None => self.missing += 1,
        }
    }

    /// The share of the days given that are right, on pages that have one.
    pub fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong) as f64
    }

    /// The share right of those that are right or missing; a wrong day costs precision only, as in
    /// the comparison of the htmldate project.
    pub fn recall(&self) -> f64 {
        self.right as f64 / (self.right + self.missing) as f64
    }

    /// The harmonic mean of both.
    pub fn f(&self) -> f64 {
        2.0 * self.right as f64 / (2 * self.right + self.wrong + self.missing) as f64
    }

    /// The share of dated pages whose day is right.
    pub fn share(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong + self.missing) as f64
    }

    /// The share of pages without a date on which none was given. It stands apart from the others
    /// because such pages often do say a day somewhere, which annotators did not count.
    pub fn undated(&self) -> f64 {
        self.none as f64 / (self.none + self.invented) as f64
    }
}

/// Answers that are right or not.
#[derive(Debug, Clone, Copy, Default)]
pub struct Answers {
    /// The pages asked.
    pub pages: usize,
    /// The right answers.
    pub right: usize,
}

impl Answers {
    /// Counts a page.
    pub fn add(&mut self, right: bool) {
        self.pages += 1;
        self.right += usize::from(right);
    }

    /// The share of right answers.
    pub fn share(&self) -> f64 {
        self.right as f64 / self.pages as f64
    }
}

/// Whether a headline is the one wanted, case and punctuation aside.
pub fn same_title(given: &str, gold: &str) -> bool {
    plain(given) == plain(gold)
}

/// Whether a headline is the one wanted or one of the two goes on where the other ends, as with the
/// name of the site.
pub fn similar_title(given: &str, gold: &str) -> bool {
    let (given, gold) = (plain(given), plain(gold));
    let within = |part: &str, whole: &str| format!(" {whole} ").contains(&format!(" {part} "));
    given == gold || (!given.is_empty() && !gold.is_empty() && (within(&given, &gold) || within(&gold, &given)))
}

/// Whether the same people are named, in any order.
pub fn same_authors(given: &[String], gold: &[String]) -> bool {
    let set = |names: &[String]| {
        let mut names: Vec<String> = names.iter().map(|name| plain(name)).filter(|name| !name.is_empty()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    set(given) == set(gold)
}

/// The names of a byline that has them parted by semicolons.
pub fn split_authors(byline: &str) -> Vec<String> {
    byline.split(';').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Lower-cased, with punctuation dropped and white space squashed.
fn plain(text: &str) -> String {
    let kept: String = text.to_lowercase().chars().filter(|c| c.is_alphanumeric() || c.is_whitespace()).collect();
    squash(&kept)
}

/// The text with every run of white space as one space.
pub fn squash(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_day_costs_precision_and_a_missing_one_recall() {
        let mut dates = Dates::default();
        dates.add(Some("2020-01-31T10:00:00Z"), "2020-01-31");
        dates.add(Some("2020-02-01"), "2020-01-31");
        dates.add(None, "2020-01-31");
        dates.add(Some(""), "");
        dates.add(Some("2020-02-01"), "");
        assert_eq!((dates.precision(), dates.recall(), dates.undated()), (0.5, 0.5, 0.5));
        assert_eq!(dates.share(), 1.0 / 3.0);
    }

    #[test]
    fn headlines_are_compared_without_case_and_punctuation() {
        assert!(same_title("Snow, at last!", "snow at  last"));
        assert!(!same_title("Snow at last | Gazette", "Snow at last"));
        assert!(similar_title("Snow at last | Gazette", "Snow at last"));
        assert!(!similar_title("Snow at lastly", "Snow at last") && !similar_title("", "Snow"));
    }

    #[test]
    fn people_are_compared_as_a_set() {
        let names = |byline| split_authors(byline);
        assert!(same_authors(&names("Ada B.; Cem D"), &names("cem d; ada b")));
        assert!(!same_authors(&names("Ada B"), &names("")));
        assert!(same_authors(&[], &names("")));
    }
}
