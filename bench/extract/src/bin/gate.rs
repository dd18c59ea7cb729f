//! Prints what the quality gate refuses, of good texts and of bad ones.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bench_extract::gate::{self, GOOD, Tally};
use bench_extract::sets;
use clap::Parser;

/// Measures the quality gate.
#[derive(Parser)]
struct Args {
    /// The folder of annotated pages.
    #[arg(long, default_value = "../shared/extract-dev")]
    data: PathBuf,
    /// Print the measures of every text too.
    #[arg(long)]
    measures: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut tallies: BTreeMap<(&'static str, &'static str), Tally> = BTreeMap::new();
    for set in sets::TEXT_SETS {
        for sample in sets::read(&args.data, set)? {
            gate::judge(&sample, |kind, refused, measures| {
                let tally = tallies.entry((kind, if kind == GOOD { set } else { "" })).or_default();
                tally.texts += 1;
                if let Some(rule) = refused {
                    *tally.refused.entry(rule).or_default() += 1;
                }
                if args.measures {
                    println!("{kind}\t{}\t{}\t{measures:?}", sample.id, refused.unwrap_or_default());
                }
            });
        }
    }
    println!("{:<32} {:<8} {:>6} {:>9}  by rule", "texts", "set", "number", "refused");
    for ((kind, set), tally) in &tallies {
        let rules: Vec<String> = tally.refused.iter().map(|(rule, number)| format!("{rule} {number}")).collect();
        println!("{kind:<32} {set:<8} {:>6} {:>7.1} %  {}", tally.texts, 100.0 * tally.share(), rules.join(", "));
    }
    Ok(())
}
