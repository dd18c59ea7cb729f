//! Who is in the news: names with their mentions.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidings_index::Day;

use super::params::{LimitParams, ScopeParams};
use super::shards::{PartKey, SpanTallyPart};
use super::{Answered, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError, Request};
use crate::cql::MatchRule;
use crate::engine::SpanCount;
use crate::measure::per_million;

/// The spans of names, and their attributes.
const SPAN: &str = "ne";
const NAME: &str = "name";
const TYPE: &str = "type";

/// Lists the names of persons, organisations and places.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NamesRequest {
    /// The documents to look at.
    #[serde(flatten)]
    pub scope: ScopeParams,
    /// Only names of this type. The type of many names is not known.
    #[serde(default, rename = "type")]
    pub kind: Option<NameType>,
    /// Only names that do not occur before this day: new names.
    #[serde(default)]
    pub since: Option<Date>,
    /// Minimum documents.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1 << 30))]
    pub min_documents: u64,
    /// Minimum sites.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1 << 30))]
    pub min_sites: u64,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

choices! {
    /// The type of a name.
    pub enum NameType {
        /// A person.
        Person = "PER" | "person",
        /// An organisation.
        Organisation = "ORG" | "organisation" | "organization",
        /// A place.
        Place = "LOC" | "place" | "location",
    }
}

fn one() -> u64 {
    1
}

answer! {
    /// Names, those in most documents first, equals by mentions and name.
    pub struct Names {
        /// Tokens of the documents counted.
        pub tokens: u64,
        /// Mentions of all names that were looked at.
        pub mentions: u64,
        /// The number of different names; null if the answer is cut off.
        pub values: Option<u64>,
        /// The names.
        pub rows: Vec<NameRow>,
    }

    /// A name.
    pub struct NameRow {
        /// The name in the longest form of its documents, inflection removed.
        pub name: String,
        /// Its type; missing if its contexts do not tell, or tell different ones, or the answer is cut off.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "NameType")]
        pub r#type: Option<NameType>,
        /// Mentions.
        pub mentions: u64,
        /// Documents with it.
        pub documents: u64,
        /// Sites with it.
        pub sites: u64,
        /// Mentions per million tokens; null if the answer is cut off.
        pub per_million: Option<f64>,
        /// The day of its first document; null if the answer is cut off.
        pub first_seen: Option<Date>,
        /// The day of its last document; null if the answer is cut off.
        pub last_seen: Option<Date>,
        /// The CQL query that finds its mentions.
        pub query: String,
    }
}

/// The type that at least two thirds of the mentions with a type have.
fn type_of(count: &SpanCount) -> Option<NameType> {
    let known = count.along.iter().filter_map(|(name, hits)| Some((NameType::named(name)?, *hits)));
    let (best, hits) = known.clone().max_by_key(|(_, hits)| *hits)?;
    let all: u64 = known.map(|(_, hits)| hits).sum();
    (hits * 3 >= all * 2).then_some(best)
}

/// A query that finds the spans with a value.
pub(super) fn span_query(span: &str, attribute: &str, value: &str) -> String {
    format!("<{span} {attribute}==\"{}\"/>", value.replace('\\', "\\\\").replace('"', "\\\""))
}

fn row(name: String, count: &SpanCount, tokens: u64) -> NameRow {
    NameRow {
        r#type: type_of(count),
        mentions: count.hits,
        documents: count.documents,
        sites: count.sites,
        per_million: per_million(count.hits as f64, tokens as f64),
        first_seen: count.days().map(|(first, _)| first.date()),
        last_seen: count.days().map(|(_, last)| last.date()),
        query: span_query(SPAN, NAME, &name),
        name,
    }
}

impl Request for NamesRequest {
    fn example() -> NamesRequest {
        NamesRequest {
            scope: ScopeParams::default(),
            kind: Some(NameType::Person),
            since: None,
            min_documents: one(),
            min_sites: one(),
            limit: LimitParams::default(),
        }
    }
}

impl Question for NamesRequest {
    const NAME: &'static str = "names";
    const SUMMARY: &'static str = "List the names of persons, organisations and places";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Names;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Names>, QuestionError> {
        let filter = context.filter(&self.scope)?;
        if context.is_sharded() && self.since.is_some() {
            // A name that is new in some shards may be old in others.
            context.refuse_partial_test()?;
        }
        let found = context.gather(&SpanTallyPart {
            filter: Parsed::of_filter(filter.as_ref()),
            name: SPAN.to_owned(),
            by: PartKey::Attribute(NAME.to_owned()),
            along: TYPE.to_owned(),
            only: None,
        })?;
        let tokens = found.tokens;
        let since = self.since.map(Day::of);
        let mut rows: Vec<NameRow> = found
            .values
            .iter()
            .filter(|(_, count)| count.documents >= self.min_documents && count.sites >= self.min_sites)
            .filter(|(_, count)| since.is_none_or(|since| count.days().is_some_and(|(first, _)| first >= since)))
            .map(|(name, count)| row(name.clone(), count, tokens))
            .filter(|row| self.kind.is_none() || row.r#type == self.kind)
            .collect();
        rows.sort_by(|a, b| {
            (b.documents, b.mentions).cmp(&(a.documents, a.mentions)).then_with(|| a.name.cmp(&b.name))
        });
        let mut values = Some(self.limit.cut(&mut rows));
        if context.is_cut_off() {
            values = None;
            rows.iter_mut().for_each(|row| {
                (row.r#type, row.per_million, row.first_seen, row.last_seen) = (None, None, None, None);
            });
            // A name that was not seen before that day may be in the part that was not read.
            rows.retain(|_| self.since.is_none());
        }
        let body = Names { tokens, mentions: found.all, values, rows };
        Ok(context.answered((None, filter.as_ref()), MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_needs_two_thirds_of_the_mentions_that_have_one() {
        let of = |along: &[(&str, u64)]| {
            let along = along.iter().map(|(name, hits)| ((*name).to_owned(), *hits)).collect();
            type_of(&SpanCount { along, ..SpanCount::default() })
        };
        assert_eq!(of(&[("", 90), ("PER", 2)]), Some(NameType::Person));
        assert_eq!(of(&[("PER", 2), ("ORG", 1)]), Some(NameType::Person));
        assert_eq!(of(&[("PER", 3), ("ORG", 2)]), None);
        assert_eq!(of(&[("", 9), ("odd", 9)]), None);
    }

    #[test]
    fn the_query_of_a_name_escapes_its_marks() {
        assert_eq!(span_query("ne", "name", r#"The "X" \ Y"#), r#"<ne name=="The \"X\" \\ Y"/>"#);
    }
}
