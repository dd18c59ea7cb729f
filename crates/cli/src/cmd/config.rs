//! `tidings config`: the settings in force.

use anyhow::Result;
use serde_json::json;

use super::Report;
use crate::args::Global;

pub fn run(global: &Global) -> Result<Report> {
    let (home, config) = super::open_home(global)?;
    let text = format!("# {}\n{}", home.settings().display(), toml::to_string(&config)?);
    Ok(Report { text, json: json!({ "done": true, "home": home.root(), "config": config }), ..Report::default() })
}
