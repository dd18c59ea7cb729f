//! `tidings digest`: one number by which two machines know that they hold the same corpus.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tidings_index::Snapshot;
use tidings_store::digest::{Digester, Stage, Tree, hex};
use tidings_store::text::{self, TextRecipe};
use tidings_store::{Error, Home};

use super::Report;
use crate::args::Global;
use crate::console;
use tidings_pipeline::display::count;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The same raw pages, settings and program give the same digest, whatever the machine, the number of threads, of runs \
    and of files. --tree shows where two corpora differ: stage, shelf, day, items, digest, divided by tabs; compare two of them with diff."
)]
pub struct Args {
    /// Print the digest of every stage, language and day
    #[arg(long)]
    tree: bool,
    /// The stage to take the digest of [default: text, which is the corpus; with --tree all of them]
    #[arg(long, value_name = "STAGE", value_parser = ["pages", "docs", "seen", "text"])]
    stage: Option<String>,
    /// Only this language, such as de
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
    /// Read every byte again and hold it against the recipes
    #[arg(long)]
    verify: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, _) = super::open_home(global)?;
    let mut stages: Vec<Stage> = Stage::ALL.into_iter().collect();
    match &args.stage {
        Some(name) => stages.retain(|stage| stage.name() == name),
        None if args.tree || args.verify => {}
        None => stages.retain(|stage| *stage == Stage::Text),
    }
    if let Some(lang) = &args.lang {
        stages.retain(|stage| matches!(stage, Stage::Docs | Stage::Text));
        if stages.is_empty() {
            bail!("pages and verdicts do not lie by language; leave out --lang {lang}");
        }
    }
    // What is found is remembered, unless somebody is at work here: then the next one does it.
    let lock = match home.lock() {
        Ok(lock) => Some(lock),
        Err(Error::Locked { .. }) => None,
        Err(error) => {
            log::debug!("digests are not remembered: {error}");
            None
        }
    };
    let mut digester = Digester::open(&home, args.verify)?;
    let mut trees = Vec::new();
    for stage in stages {
        let mut progress = console::progress("days", 0);
        let tree = digester.stage(stage, args.lang.as_deref(), |done, total, name| {
            progress.set_total(total);
            progress.show(done, name);
        })?;
        trees.push(tree);
    }
    if lock.is_some() {
        digester.remember()?;
    }
    let corpus = trees.last().expect("one stage at least");
    let behind = index_is_behind(&home, args.lang.as_deref())?;
    let days: BTreeSet<&String> = corpus.days.iter().map(|day| &day.day).collect();
    let mut text = String::new();
    if args.tree {
        trees.iter().for_each(|tree| draw(tree, &mut text));
    } else {
        let shelves = corpus.shelves().len() as u64;
        let things = match corpus.stage {
            Stage::Pages => count(corpus.items(), "page"),
            Stage::Docs => format!("{} of pages", count(corpus.items(), "fate")),
            Stage::Seen => count(corpus.items(), "verdict"),
            Stage::Text => format!("{} in {}", count(corpus.items(), "document"), count(shelves, "language")),
        };
        let _ = writeln!(text, "{}  {things}, {}", hex(&corpus.root()), count(days.len() as u64, "day"));
    }
    if !behind.is_empty() {
        log::warn!("the index does not hold all of it ({}); `tidings compile` brings it up to date", behind.join(", "));
    }
    let json = json!({
        "done": true,
        "digest": hex(&corpus.root()),
        "stage": corpus.stage.name(),
        "items": corpus.items(),
        "days": days.len(),
        "index_behind": behind,
        "stages": trees.iter().map(|tree| tree_json(tree, args.tree)).collect::<Vec<_>>(),
    });
    Ok(Report { text, json, ..Report::default() })
}

/// A line for the stage, for each shelf and for each day.
fn draw(tree: &Tree, text: &mut String) {
    let stage = tree.stage.name();
    let _ = writeln!(text, "{stage}\t*\t*\t{}\t{}", tree.items(), hex(&tree.root()));
    for (shelf, items, sum) in tree.shelves() {
        let named = if shelf.is_empty() { "-" } else { &shelf };
        if !shelf.is_empty() {
            let _ = writeln!(text, "{stage}\t{named}\t*\t{items}\t{}", hex(&sum));
        }
        for day in tree.days.iter().filter(|day| day.shelf == shelf) {
            let _ = writeln!(text, "{stage}\t{named}\t{}\t{}\t{}", day.day, day.items, hex(&day.sum));
        }
    }
}

fn tree_json(tree: &Tree, with_days: bool) -> Value {
    let shelves: Vec<Value> = tree
        .shelves()
        .into_iter()
        .map(|(name, items, sum)| json!({ "shelf": name, "items": items, "digest": hex(&sum) }))
        .collect();
    let mut json =
        json!({ "stage": tree.stage.name(), "items": tree.items(), "digest": hex(&tree.root()), "shelves": shelves });
    if with_days {
        let day = |day: &tidings_store::digest::Day| json!({ "shelf": day.shelf, "day": day.day, "items": day.items, "digest": hex(&day.sum) });
        json["days"] = tree.days.iter().map(day).collect();
    }
    json
}

/// Languages whose index was made of other files than those that are there.
fn index_is_behind(home: &Home, lang: Option<&str>) -> Result<Vec<String>> {
    let mut wanted: BTreeSet<(String, String, String)> = BTreeSet::new();
    for day in text::days(home)? {
        let Some(recipe) = TextRecipe::read(home, &day)? else { continue };
        for output in recipe.outputs {
            let code = output.file.split('/').nth(1).unwrap_or_default().to_owned();
            wanted.insert((code, output.file, output.xxh3));
        }
    }
    let mut held = BTreeSet::new();
    for code in home.indexed()? {
        // A damaged index is behind, too.
        let Ok(snapshot) = Snapshot::open(&home.index().join(&code)) else { continue };
        held.extend(snapshot.inputs().iter().map(|input| (code.clone(), input.file.clone(), input.xxh3.clone())));
    }
    let differing: BTreeSet<String> = wanted.symmetric_difference(&held).map(|(code, ..)| code.clone()).collect();
    Ok(differing.into_iter().filter(|code| lang.is_none_or(|lang| lang == code)).collect())
}
