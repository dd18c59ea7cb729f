//! Tests of the course of every word over time: seasons and level shifts.

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::word_cells::CountedWord;
use super::{ContentWords, Engine, Subcorpus, WordCells};
use crate::cql::Attribute;
use crate::measure::per_million;
use crate::trend::{Bin, CellCount, SiteAxis, Step, StepFit, WordSeries, false_discovery, season, shift, step_fit};

/// The parameters of a test of all words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesConfig {
    /// The minimum documents of a tested word.
    pub min_documents: u64,
    /// The false discovery rate to control.
    pub false_discovery_rate: f64,
}

/// The words that passed a test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestedWords<T> {
    /// The bins with enough tokens.
    pub bins: Vec<Bin>,
    /// The sites with text in them.
    pub sites: u64,
    /// The number of words tested.
    pub tested: u64,
    /// The number of words that are frequent enough and no content words.
    pub left_out: u64,
    /// The words, the surest first.
    pub rows: Vec<TestedWord<T>>,
}

/// A word that passed a test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestedWord<T> {
    /// The word.
    pub value: String,
    /// Its hits.
    pub hits: u64,
    /// The documents with it.
    pub documents: u64,
    /// Its hits per million tokens in each bin.
    pub per_million: Vec<f64>,
    /// The p-value.
    pub p: f64,
    /// The q-value among all words tested.
    pub q: f64,
    /// What the test found.
    pub found: T,
}

/// The season of a word.
#[derive(Debug, Clone, PartialEq)]
pub struct WordSeason {
    /// The month of the peak, from 1.
    pub peak: u8,
    /// The share of the variance of scores that the season explains.
    pub strength: f64,
    /// The binary logarithm of the rate in the three months around the peak by that of the others.
    pub log_ratio: f64,
    /// The rate in each calendar month by that expected; none if nothing was collected.
    pub months: Vec<Option<f64>>,
}

/// The level shift of a word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordStep {
    /// The first bin of the new level.
    pub at: Bin,
    /// The binary logarithm of the rate behind the shift by that before it.
    pub log_ratio: f64,
}

/// The number of months of a year.
const MONTHS: usize = 12;
/// The mean number of days of a year.
const DAYS_OF_A_YEAR: f64 = 365.25;
/// The bins of a series that can have a level shift.
const LEAST_BINS: usize = 8;

impl Engine {
    /// The words with a season within sites, by significance. Steps longer than a month find none. With `content` only
    /// content words are tested.
    pub fn seasons(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        step: Step,
        config: &SeriesConfig,
        content: Option<&ContentWords<'_>>,
    ) -> TestedWords<WordSeason> {
        let (bins, periods) = self.periods(subcorpus, step);
        WordCells::of_index(self, subcorpus, attribute, &periods, content).seasons(step, &bins, config)
    }

    /// The words whose rate within sites changes at once and stays changed, by significance. With `content` only content
    /// words are tested.
    pub fn steps(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        step: Step,
        config: &SeriesConfig,
        content: Option<&ContentWords<'_>>,
    ) -> TestedWords<WordStep> {
        let (bins, periods) = self.periods(subcorpus, step);
        WordCells::of_index(self, subcorpus, attribute, &periods, content).steps(&bins, config)
    }
}

impl WordCells<'_> {
    /// The words with a season within sites, by significance.
    pub(crate) fn seasons(&self, step: Step, bins: &[Bin], config: &SeriesConfig) -> TestedWords<WordSeason> {
        let per_year = match step {
            Step::Day => DAYS_OF_A_YEAR,
            Step::Week => DAYS_OF_A_YEAR / 7.0,
            Step::TenDays => 36.0,
            Step::Month => 12.0,
            Step::Quarter => 4.0,
            Step::HalfYear => 2.0,
            Step::Year => 1.0,
        };
        self.test_series(bins, config, |series| {
            let when: Vec<f64> = series.bins.iter().map(|bin| *bin as f64 + 0.5).collect();
            let found = season(&when, &series.scores, per_year)?;
            let start = f64::from(bins.first()?.first.day_of_year() - 1) / DAYS_OF_A_YEAR;
            let peak = ((found.peak + start).rem_euclid(1.0) * MONTHS as f64) as usize % MONTHS;
            Some((found.p, of_season(bins, series, peak, found.strength)))
        })
    }

    /// The words whose rate within sites changes at once and stays changed, by significance.
    pub(crate) fn steps(&self, bins: &[Bin], config: &SeriesConfig) -> TestedWords<WordStep> {
        self.test_series(bins, config, |series| {
            let found = shift(&series.scores).filter(|_| series.bins.len() >= LEAST_BINS)?;
            if found.p > config.false_discovery_rate {
                return None;
            }
            let step = step_fit(&series.counts, &series.expected).filter(StepFit::is_step)?;
            let at = bins[series.bins[step.at]];
            Some((found.p, WordStep { at, log_ratio: series.log_ratio(|point| point >= step.at) }))
        })
    }

    /// Tests the series of every word. A series without a p-value counts as tested.
    fn test_series<T: Send>(
        &self,
        bins: &[Bin],
        config: &SeriesConfig,
        test: impl Fn(&WordSeries) -> Option<(f64, T)> + Sync,
    ) -> TestedWords<T> {
        let axis = SiteAxis::new(self.volume());
        let tokens = axis.tokens();
        let least = config.min_documents.max(1);
        let words = self.map(config.min_documents, || {
            |word: &CountedWord<'_>, counts: &[CellCount]| {
                let series = axis.series(counts);
                if series.documents < least {
                    return None;
                }
                if word.kind().is_some_and(|kind| !kind.is_content()) {
                    return Some(Outcome::LeftOut);
                }
                // A p-value above the rate never passes, so its row is not kept.
                let passed = test(&series).filter(|(p, _)| *p <= config.false_discovery_rate);
                let Some((p, found)) = passed else { return Some(Outcome::Tested(None)) };
                let mut hits = vec![0u64; bins.len()];
                counts.iter().for_each(|count| hits[count.bin as usize] += u64::from(count.hits));
                let used: Vec<u64> = axis.bins().iter().map(|bin| hits[*bin]).collect();
                let rate = |(hits, tokens): (&u64, &f64)| per_million(*hits as f64, *tokens).unwrap_or(0.0);
                Some(Outcome::Tested(Some(TestedWord {
                    value: word.value(),
                    hits: used.iter().sum(),
                    documents: series.documents,
                    per_million: used.iter().zip(&tokens).map(rate).collect(),
                    p,
                    q: 1.0,
                    found,
                })))
            }
        });
        let left_out = words.iter().filter(|word| matches!(word, Outcome::LeftOut)).count();
        let tested = words.len() - left_out;
        let passed = |word| if let Outcome::Tested(passed) = word { passed } else { None };
        let mut rows: Vec<TestedWord<T>> = words.into_iter().filter_map(passed).collect();
        let p: Vec<f64> = rows.iter().map(|row| row.p).collect();
        rows.iter_mut().zip(false_discovery(&p, tested)).for_each(|(row, q)| row.q = q);
        rows.retain(|row| row.q <= config.false_discovery_rate);
        rows.sort_by(|a, b| {
            a.p.total_cmp(&b.p).then(b.documents.cmp(&a.documents)).then_with(|| a.value.cmp(&b.value))
        });
        let bins = axis.bins().iter().map(|bin| bins[*bin]).collect();
        TestedWords { bins, sites: axis.sites() as u64, tested: tested as u64, left_out: left_out as u64, rows }
    }
}

/// What a test makes of a frequent word.
enum Outcome<T> {
    /// It is no content word.
    LeftOut,
    /// It was tested and may have passed.
    Tested(Option<TestedWord<T>>),
}

/// The day in the middle of a bin.
fn middle(bin: &Bin) -> Date {
    bin.first.saturating_add(i64::from(bin.days() / 2).days())
}

/// The relative rates by calendar month, and the difference that the peak makes.
fn of_season(bins: &[Bin], series: &WordSeries, peak: usize, strength: f64) -> WordSeason {
    let month_of: Vec<usize> = series.bins.iter().map(|bin| middle(&bins[*bin]).month() as usize - 1).collect();
    let (mut counts, mut expected) = ([0.0; MONTHS], [0.0; MONTHS]);
    for (at, month) in month_of.iter().enumerate() {
        counts[*month] += series.counts[at];
        expected[*month] += series.expected[at];
    }
    let is_near = |month: usize| (month + MONTHS - peak + 1) % MONTHS <= 2;
    let rate = |(count, expected): (&f64, &f64)| (*expected > 0.0).then(|| count / expected);
    WordSeason {
        peak: peak as u8 + 1,
        strength,
        log_ratio: series.log_ratio(|at| is_near(month_of[at])),
        months: counts.iter().zip(&expected).map(rate).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn rates_of_a_season_are_by_calendar_month_and_the_peak_may_span_new_year() {
        let bins = Step::Month.bins(date(2022, 7, 1), date(2024, 6, 30));
        // Ten in every month, and forty in December and January.
        let counts = bins.iter().map(|bin| if [12, 1].contains(&bin.first.month()) { 40.0 } else { 10.0 });
        let counts: Vec<f64> = counts.collect();
        let series = WordSeries {
            bins: (0..24).collect(),
            expected: vec![15.0; 24],
            scores: vec![0.5; 24],
            documents: 360,
            counts,
        };
        let found = of_season(&bins, &series, 0, 0.5);
        assert_eq!((found.peak, found.months[0], found.months[6]), (1, Some(40.0 / 15.0), Some(10.0 / 15.0)));
        // December, January and February by the others: 30 by 10.
        assert!((found.log_ratio - 3f64.log2()).abs() < 0.02, "{found:?}");
    }
}
