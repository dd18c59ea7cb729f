//! `tidings dedup`: finds text that was published before, day by day; with `--jsonl` in any stream of documents.

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
    after_help = "Without --jsonl: writes one verdict per document to seen/verdicts/DAY.jsonl.zst and deletes nothing. Days that \
    are up to date are skipped. If a day has changed, it and all later days are processed again.\n\n\
    With --jsonl: reads one JSON object per line, in chronological order, and writes it without duplicate paragraphs:\n  \
    in   {\"id\", \"paragraphs\": [text, …]}, and if --scope needs them \"date\" or \"month\", and \"site\"\n  \
    out  the same object with fewer paragraphs; with --marks all paragraphs and \"marks\", one for each:\n       \
    {\"kept\"} or {\"kept\", \"why\", \"share\", \"of\"}; why: exact, near or between; of: the earlier document\n\n\
    Presets: tidings (5-grams, 0.5), onion (7-grams, 0.5), aranea (5-grams, 0.9, no smoothing), now (11-grams, whole \
    documents)."
)]
pub struct Args {
    #[command(flatten)]
    rule: RuleArgs,
    /// Read documents as JSON lines from standard input, and write them without duplicates
    #[arg(long)]
    jsonl: bool,
    /// Keep duplicates and mark them
    #[arg(long, alias = "mark", requires = "jsonl")]
    marks: bool,
    /// List the N texts with the most copies
    #[arg(long = "limit", alias = "top", value_name = "N", conflicts_with = "jsonl")]
    top: Option<u16>,
    /// Print all duplicates with their text as JSON lines
    #[arg(long, conflicts_with_all = ["jsonl", "top"])]
    removed: bool,
    /// Print pairs of original and copy as JSON lines
    #[arg(long, conflicts_with_all = ["jsonl", "top", "removed"])]
    copies: bool,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    steps: StepArgs,
}

/// The rule for duplicates.
#[derive(Debug, Clone, Default, clap::Args)]
struct RuleArgs {
    /// Preset of the rule: tidings, onion, aranea or now [default: setting dedup.preset, tidings]
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Length of n-grams in words [default: that of the preset]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    ngram: Option<u16>,
    /// Share of known words, 0 to 1, above which a unit is a duplicate [default: that of the preset]
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    threshold: Option<f32>,
    /// Judge short passages without regard to their context
    #[arg(long)]
    no_smoothing: bool,
    /// Units to judge: page, text, document, paragraph, sentence, or several [default: by preset]
    #[arg(long, value_name = "LEVEL,…")]
    level: Option<Levels>,
    /// Earlier documents to compare with: all, month, site, or a window such as 30d [default: all]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<Scope>,
    /// Memory in MiB for recent fingerprints; older ones are on disk [default: 96]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    memory_mb: Option<u32>,
}

fn parse_share(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

impl RuleArgs {
    /// The settings, overridden by these flags.
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
        // The printed lines are the result.
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
