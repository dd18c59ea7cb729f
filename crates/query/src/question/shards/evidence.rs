//! Evidence of words: where and when their hits are, and the first line of each that the client may see.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tidings_index::Day;

use super::{Part, are_days};
use crate::cql::{MatchRule, Query};
use crate::engine::{Hit, Order};
use crate::filter::Filter;
use crate::merge::Merge;
use crate::question::{AVAILABILITY_FIELD, Availability, Citation, Parsed, QuestionContext, QuestionError, text_of};

/// The tokens of a citation on each side.
const CITATION_CONTEXT: u32 = 15;
/// The hits that are tried for a citation: the first documents may be ones that the client may not see.
const CITATION_TRIES: usize = 20;

/// The evidence of each of some queries.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct EvidencePart {
    pub(in crate::question) queries: Vec<Parsed<Query>>,
    pub(in crate::question) filter: Option<Parsed<Filter>>,
}

impl Part for EvidencePart {
    const NAME: &'static str = "evidence";
    type Sum = Vec<Evidence>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Vec<Evidence>, QuestionError> {
        self.queries.iter().map(|query| Evidence::of(context, query, self.filter.as_deref())).collect()
    }

    fn is_plausible(sum: &Vec<Evidence>) -> bool {
        sum.iter().all(|evidence| are_days(evidence.days.iter().chain(evidence.first.iter().map(|(day, _)| day))))
    }
}

/// Where and when the hits of a query are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::question) struct Evidence {
    pub(in crate::question) hits: u64,
    pub(in crate::question) documents: u64,
    /// Sites; all documents of one are in one shard.
    pub(in crate::question) sites: u64,
    days: BTreeSet<i32>,
    /// The days of the first hits, oldest first, up to the one whose line the client may see.
    first: Vec<(i32, Option<Citation>)>,
}

/// Sums are made in the order of the shards, so that of one day the hits of the first shard come first.
impl Merge for Evidence {
    fn merge_from(&mut self, other: Evidence) {
        self.hits.merge_from(other.hits);
        self.documents.merge_from(other.documents);
        self.sites.merge_from(other.sites);
        self.days.merge_from(other.days);
        self.first.extend(other.first);
        self.first.sort_by_key(|(day, _)| *day);
        let end = self.first.iter().position(|(_, citation)| citation.is_some());
        self.first.truncate(end.map_or(CITATION_TRIES, |at| at + 1).min(CITATION_TRIES));
    }
}

impl Evidence {
    fn of(
        context: &QuestionContext<'_>,
        query: &Parsed<Query>,
        filter: Option<&Filter>,
    ) -> Result<Evidence, QuestionError> {
        let search = context.search(query, MatchRule::default(), filter)?;
        let by_site = search.by_field("site", &context.limits);
        let days = search.by_day(&context.limits);
        let (hits, _) = search.page(Order::Oldest, 0, CITATION_TRIES, &context.limits);
        let mut first = Vec::new();
        for hit in &hits {
            let citation = citation(context, hit)?;
            let is_found = citation.is_some();
            first.push((search.day_of(hit).0, citation));
            if is_found {
                break;
            }
        }
        let with_hits = || by_site.values.values().filter(|count| count.hits > 0);
        Ok(Evidence {
            hits: with_hits().map(|count| count.hits).sum(),
            documents: with_hits().map(|count| count.hit_documents).sum(),
            sites: with_hits().count() as u64,
            days: days.hits.keys().map(|day| day.0).collect(),
            first,
        })
    }

    /// The days with hits, in order.
    pub(in crate::question) fn days(&self) -> impl Iterator<Item = Date> {
        self.days.iter().map(|day| Day(*day).date())
    }

    /// The first line that the client may see.
    pub(in crate::question) fn into_citation(self) -> Option<Citation> {
        self.first.into_iter().find_map(|(_, citation)| citation)
    }
}

/// The line of a hit, if the client may see it.
fn citation(context: &QuestionContext<'_>, hit: &Hit) -> Result<Option<Citation>, QuestionError> {
    let stated = context.engine.field_of(hit, AVAILABILITY_FIELD)?;
    let availability = Availability::of_field(stated.as_deref(), context.privacy.default);
    if !context.privacy.shows_lines(availability) {
        return Ok(None);
    }
    let line = context.engine.line(hit, CITATION_CONTEXT, &["date", "site", "title", "url"])?;
    if !context.privacy.shows_text(availability) && !context.takes_window(&line.document, line.position.into()) {
        return Ok(None);
    }
    let field = |name: &str| line.fields.get(name).cloned().unwrap_or_default();
    Ok(Some(Citation {
        document: line.document.clone(),
        date: field("date"),
        site: field("site"),
        title: field("title"),
        url: field("url"),
        left: text_of(&line.left),
        node: text_of(&line.node),
        right: text_of(&line.right),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn citation(document: &str) -> Option<Citation> {
        let text = String::new;
        let document = document.to_owned();
        let (date, site, title, url) = (text(), text(), text(), text());
        Some(Citation { document, date, site, title, url, left: text(), node: text(), right: text() })
    }

    fn evidence(days: &[i32], first: Vec<(i32, Option<Citation>)>) -> Evidence {
        let days: BTreeSet<i32> = days.iter().copied().collect();
        Evidence { hits: 2, documents: 1, sites: 1, days, first }
    }

    #[test]
    fn the_citation_of_all_shards_is_the_first_line_in_time_that_may_be_seen() {
        let mut sum = evidence(&[3, 9], vec![(3, None), (9, citation("late"))]);
        sum.merge_from(evidence(&[5, 9], vec![(5, citation("early"))]));
        sum.merge_from(evidence(&[5], vec![(5, citation("same day"))]));
        assert_eq!((sum.hits, sum.documents, sum.sites), (6, 3, 3));
        assert_eq!(sum.days().map(|day| day.day()).collect::<Vec<_>>(), [4, 6, 10]);
        assert_eq!(sum.into_citation().unwrap().document, "early");
    }

    #[test]
    fn lines_after_the_hits_that_one_index_tries_are_not_cited() {
        let mut sum = evidence(&[1], vec![(1, None); CITATION_TRIES]);
        sum.merge_from(evidence(&[2], vec![(2, citation("late"))]));
        assert_eq!(sum.into_citation(), None);
    }
}
