//! `tidings demo`: the whole way on a small simulated web, without any network.
//!
//! The demo runs the very commands that it prints, so that what a newcomer sees is what they can
//! type themselves afterwards.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Parser as _;
use serde_json::json;
use tidings_simweb::{Fault, SimWeb, Spec};

use super::Report;
use crate::console;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder for the demo's home
    #[arg(default_value = "tidings-demo")]
    dir: PathBuf,
}

pub fn run(args: &Args) -> Result<Report> {
    let dir = &args.dir;
    ensure!(!dir.exists(), "{} exists already; name another folder, or remove it to see the demo again", dir.display());
    // Two sites misbehave, because the web does.
    let spec = Spec { sites: 24, items_per_feed: 8, ..Spec::default() }
        .with_fault(Fault::NotFound, 1)
        .with_fault(Fault::RobotsDisallow, 1);
    let web = SimWeb::start(spec).context("cannot start the simulated web")?;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    let feeds = dir.join("feeds.txt");
    std::fs::write(&feeds, web.feeds().join("\n") + "\n")
        .with_context(|| format!("cannot write {}", feeds.display()))?;

    let home = dir.to_string_lossy().into_owned();
    console::print("24 simulated sites in eleven languages now publish on this machine's loopback addresses.\n");
    step(&["init", &home])?;
    step(&["update", "--all", "--home", &home, "--allow-private", "--delay", "0.1"])?;
    step(&["fetch", "--home", &home, "--allow-private", "--delay", "0.1"])?;
    web.advance(Duration::from_secs(6 * 3600));
    console::print("\nSix hours pass on the simulated web, and its sites publish more.\n");
    // Only the simulated clock has moved: for the schedule no time has passed.
    step(&["update", "--all", "--home", &home, "--allow-private", "--delay", "0.1"])?;
    step(&["fetch", "--home", &home, "--allow-private", "--delay", "0.1"])?;
    step(&["clean", "--home", &home])?;
    step(&["dedup", "--home", &home])?;
    step(&["annotate", "--home", &home])?;
    step(&["compile", "--home", &home])?;
    step(&["plan", "--home", &home, "--count"])?;
    step(&["audit", "--home", &home])?;
    step(&["query", "public", "--home", &home, "--lang", "en", "--size", "5"])?;
    step(&["colloc", "public", "--home", &home, "--lang", "en", "--limit", "8"])?;
    let text = format!(
        "\nThe corpus is in {home}. Look around:\n  tidings pages --home {home} | head\n  \
         tidings plan --home {home} --status 404\n  zstdcat {home}/plan.tsv.zst | head\n  \
         zstdcat {home}/docs/*/*.jsonl.zst | head -1\n  tidings words --home {home} --lang fr\n\
         For the real web: tidings init news, put feed addresses into news/feeds.txt, set your contact in news/tidings.toml.\n"
    );
    Ok(Report { text, json: json!({ "done": true, "home": dir }), ..Report::default() })
}

/// Prints a command and runs it.
fn step(words: &[&str]) -> Result<()> {
    console::print(&format!("\n$ tidings {}\n", words.join(" ")));
    let command = std::iter::once("tidings").chain(words.iter().copied());
    let report = crate::run(crate::args::Args::try_parse_from(command)?)?;
    console::print(&report.text);
    Ok(())
}
