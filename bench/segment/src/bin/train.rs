//! Trains the boundary models in `crates/annotate/models` on all treebanks.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bench_segment::learn::{Settings, learn};
use bench_segment::split;
use clap::Parser;

#[derive(Debug, Parser)]
struct Args {
    /// Folder that contains `ud-train/` and `text-dev/ud/`
    #[arg(long, default_value = "../shared")]
    shared: PathBuf,
    /// Folder to write the models to
    #[arg(long, value_name = "DIR", default_value = "crates/annotate/models")]
    out: PathBuf,
    /// Only these languages
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    for (code, treebanks) in split::read(&args.shared, &args.only)? {
        let model = learn(&code, treebanks.train.iter().chain(&treebanks.dev), Settings::default());
        let path = args.out.join(format!("{code}.tsm"));
        println!("{code}\t{} bytes", model.len());
        std::fs::write(&path, model).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
