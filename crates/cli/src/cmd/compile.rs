//! `tidings compile`: annotated text in, a searchable index out, a language at a time.
//!
//! The index knows which files it was made of. A day that is new is added, a day that was made anew
//! takes the place of its former self, and both become visible at once; the cost is that of the day.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use tidings_index::{Day, Input, Settings, Writer};
use tidings_store::docs::Ingredient;
use tidings_store::format::vertical::Reader;
use tidings_store::hidden;
use tidings_store::runs::RunLog;
use tidings_store::text::{self, TextRecipe};
use tidings_store::{Home, rfc3339};

use super::{Report, StepArgs, days_left, ended_early};
use crate::args::Global;
use crate::console::{Progress, count, grouped, span};
use crate::intake;
use crate::session::Session;

#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "The index of a language is in index/LANG/. It is derived: whoever deletes it gets it back with the next run."
)]
pub struct Args {
    /// Only this language, such as de
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
    /// Check every byte of the index against its digests
    #[arg(long)]
    verify: bool,
    /// Hide a document from every answer, by its address or id, now and whenever the index is made anew
    #[arg(long, value_name = "DOCUMENT")]
    hide: Vec<String>,
    #[command(flatten)]
    steps: StepArgs,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = super::open_home(global)?;
    let session = Session::open(home, config, "compile")?;
    let mut unwanted = hidden::read(&session.home)?;
    if !args.hide.is_empty() {
        // The list first: whatever happens then, the next run knows.
        unwanted.extend(args.hide.iter().cloned());
        hidden::write(&session.home, &unwanted)?;
    }
    let shelves = shelves(&session.home)?;
    let languages: BTreeSet<String> = shelves.keys().cloned().chain(session.home.indexed()?).collect();
    let languages: Vec<&String> =
        languages.iter().filter(|code| args.lang.as_ref().is_none_or(|wanted| wanted == *code)).collect();
    if let (Some(code), true) = (&args.lang, languages.is_empty()) {
        bail!("there is no text in {code}; `tidings annotate` makes it");
    }

    let mut log: Option<RunLog> = None;
    let mut done: BTreeMap<&str, Value> = BTreeMap::new();
    let (mut days, mut tokens, mut hidden, mut left) = (0, 0, 0, 0);
    let mut progress = Progress::begin("languages", languages.len() as u64);
    let nothing = Vec::new();
    let limit = args.steps.time_limit;
    let reached = session.steps(limit, (0..).zip(&languages), |(number, code)| {
        progress.show(number, code);
        let wanted = shelves.get(*code).unwrap_or(&nothing);
        let compiled = compile(&session, code, wanted, &unwanted, args).with_context(|| {
            format!("the index of {code} cannot be written; if it is damaged, remove index/{code} and run again")
        })?;
        if let Some(compiled) = compiled {
            let log = match &mut log {
                Some(log) => log,
                None => log.insert(begin(&session)?),
            };
            log.push(&json!({ "language": code, "compiled": compiled }))?;
            let number = |name: &str| compiled[name].as_u64().unwrap_or_default();
            days += number("days_added");
            tokens += number("tokens_added");
            hidden += number("documents_hidden");
            left += number("days_left");
            done.insert(code, compiled);
        }
        Ok(())
    })?;
    let languages_left = languages.len() as u64 - reached;
    let left = match languages_left {
        0 => days_left(left),
        more => format!("; {} left for a later run", count(more, "language")),
    };
    let (ending, not_done) = ended_early(&session, left);
    let took = span(session.began.elapsed());
    let text = match (languages.len(), done.len()) {
        (0, _) => "nothing to compile: there is no text yet; `tidings annotate` makes it\n".to_owned(),
        (1, 0) => "nothing to compile: the index is up to date\n".to_owned(),
        (all, 0) => format!("nothing to compile: the indexes of {} are up to date\n", count(all as u64, "language")),
        (..) if days == 0 && hidden > 0 => format!("{} hidden{ending}, {took}\n", count(hidden, "document")),
        (_, changed) => {
            let (tokens, changed) = (count(tokens, "token"), count(changed as u64, "language"));
            format!("{tokens} made searchable in {changed}{ending}, {took}\n")
        }
    };
    let json = json!({
        "done": !not_done,
        "run": session.run,
        "languages": done,
        "languages_left": languages_left,
        "tokens_added": tokens,
        "days_added": days,
        "documents_hidden": hidden,
    });
    if let Some(mut log) = log {
        log.push(&json!({ "summary": json }))?;
        log.publish()?;
    }
    Ok(Report { text, json, failed: not_done, ..Report::default() })
}

fn begin(session: &Session) -> Result<RunLog> {
    let mut log = RunLog::create(&session.home, &session.run)?;
    log.push(&json!({ "began": rfc3339(session.started) }))?;
    Ok(log)
}

/// A day of text of a language.
type File = (String, Ingredient);

/// The files of text by language, oldest first, each with its day.
fn shelves(home: &Home) -> Result<BTreeMap<String, Vec<File>>> {
    let mut shelves: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for day in text::days(home)? {
        let Some(recipe) = TextRecipe::read(home, &day)? else { continue };
        for output in recipe.outputs {
            let code = output.file.split('/').nth(1).unwrap_or_default().to_owned();
            shelves.entry(code).or_default().push((day.clone(), output));
        }
    }
    Ok(shelves)
}

/// Brings the index of a language up to date; says what changed, if anything did.
fn compile(
    session: &Session,
    code: &str,
    wanted: &[File],
    unwanted: &BTreeSet<String>,
    args: &Args,
) -> Result<Option<Value>> {
    let settings = Settings { batch_bytes: session.config.index.memory_mib * (1 << 20) * 2 / 5, ..Settings::default() };
    let mut writer = open(&session.home, code, settings)?;
    if args.verify {
        writer.snapshot().verify()?;
    }
    let known: BTreeMap<String, Input> =
        writer.snapshot().inputs().iter().map(|input| (input.file.clone(), input.clone())).collect();
    let is_known = |file: &Ingredient| {
        known.get(&file.file).is_some_and(|input| (input.bytes, &input.xxh3) == (file.bytes, &file.xxh3))
    };
    let mut new: Vec<&File> = wanted.iter().filter(|(_, file)| !is_known(file)).collect();
    // What takes the place of a former self comes first: when time is over, nothing may be withdrawn and not be back.
    new.sort_by_key(|(_, file)| !known.contains_key(&file.file));
    let replacing = new.iter().filter(|(_, file)| known.contains_key(&file.file)).count();
    let still: BTreeSet<&str> =
        wanted.iter().filter(|(_, file)| is_known(file)).map(|(_, file)| file.file.as_str()).collect();
    let old: Vec<&Input> = known.values().filter(|input| !still.contains(input.file.as_str())).collect();
    let mut hidden = hide(&mut writer, unwanted)?;
    if new.is_empty() && old.is_empty() && hidden == 0 {
        return Ok(None);
    }
    let least = session.config.store.min_free_mib;
    if intake::free_bytes(&session.home).is_some_and(|free| free < least << 20) {
        bail!("the disk has less than {least} MiB free (store.min_free_mib); free some space and run again");
    }
    let mut withdrawn = 0;
    for input in &old {
        let day = input.file.rsplit('/').next().and_then(|name| Day::parse(name.get(..10)?));
        withdrawn += writer.delete_input(&input.file, day.with_context(|| format!("{} has no day", input.file))?)?;
    }
    let mut inputs = Vec::new();
    for (_, file) in &new {
        if inputs.len() >= replacing.max(1) && (session.is_over(args.steps.time_limit) || session.keep_going().is_err())
        {
            break;
        }
        let path = session.home.root().join(&file.file);
        writer.read(&mut Reader::new(text::open(&session.home, &file.file)?, &path))?;
        inputs.push(Input { file: file.file.clone(), bytes: file.bytes, xxh3: file.xxh3.clone() });
    }
    let before = writer.snapshot().tokens();
    let added = inputs.len();
    writer.commit(inputs)?;
    let after = writer.snapshot().tokens();
    hidden += hide(&mut writer, unwanted)?;
    // Merging can wait; somebody who wants an end cannot.
    let merges = if session.keep_going().is_ok() { writer.merge()? } else { 0 };
    let snapshot = writer.snapshot();
    log::debug!("{code}: {} tokens in {} segments", grouped(snapshot.tokens()), snapshot.segments().len());
    Ok(Some(json!({
        "days_added": added,
        "days_left": new.len() - added,
        "days_withdrawn": old.len(),
        "documents_withdrawn": withdrawn,
        "documents_hidden": hidden,
        "tokens_added": after.saturating_sub(before),
        "tokens": snapshot.tokens(),
        "documents": snapshot.documents(),
        "segments": snapshot.segments().len(),
        "merges": merges,
        "generation": snapshot.generation(),
        "bytes": snapshot.bytes_on_disk(),
    })))
}

/// Opens the index of a language. It is derived, so that one with lost or damaged files is thrown away and made anew; one that
/// a newer Tidings wrote, or whose disk cannot be read, is left alone.
fn open(home: &Home, code: &str, settings: Settings) -> Result<Writer> {
    let folder = home.index().join(code);
    let is_lost = |error: &tidings_index::Error| match error {
        tidings_index::Error::Damaged { .. } => true,
        tidings_index::Error::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    };
    match Writer::open(&folder, settings.clone()) {
        Err(error) if is_lost(&error) => {
            log::warn!("{error}: making the index of {code} anew");
            std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
            Ok(Writer::open(&folder, settings)?)
        }
        opened => Ok(opened?),
    }
}

/// Hides the documents that nobody may see; says how many were not hidden before.
fn hide(writer: &mut Writer, unwanted: &BTreeSet<String>) -> Result<u64> {
    if unwanted.is_empty() {
        return Ok(0);
    }
    let ids: Vec<u128> = unwanted.iter().filter_map(|name| u128::from_str_radix(name, 16).ok()).collect();
    let addresses: Vec<&str> = unwanted.iter().map(String::as_str).collect();
    Ok(writer.delete_ids(&ids)?.documents + writer.delete_urls(&addresses)?.documents)
}
