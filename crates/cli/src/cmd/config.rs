//! `tidings config`: the settings in force, or all that there are.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::json;

use super::Report;
use crate::args::Global;
use tidings_pipeline::config::TEMPLATE;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Describe every setting with its default, as Markdown
    #[arg(long)]
    reference: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    if args.reference {
        return Ok(Report { text: reference(TEMPLATE), ..Report::default() });
    }
    let (home, config) = super::open_home(global)?;
    let text = format!("# {}\n{}", home.settings().display(), toml::to_string(&config)?);
    Ok(Report { text, json: json!({ "done": true, "home": home.root(), "config": config }), ..Report::default() })
}

/// The settings file that `init` writes, as a page: it has a comment for every key already.
fn reference(template: &str) -> String {
    let mut page = String::from(
        "# Every setting\n\nThe file `tidings.toml` of a home has a table for each room. A key that is not there has the default that is shown \
         here. An environment\nvariable wins over the file: `TIDINGS_FETCH_CONCURRENCY=100`. `tidings config` prints what is in force; a key that does \
         not exist is an error.\n\nThis page is made by `tidings config --reference`.\n",
    );
    let mut said = String::new();
    let mut keys = String::new();
    // What the file says about itself comes before the first table.
    let tables = template.lines().skip_while(|line| !line.starts_with('['));
    for line in tables.chain([""]) {
        if let Some(key) = line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')) {
            writeln!(keys, "{key}").expect("a string takes everything");
        } else if let Some(words) = line.strip_prefix("# ") {
            writeln!(said, "{words}").expect("a string takes everything");
        } else {
            if !keys.is_empty() {
                write!(page, "\n{said}\n```toml\n{keys}```\n").expect("a string takes everything");
            } else if !said.is_empty() {
                write!(page, "\n{said}").expect("a string takes everything");
            }
            said.clear();
            keys.clear();
            if line.starts_with('[') {
                write!(page, "\n## `{line}`\n").expect("a string takes everything");
            }
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_about_settings_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/SETTINGS.md");
        let made = reference(TEMPLATE);
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(made == kept, "write it anew: tidings config --reference >docs/SETTINGS.md");
        let keys = TEMPLATE.lines().filter(|line| line.starts_with('#') && !line.starts_with("# ")).count();
        assert!(keys > 50 && made.matches(" = ").count() >= keys, "every key is on the page");
    }
}
