//! `tidings digest`: a checksum of the corpus.

use anyhow::Result;
use tidings_pipeline::digest::{self, Layer, Options};

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Equal pages, settings and program version give equal digests, on any machine and with any number of threads, runs and \
    files. To find where two corpora differ, compare the output of --tree with diff: stage, language, day, items, digest, separated \
    by tabs."
)]
pub struct Args {
    /// Print a digest for each stage, language and day
    #[arg(long)]
    tree: bool,
    /// Stage to digest [default: text; with --tree all stages]
    #[arg(long, value_name = "STAGE", value_parser = layer_parser())]
    stage: Option<Layer>,
    /// Digest only this language, such as de
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
    /// Read all files and compare them with the digests in the recipes
    #[arg(long)]
    verify: bool,
}

/// Reads the name of a layer, and lists the names in the help.
fn layer_parser() -> impl clap::builder::TypedValueParser<Value = Layer> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(Layer::ALL.map(Layer::name)).map(|name| {
        Layer::ALL.into_iter().find(|layer| layer.name() == name).expect("only names of layers are possible")
    })
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let options = Options { tree: args.tree, layer: args.stage, language: args.lang.clone(), verify: args.verify };
    Ok(digest::run(&super::open_interruptible(global)?, &options)?.into())
}
