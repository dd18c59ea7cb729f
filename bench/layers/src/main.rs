//! `bench-layers`: scores of annotation layers on text that was annotated by hand.

use std::path::PathBuf;

use anyhow::Result;
use bench_layers::{foreign, frequent, names, quotations};
use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
struct Args {
    /// Folder of the development data
    #[arg(long, default_value = "../shared", global = true)]
    shared: PathBuf,
    #[command(subcommand)]
    layer: Layer,
}

#[derive(Debug, Subcommand)]
enum Layer {
    /// Score code-switching
    Foreign(foreign::Args),
    /// Print the most frequent names, speakers and verbs of the archive's articles
    Frequent(frequent::Args),
    /// Score names, their types and canonical forms
    Names(names::Args),
    /// Score quotations, speakers and kinds
    Quotations(quotations::Args),
}

fn main() -> Result<()> {
    let args = Args::parse();
    match args.layer {
        Layer::Foreign(layer) => foreign::run(&layer),
        Layer::Frequent(layer) => frequent::run(&args.shared, &layer),
        Layer::Names(layer) => names::run(&args.shared, &layer),
        Layer::Quotations(layer) => quotations::run(&args.shared, &layer),
    }
}
