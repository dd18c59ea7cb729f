//! Trials: run candidates through `update`, `fetch` and `clean` in a scratch home and adopt those that yield documents.
//!
//! A valid feed may still yield nothing: its articles may be gone, forbidden, behind a paywall, in another language, or
//! not prose. A trial fetches a few articles of each candidate and cleans them with the stages of the corpus. The
//! scratch home and the home share their knowledge about hosts, so that delays hold across both.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use tidings_store::candidates::{self, Candidate, CandidateStatus};
use tidings_store::feeds::{self, Polled};
use tidings_store::yields::{self, Yield};
use tidings_store::{hosts, plan, rfc3339, rules};

use super::{adopt, filter, plain};
use crate::context::RunContext;
use crate::display::{count, span_s};
use crate::outcome::{Outcome as _, Status};
use crate::pipeline::Pipeline;
use crate::stage::Stage;
use crate::stage::clean::Clean;
use crate::stage::fetch::Fetch;
use crate::stage::update::Update;

/// The options of a trial.
#[derive(Debug, Clone, Copy)]
pub struct TrialOptions {
    /// Candidates tried at most.
    pub limit: usize,
    /// Articles fetched for each candidate.
    pub pages_per_feed: u32,
    /// Seed of the order of requests; random if absent.
    pub seed: Option<u64>,
}

/// The outcome of a trial.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TrialOutcome {
    /// Pages that were searched for links to feeds.
    pub pages_searched: u64,
    /// Candidates that were tried.
    pub tried: u64,
    /// Feeds that were added to the list.
    pub promoted: u64,
    /// The gain by language; the last row is all of them.
    pub gain: Vec<Gain>,
    #[serde(skip)]
    feed_list: String,
    #[serde(skip)]
    seconds: f64,
}

/// A row of the gain table.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Gain {
    /// The language; `?` if unknown.
    pub language: String,
    /// Feeds in the list whose last poll succeeded.
    pub active_before: u64,
    /// Pages that were searched, for all languages together.
    pub pages_searched: Option<u64>,
    /// Candidates that were found.
    pub feeds_extracted: u64,
    /// Candidates that passed the filter.
    pub kept: u64,
    /// Candidates that gave documents.
    pub with_text: u64,
    /// Active feeds afterwards.
    pub active_after: u64,
}

/// Tries candidates in a scratch home and adopts those that yield documents.
pub fn run(context: &RunContext, pipeline: &Pipeline, options: &TrialOptions) -> Result<TrialOutcome> {
    let mut gains: BTreeMap<String, Gain> = active_before(context)?;
    let mut searched = 0;
    candidates::read_searched(&context.home, |row| searched += row.pages)?;
    let mut chosen = choose(context, options.limit, &mut gains)?;
    let tried = chosen.len() as u64;
    let sums = if chosen.is_empty() { HashMap::new() } else { try_out(context, pipeline, options, &chosen)? };

    let now = rfc3339(tidings_model::clock::now());
    for row in &mut chosen {
        row.checked.clone_from(&now);
        let sum = sums.get(&row.feed).copied().unwrap_or_default();
        (row.status, row.reason) = match (sum.documents, sum.pages) {
            (0, 0) => (CandidateStatus::Trial, "no page could be stored".to_owned()),
            (0, pages) => (CandidateStatus::Trial, format!("{} yielded no document in a trial", count(pages, "page"))),
            (documents, _) => (CandidateStatus::Promoted, format!("{} in a trial", count(documents, "document"))),
        };
        if sum.documents > 0 {
            gains.entry(language(row)).or_default().with_text += 1;
        }
    }
    let promoted: Vec<Candidate> =
        chosen.iter().filter(|row| row.status == CandidateStatus::Promoted).cloned().collect();
    candidates::replace(&context.home, chosen)?;
    let adopted = adopt(context, promoted)?;
    Ok(outcome(context, gains, searched, tried, adopted))
}

fn language(row: &Candidate) -> String {
    if row.language.is_empty() { "?".to_owned() } else { row.language.clone() }
}

/// Feeds in the list whose last poll succeeded, by the language in the list.
fn active_before(context: &RunContext) -> Result<BTreeMap<String, Gain>> {
    let states = feeds::states(&context.home)?;
    let mut gains: BTreeMap<String, Gain> = BTreeMap::new();
    for feed in feeds::list(&context.home)?.feeds {
        let active = states.get(&feed.url).is_some_and(|state| {
            matches!(state.polled, Polled::Listed | Polled::Unchanged) && (state.entries > 0 || state.brought > 0)
        });
        if active {
            let label = feed.labels.iter().find(|label| label.0 == "lang").map(|label| label.1.clone());
            gains.entry(label.unwrap_or_else(|| "?".to_owned())).or_default().active_before += 1;
        }
    }
    Ok(gains)
}

/// The candidates to try: confirmed feeds first, then those that a list named or that pass the filter.
fn choose(context: &RunContext, limit: usize, gains: &mut BTreeMap<String, Gain>) -> Result<Vec<Candidate>> {
    let filter = filter(context);
    let listed: HashSet<String> = super::listed(context)?;
    let mut chosen = Vec::new();
    candidates::read(&context.home, |row| {
        let gain = gains.entry(language(&row)).or_default();
        // A page at which a search starts is no feed, unless it can be polled itself.
        if row.evidence == "page" && !row.labels.contains("kind=page") {
            return;
        }
        gain.feeds_extracted += 1;
        let fit = match row.status {
            CandidateStatus::ProbedFeed => row.entries > 0,
            CandidateStatus::New => super::fits(&filter, &row),
            _ => false,
        };
        if fit && !listed.contains(&plain(&row.feed)) {
            gain.kept += 1;
            chosen.push(row);
        }
    })?;
    // Confirmed feeds come first, then the most frequently linked candidates.
    chosen.sort_by(|a, b| {
        let order = |row: &Candidate| (row.status != CandidateStatus::ProbedFeed, std::cmp::Reverse(row.seen));
        order(a).cmp(&order(b)).then_with(|| a.feed.cmp(&b.feed))
    });
    chosen.truncate(limit);
    Ok(chosen)
}

/// Runs update, fetch and clean in the scratch home and returns the yield of each candidate.
fn try_out(
    context: &RunContext,
    pipeline: &Pipeline,
    options: &TrialOptions,
    chosen: &[Candidate],
) -> Result<HashMap<String, Yield>> {
    let mut config = context.config.clone();
    // Probes may have contacted these hosts a moment ago, with the longer of the two delays.
    config.fetch.feed_delay_s = config.fetch.feed_delay_s.max(config.fetch.delay_s);
    config.discover.grow = false;
    config.fetch.warc = false;
    // The pages of a trial are deleted after it.
    config.store.bucket.clear();
    // Feeds in languages outside `discover.languages` are not accepted.
    if config.clean.languages.is_empty() {
        config.clean.languages.clone_from(&config.discover.languages);
    }
    let kind = |row: &Candidate| row.labels.split('\t').find(|label| label.starts_with("kind=")).map(str::to_owned);
    let line = |row: &Candidate| match kind(row) {
        Some(kind) => format!("{}\t{kind}\n", row.feed),
        None => format!("{}\n", row.feed),
    };
    let list: String = chosen.iter().map(line).collect();
    let settings = toml::to_string(&config).context("cannot serialise the settings")?;
    let scratch_home = context.home.create_trial(&settings, &list)?;
    hosts::share(&context.home, &scratch_home)?;
    rules::share(&context.home, &scratch_home)?;

    let scratch = Pipeline::new(scratch_home.clone(), config)
        .with_reporter(pipeline.reporter().clone())
        .with_cancel(pipeline.cancel_token().clone());
    let crawled = crawl(options, &scratch);
    // Even after a failure hosts were contacted, and the home must record it.
    hosts::share(&scratch_home, &context.home)?;
    rules::share(&scratch_home, &context.home)?;
    crawled?;

    step(&scratch, &Clean::default())?;
    let mut sums: HashMap<String, Yield> = HashMap::new();
    yields::days(&scratch_home, |_, row| *sums.entry(row.feed).or_default() += row.sum)?;
    Ok(sums)
}

fn crawl(options: &TrialOptions, scratch: &Pipeline) -> Result<()> {
    step(scratch, &Update { seed: options.seed, ..Update::default() })?;
    let name = format!("{}-trial", tidings_store::stamp(tidings_model::clock::now()));
    plan::keep_first(scratch.home(), &name, options.pages_per_feed)?;
    step(scratch, &Fetch { seed: options.seed, ..Fetch::default() })
}

fn step(scratch: &Pipeline, stage: &dyn Stage) -> Result<()> {
    let name = stage.id();
    let outcome = scratch.run(stage).with_context(|| format!("the trial's {name} failed"))?;
    let text = outcome.to_string();
    if outcome.status() == Status::NotDone {
        bail!("the trial's {name} did not finish: {}", text.trim_end());
    }
    log::info!("trial: {}", text.trim_end());
    Ok(())
}

fn outcome(
    context: &RunContext,
    gains: BTreeMap<String, Gain>,
    pages_searched: u64,
    tried: u64,
    promoted: u64,
) -> TrialOutcome {
    let mut all = Gain { language: "all".to_owned(), pages_searched: Some(pages_searched), ..Gain::default() };
    let mut gain: Vec<Gain> = gains.into_iter().map(|(language, gain)| Gain { language, ..gain }).collect();
    for row in &mut gain {
        row.active_after = row.active_before + row.with_text;
        all.active_before += row.active_before;
        all.active_after += row.active_after;
        all.feeds_extracted += row.feeds_extracted;
        all.kept += row.kept;
        all.with_text += row.with_text;
    }
    gain.push(all);
    let feed_list = context.home.feed_list().display().to_string();
    TrialOutcome { pages_searched, tried, promoted, gain, feed_list, seconds: context.seconds() }
}

impl fmt::Display for TrialOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<9} {:>13} {:>14} {:>15} {:>6} {:>10} {:>12} {:>8}",
            "language",
            "active before",
            "pages searched",
            "feeds extracted",
            "kept",
            "with text",
            "active after",
            "gain"
        )?;
        for gain in &self.gain {
            let percent = match gain.active_before {
                0 if gain.with_text == 0 => "0 %".to_owned(),
                0 => "new".to_owned(),
                before => format!("+{:.0} %", 100.0 * gain.with_text as f64 / before as f64),
            };
            writeln!(
                f,
                "{:<9} {:>13} {:>14} {:>15} {:>6} {:>10} {:>12} {percent:>8}",
                gain.language,
                gain.active_before,
                // The language of a page is not known before it is cleaned.
                gain.pages_searched.map(|pages| pages.to_string()).unwrap_or_default(),
                gain.feeds_extracted,
                gain.kept,
                gain.with_text,
                gain.active_after,
            )?;
        }
        writeln!(
            f,
            "{} searched, {} tried, {} added to {}, {}",
            count(self.pages_searched, "page"),
            count(self.tried, "candidate"),
            count(self.promoted, "feed"),
            self.feed_list,
            span_s(self.seconds),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_store::journal::{JournalBatch, Record};

    use crate::testing::{apply, context, home_with_feeds};

    fn candidate(feed: &str, status: CandidateStatus, seen: u64) -> Candidate {
        Candidate {
            feed: feed.to_owned(),
            status,
            seen,
            evidence: "declared".into(),
            entries: 3,
            ..Candidate::default()
        }
    }

    #[test]
    fn confirmed_feeds_are_tried_first_then_the_most_linked() {
        let (_folder, pipeline) = home_with_feeds("https://listed.example/feed\n");
        let context = context(&pipeline);
        let rows = vec![
            candidate("https://a.example/feed", CandidateStatus::New, 50),
            candidate("https://b.example/feed", CandidateStatus::New, 90),
            candidate("https://c.example/feed", CandidateStatus::ProbedFeed, 3),
            Candidate { entries: 0, ..candidate("https://empty.example/feed", CandidateStatus::ProbedFeed, 3) },
            candidate("https://listed.example/feed", CandidateStatus::ProbedFeed, 3),
            candidate("https://tried.example/feed", CandidateStatus::Trial, 99),
            Candidate { evidence: "page".into(), ..candidate("https://page.example/", CandidateStatus::New, 99) },
        ];
        candidates::replace(&context.home, rows).unwrap();
        let mut gains = BTreeMap::new();
        let chosen = choose(&context, 10, &mut gains).unwrap();
        let feeds: Vec<&str> = chosen.iter().map(|row| row.feed.as_str()).collect();
        assert_eq!(feeds, ["https://c.example/feed", "https://b.example/feed", "https://a.example/feed"]);
        assert_eq!((gains["?"].feeds_extracted, gains["?"].kept), (6, 3));
        assert_eq!(choose(&context, 1, &mut BTreeMap::new()).unwrap().len(), 1);
    }

    #[test]
    fn a_trial_without_candidates_gains_nothing() {
        let (_folder, pipeline) = home_with_feeds("");
        let options = TrialOptions { limit: 5, pages_per_feed: 2, seed: Some(1) };
        let outcome = run(&context(&pipeline), &pipeline, &options).unwrap();
        assert_eq!((outcome.tried, outcome.promoted, outcome.gain.len()), (0, 0, 1));
        assert_eq!(outcome.gain[0].language, "all");
    }

    #[test]
    fn the_gain_table_has_a_row_for_each_language_and_the_sum() {
        let (_folder, pipeline) = home_with_feeds("");
        let context = context(&pipeline);
        let gain = |active_before, with_text| Gain { active_before, with_text, ..Gain::default() };
        let gains = [("de".to_owned(), gain(4, 1)), ("fr".to_owned(), gain(0, 2)), ("?".to_owned(), gain(0, 0))].into();
        let mut outcome = outcome(&context, gains, 7, 3, 3);
        outcome.seconds = 1.0;
        let text = outcome.to_string();
        let last = |line: usize| text.lines().nth(line).unwrap().split_whitespace().rev().take(2).collect::<Vec<_>>();
        assert_eq!(last(1), ["%", "0"]);
        assert_eq!(last(2), ["%", "+25"]);
        assert_eq!(last(3), ["new", "2"]);
        assert_eq!(last(4), ["%", "+75"]);
        assert!(
            text.lines().nth(5).unwrap().starts_with("7 pages searched, 3 candidates tried, 3 feeds added to "),
            "{text}"
        );
        let widths: Vec<usize> = text.lines().take(5).map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
    }

    #[test]
    fn only_feeds_that_returned_entries_are_active() {
        let (_folder, pipeline) =
            home_with_feeds("https://a.example/feed\tlang=de\nhttps://b.example/feed\nhttps://c.example/feed\n");
        let mut batch = JournalBatch::default();
        for (feed, polled, entries) in [("a", Polled::Listed, 3), ("b", Polled::Failed, 3), ("c", Polled::Listed, 0)] {
            let feed = format!("https://{feed}.example/feed");
            batch.push(&Record::Poll(Box::new(feeds::FeedState {
                feed,
                polled,
                entries,
                ..feeds::FeedState::default()
            })));
        }
        apply(pipeline.home(), "20260301T120000000Z-update", batch);
        let gains = active_before(&context(&pipeline)).unwrap();
        let rows: Vec<(&str, u64)> = gains.iter().map(|(code, gain)| (code.as_str(), gain.active_before)).collect();
        assert_eq!(rows, [("de", 1)]);
    }
}
