//! The concordance: hits in their context.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::kwic::{KwicToken, Line, MAX_CONTEXT, SortKey};
use super::params::{Cursor, PageParams, RefineParams, SearchParams, check_page_rows};
use super::shards::{FoundHit, FoundHits, InTime, PagePart, RowsPart, Searched, in_time};
use super::stream::as_values;
use super::{
    AVAILABILITY_FIELD, Answered, Availability, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError,
    Request, RowSink,
};
use crate::cql::MatchRule;
use crate::engine::{Cells, Hit, MOST_SORTED, Order, Reserved, Search, View};
use crate::filter::Filter;
use crate::measure::per_million;
use crate::merge::Merge;

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
    #[derive(serde::Deserialize)]
    pub struct ConcordanceLine {
        /// The id of the document.
        pub document: String,
        /// The fields of the document that were asked for.
        pub fields: BTreeMap<String, String>,
        /// Whether the text may not be shown; missing in answers of this version, which leave such lines out.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
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

/// The counts of a concordance.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct HeadCounts {
    tokens: u64,
    /// Hits; nothing if they were not counted.
    hits: Option<u64>,
    /// Hits without a line.
    withheld: u64,
}

impl Merge for HeadCounts {
    fn merge_from(&mut self, other: HeadCounts) {
        self.tokens.merge_from(other.tokens);
        self.hits = self.hits.zip(other.hits).map(|(one, other)| one.saturating_add(other));
        self.withheld.merge_from(other.withheld);
    }
}

impl HeadCounts {
    /// The sum of the counts of the shards that answer.
    fn of_shards(shards: impl Iterator<Item = Option<HeadCounts>>) -> HeadCounts {
        let mut counts = shards.flatten();
        let mut sum = counts.next().unwrap_or_default();
        counts.for_each(|other| sum.merge_from(other));
        sum
    }
}

/// The memory of a token of a line: as a value, as JSON, and compressed.
pub(super) const TOKEN_BYTES: u64 = 200;

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
        Ok(self.head_of(context, self.head_counts(context, search, filter)?))
    }

    fn head_counts(
        &self,
        context: &QuestionContext<'_>,
        search: &Search<'_>,
        filter: Option<&Filter>,
    ) -> Result<HeadCounts, QuestionError> {
        let wider = match (context.privacy.is_limited(context.all), self.search.q.is_single_token()) {
            (false, _) => None,
            (true, true) => Some(context.search_words(&self.search.q, filter, Cells::One)?),
            (true, false) => Some(context.search(&self.search.q, self.rule(), filter)?),
        };
        let search = wider.as_ref().unwrap_or(search);
        let mut counts = HeadCounts { tokens: search.tokens(), hits: None, withheld: 0 };
        if self.count {
            let counted = search.count(&context.limits);
            counts.hits = Some(counted.hits);
            if wider.is_some() && self.search.q.is_single_token() {
                let shown = context.search(&self.search.q, self.rule(), filter)?.count(&context.limits);
                counts.withheld = counted.hits.saturating_sub(shown.hits);
            }
        }
        Ok(counts)
    }

    /// The answer without lines.
    fn head_of(&self, context: &QuestionContext<'_>, counts: HeadCounts) -> Concordance {
        let HeadCounts { hits, tokens, withheld } = counts;
        let is_complete = !context.is_cut_off();
        let rate = hits.and_then(|hits| per_million(hits as f64, tokens as f64));
        Concordance {
            hits,
            tokens,
            per_million: rate.filter(|_| is_complete),
            first: self.page.first(),
            withheld: hits.map(|_| withheld).filter(|_| is_complete),
            next: None,
            lines: Vec::new(),
        }
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
        let body = self.head(context, search, filter)?;
        Ok(self.with_page(context, body, view, hits.len() as u64))
    }

    /// The answer without lines, with what the hits of the page say.
    fn with_page(&self, context: &QuestionContext<'_>, mut body: Concordance, view: &View, hits: u64) -> Concordance {
        if context.is_cut_off() {
            let shown = hits + if view.sample.is_none() { self.page.first() } else { 0 };
            body.hits = body.hits.map(|counted| counted.max(if hits == 0 { 0 } else { shown }));
        }
        if view.sample.is_none() {
            body.next = self.page.next(context, hits, view.size as u64);
        }
        body
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
        if context.is_sharded() {
            return self.page_of_shards(context, give);
        }
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
        let body = self.head_of_hits(context, &search, filter.as_ref(), &view, &hits)?;
        Ok(Some(self.with_lines(context, filter.as_ref(), exactness, body, (&view, lines))))
    }

    /// The answer with what its lines say.
    fn with_lines(
        &self,
        context: &QuestionContext<'_>,
        filter: Option<&Filter>,
        exactness: Exactness,
        mut body: Concordance,
        (view, lines): (&View, u64),
    ) -> Answered<Concordance> {
        if !context.is_limited().0 {
            return self.about(context, filter, exactness, body);
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
        self.about(context, filter, exactness, body)
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

/// Pages that are put together from shards.
impl ConcordanceRequest {
    /// The first hits of a shard in the order of the view, and the counts of the shard.
    pub(super) fn part(
        &self,
        context: &QuestionContext<'_>,
        filter: Option<&Filter>,
        (first, most): (usize, usize),
        has_lines: bool,
    ) -> Result<FoundHits, QuestionError> {
        let search = context.search_lines(&self.search.q, self.rule(), filter)?;
        let is_selected = self.sample.is_some() || !self.sort.is_empty();
        let all = if is_selected { search.count(&context.limits).hits } else { 0 };
        let ranked: Vec<(u64, Hit)> = match (self.sample, self.sort.is_empty()) {
            (Some(_), _) => {
                let mut drawn = search.draw(most, self.seed, &context.limits).0;
                drawn.sort_unstable_by_key(|(_, hit)| *hit);
                drawn
            }
            (None, true) => {
                let page = search.page(self.page.order, first, most, &context.limits).0;
                page.into_iter().map(|hit| (0, hit)).collect()
            }
            // A sample of all shards is sorted then.
            (None, false) if all > MOST_SORTED as u64 => Vec::new(),
            (None, false) => {
                let view = View { sort: self.sort.clone(), size: most, ..View::default() };
                let hits = search.hits_of_view(&view, self.context, &context.limits)?.0;
                hits.into_iter().map(|hit| (0, hit)).collect()
            }
        };
        let (ranks, found): (Vec<u64>, Vec<Hit>) = ranked.into_iter().unzip();
        let keys = search.key_texts(&found, &self.sort, self.context)?;
        let mut hits = Vec::with_capacity(found.len());
        for ((rank, hit), keys) in ranks.into_iter().zip(&found).zip(keys) {
            hits.push(FoundHit {
                day: search.day_of(hit).0,
                rank,
                keys,
                place: (hit.segment, hit.start, hit.end),
                line: if has_lines { self.line(context, hit)? } else { None },
            });
        }
        // Lines before the count, which may take all the time.
        Ok(FoundHits { counts: self.head_counts(context, &search, filter)?, hits, all })
    }

    /// The lines of hits of a shard.
    pub(super) fn lines_of(
        &self,
        context: &QuestionContext<'_>,
        hits: &[Hit],
    ) -> Result<Vec<Option<ConcordanceLine>>, QuestionError> {
        let _memory = self.reserve(context, hits)?;
        hits.iter().map(|hit| self.line(context, hit)).collect()
    }

    /// The search, as a part tells what it asks for.
    pub(super) fn searched<'p>(&'p self, filter: Option<&'p Filter>) -> Searched<'p> {
        let rates_sentences = self.sort.contains(&SortKey::Good);
        Searched { q: &self.search.q, rule: self.rule(), filter, rates_sentences, is_of_document: false }
    }

    /// The request for the hits of a shard.
    fn part_of_shard(&self, filter: Option<&Filter>, (first, hits): (usize, usize), lines: bool) -> PagePart {
        let page = PageParams { order: self.page.order, ..PageParams::default() };
        let request = ConcordanceRequest { page, ..self.clone() };
        PagePart { request, filter: Parsed::of_filter(filter), first, hits, lines }
    }

    /// Gives the lines of a page from all shards one by one and returns the answer without them.
    fn page_of_shards(
        &self,
        context: &QuestionContext<'_>,
        give: &mut dyn FnMut(ConcordanceLine) -> ControlFlow<()>,
    ) -> Result<Option<Answered<Concordance>>, QuestionError> {
        let filter = context.filter(&self.search.scope)?;
        let view = self.view(context)?;
        // Lines count against the limit of the client, so that only those are made that are shown.
        let has_lines = self.can_stream() && view.first == 0 && context.window_limit.is_none();
        let (counts, hits, exactness) = match self.can_stream() {
            true => {
                let mut rows = RowsOfShards::new(self, context, filter.as_ref(), has_lines);
                let hits = rows.page(view.first, view.size)?;
                (rows.counts()?, hits, Exactness::Exact)
            }
            false => self.selected_of_shards(context, filter.as_ref(), &view)?,
        };
        let hits_of_page = hits.len() as u64;
        let shown: Vec<Option<ConcordanceLine>> = match has_lines {
            true => hits.into_iter().map(|(_, hit)| hit.line).collect(),
            false => self.rows_of_shards(context, &hits)?,
        };
        let mut lines = 0;
        for line in shown.into_iter().flatten() {
            lines += 1;
            if give(line).is_break() {
                return Ok(None);
            }
        }
        let body = self.head_of(context, counts);
        let body = self.with_page(context, body, &view, hits_of_page);
        Ok(Some(self.with_lines(context, filter.as_ref(), exactness, body, (&view, lines))))
    }

    /// Gives the lines of a stream from all shards, a piece at a time.
    fn stream_of_shards(&self, context: &QuestionContext<'_>, sink: &mut dyn RowSink) -> Result<(), QuestionError> {
        let filter = context.filter(&self.search.scope)?;
        let view = self.view(context)?;
        let mut rows = RowsOfShards::new(self, context, filter.as_ref(), false);
        let (counts, mut selected, exactness) = match self.can_stream() {
            true => (rows.counts()?, None, Exactness::Exact),
            false => {
                let (counts, hits, exactness) = self.selected_of_shards(context, filter.as_ref(), &view)?;
                (counts, Some(hits.into_iter()), exactness)
            }
        };
        if context.is_cut_off() {
            return Err(QuestionError::Timeout);
        }
        self.stream_head(context, filter.as_ref(), exactness, self.head_of(context, counts), sink);
        let (mut skipped, mut left) = (view.first, view.size);
        loop {
            let most = left.min(PIECE_LINES);
            let hits = match &mut selected {
                Some(hits) => hits.by_ref().take(most).collect(),
                None => rows.page(std::mem::take(&mut skipped), most)?,
            };
            if context.is_cut_off() || context.limits.is_over() {
                return Err(QuestionError::Timeout);
            }
            left -= hits.len();
            for line in self.rows_of_shards(context, &hits)?.into_iter().flatten() {
                if sink.row(&line).is_break() {
                    return Ok(());
                }
            }
            if hits.len() < most || left == 0 {
                return Ok(());
            }
        }
    }

    /// The hits of a sample or of a sorted page over all shards, with the counts.
    fn selected_of_shards(
        &self,
        context: &QuestionContext<'_>,
        filter: Option<&Filter>,
        view: &View,
    ) -> Result<(HeadCounts, HitsOfShards, Exactness), QuestionError> {
        let most = view.sample.unwrap_or(view.first.saturating_add(view.size)).min(MOST_SORTED);
        let gather = |request: &ConcordanceRequest, most: usize| {
            let part = request.part_of_shard(filter, (0, most), false);
            let found = context.gather_each(|_| Some(&part))?;
            let counts = HeadCounts::of_shards(found.iter().map(|found| found.as_ref().map(|found| found.counts)));
            let all = found.iter().flatten().fold(0u64, |sum, found| sum.saturating_add(found.all));
            let shards = found.into_iter().map(|found| found.unwrap_or_default().hits).collect();
            Ok::<(HeadCounts, u64, Vec<Vec<FoundHit>>), QuestionError>((counts, all, shards))
        };
        let (counts, all, shards) = gather(self, most)?;
        if view.sample.is_some() || all <= MOST_SORTED as u64 {
            let (hits, exactness) = self.select(shards, view.sample, view, all);
            let hits = if view.sample.is_some() { hits } else { page_of(hits, view) };
            return Ok((counts, hits, exactness));
        }
        // Of more hits a sample is sorted. They are counted already.
        let sample = ConcordanceRequest { sample: Some(MOST_SORTED as u64), count: false, ..self.clone() };
        let shards = gather(&sample, MOST_SORTED)?.2;
        let (hits, exactness) = self.select(shards, Some(MOST_SORTED), view, all);
        Ok((counts, page_of(hits, view), exactness))
    }

    /// The hits of a sample, or all sorted hits, among the first of each shard, each with the number of its shard. `all` is
    /// the number of all hits.
    fn select(
        &self,
        mut shards: Vec<Vec<FoundHit>>,
        sample: Option<usize>,
        view: &View,
        all: u64,
    ) -> (HitsOfShards, Exactness) {
        let mut exactness = Exactness::Exact;
        if let Some(size) = sample {
            let mut ranks: Vec<u64> = shards.iter().flatten().map(|hit| hit.rank).collect();
            if ranks.len() > size {
                ranks.sort_unstable();
                let last = ranks[size.saturating_sub(1)];
                shards.iter_mut().for_each(|hits| hits.retain(|hit| hit.rank <= last));
            }
        }
        let mut hits = in_time(shards, Order::Oldest, |hit| hit.day);
        // Sorting is stable: equals stay in the order of time.
        hits.sort_by(|(_, a), (_, b)| a.keys.cmp(&b.keys));
        if let Some(size) = sample {
            hits.truncate(size);
            if (hits.len() as u64) < all {
                exactness = Exactness::Sample { hits: hits.len() as u64, of_hits: all, seed: view.seed };
            }
        }
        (hits, exactness)
    }

    /// The lines of hits from the shards that have them, in the order of the hits.
    fn rows_of_shards(
        &self,
        context: &QuestionContext<'_>,
        hits: &[(usize, FoundHit)],
    ) -> Result<Vec<Option<ConcordanceLine>>, QuestionError> {
        let request = self.part_of_shard(None, (0, 0), false).request;
        let shards = hits.iter().map(|(shard, _)| shard + 1).max().unwrap_or(0);
        let mut parts: Vec<RowsPart> =
            (0..shards).map(|_| RowsPart { request: request.clone(), places: Vec::new() }).collect();
        hits.iter().for_each(|(shard, hit)| parts[*shard].places.push(hit.place));
        let asked = |shard: usize| parts.get(shard).filter(|part| !part.places.is_empty());
        if shards == 0 {
            return Ok(Vec::new());
        }
        let found = context.gather_each(asked)?;
        let mut found: Vec<_> = found.into_iter().map(|lines| lines.unwrap_or_default().into_iter()).collect();
        let line = |(shard, _): &(usize, FoundHit)| found.get_mut(*shard).and_then(Iterator::next).flatten();
        Ok(hits.iter().map(line).collect())
    }
}

/// Hits with the numbers of their shards.
type HitsOfShards = Vec<(usize, FoundHit)>;

/// The most lines of a stream that are made at once from shards.
const PIECE_LINES: usize = 1000;

fn page_of(hits: HitsOfShards, view: &View) -> HitsOfShards {
    hits.into_iter().skip(view.first).take(view.size).collect()
}

/// The hits of all shards in the order of time.
struct RowsOfShards<'r> {
    request: &'r ConcordanceRequest,
    context: &'r QuestionContext<'r>,
    filter: Option<&'r Filter>,
    has_lines: bool,
    merge: InTime<FoundHit>,
    counts: Option<HeadCounts>,
}

impl<'r> RowsOfShards<'r> {
    fn new(
        request: &'r ConcordanceRequest,
        context: &'r QuestionContext<'r>,
        filter: Option<&'r Filter>,
        has_lines: bool,
    ) -> RowsOfShards<'r> {
        let merge = InTime::new(context.shards.map_or(0, |shards| shards.number), request.page.order);
        RowsOfShards { request, context, filter, has_lines, merge, counts: None }
    }

    /// The next hits after some that are passed over.
    fn page(&mut self, skipped: usize, size: usize) -> Result<HitsOfShards, QuestionError> {
        let RowsOfShards { request, context, filter, has_lines, merge, counts } = self;
        let mut fetch = |firsts: &[Option<usize>], rows: usize| {
            // Hits are counted once.
            let asked = ConcordanceRequest { count: request.count && counts.is_none(), ..(*request).clone() };
            let part = |first: usize| asked.part_of_shard(*filter, (first, rows), *has_lines);
            let parts: Vec<Option<PagePart>> = firsts.iter().map(|first| Some(part((*first)?))).collect();
            let found = context.gather_each(|shard| parts.get(shard)?.as_ref())?;
            let of_shards = found.iter().map(|found| found.as_ref().map(|found| found.counts));
            counts.get_or_insert_with(|| HeadCounts::of_shards(of_shards));
            Ok(found.into_iter().map(|found| found.map(|found| found.hits)).collect())
        };
        merge.skip(skipped, |hit| hit.day, &mut fetch)?;
        merge.next(size, |hit| hit.day, &mut fetch)
    }

    /// The counts of the concordance.
    fn counts(&mut self) -> Result<HeadCounts, QuestionError> {
        if let Some(counts) = self.counts {
            return Ok(counts);
        }
        let part = self.request.part_of_shard(self.filter, (0, 0), false);
        let found = self.context.gather_each(|_| Some(&part))?;
        let counts = HeadCounts::of_shards(found.iter().map(|found| found.as_ref().map(|found| found.counts)));
        self.counts = Some(counts);
        Ok(counts)
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
            (true, _) if context.is_sharded() => asked.stream_of_shards(context, sink),
            (true, true) => asked.stream_hits(context, sink),
            (true, false) => asked.stream_selected(context, sink),
        }
    }
}
