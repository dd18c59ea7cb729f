//! `tidings config`: the effective settings, or a reference of all settings.

use anyhow::Result;
use tidings_pipeline::config::{EffectiveConfig, reference};

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print a reference of all settings with their defaults, in Markdown
    #[arg(long)]
    reference: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    if args.reference {
        return Ok(Report { text: reference(), ..Report::default() });
    }
    let (home, config) = super::open_home(global)?;
    Ok(EffectiveConfig::new(&home, config)?.into())
}
