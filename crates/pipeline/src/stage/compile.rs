//! `compile`: annotated text → index, one language at a time.
//!
//! The manifest of an index lists its input files. A new day is added and a rebuilt day replaces its former version in
//! one atomic commit; the cost is that of the day. Of a day that has grown, only the documents that are new or have
//! another text are replaced.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tidings_formats::vertical;
use tidings_index::{Day, Input, Settings, Snapshot, Writer};
use tidings_store::FileDigest;
use tidings_store::docs;
use tidings_store::fresh::Stamp;
use tidings_store::text::{self, TextRecipe};
use tidings_store::text_growth::{TextChanges, TextGrowth};
use tidings_store::{Home, Stale, hidden, rfc3339};

use super::{Data, Due, Stage, StageId, StageOutcome, StageRun, Unit, files_digest};
use crate::config::Config;
use crate::context::{RunContext, StageLog};
use crate::display::{count, grouped, span_s};
use crate::frozen;
use crate::outcome::{Ending, Outcome, Status};
use crate::repair::{self, DamagedFiles};
use crate::reporter::ProgressScope;
use crate::why::conservation::Balances;

/// Annotated text → indexes.
#[derive(Debug, Clone, Default)]
pub struct Compile {
    /// Only this language, such as `de`.
    pub language: Option<String>,
    /// Check every byte of the index against its digests.
    pub verify: bool,
    /// Documents to hide from all results, by URL or id, also after a rebuild of the index.
    pub hide: Vec<String>,
}

/// The outcome of `compile`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CompileOutcome {
    /// Whether all that could be done was done.
    pub done: bool,
    /// The name of the run.
    pub run: String,
    /// Changes by language.
    pub languages: BTreeMap<String, LanguageOutcome>,
    /// Languages whose index is up to date.
    pub languages_up_to_date: u64,
    /// Languages that are left for a later run.
    pub languages_left: u64,
    /// Tokens that became searchable.
    pub tokens_added: u64,
    /// Days that became searchable.
    pub days_added: u64,
    /// Documents that were hidden.
    pub documents_hidden: u64,
    /// Damaged files of text, which the next run makes again.
    pub damaged_files: Vec<String>,
    /// Duration in seconds.
    pub seconds: f64,
    #[serde(skip)]
    days_left: u64,
    #[serde(skip)]
    ending: Ending,
}

/// Changes of the index of a language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)] // The names are self-explanatory.
pub struct LanguageOutcome {
    pub days_added: u64,
    pub days_left: u64,
    pub days_withdrawn: u64,
    pub documents_withdrawn: u64,
    pub documents_hidden: u64,
    pub tokens_added: u64,
    /// Tokens that were written, also those of documents that were there before in another version.
    pub tokens_indexed: u64,
    pub tokens: u64,
    pub documents: u64,
    pub segments: u64,
    pub merges: u64,
    pub generation: u64,
    pub bytes: u64,
}

impl Outcome for CompileOutcome {
    fn status(&self) -> Status {
        if self.done { Status::Done } else { Status::NotDone }
    }
}

impl fmt::Display for CompileOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = match self.languages_left {
            0 => Ending { left: self.days_left, ..self.ending.clone() }.text("day"),
            _ => self.ending.text("language"),
        };
        let took = span_s(self.seconds);
        match (self.languages.len() as u64, self.languages_up_to_date) {
            (0, _) if self.languages_left > 0 => writeln!(f, "nothing compiled{ending}, {took}"),
            (0, _) if self.ending.in_other_shards > 0 => {
                writeln!(f, "{}", self.ending.idle_shard().unwrap_or_default())
            }
            (0, 0) => writeln!(f, "nothing to compile: no annotated text yet; run `tidings annotate` first"),
            (0, 1) => writeln!(f, "nothing to compile: the index is up to date"),
            (0, all) => writeln!(f, "nothing to compile: the indexes of {} are up to date", count(all, "language")),
            (..) if self.days_added == 0 && self.documents_hidden > 0 => {
                writeln!(f, "{} hidden{ending}, {took}", count(self.documents_hidden, "document"))
            }
            (changed, _) => {
                let (tokens, changed) = (count(self.tokens_added, "token"), count(changed, "language"));
                writeln!(f, "{tokens} made searchable in {changed}{ending}, {took}")
            }
        }
    }
}

impl Stage for Compile {
    fn id(&self) -> StageId {
        StageId::Compile
    }

    fn version(&self) -> u32 {
        tidings_index::BEHAVIOUR_VERSION
    }

    fn inputs(&self) -> &'static [Data] {
        &[Data::Text]
    }

    fn outputs(&self) -> &'static [Data] {
        &[Data::Index]
    }

    fn settings(&self, _: &Config) -> serde_json::Value {
        json!({})
    }

    fn output_digest(&self, home: &Home) -> Result<Option<String>> {
        // Digests of blocks depend on the files that they are of.
        let mut files = home.index_files()?;
        files.retain(|file| !tidings_index::has_block_sums(file));
        files_digest(files)
    }

    fn balance(&self, home: &Home, balances: &mut Balances) -> Result<()> {
        balances.compile(home)
    }

    fn due(&self, home: &Home, config: &Config) -> Result<Due> {
        self.due_since(home, config, "")
    }

    fn stamp_before(&self, home: &Home, _: &Config, first: &str, stamp: &mut Stamp) -> Result<bool> {
        stamp.add_days_before(home, "text/recipes", first)?;
        for (code, files) in indexed_before(home, first)? {
            stamp.add_bytes(code.as_bytes());
            files.iter().for_each(|(_, file)| stamp.add_bytes(format!("{} {}", file.file, file.xxh3).as_bytes()));
        }
        Ok(self.language.is_none() && !self.verify && self.hide.is_empty())
    }

    fn due_since(&self, home: &Home, _: &Config, since: &str) -> Result<Due> {
        let texts = text_files(home, since)?;
        let languages: BTreeSet<String> = texts.keys().cloned().chain(home.indexed()?).collect();
        if let Some(code) = self.language.as_ref().filter(|code| !languages.contains(*code)) {
            bail!("no annotated text in language {code}; run `tidings annotate` first");
        }
        let is_hiding = !self.hide.is_empty() || !hidden::read(home)?.is_empty();
        let damaged = damaged_files(home)?;
        let is_damaged = |code: &str| damaged.iter().any(|file| file.starts_with(&format!("index/{code}/")));
        let mut due = Due { since: since.to_owned(), ..Due::default() };
        for code in languages.into_iter().filter(|code| self.language.as_ref().is_none_or(|only| only == code)) {
            let files = texts.get(&code).map(Vec::as_slice).unwrap_or_default();
            match why_due(home, &code, files) {
                Some(why) => due.units.push(Unit { name: code, why }),
                None if is_damaged(&code) => due.units.push(Unit { name: code, why: Stale::Unreadable }),
                None if is_hiding || self.verify => due.units.push(Unit { name: code, why: Stale::CheckWanted }),
                None => due.up_to_date += 1,
            }
        }
        Ok(due)
    }

    fn up_to_date(&self, context: &RunContext, units: u64) -> Option<StageOutcome> {
        Some(StageOutcome::Compile(CompileOutcome {
            done: true,
            run: context.run.clone(),
            languages_up_to_date: units,
            seconds: context.seconds(),
            ending: context.ending(0),
            ..CompileOutcome::default()
        }))
    }

    fn begin<'a>(&'a self, context: &'a RunContext, due: &Due) -> Result<Box<dyn StageRun + 'a>> {
        let mut hide = hidden::read(&context.home)?;
        if !self.hide.is_empty() && context.takes_undivided {
            // The list is written first: if this run fails, the next one hides the documents.
            hide.extend(self.hide.iter().cloned());
            hidden::write(&context.home, &hide)?;
        }
        let texts = text_files(&context.home, &due.since)?;
        Ok(Box::new(CompileRun {
            stage: self,
            context,
            damaged: damaged_files(&context.home)?,
            sources: OnceCell::new(),
            hide,
            progress: context.progress("files of text", files_due(&context.home, due, &texts)),
            texts,
            outcome: CompileOutcome {
                run: context.run.clone(),
                languages_up_to_date: due.up_to_date,
                ..CompileOutcome::default()
            },
        }))
    }

    fn clear(&self, home: &Home) -> Result<()> {
        Ok(home.clear_index(None)?)
    }

    fn clear_language(&self, home: &Home, language: &str, _: &BTreeSet<String>) -> Result<()> {
        Ok(home.clear_index(Some(language))?)
    }
}

/// The stage at work.
struct CompileRun<'a> {
    stage: &'a Compile,
    context: &'a RunContext,
    texts: BTreeMap<String, Vec<TextFile>>,
    /// The damaged files that a scrub found.
    damaged: Vec<String>,
    /// The days that `annotate` or `clean` can make text of again, if they are needed.
    sources: OnceCell<BTreeSet<String>>,
    hide: BTreeSet<String>,
    progress: ProgressScope,
    outcome: CompileOutcome,
}

/// A language in the run log.
#[derive(Serialize)]
struct LanguageLine<'a> {
    language: &'a str,
    compiled: &'a LanguageOutcome,
}

impl StageRun for CompileRun<'_> {
    fn unit(&mut self, unit: &Unit, log: &mut StageLog<'_>) -> Result<()> {
        let code = &unit.name;
        self.progress.advance(0, code);
        let mut damaged = Vec::new();
        let compiled = self.compile(code, &mut damaged).with_context(|| {
            format!("cannot write the index of {code}; if it is damaged, run `tidings compile --verify`")
        })?;
        let outcome = &mut self.outcome;
        outcome.damaged_files.extend(damaged);
        match compiled {
            Some(compiled) => {
                log.push(&LanguageLine { language: code, compiled: &compiled })?;
                outcome.days_added += compiled.days_added;
                outcome.tokens_added += compiled.tokens_added;
                outcome.documents_hidden += compiled.documents_hidden;
                outcome.days_left += compiled.days_left;
                outcome.languages.insert(code.clone(), compiled);
            }
            None => outcome.languages_up_to_date += 1,
        }
        Ok(())
    }

    fn finish(self: Box<Self>, ending: Ending, _: &mut StageLog<'_>) -> Result<StageOutcome> {
        let mut outcome = self.outcome;
        outcome.done = ending.is_done() && outcome.damaged_files.is_empty();
        outcome.languages_left = ending.left;
        outcome.seconds = self.context.seconds();
        outcome.ending = ending;
        Ok(StageOutcome::Compile(outcome))
    }
}

/// A file of text of a language, with its day.
type TextFile = (String, FileDigest);

/// The files of text that indexes contain, of the days before one, by language.
fn indexed_before(home: &Home, first: &str) -> Result<BTreeMap<String, Vec<TextFile>>> {
    let mut files = BTreeMap::new();
    for code in home.indexed()? {
        // A damaged index contains nothing, and is made again from all days.
        let Ok(snapshot) = Snapshot::open(&home.index_of(&code)) else { continue };
        let inputs = snapshot.inputs().iter().filter(|input| day_of(input) < first);
        let digest = |input: &Input| FileDigest {
            file: input.file.clone(),
            bytes: input.bytes,
            xxh3: input.xxh3.clone(),
            lines: None,
        };
        files.insert(code, inputs.map(|input| (day_of(input).to_owned(), digest(input))).collect());
    }
    Ok(files)
}

/// The files of text by language, oldest first. The indexes have those of the days before `since`.
fn text_files(home: &Home, since: &str) -> Result<BTreeMap<String, Vec<TextFile>>> {
    let mut files = if since.is_empty() { BTreeMap::new() } else { indexed_before(home, since)? };
    files.retain(|_, files| !files.is_empty());
    for day in text::days(home)?.into_iter().filter(|day| day.as_str() >= since) {
        let Some(recipe) = TextRecipe::read(home, &day)? else { continue };
        for output in recipe.outputs {
            let code = output.file.split('/').nth(1).unwrap_or_default().to_owned();
            files.entry(code).or_default().push((day.clone(), output));
        }
    }
    Ok(files)
}

/// Whether an index contains the current version of this file.
fn is_indexed(inputs: &BTreeMap<String, Input>, file: &FileDigest) -> bool {
    inputs.get(&file.file).is_some_and(|input| (input.bytes, &input.xxh3) == (file.bytes, &file.xxh3))
}

/// The days with pages or documents that have no recipe of text.
fn days_without_text(home: &Home) -> Result<BTreeSet<String>> {
    let mut days: BTreeSet<String> = docs::document_days(home)?.into_iter().collect();
    days.extend(docs::page_days(home)?.into_iter().map(|day| day.name));
    for day in text::days(home)? {
        days.remove(&day);
    }
    Ok(days)
}

/// The names of the damaged files that a scrub found.
fn damaged_files(home: &Home) -> Result<Vec<String>> {
    Ok(tidings_store::scrub::damaged_files(home)?.into_iter().map(|row| row.file).collect())
}

/// The day of an input, from the name of its file.
fn day_of(input: &Input) -> &str {
    input.file.rsplit('/').next().and_then(|name| name.get(..10)).unwrap_or_default()
}

fn inputs_of(snapshot: &Snapshot) -> BTreeMap<String, Input> {
    snapshot.inputs().iter().map(|input| (input.file.clone(), input.clone())).collect()
}

/// The number of files of text that the indexes of the due languages do not contain.
fn files_due(home: &Home, due: &Due, texts: &BTreeMap<String, Vec<TextFile>>) -> u64 {
    let missing = |unit: &Unit| {
        let files = texts.get(&unit.name).map(Vec::as_slice).unwrap_or_default();
        // A damaged index contains nothing.
        let inputs =
            Snapshot::open(&home.index_of(&unit.name)).map(|snapshot| inputs_of(&snapshot)).unwrap_or_default();
        files.iter().filter(|(_, file)| !is_indexed(&inputs, file)).count() as u64
    };
    due.units.iter().map(missing).sum()
}

/// The reason why the index of a language is due, if it is.
fn why_due(home: &Home, code: &str, files: &[TextFile]) -> Option<Stale> {
    // A damaged index is rebuilt, or the attempt returns its error.
    let Ok(snapshot) = Snapshot::open(&home.index_of(code)) else { return Some(Stale::Unreadable) };
    if snapshot.behaviour() != tidings_index::BEHAVIOUR_VERSION {
        return Some(Stale::Version);
    }
    let inputs = inputs_of(&snapshot);
    match files.iter().filter(|(_, file)| is_indexed(&inputs, file)).count() {
        known if known < files.len() => Some(Stale::TextAdded),
        known if known < inputs.len() => Some(Stale::TextRemoved),
        _ => None,
    }
}

impl CompileRun<'_> {
    /// Whether the text of an input is to be made again, so that its old version stays searchable until then: it is
    /// damaged, or its day has documents or pages and no text.
    fn awaits_text(&self, input: &Input, damaged: &[String]) -> Result<bool> {
        let day = day_of(input);
        let has_text = self.texts.values().flatten().any(|(known, _)| known == day);
        if damaged.contains(&input.file) || has_text {
            return Ok(damaged.contains(&input.file));
        }
        let sources = match self.sources.get() {
            Some(sources) => sources,
            None => {
                let sources = days_without_text(&self.context.home)?;
                self.sources.get_or_init(|| sources)
            }
        };
        Ok(sources.contains(day))
    }

    /// Adds texts, of those that have grown only the changed documents, until the time limit; the first `replacing` are
    /// added in any case.
    fn add(
        &self,
        writer: &mut Writer,
        new: &[&TextFile],
        replacing: usize,
        texts: &IndexedTexts<'_>,
    ) -> Result<Vec<Input>> {
        let home = &self.context.home;
        let mut inputs = Vec::new();
        for (_, file) in new {
            let is_over = self.context.is_over() || self.context.cancel.is_cancelled();
            if inputs.len() >= replacing.max(1) && is_over {
                break;
            }
            match texts.changes(file) {
                Some(changes) => changes.for_each_group(home, |text| -> Result<()> {
                    Ok(writer.read(&mut vertical::Reader::new(text, Path::new(&file.file)))?)
                })?,
                None => writer.read(&mut text::open_vertical(home, &file.file)?)?,
            }
            self.progress.advance(1, &file.file);
            inputs.push(Input { file: file.file.clone(), bytes: file.bytes, xxh3: file.xxh3.clone() });
        }
        Ok(inputs)
    }

    /// Updates the index of a language; returns the changes, if any. An index that turns out to be damaged is rebuilt.
    fn compile(&self, code: &str, damaged: &mut Vec<String>) -> Result<Option<LanguageOutcome>> {
        let known_damage = damaged.len();
        let is_damage = |error: &anyhow::Error| {
            error.downcast_ref::<tidings_index::Error>().is_some_and(|error| error.damaged_file().is_some())
        };
        match self.update(code, damaged) {
            Err(error) if is_damage(&error) => {
                log::error!("{error}: rebuilding the index of {code}");
                damaged.truncate(known_damage);
                self.context.home.clear_index(Some(code))?;
                self.update(code, damaged)
            }
            outcome => outcome,
        }
    }

    fn update(&self, code: &str, damaged: &mut Vec<String>) -> Result<Option<LanguageOutcome>> {
        let context = self.context;
        let settings =
            Settings { batch_bytes: context.config.index.memory_mib * (1 << 20) * 2 / 5, ..Settings::default() };
        let mut writer = open(&context.home, code, settings)?;
        let is_suspect = |file: &String| file.starts_with(&format!("index/{code}/"));
        if self.stage.verify || self.damaged.iter().any(is_suspect) {
            writer.snapshot().verify()?;
            writer.snapshot().write_missing_sums()?;
        }
        let wanted = self.texts.get(code).map(Vec::as_slice).unwrap_or_default();
        let known = inputs_of(writer.snapshot());
        let mut new: Vec<&TextFile> = Vec::new();
        for text in wanted.iter().filter(|(_, file)| !is_indexed(&known, file)) {
            let (day, file) = text;
            match repair::check_text(&context.home, day, file) {
                Ok(()) => new.push(text),
                Err(error) if error.is::<DamagedFiles>() => {
                    log::error!("{error}");
                    damaged.push(file.file.clone());
                }
                Err(error) => return Err(error),
            }
        }
        // Replacements come first: at the time limit, no deleted day may be missing its replacement.
        new.sort_by_key(|(_, file)| !known.contains_key(&file.file));
        let replacing = new.iter().filter(|(_, file)| known.contains_key(&file.file)).count();
        let still: BTreeSet<&str> =
            wanted.iter().filter(|(_, file)| is_indexed(&known, file)).map(|(_, file)| file.file.as_str()).collect();
        let mut old: Vec<&Input> = Vec::new();
        for input in known.values().filter(|input| !still.contains(input.file.as_str())) {
            if !self.awaits_text(input, damaged)? {
                old.push(input);
            }
        }
        let mut hidden = hide(&mut writer, &self.hide)?;
        if !self.hide.is_empty() {
            frozen::hide(&context.home, code, &rfc3339(context.started), &self.hide)?;
        }
        if new.is_empty() && old.is_empty() && hidden == 0 {
            return Ok(None);
        }
        let texts = IndexedTexts::read(&context.home, &known, &new)?;
        let withdrawn = texts.withdraw(&mut writer, &old, &new)?;
        let inputs = self.add(&mut writer, &new, replacing, &texts)?;
        let before = writer.snapshot().tokens();
        let added = inputs.len();
        context.home.check_claims()?;
        writer.commit(inputs)?;
        let after = writer.snapshot().tokens();
        hidden += hide(&mut writer, &self.hide)?;
        // Merging can wait; a cancelled run cannot.
        let merges = if context.cancel.is_cancelled() { 0 } else { writer.merge()? };
        let snapshot = writer.snapshot();
        log::debug!("{code}: {} tokens in {} segments", grouped(snapshot.tokens()), snapshot.segments().len());
        Ok(Some(LanguageOutcome {
            days_added: added as u64,
            days_left: (new.len() - added) as u64,
            days_withdrawn: old.len() as u64,
            documents_withdrawn: withdrawn,
            documents_hidden: hidden,
            tokens_added: after.saturating_sub(before),
            tokens_indexed: writer.tokens_written(),
            tokens: snapshot.tokens(),
            documents: snapshot.documents(),
            segments: snapshot.segments().len() as u64,
            merges: merges as u64,
            generation: snapshot.generation(),
            bytes: snapshot.bytes_on_disk(),
        }))
    }
}

/// The versions of texts that an index has, and how these texts have changed since.
struct IndexedTexts<'a> {
    known: &'a BTreeMap<String, Input>,
    grown: BTreeMap<&'a str, TextGrowth>,
}

impl<'a> IndexedTexts<'a> {
    fn read(home: &Home, known: &'a BTreeMap<String, Input>, new: &[&'a TextFile]) -> Result<IndexedTexts<'a>> {
        let mut grown = BTreeMap::new();
        for (day, file) in new.iter().filter(|(_, file)| known.contains_key(&file.file)) {
            grown.extend(TextGrowth::read(home, day)?.map(|growth| (file.file.as_str(), growth)));
        }
        Ok(IndexedTexts { known, grown })
    }

    /// The changes of a file since it was indexed; `None` if it is new or they are not known.
    fn changes(&self, file: &FileDigest) -> Option<TextChanges<'_>> {
        self.grown.get(file.file.as_str())?.since(file, &self.known.get(&file.file)?.xxh3)
    }

    /// Removes old inputs, of those that have grown only the changed documents; returns the number of documents.
    fn withdraw(&self, writer: &mut Writer, old: &[&Input], new: &[&TextFile]) -> Result<u64> {
        let mut withdrawn = 0;
        for input in old {
            let day = Day::parse(day_of(input));
            let day = day.with_context(|| format!("the file name {} contains no date", input.file))?;
            let text = new.iter().find(|(_, file)| file.file == input.file);
            withdrawn += match text.and_then(|(_, file)| self.changes(file)) {
                Some(changes) => {
                    let ids = changes.ids().filter_map(|id| u128::from_str_radix(id, 16).ok()).collect();
                    writer.replace_documents(&input.file, day, &ids)?
                }
                None => writer.delete_input(&input.file, day)?,
            };
        }
        Ok(withdrawn)
    }
}

/// Opens the index of a language. It is derived, so a damaged one, or one of another behaviour version, is deleted and
/// rebuilt; one written by a newer Tidings, or on an unreadable disk, is not touched.
fn open(home: &Home, code: &str, settings: Settings) -> Result<Writer> {
    let folder = home.index_of(code);
    let is_lost = |error: &tidings_index::Error| match error {
        tidings_index::Error::Damaged { .. } | tidings_index::Error::Foreign { .. } => true,
        tidings_index::Error::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    };
    match Writer::open(&folder, settings.clone()) {
        Err(error) if is_lost(&error) => {
            log::warn!("{error}: rebuilding the index of {code}");
            home.clear_index(Some(code))?;
            Ok(Writer::open(&folder, settings)?)
        }
        Ok(writer) if writer.snapshot().behaviour() != tidings_index::BEHAVIOUR_VERSION => {
            log::info!("{code}: {}", Stale::Version);
            drop(writer);
            home.clear_index(Some(code))?;
            Ok(Writer::open(&folder, settings)?)
        }
        opened => Ok(opened?),
    }
}

/// Hides documents from all results; returns the number of newly hidden ones.
fn hide(writer: &mut Writer, hidden: &BTreeSet<String>) -> Result<u64> {
    if hidden.is_empty() {
        return Ok(0);
    }
    let ids: Vec<u128> = hidden.iter().filter_map(|name| u128::from_str_radix(name, 16).ok()).collect();
    let addresses: Vec<&str> = hidden.iter().map(String::as_str).collect();
    Ok(writer.delete_ids(&ids)?.documents + writer.delete_urls(&addresses)?.documents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{article, fixture, home, page, store_pages};

    fn with(languages: &[&str]) -> CompileOutcome {
        let languages = languages.iter().map(|code| ((*code).to_owned(), LanguageOutcome::default())).collect();
        CompileOutcome { languages, ..CompileOutcome::default() }
    }

    #[test]
    fn an_outcome_with_nothing_due_has_a_reason() {
        let text =
            |languages_up_to_date| CompileOutcome { languages_up_to_date, ..CompileOutcome::default() }.to_string();
        assert!(text(0).starts_with("nothing to compile: no annotated text yet"));
        assert_eq!(text(1), "nothing to compile: the index is up to date\n");
        assert_eq!(text(2), "nothing to compile: the indexes of 2 languages are up to date\n");
    }

    #[test]
    fn an_outcome_shows_tokens_added_or_documents_hidden() {
        let added = CompileOutcome { tokens_added: 1500, days_added: 1, ..with(&["de", "en"]) };
        assert_eq!(added.to_string(), "1,500 tokens made searchable in 2 languages, 0.0 s\n");
        let hidden = CompileOutcome { documents_hidden: 1, ..with(&["en"]) };
        assert_eq!(hidden.to_string(), "1 document hidden, 0.0 s\n");
    }

    #[test]
    fn remaining_work_is_counted_in_languages_or_days() {
        let ending = Ending {
            left: 2,
            reason: Some(crate::cancel::StopReason::DiskFull),
            min_free_mib: 512,
            ..Ending::default()
        };
        let full = "stopped because the disk has less than 512 MiB free (store.min_free_mib)";
        let none = CompileOutcome { languages_left: 2, ending: ending.clone(), ..with(&[]) };
        assert_eq!(none.to_string(), format!("nothing compiled; 2 languages left for a later run, {full}, 0.0 s\n"));
        let ending = Ending { left: 0, ..ending };
        let days = CompileOutcome { days_left: 3, days_added: 1, tokens_added: 1, ending, ..with(&["en"]) };
        let expected = format!("1 token made searchable in 1 language; 3 days left for a later run, {full}, 0.0 s\n");
        assert_eq!(days.to_string(), expected);
    }

    #[test]
    fn a_deleted_day_is_deleted_from_the_index() {
        let (_folder, pipeline) = home();
        store_pages(&pipeline, "2026-03-01", &[page("https://gazette.example/1", &article("ferry"))]);
        store_pages(&pipeline, "2026-03-02", &[page("https://gazette.example/2", &fixture("en"))]);
        crate::rebuild::remake(&pipeline, StageId::Clean).unwrap();
        text::remove_day(pipeline.home(), "2026-03-02").unwrap();
        let StageOutcome::Compile(waiting) = pipeline.run(&Compile::default()).unwrap() else { panic!("not compile") };
        assert!(waiting.languages.is_empty(), "text that can be made again stays searchable");
        docs::remove_day(pipeline.home(), "2026-03-02").unwrap();
        std::fs::remove_dir_all(pipeline.home().pages().join("2026-03-02")).unwrap();
        let due = Compile::default().due(pipeline.home(), pipeline.config()).unwrap();
        assert_eq!(due.units[0].why, Stale::TextRemoved);
        let StageOutcome::Compile(compile) = pipeline.run(&Compile::default()).unwrap() else { panic!("not compile") };
        let english = &compile.languages["en"];
        assert_eq!((english.days_withdrawn, english.documents_withdrawn, english.documents), (1, 1, 1));
    }
}
