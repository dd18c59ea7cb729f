//! Trends: words that rise or fall over time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeSet;
use tidings_index::Day;

use super::params::{
    ContentParams, LimitParams, PanelParams, ScopeParams, StepParams, TestParams, TestedAttributeParams,
};
use super::shards::{PartCells, SiteBinsPart, VolumePart, word_cells};
use super::{Answered, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError, Request};
use crate::cql::{Attribute, MatchRule};
use crate::engine::{Cells, Reading, Subcorpus, WordCells, of_sites};
use crate::filter::Filter;
use crate::measure::{Band, per_million};
use crate::trend::{Bin, Mixture, Rise, RiseConfig, Rises, Shape, Step, Table};

/// Tests the whole vocabulary for words that rise or fall.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TrendsRequest {
    /// The documents to count.
    #[serde(flatten)]
    pub scope: ScopeParams,
    /// The attribute to count.
    #[serde(flatten)]
    pub attribute: TestedAttributeParams,
    /// The length of a time step.
    #[serde(flatten)]
    pub step: StepParams,
    /// Minimum documents of a tested word.
    #[serde(default = "usual_min")]
    #[schemars(range(min = 1))]
    pub min: u64,
    /// The test.
    #[serde(flatten)]
    pub test: TestParams,
    /// The words that are tested.
    #[serde(flatten)]
    pub content: ContentParams,
    /// The panel of sites.
    #[serde(flatten)]
    pub panel: PanelParams,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

fn usual_min() -> u64 {
    RiseConfig::default().min_count
}

/// The filter of a scope or, with a panel, of those of its sites that have documents in every time step. If a limit was
/// reached, the panel is unknown and left out.
pub(super) fn panel_filter(
    context: &QuestionContext<'_>,
    scope: &ScopeParams,
    panel: &PanelParams,
    step: Step,
) -> Result<Option<Filter>, QuestionError> {
    let filter = context.filter(scope)?;
    if !panel.panel {
        return Ok(filter);
    }
    let sites = match context.is_sharded() {
        true => {
            context.refuse_partial_test()?;
            let part = SiteBinsPart { filter: Parsed::of_filter(filter.as_ref()), step };
            let bins = context.gather(&part)?;
            let all: BTreeSet<i32> = bins.values().flatten().copied().collect();
            // Bins without any document are not held against a site.
            of_sites(bins.iter().filter(|(_, bins)| bins.len() == all.len()).map(|(site, _)| site.as_str()))
        }
        false => context.all.panel(&context.documents(filter.as_ref())?, step, 1),
    };
    Ok(Filter::both(filter, Some(sites).filter(|_| !context.is_cut_off())))
}

/// The documents of [`panel_filter`] in which words are counted by time step, with the filter.
pub(super) fn panel_subcorpus(
    context: &QuestionContext<'_>,
    scope: &ScopeParams,
    panel: &PanelParams,
    step: Step,
) -> Result<(Subcorpus, Option<Filter>), QuestionError> {
    let filter = panel_filter(context, scope, panel, step)?;
    Ok((context.subcorpus_of(filter.as_ref(), Reading::Words(Cells::Steps(step)))?, filter))
}

/// A test of all words over shards.
pub(super) struct ShardedTest {
    pub(super) filter: Option<Filter>,
    pub(super) bins: Vec<Bin>,
    /// The tokens of the documents.
    pub(super) tokens: u64,
    step: Step,
}

impl ShardedTest {
    /// The documents of [`panel_filter`] by time step.
    pub(super) fn new(
        context: &QuestionContext<'_>,
        scope: &ScopeParams,
        panel: &PanelParams,
        step: Step,
    ) -> Result<ShardedTest, QuestionError> {
        context.refuse_partial_test()?;
        let filter = panel_filter(context, scope, panel, step)?;
        let cells = Some(PartCells::from(Cells::Steps(step)));
        let volume = context.gather(&VolumePart { filter: Parsed::of_filter(filter.as_ref()), cells })?;
        let ends = volume.keys().next().zip(volume.keys().next_back());
        let bins = ends.map(|(first, last)| step.bins(Day(*first).date(), Day(*last).date())).unwrap_or_default();
        Ok(ShardedTest { filter, bins, tokens: volume.values().map(|(tokens, _)| tokens).sum(), step })
    }

    /// The words of the documents with their cells.
    pub(super) fn cells(
        &self,
        context: &QuestionContext<'_>,
        attribute: Attribute,
        min_documents: u64,
        has_kinds: bool,
    ) -> Result<WordCells<'static>, QuestionError> {
        word_cells(context, (self.filter.as_ref(), self.step), attribute, (&self.bins, min_documents), has_kinds)
    }
}

pub(super) fn as_texts<S: Serializer>(values: &[Bin], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(ToString::to_string))
}

answer! {
    /// Words that rise or fall, the surest first.
    pub struct Trends {
        /// The attribute that was counted.
        pub attribute: Attribute,
        /// The length of a time step.
        pub step: Step,
        /// The time steps with enough tokens.
        #[serde(serialize_with = "as_texts")]
        #[schemars(with = "Vec<String>")]
        pub bins: Vec<Bin>,
        /// Tokens of the documents counted.
        pub tokens: u64,
        /// The number of words tested.
        pub tested: u64,
        /// Punctuation, numbers, dates and function words that are frequent enough, but not tested.
        pub left_out: u64,
        /// The accepted share of false discoveries among the rows.
        pub false_discovery_rate: f64,
        /// The sites that the test rests on; missing if the answer is cut off.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "SiteMixture")]
        pub mixture: Option<SiteMixture>,
        /// Remarks on the sites.
        pub notes: Vec<String>,
        /// The number of words that rise or fall; null if the answer is cut off.
        pub values: Option<u64>,
        /// The words.
        pub rows: Vec<TrendRow>,
    }

    /// The sites that a test of trends rests on.
    #[derive(Copy)]
    pub struct SiteMixture {
        /// Sites with text in at least three steps; trends are tested within them.
        pub sites: u64,
        /// The share of the tokens that other sites have, which are left out.
        pub left_out: f64,
        /// The share of the tokens of sites with text in both halves of the time, in the half in which it is smaller.
        pub in_both_halves: f64,
    }

    /// A word that rises or falls.
    pub struct TrendRow {
        /// The word.
        pub value: String,
        /// Whether it is a name, by its tags.
        pub name: bool,
        /// Hits in all steps.
        pub hits: u64,
        /// Documents with it.
        pub documents: u64,
        /// The period of the change, if the test finds one.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Shape")]
        pub shape: Option<Shape>,
        /// Binary logarithm of the rate at the end by that at the beginning, fitted within sites.
        #[schemars(with = "Option<f64>")]
        pub log_ratio: f64,
        /// The interval of the logarithm, with a confidence of 95 %.
        pub band: Band,
        /// Growth from the first step to the last in multiples of the mean rate (Theil–Sen).
        #[schemars(with = "Option<f64>")]
        pub growth: f64,
        /// The same as Sketch Engine shows it: the tangent of whole degrees.
        #[schemars(with = "Option<f64>")]
        pub score: f64,
        /// Probability by chance.
        #[schemars(with = "Option<f64>")]
        pub p: f64,
        /// The same, controlled for the number of words tested (Benjamini–Hochberg).
        #[schemars(with = "Option<f64>")]
        pub q: f64,
        /// The z statistic of Mann–Kendall.
        #[schemars(with = "Option<f64>")]
        pub kendall_z: f64,
        /// Hits per million tokens in each step.
        pub per_million: Vec<f64>,
    }
}

/// The standard errors from the middle of an interval of 95 % confidence to its ends.
const Z: f64 = 1.96;
/// The share of the tokens below which sites of one half of the time are worth a remark.
const MOSTLY_SHARED: f64 = 0.9;
/// The share of the tokens above which sites without a slope are worth a remark.
const MUCH_LEFT_OUT: f64 = 0.2;

impl SiteMixture {
    fn of(mixture: Mixture) -> SiteMixture {
        let Mixture { sites, left_out, in_both_halves } = mixture;
        SiteMixture { sites: sites as u64, left_out, in_both_halves }
    }
}

/// What a reader has to know about the sites.
fn notes(mixture: &Mixture) -> Vec<String> {
    let percent = |share: f64| (100.0 * share).round();
    let mut notes = Vec::new();
    if mixture.in_both_halves < MOSTLY_SHARED {
        notes.push(format!(
            "The list of sites changed: sites with text in both halves of the time have {} % of the tokens of one half. \
             Trends are tested within sites; rates over time are those of all sites.",
            percent(mixture.in_both_halves)
        ));
    }
    if mixture.left_out > MUCH_LEFT_OUT {
        notes.push(format!(
            "Sites with text in fewer than three steps have {} % of the tokens and are left out; a shorter step includes \
             more of them.",
            percent(mixture.left_out)
        ));
    }
    notes
}

impl Trends {
    /// Makes the answer of a test of all words. `bins` are those of the tables; `name` gives the word of a
    /// row, and whether it is a name.
    pub fn of(
        (attribute, step): (Attribute, Step),
        bins: &[Bin],
        config: &RiseConfig,
        outcome: &Rises,
        (hits, documents): (&Table<'_>, &Table<'_>),
        name: impl Fn(usize) -> (String, bool),
    ) -> Trends {
        let width = bins.len();
        let used = |table: &Table<'_>, row: usize| -> Vec<u32> {
            outcome.bins.iter().map(|bin| table.counts[row * width + bin]).collect()
        };
        let sum = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).sum();
        let row = |rise: &Rise| {
            let (hits_by_bin, documents_by_bin) = (used(hits, rise.row), used(documents, rise.row));
            let rate = |(count, bin): (&u32, &usize)| per_million(f64::from(*count), hits.tokens[*bin]).unwrap_or(0.0);
            let (value, name) = name(rise.row);
            TrendRow {
                value,
                name,
                hits: sum(&hits_by_bin),
                documents: sum(&documents_by_bin),
                shape: rise.shape,
                log_ratio: rise.log_ratio,
                band: Band { low: rise.log_ratio - Z * rise.error, high: rise.log_ratio + Z * rise.error },
                growth: rise.growth,
                score: rise.score,
                p: rise.p,
                q: rise.q,
                kendall_z: rise.kendall.z,
                per_million: hits_by_bin.iter().zip(&outcome.bins).map(rate).collect(),
            }
        };
        Trends {
            attribute,
            step,
            left_out: 0,
            bins: outcome.bins.iter().map(|bin| bins[*bin]).collect(),
            tokens: 0,
            tested: outcome.tested as u64,
            false_discovery_rate: config.false_discovery_rate,
            notes: outcome.mixture.as_ref().map(notes).unwrap_or_default(),
            mixture: outcome.mixture.map(SiteMixture::of),
            values: Some(outcome.found.len() as u64),
            rows: outcome.found.iter().map(row).collect(),
        }
    }
}

impl Request for TrendsRequest {
    fn example() -> TrendsRequest {
        TrendsRequest {
            scope: ScopeParams::default(),
            attribute: TestedAttributeParams::default(),
            step: StepParams { by: Some(Step::Month) },
            min: usual_min(),
            test: TestParams::default(),
            content: ContentParams::default(),
            panel: PanelParams::default(),
            limit: LimitParams::default(),
        }
    }
}

impl Question for TrendsRequest {
    const NAME: &'static str = "trends";
    const SUMMARY: &'static str = "Show which words rise or fall";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Trends;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Trends>, QuestionError> {
        let step = self.step.step(context, context.filter(&self.scope)?.as_ref())?;
        let config = RiseConfig { min_count: self.min, false_discovery_rate: self.test.fdr, ..RiseConfig::default() };
        let attribute = self.attribute.of(context)?;
        let (mut found, filter) = if context.is_sharded() {
            let test = ShardedTest::new(context, &self.scope, &self.panel, step)?;
            let cells = test.cells(context, attribute, config.min_count, self.content.has_kinds(attribute))?;
            (Trends { tokens: test.tokens, ..cells.trends((attribute, step), &test.bins, &config) }, test.filter)
        } else {
            let (subcorpus, filter) = panel_subcorpus(context, &self.scope, &self.panel, step)?;
            let content = self.content.words(context, attribute);
            let found = context.engine.trends(&subcorpus, attribute, step, &config, content.as_ref());
            (Trends { tokens: context.engine.tokens(&subcorpus), ..found }, filter)
        };
        self.test.keep(&mut found.rows, |row| row.log_ratio);
        found.values = Some(self.limit.cut(&mut found.rows));
        if context.is_cut_off() {
            // A test of a part of the tokens would find other words.
            let (bins, mixture, notes) = (Vec::new(), None, Vec::new());
            found = Trends { bins, tested: 0, left_out: 0, mixture, notes, values: None, rows: Vec::new(), ..found };
        }
        Ok(context.answered((None, filter.as_ref()), MatchRule::default(), Exactness::Exact, Vec::new(), found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trend::rises;
    use jiff::civil::date;

    #[test]
    fn trends_name_their_words_and_show_their_rates() {
        let bins = Step::Month.bins(date(2024, 1, 1), date(2025, 12, 31));
        let tokens = vec![1e6; bins.len()];
        let documents: Vec<u32> = std::iter::repeat_n(50, bins.len()).chain(10..10 + bins.len() as u32).collect();
        let hits: Vec<u32> = documents.iter().map(|count| 2 * count).collect();
        let tables = (Table { counts: &hits, tokens: &tokens }, Table { counts: &documents, tokens: &tokens });
        let config = RiseConfig::default();
        let outcome = rises(&tables.1, &config);
        let answer =
            Trends::of((Attribute::Lemma, Step::Month), &bins, &config, &outcome, (&tables.0, &tables.1), |row| {
                (["flat", "rising"][row].to_owned(), false)
            });
        let changed = Mixture { sites: 3, left_out: 0.6, in_both_halves: 0.5 };
        assert!(answer.notes.is_empty() && notes(&changed).len() == 2);
        let [row] = &answer.rows[..] else { panic!("{answer:?}") };
        assert_eq!((row.value.as_str(), row.hits, row.documents), ("rising", 1032, 516));
        assert_eq!((row.per_million[0], answer.tested), (20.0, 2));
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!((json["bins"][0].as_str(), json["rows"][0]["shape"].as_str()), (Some("2024-01"), Some("steady")));
    }
}
