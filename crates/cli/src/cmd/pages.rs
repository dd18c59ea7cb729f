//! `tidings pages`: the downloaded pages.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::views::pages;

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Page files of Tidings or FeedFetcher [default: all of the home]
    files: Vec<PathBuf>,
    /// URL of a page whose body to print
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
