//! Terms: noun phrases that are typical of one part of the corpus against another.
//!
//! Candidates are the matches of patterns of parts of speech ([`crate::terms`]), of every length, so that the terms inside of a
//! longer term count as well. Their *termhood* is keyness: how much more frequent they are in the focus than in the reference.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::focus::{FocusParams, Parts};
use super::params::LimitParams;
use super::shards::{SearchPart, term_contrast, usual_forms};
use super::{Answered, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError, Request};
use crate::cql::{Attribute, MatchRule};
use crate::engine::TermWords;
use crate::filter::Filter;
use crate::measure::keyness::{Contrast, Keyness, KeynessMeasure};
use crate::terms::term_query;
use hashbrown::HashMap;

/// Ranks terms of several words, such as *climate policy*, that are typical of one part of the corpus against another.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TermsRequest {
    /// What is compared.
    #[serde(flatten)]
    pub parts: FocusParams,
    /// Minimum hits in the focus subcorpus.
    #[serde(default = "usual_min")]
    #[schemars(range(min = 1))]
    pub min: u64,
    /// Minimum documents with the term in the focus subcorpus.
    #[serde(default = "usual_min_documents")]
    #[schemars(range(min = 1))]
    pub min_documents: u64,
    /// Include terms with proper nouns, most of which are names.
    #[serde(default)]
    pub names: bool,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

fn usual_min() -> u64 {
    5
}

fn usual_min_documents() -> u64 {
    3
}

answer! {
    /// Terms that are typical of one part of the corpus against another, by score, equals by value.
    pub struct Terms {
        /// The attribute of the words of a term.
        pub attribute: Attribute,
        /// The filter of the documents in focus.
        pub focus: String,
        /// The filter of the documents compared with.
        pub against: String,
        /// Tokens in focus.
        pub focus_tokens: u64,
        /// Tokens of the reference.
        pub reference_tokens: u64,
        /// The measure that orders the rows.
        pub order: KeynessMeasure,
        /// The constant of simple maths.
        pub add: f64,
        /// The number of different terms; null if the answer is cut off.
        pub values: Option<u64>,
        /// The terms.
        pub rows: Vec<TermRow>,
    }

    /// A term, in focus and in the reference.
    pub struct TermRow {
        /// The values of its words.
        pub value: String,
        /// The form in which it is written most often in focus.
        pub form: String,
        /// The score by the measure that orders the rows.
        #[schemars(with = "Option<f64>")]
        pub score: f64,
        /// Hits in focus.
        pub focus: u64,
        /// Documents with it in focus.
        pub focus_documents: u64,
        /// Hits in the reference.
        pub reference: u64,
        /// Documents with it in the reference.
        pub reference_documents: u64,
        /// Hits per million tokens in focus.
        #[schemars(with = "Option<f64>")]
        pub focus_per_million: f64,
        /// The same of the reference.
        #[schemars(with = "Option<f64>")]
        pub reference_per_million: f64,
        /// Log-likelihood, negative if rarer in focus.
        #[schemars(with = "Option<f64>")]
        pub log_likelihood: f64,
        /// Binary logarithm of the ratio of the rates.
        #[schemars(with = "Option<f64>")]
        pub log_ratio: f64,
    }
}

impl Request for TermsRequest {
    fn example() -> TermsRequest {
        TermsRequest {
            parts: FocusParams::of(Parsed::example()),
            min: usual_min(),
            min_documents: usual_min_documents(),
            names: false,
            limit: LimitParams::default(),
        }
    }
}

impl TermRow {
    fn of(
        term: &TermWords,
        ((focus, focus_documents), (reference, reference_documents)): ((u64, u64), (u64, u64)),
        (focus_tokens, reference_tokens): (u64, u64),
        order: Keyness,
    ) -> TermRow {
        let contrast = Contrast::of((focus, focus_tokens), (reference, reference_tokens));
        let (focus_per_million, reference_per_million) = contrast.per_million();
        TermRow {
            value: term.join(" "),
            form: String::new(),
            score: order.score(&contrast),
            focus,
            focus_documents,
            reference,
            reference_documents,
            focus_per_million,
            reference_per_million,
            log_likelihood: Keyness::LogLikelihood.score(&contrast),
            log_ratio: Keyness::LogRatio.score(&contrast),
        }
    }
}

/// The share of the hits of a term inside of one longer term from which it is a fragment of that: *freedom of terminal* of
/// *freedom of terminal equipment*.
const FRAGMENT: f64 = 0.9;

/// Leaves out terms that nearly always stand in one longer term of the list.
fn leave_out_fragments(rows: &mut Vec<(TermWords, TermRow)>) {
    let mut inside: HashMap<TermWords, u64> = HashMap::new();
    for (term, row) in rows.iter() {
        for start in 0..term.len() {
            for part in (start + 1..=term.len()).map(|end| &term[start..end]).filter(|part| part.len() < term.len()) {
                let most = inside.entry(part.to_vec()).or_default();
                *most = row.focus.max(*most);
            }
        }
    }
    rows.retain(|(term, row)| {
        let of_longer = inside.get(term).copied().unwrap_or(0);
        (of_longer as f64) < FRAGMENT * row.focus as f64
    });
}

impl Question for TermsRequest {
    const NAME: &'static str = "terms";
    const SUMMARY: &'static str = "Show terms of several words that are typical of a part of the corpus";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Terms;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Terms>, QuestionError> {
        let Parts { focus, against, within, reference } = self.parts.parts(context)?;
        // Terms are positions: only documents that the client may read.
        let mut rewrites = Vec::new();
        let (min, min_documents) = context.min_counts(self.min, &mut rewrites);
        let min_documents = min_documents.max(self.min_documents);
        let (attribute, order) = (context.usual_attribute(), self.parts.order());
        let query = Parsed::of(term_query(context.corpus, self.names).clone());
        let part = |filter: &Filter| SearchPart::positions(&query, MatchRule::All, Some(filter));
        let (tokens, terms) = term_contrast(context, (part(&focus), part(&against)), attribute, (min, self.names))?;
        let is_comparable = tokens.0 > 0 && tokens.1 > 0;
        let mut rows: Vec<(TermWords, TermRow)> = terms
            .into_iter()
            .filter(|(_, ((hits, documents), _))| is_comparable && *hits >= min && *documents >= min_documents)
            .map(|(term, counts)| (term.clone(), TermRow::of(&term, counts, tokens, order)))
            // What is more frequent elsewhere is not typical of the focus.
            .filter(|(_, row)| row.log_ratio > 0.0)
            .collect();
        leave_out_fragments(&mut rows);
        rows.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score).then_with(|| a.value.cmp(&b.value)));
        let mut values = Some(self.limit.cut(&mut rows));
        let (terms, mut rows): (Vec<TermWords>, Vec<TermRow>) = rows.into_iter().unzip();
        if !context.is_cut_off() {
            let forms = usual_forms(context, part(&focus), attribute, terms)?;
            rows.iter_mut().zip(forms).for_each(|(row, form)| row.form = form);
        }
        if context.is_cut_off() {
            // Parts that are not counted to the end cannot be compared.
            (values, rows) = (None, Vec::new());
        }
        let (order, add) = order.measure();
        let body = Terms {
            attribute,
            focus: self.parts.focus.to_string(),
            against: reference.to_string(),
            focus_tokens: tokens.0,
            reference_tokens: tokens.1,
            order,
            add,
            values,
            rows,
        };
        let asked = (Some(&*query), within.as_ref());
        Ok(context.answered(asked, MatchRule::All, Exactness::Exact, rewrites, body))
    }
}
