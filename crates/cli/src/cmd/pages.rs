//! `tidings pages`: what lies on the shelf, readable.

use std::path::PathBuf;

use anyhow::{Result, bail};
use serde_json::json;
use tidings_store::pages::{self, PageReader};

use super::Report;
use crate::args::Global;
use crate::console;
use tidings_pipeline::display::count;

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
    let (mut number, mut bytes) = (0, 0);
    for file in &files {
        for page in PageReader::open(file)? {
            let page = page?;
            number += 1;
            bytes += page.body.len() as u64;
            match &args.body {
                Some(url) if *url == page.url || *url == page.final_url => {
                    let body = String::from_utf8_lossy(&page.body).into_owned();
                    let json = json!({ "done": true, "page": page });
                    return Ok(Report { text: body, json, ..Report::default() });
                }
                Some(_) => {}
                None if global.json => {}
                None => console::print(&format!(
                    "{}\t{}\t{}\t{}\t{}\n",
                    page.downloaded,
                    page.status,
                    page.body.len(),
                    page.url,
                    page.title
                )),
            }
        }
    }
    if let Some(url) = &args.body {
        bail!("no page with the address {url} among {}", count(number, "page"));
    }
    let json = json!({ "done": true, "pages": number, "bytes": bytes, "files": files.len() });
    Ok(Report { text: String::new(), json, ..Report::default() })
}
