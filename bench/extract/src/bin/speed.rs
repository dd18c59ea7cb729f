//! Profiles the steps of extraction in CPU time of one thread.

use std::path::PathBuf;
use std::time::Duration;

use bench_extract::sets;
use clap::Parser;
use tidings_clean::article::blocks;
use tidings_clean::article::features::FeatureMatrix;
use tidings_clean::article::select;
use tidings_clean::article::weights::Weights;
use tidings_clean::declared_metadata::DeclaredMetadata;
use tidings_clean::{HtmlInput, Options, date, extract, metadata, tree};

/// Profiles the steps of extraction.
#[derive(Parser)]
struct Args {
    /// Folder of annotated pages.
    #[arg(long, default_value = "../shared/extract-dev")]
    data: PathBuf,
    /// Sets to read.
    #[arg(long, value_delimiter = ',', default_value = "andy,fundus,trafi")]
    sets: Vec<String>,
    /// Minimum page size in bytes.
    #[arg(long, default_value_t = 0)]
    least: usize,
    /// Maximum page size in bytes.
    #[arg(long, default_value_t = usize::MAX)]
    most: usize,
}

/// CPU time of this thread.
fn clock() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let weights = Weights::get();
    for set in &args.sets {
        let mut pages = sets::read(&args.data, set)?;
        pages.retain(|page| (args.least..=args.most).contains(&page.html.len()));
        let mut best = [Duration::MAX; 7];
        for _ in 0..3 {
            let mut spent = [Duration::ZERO; 7];
            for page in &pages {
                let url = url::Url::parse(&page.url).ok();
                let start = clock();
                let tree = tree::parse(&page.html);
                spent[0] += clock() - start;
                let start = clock();
                let declared = DeclaredMetadata::read(&tree);
                spent[1] += clock() - start;
                let start = clock();
                let matrix = FeatureMatrix::of(&tree, blocks::segment(&tree), &declared, url.as_ref(), weights);
                spent[2] += clock() - start;
                let start = clock();
                let p = select::predict(&matrix, weights);
                std::hint::black_box(&p);
                spent[3] += clock() - start;
                let start = clock();
                std::hint::black_box(metadata::read(&tree, &declared, url.as_ref()));
                spent[5] += clock() - start;
                let start = clock();
                std::hint::black_box(date::read(&tree, &declared, Some(&page.url), &date::KnownDates::default()));
                spent[6] += clock() - start;
                let start = clock();
                let _ = std::hint::black_box(extract(
                    &HtmlInput { html: &page.html, url: Some(&page.url), ..HtmlInput::default() },
                    &Options::default(),
                ));
                spent[4] += clock() - start;
            }
            for (best, spent) in best.iter_mut().zip(spent) {
                *best = (*best).min(spent);
            }
        }
        let bytes: usize = pages.iter().map(|page| page.html.len()).sum();
        let each = |time: Duration| time.as_secs_f64() * 1000.0 / pages.len() as f64;
        println!(
            "{set}: {} pages of {} kB, ms per page: parse {:.2}, declarations {:.2}, features {:.2}, forests {:.2}, metadata {:.2}, dates {:.2}, all {:.2}",
            pages.len(),
            bytes / pages.len().max(1) / 1000,
            each(best[0]),
            each(best[1]),
            each(best[2]),
            each(best[3]),
            each(best[5]),
            each(best[6]),
            each(best[4]),
        );
    }
    Ok(())
}
