//! Who is quoted: speakers, reporting verbs, and the share of quoted text by source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::span_query;
use super::params::{LimitParams, ScopeParams};
use super::shards::{PartKey, SpanTallyPart};
use super::{Answered, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError, Request};
use crate::cql::MatchRule;
use crate::engine::SpanCount;

/// The spans of quotations, and their attributes.
const SPAN: &str = "quote";
const KIND: &str = "kind";
const SPEAKER: &str = "speaker";
const VERB: &str = "verb";
/// Direct speech, in contrast to quotation marks around a term.
const DIRECT: &str = "direct";

/// Lists who is quoted, with which verbs, or how much each source quotes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct QuotesRequest {
    /// The documents to look at.
    #[serde(flatten)]
    pub scope: ScopeParams,
    /// What quotations are counted by.
    #[serde(default = "speaker")]
    pub by: QuotesBy,
    /// Include speakers that are a pronoun or another function word.
    #[serde(default)]
    pub pronouns: bool,
    /// Minimum documents.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1 << 30))]
    pub min_documents: u64,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

choices! {
    /// What quotations are counted by.
    pub enum QuotesBy {
        /// The speaker, where the text gives one.
        Speaker = "speaker",
        /// The verb that introduces the quotation.
        Verb = "verb",
        /// The site.
        Site = "site",
    }
}

fn speaker() -> QuotesBy {
    QuotesBy::Speaker
}

fn one() -> u64 {
    1
}

answer! {
    /// Quotations by speaker, verb or site: those with most quotations first, sites by their share of quoted text.
    pub struct Quotes {
        /// What quotations are counted by.
        pub by: QuotesBy,
        /// Tokens of the documents counted.
        pub tokens: u64,
        /// All direct quotations in them, with and without a known speaker.
        pub quotes: u64,
        /// Tokens in these quotations; those of nested ones count once for each.
        pub quoted_tokens: u64,
        /// The number of different values; null if the answer is cut off.
        pub values: Option<u64>,
        /// The rows.
        pub rows: Vec<QuoteRow>,
    }

    /// Quotations of one speaker, verb or site.
    pub struct QuoteRow {
        /// The speaker, the verb or the site.
        pub value: String,
        /// Quotations.
        pub quotes: u64,
        /// Documents with them.
        pub documents: u64,
        /// Sites with them.
        pub sites: u64,
        /// Their tokens.
        pub quoted_tokens: u64,
        /// The share of quoted tokens: of a site's own tokens, or of all quoted tokens; null if the answer is cut off.
        pub share: Option<f64>,
        /// The most frequent verb of a speaker's or a site's quotations; null if none is known, or the answer is cut off.
        pub verb: Option<String>,
        /// The CQL query that finds them; for sites, to be asked with a filter.
        pub query: String,
    }
}

fn row(by: QuotesBy, value: &str, count: &SpanCount, whole: u64) -> QuoteRow {
    let verbs = count.along.iter().filter(|(verb, _)| !verb.is_empty());
    // Of equals the first in the order of the alphabet.
    let verb = verbs.rev().max_by_key(|(_, hits)| **hits).map(|(verb, _)| verb.clone());
    QuoteRow {
        value: value.to_owned(),
        quotes: count.hits,
        documents: count.documents,
        sites: count.sites,
        quoted_tokens: count.tokens,
        share: (whole > 0).then(|| count.tokens as f64 / whole as f64),
        verb: verb.filter(|_| by != QuotesBy::Verb),
        query: match by {
            QuotesBy::Speaker => span_query(SPAN, SPEAKER, value),
            QuotesBy::Verb => span_query(SPAN, VERB, value),
            QuotesBy::Site => span_query(SPAN, KIND, DIRECT),
        },
    }
}

impl Request for QuotesRequest {
    fn example() -> QuotesRequest {
        QuotesRequest {
            scope: ScopeParams::default(),
            by: QuotesBy::Site,
            pronouns: false,
            min_documents: one(),
            limit: LimitParams::default(),
        }
    }
}

impl Question for QuotesRequest {
    const NAME: &'static str = "quotes";
    const SUMMARY: &'static str = "List who is quoted, with which verbs, and how much each source quotes";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Quotes;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Quotes>, QuestionError> {
        let filter = context.filter(&self.scope)?;
        let by = match self.by {
            QuotesBy::Speaker => PartKey::Attribute(SPEAKER.to_owned()),
            QuotesBy::Verb => PartKey::Attribute(VERB.to_owned()),
            QuotesBy::Site => PartKey::Field("site".to_owned()),
        };
        let found = context.gather(&SpanTallyPart {
            filter: Parsed::of_filter(filter.as_ref()),
            name: SPAN.to_owned(),
            by,
            along: VERB.to_owned(),
            only: Some((KIND.to_owned(), DIRECT.to_owned())),
        })?;
        let tokens = found.tokens;
        let whole = |value: &str| match self.by {
            QuotesBy::Site => found.by_field.get(value).copied().unwrap_or(0),
            _ => found.span_tokens,
        };
        let stop_words =
            tidings_lang::stop_list(context.corpus).filter(|_| self.by == QuotesBy::Speaker && !self.pronouns);
        let is_wanted = |value: &str| stop_words.is_none_or(|words| !words.contains(value));
        let counts =
            found.values.iter().filter(|(value, count)| count.documents >= self.min_documents && is_wanted(value));
        let mut rows: Vec<QuoteRow> = counts.map(|(value, count)| row(self.by, value, count, whole(value))).collect();
        rows.sort_by(|a, b| {
            let by_share = match self.by {
                QuotesBy::Site => b.share.partial_cmp(&a.share).unwrap_or(std::cmp::Ordering::Equal),
                _ => std::cmp::Ordering::Equal,
            };
            by_share
                .then_with(|| (b.quotes, b.documents).cmp(&(a.quotes, a.documents)))
                .then_with(|| a.value.cmp(&b.value))
        });
        let mut values = Some(self.limit.cut(&mut rows));
        if context.is_cut_off() {
            values = None;
            rows.iter_mut().for_each(|row| (row.share, row.verb) = (None, None));
        }
        let body = Quotes { by: self.by, tokens, quotes: found.all, quoted_tokens: found.span_tokens, values, rows };
        Ok(context.answered((None, filter.as_ref()), MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}
