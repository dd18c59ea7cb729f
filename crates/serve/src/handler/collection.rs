//! The collection as a whole and over time.

use std::collections::BTreeMap;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidings_query::question::Request;
use tidings_query::trend::{Bin, Step};
use tidings_query::{answer, choices};
use tidings_store::day_stats::DayStats;
use tidings_store::{Home, feeds, yields};

use super::feeds::FeedHealth;
use super::{HomeContext, HomeQuestion};
use crate::api_error::ApiError;

choices! {
    /// A stage that keeps or drops items.
    pub enum FunnelStage {
        /// Pages become documents.
        Clean = "clean",
        /// Duplicates are found.
        Dedup = "dedup",
        /// Documents become annotated text.
        Annotate = "annotate",
    }
}

choices! {
    /// The items of a stage.
    pub enum FunnelUnit {
        /// Pages.
        Pages = "pages",
        /// Documents.
        Documents = "documents",
    }
}

choices! {
    /// Whether items were kept.
    pub enum ItemOutcome {
        /// Kept.
        Kept = "kept",
        /// Left out.
        LeftOut = "left out",
    }
}

/// Summarises the collection.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CollectionRequest {}

answer! {
    /// The collection as a whole, with the funnel from pages to text.
    pub struct Collection {
        /// Feeds, by health.
        pub feeds: BTreeMap<String, u64>,
        /// Days with statistics.
        pub days: u64,
        /// Days with fetch runs.
        pub days_with_runs: u64,
        /// The first day.
        pub first_day: Option<String>,
        /// The last day.
        pub last_day: Option<String>,
        /// The last day with a fetch run.
        pub last_run: Option<String>,
        /// Pages downloaded.
        pub pages: u64,
        /// Bytes downloaded.
        pub downloaded_bytes: u64,
        /// Bytes of text.
        pub clean_bytes: u64,
        /// Words that were compared with earlier text.
        pub words: u64,
        /// Words among them that are duplicates.
        pub duplicate_words: u64,
        /// Tokens of annotated text.
        pub tokens: u64,
        /// The funnel: the items that each stage kept or left out, by reason. The items of a stage add up to its input.
        pub rows: Vec<FunnelRow>,
    }

    /// Items that a stage kept or left out.
    pub struct FunnelRow {
        /// The stage.
        pub step: FunnelStage,
        /// The items.
        pub unit: FunnelUnit,
        /// Whether they were kept.
        pub fate: ItemOutcome,
        /// The reason why they were left out; empty if they were kept.
        pub reason: String,
        /// The number of items.
        pub items: u64,
        /// Their share of the input of the stage.
        pub share: Option<f64>,
    }
}

/// Sums over the statistics of days.
#[derive(Default)]
struct StatsSum {
    days: u64,
    days_with_runs: u64,
    runs: u64,
    /// The most on one day.
    feeds: u64,
    hosts: u64,
    sum: yields::Yield,
    words: u64,
    duplicate_words: u64,
    tokens: u64,
    /// Pages that gave no document, by reason.
    dropped: BTreeMap<String, u64>,
    judged: u64,
    duplicates: u64,
    annotated: u64,
    left_out: BTreeMap<String, u64>,
}

fn add(sums: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    more.iter().for_each(|(name, count)| *sums.entry(name.clone()).or_default() += count);
}

impl StatsSum {
    fn add(&mut self, day: &DayStats) {
        self.days += 1;
        self.days_with_runs += u64::from(day.runs > 0);
        self.runs += day.runs;
        self.feeds = self.feeds.max(day.feeds);
        self.hosts = self.hosts.max(day.hosts);
        self.sum += day.sum;
        add(&mut self.dropped, &day.dropped);
        if let Some(judged) = &day.judged {
            self.words += judged.words;
            self.duplicate_words += judged.duplicate_words;
            self.judged += judged.documents;
            self.duplicates += judged.duplicates;
        }
        if let Some(text) = &day.text {
            self.tokens += text.tokens.values().sum::<u64>();
            self.annotated += text.documents.values().sum::<u64>();
            add(&mut self.left_out, &text.dropped);
        }
    }

    fn funnel(&self) -> Vec<FunnelRow> {
        let duplicates = BTreeMap::from([("nothing new".to_owned(), self.duplicates)]);
        let stages = [
            (FunnelStage::Clean, FunnelUnit::Pages, self.sum.documents, &self.dropped),
            (FunnelStage::Dedup, FunnelUnit::Documents, self.judged - self.duplicates.min(self.judged), &duplicates),
            (FunnelStage::Annotate, FunnelUnit::Documents, self.annotated, &self.left_out),
        ];
        let mut rows = Vec::new();
        for (step, unit, kept, left_out) in stages {
            let all = kept + left_out.values().sum::<u64>();
            let mut row = |fate, reason: &str, items: u64| {
                let share = (all > 0).then(|| items as f64 / all as f64);
                rows.push(FunnelRow { step, unit, fate, reason: reason.to_owned(), items, share });
            };
            row(ItemOutcome::Kept, "", kept);
            let mut reasons: Vec<(&String, &u64)> = left_out.iter().filter(|(_, items)| **items > 0).collect();
            reasons.sort_by(|a, b| b.1.cmp(a.1));
            reasons.into_iter().for_each(|(reason, items)| row(ItemOutcome::LeftOut, reason, *items));
        }
        rows
    }
}

impl Request for CollectionRequest {
    fn example() -> CollectionRequest {
        CollectionRequest {}
    }
}

impl HomeQuestion for CollectionRequest {
    const NAME: &'static str = "collection";
    const SUMMARY: &'static str = "Summarise the collection: feeds by health, and the funnel from pages to text";
    const ROWS: &'static str = "rows";
    type Answer = Collection;

    fn answer(&self, HomeContext { registry, .. }: &HomeContext<'_>) -> Result<Collection, ApiError> {
        let feeds = feeds_by_health(&registry.home)?.into_iter().map(|(health, feeds)| (health.to_owned(), feeds));
        registry.day_stats(|stats| self.of(feeds.collect(), stats.days()))
    }
}

/// The feeds of a home by health.
pub(crate) fn feeds_by_health(home: &Home) -> Result<BTreeMap<&'static str, u64>, ApiError> {
    let states = feeds::states(home)?;
    let mut by_health: BTreeMap<&'static str, u64> = FeedHealth::ALL.iter().map(|health| (health.name(), 0)).collect();
    for listed in feeds::list(home)?.feeds {
        let health = states.get(&listed.url).cloned().unwrap_or_default().health();
        *by_health.entry(FeedHealth::from(health).name()).or_default() += 1;
    }
    Ok(by_health)
}

impl CollectionRequest {
    /// The answer for feeds by health and the statistics of days.
    pub fn of(&self, feeds: BTreeMap<String, u64>, days: &BTreeMap<String, DayStats>) -> Collection {
        let mut sum = StatsSum::default();
        days.values().for_each(|day| sum.add(day));
        let last_run = days.iter().rev().find(|(_, day)| day.runs > 0).map(|(name, _)| name.clone());
        Collection {
            feeds,
            days: sum.days,
            days_with_runs: sum.days_with_runs,
            first_day: days.keys().next().cloned(),
            last_day: days.keys().next_back().cloned(),
            last_run,
            pages: sum.sum.pages,
            downloaded_bytes: sum.sum.downloaded,
            clean_bytes: sum.sum.clean,
            words: sum.words,
            duplicate_words: sum.duplicate_words,
            tokens: sum.tokens,
            rows: sum.funnel(),
        }
    }
}

/// A period in time steps.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PeriodParams {
    /// The length of a time step.
    #[serde(default = "day")]
    by: Step,
    /// The first day.
    #[serde(default)]
    since: Option<Date>,
    /// The last day.
    #[serde(default)]
    until: Option<Date>,
}

fn day() -> Step {
    Step::Day
}

impl PeriodParams {
    fn example() -> PeriodParams {
        PeriodParams { by: Step::Month, since: Some(Date::constant(2026, 1, 1)), until: None }
    }

    /// The time steps with statistics, each with the sum of its days. Names that are no days of the calendar are skipped.
    fn steps<T: Default>(
        &self,
        days: &BTreeMap<String, DayStats>,
        mut add: impl FnMut(&mut T, &DayStats),
    ) -> Vec<(Bin, T)> {
        let mut steps: Vec<(Bin, T)> = Vec::new();
        for (name, day) in days {
            let Ok(date) = name.parse::<Date>() else { continue };
            if self.since.is_some_and(|since| date < since) || self.until.is_some_and(|until| date > until) {
                continue;
            }
            let bin = self.by.bin_of(date);
            if steps.last().is_none_or(|(last, _)| *last != bin) {
                steps.push((bin, T::default()));
            }
            let (_, sums) = steps.last_mut().expect("just pushed");
            add(sums, day);
        }
        steps
    }
}

/// Counts the collection over time.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DaysRequest {
    #[serde(flatten)]
    period: PeriodParams,
}

answer! {
    /// The collection over time.
    pub struct CollectionDays {
        /// The time steps.
        pub rows: Vec<DaysRow>,
    }

    /// The collection in one time step.
    pub struct DaysRow {
        /// The time step.
        pub bin: String,
        /// Its days.
        pub days: u32,
        /// Days with fetch runs; on others nothing was collected.
        pub days_with_runs: u64,
        /// Fetch runs.
        pub runs: u64,
        /// The most feeds with new pages on one day.
        pub feeds: u64,
        /// The most hosts on one day.
        pub hosts: u64,
        /// Pages downloaded.
        pub pages: u64,
        /// Bytes downloaded.
        pub downloaded_bytes: u64,
        /// Bytes of text.
        pub clean_bytes: u64,
        /// Documents.
        pub documents: u64,
        /// Documents that are duplicates.
        pub duplicates: u64,
        /// Documents that were annotated.
        pub kept: u64,
        /// Tokens of annotated text.
        pub tokens: u64,
    }
}

impl Request for DaysRequest {
    fn example() -> DaysRequest {
        DaysRequest { period: PeriodParams::example() }
    }
}

impl HomeQuestion for DaysRequest {
    const NAME: &'static str = "collection-days";
    const PATH: &'static str = "collection/days";
    const SUMMARY: &'static str = "Count runs, feeds, bytes, documents and tokens over time";
    const ROWS: &'static str = "rows";
    type Answer = CollectionDays;

    fn answer(&self, HomeContext { registry, .. }: &HomeContext<'_>) -> Result<CollectionDays, ApiError> {
        registry.day_stats(|stats| self.of(stats.days()))
    }
}

impl DaysRequest {
    /// The answer for the statistics of days.
    pub fn of(&self, days: &BTreeMap<String, DayStats>) -> CollectionDays {
        let row = |(bin, sum): (Bin, StatsSum)| DaysRow {
            bin: bin.to_string(),
            days: bin.days(),
            days_with_runs: sum.days_with_runs,
            runs: sum.runs,
            feeds: sum.feeds,
            hosts: sum.hosts,
            pages: sum.sum.pages,
            downloaded_bytes: sum.sum.downloaded,
            clean_bytes: sum.sum.clean,
            documents: sum.sum.documents,
            duplicates: sum.duplicates,
            kept: sum.annotated,
            tokens: sum.tokens,
        };
        CollectionDays { rows: self.period.steps(days, StatsSum::add).into_iter().map(row).collect() }
    }
}

/// Counts the collection over time, by language.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LanguagesRequest {
    #[serde(flatten)]
    period: PeriodParams,
}

answer! {
    /// The collection over time, by language.
    pub struct CollectionLanguages {
        /// The time steps and languages.
        pub rows: Vec<LanguageRow>,
    }

    /// The collection of one language in one time step.
    pub struct LanguageRow {
        /// The time step.
        pub bin: String,
        /// The language.
        pub language: String,
        /// Documents.
        pub documents: u64,
        /// Documents that were annotated.
        pub kept: u64,
        /// Tokens of annotated text.
        pub tokens: u64,
    }
}

impl Request for LanguagesRequest {
    fn example() -> LanguagesRequest {
        LanguagesRequest { period: PeriodParams::example() }
    }
}

impl HomeQuestion for LanguagesRequest {
    const NAME: &'static str = "collection-languages";
    const PATH: &'static str = "collection/languages";
    const SUMMARY: &'static str = "Count documents and tokens over time, by language";
    const ROWS: &'static str = "rows";
    type Answer = CollectionLanguages;

    fn answer(&self, HomeContext { registry, .. }: &HomeContext<'_>) -> Result<CollectionLanguages, ApiError> {
        registry.day_stats(|stats| self.of(stats.days()))
    }
}

impl LanguagesRequest {
    /// The answer for the statistics of days.
    pub fn of(&self, days: &BTreeMap<String, DayStats>) -> CollectionLanguages {
        type Sums = BTreeMap<String, [u64; 3]>;
        let steps = self.period.steps(days, |sums: &mut Sums, day| {
            let none = BTreeMap::new();
            let text = day.text.as_ref();
            let counts =
                [&day.documents, text.map_or(&none, |text| &text.documents), text.map_or(&none, |text| &text.tokens)];
            for (place, counts) in counts.into_iter().enumerate() {
                counts.iter().for_each(|(code, count)| sums.entry(code.clone()).or_default()[place] += count);
            }
        });
        let row = |bin: Bin, (language, [documents, kept, tokens]): (String, [u64; 3])| LanguageRow {
            bin: bin.to_string(),
            language,
            documents,
            kept,
            tokens,
        };
        let rows = steps.into_iter().flat_map(|(bin, sums)| sums.into_iter().map(move |sum| row(bin, sum)));
        CollectionLanguages { rows: rows.collect() }
    }
}
