//! `tidings help`: the help of the program or of a command.

use anyhow::Result;
use clap::{Command, CommandFactory as _};
use tidings_pipeline::usage_error::UsageError;

use super::Report;
use crate::help;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Command to describe, such as query or token add
    command: Vec<String>,
    /// List all commands
    #[arg(long, conflicts_with = "command")]
    all: bool,
    /// Print the reference of all commands in Markdown
    #[arg(long, hide = true, conflicts_with_all = ["all", "command"])]
    markdown: bool,
}

pub fn run(args: &Args) -> Result<Report> {
    let text = match args {
        Args { markdown: true, .. } => help::markdown(),
        Args { all: true, .. } => help::all(),
        Args { command, .. } => of_command(command)?,
    };
    Ok(Report { text, ..Report::default() })
}

fn of_command(path: &[String]) -> Result<String> {
    let mut program = crate::args::Args::command();
    // Propagates options of the whole program to commands, as parsing does.
    program.build();
    let find = |command: &Command, name: &String| {
        let unknown = || UsageError::new(format!("unknown command `{name}`; `tidings help --all` lists all commands"));
        command.find_subcommand(name).cloned().ok_or_else(unknown)
    };
    let mut command = path.iter().try_fold(program, |command, name| find(&command, name))?;
    Ok(command.render_help().to_string())
}
