//! `tidings dedup`: tells what was published before, day by day; with `--jsonl` of any stream of documents.

use std::io::stdin;

use anyhow::Result;
use tidings_dedup::{Levels, Scope};
use tidings_pipeline::config::DedupConfig;
use tidings_pipeline::filter::{Unreadable, dedup};
use tidings_pipeline::stage::dedup::{Dedup, views};

use super::stream::{JsonLines, threads};
use super::{Report, StepArgs};
use crate::args::Global;
use crate::console;

#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "In a home, verdicts come to seen/verdicts/DAY.jsonl.zst, a line for each document; nothing is \
    taken away. Days that are up to date are left alone; where a day has changed, it and all after it are judged again.\n\n\
    The filter reads one JSON object a line, in the order of time, and writes the same with the \
    paragraphs that are new:\n  \
    in   {\"id\", \"paragraphs\": [text, …]}, and where the scope needs them \"date\" or \"month\", and \"site\"\n  \
    out  the same line with fewer paragraphs; with --marks with all of them and \"marks\", one for each:\n       \
    {\"kept\"} or {\"kept\", \"why\", \"share\", \"of\"}: exact, near or between, how much was seen, in which document\n\
    Presets: tidings (5 words, 0.5), onion (7, 0.5), aranea (5, 0.9, no smoothing), now (11, whole documents)."
)]
pub struct Args {
    #[command(flatten)]
    rule: RuleArgs,
    /// Read documents as JSON lines on standard input and write what is new of them as JSON lines
    #[arg(long)]
    jsonl: bool,
    /// Keep everything and mark what was seen before
    #[arg(long, alias = "mark", requires = "jsonl")]
    marks: bool,
    /// List the texts that were most often seen before
    #[arg(long, value_name = "N", conflicts_with = "jsonl")]
    top: Option<u16>,
    /// Print every duplicate with its text as JSON lines
    #[arg(long, conflicts_with_all = ["jsonl", "top"])]
    removed: bool,
    /// Print who copied whom as JSON lines
    #[arg(long, conflicts_with_all = ["jsonl", "top", "removed"])]
    copies: bool,
    /// Threads to read on [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    steps: StepArgs,
}

/// How duplicates are told.
#[derive(Debug, Clone, Default, clap::Args)]
struct RuleArgs {
    /// A rule by name: tidings, onion, aranea or now [default: tidings]
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Words of an n-gram
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    ngram: Option<u16>,
    /// A unit is a duplicate when more than this share of its words was seen, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    threshold: Option<f32>,
    /// Do not let short stretches follow what stands around them
    #[arg(long)]
    no_smoothing: bool,
    /// What is judged: page, text, document, paragraph, sentence, or several of them
    #[arg(long, value_name = "LEVEL,…")]
    level: Option<Levels>,
    /// Against what: all, month, site, or a window of days such as 30d [default: all]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<Scope>,
    /// Memory for what was seen of late, in MiB; the rest lies on disk [default: 96]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    memory_mb: Option<u32>,
}

fn parse_share(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("give a share from 0 to 1".to_owned()),
    }
}

impl RuleArgs {
    /// The settings with these flags put over them.
    fn over(&self, config: &DedupConfig) -> DedupConfig {
        let mut config = config.clone();
        if let Some(preset) = &self.preset {
            config.preset = preset.clone();
        }
        config.ngram = self.ngram.map_or(config.ngram, usize::from);
        config.threshold = self.threshold.unwrap_or(config.threshold);
        config.smoothing &= !self.no_smoothing;
        if let Some(levels) = self.level {
            config.levels = levels.into();
        }
        config.scope = self.scope.unwrap_or(config.scope);
        config.memory_mib = self.memory_mb.map_or(config.memory_mib, |mb| mb as usize);
        config
    }
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    if args.jsonl {
        return filter(args);
    }
    if let Some(number) = args.top {
        return Ok(views::top(&super::find_home(global)?, usize::from(number))?.into());
    }
    if args.removed || args.copies {
        let home = super::find_home(global)?;
        let mut lines = JsonLines::default();
        match args.removed {
            true => views::removed(&home, |row| lines.push(row))?,
            false => views::copies(&home, |row| lines.push(row))?,
        }
        // The lines are the report.
        return Ok(Report::default());
    }
    super::run_stage(global, &args.steps, &Dedup, |config| {
        config.dedup = args.rule.over(&config.dedup);
        config.dedup.threads = args.threads.map_or(config.dedup.threads, usize::from);
    })
}

fn filter(args: &Args) -> Result<Report> {
    let config = args.rule.over(&DedupConfig::default());
    let options = dedup::Options {
        rule: config.rule()?,
        scope: config.scope,
        marks: args.marks,
        memory_bytes: config.memory_mib << 20,
        threads: threads(args.threads),
    };
    let Unreadable(lines) = dedup::run(stdin(), &options, console::print_bytes)?;
    Ok(Report { partly: lines > 0, ..Report::default() })
}
