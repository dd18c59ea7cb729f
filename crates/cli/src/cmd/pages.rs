//! `tidings pages`: what lies in the archive of pages, readable.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::views::pages;

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files of pages, ours or FeedFetcher's [default: all of the home]
    files: Vec<PathBuf>,
    /// Print the body of the page with this address
    #[arg(long, value_name = "URL")]
    body: Option<String>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let files = match args.files.is_empty() {
        true => pages::files(&super::open_home(global)?.0)?,
        false => args.files.clone(),
    };
    if let Some(url) = &args.body {
        return Ok(pages::find(&files, url)?.into());
    }
    let mut stdout = console::Stdout;
    let out = (!global.json).then_some(&mut stdout as &mut dyn std::io::Write);
    Ok(pages::list(&files, out)?.into())
}
