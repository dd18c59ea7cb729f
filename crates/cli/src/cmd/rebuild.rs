//! `tidings rebuild`: throws away what was derived, from a stage on, and makes it anew from what is left.
//!
//! The same pages, settings and program give the same bytes, so that a rebuild proves that nothing
//! depends on how a corpus came about.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use tidings_store::docs::{self, Recipe};
use tidings_store::text::{self, TextRecipe};
use tidings_store::{Home, seen};

use super::{Report, annotate, clean, compile, dedup};
use crate::args::Global;
use crate::session::Session;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "With --lang, the days that hold documents of that language are made anew; documents of other languages on these days \
    come back as they were. Verdicts depend on all days before, so they are made anew from the first such day on."
)]
pub struct Args {
    /// The first stage to do again
    #[arg(long, value_name = "STAGE", default_value = "clean")]
    from: Stage,
    /// Only what concerns this language, such as de
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
}

/// A stage of the corridor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, clap::ValueEnum)]
pub enum Stage {
    /// Documents from pages, and all after them
    Clean,
    /// Verdicts on duplicates, and all after them
    Dedup,
    /// Text from documents, and all after it
    Annotate,
    /// The index from text
    Compile,
}

impl Stage {
    const ALL: [Stage; 4] = [Stage::Clean, Stage::Dedup, Stage::Annotate, Stage::Compile];

    /// Throws away what the stage has made.
    fn clear(self, home: &Home) -> Result<()> {
        match self {
            Stage::Clean => docs::clear(home)?,
            Stage::Dedup => seen::clear(home)?,
            Stage::Annotate => text::clear(home)?,
            Stage::Compile => remove_index(home, None)?,
        }
        Ok(())
    }

    /// Throws away what the stage has made of days that hold documents of a language.
    fn clear_days(self, home: &Home, lang: &str, days: &BTreeSet<String>) -> Result<()> {
        match self {
            Stage::Clean => days.iter().try_for_each(|day| docs::remove_day(home, day))?,
            Stage::Dedup => days.first().map_or(Ok(()), |day| seen::forget(home, day))?,
            Stage::Annotate => days.iter().try_for_each(|day| text::remove_day(home, day))?,
            Stage::Compile => remove_index(home, Some(lang))?,
        }
        Ok(())
    }

    fn run(self, global: &Global) -> Result<(&'static str, Report)> {
        Ok(match self {
            Stage::Clean => ("clean", clean::run(&clean::Args::default(), global)?),
            Stage::Dedup => ("dedup", dedup::run(&dedup::Args::default(), global)?),
            Stage::Annotate => ("annotate", annotate::run(&annotate::Args::default(), global)?),
            Stage::Compile => ("compile", compile::run(&compile::Args::default(), global)?),
        })
    }
}

fn remove_index(home: &Home, lang: Option<&str>) -> Result<()> {
    let folder = lang.map_or(home.index(), |code| home.index().join(code));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", home.shown(&folder)))?;
    }
    Ok(())
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = super::open_home(global)?;
    let session = Session::open(home, config, "rebuild")?;
    let stages = || Stage::ALL.into_iter().filter(|stage| *stage >= args.from);
    // What depends on others goes before them.
    match &args.lang {
        None => stages().rev().try_for_each(|stage| stage.clear(&session.home))?,
        Some(lang) => {
            let days = days_of(&session.home, lang)?;
            stages().rev().try_for_each(|stage| stage.clear_days(&session.home, lang, &days))?;
        }
    }
    // The stages take the home themselves.
    drop(session);
    remake(args.from, global)
}

/// The days that hold documents of a language.
fn days_of(home: &Home, lang: &str) -> Result<BTreeSet<String>> {
    let mut days = BTreeSet::new();
    for day in docs::made(home)? {
        let holds = Recipe::read(home, &day)?.is_some_and(|recipe| recipe.documents.contains_key(lang));
        days.extend(holds.then_some(day));
    }
    for day in text::days(home)? {
        let holds = TextRecipe::read(home, &day)?.is_some_and(|recipe| recipe.kept.contains_key(lang));
        days.extend(holds.then_some(day));
    }
    if days.is_empty() && !home.index().join(lang).exists() {
        bail!("there is nothing in {lang}; `tidings digest --tree` lists what there is");
    }
    Ok(days)
}

/// Brings everything up to date from a stage on.
pub fn remake(from: Stage, global: &Global) -> Result<Report> {
    let stages = Stage::ALL.into_iter().filter(|stage| *stage >= from);
    let reports = stages.map(|stage| stage.run(global)).collect::<Result<Vec<_>>>()?;
    let text = reports.iter().map(|(_, report)| report.text.as_str()).collect();
    let failed = reports.iter().any(|(_, report)| report.failed);
    let partly = reports.iter().any(|(_, report)| report.partly);
    let mut json = json!({ "done": !failed });
    reports.into_iter().for_each(|(stage, report)| json[stage] = report.json);
    Ok(Report { text, json, failed, partly })
}
