//! Counts removed tokens by their label.

use std::collections::BTreeMap;

use crate::sets::LabelledDocument;

/// Labels of copies that must be found.
pub const COPIES: [&str; 6] = ["e", "p", "b", "n1", "n2", "n5"];
/// Labels of text that must be kept.
pub const FRESH: [&str; 2] = ["f", "q"];

/// Counts of paragraphs and tokens by label.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// Tokens, tokens removed, paragraphs, paragraphs removed.
    pub labels: BTreeMap<String, [u64; 4]>,
}

/// Counts words and punctuation marks.
pub fn tokens(text: &str) -> u64 {
    let mut count = 0;
    let mut in_word = false;
    for c in text.chars() {
        let is_word = c.is_alphanumeric() || c == '_';
        count += u64::from((is_word && !in_word) || (!is_word && !c.is_whitespace()));
        in_word = is_word;
    }
    count
}

impl Score {
    /// Adds a document with the verdicts on its paragraphs.
    pub fn add(&mut self, case: &LabelledDocument, removed: impl IntoIterator<Item = bool>) {
        for ((paragraph, label), removed) in case.paragraphs.iter().zip(&case.labels).zip(removed) {
            let tokens = tokens(paragraph);
            let row = self.labels.entry(label.clone()).or_default();
            row[0] += tokens;
            row[2] += 1;
            if removed {
                row[1] += tokens;
                row[3] += 1;
            }
        }
    }

    fn sum(&self, labels: &[&str], column: usize) -> f64 {
        labels.iter().filter_map(|label| self.labels.get(*label)).map(|row| row[column]).sum::<u64>() as f64
    }

    /// The number of tokens.
    pub fn tokens(&self) -> u64 {
        self.labels.values().map(|row| row[0]).sum()
    }

    /// The share of a label's tokens that was removed.
    pub fn removed(&self, label: &str) -> f64 {
        self.sum(&[label], 1) / self.sum(&[label], 0).max(1.0)
    }

    /// Recall: the share of copies with up to 5 % edits that was removed.
    pub fn recall(&self) -> f64 {
        self.sum(&COPIES, 1) / self.sum(&COPIES, 0).max(1.0)
    }

    /// Precision: the share of such copies in the removed text; copies with more edits are ignored.
    pub fn precision(&self) -> f64 {
        let right = self.sum(&COPIES, 1);
        right / (right + self.sum(&FRESH, 1)).max(1.0)
    }

    /// A table row: recall, precision, and the share removed of each label, in per cent.
    pub fn row(&self, name: &str) -> String {
        let labels = ["e", "p", "b", "n1", "n2", "n5", "n10", "n20", "q", "f"];
        let cells: Vec<String> = labels.map(|label| format!("{:.2}", self.removed(label) * 100.0)).into();
        let head = format!("| {name} | {:.3} | {:.3} |", self.recall() * 100.0, self.precision() * 100.0);
        format!("{head} {} |", cells.join(" | "))
    }

    /// The table header.
    pub fn head() -> &'static str {
        "| | recall | precision | e | p | b | n1 | n2 | n5 | n10 | n20 | q | f |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_words_and_marks() {
        assert_eq!(tokens("“Yes,” he said: 3.5!"), 11);
        assert_eq!(tokens("  "), 0);
    }
}
