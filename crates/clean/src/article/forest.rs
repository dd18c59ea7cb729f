//! Gradient-boosted oblivious decision trees.
//!
//! An oblivious tree tests the same split at every node of a level, so it is a list of splits and a
//! table of 2^depth leaf values, and prediction runs over whole columns without branches. This is
//! the model of CatBoost (Prokhorenkova et al. 2018, "CatBoost: unbiased boosting with categorical
//! features"); gradient boosting is due to Friedman 2001, "Greedy function approximation".
//! `bench/extract` trains the forests on annotated pages; see docs/notes/extraction.md.

use std::collections::HashMap;

/// An additive ensemble of trees.
#[derive(Debug, Clone, Default)]
pub struct Forest {
    /// The prior, in log-odds.
    pub bias: f32,
    /// The trees, in boosting order.
    pub trees: Vec<Tree>,
}

/// An oblivious decision tree.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// Column and threshold of each level; the test is `value > threshold`.
    pub splits: Vec<(usize, f32)>,
    /// Leaf values in log-odds; level `i` sets bit `i` of the leaf index.
    pub leaves: Vec<f32>,
}

impl Forest {
    /// Parses the output of [`Forest::write`]; columns are referenced by name. Returns `None` if
    /// the text is malformed or names an unknown column.
    pub fn read(text: &str, columns: &[String]) -> Option<Forest> {
        let column_of: HashMap<&str, usize> =
            columns.iter().enumerate().map(|(column, name)| (name.as_str(), column)).collect();
        let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let mut forest = Forest { bias: lines.next()?.strip_prefix("bias ")?.parse().ok()?, trees: Vec::new() };
        for line in lines {
            let (splits, leaves) = line.split_once(" : ")?;
            let split = |text: &str| {
                let (name, threshold) = text.split_once('>')?;
                Some((*column_of.get(name)?, threshold.parse().ok()?))
            };
            let splits: Vec<_> = splits.split(' ').map(split).collect::<Option<_>>()?;
            let thousandth = |text: &str| text.parse::<i32>().ok().map(|value| value as f32 / 1000.0);
            let leaves: Vec<f32> = leaves.split(' ').map(thousandth).collect::<Option<_>>()?;
            if leaves.len() != 1 << splits.len() {
                return None;
            }
            forest.trees.push(Tree { splits, leaves });
        }
        Some(forest)
    }

    /// Serialises the forest as text, one tree per line.
    pub fn write(&self, columns: &[String]) -> String {
        let mut text = format!("bias {}\n", self.bias);
        for tree in &self.trees {
            let splits: Vec<String> =
                tree.splits.iter().map(|(column, threshold)| format!("{}>{threshold}", columns[*column])).collect();
            let leaves: Vec<String> = tree.leaves.iter().map(|leaf| format!("{:.0}", leaf * 1000.0)).collect();
            text.push_str(&format!("{} : {}\n", splits.join(" "), leaves.join(" ")));
        }
        text
    }

    /// Predicts the log-odds of every row.
    pub fn predict<'a>(&self, rows: usize, column: impl Fn(usize) -> &'a [f32]) -> Vec<f32> {
        let mut sums = vec![self.bias; rows];
        let mut leaf_of_row = vec![0u32; rows];
        for tree in &self.trees {
            leaf_of_row.fill(0);
            for (level, (feature, threshold)) in tree.splits.iter().enumerate() {
                for (leaf, value) in leaf_of_row.iter_mut().zip(column(*feature)) {
                    *leaf |= u32::from(value > threshold) << level;
                }
            }
            for (sum, leaf) in sums.iter_mut().zip(&leaf_of_row) {
                *sum += tree.leaves[*leaf as usize];
            }
        }
        sums
    }
}

/// The logistic function: log-odds to probability.
pub fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_forest_reads_back_unchanged() {
        let columns = ["a".to_owned(), "b".to_owned()];
        let tree = Tree { splits: vec![(1, 0.5), (0, 2.0)], leaves: vec![-1.0, 0.25, 0.5, 2.0] };
        let forest = Forest { bias: -0.5, trees: vec![tree] };
        let again = Forest::read(&forest.write(&columns), &columns).unwrap();
        let table = [vec![1.0f32, 3.0, 3.0], vec![0.0f32, 0.0, 1.0]];
        let sums = again.predict(3, |column| &table[column]);
        assert_eq!(sums, [-1.5, 0.0, 1.5]);
    }
}
