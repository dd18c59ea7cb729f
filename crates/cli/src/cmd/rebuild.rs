//! `tidings rebuild`: runs the stages from one on again, and replaces their output.

use anyhow::Result;
use tidings_pipeline::rebuild;
use tidings_pipeline::stage::StageId;

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The new data is made in the folder rebuild/ and replaces the old when it is complete; until then searches use the \
    old data. This needs free disk space of about the size of docs/, seen/, text/ and index/. If raw pages are damaged or missing, \
    nothing is replaced. With --lang, all days with documents of that language are rebuilt. On these days, annotate makes the text of \
    that language only and takes that of the others from the present text, unless it is out of date; clean and dedup work on whole days. Duplicates depend on all earlier days, so dedup runs again from the first of these days on."
)]
pub struct Args {
    /// First stage to run again
    #[arg(long, value_name = "STAGE", default_value = "clean", value_parser = derived_stage())]
    from: StageId,
    /// Rebuild only this language, such as de
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
}

/// A parser of the names of derived stages.
fn derived_stage() -> impl clap::builder::TypedValueParser<Value = StageId> {
    super::stage_parser(|stage| stage.is_derived())
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    Ok(rebuild::rebuild(&super::open(global)?, args.from, args.lang.as_deref())?.into())
}
