//! Documents of a home from files that were cleaned on other machines.
//!
//! The files of a day arrive in the order in which `clean` reads them. Their frames are joined, the texts that stand
//! under several addresses are withdrawn, and the day is published with its recipe, as `clean` does it: files, recipes
//! and digests are those of a run on one machine. A file that is missing, was cleaned with other settings, or lost a
//! line on its way is an error, and nothing of its day is published.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;
use tidings_store::docs::{self, Day, DayDraft, Recipe};
use tidings_store::file_frames::PartitionFrames;
use tidings_store::removed::Removed;
use tidings_store::{FileDigest, yields};

use super::Clean;
use super::cleaned_file::{CleanSettings, CleanedFile, CleanedSuspect, yield_of};
use super::same_text::{Decision, EarlierSuspects, SuspectDocument, Suspects};
use crate::context::RunContext;
use crate::display::{count, grouped};
use crate::outcome::{Outcome, Status};
use crate::pipeline::Pipeline;
use crate::stage::Stage as _;

/// The outcome of assembling.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AssembleOutcome {
    /// Whether all days that were due are there.
    pub done: bool,
    /// Days that were published.
    pub days: u64,
    /// Days that are still due.
    pub days_left: u64,
    /// Pages of the published days.
    pub pages: u64,
    /// Their documents.
    pub documents: u64,
    /// The same by language.
    pub languages: BTreeMap<String, u64>,
    /// Dropped pages, by reason.
    pub dropped: BTreeMap<String, u64>,
}

impl Outcome for AssembleOutcome {
    fn status(&self) -> Status {
        if self.done { Status::Done } else { Status::NotDone }
    }
}

impl fmt::Display for AssembleOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, pages) = (count(self.days, "day"), count(self.pages, "page"));
        let left = if self.days_left == 0 { String::new() } else { format!("; {} left", count(self.days_left, "day")) };
        writeln!(f, "{days} assembled: {pages}, {} documents{left}", grouped(self.documents))
    }
}

/// A home that takes cleaned files. It is locked until the end.
pub struct Assembler {
    context: RunContext,
    stage: Clean,
    made_with: String,
    day: Option<DayInProgress>,
    outcome: AssembleOutcome,
}

struct DayInProgress {
    day: Day,
    /// The keys of the files that are yet to come.
    expected: VecDeque<String>,
    files: Vec<(CleanedFile, Vec<PartitionFrames>)>,
}

impl Assembler {
    /// Locks a home.
    pub fn open(pipeline: &Pipeline) -> Result<Assembler> {
        let context = RunContext::open(pipeline, "assemble")?;
        let settings = CleanSettings::new(&context.config, &Removed::read(&context.home)?)?;
        let (made_with, outcome) = (settings.digest()?, AssembleOutcome::default());
        Ok(Assembler { made_with, context, stage: Clean::default(), day: None, outcome })
    }

    /// The days that are to be cleaned, with their files of pages in order.
    pub fn due(&self) -> Result<Vec<(String, Vec<String>)>> {
        let due = self.stage.due(&self.context.home, &self.context.config)?;
        let is_due = |day: &Day| due.units.iter().any(|unit| unit.name == day.name);
        let days = docs::page_days(&self.context.home)?.into_iter().filter(is_due);
        Ok(days.map(|day| (day.name.clone(), self.keys(&day))).collect())
    }

    fn keys(&self, day: &Day) -> Vec<String> {
        day.files.iter().map(|file| self.context.home.key(file)).collect()
    }

    /// Begins a day.
    pub fn begin(&mut self, name: &str) -> Result<()> {
        let Some(day) = docs::page_days_since(&self.context.home, name)?.into_iter().find(|day| day.name == name)
        else {
            bail!("the home has no pages of {name}");
        };
        self.day = Some(DayInProgress { expected: self.keys(&day).into(), day, files: Vec::new() });
        Ok(())
    }

    /// Adds the next file of the day.
    pub fn add(&mut self, file: CleanedFile, frames: Vec<PartitionFrames>) -> Result<()> {
        let Some(current) = &mut self.day else { bail!("no day has begun") };
        let (name, day) = (&file.source.file, &current.day.name);
        match current.expected.front() {
            Some(expected) if expected == name => current.expected.pop_front(),
            Some(expected) => {
                bail!("{day}: {name} came instead of {expected}; each file of pages must come once, in order")
            }
            None => bail!("{day}: {name} is no file of that day, or came before"),
        };
        if file.made_with != self.made_with {
            bail!(
                "{name} was cleaned with other settings, takedowns or another version of Tidings; clean it again with \
                 the settings of this home"
            );
        }
        if file.damaged > 0 {
            bail!(
                "{name} is damaged; restore it from a backup, or run `tidings clean --day {day}`, which reads around it"
            );
        }
        let lines: u64 = frames.iter().map(|part| part.lines).sum();
        if lines != file.pages {
            bail!("{name}: {} read, but {lines} lines arrived; clean it again", count(file.pages, "page"));
        }
        current.files.push((file, frames));
        Ok(())
    }

    /// Publishes the day.
    pub fn publish(&mut self) -> Result<Recipe> {
        let Some(current) = self.day.take() else { bail!("no day has begun") };
        if let Some(missing) = current.expected.front() {
            let day = &current.day.name;
            bail!(
                "{day}: {} missing, such as {missing}; clean them first",
                count(current.expected.len() as u64, "file")
            );
        }
        let recipe = self.make(current)?;
        self.outcome.days += 1;
        self.outcome.pages += recipe.pages;
        for (sums, parts) in
            [(&mut self.outcome.languages, &recipe.documents), (&mut self.outcome.dropped, &recipe.dropped)]
        {
            parts.iter().for_each(|(name, number)| *sums.entry(name.clone()).or_default() += number);
        }
        Ok(recipe)
    }

    fn make(&self, current: DayInProgress) -> Result<Recipe> {
        let home = &self.context.home;
        let recipe = self.stage.recipe(&self.context.config, &current.day.name);
        let known: Vec<FileDigest> = current.files.iter().map(|(file, _)| file.source.clone()).collect();
        let mut draft = DayDraft::begin_digested(home, recipe, &current.day, &known)?;
        let mut suspects = Suspects::default();
        let mut read = 0;
        for (file, frames) in current.files {
            self.context.check_cancelled()?;
            read += file.pages;
            if file.pages > 0 {
                add_file(file, &frames, &mut draft, &mut suspects)?;
            }
        }
        let day = &current.day.name;
        match suspects.decide(&mut draft, || EarlierSuspects::new(home).before(day))? {
            Decision::Withdraw(documents) => draft.withdraw(&documents)?,
            Decision::MakeAgain => bail!("{day}: nothing of the day was kept"),
        }
        Ok(draft.publish(read)?)
    }

    /// Sums up what the days yielded, and unlocks the home.
    pub fn finish(mut self) -> Result<AssembleOutcome> {
        if self.outcome.days > 0 {
            yields::summarise(&self.context.home)?;
        }
        self.outcome.documents = self.outcome.languages.values().sum();
        self.outcome.days_left = self.due()?.len() as u64;
        self.outcome.done = self.outcome.days_left == 0;
        Ok(self.outcome)
    }
}

/// Adds a file of pages to the draft of its day, as `clean` adds its pages one by one.
fn add_file(
    file: CleanedFile,
    frames: &[PartitionFrames],
    draft: &mut DayDraft,
    suspects: &mut Suspects,
) -> Result<()> {
    let source = Path::new(&file.source.file);
    draft.end_file()?;
    let lines = |language: &str| frames.iter().find(|part| part.partition == language).map_or(0, |part| part.lines);
    let mut documents = Vec::new();
    for suspect in file.suspects {
        let suspicion = suspect.suspicion()?;
        let CleanedSuspect { language, line, dropped, url, revises, feed, host, sum, .. } = suspect;
        if line >= lines(&language) {
            bail!("{}: document {line} of `{language}` did not arrive; clean it again", source.display());
        }
        let position = draft.position_in_file(&language, line);
        let (dropped, sum) = (dropped.into_bytes(), yield_of(sum));
        documents.push(SuspectDocument { suspicion, position, dropped, url, revises, feed, host, sum });
    }
    frames.iter().try_for_each(|part| draft.push_frames(part, source))?;
    file.dropped.iter().for_each(|(reason, pages)| draft.count_dropped(reason, *pages));
    documents.into_iter().for_each(|document| suspects.add(document, draft));
    file.revisions.iter().for_each(|(url, revises)| draft.supersede(url, revises));
    file.yields.iter().for_each(|(feed, host, sum)| draft.count(feed, host, yield_of(*sum)));
    Ok(())
}
