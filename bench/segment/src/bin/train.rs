//! Learns the models of `crates/annotate/models` from all treebanks there are.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bench_segment::learn::{Settings, learn};
use bench_segment::split;
use clap::Parser;

#[derive(Debug, Parser)]
struct Args {
    /// A folder with `ud-train/` and `text-dev/ud/` in it
    #[arg(long, default_value = "../shared")]
    shared: PathBuf,
    /// Where the models go
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
