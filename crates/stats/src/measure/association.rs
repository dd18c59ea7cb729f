//! Association measures: how strongly two words attract each other.

use super::x_ln_x;

/// The counts from which every association measure is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Co-occurrences of node and collocate in the window.
    pub together: f64,
    /// The frequency of the node.
    pub node: f64,
    /// The frequency of the collocate.
    pub collocate: f64,
    /// The tokens of the corpus.
    pub tokens: f64,
}

choices! {
    /// The association measures. docs/notes/cql.md says what each of them favours.
    pub enum Association {
        /// 14 + log2 of Dice: at most 14, and comparable between corpora of different size.
        LogDice = "log-dice" | "logdice",
        /// Mutual information: log2 of observed by expected; favours rare words.
        Mi = "mi",
        /// MI with the observed count cubed; favours frequent words.
        Mi3 = "mi3",
        /// Difference of observed and expected in standard deviations.
        TScore = "t-score",
        /// Log-likelihood ratio of the 2×2 table.
        LogLikelihood = "log-likelihood" | "ll",
        /// Harmonic mean of the two conditional probabilities.
        Dice = "dice",
        /// The smaller of the two conditional probabilities.
        MinSensitivity = "min-sensitivity",
        /// MI weighted by the logarithm of the count.
        MiLogF = "mi-log-f" | "mi.log-f",
    }
}

impl Association {
    /// The score of a pair that occurs together at least once.
    pub fn score(self, pair: &Pair) -> f64 {
        let Pair { together, node, collocate, tokens } = *pair;
        let mi = || (together * tokens / (node * collocate)).log2();
        let dice = || 2.0 * together / (node + collocate);
        match self {
            Association::Mi => mi(),
            Association::Mi3 => mi() + 2.0 * together.log2(),
            Association::TScore => (together - node * collocate / tokens) / together.sqrt(),
            Association::LogDice => 14.0 + dice().log2(),
            Association::LogLikelihood => log_likelihood(pair),
            Association::Dice => dice(),
            Association::MinSensitivity => (together / node).min(together / collocate),
            Association::MiLogF => mi() * (together + 1.0).ln(),
        }
    }
}

/// In a wide window a collocate may co-occur with the node more often than either occurs; cells of the
/// contingency table are then clamped to 0.
fn log_likelihood(pair: &Pair) -> f64 {
    let Pair { together, node, collocate, tokens } = *pair;
    let only_node = (node - together).max(0.0);
    let only_collocate = (collocate - together).max(0.0);
    let neither = (tokens + together - node - collocate).max(0.0);
    let cells = x_ln_x(together) + x_ln_x(only_node) + x_ln_x(only_collocate) + x_ln_x(neither);
    let margins = x_ln_x(node) + x_ln_x(collocate) + x_ln_x(tokens - node) + x_ln_x(tokens - collocate);
    2.0 * (cells + x_ln_x(tokens) - margins)
}

#[cfg(test)]
mod tests {
    use super::super::assert_near;
    use super::*;

    /// 30 together, node 100, collocate 200, 10,000 tokens: 2 were to be expected.
    const PAIR: Pair = Pair { together: 30.0, node: 100.0, collocate: 200.0, tokens: 10_000.0 };

    #[test]
    fn scores_are_those_computed_by_hand() {
        assert_near(Association::Mi.score(&PAIR), 3.906_890_595_608_518_5); // log2 15
        assert_near(Association::Mi3.score(&PAIR), 13.720_671_786_825_557); // log2 13500
        assert_near(Association::TScore.score(&PAIR), 5.112_077_203_381_554); // 28 / √30
        assert_near(Association::Dice.score(&PAIR), 0.2);
        assert_near(Association::LogDice.score(&PAIR), 11.678_071_905_112_638); // 14 + log2 0.2
        assert_near(Association::MinSensitivity.score(&PAIR), 0.15);
        assert_near(Association::MiLogF.score(&PAIR), 13.416_212_314_643_005); // log2 15 · ln 31
    }

    #[test]
    fn log_likelihood_is_that_of_the_table() {
        // 2 Σ O ln(O/E) over the cells 30/2, 70/98, 170/198, 9730/9702.
        let cells = [(30.0, 2.0), (70.0, 98.0), (170.0, 198.0), (9730.0, 9702.0)];
        let expected: f64 = cells.iter().map(|(o, e): &(f64, f64)| 2.0 * o * (o / e).ln()).sum();
        assert_near(Association::LogLikelihood.score(&PAIR), expected);
        assert_near(expected, 119.618_307_555_448_78);
    }

    #[test]
    fn a_co_occurrence_as_expected_has_no_association() {
        let pair = Pair { together: 2.0, ..PAIR };
        assert_near(Association::Mi.score(&pair), 0.0);
        assert_near(Association::TScore.score(&pair), 0.0);
        assert_near(Association::LogLikelihood.score(&pair), 0.0);
    }

    #[test]
    fn former_spellings_and_underscores_are_accepted() {
        for (former, name) in [("logdice", "log-dice"), ("ll", "log-likelihood"), ("mi.log-f", "mi-log-f")] {
            assert_eq!(Association::named(former).map(Association::name), Some(name));
        }
        assert_eq!(Association::named("min_sensitivity"), Some(Association::MinSensitivity));
        assert_eq!(Association::named("LL"), None);
    }

    #[test]
    fn a_window_may_hold_more_collocates_than_there_are_nodes() {
        let pair = Pair { together: 120.0, node: 100.0, collocate: 110.0, tokens: 1000.0 };
        for measure in Association::ALL {
            assert!(measure.score(&pair).is_finite(), "{measure}");
        }
    }
}
