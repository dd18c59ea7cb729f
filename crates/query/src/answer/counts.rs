//! Counts of hits and words, and scores made of them.

use crate::cql::Attribute;
use crate::measure::association::{Association, Pair};
use crate::measure::keyness::{Contrast, Keyness};
use crate::measure::per_million;
use serde::Serialize;

/// How often hits have each value of an attribute or a field. The most frequent come first, equals by
/// value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Frequencies {
    /// The attribute or field.
    pub by: String,
    /// All hits.
    pub hits: u64,
    /// Tokens of the corpus asked.
    pub tokens: u64,
    /// The values.
    pub rows: Vec<FrequencyRow>,
}

/// One value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrequencyRow {
    /// The value; of hits of several tokens, the values with blanks between.
    pub value: String,
    /// Hits with it.
    pub hits: u64,
    /// For fields, the tokens of documents with it: the measure of the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Hits per million of those tokens; of all tokens for attributes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_million: Option<f64>,
}

/// Where collocates are looked for: never beyond the document, and never in the hit itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Window {
    /// So many tokens before and behind the hit.
    Tokens {
        /// Before.
        left: u32,
        /// Behind.
        right: u32,
    },
    /// The sentences that the hit touches.
    Sentence,
}

/// Words in the neighbourhood of hits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Collocates {
    /// What was counted: words, lemmas …
    pub attribute: Attribute,
    /// Where.
    pub window: Window,
    /// Hits of the query.
    pub hits: u64,
    /// Tokens of the corpus asked.
    pub tokens: u64,
    /// By what the rows are ordered, best first; equals by value.
    pub order: Association,
    /// The collocates.
    pub rows: Vec<Collocate>,
}

/// A word in the neighbourhood of hits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Collocate {
    /// The word or lemma.
    pub value: String,
    /// How often it stands in a window: a token in the windows of two hits counts twice.
    pub together: u64,
    /// How often it stands anywhere.
    pub hits: u64,
    /// All measures.
    pub scores: Scores,
}

/// All measures of association of one pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scores {
    /// logDice
    pub log_dice: f64,
    /// MI
    pub mi: f64,
    /// MI3
    pub mi3: f64,
    /// T-score
    pub t_score: f64,
    /// Log-likelihood
    pub log_likelihood: f64,
    /// Dice
    pub dice: f64,
    /// Minimum sensitivity
    pub min_sensitivity: f64,
    /// MI.log_f
    pub mi_log_f: f64,
}

impl Scores {
    /// The scores of a pair.
    pub fn of(pair: &Pair) -> Scores {
        Scores {
            log_dice: Association::LogDice.score(pair),
            mi: Association::Mi.score(pair),
            mi3: Association::Mi3.score(pair),
            t_score: Association::TScore.score(pair),
            log_likelihood: Association::LogLikelihood.score(pair),
            dice: Association::Dice.score(pair),
            min_sensitivity: Association::MinSensitivity.score(pair),
            mi_log_f: Association::MiLogF.score(pair),
        }
    }

    /// One of them.
    pub fn get(&self, measure: Association) -> f64 {
        match measure {
            Association::LogDice => self.log_dice,
            Association::Mi => self.mi,
            Association::Mi3 => self.mi3,
            Association::TScore => self.t_score,
            Association::LogLikelihood => self.log_likelihood,
            Association::Dice => self.dice,
            Association::MinSensitivity => self.min_sensitivity,
            Association::MiLogF => self.mi_log_f,
        }
    }
}

impl Collocates {
    /// Makes the answer of counts: (value, together, anywhere). Collocates that are together less than
    /// `at_least` times are left out, and so are those without a value.
    pub fn rank(
        attribute: Attribute,
        window: Window,
        (hits, tokens): (u64, u64),
        order: Association,
        at_least: u64,
        counts: impl IntoIterator<Item = (String, u64, u64)>,
    ) -> Collocates {
        let mut rows: Vec<Collocate> = counts
            .into_iter()
            .filter(|(value, together, _)| !value.is_empty() && *together >= at_least.max(1))
            .map(|(value, together, anywhere)| {
                let pair = Pair {
                    together: together as f64,
                    node: hits as f64,
                    collocate: anywhere as f64,
                    tokens: tokens as f64,
                };
                Collocate { value, together, hits: anywhere, scores: Scores::of(&pair) }
            })
            .collect();
        rows.sort_by(|a, b| b.scores.get(order).total_cmp(&a.scores.get(order)).then_with(|| a.value.cmp(&b.value)));
        Collocates { attribute, window, hits, tokens, order, rows }
    }
}

/// A list of words or of n-grams, the most frequent first, equals by value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Words {
    /// What was counted.
    pub attribute: Attribute,
    /// How many tokens a value has: 1 for words. N-grams do not cross sentences.
    pub n: u32,
    /// Tokens of the corpus asked.
    pub tokens: u64,
    /// The values.
    pub rows: Vec<WordRow>,
}

/// One value of a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WordRow {
    /// The word; of n-grams, the words with blanks between.
    pub value: String,
    /// How often it occurs.
    pub hits: u64,
    /// In how many documents.
    pub documents: u64,
    /// How often in a million tokens.
    pub per_million: f64,
}

/// What is typical of one part of the corpus against another, the most typical first, equals by value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Keywords {
    /// What was compared.
    pub attribute: Attribute,
    /// Tokens in focus.
    pub focus_tokens: u64,
    /// Tokens of the reference.
    pub reference_tokens: u64,
    /// By what the rows are ordered.
    pub order: Keyness,
    /// The words.
    pub rows: Vec<Keyword>,
}

/// A word, in focus and in the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Keyword {
    /// The word.
    pub value: String,
    /// Hits in focus.
    pub focus: u64,
    /// Hits in the reference.
    pub reference: u64,
    /// Per million tokens in focus.
    pub focus_per_million: f64,
    /// Per million tokens of the reference.
    pub reference_per_million: f64,
    /// By the measure that was asked for.
    pub score: f64,
    /// Log-likelihood, negative if rarer in focus.
    pub log_likelihood: f64,
    /// Ratio of the rates, log2.
    pub log_ratio: f64,
    /// Difference of the rates by their sum, in percent.
    pub din: f64,
    /// Probability of such a difference by chance, if hits came one by one.
    pub p: f64,
}

impl Keywords {
    /// Makes the answer of counts: (value, in focus, in the reference). Words with fewer than `at_least`
    /// hits in focus are left out. Nothing is typical of nothing: without tokens there are no rows.
    pub fn rank(
        attribute: Attribute,
        (focus_tokens, reference_tokens): (u64, u64),
        order: Keyness,
        at_least: u64,
        counts: impl IntoIterator<Item = (String, u64, u64)>,
    ) -> Keywords {
        let comparable = focus_tokens > 0 && reference_tokens > 0;
        let mut rows: Vec<Keyword> = counts
            .into_iter()
            .filter(|(value, focus, _)| comparable && !value.is_empty() && *focus >= at_least)
            .map(|(value, focus, reference)| {
                let contrast = Contrast {
                    focus: focus as f64,
                    focus_tokens: focus_tokens as f64,
                    reference: reference as f64,
                    reference_tokens: reference_tokens as f64,
                };
                let rate = |hits: f64, tokens: f64| per_million(hits, tokens).unwrap_or(0.0);
                Keyword {
                    value,
                    focus,
                    reference,
                    focus_per_million: rate(contrast.focus, contrast.focus_tokens),
                    reference_per_million: rate(contrast.reference, contrast.reference_tokens),
                    score: order.score(&contrast),
                    log_likelihood: Keyness::LogLikelihood.score(&contrast),
                    log_ratio: Keyness::LogRatio.score(&contrast),
                    din: Keyness::Din.score(&contrast),
                    p: contrast.p_value(),
                }
            })
            .collect();
        rows.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.value.cmp(&b.value)));
        Keywords { attribute, focus_tokens, reference_tokens, order, rows }
    }
}
