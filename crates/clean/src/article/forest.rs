//! Weighs what is known of blocks with a forest of small decision trees.
//!
//! Every tree asks the same few questions of every block, so a tree is a list of questions and a
//! table of answers: the questions are asked of whole columns at once, without a branch. The
//! forests are fitted on annotated pages by `bench/extract`; see docs/notes/extraction.md.

use std::collections::HashMap;

/// A sum of trees.
#[derive(Debug, Clone, Default)]
pub struct Forest {
    /// The answer without any tree, in log odds.
    pub bias: f32,
    /// The trees.
    pub trees: Vec<Tree>,
}

/// A tree whose levels ask one question each.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// Column and threshold of each level: is the value above it?
    pub questions: Vec<(usize, f32)>,
    /// The answers; the first question decides the lowest bit of the place.
    pub answers: Vec<f32>,
}

impl Forest {
    /// Reads a forest written by [`Forest::write`]; columns are known by name.
    pub fn read(text: &str, columns: &[String]) -> Option<Forest> {
        let places: HashMap<&str, usize> =
            columns.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
        let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let mut forest = Forest { bias: lines.next()?.strip_prefix("bias ")?.parse().ok()?, trees: Vec::new() };
        for line in lines {
            let (questions, answers) = line.split_once(" : ")?;
            let question = |text: &str| {
                let (name, threshold) = text.split_once('>')?;
                Some((*places.get(name)?, threshold.parse().ok()?))
            };
            let questions: Vec<_> = questions.split(' ').map(question).collect::<Option<_>>()?;
            let thousandth = |text: &str| text.parse::<i32>().ok().map(|value| value as f32 / 1000.0);
            let answers: Vec<f32> = answers.split(' ').map(thousandth).collect::<Option<_>>()?;
            if answers.len() != 1 << questions.len() {
                return None;
            }
            forest.trees.push(Tree { questions, answers });
        }
        Some(forest)
    }

    /// Writes the forest as text, a tree a line.
    pub fn write(&self, columns: &[String]) -> String {
        let mut text = format!("bias {}\n", self.bias);
        for tree in &self.trees {
            let questions: Vec<String> =
                tree.questions.iter().map(|(column, threshold)| format!("{}>{threshold}", columns[*column])).collect();
            let answers: Vec<String> = tree.answers.iter().map(|answer| format!("{:.0}", answer * 1000.0)).collect();
            text.push_str(&format!("{} : {}\n", questions.join(" "), answers.join(" ")));
        }
        text
    }

    /// The log odds of every row.
    pub fn weigh<'a>(&self, rows: usize, column: impl Fn(usize) -> &'a [f32]) -> Vec<f32> {
        let mut sums = vec![self.bias; rows];
        let mut places = vec![0u32; rows];
        for tree in &self.trees {
            places.fill(0);
            for (level, (feature, threshold)) in tree.questions.iter().enumerate() {
                for (place, value) in places.iter_mut().zip(column(*feature)) {
                    *place |= u32::from(value > threshold) << level;
                }
            }
            for (sum, place) in sums.iter_mut().zip(&places) {
                *sum += tree.answers[*place as usize];
            }
        }
        sums
    }
}

/// The probability that belongs to log odds.
pub fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forest_survives_writing_and_reading() {
        let columns = ["a".to_owned(), "b".to_owned()];
        let tree = Tree { questions: vec![(1, 0.5), (0, 2.0)], answers: vec![-1.0, 0.25, 0.5, 2.0] };
        let forest = Forest { bias: -0.5, trees: vec![tree] };
        let again = Forest::read(&forest.write(&columns), &columns).unwrap();
        let table = [vec![1.0f32, 3.0, 3.0], vec![0.0f32, 0.0, 1.0]];
        let sums = again.weigh(3, |column| &table[column]);
        assert_eq!(sums, [-1.5, 0.0, 1.5]);
    }
}
