//! `tidings digest`: one number by which two machines know that they hold the same corpus.

use anyhow::Result;
use tidings_pipeline::digest::{self, Layer, Options};

use super::Report;
use crate::args::Global;

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
    #[arg(long, value_name = "STAGE", value_parser = layer_parser())]
    stage: Option<Layer>,
    /// Only this language, such as de
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
    /// Read every byte again and hold it against the recipes
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
