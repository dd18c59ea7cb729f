//! `tidings import`: the doors in. What other programs wrote joins the corridor at the shelf of raw pages.
//!
//! Web pages lie there as they were downloaded, on the day of their own download; texts lie there as documents in JSON, so
//! that whatever is derived from them can be made again. An import goes on where an earlier one was stopped, and one that
//! is repeated does nothing: the ledger of the home knows how far each input was read.

mod kind;
mod lines;
mod make;
mod source;
mod text;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use jiff::Timestamp;
use serde_json::json;
use tidings_fetch::decode::Ceiling;
use tidings_store::doors::ledger::{self, Input, Intake};
use tidings_store::doors::records::Place;
use tidings_store::removed::Removed;
use tidings_store::runs::RunLog;
use tidings_store::{archive, plan, rfc3339};

use super::Report;
use crate::args::Global;
use crate::console;
use kind::{Inputs, Kind, Named};
use make::{Made, Maker};
use source::{Raw, Source, Wanted};
use text::Given;
use tidings_pipeline::context::RunContext;
use tidings_pipeline::display::{count, grouped, span};
use tidings_pipeline::parallel as cores;
use tidings_pipeline::parallel::{self, Bounds};
use tidings_pipeline::reporter::ProgressScope;

/// What travels together, by weight and by number.
const BATCH_BYTES: usize = 2 << 20;
const BATCH_THINGS: usize = 512;
/// What a batch takes while it is made, by its weight.
const EXPANSION: usize = 4;
/// Characters that a line of a WET file must have, as OSCAR's did.
const MIN_CHARS: usize = 100;
/// Files of no known kind that a report names.
const MAX_NAMED: usize = 8;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Web pages go to pages/DAY, DAY being the day of their own download; texts and tokens go there as \
    documents. `tidings run --from clean` does the rest. What was imported already is passed over, and an import that \
    was stopped goes on where it was.\n\nExamples:\n  \
    tidings import CC-NEWS-20260301*.warc.gz     web archives\n  \
    tidings import CC-MAIN-*.warc.wet.gz --lines lines/   text by language, a line once\n  \
    tidings import old-home/pages/*.jsonl.zst    pages of FeedFetcher\n  \
    tidings import saved/ --date 2026-03-01      a folder of web pages\n  \
    tidings import feeds.opml                    feeds, for feeds.txt\n  \
    tidings import corpus.vert --columns word,tag,lemma"
)]
pub struct Args {
    /// Files and folders to take in
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What they are [default: told by their names and first bytes]
    #[arg(long, value_name = "FORMAT")]
    from: Option<Kind>,
    /// Count what would come in, and take nothing in
    #[arg(long)]
    dry_run: bool,
    /// Take in what was taken in before
    #[arg(long)]
    again: bool,
    /// When the pages or texts were obtained, where they do not say [default: the time of the file]
    #[arg(long, value_name = "DAY", value_parser = parse_date)]
    date: Option<Timestamp>,
    /// The language of texts that do not name theirs, such as de; it is a hint, the text decides
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// Only pages of this host and those below it; may be repeated
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    site: Vec<String>,
    /// Let the gate pass every text: somebody has chosen them already
    #[arg(long)]
    no_gate: bool,
    /// Characters that a line of a WET file must have to be text
    #[arg(long, value_name = "N", default_value_t = MIN_CHARS)]
    min_chars: usize,
    /// What the columns of a vertical file are, by the names word, lemma, tag, feats
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "word,lemma,tag,feats")]
    columns: Vec<String>,
    /// Write the lines of WET files or texts to this folder instead, a file for each language, no line twice
    #[arg(long, value_name = "DIR")]
    lines: Option<PathBuf>,
    /// With --lines: memory for telling lines apart that were there before, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, requires = "lines")]
    memory: usize,
    /// Remove each file that was read to its end
    #[arg(long, conflicts_with = "dry_run")]
    remove: bool,
    /// Things made at the same time [default: clean.threads of the settings, one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Pages that make a step, in KiB, packed: for tests
    #[arg(long, hide = true)]
    step_kib: Option<usize>,
}

fn parse_date(text: &str) -> Result<Timestamp, String> {
    let at_midnight = || text.parse::<jiff::civil::Date>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    text.parse::<Timestamp>()
        .ok()
        .or_else(|| at_midnight().map(|zoned| zoned.timestamp()))
        .ok_or_else(|| "give a day such as 2026-03-01".to_owned())
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let columns = columns(&args.columns)?;
    let Inputs { known: mut inputs, unknown } = kind::inputs(&args.paths, args.from)?;
    if let Some(folder) = &args.lines {
        // A folder may hold other things beside texts; whoever names such a file is told.
        inputs.retain(|input| matches!(input.kind, Kind::Warc | Kind::Jsonl) || is_named(&input.path, &args.paths));
        return lines::run(args, &inputs, folder);
    }
    let (home, mut config) = super::open_home(global)?;
    if let Some(threads) = args.threads {
        config.clean.threads = threads.into();
    }
    let context = RunContext::open(&tidings_pipeline::Pipeline::new(home, config), "import")?;
    let total = inputs.len() as u64;
    let mut intake = Intake::open(&context.home, &context.run)?;
    if let Some(kib) = args.step_kib {
        intake = intake.with_steps_of(kib << 10);
    }
    let mut work = Work {
        intake,
        removed: Arc::new(Removed::read(&context.home)?),
        args,
        columns,
        progress: console::progress("files", total),
        read: 0,
        known: 0,
        pages: 0,
        plan_rows: 0,
        left_out: Some(unknown.len() as u64)
            .filter(|n| *n > 0)
            .map(|n| ("unknown-file".to_owned(), n))
            .into_iter()
            .collect(),
        unknown,
        failed: Vec::new(),
        texts: Vec::new(),
        context: &context,
    };
    let mut log = None;
    if !args.dry_run {
        let mut started = RunLog::create(&context.home, &context.run)?;
        started.push(&json!({ "began": rfc3339(context.started) }))?;
        log = Some(started);
    }
    let ended = inputs.iter().enumerate().try_for_each(|(number, input)| {
        work.progress.show(number as u64, &input.path.display().to_string());
        work.input(input)
    });
    let kept = if args.dry_run { Ok(()) } else { work.intake.step().and_then(|()| work.intake.fold()) };
    let report = work.report();
    if let Some(mut log) = log {
        let logged = log.push(&json!({ "summary": report.json })).and_then(|()| log.publish());
        ended?;
        kept?;
        logged?;
    } else {
        ended?;
    }
    Ok(report)
}

/// Whether a file was named itself, not a folder that it lies in.
fn is_named(path: &Path, paths: &[PathBuf]) -> bool {
    path.is_file() && paths.iter().any(|named| named == path)
}

/// Where word, lemma, tag and features stand among the columns of a vertical file.
fn columns(names: &[String]) -> Result<[usize; 4]> {
    let place = |name: &str| names.iter().position(|known| known == name);
    let Some(word) = place("word") else { bail!("--columns must name a column `word`") };
    // What is not there stands behind all columns.
    let [lemma, tag, feats] = ["lemma", "tag", "feats"].map(|name| place(name).unwrap_or(usize::MAX));
    Ok([word, lemma, tag, feats])
}

/// The work of a run, and what came of it so far.
struct Work<'a> {
    context: &'a RunContext,
    args: &'a Args,
    columns: [usize; 4],
    intake: Intake,
    /// What must not come back, by whatever door.
    removed: Arc<Removed>,
    progress: ProgressScope,
    /// Inputs that were read, and those that were known.
    read: u64,
    known: u64,
    pages: u64,
    plan_rows: u64,
    left_out: BTreeMap<String, u64>,
    /// Files in folders that are of no kind that is known.
    unknown: Vec<PathBuf>,
    failed: Vec<String>,
    /// What lists of feeds and plans came to, in words.
    texts: Vec<String>,
}

impl Work<'_> {
    /// Takes an input in. One that cannot be read costs itself; that nothing can be written ends the run.
    fn input(&mut self, input: &Named) -> Result<()> {
        let least = self.context.config.store.min_free_mib;
        if self.context.is_disk_low() {
            bail!("the disk has less than {least} MiB free (store.min_free_mib); free some space and run again");
        }
        let shown = input.path.display().to_string();
        let done = match input.kind {
            Kind::Opml => self.opml(&input.path),
            Kind::Plan => self.plan(&input.path),
            Kind::Html => self.saved(&input.path),
            kind => self.file(&input.path, kind),
        };
        if let Err(error) = done {
            if !is_about_input(&error, &input.path) {
                return Err(error);
            }
            log::error!("{shown}: {error:#}");
            self.failed.push(shown);
        }
        Ok(())
    }

    fn opml(&mut self, path: &Path) -> Result<()> {
        self.read += 1;
        if self.args.dry_run {
            return Ok(());
        }
        self.texts.push(tidings_pipeline::discover::opml::add_to_list(self.context, path)?);
        Ok(())
    }

    fn plan(&mut self, path: &Path) -> Result<()> {
        let taken = plan::take_in(&self.context.home, &self.context.run, path, self.args.dry_run)?;
        self.read += 1;
        self.plan_rows += taken.added;
        let name = name_of(path);
        self.texts.push(format!(
            "{name}: {} read, {} new in the plan\n",
            count(taken.read, "entry"),
            grouped(taken.added)
        ));
        Ok(())
    }

    /// Takes in saved pages: a file, or all of a folder.
    fn saved(&mut self, path: &Path) -> Result<()> {
        let root = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
        let name = name_of(root);
        let mut files = VecDeque::new();
        for file in archive::html_files(path)? {
            let inside = file.strip_prefix(root).unwrap_or(&file).to_owned();
            let input = Input::of_saved(&file, &format!("{name}/{}", inside.display()))?;
            match self.intake.known(&input) {
                Some(known) if known.done && !self.args.again => self.known += 1,
                _ => files.push_back((file, inside, input)),
            }
        }
        self.read += files.len() as u64;
        let given = self.given(self.args.date);
        let maker = self.maker(Kind::Html, name, given);
        self.pass(Source::Saved(files), maker, Input::default())?;
        Ok(())
    }

    fn file(&mut self, path: &Path, kind: Kind) -> Result<()> {
        let name = name_of(path);
        let mut input = Input::of(path, &name)?;
        if let Some(known) = self.intake.known(&input).filter(|_| !self.args.again) {
            if known.done {
                self.known += 1;
                log::debug!("{name} was imported before");
                return self.remove(path);
            }
            log::info!("{name}: going on behind record {}", known.records);
            input.clone_from(known);
        }
        self.read += 1;
        let time = std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
        let time = time.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or(self.context.started);
        let wanted = Wanted {
            max_bytes: (self.context.config.fetch.max_page_mib as u64) << 21,
            sites: self.args.site.iter().map(|site| site.to_ascii_lowercase()).collect(),
        };
        let source = Source::open(path, kind, input.place(), wanted, self.columns)?;
        let given = self.given(Some(self.args.date.unwrap_or(time)));
        let maker = self.maker(kind, name, given);
        self.pass(source, maker, input)?;
        self.remove(path)
    }

    fn given(&self, downloaded: Option<Timestamp>) -> Given {
        Given {
            downloaded: downloaded.map(rfc3339).unwrap_or_default(),
            language: self.args.language.clone().unwrap_or_default(),
            ungated: self.args.no_gate,
            min_chars: self.args.min_chars,
        }
    }

    fn maker(&self, kind: Kind, name: String, given: Given) -> Maker {
        let fetch = &self.context.config.fetch;
        Maker {
            kind,
            name,
            given,
            ceiling: Ceiling { max_bytes: fetch.max_page_mib << 20, max_ratio: fetch.max_unpack_ratio },
            removed: Arc::clone(&self.removed),
            compression: (!self.args.dry_run).then_some(self.context.config.store.compression),
        }
    }

    /// Lets a source pass through the door, from its place to its end.
    fn pass(&mut self, mut source: Source, maker: Maker, mut input: Input) -> Result<()> {
        let clean = &self.context.config.clean;
        let threads = if clean.threads == 0 { cores::cores() } else { clean.threads };
        let bounds = Bounds { threads, weight: clean.memory_mib << 20 };
        let is_file = !input.name.is_empty();
        let (dry_run, intake) = (self.args.dry_run, &mut self.intake);
        let (pages, left_out) = (&mut self.pages, &mut self.left_out);
        let (mut ended, mut fault) = (false, None);
        let batches = || {
            if let Some(fault) = fault.take() {
                return Err(fault);
            }
            if ended {
                return Ok(None);
            }
            let (batch, weight);
            (batch, weight, fault) = next_batch(&mut source);
            ended = batch.is_last;
            Ok(Some((batch, weight * EXPANSION + (64 << 10))))
        };
        parallel::ordered(
            bounds,
            batches,
            |Batch { things, place, is_last }| (maker.make(things), place, is_last),
            |(made, place, is_last): (Made, Place, bool)| {
                *pages += made.pages;
                for (why, number) in made.left_out {
                    *left_out.entry(why.to_owned()).or_default() += number;
                    *input.left_out.entry(why.to_owned()).or_default() += number;
                }
                if dry_run {
                    return Ok(());
                }
                made.frames.iter().for_each(|(day, frame)| intake.push(day, frame));
                intake.remember(&made.addresses);
                for saved in &made.saved {
                    intake.reached(saved)?;
                }
                if is_file {
                    input.pages += made.pages;
                    (input.records, input.byte, input.done) = (place.records, place.byte, is_last);
                    intake.reached(&input)?;
                }
                Ok(())
            },
        )
    }

    /// Removes an input if that is wished, once what came of it is safe.
    fn remove(&mut self, path: &Path) -> Result<()> {
        if self.args.remove && path.is_file() {
            self.intake.step()?;
            ledger::remove_input(path)?;
        }
        Ok(())
    }

    fn report(&self) -> Report {
        let mut text = self.texts.concat();
        let what = if self.args.dry_run { "would come in" } else { "came in" };
        if self.texts.is_empty() || self.pages > 0 || !self.unknown.is_empty() {
            text.push_str(&format!("{} read: {} {what}", count(self.read, "file"), count(self.pages, "page")));
            let out: u64 = self.left_out.values().sum();
            if out > 0 {
                let mut reasons: Vec<(&String, &u64)> = self.left_out.iter().collect();
                reasons.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), *name));
                let listed: Vec<String> = reasons.iter().map(|(name, n)| format!("{} {name}", grouped(**n))).collect();
                text.push_str(&format!(", {} left out ({})", grouped(out), listed.join(", ")));
            }
            if self.known > 0 {
                text.push_str(&format!(", {} imported before", count(self.known, "file")));
            }
            text.push_str(&format!(", {}\n", span(self.context.began.elapsed())));
        }
        let unknown: Vec<String> = self.unknown.iter().take(MAX_NAMED).map(|path| path.display().to_string()).collect();
        if !unknown.is_empty() {
            let more = self.unknown.len() - unknown.len();
            let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
            text.push_str(&format!("unknown-file: {}{more}; --from says what a file is\n", unknown.join(", ")));
        }
        if !self.failed.is_empty() {
            text.push_str(&format!("not read to the end: {}\n", self.failed.join(", ")));
        }
        let json = json!({
            "done": self.failed.is_empty(),
            "run": self.context.run,
            "files": self.read,
            "files_known": self.known,
            "files_failed": self.failed,
            "files_unknown": unknown,
            "pages": self.pages,
            "entries": self.plan_rows,
            "left_out": self.left_out,
            "dry_run": self.args.dry_run,
            "seconds": self.context.began.elapsed().as_secs_f64(),
        });
        let partly = !self.failed.is_empty() || self.left_out.contains_key("damaged");
        Report { text, json, failed: false, partly }
    }
}

/// Things that travel together, and where the next ones begin.
struct Batch {
    things: Vec<Raw>,
    place: Place,
    is_last: bool,
}

/// The next things of a source, their weight, and what went wrong behind them.
fn next_batch(source: &mut Source) -> (Batch, usize, Option<anyhow::Error>) {
    let (mut things, mut weight) = (Vec::new(), 0);
    loop {
        let is_full = weight >= BATCH_BYTES || things.len() >= BATCH_THINGS;
        if is_full && source.is_settled() {
            return (Batch { things, place: source.place(), is_last: false }, weight, None);
        }
        match source.next() {
            Ok(Some(thing)) => {
                weight += thing.weight();
                things.push(thing);
            }
            Ok(None) => return (Batch { things, place: source.place(), is_last: true }, weight, None),
            Err(fault) => return (Batch { things, place: source.place(), is_last: false }, weight, Some(fault)),
        }
    }
}

fn name_of(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether an input is at fault, not the home.
fn is_about_input(error: &anyhow::Error, path: &Path) -> bool {
    use tidings_store::Error;
    match error.downcast_ref::<Error>() {
        Some(Error::Io { path: at, .. }) => at.starts_with(path),
        Some(Error::Line { path: at, .. } | Error::Damaged { path: at, .. } | Error::Row { path: at, .. }) => {
            at.starts_with(path)
        }
        Some(Error::Newer { path: at, .. }) => at.starts_with(path),
        Some(_) => false,
        // Whatever else can go wrong, reading did.
        None => true,
    }
}

/// Opens a file of any kind, with the file in the error.
fn opened(path: &Path) -> Result<Box<dyn std::io::BufRead + Send>> {
    archive::open(path).with_context(|| format!("cannot read {}", path.display()))
}
