//! The concordance: hits in their context.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::kwic::{KwicToken, Line, MAX_CONTEXT, SortKey};
use super::params::{Cursor, PageParams, RefineParams, SearchParams, check_page_rows};
use super::stream::as_values;
use super::{
    AVAILABILITY_FIELD, Answered, Availability, Cost, Exactness, Question, QuestionContext, QuestionError, Request,
    RowSink,
};
use crate::cql::MatchRule;
use crate::engine::{Cells, Hit, Reserved, Search, View};
use crate::filter::Filter;
use crate::measure::per_million;

/// Shows the hits of a query in their context.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConcordanceRequest {
    /// The query.
    #[serde(flatten)]
    pub search: SearchParams,
    /// The neighbourhood of the hits.
    #[serde(flatten)]
    pub refine: RefineParams,
    /// Tokens on each side of the hit.
    #[serde(default = "usual_context")]
    #[schemars(range(min = 0, max = MAX_CONTEXT))]
    pub context: u32,
    /// Fields of the documents to show, separated by commas.
    #[serde(default = "usual_fields")]
    pub fields: Vec<String>,
    /// Sort by left, right, node, a token beside the hit (left2, 1R.lemma), fields, or good examples (good), separated by commas.
    #[serde(default)]
    #[schemars(extend("x-value-name" = "KEYS"))]
    pub sort: Vec<SortKey>,
    /// The size of a random sample to show instead of a page.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200_000))]
    pub sample: Option<u64>,
    /// The seed of the sample: the same seed gives the same sample.
    #[serde(default = "usual_seed")]
    pub seed: u64,
    /// Take the longest of several matches that begin at one position.
    #[serde(default)]
    pub longest: bool,
    /// Whether to count all hits, which may take longer than the page.
    #[serde(default = "yes")]
    #[schemars(extend("x-api-only" = true))]
    pub count: bool,
    /// The page.
    #[serde(flatten)]
    pub page: PageParams,
}

fn usual_context() -> u32 {
    12
}

fn usual_fields() -> Vec<String> {
    vec!["date".to_owned(), "site".to_owned()]
}

fn usual_seed() -> u64 {
    1
}

fn yes() -> bool {
    true
}

answer! {
    /// A page of hits in their context.
    pub struct Concordance {
        /// All hits, on this page or not; missing if they were not counted, and those found until the limit if the answer is
        /// cut off.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64")]
        pub hits: Option<u64>,
        /// Tokens of the documents searched.
        pub tokens: u64,
        /// Hits per million tokens; missing if hits were not counted, or the answer is cut off.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "f64")]
        pub per_million: Option<f64>,
        /// The number of the first line, from 0.
        pub first: u64,
        /// Hits without a line, because their documents may not be read; missing if hits were not counted, or the answer is
        /// cut off.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64")]
        pub withheld: Option<u64>,
        /// The cursor of the next page; null if there is none.
        pub next: Option<Cursor>,
        /// The lines of this page.
        pub lines: Vec<ConcordanceLine>,
    }

    /// A line of a concordance.
    pub struct ConcordanceLine {
        /// The id of the document.
        pub document: String,
        /// The fields of the document that were asked for.
        pub fields: BTreeMap<String, String>,
        /// Whether the text may not be shown; missing in answers of this version, which leave such lines out.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub restricted: bool,
        /// The first token of the hit, counted in the document from 0.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32")]
        pub position: Option<u32>,
        /// The tokens before the hit.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Vec<KwicToken>")]
        pub left: Option<Vec<KwicToken>>,
        /// The hit.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Vec<KwicToken>")]
        pub node: Option<Vec<KwicToken>>,
        /// The tokens after the hit.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Vec<KwicToken>")]
        pub right: Option<Vec<KwicToken>>,
    }
}

/// The memory of a token of a line: as a value, as JSON, and compressed.
const TOKEN_BYTES: u64 = 200;

impl ConcordanceRequest {
    /// The choice among matches that begin at one position.
    pub fn rule(&self) -> MatchRule {
        if self.longest { MatchRule::Longest } else { MatchRule::Shortest }
    }

    /// The same question with the neighbourhood of hits as a part of the query.
    fn refined(&self, context: &QuestionContext<'_>) -> Result<ConcordanceRequest, QuestionError> {
        let search = SearchParams { q: self.refine.refined(&self.search.q, context)?, ..self.search.clone() };
        Ok(ConcordanceRequest { search, refine: RefineParams::default(), ..self.clone() })
    }

    fn view(&self, context: &QuestionContext<'_>) -> Result<View, QuestionError> {
        self.fields.iter().try_for_each(|name| context.check_field("fields", name))?;
        self.sort.iter().try_for_each(|key| context.check_sort_key("sort", key))?;
        let size = self.page.rows(context)?;
        if !context.streams {
            check_page_rows("sample", self.sample.unwrap_or(0))?;
        }
        Ok(View {
            order: self.page.order,
            sort: self.sort.clone(),
            sample: self.sample.map(|size| usize::try_from(size).unwrap_or(usize::MAX)),
            seed: self.seed,
            first: usize::try_from(self.page.first()).unwrap_or(usize::MAX),
            size: usize::try_from(size).unwrap_or(usize::MAX),
        })
    }

    /// The answer without lines. Hits are counted in all documents that the client may count.
    fn head(
        &self,
        context: &QuestionContext<'_>,
        search: &Search<'_>,
        filter: Option<&Filter>,
    ) -> Result<Concordance, QuestionError> {
        let wider = match (context.privacy.is_limited(context.all), self.search.q.is_single_token()) {
            (false, _) => None,
            (true, true) => Some(context.search_words(&self.search.q, filter, Cells::One)?),
            (true, false) => Some(context.search(&self.search.q, self.rule(), filter)?),
        };
        let search = wider.as_ref().unwrap_or(search);
        let tokens = search.tokens();
        let mut head = Concordance {
            hits: None,
            tokens,
            per_million: None,
            first: self.page.first(),
            withheld: None,
            next: None,
            lines: Vec::new(),
        };
        if self.count {
            let counted = search.count(&context.limits);
            head.hits = Some(counted.hits);
            head.per_million = per_million(counted.hits as f64, tokens as f64).filter(|_| counted.complete);
            let mut withheld = 0;
            if wider.is_some() && self.search.q.is_single_token() {
                let shown = context.search(&self.search.q, self.rule(), filter)?.count(&context.limits);
                withheld = counted.hits.saturating_sub(shown.hits);
            }
            head.withheld = Some(withheld).filter(|_| !context.is_cut_off());
        }
        Ok(head)
    }

    /// The line of a hit; nothing if the client has had its lines of the document today. Such a line leaves no trace,
    /// because a trace would say that the document has a hit.
    fn line(&self, context: &QuestionContext<'_>, hit: &Hit) -> Result<Option<ConcordanceLine>, QuestionError> {
        let stated = context.engine.field_of(hit, AVAILABILITY_FIELD)?;
        let availability = Availability::of_field(stated.as_deref(), context.privacy.default);
        if !context.privacy.shows_lines(availability) {
            return Ok(None);
        }
        let fields: Vec<&str> = self.fields.iter().map(String::as_str).collect();
        let Line { document, fields, position, left, node, right } = context.engine.line(hit, self.context, &fields)?;
        let may_show = context.privacy.shows_text(availability) || context.takes_window(&document, position.into());
        let (position, left, node, right) = (Some(position), Some(left), Some(node), Some(right));
        Ok(may_show.then_some(ConcordanceLine { document, fields, restricted: false, position, left, node, right }))
    }

    /// Reserves the memory of the lines of a page before they are made.
    fn reserve(&self, context: &QuestionContext<'_>, hits: &[Hit]) -> Result<Reserved, QuestionError> {
        let tokens: u64 = hits.iter().map(|hit| u64::from(hit.end - hit.start) + 2 * u64::from(self.context)).sum();
        let mut memory = context.limits.memory();
        if memory.grow(tokens.saturating_mul(TOKEN_BYTES)) {
            return Ok(memory);
        }
        let message = format!(
            "{} lines with {} tokens of context on each side have up to {tokens} tokens, more than fit into the memory of \
             one question; give a smaller size or context, or get lines as a stream, with format=jsonl or csv",
            hits.len(),
            self.context
        );
        Err(QuestionError::TooLarge { parameter: "size".into(), message })
    }

    /// The hits of a page or a sample, in the order of their lines.
    fn hits(
        &self,
        context: &QuestionContext<'_>,
        search: &Search<'_>,
        view: &View,
    ) -> Result<(Vec<Hit>, Exactness), QuestionError> {
        Ok(search.hits_of_view(view, self.context, &context.limits)?)
    }

    /// The answer without lines for the hits that were selected.
    fn head_of_hits(
        &self,
        context: &QuestionContext<'_>,
        search: &Search<'_>,
        filter: Option<&Filter>,
        view: &View,
        hits: &[Hit],
    ) -> Result<Concordance, QuestionError> {
        let mut body = self.head(context, search, filter)?;
        if context.is_cut_off() {
            let shown = hits.len() as u64 + if view.sample.is_none() { self.page.first() } else { 0 };
            body.hits = body.hits.map(|counted| counted.max(if hits.is_empty() { 0 } else { shown }));
        }
        if view.sample.is_none() {
            body.next = self.page.next(context, hits.len() as u64, view.size as u64);
        }
        Ok(body)
    }

    fn about(
        &self,
        context: &QuestionContext<'_>,
        filter: Option<&Filter>,
        exactness: Exactness,
        body: Concordance,
    ) -> Answered<Concordance> {
        let limit = context
            .window_limit
            .map(|limit| format!("at most {} lines of a document are shown each day", limit.per_day));
        context.answered((Some(&self.search.q), filter), self.rule(), exactness, limit.into_iter().collect(), body)
    }

    /// Whether hits can be given as they are found: nothing is sorted or sampled.
    fn can_stream(&self) -> bool {
        self.sort.is_empty() && self.sample.is_none()
    }

    /// Gives lines as their hits are found.
    fn stream_hits(&self, context: &QuestionContext<'_>, sink: &mut dyn RowSink) -> Result<(), QuestionError> {
        let filter = context.filter(&self.search.scope)?;
        let search = context.search_lines(&self.search.q, self.rule(), filter.as_ref())?;
        let view = self.view(context)?;
        let body = self.head(context, &search, filter.as_ref())?;
        self.stream_head(context, filter.as_ref(), Exactness::Exact, body, sink);
        let (mut seen, mut taken) = (0, 0);
        let mut stopped: Option<Result<(), QuestionError>> = None;
        let complete = search.in_order(view.order, &context.limits, &mut |hit| {
            seen += 1;
            if seen <= view.first {
                return ControlFlow::Continue(());
            }
            taken += 1;
            stopped = match self.line(context, &hit) {
                Ok(Some(line)) => sink.row(&line).is_break().then_some(Ok(())),
                Ok(None) => None,
                Err(error) => Some(Err(error)),
            };
            if stopped.is_some() || taken == view.size { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match stopped {
            Some(stopped) => stopped,
            None if complete || taken == view.size => Ok(()),
            None => Err(QuestionError::Timeout),
        }
    }

    /// Gives the lines of a sample or of sorted hits, one after the other.
    fn stream_selected(&self, context: &QuestionContext<'_>, sink: &mut dyn RowSink) -> Result<(), QuestionError> {
        let filter = context.filter(&self.search.scope)?;
        let search = context.search_lines(&self.search.q, self.rule(), filter.as_ref())?;
        let view = self.view(context)?;
        let (hits, exactness) = self.hits(context, &search, &view)?;
        let body = self.head(context, &search, filter.as_ref())?;
        if context.is_cut_off() {
            return Err(QuestionError::Timeout);
        }
        self.stream_head(context, filter.as_ref(), exactness, body, sink);
        for hit in hits {
            if context.limits.is_over() {
                return Err(QuestionError::Timeout);
            }
            if self.line(context, &hit)?.is_some_and(|line| sink.row(&line).is_break()) {
                break;
            }
        }
        Ok(())
    }

    /// Gives all of a stream but its lines.
    fn stream_head(
        &self,
        context: &QuestionContext<'_>,
        filter: Option<&Filter>,
        exactness: Exactness,
        body: Concordance,
        sink: &mut dyn RowSink,
    ) {
        let mut head = as_values::<Self>(self.about(context, filter, exactness, body));
        if let Some(body) = head.body.as_object_mut() {
            body.retain(|name, _| !["lines", "next"].contains(&name.as_str()));
        }
        sink.head(head);
    }

    /// Gives the lines of a page one by one and returns the answer without them; nothing if it is cancelled.
    fn page(
        &self,
        context: &QuestionContext<'_>,
        give: &mut dyn FnMut(ConcordanceLine) -> ControlFlow<()>,
    ) -> Result<Option<Answered<Concordance>>, QuestionError> {
        let filter = context.filter(&self.search.scope)?;
        let search = context.search_lines(&self.search.q, self.rule(), filter.as_ref())?;
        let view = self.view(context)?;
        let (hits, exactness) = self.hits(context, &search, &view)?;
        let _memory = self.reserve(context, &hits)?;
        // Lines before the count, which may take all the time.
        let mut lines = 0;
        for hit in &hits {
            if context.limits.is_cancelled() {
                return Ok(None);
            }
            let Some(line) = self.line(context, hit)? else { continue };
            lines += 1;
            if give(line).is_break() {
                return Ok(None);
            }
        }
        let mut body = self.head_of_hits(context, &search, filter.as_ref(), &view, &hits)?;
        if !context.privacy.is_limited(context.all) {
            return Ok(Some(self.about(context, filter.as_ref(), exactness, body)));
        }
        // Lines of documents that are counted in groups only are hits all the same.
        let shown = if lines == 0 { 0 } else { lines + if view.sample.is_none() { self.page.first() } else { 0 } };
        body.hits = body.hits.map(|hits| hits.max(shown));
        let exactness = match exactness {
            // The number of lines is none that the client may count.
            Exactness::Sample { hits, seed, .. } => {
                Exactness::Sample { hits, of_hits: body.hits.unwrap_or(hits).max(hits), seed }
            }
            exactness => exactness,
        };
        Ok(Some(self.about(context, filter.as_ref(), exactness, body)))
    }

    /// Gives a page: its lines become bytes one by one, and are never all in memory as values.
    fn give_page(&self, context: &QuestionContext<'_>, sink: &mut dyn RowSink) -> Result<(), QuestionError> {
        let Some(answered) = self.page(context, &mut |line| sink.row(&line))? else { return Ok(()) };
        let mut head = as_values::<Self>(answered);
        if let Some(body) = head.body.as_object_mut() {
            body.remove(Self::ROWS);
        }
        sink.head(head);
        Ok(())
    }
}

impl Request for ConcordanceRequest {
    fn example() -> ConcordanceRequest {
        ConcordanceRequest {
            search: SearchParams::example(),
            refine: RefineParams::default(),
            context: usual_context(),
            fields: usual_fields(),
            sort: Vec::new(),
            sample: None,
            seed: usual_seed(),
            longest: false,
            count: true,
            page: PageParams { size: Some(5), ..PageParams::default() },
        }
    }
}

impl Question for ConcordanceRequest {
    const NAME: &'static str = "query";
    const SUMMARY: &'static str = "Show hits of a query in their context";
    const ROWS: &'static str = "lines";
    const COST: Cost = Cost::Quick;
    type Answer = Concordance;

    fn cost(&self) -> Cost {
        if self.can_stream() { Cost::Quick } else { Cost::Heavy }
    }

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Concordance>, QuestionError> {
        let asked = self.refined(context)?;
        let mut lines = Vec::new();
        let page = asked.page(context, &mut |line| {
            lines.push(line);
            ControlFlow::Continue(())
        })?;
        let Answered { about, rewrites, body } = page.ok_or(QuestionError::Timeout)?;
        Ok(Answered { about, rewrites, body: Concordance { lines, ..body } })
    }

    fn evaluate_rows(&self, context: &QuestionContext<'_>, sink: &mut dyn RowSink) -> Result<(), QuestionError> {
        let asked = self.refined(context)?;
        match (context.streams, asked.can_stream()) {
            (false, _) => asked.give_page(context, sink),
            (true, true) => asked.stream_hits(context, sink),
            (true, false) => asked.stream_selected(context, sink),
        }
    }
}
