//! `tidings rebuild`: runs the stages from one on again, and replaces their output.

use std::time::Duration;

use anyhow::Result;
use tidings_pipeline::shard::Shard;
use tidings_pipeline::shard_round::ShardOptions;
use tidings_pipeline::stage::StageId;
use tidings_pipeline::{rebuild, shard_rebuild};

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The new data is made in the folder rebuild/ and replaces the old when it is complete; until then searches use the \
    old data. This needs free disk space of about the size of docs/, seen/, text/ and index/. If raw pages are damaged or missing, \
     nothing is replaced. With --lang, all days with documents of that language are rebuilt. On these days, annotate makes the text of \
     that language only and takes that of the others from the present text, unless it is out of date; clean and dedup work on whole days. Duplicates depend on all earlier days, so dedup runs again from the first of these days on.\n\n\
     With --shard, several processes make the new data together, also on several machines with a shared folder. A process that \
     was killed is started again with the same command; the last one replaces the old data. `tidings status` shows who does what."
)]
pub struct Args {
    /// First stage to run again
    #[arg(long, value_name = "STAGE", default_value = "clean", value_parser = derived_stage())]
    from: StageId,
    /// Rebuild only this language, such as de
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
    /// Share of this process, such as 2/4; other processes do the others at the same time
    #[arg(long, value_name = "I/N", conflicts_with = "lang")]
    shard: Option<Shard>,
    /// Time to wait for days of other shards that no process is at work on
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = super::parse_time, requires = "shard")]
    wait: Duration,
    /// Delete the unfinished rebuild of several processes
    #[arg(long, conflicts_with_all = ["from", "lang", "shard"])]
    abandon: bool,
}

/// A parser of the names of derived stages.
fn derived_stage() -> impl clap::builder::TypedValueParser<Value = StageId> {
    super::stage_parser(|stage| stage.is_derived())
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let pipeline = super::open(global)?;
    if args.abandon {
        return Ok(shard_rebuild::abandon(&pipeline)?.into());
    }
    match args.shard {
        Some(shard) if !shard.is_whole() => {
            let options = ShardOptions { wait: args.wait, ..ShardOptions::default() };
            let print = |stage, outcome: &_| super::print_stage(global, stage, outcome);
            Ok(shard_rebuild::rebuild_shard(&pipeline.with_shard(shard), args.from, &options, &print)?.into())
        }
        _ => Ok(rebuild::rebuild(&pipeline, args.from, args.lang.as_deref())?.into()),
    }
}
