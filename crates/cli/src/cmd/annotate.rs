//! `tidings annotate`: documents in, sentences of tokens out, one day at a time.
//!
//! A day of documents is read by one thread, cut into tokens and tagged on all cores, a bundle of documents at a time, and
//! written down in the order of the documents. It appears whole, with the recipe that made it, or not at all: a tool of
//! somebody else that fails leaves its day undone, and the run goes on with the next.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use tidings_annotate::external::{External, ToolError};
use tidings_annotate::{Annotators, Models, enrich};
use tidings_model::{Annotated, Document, address};
use tidings_store::docs::{self, DocumentReader, Ingredient, Recipe};
use tidings_store::format::vertical;
use tidings_store::runs::RunLog;
use tidings_store::seen::{self, JudgedDay, Ledger, VerdictLine, VerdictReader};
use tidings_store::text::{self, TextDraft, TextRecipe};
use tidings_store::yields;
use tidings_store::{Home, feeds, rfc3339};
use xxhash_rust::xxh3::xxh3_128;

use super::{Report, StepArgs, days_left, ended_early};
use crate::args::Global;
use crate::config::{AnnotateConfig, Duplicates};
use crate::console::{Progress, count, span};
use crate::orderly::{self, Bounds};
use crate::session::Session;
use crate::{intake, lines};

/// What a document takes while it is cut, by the size of its text.
const EXPANSION: usize = 12;
/// What it takes at least.
const LEAST_WEIGHT: usize = 64 << 10;
/// Documents go together up to so many bytes of text, or more where a tool wants more sentences at once.
const BUNDLE_BYTES: usize = 128 << 10;
const MOST_BUNDLE_BYTES: usize = 16 << 20;
/// What a sentence and a document have, about.
const SENTENCE_BYTES: usize = 128;
const DOCUMENT_BYTES: usize = 2 << 10;
/// No file of models is larger.
const MAX_MODELS_BYTES: u64 = 1 << 30;
/// After so many days that tools left undone no further one is tried: it would fail like these, after as long a wait.
const FAILURES: u64 = 3;

/// A document and what is known about its duplicates.
type Judged = (Document, Option<VerdictLine>);
/// A document's language, its text in the vertical format and its tokens.
type Made = (String, String, u64);

#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Tokens come to text/LANG/DAY.vert.zst in the vertical format, a token a line, which other corpus tools read \
    as it is; text/recipes/DAY.json says what each day was made of. Days that are up to date are left alone."
)]
pub struct Args {
    /// Documents cut at the same time [default: clean.threads of the settings, one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    steps: StepArgs,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, mut config) = super::open_home(global)?;
    if let Some(threads) = args.threads {
        config.clean.threads = threads.into();
    }
    let session = Session::open(home, config, "annotate")?;
    let mut work = Work::begin(&session)?;

    let days = docs::made(&session.home)?;
    let (mut due, mut waiting) = (Vec::new(), 0);
    for day in &days {
        let Some(made) = Recipe::read(&session.home, day)? else { continue };
        let Some(wanted) = work.wanted(&made)? else {
            waiting += 1;
            continue;
        };
        let why = match TextRecipe::read(&session.home, day)? {
            None => Some("it is new"),
            Some(recipe) => recipe.stale(&wanted, |language| work.annotators.name_of(language), &session.home),
        };
        due.extend(why.map(|why| (wanted, why)));
    }
    let known: BTreeSet<&String> = days.iter().collect();
    let gone: Vec<String> = text::days(&session.home)?.into_iter().filter(|day| !known.contains(day)).collect();
    if waiting > 0 {
        log::warn!(
            "{} not judged yet; run `tidings dedup` first, or set annotate.duplicates to keep",
            days_are(waiting)
        );
    }
    if due.is_empty() && gone.is_empty() {
        let text = match days.len() - waiting {
            0 if waiting > 0 => "nothing to annotate\n".to_owned(),
            0 => "nothing to annotate: there are no documents yet; `tidings clean` makes them\n".to_owned(),
            1 => "nothing to annotate: the day is up to date\n".to_owned(),
            days => format!("nothing to annotate: all of {} are up to date\n", count(days as u64, "day")),
        };
        let json = json!({ "done": true, "run": session.run, "days": 0, "days_up_to_date": days.len() - waiting, "days_waiting": waiting });
        return Ok(Report { text, json, ..Report::default() });
    }

    let mut log = RunLog::create(&session.home, &session.run)?;
    log.push(&json!({ "began": rfc3339(session.started) }))?;
    // What there are no documents of any more has no text.
    gone.iter().try_for_each(|day| text::remove_day(&session.home, day))?;
    let total = due.len() as u64;
    let mut progress = Progress::begin("days", total);
    let ended = session.steps(args.steps.time_limit, (0..).zip(due), |(done, (wanted, why))| {
        progress.show(done, &wanted.day);
        work.day(&mut log, wanted, why)
    });
    let left = total - ended.as_ref().unwrap_or(&work.days);
    let report = work.report((days.len() - waiting) as u64 - total, left);
    let logged = log.push(&json!({ "summary": report.json })).and_then(|()| log.publish());
    ended?;
    logged?;
    Ok(report)
}

/// The work of a run, and what came of it so far.
struct Work<'a> {
    session: &'a Session,
    bounds: Bounds,
    /// What people say about feeds, by address.
    labels: FeedLabels,
    /// Who gives lemmas and tags.
    annotators: Annotators,
    /// The days that were judged, with the digests of their documents; nothing if duplicates are not told, or kept.
    judged: Option<HashMap<String, JudgedDay>>,
    days: u64,
    /// Days that a tool left undone.
    undone: u64,
    documents: u64,
    tokens: u64,
    languages: BTreeSet<String>,
}

impl<'a> Work<'a> {
    fn begin(session: &'a Session) -> Result<Work<'a>> {
        let config = &session.config.clean;
        let threads = if config.threads == 0 { lines::cores() } else { config.threads };
        Ok(Work {
            session,
            bounds: Bounds { threads, weight: config.memory_mib << 20 },
            labels: labels(&session.home)?,
            annotators: annotators(&session.config.annotate)?,
            judged: match session.config.annotate.duplicates {
                Duplicates::Keep => None,
                Duplicates::Drop => {
                    let ledger = Ledger::read(&session.home)?;
                    ledger.map(|ledger| ledger.days.into_iter().map(|day| (day.day.clone(), day)).collect())
                }
            },
            days: 0,
            undone: 0,
            documents: 0,
            tokens: 0,
            languages: BTreeSet::new(),
        })
    }

    /// The recipe by which a day of documents would be annotated now, without what would come of it; none if its
    /// documents were not judged yet.
    fn wanted(&self, made: &Recipe) -> Result<Option<TextRecipe>> {
        let program = format!("tidings {}", env!("CARGO_PKG_VERSION"));
        let settings = json!({ "labels": self.labels_of(&made.day)? });
        let mut wanted = TextRecipe::new(&made.day, &program, tidings_annotate::version(), settings);
        wanted.inputs = made.shelves().cloned().collect();
        if let Some(judged) = &self.judged {
            let digest = seen::docs_digest(&self.session.home, &made.day)?;
            match judged.get(&made.day).filter(|day| day.docs == digest) {
                Some(day) => wanted.inputs.push(day.verdicts.clone()),
                None => return Ok(None),
            }
        }
        Ok(Some(wanted))
    }

    /// A digest of what people say about the feeds of a day: whoever names a feed's topic changes the days that
    /// hold its documents, and no others.
    fn labels_of(&self, day: &str) -> Result<String> {
        let mut feeds = BTreeSet::new();
        if !self.labels.is_empty() {
            yields::of_day(&self.session.home, day, |row| {
                feeds.insert(row.feed);
            })?;
        }
        let named: Vec<_> = feeds.iter().filter_map(|feed| self.labels.get_key_value(&plain(feed))).collect();
        let text = serde_json::to_string(&named).expect("labels serialise");
        Ok(if named.is_empty() { String::new() } else { format!("{:032x}", xxh3_128(text.as_bytes())) })
    }

    fn day(&mut self, log: &mut RunLog, wanted: TextRecipe, why: &'static str) -> Result<()> {
        let least = self.session.config.store.min_free_mib;
        if intake::free_bytes(&self.session.home).is_some_and(|free| free < least << 20) {
            bail!("the disk has less than {least} MiB free (store.min_free_mib); free some space and run again");
        }
        let began = Instant::now();
        let day = wanted.day.clone();
        if self.undone >= FAILURES {
            self.undone += 1;
            return Ok(log.push(&json!({ "day": day, "undone": "a tool failed on earlier days" }))?);
        }
        let recipe = match self.make(wanted) {
            Ok(recipe) => recipe,
            Err(error) if error.is::<ToolError>() => {
                log::error!("{day} is left undone: {error:#}");
                self.undone += 1;
                return Ok(log.push(&json!({ "day": day, "undone": format!("{error:#}") }))?);
            }
            Err(error) => return Err(error),
        };
        log.push(&json!({
            "day": recipe.day,
            "why": why,
            "documents": recipe.documents,
            "kept": recipe.kept,
            "dropped": recipe.dropped,
            "tokens": recipe.tokens,
            "layers": recipe.layers,
            "seconds": began.elapsed().as_secs_f64(),
        }))?;
        self.days += 1;
        self.documents += recipe.documents;
        self.tokens += recipe.tokens.values().sum::<u64>();
        self.languages.extend(recipe.kept.into_keys());
        Ok(())
    }

    fn make(&self, wanted: TextRecipe) -> Result<TextRecipe> {
        let home = &self.session.home;
        let is_documents = |input: &&Ingredient| input.file.starts_with("docs/");
        let paths: Vec<PathBuf> =
            wanted.inputs.iter().filter(is_documents).map(|input| home.root().join(&input.file)).collect();
        let day = wanted.day.clone();
        let mut verdicts = match &self.judged {
            Some(_) => Some(VerdictReader::open(home, &day)?),
            None => None,
        };
        let mut draft = TextDraft::create(home, wanted)?;
        let mut read = 0;
        let mut files = paths.iter();
        let mut open: Option<DocumentReader> = None;
        let mut next = || -> Result<Option<(Judged, usize)>> {
            loop {
                self.session.keep_going()?;
                if let Some(document) = open.as_mut().and_then(|reader| reader.next()) {
                    let document = document?;
                    read += 1;
                    let verdict = match &mut verdicts {
                        Some(verdicts) => Some(about(&document, verdicts.next().transpose()?)?),
                        None => None,
                    };
                    let size = document.paragraphs.iter().map(|paragraph| paragraph.text.len()).sum();
                    return Ok(Some(((document, verdict), size)));
                }
                let Some(path) = files.next() else { return Ok(None) };
                open = Some(DocumentReader::open(path)?);
            }
        };
        let tools = self.session.config.annotate.external.values();
        let sentences = tools.map(|tool| tool.batch_sentences).max().unwrap_or(0);
        let bundle_bytes = (sentences * SENTENCE_BYTES).clamp(BUNDLE_BYTES, MOST_BUNDLE_BYTES);
        // Bundles depend on the documents alone, so that what a tool sees does not depend on the number of threads.
        let source = || {
            let (mut bundle, mut bytes) = (Vec::new(), 0);
            while bytes < bundle_bytes && bundle.len() < bundle_bytes / DOCUMENT_BYTES {
                let Some((document, size)) = next()? else { break };
                bundle.push(document);
                bytes += size;
            }
            let weight = bytes * EXPANSION + bundle.len() * LEAST_WEIGHT;
            Ok(Some((bundle, weight)).filter(|(bundle, _)| !bundle.is_empty()))
        };
        orderly::run(
            self.bounds,
            source,
            |bundle| self.annotate(&bundle, &day),
            |annotated| {
                let (texts, languages) = annotated?;
                languages.iter().for_each(|language| draft.layer(language, self.annotators.name_of(language)));
                for text in texts {
                    match text {
                        Some((language, text, tokens)) => draft.push(&language, &text, tokens)?,
                        None => draft.leave_out("duplicate"),
                    }
                }
                Ok(())
            },
        )?;
        Ok(draft.publish(read)?)
    }

    /// Documents in the vertical format, each with its language and how many tokens it has, or nothing if nothing of it
    /// is new; and the languages of their paragraphs.
    fn annotate(&self, bundle: &[Judged], day: &str) -> Result<(Vec<Option<Made>>, BTreeSet<String>), ToolError> {
        let cut: Vec<Option<Annotated>> =
            bundle.iter().map(|(document, verdict)| self.cut(document, verdict.as_ref(), day)).collect();
        let is_new: Vec<bool> = cut.iter().map(Option::is_some).collect();
        let codes = bundle.iter().map(|(document, _)| document.language_code());
        let mut documents: Vec<(String, Annotated)> =
            codes.zip(cut).filter_map(|(code, annotated)| Some((code, annotated?))).collect();
        let languages = enrich(&mut documents, &self.annotators)?;
        let mut written = documents.into_iter().map(|(code, annotated)| {
            let sentences = annotated.paragraphs.iter().flat_map(|paragraph| &paragraph.sentences);
            let tokens = sentences.map(|sentence| sentence.len() as u64).sum();
            let mut text = String::new();
            vertical::write(&annotated, &mut text);
            (code, text, tokens)
        });
        Ok((is_new.into_iter().map(|is_new| if is_new { written.next() } else { None }).collect(), languages))
    }

    /// The sentences and tokens of what is new of a document; nothing if nothing is.
    fn cut(&self, document: &Document, verdict: Option<&VerdictLine>, day: &str) -> Option<Annotated> {
        let labels = self.labels.get(&plain(&document.feed)).map(Vec::as_slice).unwrap_or_default();
        let mut duplicates: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
        for unit in verdict.map(|verdict| verdict.duplicates.as_slice()).unwrap_or_default() {
            duplicates.entry(unit.paragraph).or_default().push(unit.bytes.unwrap_or((0, u64::MAX)));
        }
        duplicates.values_mut().for_each(|units| units.sort_unstable());
        let is_new = |place: usize, span: Range<usize>| {
            !duplicates.get(&(place as u64)).is_some_and(|units| is_within(&span, units))
        };
        let mut annotated = tidings_annotate::annotate(document, labels, is_new);
        if annotated.paragraphs.is_empty() && !duplicates.is_empty() {
            return None;
        }
        // The shelf's day, by which an index knows what came of which file.
        day.clone_into(&mut annotated.about.seen);
        Some(annotated)
    }

    fn report(&self, up_to_date: u64, left: u64) -> Report {
        let (ending, not_done) = ended_early(self.session, days_left(left));
        let undone = match self.undone {
            0 => String::new(),
            days if days > FAILURES => {
                let untried = days - FAILURES;
                format!(
                    "; {} left undone, because a tool failed, and {untried} more were not tried",
                    days_are(FAILURES as usize)
                )
            }
            days => format!("; {} left undone, because a tool failed", days_are(days as usize)),
        };
        let mut restarts = serde_json::Map::new();
        for (language, times, why) in self.annotators.restarts() {
            log::warn!("the annotator of {language} died and was started again, {} ({why})", count(times, "time"));
            restarts.insert(language.to_owned(), times.into());
        }
        let text = format!(
            "{} annotated: {} in {}{undone}{ending}, {}\n",
            count(self.documents, "document"),
            count(self.tokens, "token"),
            count(self.languages.len() as u64, "language"),
            span(self.session.began.elapsed()),
        );
        let json = json!({
            "done": !not_done,
            "run": self.session.run,
            "days": self.days,
            "days_up_to_date": up_to_date,
            "days_left": left,
            "days_undone": self.undone,
            "restarts": restarts,
            "documents": self.documents,
            "tokens": self.tokens,
            "languages": self.languages,
            "seconds": self.session.began.elapsed().as_secs_f64(),
        });
        Report { text, json, failed: not_done, partly: self.undone > 0 }
    }
}

/// The models: those that come with the program, and those of a file of the user's, which win.
fn models(config: &AnnotateConfig) -> Result<Models> {
    let shipped = tidings_annotate::models();
    if config.models.is_empty() {
        return Ok(shipped.clone());
    }
    let path = Path::new(&config.models);
    let size =
        std::fs::metadata(path).with_context(|| format!("cannot read annotate.models, {}", path.display()))?.len();
    if size > MAX_MODELS_BYTES {
        bail!("annotate.models, {}, has {} MiB; no file of models is that large", path.display(), size >> 20);
    }
    let bytes = std::fs::read(path).with_context(|| format!("cannot read annotate.models, {}", path.display()))?;
    let models = Models::from_bytes(Cow::Owned(bytes)).and_then(|models| models.check().map(|()| models));
    Ok(shipped.with(models.with_context(|| format!("annotate.models, {}", path.display()))?))
}

/// Who gives lemmas and tags, by the settings.
pub fn annotators(config: &AnnotateConfig) -> Result<Annotators> {
    if !config.tags {
        return Ok(Annotators::none());
    }
    let mut annotators = Annotators::new(models(config)?);
    for (language, settings) in config.tools()? {
        annotators.set(&language, Arc::new(External::new(&language, settings)));
    }
    if !config.features {
        annotators.leave_out_features();
    }
    Ok(annotators)
}

/// The verdict about a document, which lies at the same place among verdicts as the document among documents.
fn about(document: &Document, verdict: Option<VerdictLine>) -> Result<VerdictLine> {
    match verdict {
        Some(verdict) if verdict.id == document.id => Ok(verdict),
        _ => bail!("the verdicts are not about these documents ({}); run `tidings rebuild --from dedup`", document.id),
    }
}

/// Whether a sentence is where one of the duplicates is: their first and last bytes, in order.
fn is_within(sentence: &Range<usize>, duplicates: &[(u64, u64)]) -> bool {
    // Sentences were cut by the judge, perhaps elsewhere: the middle decides.
    let middle = (sentence.start + sentence.end) as u64 / 2;
    let before = duplicates.partition_point(|(start, _)| *start <= middle);
    before.checked_sub(1).is_some_and(|last| middle <= duplicates[last].1)
}

fn days_are(days: usize) -> String {
    format!("{} {}", count(days as u64, "day"), if days == 1 { "is" } else { "are" })
}

/// What people say about feeds, by address.
pub(super) type FeedLabels = HashMap<String, Vec<(String, String)>>;

/// What the list of feeds says about them.
pub(super) fn labels(home: &Home) -> Result<FeedLabels> {
    let named = feeds::list(home)?.feeds.into_iter().filter(|feed| !feed.labels.is_empty());
    Ok(named.map(|feed| (plain(&feed.url), feed.labels)).collect())
}

/// An address as everybody would write it.
pub(super) fn plain(feed: &str) -> String {
    address::normalise(feed, None).unwrap_or_else(|| feed.to_owned())
}
