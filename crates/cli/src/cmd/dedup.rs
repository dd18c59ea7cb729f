//! `tidings dedup`: tells what was published before; with `--jsonl` of any stream of documents.

mod filter;
mod line;

use anyhow::{Result, bail};
use tidings_dedup::{Levels, PRESETS, Rule, Scope, preset};

use super::Report;
use crate::args::Global;

/// Memory for keys of late, if nobody says otherwise.
const MEMORY_MB: usize = 96;

#[derive(Debug, clap::Args)]
#[command(after_help = "The filter reads one JSON object a line, in the order of time, and writes the same with the \
    paragraphs that are new:\n  \
    in   {\"id\", \"paragraphs\": [text, …]}, and where the scope needs them \"date\" or \"month\", and \"site\"\n  \
    out  the same line with fewer paragraphs; with --marks with all of them and \"marks\", one for each:\n       \
    {\"kept\"} or {\"kept\", \"why\", \"share\", \"of\"}: exact, near or between, how much was seen, in which document\n\
    Presets: tidings (5 words, 0.5), onion (7, 0.5), aranea (5, 0.9, no smoothing), now (11, whole documents).")]
pub struct Args {
    #[command(flatten)]
    rule: RuleArgs,
    /// Read documents as JSON lines on standard input and write what is new of them as JSON lines
    #[arg(long)]
    jsonl: bool,
    /// Keep everything and mark what was seen before
    #[arg(long, alias = "mark", requires = "jsonl")]
    marks: bool,
    /// Threads to read on [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// How duplicates are told.
#[derive(Debug, Clone, clap::Args)]
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
    /// Memory for what was seen of late, in MB; the rest lies on disk [default: 96]
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
    /// The rule that a preset and the flags over it give.
    fn rule(&self) -> Result<Rule> {
        let mut rule = match &self.preset {
            None => Rule::default(),
            Some(name) => match preset(name) {
                Some(preset) => preset.rule,
                None => {
                    let known = PRESETS.map(|preset| preset.name).join(", ");
                    bail!("there is no preset `{name}`; there are {known}");
                }
            },
        };
        rule.ngram = self.ngram.map_or(rule.ngram, usize::from);
        rule.threshold = self.threshold.unwrap_or(rule.threshold);
        rule.levels = self.level.unwrap_or(rule.levels);
        if self.no_smoothing {
            rule.smoothing = 0;
        }
        Ok(rule)
    }
}

pub fn run(args: &Args, _global: &Global) -> Result<Report> {
    let rule = args.rule.rule()?;
    if args.jsonl {
        let options = filter::Options {
            rule,
            scope: args.rule.scope.unwrap_or_default(),
            marks: args.marks,
            memory_bytes: args.rule.memory_mb.map_or(MEMORY_MB, |mb| mb as usize) * 1_000_000,
            threads: args.threads.map_or_else(crate::lines::cores, usize::from),
        };
        let faulty = filter::run(&options)?;
        // The lines were the report.
        return Ok(Report { partly: faulty > 0, ..Report::default() });
    }
    bail!("give --jsonl")
}
