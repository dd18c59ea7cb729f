//! Keyness: measures of how typical a word is of one corpus against another.

use super::per_million;
use super::special::chi_square_survival;

/// The frequencies of a word in two corpora.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// Hits in the corpus in focus.
    pub focus: f64,
    /// Tokens of the corpus in focus.
    pub focus_tokens: f64,
    /// Hits in the reference corpus.
    pub reference: f64,
    /// Tokens of the reference corpus.
    pub reference_tokens: f64,
}

choices! {
    /// The keyness measures.
    pub enum KeynessMeasure {
        /// Ratio of the rates per million with a constant added to both.
        SimpleMaths = "simple-maths" | "simple",
        /// Log-likelihood ratio, negative if the word is rarer in focus.
        LogLikelihood = "log-likelihood" | "ll",
        /// log2 of the ratio of the rates; half a hit stands for none.
        LogRatio = "log-ratio",
        /// Difference of the rates by their sum, in percent: −100 to 100.
        Din = "din",
        /// Pearson's chi-square with Yates' correction, negative if the word is rarer in focus.
        ChiSquare = "chi-square" | "chi2",
    }
}

impl KeynessMeasure {
    /// The measure with the constant that simple maths adds.
    pub fn with(self, added: f64) -> Keyness {
        match self {
            KeynessMeasure::SimpleMaths => Keyness::SimpleMaths(added),
            KeynessMeasure::LogLikelihood => Keyness::LogLikelihood,
            KeynessMeasure::LogRatio => Keyness::LogRatio,
            KeynessMeasure::Din => Keyness::Din,
            KeynessMeasure::ChiSquare => Keyness::ChiSquare,
        }
    }
}

/// A keyness measure with its constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Keyness {
    /// Simple maths (Kilgarriff 2009): the ratio of the rates per million with a constant added to both; 1 favours rare
    /// words, 1000 common ones.
    SimpleMaths(f64),
    /// Log-likelihood ratio, negative if the word is rarer in focus.
    LogLikelihood,
    /// Log2 of the ratio of the rates; zero hits count as half a hit.
    LogRatio,
    /// DIN: the difference of the rates by their sum, from −100 to 100.
    Din,
    /// Pearson's chi-square with Yates' correction, negative if the word is rarer in focus.
    ChiSquare,
}

impl Contrast {
    /// The contrast of hits and tokens in focus with hits and tokens of the reference.
    pub fn of((focus, focus_tokens): (u64, u64), (reference, reference_tokens): (u64, u64)) -> Contrast {
        let [focus, focus_tokens, reference, reference_tokens] =
            [focus, focus_tokens, reference, reference_tokens].map(|count| count as f64);
        Contrast { focus, focus_tokens, reference, reference_tokens }
    }

    /// Hits per million tokens in focus and in the reference; 0 without tokens.
    pub fn per_million(&self) -> (f64, f64) {
        let rate = |hits: f64, tokens: f64| per_million(hits, tokens).unwrap_or(0.0);
        (rate(self.focus, self.focus_tokens), rate(self.reference, self.reference_tokens))
    }

    fn rates(&self) -> (f64, f64) {
        (self.focus / self.focus_tokens, self.reference / self.reference_tokens)
    }

    /// The sign of the difference of the rates.
    fn sign(&self) -> f64 {
        let (focus, reference) = self.rates();
        if focus < reference { -1.0 } else { 1.0 }
    }

    /// The p-value of the log-likelihood ratio. Words clump in documents, so that it is too small; use it to
    /// rank.
    pub fn p_value(&self) -> f64 {
        chi_square_survival(Keyness::LogLikelihood.score(self).abs(), 1.0)
    }
}

impl Keyness {
    /// The measure without its constant, and the constant: 1 for measures that have none.
    pub fn measure(self) -> (KeynessMeasure, f64) {
        match self {
            Keyness::SimpleMaths(added) => (KeynessMeasure::SimpleMaths, added),
            Keyness::LogLikelihood => (KeynessMeasure::LogLikelihood, 1.0),
            Keyness::LogRatio => (KeynessMeasure::LogRatio, 1.0),
            Keyness::Din => (KeynessMeasure::Din, 1.0),
            Keyness::ChiSquare => (KeynessMeasure::ChiSquare, 1.0),
        }
    }

    /// The score of a contrast between corpora that are not empty.
    pub fn score(self, contrast: &Contrast) -> f64 {
        let Contrast { focus, focus_tokens, reference, reference_tokens } = *contrast;
        let (focus_rate, reference_rate) = contrast.rates();
        match self {
            Keyness::SimpleMaths(added) => (focus_rate * 1e6 + added) / (reference_rate * 1e6 + added),
            Keyness::LogLikelihood => {
                let all = (focus + reference) / (focus_tokens + reference_tokens);
                let part = |hits: f64, tokens: f64| if hits > 0.0 { hits * (hits / (tokens * all)).ln() } else { 0.0 };
                // Rounding may make the ratio of equal rates slightly negative.
                (2.0 * (part(focus, focus_tokens) + part(reference, reference_tokens))).max(0.0) * contrast.sign()
            }
            Keyness::LogRatio => {
                let at_least_half = |hits: f64| if hits > 0.0 { hits } else { 0.5 };
                (at_least_half(focus) / focus_tokens / (at_least_half(reference) / reference_tokens)).log2()
            }
            Keyness::Din if focus_rate + reference_rate == 0.0 => 0.0,
            Keyness::Din => 100.0 * (focus_rate - reference_rate) / (focus_rate + reference_rate),
            Keyness::ChiSquare => {
                let (other_focus, other_reference) = (focus_tokens - focus, reference_tokens - reference);
                let tokens = focus_tokens + reference_tokens;
                let margins = (focus + reference) * (other_focus + other_reference) * focus_tokens * reference_tokens;
                if margins == 0.0 {
                    return 0.0;
                }
                let distance = (focus * other_reference - reference * other_focus).abs() - tokens / 2.0;
                tokens * distance.max(0.0).powi(2) / margins * contrast.sign()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_near;
    use super::*;

    /// 20 per million against 5 per million.
    const KEY: Contrast = Contrast { focus: 40.0, focus_tokens: 2e6, reference: 20.0, reference_tokens: 4e6 };

    #[test]
    fn scores_are_those_computed_by_hand() {
        assert_near(Keyness::SimpleMaths(1.0).score(&KEY), 3.5); // 21 / 6
        assert_near(Keyness::SimpleMaths(100.0).score(&KEY), 120.0 / 105.0);
        assert_near(Keyness::LogRatio.score(&KEY), 2.0);
        assert_near(Keyness::Din.score(&KEY), 60.0);
        // Twenty were expected in focus and forty in the reference: 2 (40 ln 2 − 20 ln 2).
        assert_near(Keyness::LogLikelihood.score(&KEY), 40.0 * std::f64::consts::LN_2);
    }

    #[test]
    fn chi_square_is_that_of_the_table() {
        // 10 of 100 against 20 of 300, corrected: 400 (|10·280 − 20·90| − 200)² / (30·370·100·300).
        let contrast = Contrast { focus: 10.0, focus_tokens: 100.0, reference: 20.0, reference_tokens: 300.0 };
        assert_near(Keyness::ChiSquare.score(&contrast), 400.0 * 640_000.0 / 333_000_000.0);
    }

    #[test]
    fn a_word_missing_from_the_reference_has_a_finite_score() {
        let new = Contrast { reference: 0.0, ..KEY };
        assert_near(Keyness::LogRatio.score(&new), (40.0f64 / 2.0 / (0.5 / 4.0)).log2());
        assert_near(Keyness::Din.score(&new), 100.0);
        assert_near(Keyness::SimpleMaths(1.0).score(&new), 21.0);
    }

    #[test]
    fn a_rarer_word_has_a_negative_score() {
        let lost = Contrast { focus: 2.0, reference: 60.0, ..KEY };
        assert!(Keyness::LogLikelihood.score(&lost) < 0.0);
        assert!(Keyness::ChiSquare.score(&lost) < 0.0);
        assert!(lost.p_value() < 1e-6);
    }

    #[test]
    fn every_name_has_its_measure() {
        for measure in KeynessMeasure::ALL {
            assert_eq!(measure.with(2.0).measure().0, *measure);
            assert_eq!(KeynessMeasure::named(measure.name()), Some(*measure));
        }
        let former = ["simple", "ll", "chi2"].map(|name| KeynessMeasure::named(name).map(KeynessMeasure::name));
        assert_eq!(former, [Some("simple-maths"), Some("log-likelihood"), Some("chi-square")]);
    }
}
