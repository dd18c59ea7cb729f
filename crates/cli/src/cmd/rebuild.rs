//! `tidings rebuild`: deletes what was derived, from a stage on, and makes it again.

use anyhow::Result;
use tidings_pipeline::rebuild;
use tidings_pipeline::stage::StageId;

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "With --lang, the days that hold documents of that language are made again; documents of other languages on these days \
    come back as they were. Verdicts depend on all days before, so they are made again from the first such day on."
)]
pub struct Args {
    /// The first stage to do again
    #[arg(long, value_name = "STAGE", default_value = "clean", value_parser = derived_stage())]
    from: StageId,
    /// Only what concerns this language, such as de
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
}

/// The names of the stages that can be done again.
fn derived_stage() -> impl clap::builder::TypedValueParser<Value = StageId> {
    super::stage_parser(|stage| stage.is_derived())
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    Ok(rebuild::rebuild(&super::open(global)?, args.from, args.lang.as_deref())?.into())
}
