//! Scores: segment and 4-gram precision and recall for text, exact match for dates, titles and
//! authors.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

/// Counts of annotated segments over pages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Segments {
    /// True positives: required and present.
    pub found: usize,
    /// False negatives: required and missing.
    pub missed: usize,
    /// False positives: unwanted and present.
    pub leaked: usize,
    /// True negatives: unwanted and absent.
    pub kept_out: usize,
}

impl Segments {
    /// Counts the segments of one page.
    pub fn of(text: &str, with: &[String], without: &[String]) -> Segments {
        let text = squash(text);
        let there = |segment: &&String| text.contains(&squash(segment));
        let found = with.iter().filter(there).count();
        let leaked = without.iter().filter(there).count();
        Segments { found, missed: with.len() - found, leaked, kept_out: without.len() - leaked }
    }

    /// Adds the counts of another page.
    pub fn add(&mut self, other: Segments) {
        self.found += other.found;
        self.missed += other.missed;
        self.leaked += other.leaked;
        self.kept_out += other.kept_out;
    }

    /// Share of present segments that are required.
    pub fn precision(&self) -> f64 {
        self.found as f64 / (self.found + self.leaked) as f64
    }

    /// Share of required segments that are present.
    pub fn recall(&self) -> f64 {
        self.found as f64 / (self.found + self.missed) as f64
    }

    /// F1 score.
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

    /// F1 of the mean precision and mean recall.
    pub fn f(&self) -> f64 {
        2.0 * self.precision() * self.recall() / (self.precision() + self.recall()).max(f64::MIN_POSITIVE)
    }
}

/// Precision and recall of one page in word 4-grams.
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

/// Hashes of the word 4-grams; a shorter text is one n-gram.
pub fn runs(words: &[u64]) -> impl Iterator<Item = u64> {
    let length = words.len().clamp(1, 4);
    words.windows(length).map(|run| {
        let bytes: Vec<u8> = run.iter().flat_map(|word| word.to_le_bytes()).collect();
        xxh3_64(&bytes)
    })
}

/// Hashes of the words: runs of word characters, or single characters of Chinese and Japanese.
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

/// Pages whose text contains reader comments.
#[derive(Debug, Clone, Copy, Default)]
pub struct CommentLeaks {
    /// Pages with annotated comments.
    pub pages: usize,
    /// Pages with more than half of the comments in the text.
    pub leaking: usize,
}

impl CommentLeaks {
    /// Counts a page. A line of the comments leaks if at least half of its word 4-grams are in the text; lines of
    /// fewer than five words, such as names and dates, are not counted.
    pub fn add(&mut self, text: &str, comments: &[String]) {
        let inside = counts(text);
        let (mut all, mut leaked) = (0, 0);
        for line in comments {
            let line = words(line);
            if line.len() < 5 {
                continue;
            }
            let (mut count, mut found) = (0, 0);
            for run in runs(&line) {
                count += 1;
                found += usize::from(inside.contains_key(&run));
            }
            all += 1;
            leaked += usize::from(found * 2 >= count);
        }
        if all > 0 {
            self.pages += 1;
            self.leaking += usize::from(leaked * 2 > all);
        }
    }

    /// Share of pages that leak.
    pub fn share(&self) -> f64 {
        self.leaking as f64 / self.pages as f64
    }
}

/// Counts of right, wrong and missing dates.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dates {
    /// Right date.
    pub right: usize,
    /// Wrong date.
    pub wrong: usize,
    /// No date, although annotated.
    pub missing: usize,
    /// A date, although annotated as undated.
    pub invented: usize,
    /// No date, as annotated.
    pub none: usize,
}

impl Dates {
    /// Counts a page. Only the day is compared; an empty `gold` means undated.
    pub fn add(&mut self, given: Option<&str>, gold: &str) {
        let given = given.map(|given| given.get(..10).unwrap_or(given)).filter(|given| !given.is_empty());
        let gold = month_before_day(gold);
        match given {
            Some(_) if gold.is_empty() => self.invented += 1,
            Some(given) if given == gold => self.right += 1,
            Some(_) => self.wrong += 1,
            None if gold.is_empty() => self.none += 1,
            None => self.missing += 1,
        }
    }

    /// Share of given dates that are right, on dated pages.
    pub fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong) as f64
    }

    /// Right dates among right and missing ones; a wrong date costs precision only, as in the
    /// evaluation of htmldate.
    pub fn recall(&self) -> f64 {
        self.right as f64 / (self.right + self.missing) as f64
    }

    /// F1 score.
    pub fn f(&self) -> f64 {
        2.0 * self.right as f64 / (2 * self.right + self.wrong + self.missing) as f64
    }

    /// Share of dated pages with the right date.
    pub fn share(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong + self.missing) as f64
    }

    /// Share of undated pages without a date. Reported separately, because such pages often contain
    /// some date that annotators did not count.
    pub fn undated(&self) -> f64 {
        self.none as f64 / (self.none + self.invented) as f64
    }
}

/// An annotated date with the month before the day: some annotations have `2022-29-11`.
fn month_before_day(gold: &str) -> String {
    match gold.split('-').collect::<Vec<_>>()[..] {
        [year, day, month] if day.parse().is_ok_and(|day: u8| day > 12) => format!("{year}-{month}-{day}"),
        _ => gold.to_owned(),
    }
}

/// Counts of right answers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Answers {
    /// Number of pages.
    pub pages: usize,
    /// Number of right answers.
    pub right: usize,
}

impl Answers {
    /// Counts a page.
    pub fn add(&mut self, right: bool) {
        self.pages += 1;
        self.right += usize::from(right);
    }

    /// Share of right answers.
    pub fn share(&self) -> f64 {
        self.right as f64 / self.pages as f64
    }
}

/// Returns whether two titles are equal, ignoring case and punctuation.
pub fn same_title(given: &str, gold: &str) -> bool {
    plain(given) == plain(gold)
}

/// Returns whether two titles are equal or one is a prefix of the other, as with an appended site
/// name.
pub fn similar_title(given: &str, gold: &str) -> bool {
    let (given, gold) = (plain(given), plain(gold));
    let within = |part: &str, whole: &str| format!(" {whole} ").contains(&format!(" {part} "));
    given == gold || (!given.is_empty() && !gold.is_empty() && (within(&given, &gold) || within(&gold, &given)))
}

/// Returns whether two lists contain the same authors, in any order.
pub fn same_authors(given: &[String], gold: &[String]) -> bool {
    let set = |names: &[String]| {
        let mut names: Vec<String> = names.iter().map(|name| plain(name)).filter(|name| !name.is_empty()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    set(given) == set(gold)
}

/// Splits a byline at semicolons and conjunctions, and at commas if all parts have a given and a family name; other
/// commas are within a name or before a position.
pub fn split_authors(byline: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in byline.split(';').flat_map(|part| split_all(part, &[" and ", " und ", " & "])) {
        let listed: Vec<&str> = part.split(',').map(str::trim).collect();
        let is_list = listed.iter().all(|name| (2..=4).contains(&name.split(' ').count()));
        if is_list { names.extend(listed) } else { names.push(part.trim()) }
    }
    names.into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn split_all<'t>(text: &'t str, separators: &[&str]) -> Vec<&'t str> {
    separators
        .iter()
        .fold(vec![text], |parts, separator| parts.into_iter().flat_map(|part| part.split(separator)).collect())
}

/// Lower-cased text without punctuation, white space collapsed.
fn plain(text: &str) -> String {
    let kept: String = text.to_lowercase().chars().filter(|c| c.is_alphanumeric() || c.is_whitespace()).collect();
    squash(&kept)
}

/// Text with white space collapsed.
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
        // Day and month of the annotation are swapped, which only an impossible month shows.
        dates.add(Some("2022-11-29"), "2022-29-11");
        dates.add(Some("2022-10-11"), "2022-11-10");
        assert_eq!((dates.right, dates.wrong), (2, 2));
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
        let listed = names("Ada B, Cem D & Eva F; Gil H");
        assert_eq!(listed, ["Ada B", "Cem D", "Eva F", "Gil H"]);
        assert_eq!(names("Ada B und Cem D"), ["Ada B", "Cem D"]);
        // Not lists.
        assert_eq!(names("Kaufman, Jeff T."), ["Kaufman, Jeff T."]);
        assert_eq!(names("Ada B, CFP"), ["Ada B, CFP"]);
    }
}
