//! `tidings completions` and `tidings man`.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use clap_complete::Shell;
use serde_json::json;

use super::Report;

#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// Shell to complete for
    shell: Shell,
}

pub fn completions(args: &CompletionsArgs) -> Result<Report> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::args::Args::command(), "tidings", &mut script);
    let text = String::from_utf8(script).context("completions are text")?;
    Ok(Report { json: json!({ "done": true, "script": text }), text, ..Report::default() })
}

#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Folder for one manual page per command
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub fn man(args: &ManArgs) -> Result<Report> {
    let command = crate::args::Args::command();
    match &args.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).with_context(|| format!("cannot create the folder {}", dir.display()))?;
            clap_mangen::generate_to(command, dir).with_context(|| format!("cannot write to {}", dir.display()))?;
            Ok(Report { json: json!({ "done": true, "dir": dir }), ..Report::default() })
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            let text = String::from_utf8(page).context("manual pages are text")?;
            Ok(Report { json: json!({ "done": true, "page": text }), text, ..Report::default() })
        }
    }
}
