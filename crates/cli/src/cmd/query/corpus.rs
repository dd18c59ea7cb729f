//! `tidings corpus`: virtual corpora by name.

use anyhow::Result;
use tidings_pipeline::virtual_corpora::{self, LanguageRow, VirtualCorpus};

use crate::args::Global;
use crate::cmd::{Report, open_interruptible};
use crate::table::Table;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Name a filter, such as: tidings corpus save spring "date>=2026-03 date<=2026-05"
    Save {
        /// Letters, digits, hyphens
        name: String,
        /// Which documents
        filter: String,
    },
    /// Show all that are named
    List,
    /// Show the languages: how large each is, what is known of its words, and who told
    Languages,
    /// Forget one
    Remove {
        /// Its name
        name: String,
    },
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let pipeline = open_interruptible(global)?;
    Ok(match &args.what {
        What::List => corpora(&virtual_corpora::list(pipeline.home())?),
        What::Languages => languages(&virtual_corpora::languages(pipeline.home())?),
        What::Save { name, filter } => virtual_corpora::save(&pipeline, name, filter)?.into(),
        What::Remove { name } => virtual_corpora::remove(&pipeline, name)?.into(),
    })
}

fn corpora(rows: &[VirtualCorpus]) -> Report {
    let mut table = Table::new(&["name", "filter"]);
    rows.iter().for_each(|row| table.push(vec![row.name.clone(), row.filter.clone()]));
    let text = if rows.is_empty() { "no virtual corpus is named yet\n".to_owned() } else { table.text() };
    Report::list(text, rows)
}

fn languages(rows: &[LanguageRow]) -> Report {
    let mut table = Table::new(&["language", "#documents", "#tokens", "attributes", "told by", "#of tokens"]);
    for row in rows {
        let sizes = [row.corpus.clone(), row.documents.to_string(), row.tokens.to_string(), row.attributes.join(" ")];
        let mut layers: Vec<[String; 2]> =
            row.layers.iter().map(|layer| [layer.by.clone(), layer.tokens.to_string()]).collect();
        if layers.is_empty() {
            layers.push(["nobody".to_owned(), "0".to_owned()]);
        }
        // The sizes stand in the first line of a language; those of further annotators have none.
        let sizes = std::iter::once(sizes.to_vec()).chain(std::iter::repeat(vec![String::new(); 4]));
        sizes.zip(layers).for_each(|(sizes, layer)| table.push([sizes, layer.to_vec()].concat()));
    }
    let text = if rows.is_empty() { "nothing is searchable yet\n".to_owned() } else { table.text() };
    Report::list(text, rows)
}
