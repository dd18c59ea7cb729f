//! `annotate`: documents → sentences of tokens, one day at a time.
//!
//! A day of documents is read by one thread, tokenized and tagged on all cores in batches of documents, and written in
//! the order of the documents. It is published atomically with its recipe. Of a day that has grown, the text of
//! documents that are the same, and have the same verdict, is kept. If an external tool fails, its day is skipped and
//! the run continues with the next.

mod batch;
mod day_reader;
pub mod lines;
mod new_layers;
mod one_language;
mod sources;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use tidings_annotate::enrich;
use tidings_annotate::external::ToolError;
use tidings_formats::vertical;
use tidings_model::{Annotated, LayerNames, LayerRecord, TextLayers};
use tidings_store::dedup_state::JudgedDays;
use tidings_store::digest;
use tidings_store::docs::{self, Recipe};
use tidings_store::fresh::Stamp;
use tidings_store::revisions::Superseded;
use tidings_store::text::{self, MadeText, TextDraft, TextRecipe};
use tidings_store::text_growth::{self, LOGGED_DAYS};
use tidings_store::{Exclusion, Home, Stale};

use self::batch::Batch;
use self::day_reader::{DayDocument, DayReader, Judged};
use self::sources::{Sources, recipes};
use super::{Data, Due, Stage, StageId, StageOutcome, StageRun, Unit, layer_digest, names};
use crate::config::Config;
use crate::context::{RunContext, StageLog};
use crate::display::{count, span_s};
use crate::outcome::{Ending, Outcome, Status};
use crate::parallel::{self, Bounds};
use crate::repair::{self, DamagedFiles};
use crate::reporter::ProgressScope;
use crate::why::conservation::Balances;

pub(crate) use self::one_language::OneLanguage;
pub use self::sources::{
    FeedLabels, annotators, annotators_of_home, install_models, installed_packs, labels, plain, read_models,
};

/// The size of a batch in bytes of text, or more if a tool needs more sentences at once.
const BATCH_BYTES: usize = 128 << 10;
const MOST_BATCH_BYTES: usize = 16 << 20;
/// About the bytes of a sentence.
const SENTENCE_BYTES: usize = 128;
/// The number of days with a failed tool after which no further day is tried.
const FAILURES: u64 = 3;

/// The text of a document of a day; `None` if the former text is kept.
struct DayText {
    language: Arc<str>,
    key: u128,
    made: Option<MadeText>,
}

/// Documents → annotated text.
#[derive(Debug, Clone, Default)]
pub struct Annotate;

/// The outcome of `annotate`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AnnotateOutcome {
    /// Whether all that could be done was done.
    pub done: bool,
    /// The name of the run.
    pub run: String,
    /// Days that were annotated.
    pub days: u64,
    /// Days that were up to date.
    pub days_up_to_date: u64,
    /// Days that wait for `dedup`.
    pub days_waiting: u64,
    /// Days that are left for a later run.
    pub days_left: u64,
    /// Days that a tool left undone.
    pub days_undone: u64,
    /// Days with damaged documents or verdicts, which the next run makes again.
    pub days_damaged: Vec<String>,
    /// Tools that died and were started again, by language.
    pub restarts: BTreeMap<String, u64>,
    /// Documents that were annotated.
    pub documents: u64,
    /// Documents of these days whose text was kept, because neither they nor their verdicts have changed.
    pub documents_kept: u64,
    /// Annotated documents whose tokens, lemmas and tags were kept, because only further layers have changed.
    pub documents_with_new_layers: u64,
    /// Tokens of the annotated documents.
    pub tokens: u64,
    /// Their languages.
    pub languages: BTreeSet<String>,
    /// Duration in seconds.
    pub seconds: f64,
    #[serde(skip)]
    ending: Ending,
}

impl Outcome for AnnotateOutcome {
    fn status(&self) -> Status {
        match () {
            () if !self.done => Status::NotDone,
            () if self.days_undone > 0 => Status::Partly,
            () => Status::Done,
        }
    }
}

impl fmt::Display for AnnotateOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.days == 0 && self.days_left == 0 && self.days_undone == 0 && self.days_damaged.is_empty() {
            if let Some(idle) = self.ending.idle_shard() {
                return writeln!(f, "{idle}");
            }
            return match self.days_up_to_date {
                0 if self.days_waiting > 0 => writeln!(f, "nothing to annotate"),
                0 => writeln!(f, "nothing to annotate: no documents yet; run `tidings clean` first"),
                1 => writeln!(f, "nothing to annotate: the day is up to date"),
                days => writeln!(f, "nothing to annotate: all {} are up to date", count(days, "day")),
            };
        }
        let undone = match self.days_undone {
            0 => String::new(),
            days if days > FAILURES => {
                let untried = days - FAILURES;
                format!(
                    "; {} not annotated because a tool failed, and {untried} more were not tried",
                    days_are(FAILURES)
                )
            }
            days => format!("; {} not annotated because a tool failed", days_are(days)),
        };
        writeln!(
            f,
            "{} annotated: {} in {}{undone}{}, {}",
            count(self.documents, "document"),
            count(self.tokens, "token"),
            count(self.languages.len() as u64, "language"),
            self.ending.text("day"),
            span_s(self.seconds),
        )?;
        match self.days_damaged.is_empty() {
            true => Ok(()),
            false => writeln!(f, "not annotated because of damaged documents: {}", self.days_damaged.join(", ")),
        }
    }
}

impl Stage for Annotate {
    fn id(&self) -> StageId {
        StageId::Annotate
    }

    fn version(&self) -> u32 {
        tidings_annotate::BEHAVIOUR_VERSION
    }

    fn inputs(&self) -> &'static [Data] {
        &[Data::Documents, Data::Verdicts, Data::FeedList]
    }

    fn outputs(&self) -> &'static [Data] {
        &[Data::Text]
    }

    fn settings(&self, config: &Config) -> serde_json::Value {
        config.annotate.recipe()
    }

    fn tables(&self) -> Vec<(&'static str, &'static [u8])> {
        tidings_annotate::tables().collect()
    }

    fn output_digest(&self, home: &Home) -> Result<Option<String>> {
        layer_digest(home, digest::Stage::Text)
    }

    fn balance(&self, home: &Home, balances: &mut Balances) -> Result<()> {
        balances.annotate(home)
    }

    fn due(&self, home: &Home, config: &Config) -> Result<Due> {
        self.due_since(home, config, "")
    }

    fn stamp_before(&self, home: &Home, config: &Config, first: &str, stamp: &mut Stamp) -> Result<bool> {
        for tree in ["docs/recipes", "text"] {
            stamp.add_days_before(home, tree, first)?;
        }
        stamp.add(home, "feeds.txt")?;
        let judged = JudgedDays::read(home)?.map(|judged| judged.digest_before(first));
        stamp.add_bytes(&judged.unwrap_or_default().to_le_bytes());
        // Revisions of the newest days supersede older documents.
        let mut superseded = Superseded::default();
        recipes(home, first)?.iter().for_each(|recipe| superseded.add(recipe));
        stamp.add_bytes(&superseded.digest_before(first).to_le_bytes());
        // Tools and models of the user may change without any file of the home.
        Ok(config.annotate.external.is_empty() && config.annotate.models.is_empty())
    }

    fn due_since(&self, home: &Home, config: &Config, since: &str) -> Result<Due> {
        let made = recipes(home, since)?;
        let sources = Sources::read(home, config, &made)?;
        let mut due = Due { since: since.to_owned(), ..Due::default() };
        due.up_to_date = docs::document_days(home)?.iter().filter(|day| day.as_str() < since).count() as u64;
        for made in made {
            let day = made.day.clone();
            let Some(wanted) = sources.recipe(home, &made)? else {
                due.waiting += 1;
                continue;
            };
            let why = match TextRecipe::read(home, &day)? {
                None => Some(Stale::New),
                Some(recipe) => recipe.stale(&wanted, |language| sources.annotators_of(language), home),
            };
            match why {
                Some(why) => due.units.push(Unit { name: day, why }),
                None => due.up_to_date += 1,
            }
        }
        Ok(due)
    }

    fn up_to_date(&self, context: &RunContext, units: u64) -> Option<StageOutcome> {
        Some(StageOutcome::Annotate(AnnotateOutcome {
            done: true,
            run: context.run.clone(),
            days_up_to_date: units,
            seconds: context.seconds(),
            ending: context.ending(0),
            ..AnnotateOutcome::default()
        }))
    }

    fn begin<'a>(&'a self, context: &'a RunContext, due: &Due) -> Result<Box<dyn StageRun + 'a>> {
        if due.waiting > 0 {
            log::warn!(
                "{} not deduplicated yet; run `tidings dedup` first, or set annotate.duplicates = \"keep\"",
                days_are(due.waiting)
            );
        }
        // Such text may be the last copy, so it is kept and stays searchable.
        if context.takes_undivided {
            let known: BTreeSet<String> = docs::document_days(&context.home)?.into_iter().collect();
            let others: Vec<String> =
                text::days(&context.home)?.into_iter().filter(|day| !known.contains(day)).collect();
            let pages = if others.is_empty() { Vec::new() } else { docs::page_days(&context.home)? };
            for day in others.iter().filter(|day| !pages.iter().any(|known| known.name == **day)) {
                log::warn!("the text of {day} has neither documents nor pages; restore pages/{day} from a backup");
            }
        }
        let config = &context.config.clean;
        Ok(Box::new(AnnotateRun {
            context,
            sources: Sources::read(&context.home, &context.config, &recipes(&context.home, &due.since)?)?,
            bounds: Bounds { threads: super::threads(config.threads), weight: config.memory_mib << 20 },
            progress: context.progress("documents", docs::number_of_documents(&context.home, names(due))?),
            documents_before: 0,
            growing_from: growing_from(&context.home)?,
            outcome: AnnotateOutcome {
                run: context.run.clone(),
                days_up_to_date: due.up_to_date,
                days_waiting: due.waiting,
                ..AnnotateOutcome::default()
            },
        }))
    }

    fn clear(&self, home: &Home) -> Result<()> {
        Ok(text::clear(home)?)
    }

    fn clear_language(&self, home: &Home, _language: &str, days: &BTreeSet<String>) -> Result<()> {
        Ok(days.iter().try_for_each(|day| text::remove_day(home, day))?)
    }
}

/// A day in the run log.
#[derive(Serialize)]
struct DayLine<'a> {
    day: &'a str,
    why: Stale,
    documents: u64,
    documents_kept: u64,
    documents_with_new_layers: u64,
    kept: &'a BTreeMap<String, u64>,
    dropped: &'a BTreeMap<String, u64>,
    tokens: &'a BTreeMap<String, u64>,
    layers: &'a BTreeMap<String, String>,
    further_layers: &'a BTreeMap<String, Vec<LayerRecord>>,
    seconds: f64,
}

/// A day that was not annotated because of a tool, in the run log.
#[derive(Serialize)]
struct UndoneLine<'a> {
    day: &'a str,
    undone: &'a str,
}

/// The stage at work.
struct AnnotateRun<'a> {
    context: &'a RunContext,
    sources: Sources,
    bounds: Bounds,
    progress: ProgressScope,
    /// The documents of the days before the present one.
    documents_before: u64,
    /// The first of the days that may still grow.
    growing_from: String,
    outcome: AnnotateOutcome,
}

/// What annotating a day took.
#[derive(Default)]
struct Work {
    documents: u64,
    /// Those of which only further layers were made.
    with_new_layers: u64,
    tokens: u64,
}

/// The first of the newest days, which may still grow.
fn growing_from(home: &Home) -> Result<String> {
    let days = docs::document_days(home)?;
    let first = days.len().saturating_sub(LOGGED_DAYS);
    Ok(days.into_iter().nth(first).unwrap_or_default())
}

impl StageRun for AnnotateRun<'_> {
    fn unit(&mut self, unit: &Unit, log: &mut StageLog<'_>) -> Result<()> {
        self.progress.show(self.documents_before, &unit.name);
        self.documents_before += docs::number_of_documents(&self.context.home, [unit.name.as_str()])?;
        let began = Instant::now();
        let day = &unit.name;
        if self.outcome.days_undone >= FAILURES {
            self.outcome.days_undone += 1;
            return log.push(&UndoneLine { day, undone: "a tool failed on earlier days" });
        }
        let home = &self.context.home;
        let made = Recipe::read(home, day)?;
        let Some(wanted) = made.map(|made| self.sources.recipe(home, &made)).transpose()?.flatten() else {
            bail!("the documents of {day} changed during annotation; run again");
        };
        let (recipe, work) = match self.check(&wanted).and_then(|()| self.make(wanted)) {
            Ok(made) => made,
            Err(error) if error.is::<DamagedFiles>() => {
                log::error!("{day} was not annotated: {error}");
                self.outcome.days_damaged.push(day.clone());
                return log.push(&UndoneLine { day, undone: &error.to_string() });
            }
            Err(error) if error.is::<ToolError>() => {
                log::error!("{day} was not annotated: {error:#}");
                self.outcome.days_undone += 1;
                return log.push(&UndoneLine { day, undone: &format!("{error:#}") });
            }
            Err(error) => return Err(error),
        };
        log.push(&DayLine {
            day: &recipe.day,
            why: unit.why,
            documents: recipe.documents,
            documents_kept: recipe.documents - work.documents,
            documents_with_new_layers: work.with_new_layers,
            kept: &recipe.kept,
            dropped: &recipe.dropped,
            tokens: &recipe.tokens,
            layers: &recipe.layers,
            further_layers: &recipe.further_layers,
            seconds: began.elapsed().as_secs_f64(),
        })?;
        self.outcome.days += 1;
        self.outcome.documents += work.documents;
        self.outcome.documents_kept += recipe.documents - work.documents;
        self.outcome.documents_with_new_layers += work.with_new_layers;
        self.outcome.tokens += work.tokens;
        self.outcome.languages.extend(recipe.kept.into_keys());
        Ok(())
    }

    fn finish(self: Box<Self>, ending: Ending, _: &mut StageLog<'_>) -> Result<StageOutcome> {
        let mut outcome = self.outcome;
        for (language, times, why) in self.sources.annotators.restarts() {
            log::warn!("the annotator of {language} crashed and was restarted {} ({why})", count(times, "time"));
            outcome.restarts.insert(language.to_owned(), times);
        }
        if outcome.days > 0 && self.context.takes_undivided {
            text_growth::remove_before(&self.context.home, &self.growing_from)?;
        }
        outcome.done = ending.is_done() && outcome.days_damaged.is_empty();
        outcome.days_left = ending.left;
        outcome.seconds = self.context.seconds();
        outcome.ending = ending;
        Ok(StageOutcome::Annotate(outcome))
    }
}

impl AnnotateRun<'_> {
    /// Compares the documents and verdicts of a day with their digests.
    fn check(&self, wanted: &TextRecipe) -> Result<()> {
        let (home, day) = (&self.context.home, &wanted.day);
        repair::check_documents(home, day)?;
        let judged = self.sources.judged.as_ref().and_then(|judged| judged.get(day));
        judged.map_or(Ok(()), |judged| repair::check_verdicts(home, day, &judged.verdicts))?;
        let amendments = self.sources.amendments.get(day).into_iter().flatten();
        amendments.into_iter().try_for_each(|file| repair::check_amendments(home, file))
    }

    fn make(&self, wanted: TextRecipe) -> Result<(TextRecipe, Work)> {
        if let Some(former) = self.text_without_layers(&wanted)? {
            return self.make_layers(wanted, &former);
        }
        if let Some(former) = self.text_of_other_languages(&wanted)? {
            return self.make_language(wanted, &former);
        }
        let home = &self.context.home;
        let annotators = &self.sources.annotators;
        let mut documents = DayReader::open(home, &self.sources, &wanted)?;
        let day = wanted.day.clone();
        let mut draft = match day >= self.growing_from {
            true => TextDraft::grow(home, wanted, |language| self.sources.annotators_of(language))?,
            false => TextDraft::create(home, wanted)?,
        };
        let known = draft.known();
        let batch_bytes = self.batch_bytes();
        let mut read = 0;
        let source = || {
            let mut batch = Batch::new(batch_bytes);
            while !batch.is_full() {
                self.context.check_cancelled()?;
                let Some((document, size)) = documents.next(&known)? else { break };
                read += 1;
                let is_new = document.judged.is_some();
                batch.push(document, size, is_new);
            }
            Ok(batch.finish())
        };
        let mut work = Work::default();
        let mut layered = BTreeSet::new();
        parallel::ordered(
            self.bounds,
            source,
            |batch| self.annotate(batch, &day),
            |annotated| {
                let (texts, languages) = annotated?;
                self.progress.advance(texts.len() as u64, &day);
                languages.iter().for_each(|language| draft.layer(language, annotators.name_of(language)));
                for DayText { language, key, made } in texts {
                    if layered.insert(Arc::clone(&language)) {
                        draft.further_layers(&language, annotators.layers_of(&language));
                    }
                    match made {
                        Some(made) => {
                            work.documents += 1;
                            work.tokens += made.tokens;
                            draft.push(&language, made)?;
                        }
                        None => draft.keep(&language, key)?,
                    }
                }
                Ok(())
            },
        )?;
        Ok((draft.publish(read)?, work))
    }

    /// The size of a batch.
    fn batch_bytes(&self) -> usize {
        let tools = self.context.config.annotate.external.values();
        let sentences = tools.map(|tool| tool.batch_sentences).max().unwrap_or(0);
        (sentences * SENTENCE_BYTES).clamp(BATCH_BYTES, MOST_BATCH_BYTES)
    }

    /// The texts of a batch of documents in the vertical format, empty if nothing of them is new; and the languages of
    /// their paragraphs.
    fn annotate(&self, batch: Vec<DayDocument>, day: &str) -> Result<(Vec<DayText>, BTreeSet<String>), ToolError> {
        let mut heads = Vec::with_capacity(batch.len());
        let mut documents: Vec<(String, Annotated)> = Vec::with_capacity(batch.len());
        let mut imported: Vec<LayerNames> = Vec::with_capacity(batch.len());
        for DayDocument { language, key, judged } in batch {
            let Some(judged) = judged else {
                heads.push((language, key, None));
                continue;
            };
            let id = judged.document.id.clone();
            let names = judged.document.imported_layers();
            let annotated = self.segment(judged, day);
            heads.push((language.clone(), key, Some((id, annotated.as_ref().err().copied()))));
            if let Ok(annotated) = annotated {
                documents.push((language.as_ref().to_owned(), annotated));
                imported.push(names);
            }
        }
        let languages = enrich(&mut documents, &imported, &self.sources.annotators)?;
        let mut written = documents.iter().map(|(_, annotated)| written(annotated));
        let texts = heads.into_iter().map(|(language, key, document)| {
            let made = document.map(|(id, exclusion)| {
                let made = if exclusion.is_none() { written.next() } else { None }.unwrap_or_default();
                MadeText { id, key, exclusion, ..made }
            });
            DayText { language, key, made }
        });
        Ok((texts.collect(), languages))
    }

    /// The sentences and tokens of the new text of a document, or the reason why there are none.
    fn segment(&self, judged: Judged, day: &str) -> Result<Annotated, Exclusion> {
        let Judged { document, verdict, is_superseded } = judged;
        if is_superseded {
            return Err(Exclusion::Superseded);
        }
        let labels = self.sources.labels.get(&plain(&document.feed)).map(Vec::as_slice).unwrap_or_default();
        let mut duplicates: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
        for unit in verdict.as_ref().map(|verdict| verdict.duplicates.as_slice()).unwrap_or_default() {
            duplicates.entry(unit.paragraph).or_default().push(unit.bytes.unwrap_or((0, u64::MAX)));
        }
        duplicates.values_mut().for_each(|units| units.sort_unstable());
        let is_new = |place: usize, span: Range<usize>| {
            !duplicates.get(&(place as u64)).is_some_and(|units| is_within(&span, units))
        };
        let mut annotated = tidings_annotate::annotate(document, labels, is_new);
        if annotated.paragraphs.is_empty() && !duplicates.is_empty() {
            return Err(Exclusion::Duplicate);
        }
        // The day of the partition, by which an index maps documents to files.
        day.clone_into(&mut annotated.about.seen);
        Ok(annotated)
    }
}

/// A document in the vertical format, with the number of its tokens and its layers.
fn written(annotated: &Annotated) -> MadeText {
    let sentences = annotated.paragraphs.iter().flat_map(|paragraph| &paragraph.sentences);
    let tokens = sentences.map(|sentence| sentence.len() as u64).sum();
    let mut text = String::new();
    vertical::write(annotated, &mut text);
    MadeText { text, tokens, layers: TextLayers::of(annotated), ..MadeText::default() }
}

/// Whether a sentence is within one of the duplicates, given as inclusive byte ranges in order.
fn is_within(sentence: &Range<usize>, duplicates: &[(u64, u64)]) -> bool {
    // Deduplication may have split sentences differently: the middle decides.
    let middle = (sentence.start + sentence.end) as u64 / 2;
    let before = duplicates.partition_point(|(start, _)| *start <= middle);
    before.checked_sub(1).is_some_and(|last| middle <= duplicates[last].1)
}

fn days_are(days: u64) -> String {
    format!("{} {}", count(days, "day"), if days == 1 { "is" } else { "are" })
}

#[cfg(test)]
mod layer_tests;
#[cfg(test)]
mod tests;
