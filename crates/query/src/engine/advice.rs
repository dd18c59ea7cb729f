//! Suggestions for word sketches: the lemma of a form, and an example of a pattern.

use super::{Engine, Limits, Order, Result};
use crate::cql::{self, Attribute, MatchRule};
use crate::filter::Filter;
use crate::question::text_of;

/// Tokens on each side of an example.
const EXAMPLE_CONTEXT: u32 = 6;

impl Engine {
    /// The most frequent lemma of a form, in any case, other than the form itself.
    pub fn likeliest_lemma(&self, form: &str, filter: Option<&Filter>, limits: &Limits) -> Result<Option<String>> {
        let quoted = form.replace(['"', '\\'], "").to_lowercase();
        let query = cql::parse(&format!("[lc==\"{quoted}\"]"))?;
        let (lemmas, _) = self.search(&query, MatchRule::default(), filter)?.by_attribute(Attribute::Lemma, limits);
        let others = lemmas.into_iter().filter(|(lemma, _)| lemma != form && !lemma.is_empty());
        Ok(others.max_by(|a, b| a.1.0.cmp(&b.1.0).then_with(|| b.0.cmp(&a.0))).map(|(lemma, _)| lemma))
    }

    /// The newest hit of a query with a little context; empty if there is none.
    pub fn example(&self, query: &str, filter: Option<&Filter>, limits: &Limits) -> Result<String> {
        let search = self.search(&cql::parse(query)?, MatchRule::default(), filter)?;
        let (hits, _) = search.page(Order::Newest, 0, 1, limits);
        let lines = self.lines(&hits, EXAMPLE_CONTEXT, &[])?;
        let text =
            lines.first().map(|line| [&line.left, &line.node, &line.right].map(|tokens| text_of(tokens)).concat());
        Ok(text.unwrap_or_default().trim().to_owned())
    }
}
