//! Prints the rejection rates of the quality gate on good and bad texts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bench_extract::gate::{self, GOOD, RejectionCounts};
use bench_extract::sets;
use clap::Parser;

/// Measures the quality gate.
#[derive(Parser)]
struct Args {
    /// Folder of annotated pages.
    #[arg(long, default_value = "../shared/extract-dev")]
    data: PathBuf,
    /// Also print the measures of every text.
    #[arg(long)]
    measures: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut counts: BTreeMap<(&'static str, &'static str), RejectionCounts> = BTreeMap::new();
    for set in sets::TEXT_SETS {
        for sample in sets::read(&args.data, set)? {
            gate::evaluate(&sample, |kind, rejected, measures| {
                let count = counts.entry((kind, if kind == GOOD { set } else { "" })).or_default();
                count.texts += 1;
                if let Some(rule) = rejected {
                    *count.rejected.entry(rule).or_default() += 1;
                }
                if args.measures {
                    println!("{kind}\t{}\t{}\t{measures:?}", sample.id, rejected.unwrap_or_default());
                }
            });
        }
    }
    println!("{:<32} {:<8} {:>6} {:>9}  by rule", "texts", "set", "number", "rejected");
    for ((kind, set), count) in &counts {
        let rules: Vec<String> = count.rejected.iter().map(|(rule, number)| format!("{rule} {number}")).collect();
        println!("{kind:<32} {set:<8} {:>6} {:>7.1} %  {}", count.texts, 100.0 * count.share(), rules.join(", "));
    }
    Ok(())
}
